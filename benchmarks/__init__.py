"""Measurements against hand-written NumPy and against other libraries."""
