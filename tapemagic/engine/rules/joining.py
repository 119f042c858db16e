"""Joining and splitting: several arrays into one, one into several, broadcasting together, slice by slice."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tapemagic.engine.registry import (
    Function,
    composite,
    even_zeros,
    operation,
    selects,
    spreads,
    vjp,
    vjp_argnums,
)
from tapemagic.engine.rules.axes import negative_axis, shape_of
from tapemagic.engine.rules.shaping import as_array, at, refuse_out, relaid, tensor_of
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.precision import precise_sum
from tapemagic.engine.tensor.tensor import as_operand, unwrap
from tapemagic.errors import DtypeError, ShapeError

Shape = tuple[int, ...]


def _joined(function: Function, arrays: Any, options: dict[str, Any], out: Any = None) -> Any:
    """Apply an operation on many arrays to a list of arrays, some of which may be lists."""
    refuse_out(out)
    return apply(operation(function), tuple(map(as_operand, arrays)), options)


def _parts(
    argnums: Sequence[int],
    g: Any,
    y: Any,
    arrays: Any,
    axis: int,
    as_joined: Callable[[Shape], Shape],
) -> list[Any]:
    """Return the slices of `g` for some of the `arrays`, which were joined along `axis` in the shapes `as_joined`."""
    shapes = list(map(shape_of, arrays))
    ends = list(accumulate(as_joined(shape)[axis] for shape in shapes))
    axis = negative_axis(axis, y.ndim)
    starts = [0, *ends]
    return [relaid(g[at(axis, slice(starts[k], ends[k]))], y.ndim, shapes[k]) for k in argnums]


# -- several into one -----------------------------------------------------------------------------


def concatenate(*arrays: Any, axis: int | None = 0, **options: Any) -> Any:
    """``np.concatenate`` of its arguments."""
    return np.concatenate(arrays, axis=axis, **options)


def stack(*arrays: Any, axis: int = 0, **options: Any) -> Any:
    """``np.stack`` of its arguments."""
    return np.stack(arrays, axis=axis, **options)


def _concatenate(argnums, g, _y, *_arrays, axis=0):
    """The parts of `g` that belong to the arrays."""
    if axis is None:
        return _parts(argnums, g, _y, _arrays, -1, lambda shape: (math.prod(shape),))
    return _parts(argnums, g, _y, _arrays, axis, lambda shape: shape)


def _stack(argnums, g, _y, *_arrays, axis=0):
    """The slices of `g` that belong to the arrays."""
    axis = negative_axis(axis, _y.ndim)
    return [g[at(axis, k)] for k in argnums]


vjp_argnums(concatenate, _concatenate)
vjp_argnums(stack, _stack)
spreads(concatenate, stack)
even_zeros(concatenate, stack, uses_all=True)


@composite(np.concatenate)
def _(arrays: Any, axis: int | None = 0, out: Any = None, **options: Any) -> Any:
    return _joined(concatenate, arrays, options | {"axis": axis}, out)


@composite(np.stack)
def _(arrays: Any, axis: int = 0, out: Any = None, **options: Any) -> Any:
    return _joined(stack, arrays, options | {"axis": axis}, out)


def _joins(function: Function, axis: int, as_joined: Callable[[Shape], Shape]) -> None:
    """Define `function` as an operation that joins along `axis`, or the last axis, with new shapes."""

    def join(*arrays: Any, **options: Any) -> Any:
        return function(arrays, **options)

    def rule(argnums, g, _y, *_arrays):
        return _parts(argnums, g, _y, _arrays, min(axis, _y.ndim - 1), as_joined)

    vjp_argnums(join, rule, name=function.__name__)
    spreads(join)
    composite(function)(lambda tup, **options: _joined(join, tup, options))


# fmt: off
_joins(np.vstack,       0, lambda shape: (1,) * (2 - len(shape)) + shape)
_joins(np.hstack,       1, lambda shape: shape or (1,))
_joins(np.dstack,       2, lambda shape: (1,) * (2 - len(shape)) + shape + (1,) * (len(shape) < 3))
_joins(np.column_stack, 1, lambda shape: shape if len(shape) > 1 else (*(shape or (1,)), 1))
# fmt: on


def block(*arrays: Any, layout: Any) -> Any:
    """``np.block`` of nested lists that contain the positions of the `arrays`."""
    return np.block(_filled(layout, arrays))


def _numbered(nested: Any, arrays: list[Any]) -> Any:
    """Replace each array in nested lists by its position in `arrays`, to which it is appended."""
    if isinstance(nested, list):
        return [_numbered(part, arrays) for part in nested]
    if isinstance(nested, tuple):
        raise TypeError(
            "np.block arranges its arrays with lists: write a list instead of the tuple"
        )
    arrays.append(nested)
    return len(arrays) - 1


def _filled(layout: Any, arrays: Any) -> Any:
    """Replace the positions in nested lists by the arrays."""
    if isinstance(layout, list):
        return [_filled(part, arrays) for part in layout]
    return arrays[layout]


def _block(argnums, g, _y, *_arrays, layout):
    """The blocks of `g`; each block is a rectangle, so its elements keep their order."""
    shapes = list(map(shape_of, _arrays))
    owners = np.block(_filled(layout, [np.full(shape, i) for i, shape in enumerate(shapes)]))
    places = np.argsort(owners, axis=None, kind="stable")
    ends = list(accumulate(map(math.prod, shapes)))
    starts = [0, *ends]
    # `owners` has the number of the block that each element of the result comes from.
    flat = relaid(g, _y.ndim, (_y.size,))
    return [relaid(flat[..., places[starts[k] : ends[k]]], 1, shapes[k]) for k in argnums]


vjp_argnums(block, _block)
spreads(block)


@composite(np.block)
def _(arrays: Any) -> Any:
    parts: list[Any] = []
    layout = _numbered(arrays, parts)
    return apply(operation(block), tuple(parts), {"layout": layout})


# -- longer and shorter ---------------------------------------------------------------------------


def _lined_up(arr: Any, axis: int | None) -> tuple[Any, int]:
    """Return an array with a valid axis; without an axis, return the flattened array and axis 0."""
    arr = as_operand(arr)
    return (np.ravel(arr), 0) if axis is None else (arr, normalize_axis_index(axis, np.ndim(arr)))


@composite(np.append)
def _(arr: Any, values: Any, axis: int | None = None) -> Any:
    return np.concatenate((as_array(arr), as_array(values)), axis=axis)


@composite(np.insert)
def _(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    arr, axis = _lined_up(arr, axis)
    obj, values, length = unwrap(obj), as_array(values), arr.shape[axis]
    if values.dtype.kind == "c" and arr.dtype.kind != "c":
        raise DtypeError(
            f"values of {values.dtype} do not fit into an array of {arr.dtype}: pass np.real(values), or "
            "arr.astype(complex)"
        )
    count = len(np.insert(np.arange(length), obj, 0)) - length
    if count == 1:  # several values may be inserted at this place
        values = np.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
        if not isinstance(obj, slice) and np.ndim(obj) == 0:
            values = np.moveaxis(values, 0, axis)
        count = values.shape[axis]
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    parts = arr, np.broadcast_to(_fewer_axes(values, arr.ndim), shape)
    both = np.concatenate(parts, axis=axis, dtype=arr.dtype, casting="unsafe")
    # NumPy's np.insert on positions tells where it puts each element; np.take repeats that.
    order = np.insert(np.arange(length), obj, np.arange(length, length + count))
    return np.take(both, order, axis=axis)


def _fewer_axes(values: Any, ndim: int) -> Any:
    """Remove leading axes of length 1 from `values`, beyond the last `ndim` axes, as assignment does."""
    extra = max(values.ndim - ndim, 0)
    if any(n != 1 for n in values.shape[:extra]):
        raise ShapeError(
            f"values of shape {values.shape} have more axes than the array into which they are inserted, which has "
            f"{ndim}: reshape them, or name the axis"
        )
    return np.reshape(values, values.shape[extra:]) if extra else values


@composite(np.delete)
def _(arr: Any, obj: Any, axis: int | None = None) -> Any:
    arr, axis = _lined_up(arr, axis)
    return np.take(arr, np.delete(np.arange(arr.shape[axis]), unwrap(obj)), axis=axis)


@composite(np.resize)
def _(a: Any, new_shape: Any) -> Any:
    places = np.resize(np.arange(a.size), unwrap(new_shape))
    return np.take(a, places) if a.size else constant(np.zeros(places.shape, a.dtype))


def _makes_poly1d() -> bool:
    """Return True if the call of NumPy came from ``np.poly1d(...)``."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tapemagic."):
        frame = frame.f_back
    return frame is not None and frame.f_code is np.poly1d.__init__.__code__


