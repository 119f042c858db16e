"""Functions that compute element by element, and are no ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.lazy.implementations.blocks import pointwise
from tapemagic.lazy.implementations.table import POINTWISE, way

POINTWISE.update((
    np.clip, np.sinc, np.i0, np.real, np.imag, np.angle, np.round, np.around, np.fix,
    np.isclose, np.isposinf, np.isneginf, np.isreal, np.iscomplex, np.select, np.choose,
))  # fmt: skip


@way(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, **numbers: Any) -> Any:
    """``np.nan_to_num``, which never writes into a chunk."""
    return pointwise(np.nan_to_num, (x,), numbers)


@way(np.choose)
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """``np.choose``."""
    return pointwise(np.choose, (a, list(choices)), {"mode": mode})
