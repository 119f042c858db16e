"""check_gradients: the tape's derivatives compared with finite differences."""
