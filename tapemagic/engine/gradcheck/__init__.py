"""Derivatives compared with finite differences."""
