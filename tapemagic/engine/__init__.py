"""Records NumPy operations and differentiates them. Needs NumPy alone."""
