"""Arrays created from numbers: grids between two ends, arrays of lists, and the parts of floating-point numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapemagic.engine.registry import composite, not_differentiable, operation, pointwise, vjp
from tapemagic.engine.rules.axes import negative_axis
from tapemagic.engine.rules.elementwise import zeros
from tapemagic.engine.rules.shaping import tensor_of
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.precision import precise_sum
from tapemagic.engine.tensor.tensor import as_operand, unwrap

# -- grids ----------------------------------------------------------------------------------------


def linspace_(start: Any, stop: Any, **options: Any) -> Any:
    """``np.linspace`` without the step."""
    return np.linspace(start, stop, **options)


def geomspace_(start: Any, stop: Any, **options: Any) -> Any:
    """``np.geomspace`` with arrays as its positional arguments."""
    return np.geomspace(start, stop, **options)


def at_end(g: Any, y: Any, endpoint: bool, axis: int, stop: bool) -> Any:
    """Sum `g` along a grid `y`, with weights from 1 at its start to 0 at its stop, or from 0 to 1 if `stop`."""
    axis = negative_axis(axis, y.ndim)
    count = y.shape[axis]
    part = np.arange(count) / max(count - 1 if endpoint else count, 1)
    weights = part if stop else 1 - part
    return precise_sum(g * weights.reshape(-1, *(1,) * (-axis - 1)), axis)


# fmt: off
vjp(linspace_,
    lambda g, _y, _start, _stop, endpoint, axis: at_end(g, _y, endpoint, axis, False),
    lambda g, _y, _start, _stop, endpoint, axis: at_end(g, _y, endpoint, axis, True), ignores="num device")
vjp(geomspace_,
    lambda g, y, start, _stop, endpoint, axis: at_end(g * y, y, endpoint, axis, False) / start,
    lambda g, y, _start, stop, endpoint, axis: at_end(g * y, y, endpoint, axis, True) / stop, ignores="num")
# fmt: on


@composite(np.linspace)
def _linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    num = operator.index(num)
    start, stop = as_operand(start), as_operand(stop)
    options = {"num": num, "endpoint": endpoint, "dtype": dtype, "axis": axis, "device": device}
    # The step is a difference of the ends: it is recorded as such, and the grid as a single
    # operation.
    points = apply(operation(linspace_), (start, stop), options)
    steps = num - 1 if endpoint else num
    return (points, (stop - start) / steps if steps > 0 else np.nan) if retstep else points


@composite(np.geomspace)
def _geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    options = {"num": operator.index(num), "endpoint": endpoint, "dtype": dtype, "axis": axis}
    return apply(operation(geomspace_), (as_operand(start), as_operand(stop)), options)


@composite(np.logspace)
def _logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    start, stop, base = map(as_operand, (start, stop, base))
    if np.ndim(base):
        ndim = max(map(np.ndim, (start, stop, base)))
        start, stop, base = (_with_axes(x, ndim) for x in (start, stop, base))
        base = np.expand_dims(base, axis)
    # As NumPy computes it, so that the values are equal to the last digit.
    points = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return points if dtype is None else np.astype(points, dtype)


def _with_axes(x: Any, ndim: int) -> Any:
    """Add leading axes of length 1 to `x`, so that it has at least `ndim` axes."""
    shape = np.shape(x)
    return np.reshape(x, (1,) * (ndim - len(shape)) + shape)


# -- arrays of lists: NumPy calls these only if `like` is a tensor -------------------------------------


def _converted(value: Any, dtype: Any, ndmin: int = 0) -> Any:
    """Convert a value to a tensor, with the tensors inside still on the tape."""
    x = tensor_of(value)
    return _with_axes(np.copy(x) if dtype is None else np.astype(x, dtype), ndmin)


@composite(np.array)
def _array(
    object: Any,  # noqa: A002 (NumPy's name)
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    return _converted(object, dtype, ndmin)


def _as_array(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    """Convert a value to a tensor; `order`, the memory layout, is ignored."""
    return _converted(a, dtype)


composite(np.asarray)(_as_array)
composite(np.asanyarray)(_as_array)


@composite(np.full)
def _full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None
) -> Any:
    return np.broadcast_to(_converted(fill_value, dtype), shape)


# -- the parts of a number ------------------------------------------------------------------------


def fraction(x: Any, **options: Any) -> Any:
    """Return the fractional part of each number."""
    return np.modf(x, **options)[0]


def mantissa(x: Any, **options: Any) -> Any:
    """Return the mantissa of each number, which is the number divided by a power of two."""
    return np.frexp(x, **options)[0]


def _mantissa(g, _y, x):
    """The gradient divided by the power of two, as the number is; the exponent is constant almost everywhere."""
    return np.ldexp(g, -np.frexp(unwrap(x))[1])


# fmt: off
vjp(fraction,     lambda g, _y, _x: g, name="modf", ignores="order signature")
vjp(mantissa,     _mantissa, name="frexp", ignores="order signature")
# The distance to the next number is constant except at powers of 2, so the slope is 1.
vjp(np.nextafter, lambda g, _z, _x, _y: g, lambda g, _z, _x, _y: zeros(g))
# fmt: on
pointwise(fraction, mantissa)


@composite(np.modf)
def _modf(x: Any, **options: Any) -> tuple[Any, Any]:
    part = apply(operation(fraction), (x,), options)
    # Both parts of a number have its sign, also 0.0 and -0.0; the integral part is constant almost
    # everywhere.
    return part, np.trunc(x, dtype=part.dtype)


@composite(np.frexp)
def _frexp(x: Any, **options: Any) -> tuple[Any, Any]:
    return apply(operation(mantissa), (x,), options), np.frexp(unwrap(x), **options)[1]


# -- without derivative: functions of memory or bits, and functions that write files ------------------

not_differentiable(
    np.may_share_memory,
    np.shares_memory,
    np.packbits,
    np.unpackbits,
    np.save,
    np.savez,
    np.savez_compressed,
    np.savetxt,
)
