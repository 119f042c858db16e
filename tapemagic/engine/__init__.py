"""Records NumPy operations and differentiates them. Needs NumPy alone."""

from tapemagic.engine.tensor import arithmetic as _arithmetic  # noqa: F401 (gives tensors their operators)
