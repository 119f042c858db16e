"""Convolutions over images and signals, and pooling."""
