"""What NumPy lacks: operations of our own, recorded and differentiated like NumPy's."""

from tapemagic.engine.operations.scatter import scatter_add

__all__ = ["scatter_add"]
