"""Shapes, parts and dtypes of arrays."""

from __future__ import annotations

import operator
from typing import Any

import dask.array as da
import numpy as np

from tapemagic.lazy.array import Shape
from tapemagic.lazy.ways.table import as_dask_does, way

as_dask_does("transpose", "swapaxes", "reshape", "ravel", "expand_dims", "squeeze")
as_dask_does("concatenate", "stack", "where", "real", "imag")


@way(np.broadcast_to)
def broadcast_to(x: Any, shape: Any) -> Any:
    """``np.broadcast_to``, cut as the shape says."""
    chunks = shape.chunks if isinstance(shape, Shape) else None
    if not isinstance(x, da.Array) and not np.ndim(x):
        return da.full(tuple(shape), x, chunks=chunks or "auto", dtype=np.asarray(x).dtype)
    return da.broadcast_to(x, tuple(shape), chunks=chunks)


@way(operator.getitem)
def getitem(x: Any, index: Any) -> Any:
    """``x[index]``."""
    return x[index]


@way(np.astype)
def astype(x: Any, dtype: Any, **_params: Any) -> Any:
    """``np.astype``."""
    return x.astype(dtype)
