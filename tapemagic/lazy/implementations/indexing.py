"""Indexing: selections of elements at indices in memory."""

from __future__ import annotations

import math
import operator
from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.array import Shape
from tapemagic.lazy.implementations.along import along
from tapemagic.lazy.implementations.blocks import blockwise, is_lazy, pointwise, right
from tapemagic.lazy.implementations.joining import concatenate
from tapemagic.lazy.implementations.shaping import TRIAL, broadcast_to, ravel, reshape
from tapemagic.lazy.implementations.table import implements
from tapemagic.lazy.implementations.unsupported import unknown_length

MAX_SLICES = 64
"""Maximum number of slices of consecutive indices; more are read as one array of indices."""


def _lazy_index(x: Any) -> UnsupportedArgumentError:
    if x.dtype.kind == "b":
        return UnsupportedArgumentError(
            f"a mask that is not computed, here one of shape {tuple(x.shape)}, does not say how many elements there "
            "are: write np.where(mask, x, 0), which keeps the shape (of x[rows], np.where(rows[:, None], x, 0)), or "
            "mask.compute() first"
        )
    return UnsupportedArgumentError(
        f"an index that is not computed, here one of shape {tuple(x.shape)} and dtype {x.dtype}, does not say which "
        "chunks to read: write index.compute() first, or np.take_along_axis along an axis in one chunk"
    )


def parts_of(index: Any, shape: tuple[int, ...]) -> list[Any]:
    """Split an index into one part per axis, plus None for new axes; masks become indices."""
    parts = list(index) if isinstance(index, tuple) else [index]
    result: list[Any] = []
    for part in parts:
        if is_lazy(part):
            raise _lazy_index(part)
        if part is None or part is Ellipsis or isinstance(part, slice):
            result.append(part)
            continue
        array = np.asarray(part)
        if array.dtype == bool:
            if not array.ndim:
                raise UnsupportedArgumentError(
                    f"a lazy array can't be indexed by the bool {index!r}: write x[None] or x[:0]"
                )
            # A mask in memory is known: its indices have a known length, which a lazy mask's don't.
            result += list(np.nonzero(array))
        elif array.ndim:
            result.append(array.astype(np.intp) if not array.size else array)
        else:
            result.append(operator.index(part if not isinstance(part, np.ndarray) else part[()]))
    used = sum(part is not None and part is not Ellipsis for part in result)
    rest = len(shape) - used
    if rest < 0:
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed"
        )
    if any(part is Ellipsis for part in result):
        position = next(k for k, part in enumerate(result) if part is Ellipsis)
        result[position : position + 1] = [slice(None)] * rest
    else:
        result += [slice(None)] * rest
    return result


@implements(operator.getitem)
def getitem(x: Any, index: Any) -> Any:
    """Implement ``x[index]`` on Dask arrays."""
    if not is_lazy(x):
        return _in_memory(x, index)
    index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(index, (bool, np.bool_)):
        return x[None] if index else x[None][:0]
    parts = parts_of(index, x.shape)
    _masks_fit(index, x.shape)
    arrays = [k for k, part in enumerate(parts) if isinstance(part, np.ndarray)]
    parts = _within_bounds(parts, x.shape)
    if not arrays:
        return x[tuple(parts)]
    if len(arrays) == 1 and not any(isinstance(part, int) for part in parts):
        (position,) = arrays
        axis = sum(part is not None for part in parts[:position])
        y = select(x, parts[position], axis)
        return y[
            (*parts[:position], *(slice(None),) * parts[position].ndim, *parts[position + 1 :])
        ]
    return _at_points(x, parts)


