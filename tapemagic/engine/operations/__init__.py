"""What NumPy lacks: operations of our own, recorded and differentiated like NumPy's."""
