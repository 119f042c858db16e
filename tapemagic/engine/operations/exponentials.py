"""softmax, log_softmax and logsumexp, without overflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.engine.operations.common import plain, real
from tapemagic.engine.operations.primitive import primitive

Axis = int | Sequence[int] | None


@primitive
def softmax(x: Any, axis: Axis = -1) -> Any:
    """The exponential of each element, divided by the sum of the exponentials along an axis.

    Raises numpy.exceptions.AxisError if `x` doesn't have the axis; UnsupportedArgumentError if `x` is complex.

    The largest element is subtracted first, so that nothing overflows. Several infinite elements count as equal,
    as in the derivatives of `numpy.logaddexp`: ``softmax([inf, 0])`` is ``[1, 0]``, and ``softmax([-inf, -inf])`` is
    ``[0.5, 0.5]``, where TensorFlow returns nan.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, along which the results add up to 1. None: all axes.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`; float64 for integers.

    See Also
    --------
    log_softmax : The logarithm of softmax, more accurate than np.log of this result.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.softmax([0.0, 0.0])
    array([0.5, 0.5])
    >>> tm.softmax([1000.0, 0.0])
    array([1., 0.])
    """
    x = real(x, "softmax")
    return plain(shares(x, axes_of(axis, x)))


def shares(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the softmax of an array of real numbers along axes, as a new array."""
    y, _ = minus_largest(x, axes)
    np.exp(y, out=y)
    y /= reduced(np.add, y, axes)
    return y


@primitive
def log_softmax(x: Any, axis: Axis = -1) -> Any:
    """The logarithm of `softmax`, accurate also for results close to 0 or 1.

    Raises numpy.exceptions.AxisError if `x` doesn't have the axis; UnsupportedArgumentError if `x` is complex.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, along which the exponentials of the results add up to 1. None: all axes.

    Returns
    -------
    array or Tensor
        At most 0, in the shape and dtype of `x`; float64 for integers.

    See Also
    --------
    softmax : Its notes on infinite elements apply to this function as well.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.log_softmax([1000.0, 0.0])
    array([    0., -1000.])
    """
    x = real(x, "log_softmax")
    axes = axes_of(axis, x)
    y, _ = minus_largest(x, axes)
    y -= log_total(np.exp(y), axes)
    return plain(y)


@primitive
def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of the exponentials, without overflow.

    Raises numpy.exceptions.AxisError if `x` doesn't have the axis; UnsupportedArgumentError if `x` is complex.

    Its gradient is `softmax`, so infinite elements that are equal get equal shares: a half each for
    ``logsumexp([-inf, -inf])``, where TensorFlow returns nan. Higher derivatives are nan there.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, to sum over. None: all axes.
    keepdims : bool, optional
        Whether to keep these axes, with length 1.

    Returns
    -------
    array or Tensor
        In the dtype of `x`; float64 for integers. The result without any elements is -inf.

    Examples
    --------
    >>> import tapemagic as tm
    >>> float(tm.logsumexp([1000.0, 1000.0]))
    1000.6931471805599
    >>> tm.logsumexp([[0.0, -float("inf")], [2.0, 2.0]], axis=1)
    array([0.        , 2.69314718])
    """
    x = real(x, "logsumexp")
    axes = axes_of(axis, x)
    y, top = minus_largest(x, axes)
    np.exp(y, out=y)
    total = top + log_total(y, axes)
    return plain(total if keepdims else np.squeeze(total, axis=axes))


def axes_of(axis: Axis, x: Any) -> tuple[int, ...]:
    """Convert `axis` to a tuple of non-negative axes; None means all axes."""
    return tuple(normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim))


def minus_largest(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the elements minus the maximum along `axes`, in a new array, and the maximum.

    Infinite elements that equal the maximum give 0.
    """
    top = reduced(np.maximum, x, axes, initial=-np.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        below = np.subtract(x, top, out=np.empty_like(x))
    # inf - inf is nan. The common case, a finite maximum, needs no further pass over the array.
    if not np.isfinite(top).all():
        below[np.broadcast_to(x == top, x.shape)] = 0
    return below, top


def log_total(exponentials: Any, axes: tuple[int, ...]) -> Any:
    """Return the logarithm of the sum along `axes`, which stay; -inf without any elements."""
    return logarithm(reduced(np.add, exponentials, axes))


def logarithm(x: Any) -> Any:
    """``np.log`` without the warning about -inf at 0."""
    with np.errstate(divide="ignore"):
        return np.log(x)


MAX_SHORT_AXIS, MIN_TRANSPOSED_SIZE = 16, 256
"""Limits for reducing across a transposed copy: the maximum length of the last axis, the minimum size of the array.

NumPy reduces a short last axis with a loop per row; across a transposed copy, it processes whole rows at once.
"""


def is_short(x: Any, axes: tuple[int, ...]) -> bool:
    """Return True if an array is reduced faster along `axes` across a transposed copy."""
    short = axes == (x.ndim - 1,) and 0 < x.shape[-1] <= MAX_SHORT_AXIS
    return short and x.size >= MIN_TRANSPOSED_SIZE and x.dtype.char in "fd"


def reduced(ufunc: np.ufunc, x: Any, axes: tuple[int, ...], **options: Any) -> Any:
    """``ufunc.reduce`` of an array along axes, which stay."""
    if is_short(x, axes):
        columns = x.reshape(-1, x.shape[-1]).T.copy()
        return ufunc.reduce(columns, axis=0, **options).reshape(*x.shape[:-1], 1)
    return ufunc.reduce(x, axis=axes, keepdims=True, **options)
