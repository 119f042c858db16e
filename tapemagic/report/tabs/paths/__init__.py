"""The tab Paths."""
