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

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, along which the shares add up to 1; all if None.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`; float64 for whole numbers.

    Raises
    ------
    numpy.exceptions.AxisError
        If `x` does not have the axis.
    UnsupportedArgumentError
        If `x` is complex.

    See Also
    --------
    log_softmax : Its logarithm. Accurate, unlike the logarithm of the result.

    Notes
    -----
    The largest element is subtracted first, so that nothing overflows. Where several are infinite,
    these count as equal, as in the derivatives of `numpy.logaddexp`: ``softmax([inf, 0])`` is
    ``[1, 0]``, and ``softmax([-inf, -inf])`` is ``[0.5, 0.5]``, where TensorFlow has NaN.

    Examples
    --------
    >>> from tapemagic.engine.operations.exponentials import softmax
    >>> softmax([0.0, 0.0])
    array([0.5, 0.5])
    >>> softmax([1000.0, 0.0])
    array([1., 0.])
    """
    x = real(x, "softmax")
    return plain(shares(x, axes_of(axis, x)))


def shares(x: Any, axes: tuple[int, ...]) -> Any:
    """The softmax of an array of real numbers along axes, as a new array."""
    y, _ = minus_largest(x, axes)
    np.exp(y, out=y)
    y /= reduced(np.add, y, axes)
    return y


@primitive
def log_softmax(x: Any, axis: Axis = -1) -> Any:
    """The logarithm of `softmax`, accurate also where that is next to 0 or 1.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, along which the shares add up to 1; all if None.

    Returns
    -------
    array or Tensor
        At most 0, in the shape and dtype of `x`; float64 for whole numbers.

    Raises
    ------
    numpy.exceptions.AxisError
        If `x` does not have the axis.
    UnsupportedArgumentError
        If `x` is complex.

    See Also
    --------
    softmax : Its notes on infinite elements hold here, too.

    Examples
    --------
    >>> from tapemagic.engine.operations.exponentials import log_softmax
    >>> log_softmax([1000.0, 0.0])
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

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, to sum over; all if None.
    keepdims : bool, optional
        Whether these axes stay, with length 1.

    Returns
    -------
    array or Tensor
        In the dtype of `x`; float64 for whole numbers. -inf for no elements at all.

    Raises
    ------
    numpy.exceptions.AxisError
        If `x` does not have the axis.
    UnsupportedArgumentError
        If `x` is complex.

    Notes
    -----
    Its gradient is `softmax`, so that of infinite elements which are equal each has the same share:
    it is a half each for ``logsumexp([-inf, -inf])``, where TensorFlow has NaN.

    Examples
    --------
    >>> from tapemagic.engine.operations.exponentials import logsumexp
    >>> float(logsumexp([1000.0, 1000.0]))
    1000.6931471805599
    >>> logsumexp([[0.0, -float("inf")], [2.0, 2.0]], axis=1)
    array([0.        , 2.69314718])
    """
    x = real(x, "logsumexp")
    axes = axes_of(axis, x)
    y, top = minus_largest(x, axes)
    np.exp(y, out=y)
    total = top + log_total(y, axes)
    return plain(total if keepdims else np.squeeze(total, axis=axes))


def axes_of(axis: Axis, x: Any) -> tuple[int, ...]:
    """The axes that `axis` names, or all for None, as a tuple of non-negative numbers."""
    return tuple(normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim))


def minus_largest(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The elements minus the largest one along `axes`, in a new array, and the largest one.

    Infinities which are equal to it are level with it.
    """
    top = reduced(np.maximum, x, axes, initial=-np.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        below = np.subtract(x, top, out=np.empty_like(x))
    if not np.isfinite(top).all():
        below[np.broadcast_to(x == top, x.shape)] = 0
    return below, top


def log_total(exponentials: Any, axes: tuple[int, ...]) -> Any:
    """The logarithm of the sum along `axes`, which stay; -inf for no elements."""
    return logarithm(reduced(np.add, exponentials, axes))


def logarithm(x: Any) -> Any:
    """``np.log``, without a warning that it is -inf at 0."""
    with np.errstate(divide="ignore"):
        return np.log(x)


SHORT, MANY = 16, 256
"""A last axis up to so long, in an array of at least so many elements, is reduced faster across a transposed copy."""


def is_short(x: Any, axes: tuple[int, ...]) -> bool:
    """Whether an array is reduced faster along axes across a transposed copy."""
    short = axes == (x.ndim - 1,) and 0 < x.shape[-1] <= SHORT
    return short and x.size >= MANY and x.dtype.char in "fd"


def reduced(ufunc: np.ufunc, x: Any, axes: tuple[int, ...], **options: Any) -> Any:
    """``ufunc.reduce`` of an array along axes, which stay."""
    if is_short(x, axes):
        columns = x.reshape(-1, x.shape[-1]).T.copy()
        return ufunc.reduce(columns, axis=0, **options).reshape(*x.shape[:-1], 1)
    return ufunc.reduce(x, axis=axes, keepdims=True, **options)
