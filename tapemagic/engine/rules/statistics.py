"""Quantiles, covariances, histograms, sets."""
