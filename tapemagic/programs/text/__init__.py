"""The text of a program: its names, expressions, comments and docstring."""
