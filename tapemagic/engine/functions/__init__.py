"""Derivatives of functions, and functions with a custom derivative."""
