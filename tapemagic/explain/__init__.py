"""Explanations of gradients: the reason why one is None or incomplete, and the chain rule written out."""
