"""Values repeated along new axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import gates
from tapemagic.engine.tensor.tensor import Tensor, wrap


def broadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """``np.broadcast_to(g, shape)``, which takes a tenth of the time where `g` is a bare number.

    It is lazy where the shape is that of a lazy array, and cut as that is.
    """
    if g.shape == shape:
        return g
    if g.__class__ is Tensor:
        return wrap(broadcast(g._value, shape), g._id) if g._id <= 0 else np.broadcast_to(g, shape)
    if gates and hasattr(shape, "chunks"):
        return gates[0].call(np.broadcast_to, (g, shape), {})
    if issubclass(type(g), np.generic):  # a symbol says that it is one
        return np.ndarray(shape, g.dtype, g, 0, (0,) * len(shape))
    return np.broadcast_to(g, shape)
