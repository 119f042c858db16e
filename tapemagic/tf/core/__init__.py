"""Tensors, variables, dtypes and shapes as TensorFlow has them, and what all functions share."""
