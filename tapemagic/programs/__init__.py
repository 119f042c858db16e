"""Derivatives as programs: a function is traced once, written as NumPy source, and run without a tape."""
