"""Tests that look at the notebooks in a browser."""
