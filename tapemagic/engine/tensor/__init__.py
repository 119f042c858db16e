"""Values that tapes follow: tensors and variables, their operators, and NumPy's functions on them."""
