"""Norms: NumPy's along axes in one chunk, otherwise from sums and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.lazy.implementations.blocks import axes_of, pointwise
from tapemagic.lazy.implementations.reductions import checked, is_cut, total, within
from tapemagic.lazy.implementations.table import IMPLEMENTATIONS, implements

EUCLIDEAN = (None, 2, "fro", "f")


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Implement ``np.linalg.norm`` on Dask arrays."""
    axes = axes_of(axis, x.ndim)
    checked(np.linalg.norm, x, {"ord": ord, "axis": axis})
    if (axis is None and ord is None) or len(axes) == 1:
        return vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    return _of_matrices(np.linalg.norm, x, axes, keepdims, ord)


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Implement ``np.linalg.vector_norm`` on Dask arrays."""
    checked(np.linalg.vector_norm, x, {"axis": axis, "ord": ord})
    axes = axes_of(axis, x.ndim)
    if not is_cut(x, axes) or not x.size:
        return within(
            np.linalg.vector_norm, x, axes, {"axis": axis, "keepdims": keepdims, "ord": ord}
        )
    # NumPy takes norms of integers in double precision.
    if x.dtype.kind in "biu":
        x = pointwise(np.asarray, (x,), {"dtype": np.float64})
    options = {"axis": axes, "keepdims": keepdims}
    # Without scaling by the maximum, as NumPy computes it: large numbers overflow in the same way.
    if ord in EUCLIDEAN:
        return pointwise(np.sqrt, (total(pointwise(_square, (x,), {}), **options),), {})
    size = pointwise(np.absolute, (x,), {})
    if ord in (np.inf, -np.inf):
        return IMPLEMENTATIONS[np.max if ord > 0 else np.min](size, **options)
    if ord == 0:
        return total(pointwise(_there, (size,), {}), **options)
    if ord == 1:
        return total(size, **options)
    return pointwise(_root, (total(pointwise(_power, (size, ord), {}), **options), ord), {})


def _square(x: Any) -> Any:
    return x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x


def _there(x: Any) -> Any:
    return (x != 0).astype(x.dtype)


def _power(x: Any, order: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.power(x, order).astype(x.dtype)


def _root(x: Any, order: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.power(x, 1 / order).astype(x.dtype)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Implement ``np.linalg.matrix_norm`` on Dask arrays."""
    checked(np.linalg.matrix_norm, x, {"ord": ord})
    return _of_matrices(np.linalg.matrix_norm, x, (x.ndim - 2, x.ndim - 1), keepdims, ord)


def _of_matrices(function: Any, x: Any, axes: Any, keepdims: bool, order: Any) -> Any:
    options = {"keepdims": keepdims, "ord": order}
    if function is np.linalg.norm:
        options["axis"] = axes
    # Spectral and nuclear norms need singular values, which need the whole matrix.
    if not is_cut(x, axes) or not x.size or order in (2, -2, "nuc") or len(axes) != 2:
        return within(function, x, axes, options)
    if order in EUCLIDEAN:
        return vector_norm(x, axis=axes, keepdims=keepdims)
    rows, columns = axes
    inner = rows if order in (1, -1) else columns
    sums = vector_norm(x, axis=inner, keepdims=True, ord=1)
    return IMPLEMENTATIONS[np.max if order > 0 else np.min](sums, axis=axes, keepdims=keepdims)
