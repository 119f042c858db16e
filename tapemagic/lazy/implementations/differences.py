"""Differences of neighbors, numerical gradients and integrals."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tapemagic.engine.rules.differences import slope
from tapemagic.lazy.array import LazyArray
from tapemagic.lazy.implementations.blocks import pointwise
from tapemagic.lazy.implementations.joining import as_dask, concatenate
from tapemagic.lazy.implementations.products import times
from tapemagic.lazy.implementations.reductions import non_defaults, total
from tapemagic.lazy.implementations.shaping import broadcast_to
from tapemagic.lazy.implementations.table import implements, implements_in_steps


def _sides(x: Any, axis: int) -> tuple[Any, Any]:
    """Return an array without its last, and without its first, element along an axis."""
    lead = (slice(None),) * normalize_axis_index(axis, x.ndim)
    return x[(*lead, slice(None, -1))], x[(*lead, slice(1, None))]


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Implement ``np.diff`` on Dask arrays."""
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    axis = normalize_axis_index(axis, a.ndim)
    # NumPy's default is a marker object, not None.
    around = non_defaults(prepend=prepend, append=append)
    if n and around:
        parts = [around.get("prepend"), a, around.get("append")]
        a = concatenate([_end(x, a, axis) for x in parts if x is not None], axis)
    # Slices of neighboring chunks overlap by one element, which Dask passes between them.
    for _ in range(n):
        before, after = _sides(a, axis)
        a = pointwise(np.not_equal if a.dtype == bool else np.subtract, (after, before), {})
    return a


def _end(x: Any, a: Any, axis: int) -> Any:
    """Return an array to join before or after another; a scalar is repeated along the other axes."""
    x = as_dask(x)
    return x if x.ndim else broadcast_to(x, (*a.shape[:axis], 1, *a.shape[axis + 1 :]))


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Implement ``np.trapezoid`` on Dask arrays."""
    y = as_dask(y)
    axis = normalize_axis_index(axis, y.ndim) - y.ndim
    widths = dx
    if x is not None:
        x = as_dask(x)
        widths = diff(x, 1, -1 if x.ndim == 1 else axis)
        if x.ndim == 1:
            widths = widths[(slice(None), *(None,) * (-axis - 1))]
    heights = pointwise(np.add, _sides(y, axis), {})
    # NumPy's order of operations, d * (y[1:] + y[:-1]) / 2, so that results round alike.
    areas = pointwise(np.divide, (times(widths, heights), 2.0), {})
    return total(areas, axis=axis)


@implements_in_steps(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Implement ``np.gradient`` on Dask arrays."""
    f = f if hasattr(f, "dtype") else np.asarray(f)
    axes = _checked_axes(f, varargs, axis, edge_order)
    kind = np.result_type(f.dtype, float) if f.dtype.kind in "iu" else f.dtype
    spaces = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    x = np.astype(f, kind)
    slopes = tuple(
        np.astype(
            slope(x, space if hasattr(space, "dtype") else np.asarray(space), along, edge_order),
            kind,
        )
        for space, along in zip(spaces, axes, strict=True)
    )
    return slopes[0] if len(axes) == 1 else slopes


def _checked_axes(f: Any, varargs: Any, axis: Any, edge_order: Any) -> Sequence[int]:
    """Return the axes of ``np.gradient`` after NumPy checked the arguments."""
    axes = range(f.ndim) if axis is None else normalize_axis_tuple(axis, f.ndim)
    spaces = [_sample(x) for x in varargs]
    along: Any
    for k, along in enumerate(axes):
        sample_shape = tuple(n if axis == along else min(n, 1) for axis, n in enumerate(f.shape))
        own = spaces[k : k + 1] if len(spaces) == len(axes) else spaces[:1]
        np.gradient(np.zeros(sample_shape, f.dtype), *own, axis=along, edge_order=edge_order)
    if len(spaces) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    return axes


def _sample(x: Any) -> Any:
    """Replace lazy spacings by numbers in memory with the same shape."""
    if type(x) is not LazyArray:
        return x
    return np.arange(float(x.shape[0])) if x.ndim == 1 else 1.0
