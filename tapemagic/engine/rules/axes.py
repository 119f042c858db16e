"""Axes counted from the end, so that a rule works with extra leading axes of its gradient."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import zeros

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


def reshaped(g: Any, shape: tuple[int, ...]) -> Any:
    """`g` laid out in `shape`; itself, if it has that shape."""
    return g if g.shape == shape else g.reshape(shape)


def slice_on_axis(axis: int, start: int | None, stop: int | None) -> tuple[Any, ...]:
    """The index that takes ``start:stop`` on a negative `axis`, and everything on the others."""
    return (..., slice(start, stop), *[slice(None)] * (-axis - 1))


def zero_padded(g: Any, axis: int, before: int, after: int) -> Any:
    """`g` with zeros put before and after it on a negative `axis`."""
    index = g.ndim + axis
    around = [
        zeros(g.shape[:index] + (length,) + g.shape[index + 1 :], g.dtype)  # noqa: RUF005 (shapes know chunks)
        for length in (before, after)
    ]
    parts = [around[0]] * bool(before) + [g] + [around[1]] * bool(after)
    return np.concatenate(parts, axis=axis)
