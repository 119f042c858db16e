"""Curves of a target and its derivatives over a range of one variable."""
