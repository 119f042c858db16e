"""Values that tapes track: tensors and variables, with Python operators and NumPy functions."""
