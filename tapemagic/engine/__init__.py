"""Record NumPy operations and differentiate them. Needs only NumPy."""

from tapemagic.engine.tensor import operators as _operators  # noqa: F401 (gives tensors their operators)
