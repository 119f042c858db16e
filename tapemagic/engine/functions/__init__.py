"""Derivatives of functions, and functions with a derivative of their own."""
