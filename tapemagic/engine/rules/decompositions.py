"""Decompositions of matrices: eigenvalues, singular values, QR, Cholesky."""
