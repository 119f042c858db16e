"""Polynomials given by their coefficients."""
