"""Element-wise functions that are not ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.lazy.implementations.blocks import pointwise
from tapemagic.lazy.implementations.table import POINTWISE, implements

POINTWISE.update((
    np.clip, np.sinc, np.i0, np.real, np.imag, np.angle, np.round, np.around, np.fix,
    np.isclose, np.isposinf, np.isneginf, np.isreal, np.iscomplex, np.select, np.choose,
))  # fmt: skip


@implements(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, **numbers: Any) -> Any:
    """Implement ``np.nan_to_num``, which never writes into a chunk here."""
    # copy=False would write into a chunk that other tasks read.
    return pointwise(np.nan_to_num, (x,), numbers)


@implements(np.choose)
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """Implement ``np.choose`` on Dask arrays."""
    return pointwise(np.choose, (a, list(choices)), {"mode": mode})
