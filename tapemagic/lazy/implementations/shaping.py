"""The same elements laid out, permuted, repeated or cast differently."""

from __future__ import annotations

import math
import operator
from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.array import Shape
from tapemagic.lazy.implementations.blocks import filled, in_chunks, is_lazy, pointwise
from tapemagic.lazy.implementations.table import as_dask_does, way

as_dask_does(
    "transpose", "swapaxes", "expand_dims", "squeeze", "moveaxis", "rollaxis", "flip", "rot90"
)

PIECES = 4
"""The factor by which the chunks of a reshaped array may grow, so that there need not be more of them."""


TRIAL: Any = np.zeros(1)
"""An array on which NumPy checks options."""

way(da.rechunk)(da.rechunk)


@way(np.copy)
def copy(x: Any, order: Any = "K") -> Any:
    """``np.copy``."""
    TRIAL.copy(order)  # NumPy's error for other orders
    return x


@way(np.astype)
def astype(x: Any, dtype: Any, casting: Any = "unsafe", **_params: Any) -> Any:
    """``np.astype``."""
    dtype = np.dtype(dtype)
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {x.dtype} to {dtype} according to the rule {casting!r}"
        )
    return x if x.dtype == dtype else pointwise(_cast, (x, dtype), {})


def _cast(x: Any, dtype: Any) -> Any:
    """A chunk in another dtype, or a number, which ``np.astype`` of NumPy 2.0 does not take."""
    return x.astype(dtype)


@way(np.reshape)
def reshape(x: Any, shape: Any, order: str = "C", copy: Any = None) -> Any:
    """``np.reshape``, cut as the shape says, if it says so."""
    TRIAL.reshape(1, order=order)  # NumPy's error for other orders
    chunks = getattr(shape, "chunks", None)
    shape = tuple(np.atleast_1d(np.asarray(shape)).tolist())
    if order == "F":
        full = _full_shape(x, shape)
        return da.transpose(reshape(da.transpose(x), full[::-1]))
    full = _full_shape(x, shape)
    if full == x.shape:
        return x if chunks is None else x.rechunk(chunks)
    if math.prod(full) == 0 or x.size == 1:
        return _moved(x, full, chunks)
    try:
        y = x.reshape(full)
        if largest(y) > PIECES * largest(x):
            y = _in_small_chunks(x, full)
    except NotImplementedError:  # axes are neither merged nor split
        y = reshape(reshape(x, (x.size,)), full)
    return y if chunks is None or len(y.chunks) != len(chunks) else y.rechunk(chunks)


def _in_small_chunks(x: Any, shape: tuple[int, ...]) -> Any:
    """The elements in another shape, in more and smaller chunks.

    Dask calls the result as it calls the one in larger chunks: so that both can be in one graph, this one is of another
    array.
    """
    return pointwise(_itself, (x,), {}).reshape(shape, merge_chunks=False)


def _itself(x: Any) -> Any:
    return x


def _full_shape(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape with the length that -1 stands for."""
    shape = tuple(map(operator.index, shape))
    known = math.prod(n for n in shape if n != -1)
    full = tuple((x.size // known if known else 0) if n == -1 else n for n in shape)
    unknown = -1 in shape and not known
    if math.prod(full) != x.size or shape.count(-1) > 1 or unknown:
        raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
    return full


def _moved(x: Any, shape: tuple[int, ...], chunks: Any) -> Any:
    """No element, or one, in another shape."""
    if not x.size:
        return filled(shape, 0, x.dtype, chunks or -1)
    y = x.rechunk(-1).reshape(shape)  # not by map_blocks, whose new axes Dask's fusion mistakes
    return y if chunks is None else y.rechunk(chunks)


def largest(x: Any) -> int:
    """The number of elements of the largest chunk."""
    return math.prod(max(cut, default=0) for cut in x.chunks)


@way(np.ravel)
def ravel(x: Any, order: str = "C") -> Any:
    """``np.ravel``."""
    TRIAL.ravel(order)
    return reshape(x, (x.size,), "F" if order == "F" else "C")


@way(np.broadcast_to)
def broadcast_to(x: Any, shape: Any, subok: bool = False) -> Any:
    """``np.broadcast_to``, cut as the shape says, else like the array where that is longer than 1."""
    chunks = shape.chunks if isinstance(shape, Shape) else None
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not is_lazy(x):
        x = np.asarray(x)
        if not x.ndim:
            return filled(shape, x[()], x.dtype, chunks or "auto")
        x = in_chunks(x, tuple((n,) for n in x.shape))
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
    """An array repeated over the shape of another; for Dask a part of the tasks that use it, as its own is not."""
    return np.broadcast_to(x, places.shape)


def _new_chunks(x: Any, shape: tuple[int, ...]) -> Any:
    """The chunks of an array that is broadcast to a shape which does not tell them: none larger than is usual."""
    lead = len(shape) - x.ndim
    if 0 in shape:
        return tuple((n,) for n in shape)
    own = [
        "auto" if k < lead or x.shape[k - lead] == 1 else x.chunks[k - lead]
        for k in range(len(shape))
    ]
    return da.core.normalize_chunks(tuple(own), shape, dtype=x.dtype)


@way(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    """``np.broadcast_arrays``."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in arrays))
    cuts: list[Any] = [(n,) for n in shape]
    for x in filter(is_lazy, arrays):
        for axis in range(-x.ndim, 0):
            if x.shape[axis] == shape[axis] and len(x.chunks[axis]) > len(cuts[axis]):
                cuts[axis] = x.chunks[axis]
    return tuple(broadcast_to(x, Shape(tuple(cuts))) for x in arrays)


@way(np.atleast_1d)
def atleast_1d(*arrays: Any) -> Any:
    """``np.atleast_1d``."""
    return _each(lambda x: reshape(x, (1,)) if not x.ndim else x, arrays)


@way(np.atleast_2d)
def atleast_2d(*arrays: Any) -> Any:
    """``np.atleast_2d``."""
    return _each(
        lambda x: x[None, :] if x.ndim == 1 else x if x.ndim else reshape(x, (1, 1)), arrays
    )


@way(np.atleast_3d)
def atleast_3d(*arrays: Any) -> Any:
    """``np.atleast_3d``."""

    def one(x: Any) -> Any:
        if x.ndim > 2:
            return x
        return (
            x[:, :, None] if x.ndim == 2 else x[None, :, None] if x.ndim else reshape(x, (1, 1, 1))
        )

    return _each(one, arrays)


def _each(function: Any, arrays: Any) -> Any:
    found = tuple(function(x if is_lazy(x) else da.asarray(np.asarray(x))) for x in arrays)
    return found[0] if len(found) == 1 else found


@way(np.fliplr)
def fliplr(x: Any) -> Any:
    """``np.fliplr``."""
    return da.flip(x, 1)


@way(np.flipud)
def flipud(x: Any) -> Any:
    """``np.flipud``."""
    return da.flip(x, 0)


@way(np.roll)
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """``np.roll``."""
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), Shape(x.chunks))
    shifts, axes = np.broadcast_arrays(shift, axis)
    for steps, place in zip(shifts.ravel().tolist(), axes.ravel().tolist(), strict=True):
        one = normalize_axis_index(place, x.ndim)
        n = x.shape[one]
        by = steps % n if n else 0
        if by:
            lead = (slice(None),) * one
            x = da.concatenate(
                [x[(*lead, slice(n - by, n))], x[(*lead, slice(0, n - by))]], axis=one
            )
    return x


