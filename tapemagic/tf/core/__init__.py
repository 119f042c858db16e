"""TensorFlow's tensors, variables, dtypes and shapes, and the helpers that all functions share."""
