"""Activation functions of neural networks: rectifiers and their smooth relatives, each one operation on the tape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.common import CACHED, array, real
from tapemagic.engine.operations.errorfunction import erfc
from tapemagic.engine.operations.logistic import sigmoid
from tapemagic.engine.operations.primitive import primitive

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
"""The constants with which `selu` has mean 0 and variance 1 as a fixed point."""

GELU_CUBIC = 0.044715
GELU_SLOPE = 1.5957691216057308
"""2 * sqrt(2 / pi)."""

BELL = 40.0
"""Beyond this distance from 0, the tails of the normal distribution are 0 in double precision."""

MANY = 1024
"""The number of elements of single precision from which np.maximum is faster with an array of zeros than with a 0.

Beside a single number it takes one element at a time.
"""

LOGISTIC = 800.0
"""Below minus this number, the logistic function is 0 in double precision."""


@primitive
def relu(x: Any) -> Any:
    """The larger of `x` and 0, element by element.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`. Its derivative at 0 is 0, as in TensorFlow.

    Raises
    ------
    UnsupportedArgumentError
        If `x` is complex.

    Examples
    --------
    >>> from tapemagic.engine.operations.activations import relu
    >>> relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    x = _ordered(x, "relu")
    if x.size >= MANY and x.nbytes <= CACHED and x.dtype.char == "f" and x.flags.c_contiguous:
        y = np.zeros(x.shape, np.float32)
        return np.maximum(x, y, out=y)
    return np.maximum(x, 0)


@primitive
def relu6(x: Any) -> Any:
    """`relu`, but at most 6.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`. Its derivative at 0 and at 6 is 0, as in TensorFlow.

    Raises
    ------
    UnsupportedArgumentError
        If `x` is complex.

    Examples
    --------
    >>> from tapemagic.engine.operations.activations import relu6
    >>> relu6([-1.0, 2.0, 8.0])
    array([0., 2., 6.])
    """
    return np.clip(_ordered(x, "relu6"), 0, 6)


@primitive
def leaky_relu(x: Any, alpha: Any = 0.2) -> Any:
    """`x` where it is positive, and `alpha` times `x` elsewhere.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    alpha : float, array_like or Tensor, optional
        The slope of the negative side; broadcast with `x`. Differentiable, so that it may be learnt.

    Returns
    -------
    array or Tensor
        In the shape that `x` and `alpha` broadcast to. Its derivative at 0 is `alpha`, as in TensorFlow.

    Raises
    ------
    UnsupportedArgumentError
        If `x` or `alpha` is complex.

    Examples
    --------
    >>> from tapemagic.engine.operations.activations import leaky_relu
    >>> leaky_relu([-10.0, 0.0, 2.0])
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
        Real numbers.
    alpha : float, array_like or Tensor, optional
        How far below 0 it goes; broadcast with `x`. Differentiable.

    Returns
    -------
    array or Tensor
        In the shape that `x` and `alpha` broadcast to. Its derivative at 0 is `alpha`, as in TensorFlow.

    Raises
    ------
    UnsupportedArgumentError
        If `x` or `alpha` is complex.

    Notes
    -----
    D.-A. Clevert, T. Unterthiner and S. Hochreiter, "Fast and accurate deep network learning by
    exponential linear units (ELUs)", ICLR 2016.

    Examples
    --------
    >>> from tapemagic.engine.operations.activations import elu
    >>> elu([-float("inf"), 0.0, 2.0])
    array([-1.,  0.,  2.])
    """
    x = real(x, "elu")
    return np.maximum(x, 0) + _parameter(alpha, "elu") * np.expm1(np.minimum(x, 0))


@primitive
def selu(x: Any) -> Any:
    """`elu` with the two constants that keep mean 0 and variance 1 from layer to layer.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`; float64 for whole numbers. Its derivative at 0 is the one from
        the right, 1.0507..., as in TensorFlow.

    Raises
    ------
    UnsupportedArgumentError
        If `x` is complex.

    Notes
    -----
    G. Klambauer, T. Unterthiner, A. Mayr and S. Hochreiter, "Self-normalizing neural networks",
    NIPS 2017.

    Examples
    --------
    >>> from tapemagic.engine.operations.activations import selu
    >>> selu([-1.0, 0.0, 1.0])
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
        Real numbers.
    approximate : bool, optional
        Whether to approximate that probability with tanh, as many published networks do.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`; float64 for whole numbers.

    Raises
    ------
    UnsupportedArgumentError
        If `x` is complex.

    Notes
    -----
    D. Hendrycks and K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415, section 2.
    Small values on the negative side keep their digits, since the probability is computed as
    ``erfc(-x / sqrt(2)) / 2``, or as a logistic function in place of ``(1 + tanh(...)) / 2``.

    Examples
    --------
    >>> from tapemagic.engine.operations.activations import gelu
    >>> gelu([-1.0, 0.0, 1.0])
    array([-0.15865525,  0.        ,  0.84134475])
    >>> gelu([-1.0, 0.0, 1.0], approximate=True)
    array([-0.15880801,  0.        ,  0.84119199])
    """
    x = np.maximum(real(x, "gelu"), -BELL)  # further below, -inf * 0 would be NaN
    if not approximate:
        return x * (erfc(x * -(0.5**0.5)) / 2)
    near = np.minimum(x, BELL)
    return x * sigmoid(GELU_SLOPE * (near + GELU_CUBIC * near * near * near))


@primitive
def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`; float64 for whole numbers.

    Raises
    ------
    UnsupportedArgumentError
        If `x` is complex.

    Examples
    --------
    >>> from tapemagic.engine.operations.activations import silu
    >>> silu([-1.0, 0.0, 1.0])
    array([-0.26894142,  0.        ,  0.73105858])
    """
    x = np.maximum(real(x, "silu"), -LOGISTIC)  # further below, -inf * 0 would be NaN
    return x * sigmoid(x)


swish = silu


def _ordered(x: Any, name: str) -> Any:
    """An array of real numbers; unlike in `real`, whole numbers keep their dtype."""
    x = array(x)
    return x if x.dtype.kind in "iu" else real(x, name)


def _parameter(alpha: Any, name: str) -> Any:
    """A parameter as an operand; Python's numbers are kept, since they do not promote single precision."""
    return alpha if isinstance(alpha, (int, float)) else real(alpha, name)
