"""Sums, means and other reductions."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from tapemagic.engine.rules.reductions import mean_of
from tapemagic.lazy.ways.table import as_dask_does, way

as_dask_does("sum", "prod", "max", "min")


@way(np.mean, mean_of)
def mean(x: Any, **params: Any) -> Any:
    """``np.mean``."""
    return da.mean(x, **params)


@way(np.add.reduce)
def add_reduce(x: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False) -> Any:
    """``np.add.reduce``."""
    return da.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)
