"""Activations with Keras 3's names and parameters: element by element, or along an axis.

Each takes `x`, an array_like or Tensor of real numbers, and returns an array or Tensor of its shape and dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.engine.operations import activations as engine
from tapemagic.engine.operations import exponentials, logistic
from tapemagic.engine.operations.common import operand, real
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import ShapeError
from tapemagic.nn.identifiers import find
from tapemagic.nn.logits import keeping_logits

gelu = engine.gelu
relu6 = engine.relu6
selu = engine.selu
silu = swish = engine.silu
hard_sigmoid = logistic.hard_sigmoid
log_sigmoid = logistic.log_sigmoid
sigmoid = keeping_logits(logistic.sigmoid)
softplus = logistic.softplus
softsign = logistic.softsign
log_softmax = exponentials.log_softmax
softmax = keeping_logits(exponentials.softmax)
sigmoid.__module__ = softmax.__module__ = __name__  # where pickle finds them


def linear(x: Any) -> Any:
    """Return the input unchanged.

    Examples
    --------
    >>> linear(2.0)
    2.0
    """
    return x


def relu(
    x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Any:
    """Return ``max(x, 0)``, or a variant of it with a slope, a maximum or a threshold.

    Parameters
    ----------
    x : array_like or Tensor
    negative_slope : float, optional
        Below the threshold, the result is ``negative_slope * (x - threshold)``.
    max_value : float, optional
        The largest possible result.
    threshold : float, optional
        Elements up to this value count as negative.

    Examples
    --------
    >>> import numpy as np
    >>> relu(np.array([-10.0, 2.0, 10.0]))
    array([ 0.,  2., 10.])
    >>> relu(np.array([-10.0, 2.0, 10.0]), negative_slope=0.5, max_value=6.0)
    array([-5.,  2.,  6.])
    """
    if not negative_slope and max_value is None and not threshold:
        return engine.relu(x)
    if negative_slope and max_value is None and not threshold:
        return engine.leaky_relu(x, negative_slope)
    x = operand(x)
    y = np.where(x > threshold, x, 0) if threshold else engine.relu(x)
    if max_value is not None:
        y = np.clip(y, 0, max_value)
    return y - negative_slope * engine.relu(threshold - x) if negative_slope else y


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """Return `x` where it is positive, and ``negative_slope * x`` elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> leaky_relu(np.array([-10.0, 2.0]))
    array([-2.,  2.])
    """
    return engine.leaky_relu(x, negative_slope)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return `x` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> elu(np.array([-float("inf"), 2.0]))
    array([-1.,  2.])
    """
    return engine.elu(x, alpha)


