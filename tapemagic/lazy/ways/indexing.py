"""Parts of arrays, and zeros with values added at a part."""

from __future__ import annotations

import math
import operator
from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.engine.operations import scatter
from tapemagic.engine.tensor.messages import public_name
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.array import Shape
from tapemagic.lazy.ways.along import ALONG, along
from tapemagic.lazy.ways.blocks import blockwise, is_lazy, pointwise, right
from tapemagic.lazy.ways.joining import as_lazy, concatenate
from tapemagic.lazy.ways.shaping import astype, broadcast_to, ravel, reshape, roll
from tapemagic.lazy.ways.table import way

RUNS = 64
"""The number of slices up to which chosen elements are put together out of slices."""


def _lazy_index(x: Any) -> UnsupportedArgumentError:
    return UnsupportedArgumentError(
        f"an index that is not computed, here {x}, says neither which chunks to read nor how many elements there are: "
        "write index.compute() first, np.where(mask, x, 0) for a mask, or np.take_along_axis along an axis in one chunk"
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
    if not arrays:
        return x[tuple(parts)]
    if len(arrays) == 1 and not any(isinstance(part, int) for part in parts):
        (place,) = arrays
        axis = sum(part is not None for part in parts[:place])
        lead = tuple(slice(None) if k == place else part for k, part in enumerate(parts))
        new = sum(part is None for part in parts[:place])
        return (
            taken(x, parts[place], axis)[_spread(lead, place, parts[place].ndim)]
            if not new or True
            else x
        )
    return _at_points(x, parts, index)


def _spread(lead: tuple[Any, ...], place: int, ndim: int) -> tuple[Any, ...]:
    return (*lead[:place], *(slice(None),) * ndim, *lead[place + 1 :])


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
    raise _lazy_index(index)


def _rows_at(index: Any, rows: Any) -> Any:
    return rows[index]


def _at_points(x: Any, parts: list[Any], index: Any) -> Any:
    """Several arrays of whole numbers, and numbers, at once."""
    advanced = [k for k, part in enumerate(parts) if isinstance(part, (np.ndarray, int))]
    basic = tuple(slice(None) if k in advanced else part for k, part in enumerate(parts))
    y = x[basic]
    kept = [k for k in range(len(parts))]
    arrays = np.broadcast_arrays(*(parts[k] for k in advanced))
    where = [kept.index(k) for k in advanced]
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
def take(a: Any, indices: Any, axis: Any = None, out: None = None, mode: str = "raise") -> Any:  # noqa: ARG001
    """``np.take``."""
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


def _rows_taken(index: Any, rows: Any, mode: str = "raise") -> Any:
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
def compress(condition: Any, a: Any, axis: Any = None, out: None = None) -> Any:  # noqa: ARG001
    """``np.compress``, of a condition in memory."""
    if is_lazy(condition):
        raise _lazy_index(condition)
    return take(a, np.flatnonzero(condition), axis)


@way(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """``np.extract``, of a condition in memory."""
    return compress(np.ravel(condition) if not is_lazy(condition) else condition, ravel(arr))


def where(condition: Any, *options: Any) -> Any:
    """``np.where`` with three arguments."""
    return pointwise(np.where, (condition, *options), {}) if options else nonzero(condition)


way(np.where)(where)


@way(np.real_if_close, np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.unique_values, np.unique_all, np.unique_counts, np.unique_inverse,
     np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d, np.trim_zeros, np.roots)
def nonzero(*args: Any, **_params: Any) -> Any:  # noqa: ARG001
    """Refused: the number of elements depends on the numbers."""
    raise UnsupportedArgumentError(
        "what np.nonzero, np.unique and the like give, how many elements or of which dtype, is known only once they are computed: write "
        "x.compute() first, or np.where(mask, x, 0), which keeps the shape"
    )


@way(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """``np.take_along_axis``."""
    if axis is None:
        arr, axis = ravel(arr), 0
    return along(np.take_along_axis, (arr, indices, axis), {})


@way(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """``np.bincount`` of numbers in memory, with lazy weights."""
    if is_lazy(x):
        return nonzero(x)
    length = max(int(x.max(initial=-1)) + 1, minlength)
    return zeros_with(astype(as_lazy(weights), np.dtype(np.float64)), x, (length,))


@way(np.save, np.savez, np.savez_compressed, np.savetxt, np.array_repr, np.array_str, np.array2string, np.may_share_memory, np.shares_memory, np.packbits, np.unpackbits)
def save(*args: Any, **_params: Any) -> Any:  # noqa: ARG001
    """Refused: it needs the numbers now."""
    raise UnsupportedArgumentError(
        "writing, showing and packing numbers needs them now, and a lazy array has none: write x.compute() first"
    )


# -- the transpose of indexing --------------------------------------------------------------------


@way(scatter.scatter_add)
def scattered(values: Any, index: Any, shape: Any) -> Any:
    """Zeros with values added at an index."""
    return zeros_with(values, index, shape)


def zeros_with(values: Any, index: Any, shape: Any) -> Any:
    """Zeros of a shape with values added at an index."""
    values = as_lazy(values)
    full = tuple(shape)
    index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(index, (bool, np.bool_)):
        return zeros_with(reshape(values, (1, *full)), 0 if index else slice(0, 0), (1, *full))[0]
    parts = parts_of(index, full)
    arrays = [k for k, part in enumerate(parts) if isinstance(part, np.ndarray)]
    reads = np.broadcast_to(np.int8(0), full)[tuple(parts)].shape
    values = broadcast_to(values, _like(values, reads)) if values.shape != reads else values
    if len(arrays) > 1 or (arrays and any(isinstance(part, int) for part in parts)):
        return _added_at_points(values, parts, shape)
    if arrays and parts[arrays[0]].ndim != 1:
        k = arrays[0]
        start = sum(not isinstance(part, int) for part in parts[:k])
        array = parts[k]
        values = reshape(values, (*reads[:start], array.size, *reads[start + array.ndim :]))
        parts[k] = array.ravel()
    return _padded(values, parts, shape)


def _like(values: Any, shape: tuple[int, ...]) -> Any:
    return shape


def _padded(values: Any, parts: list[Any], shape: Any) -> Any:
    """Values at one part for each axis."""
    axis = place = 0
    own = getattr(shape, "chunks", None)
    for part in parts:
        if part is None:
            values = values[(*(slice(None),) * place, 0)]
            continue
        n = shape[axis]
        cut = own[axis] if own else None
        if isinstance(part, int):
            values = values[(*(slice(None),) * place, None)]
            part = slice(part % n, part % n + 1)
        if isinstance(part, slice):
            values = _in_zeros(values, part, n, place, cut)
        else:
            values = _added(values, part % n if n else part, n, place)
        axis, place = axis + 1, place + 1
    return values if own is None else values.rechunk(own)


def _in_zeros(x: Any, part: slice, n: int, axis: int, cut: Any) -> Any:
    """Zeros of length n along an axis, but for the values at a slice."""
    start, stop, step = part.indices(n)
    count = len(range(start, stop, step))
    if not count:
        return _zeros(x, n, axis, cut)
    if step < 0:
        start, step = start + (count - 1) * step, -step
        x = da.flip(x, axis)
    if step > 1:
        lead = (slice(None),) * (axis + 1)
        gaps = x[(*lead, None)]
        wide = concatenate([gaps, _zeros(gaps, step - 1, axis + 1, None)], axis + 1)
        x = reshape(wide, (*x.shape[:axis], count * step, *x.shape[axis + 1 :]))
        x = x[(*lead[:-1], slice(0, (count - 1) * step + 1))]
    before, after = start, n - start - x.shape[axis]
    pieces = (
        [_zeros(x, before, axis, cut)] * bool(before)
        + [x]
        + [_zeros(x, after, axis, cut)] * bool(after)
    )
    return concatenate(pieces, axis) if len(pieces) > 1 else x


def _zeros(x: Any, n: int, axis: int, cut: Any) -> Any:
    """Zeros of length n along an axis, else cut like an array."""
    most = max(*(cut or ()), *x.chunks[axis], 1)
    own = tuple(min(most, n - k) for k in range(0, n, most)) or (0,)
    chunks = (*x.chunks[:axis], own, *x.chunks[axis + 1 :])
    return da.zeros((*x.shape[:axis], n, *x.shape[axis + 1 :]), dtype=x.dtype, chunks=chunks)


LAYERS = 16
"""How many values may be added to one element, before they are added up chunk by chunk."""


def _added(x: Any, places: Any, n: int, axis: int) -> Any:
    """Zeros of length n along an axis, with the values added at places."""
    if not places.size:
        return _zeros(x, n, axis, None)
    order = np.argsort(places, kind="stable")
    there = places[order]
    first = np.searchsorted(there, there)
    layer = np.arange(len(there)) - first
    count = int(layer.max()) + 1
    wide = np.result_type(x.dtype, np.float64) if x.dtype.kind in "fc" and count > 1 else x.dtype
    if count > LAYERS:
        return _by_chunk(x, places, n, axis, wide)
    with_zero = concatenate([astype(x, wide), _zeros(astype(x, wide), 1, axis, None)], axis)
    total = None
    for k in range(count):
        source = np.full(n, len(places))
        chosen = layer == k
        source[there[chosen]] = order[chosen]
        y = taken(with_zero, source, axis)
        total = y if total is None else pointwise(np.add, (total, y), {})
    return astype(total, x.dtype)


def _by_chunk(x: Any, places: Any, n: int, axis: int, wide: Any) -> Any:
    """The values of each chunk added up by themselves, then these sums."""
    from tapemagic.lazy.ways.shaping import largest

    rest = largest(x) // max(max(x.chunks[axis]), 1)
    if n * rest > 4 * largest(x):
        raise UnsupportedArgumentError(
            f"values at places among {n} are added up in one array of that length for each chunk, which is longer than "
            "the chunks: write x.rechunk(...) with longer ones, or tapemagic.distributed"
        )
    pieces = da.from_array(places, chunks=(x.chunks[axis],))
    labels = list(right(x.ndim))
    index = tuple(labels)
    sums = da.blockwise(
        _AddedUp(n, axis, wide), (*index[: axis + 1], 50, *index[axis + 1 :]), x, index, pieces, (index[axis],),
        new_axes={50: n}, adjust_chunks={index[axis]: 1}, dtype=wide, meta=np.empty((0,) * (x.ndim + 1), wide),
    )  # fmt: skip
    from tapemagic.lazy.ways.reductions import folded

    return astype(folded(np.add, sums, (axis,), False, wide), x.dtype)


class _AddedUp:
    """The values of one chunk, added at places among `n`."""

    __slots__ = ("axis", "dtype", "n")

    def __init__(self, n: int, axis: int, dtype: Any) -> None:
        self.n = n
        self.axis = axis
        self.dtype = dtype

    def __call__(self, x: Any, places: Any) -> Any:
        total = np.zeros((*x.shape[: self.axis], self.n, *x.shape[self.axis + 1 :]), self.dtype)
        np.add.at(total, (*(slice(None),) * self.axis, places), x)
        return np.expand_dims(total, self.axis)

    def __reduce__(self) -> Any:
        return _AddedUp, (self.n, self.axis, self.dtype)


def _added_at_points(values: Any, parts: list[Any], shape: Any) -> Any:
    """Values at several arrays of whole numbers at once."""
    full = tuple(shape)
    if any(part is None for part in parts):
        raise UnsupportedArgumentError(
            f"an index with both new axes and several arrays has no lazy gradient: {parts}"
        )
    advanced = [k for k, part in enumerate(parts) if isinstance(part, (np.ndarray, int))]
    arrays = np.broadcast_arrays(*(parts[k] for k in advanced))
    lengths = [full[k] for k in advanced]
    flat = (
        np.ravel_multi_index(
            [part % n for part, n in zip(arrays, lengths, strict=True)], lengths
        ).ravel()
        if arrays[0].size
        else np.zeros(0, int)
    )
    ndim = arrays[0].ndim
    apart = advanced != list(range(advanced[0], advanced[0] + len(advanced)))
    start = 0 if apart else advanced[0]
    front = da.moveaxis(values, tuple(range(start, start + ndim)), tuple(range(ndim)))
    rows = reshape(front, (arrays[0].size, *front.shape[ndim:]))
    rest = [k for k in range(len(full)) if k not in advanced]
    rows = _added(rows, flat, math.prod(lengths), 0)
    rows = _padded(
        rows,
        [slice(None), *(parts[k] for k in rest)],
        (math.prod(lengths), *(full[k] for k in rest)),
    )
    y = reshape(rows, (*lengths, *rows.shape[1:]))
    back = [(*advanced, *rest).index(k) for k in range(len(full))]
    y = da.transpose(y, back)
    own = getattr(shape, "chunks", None)
    return y if own is None else y.rechunk(own)


@way(scatter.with_added)
def with_added(total: Any, values: Any, index: Any) -> Any:
    """A copy of an array with values added at an index."""
    total = as_lazy(total)
    if values.dtype.kind == "c" != total.dtype.kind:
        values = pointwise(np.real, (values,), {})
    return pointwise(np.add, (total, astype(zeros_with(values, index, Shape(total.chunks)), total.dtype)), {})


@way(scatter.add_scattered)
def add_scattered(*values: Any, indices: Any, shape: Any) -> Any:
    """Zeros of a shape, with each of the values added at its own index."""
    dtype = np.result_type(*(x.dtype for x in values))
    wide = np.result_type(dtype, np.float64) if dtype.kind in "fc" else dtype
    total = None
    for x, index in zip(values, indices, strict=True):
        y = zeros_with(astype(as_lazy(x), wide), index, shape)
        total = y if total is None else pointwise(np.add, (total, y), {})
    return astype(total, dtype)
