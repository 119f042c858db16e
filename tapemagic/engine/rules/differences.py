"""Differences of neighbors, unwrapped angles, numerical derivatives and integrals, and linear interpolation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.engine.registry import chooses, composite, operation, vjp
from tapemagic.engine.rules.axes import (
    expand,
    leading_shape,
    negative_axis,
    slice_on_axis,
    zero_padded,
)
from tapemagic.engine.rules.shaping import cast
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.precision import wider
from tapemagic.engine.tensor.tensor import Traced, as_operand, broadcast, unwrap
from tapemagic.engine.tracing import element

MAX_NEIGHBOR_ORDER = 4
"""The maximum order of differences that are expressed as sums of neighbors."""

# -- diff -----------------------------------------------------------------------------------------


def diff_(a: Any, n: int, axis: int) -> Any:
    """``np.diff`` without values prepended or appended."""
    return np.diff(a, n, axis)


def _diff(g, _y, _a, n, axis):
    """(-1)**n times the differences of `g`, with zeros beyond both ends: the transposed difference matrix."""
    axis = negative_axis(axis, _a.ndim)
    n = min(n, _a.shape[axis])
    return (-1) ** n * np.diff(zero_padded(g, axis, n, n), n, axis)


vjp(diff_, _diff)


def _neighbors(a: Any, n: int, axis: int) -> list[tuple[int, Any]] | None:
    """Return the neighbors that a difference of order `n` adds, with binomial coefficients as factors."""
    length = a.shape[axis]
    if n > min(MAX_NEIGHBOR_ORDER, length):
        return None
    axis = negative_axis(axis, a.ndim)
    places = [slice_on_axis(axis, k, length - n + k) for k in range(n + 1)]
    return [((-1) ** (n - k) * math.comb(n, k), a[index]) for k, index in enumerate(places)]


operation(diff_).selects = _neighbors


@composite(np.diff)
def _differences(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue
) -> Any:
    a = as_operand(a)
    ends = [
        None if end is np._NoValue else end_slice(as_operand(end), a, axis)
        for end in (prepend, append)
    ]
    parts = [part for part in (ends[0], a, ends[1]) if part is not None]
    if len(parts) > 1 and n:
        a = np.concatenate(parts, axis=axis)
    return apply(operation(diff_), (a,), {"n": n, "axis": axis}) if n else a


def end_slice(end: Any, a: Any, axis: int) -> Any:
    """Return the array to put at an end of `a`; a single number is repeated along the other axes."""
    if np.ndim(end):
        return end
    shape = list(a.shape)
    shape[axis] = 1
    return np.broadcast_to(end, tuple(shape))


@composite(np.ediff1d)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    inner = np.diff(np.ravel(as_operand(ary)))
    ends = [None if end is None else np.ravel(as_operand(end)) for end in (to_begin, to_end)]
    parts = [part for part in (ends[0], inner, ends[1]) if part is not None]
    return np.concatenate(parts, dtype=inner.dtype) if len(parts) > 1 else inner


# -- unwrap ---------------------------------------------------------------------------------------


def unwrap_(p: Any, period: Any, discont: Any, axis: int) -> Any:
    """``np.unwrap`` with the period as the second argument."""
    return np.unwrap(p, discont, axis, period=period)


def _unwrap_period(g, y, p, period, discont, axis):
    """A number of periods added between two angles is added to all later angles as well."""
    axis = negative_axis(axis, p.ndim)
    added = np.rint(np.diff(y - p, axis=axis) / period)
    later = np.flip(np.cumsum(np.flip(g, axis), axis=axis, dtype=wider(g.dtype)), axis)
    return later[slice_on_axis(axis, 1, None)] * added


vjp(unwrap_, lambda g, _y, _p, _period, discont, axis: g, _unwrap_period, name="unwrap")


@composite(np.unwrap)
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    options = {"discont": unwrap(discont), "axis": axis}
    return apply(operation(unwrap_), (as_operand(p), as_operand(period)), options)


# -- gradient -------------------------------------------------------------------------------------


@composite(np.gradient)
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    f = as_operand(f)
    spaces = unwrap(varargs)
    # Called for its error messages only.
    np.gradient(unwrap(f), *spaces, axis=axis, edge_order=edge_order)  # NumPy checks the arguments
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    if f.dtype.kind in "iu":
        f = cast(f, float)
    spacing = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    slopes = tuple(
        slope(f, as_operand(x), i, edge_order) for x, i in zip(spacing, axes, strict=True)
    )
    slopes = tuple(cast(y, f.dtype) for y in slopes)
    return slopes[0] if len(axes) == 1 else slopes


def slope(f: Any, x: Any, axis: int, edge_order: int) -> Any:
    """Compute the numerical derivative along an axis; `x` is the spacing, or the position of each point.

    An inner point gets the slope of the parabola through it and its two neighbors. An end gets the slope of the first
    or last interval, or of the parabola through the three points there (``edge_order=2``).
    """
    f = np.moveaxis(f, axis, -1)
    if np.ndim(x):
        steps = np.diff(cast(x, float) if x.dtype.kind in "iu" else x)
        before, after = steps[:-1], steps[1:]
        ends = steps[:1], steps[1:2], steps[-1:], steps[-2:-1]
    else:
        before, after, ends = x, x, (x,) * 4
    is_even = bool(np.all(before == after))
    if is_even and not (np.ndim(x) and isinstance(x, Traced)):
        inner = (f[..., 2:] - f[..., :-2]) / (before + after)
    else:
        inner = tilt(f, before, after, is_even)
    if edge_order == 1:
        first = (f[..., 1:2] - f[..., :1]) / ends[0]
        last = (f[..., -1:] - f[..., -2:-1]) / ends[2]
    else:
        first = outermost(f, ends[0], ends[1])
        last = outermost(f[..., ::-1], -ends[2], -ends[3])
    return np.moveaxis(np.concatenate([first, inner, last], axis=-1), -1, axis)


def tilt(f: Any, before: Any, after: Any, is_even: bool) -> Any:
    """Return the slope in the middle of three points; with equal steps, the middle value may be nan or infinite."""
    middle = f[..., 1:-1]
    # With equal steps, the factor of the middle value is 0, and 0 * inf would be nan.
    if is_even:
        middle = np.where(np.isfinite(middle), middle, 0)
    width = before + after
    return (
        before / (after * width) * f[..., 2:]
        - after / (before * width) * f[..., :-2]
        + (after - before) / (before * after) * middle
    )


def outermost(f: Any, first: Any, second: Any) -> Any:
    """Return the slope at the first of three points, given the two steps."""
    width = first + second
    return (
        width / (first * second) * f[..., 1:2]
        - (width + first) / (first * width) * f[..., :1]
        - first / (second * width) * f[..., 2:3]
    )


# -- trapezoid ------------------------------------------------------------------------------------


def interval_means(y: Any, axis: int) -> Any:
    """Return the mean of each element and the next element."""
    return (y[slice_on_axis(axis, None, -1)] + y[slice_on_axis(axis, 1, None)]) / 2


def steps(x: Any, axis: int, ndim: int) -> Any:
    """Return the widths of the intervals, along an axis of an array with `ndim` axes."""
    if x.ndim == 1:
        return np.diff(x).reshape((-1,) + (1,) * (-axis - 1))
    return np.diff(x, axis=axis)


def trapezoid_(y: Any, x: Any, dx: float, axis: int) -> Any:
    """``np.trapezoid`` with a single width for all intervals, or the position of each point."""
    return np.trapezoid(y, x, dx, axis)


def _trapezoid_y(g, _z, _y, x, dx, axis):
    """Half of the widths of the intervals on both sides."""
    axis = negative_axis(axis, _y.ndim)
    g = expand(g, (axis,)) / 2
    if x is None:
        shape = leading_shape(g, _y) + _y.shape
        g = broadcast(g * dx, shape)[slice_on_axis(axis, 1, None)]
    else:
        g = g * steps(x, axis, _y.ndim)
    end_length = min(1, _y.shape[axis])
    return zero_padded(g, axis, end_length, 0) + zero_padded(g, axis, 0, end_length)


def _trapezoid_x(g, _z, y, _x, _dx, axis):
    """The mean height of the interval before a point, minus the mean height of the next interval."""
    axis = negative_axis(axis, y.ndim)
    heights = expand(g, (axis,)) * interval_means(y, axis)
    if _x.ndim == 1 and y.ndim > 1:
        heights = np.moveaxis(heights, axis, -1)
        heights = np.sum(heights, axis=tuple(range(-y.ndim, -1)))
        axis = -1
    end_length = min(1, _x.shape[axis])
    return -np.diff(zero_padded(heights, axis, end_length, end_length), end_length, axis)


def _trapezoid_dx(g, _z, y, _x, _dx, axis):
    """The integral with unit steps."""
    return g * np.trapezoid(y, axis=axis)


vjp(trapezoid_, _trapezoid_y, _trapezoid_x, _trapezoid_dx, name="trapezoid")


@composite(np.trapezoid)
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y, x, dx = as_operand(y), as_operand(x), 1.0 if x is not None else as_operand(dx)
    if np.ndim(dx):
        return np.sum(dx * interval_means(y, negative_axis(axis, y.ndim)), axis=axis)
    return apply(operation(trapezoid_), (y, x, dx), {"axis": axis})


# -- interp ---------------------------------------------------------------------------------------


def interp_(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    """``np.interp`` without a period."""
    return np.interp(x, xp, fp, left, right)


def position(x: Any, xp: Any) -> tuple[Any, Any, Any, Any]:
    """Return the knots before and after each x, their distance, and the share of the distance (0 to 1) before x.

    A knot belongs to the interval after it, except for the last knot.
    """
    last = xp.shape[0] - 1
    # Clipped, so that points beyond the ends are treated as points of the first or last interval.
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(last - 1, 0))
    j = np.minimum(i + 1, last)
    width = element(xp, j) - element(xp, i) if last else 1
    part = np.where(x < xp[0], 0, np.where(x > xp[-1], 1, (x - element(xp, i)) / width))
    return i, j, width, part


def interp_slope(g: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Return `g` times the slope of the interval that contains each x; beyond the ends, the slope is 0."""
    i, j, width, _ = position(x, xp)
    return np.where((x < xp[0]) | (x > xp[-1]), 0, g * ((element(fp, j) - element(fp, i)) / width))


