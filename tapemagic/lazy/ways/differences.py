"""Differences of neighbours, numerical slopes and integrals."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tapemagic.lazy.ways.blocks import is_lazy, pointwise
from tapemagic.lazy.ways.joining import as_lazy
from tapemagic.lazy.ways.products import times
from tapemagic.lazy.ways.reductions import total
from tapemagic.lazy.ways.table import way


def _sides(x: Any, axis: int) -> tuple[Any, Any]:
    """All but the last, and all but the first, along an axis."""
    lead = (slice(None),) * normalize_axis_index(axis, x.ndim)
    return x[(*lead, slice(None, -1))], x[(*lead, slice(1, None))]


@way(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, **ends: Any) -> Any:
    """``np.diff``."""
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    for _ in range(n):
        before, after = _sides(a, axis)
        a = pointwise(np.not_equal if a.dtype == bool else np.subtract, (after, before), {})
    return a


@way(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """``np.trapezoid``."""
    y = as_lazy(y)
    axis = normalize_axis_index(axis, y.ndim) - y.ndim
    widths = dx
    if x is not None:
        x = as_lazy(x)
        widths = diff(x, 1, -1 if x.ndim == 1 else axis)
        if x.ndim == 1:
            widths = widths[(slice(None), *(None,) * (-axis - 1))]
    heights = pointwise(np.add, _sides(y, axis), {})
    areas = pointwise(np.divide, (times(widths, heights), 2.0), {})
    return total(areas, axis=axis)


@way(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> None:
    """NumPy's checks of the arguments of ``np.gradient``, without the slopes: its rule computes them."""
    axes = range(f.ndim) if axis is None else normalize_axis_tuple(axis, f.ndim)
    spaces = [
        np.arange(float(x.shape[0])) if is_lazy(x) and x.ndim == 1 else 1.0 if is_lazy(x) else x
        for x in varargs
    ]
    one: Any
    for one in axes:
        shape = tuple(n if k == one else min(n, 1) for k, n in enumerate(f.shape))
        own = (
            spaces[list(axes).index(one) : list(axes).index(one) + 1]
            if len(spaces) == len(axes)
            else spaces[:1]
        )
        np.gradient(np.zeros(shape), *own, axis=one, edge_order=edge_order)
    if len(spaces) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
