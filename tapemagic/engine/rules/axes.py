"""Axes counted from the end, so that a rule works with extra leading axes of its gradient."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import gates
from tapemagic.engine.tensor.tensor import Tensor, wrap

Axis = int | Iterable[int] | None


def negative_axis(axis: int, ndim: int) -> int:
    """An axis counted from the end."""
    axis = operator.index(axis)
    return axis if axis < 0 else axis - ndim


def negative_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes that NumPy's `axis` names (None: all), counted from the end, ascending."""
    if axis is None:
        return tuple(range(-ndim, 0))
    one = not isinstance(axis, Iterable) or getattr(axis, "ndim", 1) == 0
    axes: Any = (axis,) if one else axis
    return tuple(sorted(negative_axis(one, ndim) for one in axes))


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array, or of a bare Python number."""
    return getattr(x, "shape", ())


def conj(x: Any) -> Any:
    """The complex conjugate, without a call for real arrays."""
    return np.conj(x) if x.dtype.kind == "c" else x


def leading_shape(g: Any, y: Any) -> tuple[int, ...]:
    """The lengths of the axes that the gradient `g` of `y` has in front of those of `y`."""
    return g.shape[: g.ndim - y.ndim]  # type: ignore[no-any-return]


def expand(g: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """`g` with the ascending negative `axes`, which a reduction took away, back with length 1."""
    if keepdims or not axes:
        return g
    shape = list(g.shape)
    for axis in axes:
        shape.insert(len(g.shape) + len(axes) + axis, 1)
    return g.reshape(tuple(shape))


def broadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """``np.broadcast_to(g, shape)``, which takes a tenth of the time where `g` is a bare number."""
    if g.shape == shape:
        return g
    if g.__class__ is Tensor and g._id <= 0:
        return wrap(broadcast(g._value, shape), g._id)
    if shape.__class__ is not tuple and g.__class__ is not Tensor:
        return gates[0].call(np.broadcast_to, (g, shape), {})
    if issubclass(type(g), np.generic):  # a symbol says that it is one
        return np.ndarray(shape, g.dtype, g, 0, (0,) * len(shape))
    return np.broadcast_to(g, shape)


def reshaped(g: Any, shape: tuple[int, ...]) -> Any:
    """`g` laid out in `shape`; itself, if it has that shape."""
    return g if g.shape == shape else g.reshape(shape)


def slice_on_axis(axis: int, start: int | None, stop: int | None) -> tuple[Any, ...]:
    """The index that takes ``start:stop`` on a negative `axis`, and everything on the others."""
    return (..., slice(start, stop), *[slice(None)] * (-axis - 1))


def zero_padded(g: Any, axis: int, before: int, after: int) -> Any:
    """`g` with zeros put before and after it on a negative `axis`."""
    index = g.ndim + axis
    zeros = [
        np.zeros((*g.shape[:index], length, *g.shape[index + 1 :]), g.dtype)
        for length in (before, after)
    ]
    parts = [zeros[0]] * bool(before) + [g] + [zeros[1]] * bool(after)
    return np.concatenate(parts, axis=axis)
