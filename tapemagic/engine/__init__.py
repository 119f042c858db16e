"""Records NumPy operations and differentiates them. Needs NumPy alone."""

from tapemagic.engine.tensor import operators as _operators  # noqa: F401 (gives tensors their operators)