def _within_bounds(parts: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Clip slices to the array, because Dask reads out-of-range slices differently from NumPy."""
    lengths = iter(shape)
    result = []
    for part in parts:
        n = 0 if part is None else next(lengths)
        within = part
        if isinstance(part, slice):
            steps = range(*part.indices(n))
            within = _slice(steps.start, len(steps), steps.step) if steps else slice(0, 0)
        result.append(within)
    return result


def _masks_fit(index: Any, shape: tuple[int, ...]) -> None:
    """Let NumPy raise its error if a mask does not fit the shape."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(np.ndim(part) and np.asarray(part).dtype == bool for part in parts if part is not None):
        np.broadcast_to(np.int8(0), shape)[index]


def _in_memory(x: Any, index: Any) -> Any:
    """Index an array in memory by one lazy array of integers along its first axis."""
    if is_lazy(index) and index.dtype.kind in "iu":
        rows = np.asarray(x)
        return blockwise(
            _rows_at, (index, rows), {}, lambda arrays: [right(arrays[0].ndim), (None,) * rows.ndim]
        )
    parts = index if isinstance(index, tuple) else (index,)
    lazy = next(filter(is_lazy, parts))
    if len(parts) > 1 and lazy.dtype.kind in "iu":
        raise UnsupportedArgumentError(
            "an array in memory is read at one index that is not computed, that of rows: write x[index], and then "
            "[...] for a part of each row"
        )
    raise _lazy_index(lazy)


def _rows_at(index: Any, rows: Any) -> Any:
    return rows[index]


def _at_points(x: Any, parts: list[Any]) -> Any:
    """Index by several arrays of integers at once."""
    advanced = [k for k, part in enumerate(parts) if isinstance(part, (np.ndarray, int))]
    basic = tuple(slice(None) if k in advanced else part for k, part in enumerate(parts))
    y = x[basic]
    arrays = np.broadcast_arrays(*(parts[k] for k in advanced))
    where = advanced
    lengths = [y.shape[k] for k in where]
    for part, n in zip(arrays, lengths, strict=True):
        if part.size and not (-n <= part.min() and part.max() < n):
            raise IndexError(f"index is out of bounds for an axis of length {n}")
    # As in NumPy: if the advanced indices are not next to each other, their axes come first in the result.
    apart = where != list(range(where[0], where[0] + len(where)))
    rest = [k for k in range(y.ndim) if k not in where]
    front = da.transpose(y, (*where, *rest))
    shape = tuple(front.shape[len(where) :])
    flat = (
        np.ravel_multi_index([part % n for part, n in zip(arrays, lengths, strict=True)], lengths)
        if arrays[0].size
        else np.zeros(arrays[0].shape, int)
    )
    rows = reshape(front, (math.prod(lengths), *shape))
    result = select(rows, flat, 0)
    if apart:
        return result
    n, start = arrays[0].ndim, where[0]
    return da.moveaxis(result, tuple(range(n)), tuple(range(start, start + n)))


def as_slices(indices: Any) -> list[tuple[int, int, int]] | None:
    """Split indices into slices of consecutive integers; return None if there are too many."""
    if not indices.size:
        return []
    steps = np.diff(indices)
    result: list[tuple[int, int, int]] = []
    start = 0
    while start < len(indices):
        if len(result) > MAX_SLICES:
            return None
        step = int(steps[start]) if start < len(steps) and abs(steps[start]) == 1 else 1
        change = np.flatnonzero(steps[start:] != step)
        stop = start + (int(change[0]) if change.size else len(steps) - start) + 1
        result.append((int(indices[start]), stop - start, step))
        start = stop
    return result


def select(x: Any, indices: Any, axis: int) -> Any:
    """Select the elements at indices in memory along an axis."""
    n = x.shape[axis]
    indices = np.asarray(indices)
    if indices.size and not (-n <= indices.min() and indices.max() < n):
        wrong = indices[(indices < -n) | (indices >= n)].ravel()[0]
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {n}")
    flat = (indices.ravel() % n if n else indices.ravel()).astype(np.intp)
    lead = (slice(None),) * axis
    # Slices keep the chunks; an array of indices makes Dask build one task for each output chunk that
    # reads from many.
    pieces = as_slices(flat)
    if pieces is None:
        y = x[(*lead, flat)]
    elif not pieces:
        y = x[(*lead, slice(0, 0))]
    else:
        y = concatenate([x[(*lead, _slice(*piece))] for piece in pieces], axis)
    if indices.ndim == 1:
        return y
    if not indices.ndim:
        return y[(*lead, 0)]
    return reshape(y, x.shape[:axis] + indices.shape + x.shape[axis + 1 :])


def _slice(start: int, count: int, step: int) -> slice:
    stop = start + count * step
    return slice(start, None if stop < 0 else stop, step)


@implements(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: None = None, mode: str = "raise") -> Any:
    """Implement ``np.take`` on Dask arrays."""
    TRIAL.take(0, mode=mode)  # raises NumPy's error for other modes
    if is_lazy(indices):
        if is_lazy(a):
            if (
                axis is not None
                and len(a.chunks[normalize_axis_index(axis, a.ndim)]) == 1
                and a.ndim == 1
            ):
                return blockwise(
                    _rows_taken,
                    (indices, a),
                    {"mode": mode},
                    lambda arrays: [right(arrays[0].ndim), (None,)],
                )
            raise _lazy_index(indices)
        if axis in (None, 0) or np.ndim(a) == 1:
            rows = np.ravel(a) if axis is None else np.asarray(a)
            return blockwise(
                _rows_taken,
                (indices, rows),
                {"mode": mode},
                lambda arrays: [right(arrays[0].ndim), (None,) * rows.ndim],
            )
        raise _lazy_index(indices)
    if axis is None:
        a, axis = ravel(a), 0
    axis = normalize_axis_index(axis, a.ndim)
    positions = np.asarray(indices)
    positions = positions.astype(np.intp)
    n = a.shape[axis]
    if mode == "wrap" and n:
        positions = positions % n
    elif mode == "clip" and n:
        positions = np.clip(positions, 0, n - 1)
    return select(a, positions, axis)


def _rows_taken(index: Any, rows: Any, mode: Any = "raise") -> Any:
    return np.take(rows, index, axis=0, mode=mode)


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Implement ``np.repeat`` on Dask arrays."""
    if is_lazy(repeats):
        raise _lazy_index(repeats)
    if axis is None:
        a, axis = ravel(a), 0
    if not a.ndim:
        a = reshape(a, (1,))
    axis = normalize_axis_index(axis, a.ndim)
    if not np.ndim(repeats) and a.shape[axis] == 1:
        n = int(repeats)
        chunks = Shape(
            (
                *a.chunks[:axis],
                *da.core.normalize_chunks(("auto",), (n,), dtype=a.dtype),
                *a.chunks[axis + 1 :],
            )
        )
        return broadcast_to(a, chunks) if n else a[(*(slice(None),) * axis, slice(0, 0))]
    if not np.ndim(repeats):
        n = int(repeats)
        thin = a[(*(slice(None),) * (axis + 1), None)]
        wide = (
            da.broadcast_to(thin, (*thin.shape[: axis + 1], n, *thin.shape[axis + 2 :]))
            if n
            else thin[(*(slice(None),) * (axis + 1), slice(0, 0))]
        )
        return reshape(wide, (*a.shape[:axis], a.shape[axis] * n, *a.shape[axis + 1 :]))
    return select(a, np.repeat(np.arange(a.shape[axis]), repeats), axis)


@implements(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: None = None) -> Any:
    """Implement ``np.compress`` with a condition in memory."""
    if is_lazy(condition):
        raise _lazy_index(condition)
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.flatnonzero(condition), axis)


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """Implement ``np.extract`` with a condition in memory."""
    return compress(np.ravel(condition) if not is_lazy(condition) else condition, ravel(arr))


def where(condition: Any, *options: Any) -> Any:
    """Implement ``np.where`` with three arguments."""
    if not options:
        raise unknown_length("np.where(mask)", places=True)
    return pointwise(np.where, (condition, *options), {})


implements(np.where)(where)


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Implement ``np.take_along_axis`` on Dask arrays."""
    if axis is None:
        arr, axis = ravel(arr), 0
    return along(np.take_along_axis, (arr, indices, axis), {})
