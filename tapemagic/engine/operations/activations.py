"""Activation functions of neural networks: rectifiers and smooth variants, each a single operation on the tape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.common import MAX_CACHED_BYTES, array, real
from tapemagic.engine.operations.errorfunction import erfc
from tapemagic.engine.operations.logistic import sigmoid
from tapemagic.engine.operations.primitive import primitive

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
"""The constants for which mean 0 and variance 1 are a fixed point of `selu`."""

GELU_CUBIC = 0.044715
GELU_SLOPE = 1.5957691216057308
"""The constant 2 * sqrt(2 / pi), because sigmoid(2 z) = (1 + tanh(z)) / 2."""

NORMAL_TAIL = 40.0
"""The tails of the normal distribution beyond this distance from 0 are 0 in double precision."""

MIN_VECTORIZED_SIZE = 1024
"""The minimum size of a float32 array for which np.maximum is faster with an array of zeros than with the number 0.

With a number, it processes one element at a time.
"""

LOGISTIC_TAIL = 800.0
"""The logistic function of less than minus this number is 0 in double precision."""


@primitive
def relu(x: Any) -> Any:
    """The larger of `x` and 0, element by element.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor in the shape and dtype of `x`. Its derivative at 0 is 0, as in TensorFlow.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    x = _ordered(x, "relu")
    if (
        x.size >= MIN_VECTORIZED_SIZE
        and x.nbytes <= MAX_CACHED_BYTES
        and x.dtype.char == "f"
        and x.flags.c_contiguous
    ):
        y = np.zeros(x.shape, np.float32)
        return np.maximum(x, y, out=y)
    return np.maximum(x, 0)


@primitive
def relu6(x: Any) -> Any:
    """`relu`, but at most 6.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor in the shape and dtype of `x`. Its derivative at 0 and at 6 is 0, as in TensorFlow.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.relu6([-1.0, 2.0, 8.0])
    array([0., 2., 6.])
    """
    return np.clip(_ordered(x, "relu6"), 0, 6)


@primitive
def leaky_relu(x: Any, alpha: Any = 0.2) -> Any:
    """`x` where it is positive, and `alpha` times `x` elsewhere.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers; complex numbers raise UnsupportedArgumentError, also as `alpha`.
    alpha : float, array_like or Tensor, optional
        The slope of the negative side; broadcast with `x`. Differentiable, so that it can be learned.

    Returns
    -------
    array or Tensor
        In the shape that `x` and `alpha` broadcast to. Its derivative at 0 is `alpha`, as in TensorFlow.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.leaky_relu([-10.0, 0.0, 2.0])
    array([-2.,  0.,  2.])
    """
    x = real(x, "leaky_relu")
    return np.maximum(x, 0) + _parameter(alpha, "leaky_relu") * np.minimum(x, 0)


@primitive
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """`x` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere: the exponential linear unit.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers; complex numbers raise UnsupportedArgumentError, also as `alpha`.
    alpha : float, array_like or Tensor, optional
        Minus the limit for large negative numbers; broadcast with `x`. Differentiable.

    Returns
    -------
    array or Tensor
        In the shape that `x` and `alpha` broadcast to. Its derivative at 0 is `alpha`, as in TensorFlow.

    Notes
    -----
    D.-A. Clevert, T. Unterthiner and S. Hochreiter, "Fast and accurate deep network learning by
    exponential linear units (ELUs)", ICLR 2016.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.elu([-float("inf"), 0.0, 2.0])
    array([-1.,  0.,  2.])
    """
    x = real(x, "elu")
    return np.maximum(x, 0) + _parameter(alpha, "elu") * np.expm1(np.minimum(x, 0))


@primitive
def selu(x: Any) -> Any:
    """`elu` with the two constants that keep mean 0 and variance 1 from layer to layer.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor in the shape and dtype of `x`; float64 for integers. Its derivative at 0 is the one from the right,
    1.0507..., as in TensorFlow.

    Notes
    -----
    G. Klambauer, T. Unterthiner, A. Mayr and S. Hochreiter, "Self-normalizing neural networks",
    NIPS 2017.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.selu([-1.0, 0.0, 1.0])
    array([-1.11133074,  0.        ,  1.05070099])
    """
    x = real(x, "selu")
    return SELU_SCALE * (np.maximum(x, 0) + SELU_ALPHA * np.expm1(np.minimum(x, 0)))


@primitive
def gelu(x: Any, approximate: bool = False) -> Any:
    """`x` times the probability that a standard normal number is smaller than `x`.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers; complex numbers raise UnsupportedArgumentError.
    approximate : bool, optional
        Whether to approximate the probability by tanh, as many published networks do.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`; float64 for integers.

    Notes
    -----
    D. Hendrycks and K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415, section 2.
    Small values on the negative side keep their digits, because the probability is computed as
    ``erfc(-x / sqrt(2)) / 2``, or as a logistic function instead of ``(1 + tanh(...)) / 2``.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.gelu([-1.0, 0.0, 1.0])
    array([-0.15865525,  0.        ,  0.84134475])
    >>> tm.gelu([-1.0, 0.0, 1.0], approximate=True)
    array([-0.15880801,  0.        ,  0.84119199])
    """
    x = np.maximum(real(x, "gelu"), -NORMAL_TAIL)  # below, the product would be -inf * 0 = nan
    if not approximate:
        return x * (erfc(x * -(0.5**0.5)) / 2)
    # The cube of a large number overflows, with a warning, although the probability is simply 1.
    near = np.minimum(x, NORMAL_TAIL)
    return x * sigmoid(GELU_SLOPE * (near + GELU_CUBIC * near * near * near))


@primitive
def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish.

    `x` is an array_like or Tensor of real numbers; complex numbers raise UnsupportedArgumentError. The result is an
    array or Tensor in the shape and dtype of `x`; float64 for integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.silu([-1.0, 0.0, 1.0])
    array([-0.26894142,  0.        ,  0.73105858])
    """
    x = np.maximum(real(x, "silu"), -LOGISTIC_TAIL)  # below, the product would be -inf * 0 = nan
    return x * sigmoid(x)


swish = silu


def _ordered(x: Any, name: str) -> Any:
    """Convert `x` to an array of real numbers; unlike `real`, keep the dtype of integers."""
    x = array(x)
    return x if x.dtype.kind in "iu" else real(x, name)


def _parameter(alpha: Any, name: str) -> Any:
    """Convert a parameter to an operand, except for Python numbers, which don't promote single precision (NEP 50)."""
    return alpha if isinstance(alpha, (int, float)) else real(alpha, name)
