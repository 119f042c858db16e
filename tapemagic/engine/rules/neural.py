"""Activations, losses and normalizations of neural networks."""
