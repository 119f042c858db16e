"""Shows what the analysis found. Knows the analysis, never a live tape."""
