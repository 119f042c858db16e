"""Linear algebra: inverses, determinants, systems of equations, norms."""
