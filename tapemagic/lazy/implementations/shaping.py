"""Reshape, permute, repeat and cast arrays."""

from __future__ import annotations

import math
import operator
from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.array import Shape
from tapemagic.lazy.implementations.blocks import array_in_chunks, filled, is_lazy, pointwise
from tapemagic.lazy.implementations.table import delegate_to_dask, implements

delegate_to_dask(
    "transpose", "swapaxes", "expand_dims", "squeeze", "moveaxis", "rollaxis", "flip", "rot90"
)

MAX_CHUNK_GROWTH = 4
"""Maximum factor by which chunks may grow in a reshape; beyond it there are more, smaller chunks."""


TRIAL: Any = np.zeros(1)
"""Array on which NumPy checks options, and raises its own errors."""

implements(da.rechunk)(da.rechunk)


# A Dask array is immutable, so a copy is the array itself.
@implements(np.copy)
def copy(x: Any, order: Any = "K") -> Any:
    """Implement ``np.copy`` on Dask arrays."""
    TRIAL.copy(order)  # raises NumPy's error for other orders
    return x


@implements(np.astype)
def astype(x: Any, dtype: Any, casting: Any = "unsafe", **_params: Any) -> Any:
    """Implement ``np.astype`` on Dask arrays."""
    dtype = np.dtype(dtype)
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {x.dtype} to {dtype} according to the rule {casting!r}"
        )
    return x if x.dtype == dtype else pointwise(_cast, (x, dtype), {})


def _cast(x: Any, dtype: Any) -> Any:
    """Cast a chunk or a scalar; ``np.astype`` of NumPy 2.0 does not accept scalars."""
    return x.astype(dtype)


@implements(np.reshape)
def reshape(x: Any, shape: Any, order: str = "C", copy: Any = None) -> Any:
    """Implement ``np.reshape``, with the chunks of the shape if it has any."""
    TRIAL.reshape(1, order=order)  # raises NumPy's error for other orders
    chunks = getattr(shape, "chunks", None)
    shape = tuple(np.atleast_1d(np.asarray(shape)).tolist())
    # Column-major order is row-major order of the transposed array.
    if order == "F":
        full = _full_shape(x, shape)
        return da.transpose(reshape(da.transpose(x), full[::-1]))
    full = _full_shape(x, shape)
    if full == x.shape:
        return x if chunks is None else x.rechunk(chunks)
    if math.prod(full) == 0 or x.size == 1:
        return _reshape_tiny(x, full, chunks)
    try:
        y = x.reshape(full)
        # Dask merges whole chunks to keep their number down, so that one chunk can become the whole array.
        if largest(y) > MAX_CHUNK_GROWTH * largest(x):
            y = _in_small_chunks(x, full)
    except NotImplementedError:  # axes are neither merged nor split
        y = reshape(reshape(x, (x.size,)), full)
    return y if chunks is None or len(y.chunks) != len(chunks) else y.rechunk(chunks)


def _in_small_chunks(x: Any, shape: tuple[int, ...]) -> Any:
    """Reshape into more and smaller chunks.

    Dask gives this result the same name as the one in larger chunks. Reshaping a copy of the array keeps them apart if
    both are in one graph.
    """
    return pointwise(_unchanged, (x,), {}).reshape(shape, merge_chunks=False)


def _unchanged(x: Any) -> Any:
    return x


