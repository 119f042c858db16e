"""Diagonals and triangles of matrices, and padding of arrays."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.lazy.implementations.blocks import filled, is_lazy, on_single_chunk, pointwise
from tapemagic.lazy.implementations.indexing import select
from tapemagic.lazy.implementations.joining import as_dask, concatenate
from tapemagic.lazy.implementations.reductions import total, within
from tapemagic.lazy.implementations.scattering import scatter
from tapemagic.lazy.implementations.shaping import broadcast_to, ravel
from tapemagic.lazy.implementations.table import implements


def _numbers(cut: Any) -> Any:
    return da.arange(sum(cut), chunks=(cut,), dtype=np.int64)


def _below(rows: Any, columns: Any, x: Any, k: int, lower: bool) -> Any:
    with np.errstate(all="ignore"):
        return np.where(
            (columns <= rows + k) if lower else (columns >= rows + k), x, x.dtype.type(0)
        )


@implements(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    """Implement ``np.tril`` on Dask arrays."""
    return _triangle(m, k, True)


@implements(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    """Implement ``np.triu`` on Dask arrays."""
    return _triangle(m, k, False)


def _triangle(m: Any, k: int, lower: bool) -> Any:
    if m.ndim < 2:
        m = broadcast_to(m, (m.shape[0], m.shape[0]))
    return pointwise(
        _below, (_numbers(m.chunks[-2])[:, None], _numbers(m.chunks[-1]), m, k, lower), {}
    )


def _on_diagonal(rows: Any, columns: Any, x: Any) -> Any:
    return np.where(rows == columns, x, x.dtype.type(0))


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """Implement ``np.diag`` on Dask arrays."""
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    numbers = _numbers(v.chunks[0])
    square = pointwise(_on_diagonal, (numbers[:, None], numbers, v), {})
    n = v.shape[0] + abs(k)
    if not k:
        return square
    index = (slice(max(-k, 0), max(-k, 0) + v.shape[0]), slice(max(k, 0), max(k, 0) + v.shape[0]))
    return scatter(square, index, (n, n))


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """Implement ``np.diagflat`` on Dask arrays."""
    return diag(ravel(v), k)


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Implement ``np.diagonal`` on Dask arrays."""
    first, second = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    if len(a.chunks[first]) == len(a.chunks[second]) == 1:
        return within(
            np.diagonal, a, (first, second), {"offset": offset, "axis1": first, "axis2": second}
        )
    # A diagonal crosses chunks: zero everything else, chunk by chunk, and sum one axis. Sums of zeros are exact.
    x = da.moveaxis(a, (first, second), (-2, -1))
    x = x[..., max(-offset, 0) :, max(offset, 0) :]
    n = min(x.shape[-2:])
    x = x[..., :n, :n]
    on = pointwise(_on_diagonal, (_numbers(x.chunks[-2])[:, None], _numbers(x.chunks[-1]), x), {})
    return total(on, axis=-1, dtype=a.dtype)


@implements(np.trace)
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Any:
    """Implement ``np.trace`` on Dask arrays."""
    return total(
        diagonal(a, offset, axis1, axis2), axis=-1, **({} if dtype is None else {"dtype": dtype})
    )


COPIES = frozenset({"edge", "reflect", "symmetric", "wrap"})
"""Padding modes that copy elements of the array, so that taking them at indices is enough."""


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Implement ``np.pad`` with constants, or with copies of elements."""
    if not is_lazy(array):
        array = as_dask(array)
    widths = _widths(pad_width, array.ndim)
    # Padding a single element by at most 1 costs nothing and raises all of NumPy's errors.
    if not callable(mode) and array.ndim:
        options_in_memory: Any = {
            name: value for name, value in options.items() if not is_lazy(value)
        }
        sample = np.zeros((1,) * array.ndim, array.dtype)
        np.pad(
            sample, np.minimum(widths, 1), mode, **options_in_memory
        )  # NumPy's errors for other options
    if mode == "constant":
        values = options.get("constant_values", 0)
        values = (
            broadcast_to(values, (array.ndim, 2))
            if is_lazy(values)
            else np.broadcast_to(values, (array.ndim, 2))
        )
        for axis, width in enumerate(widths):
            array = _with_strips(array, axis, width, values)
        return array
    # Other modes compute new numbers from whole axes (mean, linear_ramp, odd reflection).
    if mode not in COPIES or options.get("reflect_type", "even") != "even":
        return on_single_chunk(np.pad, (array, widths, mode), options)
    for axis, width in enumerate(widths):
        if any(width):
            array = select(
                array, np.pad(np.arange(array.shape[axis]), width, mode, **options), axis
            )
    return array


def _widths(pad_width: Any, ndim: int) -> Any:
    """Return the widths before and after each axis."""
    if not isinstance(pad_width, dict):
        return np.broadcast_to(pad_width, (ndim, 2)).tolist()
    widths = [[0, 0]] * ndim
    for axis, width in pad_width.items():
        widths[axis] = np.broadcast_to(width, 2).tolist()
    return widths


def _with_strips(x: Any, axis: int, width: Any, values: Any) -> Any:
    pieces = []
    for end, count in enumerate(width):
        # The strip gets chunks no longer than those of the array: padding by a million must not make one large chunk.
        longest = max(*x.chunks[axis], 1)
        cut = tuple(min(longest, count - k) for k in range(0, count, longest)) or (0,)
        chunks = (*x.chunks[:axis], cut, *x.chunks[axis + 1 :])
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        value = values[axis, end]
        if is_lazy(value):
            from tapemagic.lazy.array import Shape

            pieces.append(broadcast_to(value.astype(x.dtype), Shape(chunks)))
        else:
            pieces.append(filled(shape, np.asarray(value).astype(x.dtype)[()], x.dtype, chunks))
    parts = [pieces[0]] * bool(width[0]) + [x] + [pieces[1]] * bool(width[1])
    return concatenate(parts, axis) if len(parts) > 1 else x
