"""Axes counted from the end, so that a rule works if its gradient has additional leading axes."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import zeros

Axis = int | Iterable[int] | None


def negative_axis(axis: int, ndim: int) -> int:
    """Convert an axis to one counted from the end."""
    axis = operator.index(axis)
    return axis if axis < 0 else axis - ndim


def negative_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Convert NumPy's `axis` argument to ascending axes counted from the end; None means all axes."""
    if axis is None:
        return tuple(range(-ndim, 0))
    is_single = not isinstance(axis, Iterable) or getattr(axis, "ndim", 1) == 0
    axes: Any = (axis,) if is_single else axis
    return tuple(sorted(negative_axis(each, ndim) for each in axes))


def shape_of(x: Any) -> tuple[int, ...]:
    """Return the shape of an array, or () for a bare Python number."""
    return getattr(x, "shape", ())


def conj(x: Any) -> Any:
    """Return the complex conjugate, without calling NumPy for real arrays."""
    return np.conj(x) if x.dtype.kind == "c" else x


def leading_shape(g: Any, y: Any) -> tuple[int, ...]:
    """Return the lengths of the leading axes that the gradient `g` has in addition to the axes of `y`."""
    return g.shape[: g.ndim - y.ndim]  # type: ignore[no-any-return]


def expand(g: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """Restore, with length 1, the ascending negative `axes` of `g` that a reduction removed."""
    # Inserted from the front: each insertion moves the later axes to their final positions.
    if keepdims or not axes:
        return g
    shape = list(g.shape)
    for axis in axes:
        shape.insert(len(g.shape) + len(axes) + axis, 1)
    return g.reshape(tuple(shape))


def reshaped(g: Any, shape: tuple[int, ...]) -> Any:
    """Reshape `g`, unless it already has the shape."""
    return g if g.shape == shape else g.reshape(shape)


def slice_on_axis(axis: int, start: int | None, stop: int | None) -> tuple[Any, ...]:
    """Return the index that takes ``start:stop`` on a negative `axis`, and everything on the other axes."""
    return (..., slice(start, stop), *[slice(None)] * (-axis - 1))


def zero_padded(g: Any, axis: int, before: int, after: int) -> Any:
    """Add zeros before and after `g` on a negative `axis`."""
    index = g.ndim + axis
    around = [
        zeros(g.shape[:index] + (length,) + g.shape[index + 1 :], g.dtype)  # noqa: RUF005 (shapes know chunks)
        for length in (before, after)
    ]
    parts = [around[0]] * bool(before) + [g] + [around[1]] * bool(after)
    return np.concatenate(parts, axis=axis)