@composite(np.trim_zeros)
def _(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    if _makes_poly1d():  # a leading zero may be the value of a coefficient that has a gradient
        return filt
    np.trim_zeros(np.zeros(0), trim)  # NumPy checks the word
    axes = range(filt.ndim) if axis is None else normalize_axis_tuple(axis, filt.ndim)
    index = [slice(None)] * filt.ndim
    for k, places in enumerate(np.nonzero(filt)):
        if k in axes:
            first, last = (places.min(), places.max() + 1) if places.size else (0, 0)
            start = first if "f" in trim.lower() or not places.size else None
            stop = last if "b" in trim.lower() or not places.size else None
            index[k] = slice(start, stop)
    return filt[tuple(index)]


# -- one into several -----------------------------------------------------------------------------


def split(ary: Any, indices: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """``np.split`` before each of the ascending `indices`."""
    return tuple(np.split(ary, indices, axis))


vjp(split, lambda g, _y, _a, indices, axis: np.concatenate(g, negative_axis(axis, _a.ndim)))
selects(split)


def _splits(function: Function) -> None:
    """Define ``np.split`` or ``np.array_split`` as an operation with several results."""

    def pieces(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
        numbers = np.arange(ary.shape[axis])
        parts = function(numbers, unwrap(indices_or_sections))
        if not np.array_equal(np.concatenate(parts), numbers):  # parts may overlap, or leave gaps
            return [np.take(ary, part, axis=axis) for part in parts]
        indices = tuple(np.cumsum([len(part) for part in parts])[:-1].tolist())
        return list(apply(operation(split), (ary,), {"indices": indices, "axis": axis}))

    composite(function)(pieces)


def _splits_along(function: Function, axis: int, least: int) -> None:
    """Define `function` as a split along `axis`, or the last axis, of arrays with at least `least` axes."""

    def pieces(ary: Any, indices_or_sections: Any) -> Any:
        if ary.ndim < least:
            raise ValueError(
                f"{function.__name__} only works on arrays of {least} or more dimensions"
            )
        return np.split(ary, indices_or_sections, min(axis, ary.ndim - 1))

    composite(function)(pieces)


_splits(np.split)
_splits(np.array_split)
_splits_along(np.hsplit, 1, least=1)
_splits_along(np.vsplit, 0, least=2)
_splits_along(np.dsplit, 2, least=3)

if hasattr(np, "unstack"):  # from NumPy 2.1 on
    vjp(np.unstack, lambda g, _y, _x, axis=0: np.stack(g, negative_axis(axis, _x.ndim)))
    selects(np.unstack)


# -- several side by side -------------------------------------------------------------------------


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """``np.broadcast_arrays`` as a tuple."""
    return tuple(np.broadcast_arrays(*args))


def meshgrid(*xi: Any, **options: Any) -> tuple[Any, ...]:
    """``np.meshgrid`` as a tuple."""
    return tuple(np.meshgrid(*xi, **options))


def _meshgrid(argnums, g, _y, *_xi, indexing="xy", sparse=False, copy=True):
    """The sum of `g` over the axes that belong to the other arrays."""
    n = len(_xi)
    gradients = []
    for k in argnums:
        own = (1 - k if indexing == "xy" and k < 2 <= n else k) - n
        other_axes = tuple(axis for axis in range(-n, 0) if axis != own)
        gradients.append(relaid(precise_sum(g[k], other_axes), 1, shape_of(_xi[k])))
    return gradients


vjp_argnums(broadcast_arrays, lambda argnums, g, _y, *_args: [g[k] for k in argnums])
vjp_argnums(meshgrid, _meshgrid)


@composite(np.broadcast_arrays)
def _(*args: Any, subok: bool = False) -> Any:
    # Matplotlib broadcasts numbers together with None, for options that it didn't receive.
    numbers = tuple(tensor_of(x) for x in args if x is not None)
    results = list(apply(operation(broadcast_arrays), numbers, {}))
    absent = np.broadcast_to(np.array(None), results[0].shape)
    return tuple(absent if x is None else results.pop(0) for x in args)


@composite(np.meshgrid)
def _(*xi: Any, **options: Any) -> Any:
    return apply(operation(meshgrid), tuple(map(tensor_of, xi)), options)


# -- slice by slice -------------------------------------------------------------------------------


@composite(np.apply_along_axis)
def _(func1d: Function, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = as_operand(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    shape = rows.shape[:-1]
    if 0 in shape:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [as_operand(func1d(rows[index], *args, **kwargs)) for index in np.ndindex(shape)]
    y = np.stack(results, dtype=np.result_type(results[0]), casting="unsafe")
    own = y.ndim - 1
    y = np.reshape(y, shape + y.shape[1:])
    return np.moveaxis(y, range(-own, 0), range(axis, axis + own))


@composite(np.apply_over_axes)
def _(func: Function, a: Any, axes: Any) -> Any:
    y = as_operand(a)
    ndim = y.ndim
    for axis in np.atleast_1d(axes):
        place = axis + ndim if axis < 0 else axis
        y = func(y, place)
        y = y if np.ndim(y) == ndim else np.expand_dims(y, place)
        if np.ndim(y) != ndim:
            raise ValueError("function is not returning an array of the correct shape")
    return y
