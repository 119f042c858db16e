"""The Variables tab."""
