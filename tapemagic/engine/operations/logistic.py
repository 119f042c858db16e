"""The logistic function, its logarithm, its integral, and cheaper approximations, each a single operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.common import plain, real
from tapemagic.engine.operations.primitive import primitive


@primitive
def sigmoid(x: Any) -> Any:
    """The logistic function, ``1 / (1 + exp(-x))``, without overflow.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError: write ``1 / (1 +
    np.exp(-x))`` instead. The result is an array or Tensor between 0 and 1, in the shape and dtype of `x`; float64 for
    integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.sigmoid([-1000.0, 0.0, 1000.0])
    array([0. , 0.5, 1. ])
    """
    x = real(x, "sigmoid")
    # In a single buffer: new memory for large arrays is cleared page by page, which takes time.
    y = np.negative(x, out=np.empty_like(x))
    # exp(-x) may overflow to inf, whose reciprocal is the exact limit 0.
    with np.errstate(over="ignore"):
        np.exp(y, out=y)
    y += 1
    return plain(np.reciprocal(y, out=y))


@primitive
def log_sigmoid(x: Any) -> Any:
    """The logarithm of `sigmoid`, accurate also for results close to 0 or 1.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor at most 0, in the shape and dtype of `x`; float64 for integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.log_sigmoid([-1000.0, 0.0, 100.0])
    array([-1.00000000e+03, -6.93147181e-01, -3.72007598e-44])
    """
    x = real(x, "log_sigmoid")
    # log(1 / (1 + exp(-x))) = min(x, 0) - log1p(exp(-|x|)): exp gets no positive argument, so it can't overflow.
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


@primitive
def softplus(x: Any) -> Any:
    """The softplus function, ``log(1 + exp(x))``, without overflow: a smooth `relu`.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor at least 0, in the shape and dtype of `x`; float64 for integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.softplus([-1000.0, 0.0, 1000.0])
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+03])
    """
    x = real(x, "softplus")
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@primitive
def softsign(x: Any) -> Any:
    """The softsign function, ``x / (1 + abs(x))``.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor between -1 and 1, in the shape and dtype of `x`; float64 for integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.softsign([-float("inf"), 0.0, 1.0])
    array([-1. ,  0. ,  0.5])
    """
    x = real(x, "softsign")
    # Clipping avoids inf / inf = nan; the largest number gives the limits -1 and 1.
    largest = np.finfo(x.dtype).max
    x = np.clip(x, -largest, largest)
    return x / (1 + np.abs(x))


@primitive
def hard_sigmoid(x: Any) -> Any:
    """The hard sigmoid, ``relu6(x + 3) / 6``: a piecewise linear approximation of `sigmoid`.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor between 0 and 1, in the shape and dtype of `x`; float64 for integers. Its derivative at -3 and at 3
    is 0, as in Keras 3.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.hard_sigmoid([-4.0, 0.0, 1.5])
    array([0.  , 0.5 , 0.75])
    """
    return np.clip(real(x, "hard_sigmoid") + 3, 0, 6) / 6