def between_knots(g: Any, y: Any, x: Any, xp: Any) -> Any:
    """Divide `g` among the knots before and after each x, in proportion to their closeness."""
    i, j, _, part = position(x, xp)
    shape = (*leading_shape(g, y), *xp.shape)
    return scatter_add(g * (1 - part), (..., i), shape) + scatter_add(g * part, (..., j), shape)


def _interp_fp(g, _y, x, xp, _fp, _left, _right):
    """The gradient in the values at the knots; without `left` and `right`, the end knots get that of points beyond."""
    if _left is not None:
        g = np.where(x < xp[0], 0, g)
    if _right is not None:
        g = np.where(x > xp[-1], 0, g)
    return between_knots(g, _y, x, xp)


# fmt: off
vjp(
    interp_,
    lambda g, _y, x, xp, fp, _left, _right: interp_slope(g, x, xp, fp),
    lambda g, _y, x, xp, fp, _left, _right: between_knots(-interp_slope(g, x, xp, fp), _y, x, xp),
    _interp_fp,
    lambda g, _y, x, xp, _fp, _left, _right: np.where(x < xp[0], g, 0),
    lambda g, _y, x, xp, _fp, _left, _right: np.where(x > xp[-1], g, 0),
    name="interp",
)
# fmt: on
chooses(interp_, inputs=[2, 3, 4])


@composite(np.interp)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    x, xp, fp = map(as_operand, (x, xp, fp))
    if period is not None:
        np.interp(0.0, unwrap(xp), unwrap(fp), period=unwrap(period))  # NumPy checks the arguments
        left = right = None
        x, xp, fp = around(x, xp, fp, np.abs(period))
    return apply(operation(interp_), (x, xp, fp, left, right), {})


def around(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """Move points and knots into a single period, sort the knots, and add one knot at each end."""
    xp = xp % period
    # The order is constant almost everywhere.
    order = np.argsort(unwrap(xp))
    xp, fp = xp[order], fp[order]
    xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return x % period, xp, np.concatenate((fp[-1:], fp, fp[:1]))
