"""Parts of arrays, and zeros with values added at a part."""

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
from tapemagic.lazy.implementations.table import way
from tapemagic.lazy.implementations.unsupported import counted

RUNS = 64
"""The number of slices up to which chosen elements are put together out of slices."""


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
    """An index as one part for each axis, and None for new ones; masks are the places where they are true."""
    parts = list(index) if isinstance(index, tuple) else [index]
    found: list[Any] = []
    for part in parts:
        if is_lazy(part):
            raise _lazy_index(part)
        if part is None or part is Ellipsis or isinstance(part, slice):
            found.append(part)
            continue
        array = np.asarray(part)
        if array.dtype == bool:
            if not array.ndim:
                raise UnsupportedArgumentError(
                    f"a lazy array has no element at the index {index!r}, a truth value: write x[None] or x[:0]"
                )
            found += list(np.nonzero(array))
        elif array.ndim:
            found.append(array.astype(np.intp) if not array.size else array)
        else:
            found.append(operator.index(part if not isinstance(part, np.ndarray) else part[()]))
    used = sum(part is not None and part is not Ellipsis for part in found)
    rest = len(shape) - used
    if rest < 0:
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed"
        )
    if any(part is Ellipsis for part in found):
        place = next(k for k, part in enumerate(found) if part is Ellipsis)
        found[place : place + 1] = [slice(None)] * rest
    else:
        found += [slice(None)] * rest
    return found


@way(operator.getitem)
def getitem(x: Any, index: Any) -> Any:
    """``x[index]``."""
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
        (place,) = arrays
        axis = sum(part is not None for part in parts[:place])
        y = taken(x, parts[place], axis)
        return y[(*parts[:place], *(slice(None),) * parts[place].ndim, *parts[place + 1 :])]
    return _at_points(x, parts)


def _within_bounds(parts: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """The parts of an index, with slices that begin and end within the array, since Dask reads others differently."""
    lengths = iter(shape)
    found = []
    for part in parts:
        n = 0 if part is None else next(lengths)
        within = part
        if isinstance(part, slice):
            steps = range(*part.indices(n))
            within = _slice(steps.start, len(steps), steps.step) if steps else slice(0, 0)
        found.append(within)
    return found


def _masks_fit(index: Any, shape: tuple[int, ...]) -> None:
    """Let NumPy check whether masks, and other arrays, fit."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(np.ndim(part) and np.asarray(part).dtype == bool for part in parts if part is not None):
        np.broadcast_to(np.int8(0), shape)[index]


def _in_memory(x: Any, index: Any) -> Any:
    """An array in memory at a lazy index: one array of whole numbers, for the first axis."""
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
    """Several arrays of whole numbers, and numbers, at once."""
    advanced = [k for k, part in enumerate(parts) if isinstance(part, (np.ndarray, int))]
    basic = tuple(slice(None) if k in advanced else part for k, part in enumerate(parts))
    y = x[basic]
    arrays = np.broadcast_arrays(*(parts[k] for k in advanced))
    where = advanced
    lengths = [y.shape[k] for k in where]
    for part, n in zip(arrays, lengths, strict=True):
        if part.size and not (-n <= part.min() and part.max() < n):
            raise IndexError(f"index is out of bounds for an axis of length {n}")
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
    found = taken(rows, flat, 0)
    if apart:
        return found
    n, start = arrays[0].ndim, where[0]
    return da.moveaxis(found, tuple(range(n)), tuple(range(start, start + n)))


def runs(places: Any) -> list[tuple[int, int, int]] | None:
    """The slices of consecutive whole numbers of which an array is made up; None if there are many."""
    if not places.size:
        return []
    steps = np.diff(places)
    found: list[tuple[int, int, int]] = []
    start = 0
    while start < len(places):
        if len(found) > RUNS:
            return None
        step = int(steps[start]) if start < len(steps) and abs(steps[start]) == 1 else 1
        other = np.flatnonzero(steps[start:] != step)
        stop = start + (int(other[0]) if other.size else len(steps) - start) + 1
        found.append((int(places[start]), stop - start, step))
        start = stop
    return found


def taken(x: Any, places: Any, axis: int) -> Any:
    """The elements at places in memory along an axis."""
    n = x.shape[axis]
    places = np.asarray(places)
    if places.size and not (-n <= places.min() and places.max() < n):
        wrong = places[(places < -n) | (places >= n)].ravel()[0]
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {n}")
    flat = (places.ravel() % n if n else places.ravel()).astype(np.intp)
    lead = (slice(None),) * axis
    pieces = runs(flat)
    if pieces is None:
        y = x[(*lead, flat)]
    elif not pieces:
        y = x[(*lead, slice(0, 0))]
    else:
        y = concatenate([x[(*lead, _slice(*piece))] for piece in pieces], axis)
    if places.ndim == 1:
        return y
    if not places.ndim:
        return y[(*lead, 0)]
    return reshape(y, x.shape[:axis] + places.shape + x.shape[axis + 1 :])


def _slice(start: int, count: int, step: int) -> slice:
    stop = start + count * step
    return slice(start, None if stop < 0 else stop, step)


@way(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: None = None, mode: str = "raise") -> Any:
    """``np.take``."""
    TRIAL.take(0, mode=mode)  # NumPy's error for other modes
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
    places = np.asarray(indices)
    places = places.astype(np.intp)
    n = a.shape[axis]
    if mode == "wrap" and n:
        places = places % n
    elif mode == "clip" and n:
        places = np.clip(places, 0, n - 1)
    return taken(a, places, axis)


def _rows_taken(index: Any, rows: Any, mode: Any = "raise") -> Any:
    return np.take(rows, index, axis=0, mode=mode)


@way(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """``np.repeat``."""
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
    return taken(a, np.repeat(np.arange(a.shape[axis]), repeats), axis)


@way(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: None = None) -> Any:
    """``np.compress``, of a condition in memory."""
    if is_lazy(condition):
        raise _lazy_index(condition)
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.flatnonzero(condition), axis)


@way(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """``np.extract``, of a condition in memory."""
    return compress(np.ravel(condition) if not is_lazy(condition) else condition, ravel(arr))


def where(condition: Any, *options: Any) -> Any:
    """``np.where`` with three arguments."""
    if not options:
        raise counted("np.where(mask)", places=True)
    return pointwise(np.where, (condition, *options), {})


way(np.where)(where)


@way(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """``np.take_along_axis``."""
    if axis is None:
        arr, axis = ravel(arr), 0
    return along(np.take_along_axis, (arr, indices, axis), {})
