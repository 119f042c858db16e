"""The graph of a recording: what is folded, what is drawn, and the names and numbers in its boxes."""