@way(np.tile)
def tile(x: Any, reps: Any) -> Any:
    """``np.tile``."""
    reps = tuple(np.atleast_1d(reps).tolist())
    if min(reps, default=0) < 0:
        raise ValueError(f"negative dimensions are not allowed: np.tile with reps={reps}")
    x = x[(None,) * (len(reps) - x.ndim)]
    reps = (1,) * (x.ndim - len(reps)) + reps
    for axis, count in enumerate(reps):
        if count == 0:
            x = x[(*(slice(None),) * axis, slice(0, 0))]
        elif count > 1:
            x = da.concatenate([x] * count, axis=axis)
    return x


@way(np.full_like)
def full_like(
    x: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    **_device: Any,
) -> Any:
    """``np.full_like``."""
    if is_lazy(x):
        dtype = x.dtype if dtype is None else dtype
    else:
        dtype = np.asarray(x).dtype if dtype is None else dtype
    shape = (Shape(x.chunks) if is_lazy(x) else np.shape(x)) if shape is None else shape
    if not is_lazy(fill_value):
        fill_value = np.full_like(fill_value, fill_value, dtype)  # NumPy's error if it does not fit
    value = fill_value
    return broadcast_to(value.astype(dtype), shape)


@way(np.zeros_like, np.empty_like)
def zeros_like(
    x: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    **_device: Any,
) -> Any:
    """``np.zeros_like``; also in the place of numbers that may be any."""
    return full_like(x, 0, dtype, shape=shape)


@way(np.ones_like)
def ones_like(
    x: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    **_device: Any,
) -> Any:
    """``np.ones_like``."""
    return full_like(x, 1, dtype, shape=shape)


@way(np.shape)
def shape_of(x: Any) -> Any:
    """``np.shape``."""
    return Shape(x.chunks)


@way(np.ndim)
def ndim(x: Any) -> int:
    """``np.ndim``."""
    return int(x.ndim)


@way(np.size)
def size(x: Any, axis: Any = None) -> int:
    """``np.size``."""
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    return math.prod(x.shape[one] for one in axes)


@way(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """``np.iscomplexobj``."""
    return bool(x.dtype.kind == "c")


@way(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """``np.isrealobj``."""
    return bool(x.dtype.kind != "c")


def _stand_ins(args: Any) -> Any:
    return [np.empty((0,) * max(x.ndim, 1), x.dtype) if is_lazy(x) else x for x in args]


@way(np.result_type)
def result_type(*args: Any) -> Any:
    """``np.result_type``."""
    return np.result_type(*_stand_ins(args))


@way(np.common_type)
def common_type(*args: Any) -> Any:
    """``np.common_type``."""
    return np.common_type(*_stand_ins(args))


@way(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> Any:
    """``np.can_cast``."""
    return np.can_cast(from_.dtype, to, casting)


@way(np.min_scalar_type)
def min_scalar_type(a: Any) -> Any:
    """``np.min_scalar_type``: the dtype of an array with axes; that of a number depends on the number."""
    if not a.ndim:
        raise UnsupportedArgumentError(
            "np.min_scalar_type of a single number depends on it, and it is not computed: write x.compute() first"
        )
    return a.dtype
