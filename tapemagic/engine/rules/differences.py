"""Differences of neighbours, unwrapped angles, numerical slopes and integrals, and linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.engine.registry import composite, operation, vjp
from tapemagic.engine.rules.axes import along, expand, framed, leading, negative_axis
from tapemagic.engine.rules.shaping import cast
from tapemagic.engine.tensor import apply, as_operand, unwrap

# -- diff -----------------------------------------------------------------------------------------


def diff_(a: Any, n: int, axis: int) -> Any:
    """``np.diff`` without additions at the ends."""
    return np.diff(a, n, axis)


def _diff(g, _y, _a, n, axis):
    """Differences again, with zeros beyond both ends, and the sign turned each time."""
    axis = negative_axis(axis, _a.ndim)
    n = min(n, _a.shape[axis])
    return (-1) ** n * np.diff(framed(g, axis, n, n), n, axis)


vjp(diff_, _diff)


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
    """What is put at an end of `a`; a single number is repeated along the other axes."""
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
    """``np.unwrap`` with its period in second place."""
    return np.unwrap(p, discont, axis, period=period)


def _unwrap_period(g, y, p, period, discont, axis):
    """The number of periods that were added to each angle."""
    return g * np.rint((y - p) / period)


vjp(unwrap_, lambda g, _y, _p, _period, discont, axis: g, _unwrap_period, name="unwrap")


@composite(np.unwrap)
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    options = {"discont": unwrap(discont), "axis": axis}
    return apply(operation(unwrap_), (as_operand(p), period), options)


# -- gradient -------------------------------------------------------------------------------------


@composite(np.gradient)
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    f = as_operand(f)
    spaces = unwrap(varargs)
    np.gradient(unwrap(f), *spaces, axis=axis, edge_order=edge_order)  # NumPy checks the arguments
    axes = tuple(range(f.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    spacing = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    slopes = tuple(
        slope(f, as_operand(x), i, edge_order) for x, i in zip(spacing, axes, strict=True)
    )
    if f.dtype.kind in "fc":
        slopes = tuple(cast(y, f.dtype) for y in slopes)
    return slopes[0] if len(axes) == 1 else slopes


def slope(f: Any, x: Any, axis: int, edge_order: int) -> Any:
    """The numerical derivative along an axis; `x` is the spacing, or the place of each point.

    Between its neighbours, a point has the mean of the slopes on either side, the shorter one
    weighing more. At an end it has the slope of the interval there, or that of the parabola
    through the three points there.
    """
    f = np.moveaxis(f, axis, -1)
    steps = np.diff(x) if np.ndim(x) else x
    slopes = np.diff(f) / steps
    left, right = slopes[..., :-1], slopes[..., 1:]
    if np.ndim(x):
        inner = (steps[1:] * left + steps[:-1] * right) / (steps[1:] + steps[:-1])
    else:
        inner = (left + right) / 2
    first, last = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        first, last = 2 * first - inner[..., :1], 2 * last - inner[..., -1:]
    return np.moveaxis(np.concatenate([first, inner, last], axis=-1), -1, axis)


# -- trapezoid ------------------------------------------------------------------------------------


def neighbours(y: Any, axis: int) -> Any:
    """The mean of each element and the next."""
    return (y[along(axis, None, -1)] + y[along(axis, 1, None)]) / 2


def steps(x: Any, axis: int, ndim: int) -> Any:
    """The widths of the intervals, along an axis of an array of `ndim` axes."""
    if x.ndim == 1:
        return np.diff(x).reshape((-1,) + (1,) * (-axis - 1))
    return np.diff(x, axis=axis)


def _trapezoid_y(g, _z, _y, x=None, dx=1.0, axis=-1):
    """Half the width of the intervals on either side."""
    axis = negative_axis(axis, _y.ndim)
    g = expand(g, (axis,)) / 2
    if x is None:
        widths = dx * np.ones((max(_y.shape[axis] - 1, 0),) + (1,) * (-axis - 1))
    else:
        widths = steps(x, axis, _y.ndim)
    g = g * widths
    one = min(1, _y.shape[axis])
    return framed(g, axis, one, 0) + framed(g, axis, 0, one)


def _trapezoid_x(g, _z, y, _x, _dx=1.0, axis=-1):
    """The heights of the intervals: what lies to the left of a point gains, to the right loses."""
    axis = negative_axis(axis, y.ndim)
    heights = expand(g, (axis,)) * neighbours(y, axis)
    if _x.ndim == 1 and y.ndim > 1:
        heights = np.moveaxis(heights, axis, -1)
        heights = np.sum(heights, axis=tuple(range(-y.ndim, -1)))
        axis = -1
    one = min(1, _x.shape[axis])
    return -np.diff(framed(heights, axis, one, one), one, axis)


def _trapezoid_dx(g, _z, y, _x, _dx, axis=-1):
    """The integral with unit steps; nothing where `x` is given."""
    return g * np.trapezoid(y, axis=axis) if _x is None else g * 0


vjp(np.trapezoid, _trapezoid_y, _trapezoid_x, _trapezoid_dx)


# -- interp ---------------------------------------------------------------------------------------


def interp_(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    """``np.interp`` without a period."""
    return np.interp(x, xp, fp, left, right)


def position(x: Any, xp: Any) -> tuple[Any, Any, Any, Any]:
    """The knots on either side of each x, their distance, and the part of it (0 to 1) before x.

    A knot belongs to the interval on its right, the last one to that on its left.
    """
    last = xp.shape[0] - 1
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(last - 1, 0))
    j = np.minimum(i + 1, last)
    width = xp[j] - xp[i] if last else 1
    part = np.where(x < xp[0], 0, np.where(x > xp[-1], 1, (x - xp[i]) / width))
    return i, j, width, part


def rise(g: Any, x: Any, xp: Any, fp: Any) -> Any:
    """`g` times the slope of the interval in which each x lies; beyond the ends there is none."""
    i, j, width, _ = position(x, xp)
    return np.where((x < xp[0]) | (x > xp[-1]), 0, g * ((fp[j] - fp[i]) / width))


def shared(g: Any, y: Any, x: Any, xp: Any) -> Any:
    """`g` shared out among the knots on either side of each x, the nearer one taking more."""
    i, j, _, part = position(x, xp)
    shape = (*leading(g, y), *xp.shape)
    return scatter_add(g * (1 - part), (..., i), shape) + scatter_add(g * part, (..., j), shape)


def _interp_fp(g, _y, x, xp, _fp, _left, _right):
    """Beyond the ends counts for the knot there, unless `left` and `right` stand for it."""
    if _left is not None:
        g = np.where(x < xp[0], 0, g)
    if _right is not None:
        g = np.where(x > xp[-1], 0, g)
    return shared(g, _y, x, xp)


# fmt: off
vjp(
    interp_,
    lambda g, _y, x, xp, fp, _left, _right: rise(g, x, xp, fp),
    lambda g, _y, x, xp, fp, _left, _right: shared(-rise(g, x, xp, fp), _y, x, xp),
    _interp_fp,
    lambda g, _y, x, xp, _fp, _left, _right: np.where(x < xp[0], g, 0),
    lambda g, _y, x, xp, _fp, _left, _right: np.where(x > xp[-1], g, 0),
    name="interp",
)
# fmt: on


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
    """Everything within one period, the knots in order, and one more at each end."""
    xp = xp % period
    order = np.argsort(unwrap(xp))
    xp, fp = xp[order], fp[order]
    xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return x % period, xp, np.concatenate((fp[-1:], fp, fp[:1]))