def celu(x: Any, alpha: float = 1.0) -> Any:
    """Return `x` where it is positive, and ``alpha * (exp(x / alpha) - 1)`` elsewhere, with a continuous slope [1]_.

    The derivative at 0 is 1; Keras 3.15 on TensorFlow returns 2 there.

    References
    ----------
    .. [1] J. T. Barron, "Continuously differentiable exponential linear units", arXiv:1704.07483.

    Examples
    --------
    >>> import numpy as np
    >>> celu(np.array([-float("inf"), 2.0]), alpha=3.0)
    array([-3.,  2.])
    """
    return alpha * engine.elu(operand(x) / alpha)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent.

    Examples
    --------
    >>> import numpy as np
    >>> tanh(np.array([0.0, 100.0]))
    array([0., 1.])
    """
    return np.tanh(operand(x))


def exponential(x: Any) -> Any:
    """Return the exponential.

    Examples
    --------
    >>> import numpy as np
    >>> exponential(np.array([0.0, 1.0]))
    array([1.        , 2.71828183])
    """
    return np.exp(operand(x))


def hard_silu(x: Any) -> Any:
    """Return ``x * hard_sigmoid(x)``, a piecewise quadratic approximation of `silu` [1]_ (alias hard_swish).

    References
    ----------
    .. [1] A. Howard et al., "Searching for MobileNetV3", ICCV 2019, section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> hard_silu(np.array([-3.0, 1.0, 3.0]))
    array([-0.        ,  0.66666667,  3.        ])
    """
    return operand(x) * hard_sigmoid(x)


def mish(x: Any) -> Any:
    """Return ``x * tanh(softplus(x))`` [1]_.

    References
    ----------
    .. [1] D. Misra, "Mish: a self regularized non-monotonic activation function", arXiv:1908.08681.

    Examples
    --------
    >>> import numpy as np
    >>> mish(np.array([-1.0, 0.0, 1.0])).round(6)
    array([-0.303401,  0.      ,  0.865098])
    """
    return operand(x) * np.tanh(softplus(x))


def glu(x: Any, axis: int = -1) -> Any:
    """Return the first half along `axis` times the `sigmoid` of the second half [1]_.

    Raises ShapeError if the axis has an odd length.

    References
    ----------
    .. [1] Y. Dauphin et al., "Language modeling with gated convolutional networks", ICML 2017, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> glu(np.array([3.0, 4.0, 0.0, 100.0]))
    array([1.5, 4. ])
    """
    x = operand(x)
    axis = normalize_axis_index(axis, x.ndim)
    if x.shape[axis] % 2:
        raise ShapeError(
            f"glu halves axis {axis}, and got the shape {x.shape}: its length must be even"
        )
    first, second = np.split(x, 2, axis)
    return first * sigmoid(second)


def hard_tanh(x: Any) -> Any:
    """Return `x` clipped to the interval from -1 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> hard_tanh(np.array([-2.0, 0.5, 2.0]))
    array([-1. ,  0.5,  1. ])
    """
    return np.clip(operand(x), -1, 1)


def tanh_shrink(x: Any) -> Any:
    """Return ``x - tanh(x)``.

    Examples
    --------
    >>> import numpy as np
    >>> tanh_shrink(np.array([0.0, 1.0]))
    array([0.        , 0.23840584])
    """
    x = operand(x)
    return x - np.tanh(x)


def soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    """Return `x` moved towards 0 by `threshold`, and 0 where ``abs(x) <= threshold``.

    Examples
    --------
    >>> import numpy as np
    >>> soft_shrink(np.array([-2.0, 0.25, 2.0]))
    array([-1.5,  0. ,  1.5])
    """
    x = operand(x)
    # `0 * x` rather than 0, so that nan stays nan: both comparisons are False for it.
    return np.where(x > threshold, x - threshold, np.where(x < -threshold, x + threshold, 0 * x))


def hard_shrink(x: Any, threshold: float = 0.5) -> Any:
    """Return `x`, and 0 where ``abs(x) <= threshold``.

    Examples
    --------
    >>> import numpy as np
    >>> hard_shrink(np.array([-2.0, 0.25, 2.0]))
    array([-2.,  0.,  2.])
    """
    x = operand(x)
    return np.where(np.abs(unwrap(x)) > threshold, x, 0)


def threshold(x: Any, threshold: float, default_value: float) -> Any:
    """Return `x` where it is larger than `threshold`, and `default_value` elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> threshold(np.array([-1.0, 0.5, 2.0]), 1.0, -5.0)
    array([-5., -5.,  2.])
    """
    x = operand(x)
    return np.where(x > threshold, x, default_value)


def squareplus(x: Any, b: float = 4) -> Any:
    """Return ``(x + sqrt(x ** 2 + b)) / 2``, a smooth `relu` [1]_.

    References
    ----------
    .. [1] J. T. Barron, "Squareplus: a softplus-like algebraic rectifier", arXiv:2112.11687.

    Examples
    --------
    >>> import numpy as np
    >>> squareplus(np.array([0.0, 1.5]))
    array([1., 2.])
    """
    x = operand(x)
    return (x + np.sqrt(x * x + b)) / 2


def sparse_plus(x: Any) -> Any:
    """Return 0 below -1, `x` above 1, and in between the parabola ``(x + 1) ** 2 / 4``.

    Examples
    --------
    >>> import numpy as np
    >>> sparse_plus(np.array([-2.0, 0.0, 2.0]))
    array([0.  , 0.25, 2.  ])
    """
    x = operand(x)
    # The parabola of the clipped x ends at 1 with value 1; relu continues it as x. No branch, so one slope at ±1.
    near = np.clip(x, -1, 1) + 1
    return near * near / 4 + engine.relu(x - 1)


def sparse_sigmoid(x: Any) -> Any:
    """Return ``(x + 1) / 2`` clipped to the interval from 0 to 1 [1]_.

    References
    ----------
    .. [1] M. Blondel, A. F. T. Martins and V. Niculae, "Learning classifiers with Fenchel-Young losses", AISTATS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> sparse_sigmoid(np.array([-2.0, 0.0, 2.0]))
    array([0. , 0.5, 1. ])
    """
    x = operand(x)
    return np.where(x <= -1, 0, np.where(x >= 1, 1, 0.5 * (x + 1)))


def sparsemax(x: Any, axis: int = -1) -> Any:
    """Return the projection of `x` onto the probability simplex along `axis`: a sparse `softmax` [1]_.

    The results add up to 1; in Keras 3.15 on TensorFlow they don't always.

    References
    ----------
    .. [1] A. F. T. Martins and R. F. Astudillo, "From softmax to sparsemax", ICML 2016, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> sparsemax(np.array([2.0, 1.5, -1.0]))
    array([0.75, 0.25, 0.  ])
    """
    x = operand(x)
    axis = normalize_axis_index(axis, x.ndim)
    # Algorithm 1 of [1]: sort, find the support, subtract its threshold. Which elements belong to the support is
    # decided on bare arrays: it is piecewise constant, so only the sum over the support carries a gradient.
    values = real(unwrap(x), "sparsemax")
    falling = np.flip(np.sort(values, axis), axis)
    counts = np.arange(1, values.shape[axis] + 1).reshape([-1] + [1] * (x.ndim - axis - 1))
    inside = 1 + counts * falling > np.cumsum(falling, axis)
    support = np.count_nonzero(inside, axis, keepdims=True)
    least = np.take_along_axis(falling, support - 1, axis)
    total = np.sum(np.where(values >= least, x, 0), axis=axis, keepdims=True)
    size = np.count_nonzero(values >= least, axis, keepdims=True).astype(values.dtype)
    return engine.relu(x - (total - 1) / size)


hard_swish = hard_silu

_TABLE: dict[str, Any] = {
    function.__name__: function
    for function in (
        celu, elu, exponential, gelu, glu, hard_shrink, hard_sigmoid, hard_silu, hard_tanh, leaky_relu, linear,
        log_sigmoid, log_softmax, mish, relu, relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign,
        sparse_plus, sparse_sigmoid, sparsemax, squareplus, tanh, tanh_shrink, threshold,
    )
} | {"swish": silu, "hard_swish": hard_silu}  # fmt: skip


def get(identifier: Any) -> Callable[[Any], Any]:
    """Look up the activation for `identifier`, a name or a function; None means `linear`.

    Examples
    --------
    >>> import numpy as np
    >>> get("relu")(np.array([-1.0, 1.0]))
    array([0., 1.])
    """
    if identifier is None:
        return linear
    activation: Callable[[Any], Any] = find(identifier, _TABLE, "an activation")
    return activation


if not TYPE_CHECKING:  # as in `nn.layers`
    __all__ = ["get"]
    __all__ += list(_TABLE)
