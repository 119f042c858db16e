"""Scatter: zeros with values added at an index, the transpose of indexing."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from tapemagic.engine.operations import scatter as operations
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.array import Shape
from tapemagic.lazy.implementations.blocks import filled, is_lazy, pointwise, right
from tapemagic.lazy.implementations.indexing import parts_of, select
from tapemagic.lazy.implementations.joining import as_dask, concatenate
from tapemagic.lazy.implementations.reductions import reduce_in_tree
from tapemagic.lazy.implementations.shaping import astype, broadcast_to, largest, reshape
from tapemagic.lazy.implementations.table import implements
from tapemagic.lazy.implementations.unsupported import unknown_length


@implements(operations.scatter_add)
def scattered(values: Any, index: Any, shape: Any) -> Any:
    """Implement `scatter_add`: zeros with values added at an index."""
    return scatter(values, index, shape)


def scatter(values: Any, index: Any, shape: Any) -> Any:
    """Add values at an index of an array of zeros."""
    values = as_dask(values)
    full = tuple(shape)
    index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(index, (bool, np.bool_)):
        if index:
            return scatter(reshape(values, full), (), shape)
        return scatter(values, slice(0, 0), (1, *full))[0]
    parts = parts_of(index, full)
    arrays = [k for k, part in enumerate(parts) if isinstance(part, np.ndarray)]
    reads = np.broadcast_to(np.int8(0), full)[tuple(parts)].shape
    values = broadcast_to(values, reads) if values.shape != reads else values
    if len(arrays) > 1 or (arrays and any(isinstance(part, int) for part in parts)):
        return _add_at_points(values, parts, shape)
    if arrays and parts[arrays[0]].ndim != 1:
        k = arrays[0]
        start = sum(not isinstance(part, int) for part in parts[:k])
        array = parts[k]
        values = reshape(values, (*reads[:start], array.size, *reads[start + array.ndim :]))
        parts[k] = array.ravel()
    return _add_at_parts(values, parts, shape)


def _add_at_parts(values: Any, parts: list[Any], shape: Any) -> Any:
    """Add values at an index that has one part per axis."""
    axis = place = 0
    own = getattr(shape, "chunks", None)
    for index_part in parts:
        part = index_part
        if part is None:
            values = values[(*(slice(None),) * place, 0)]
            continue
        n = shape[axis]
        cut = own[axis] if own else None
        if isinstance(part, int):
            values = values[(*(slice(None),) * place, None)]
            part = slice(part % n, part % n + 1)
        if isinstance(part, slice):
            values = _place_slice(values, part, n, place, cut)
        else:
            values = _add_along_axis(values, part % n if n else part, n, place)
        axis, place = axis + 1, place + 1
    return values if own is None else values.rechunk(own)


def _place_slice(x: Any, part: slice, n: int, axis: int, cut: Any) -> Any:
    """Place values at a slice of zeros of length `n` along an axis."""
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
    """Return zeros of length `n` along an axis, with the chunks of `x` along the other axes."""
    longest = max(1, *(cut or ()), *x.chunks[axis])
    own = tuple(min(longest, n - k) for k in range(0, n, longest)) or (0,)
    chunks = (*x.chunks[:axis], own, *x.chunks[axis + 1 :])
    return filled((*x.shape[:axis], n, *x.shape[axis + 1 :]), 0, x.dtype, chunks)


# Each layer reads all values once more; summing chunk by chunk reads them once, but needs an array of the full length
# per chunk.
MAX_LAYERS = 16
"""Maximum number of values per element that are added layer by layer; more are summed chunk by chunk."""


def _add_along_axis(x: Any, places: Any, n: int, axis: int) -> Any:
    """Add values at indices of zeros of length `n` along an axis."""
    if not places.size:
        return _zeros(x, n, axis, None)
    # Dask has no scatter. Values with the same index go to different layers; each layer is a gather of at most one
    # value per element (or of a zero appended after the values), and the layers are added.
    order = np.argsort(places, kind="stable")
    there = places[order]
    first = np.searchsorted(there, there)
    layer = np.arange(len(there)) - first
    count = int(layer.max()) + 1
    # In double precision: sums of many values in single precision lose digits.
    wide = np.result_type(x.dtype, np.float64) if x.dtype.kind in "fc" and count > 1 else x.dtype
    if count > MAX_LAYERS:
        return _add_by_chunk(x, places, n, axis, wide)
    with_zero = concatenate([astype(x, wide), _zeros(astype(x, wide), 1, axis, None)], axis)
    total = None
    for k in range(count):
        source = np.full(n, len(places))
        chosen = layer == k
        source[there[chosen]] = order[chosen]
        y = select(with_zero, source, axis)
        total = y if total is None else pointwise(np.add, (total, y), {})
    return astype(total, x.dtype)


def _add_by_chunk(x: Any, places: Any, n: int, axis: int, wide: Any) -> Any:
    """Sum the values of each chunk separately, then sum the chunks."""
    rest = largest(x) // max(1, *x.chunks[axis])
    if n * rest > 4 * largest(x):
        raise UnsupportedArgumentError(
            f"summing values at {n} indices needs one array of that length for each chunk, and it is longer than "
            "the chunks: write x.rechunk(...) for longer chunks, or give the loss to "
            "tapemagic.distributed.value_and_grad"
        )
    pieces = da.from_array(places, chunks=(x.chunks[axis],))
    labels = list(right(x.ndim))
    index = tuple(labels)
    sums = da.blockwise(
        _ChunkSum(n, axis, wide), (*index[: axis + 1], 50, *index[axis + 1 :]), x, index, pieces, (index[axis],),
        new_axes={50: n}, adjust_chunks={index[axis]: 1}, dtype=wide, meta=np.empty((0,) * (x.ndim + 1), wide),
    )  # fmt: skip
    return astype(reduce_in_tree(np.add, sums, (axis,), False, wide), x.dtype)


class _ChunkSum:
    """Adds the values of one chunk at indices below `n`."""

    __slots__ = ("axis", "dtype", "n")

    def __init__(self, n: int, axis: int, dtype: Any) -> None:
        self.n = n
        self.axis = axis
        self.dtype = dtype

    def __call__(self, x: Any, places: Any) -> Any:
        """Return the sums, with an axis of length 1 for the chunk."""
        total = np.zeros((*x.shape[: self.axis], self.n, *x.shape[self.axis + 1 :]), self.dtype)
        # add.at, since total[places] += x counts a repeated index once.
        np.add.at(total, (*(slice(None),) * self.axis, places), x)
        return np.expand_dims(total, self.axis)

    def __reduce__(self) -> Any:
        return _ChunkSum, (self.n, self.axis, self.dtype)


def _add_at_points(values: Any, parts: list[Any], shape: Any) -> Any:
    """Add values at several arrays of integer indices."""
    full = tuple(shape)
    if any(part is None for part in parts):
        raise UnsupportedArgumentError(
            "an index with new axes and several arrays has no gradient on lazy values: write x[i, j][:, None] for "
            "x[i, j, None]"
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
    rows = _add_along_axis(rows, flat, math.prod(lengths), 0)
    rows = _add_at_parts(
        rows,
        [slice(None), *(parts[k] for k in rest)],
        (math.prod(lengths), *(full[k] for k in rest)),
    )
    y = reshape(rows, (*lengths, *rows.shape[1:]))
    back = [(*advanced, *rest).index(k) for k in range(len(full))]
    y = da.transpose(y, back)
    own = getattr(shape, "chunks", None)
    return y if own is None else y.rechunk(own)


@implements(operations.with_added)
def copy_and_add(total: Any, values: Any, index: Any) -> Any:
    """Copy an array and add values at an index."""
    total = as_dask(total)
    if values.dtype.kind == "c" != total.dtype.kind:
        values = pointwise(np.real, (values,), {})
    return pointwise(
        np.add, (total, astype(scatter(values, index, Shape(total.chunks)), total.dtype)), {}
    )


@implements(operations.add_scattered)
def add_scattered(*values: Any, indices: Any, shape: Any) -> Any:
    """Add each of several values at its own index of an array of zeros."""
    dtype = np.result_type(*(x.dtype for x in values))
    wide = np.result_type(dtype, np.float64) if dtype.kind in "fc" else dtype
    total = None
    for x, index in zip(values, indices, strict=True):
        y = scatter(astype(as_dask(x), wide), index, shape)
        total = y if total is None else pointwise(np.add, (total, y), {})
    return astype(total, dtype)


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """Implement ``np.bincount`` of integers in memory with lazy weights."""
    if is_lazy(x):
        raise unknown_length("np.bincount")
    length = max(int(x.max(initial=-1)) + 1, minlength)
    if not x.size:  # without elements NumPy ignores the weights
        return filled((length,), 0, np.intp)
    return scatter(astype(as_dask(weights), np.dtype(np.float64)), x, (length,))