def _full_shape(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Replace -1 in a shape by the length it implies."""
    shape = tuple(map(operator.index, shape))
    size_without = math.prod(n for n in shape if n != -1)
    full = tuple((x.size // size_without if size_without else 0) if n == -1 else n for n in shape)
    unknown = -1 in shape and not size_without
    if math.prod(full) != x.size or shape.count(-1) > 1 or unknown:
        raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
    return full


def _reshape_tiny(x: Any, shape: tuple[int, ...], chunks: Any) -> Any:
    """Reshape an array with at most one element."""
    if not x.size:
        return filled(shape, 0, x.dtype, chunks or -1)
    y = x.rechunk(-1).reshape(shape)  # not map_blocks: Dask's fusion confuses its new axes
    return y if chunks is None else y.rechunk(chunks)


def largest(x: Any) -> int:
    """Return the number of elements of the largest chunk."""
    return math.prod(max(cut, default=0) for cut in x.chunks)


@implements(np.ravel)
def ravel(x: Any, order: str = "C") -> Any:
    """Implement ``np.ravel`` on Dask arrays."""
    TRIAL.ravel(order)
    return reshape(x, (x.size,), "F" if order == "F" else "C")


@implements(np.broadcast_to)
def broadcast_to(x: Any, shape: Any, subok: bool = False) -> Any:
    """Implement ``np.broadcast_to``, with the chunks of the shape, else those of the array on axes longer than 1."""
    chunks = shape.chunks if isinstance(shape, Shape) else None
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not is_lazy(x):
        x = np.asarray(x)
        if not x.ndim:
            return filled(shape, x[()], x.dtype, chunks or "auto")
        x = array_in_chunks(x, tuple((n,) for n in x.shape))
    if chunks is None:
        chunks = _new_chunks(x, shape)
    if any(
        long != short != 1 for long, short in zip(shape[::-1], x.shape[::-1], strict=False)
    ) or x.ndim > len(shape):
        raise ValueError(f"could not broadcast input array from shape {x.shape} into shape {shape}")
    own = tuple(
        (1,) if n == 1 else cut
        for n, cut in zip(x.shape, chunks[len(shape) - x.ndim :], strict=True)
    )
    x = x.rechunk(own)
    if x.shape == shape:
        return x
    if 0 in shape:
        return filled(shape, 0, x.dtype, chunks)
    return pointwise(_spread_like, (x, filled(shape, 0, np.int8, chunks)), {})


def _spread_like(x: Any, places: Any) -> Any:
    """Broadcast an array to the shape of another, as a task that Dask can fuse (da.broadcast_to can't be)."""
    return np.broadcast_to(x, places.shape)


def _new_chunks(x: Any, shape: tuple[int, ...]) -> Any:
    """Choose chunks for an array that is broadcast to a shape without chunks."""
    lead = len(shape) - x.ndim
    if 0 in shape:
        return tuple((n,) for n in shape)
    own = [
        "auto" if k < lead or x.shape[k - lead] == 1 else x.chunks[k - lead]
        for k in range(len(shape))
    ]
    return da.core.normalize_chunks(tuple(own), shape, dtype=x.dtype)


@implements(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    """Implement ``np.broadcast_arrays`` on Dask arrays."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in arrays))
    cuts: list[Any] = [(n,) for n in shape]
    for x in filter(is_lazy, arrays):
        for axis in range(-x.ndim, 0):
            if x.shape[axis] == shape[axis] and len(x.chunks[axis]) > len(cuts[axis]):
                cuts[axis] = x.chunks[axis]
    return tuple(broadcast_to(x, Shape(tuple(cuts))) for x in arrays)


@implements(np.atleast_1d)
def atleast_1d(*arrays: Any) -> Any:
    """Implement ``np.atleast_1d`` on Dask arrays."""
    return _map_arrays(lambda x: reshape(x, (1,)) if not x.ndim else x, arrays)


@implements(np.atleast_2d)
def atleast_2d(*arrays: Any) -> Any:
    """Implement ``np.atleast_2d`` on Dask arrays."""
    return _map_arrays(
        lambda x: x[None, :] if x.ndim == 1 else x if x.ndim else reshape(x, (1, 1)), arrays
    )


@implements(np.atleast_3d)
def atleast_3d(*arrays: Any) -> Any:
    """Implement ``np.atleast_3d`` on Dask arrays."""

    def with_three_axes(x: Any) -> Any:
        if x.ndim > 2:
            return x
        return (
            x[:, :, None] if x.ndim == 2 else x[None, :, None] if x.ndim else reshape(x, (1, 1, 1))
        )

    return _map_arrays(with_three_axes, arrays)


def _map_arrays(function: Any, arrays: Any) -> Any:
    results = tuple(function(x if is_lazy(x) else da.asarray(np.asarray(x))) for x in arrays)
    return results[0] if len(results) == 1 else results


@implements(np.fliplr)
def fliplr(x: Any) -> Any:
    """Implement ``np.fliplr`` on Dask arrays."""
    return da.flip(x, 1)


@implements(np.flipud)
def flipud(x: Any) -> Any:
    """Implement ``np.flipud`` on Dask arrays."""
    return da.flip(x, 0)


@implements(np.roll)
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Implement ``np.roll`` on Dask arrays."""
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), Shape(x.chunks))
    shifts, axes = np.broadcast_arrays(shift, axis)
    for steps, place in zip(shifts.ravel().tolist(), axes.ravel().tolist(), strict=True):
        along = normalize_axis_index(place, x.ndim)
        n = x.shape[along]
        by = steps % n if n else 0
        if by:
            lead = (slice(None),) * along
            x = da.concatenate(
                [x[(*lead, slice(n - by, n))], x[(*lead, slice(0, n - by))]], axis=along
            )
    return x


@implements(np.tile)
def tile(x: Any, reps: Any) -> Any:
    """Implement ``np.tile`` on Dask arrays."""
    reps = tuple(np.atleast_1d(reps).tolist())
    if min(reps, default=0) < 0:
        raise ValueError(f"negative dimensions are not allowed: np.tile with reps={reps}")
    x = x[(None,) * (len(reps) - x.ndim)]
    reps = (1,) * (x.ndim - len(reps)) + reps
    for axis, count in enumerate(reps):
        if count == 0:
            x = x[(*(slice(None),) * axis, slice(0, 0))]
        elif count > 1:
            # The chunks are references to the same tasks: each is computed once.
            x = da.concatenate([x] * count, axis=axis)
    return x


@implements(np.full_like)
def full_like(
    x: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    **_device: Any,
) -> Any:
    """Implement ``np.full_like`` on Dask arrays."""
    if is_lazy(x):
        dtype = x.dtype if dtype is None else dtype
    else:
        dtype = np.asarray(x).dtype if dtype is None else dtype
    shape = (Shape(x.chunks) if is_lazy(x) else np.shape(x)) if shape is None else shape
    if not is_lazy(fill_value):
        fill_value = np.full_like(
            fill_value, fill_value, dtype
        )  # raises NumPy's error if it does not fit
    value = fill_value
    return broadcast_to(value.astype(dtype), shape)


@implements(np.zeros_like, np.empty_like)
def zeros_like(
    x: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    **_device: Any,
) -> Any:
    """Implement ``np.zeros_like``, and ``np.empty_like`` with zeros."""
    return full_like(x, 0, dtype, shape=shape)


@implements(np.ones_like)
def ones_like(
    x: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    **_device: Any,
) -> Any:
    """Implement ``np.ones_like`` on Dask arrays."""
    return full_like(x, 1, dtype, shape=shape)


@implements(np.shape)
def shape_of(x: Any) -> Any:
    """Implement ``np.shape`` on Dask arrays."""
    return Shape(x.chunks)


@implements(np.ndim)
def ndim(x: Any) -> int:
    """Implement ``np.ndim`` on Dask arrays."""
    return int(x.ndim)


@implements(np.size)
def size(x: Any, axis: Any = None) -> int:
    """Implement ``np.size`` on Dask arrays."""
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    return math.prod(x.shape[k] for k in axes)


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Implement ``np.iscomplexobj`` on Dask arrays."""
    return bool(x.dtype.kind == "c")


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Implement ``np.isrealobj`` on Dask arrays."""
    return bool(x.dtype.kind != "c")


def _stand_ins(args: Any) -> Any:
    return [np.empty((0,) * max(x.ndim, 1), x.dtype) if is_lazy(x) else x for x in args]


@implements(np.result_type)
def result_type(*args: Any) -> Any:
    """Implement ``np.result_type`` on Dask arrays."""
    return np.result_type(*_stand_ins(args))


@implements(np.common_type)
def common_type(*args: Any) -> Any:
    """Implement ``np.common_type`` on Dask arrays."""
    return np.common_type(*_stand_ins(args))


@implements(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> Any:
    """Implement ``np.can_cast`` on Dask arrays."""
    return np.can_cast(from_.dtype, to, casting)


@implements(np.min_scalar_type)
def min_scalar_type(a: Any) -> Any:
    """Implement ``np.min_scalar_type`` of an array; for a scalar it would depend on the number."""
    if not a.ndim:
        raise UnsupportedArgumentError(
            "np.min_scalar_type of a single number depends on it, and it is not computed: write x.compute() first"
        )
    return a.dtype
