"""Looks at a recording. Knows the engine, and nothing of screens."""
