"""Rules of activations, losses and dropout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.engine.operations.activations import (
    GELU_CUBIC,
    GELU_SLOPE,
    LOGISTIC_TAIL,
    NORMAL_TAIL,
    SELU_ALPHA,
    SELU_SCALE,
    elu,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    silu,
)
from tapemagic.engine.operations.common import only_where, where_mask
from tapemagic.engine.operations.errorfunction import erf, erfc
from tapemagic.engine.operations.exponentials import log_softmax, logsumexp, softmax
from tapemagic.engine.operations.logistic import (
    hard_sigmoid,
    log_sigmoid,
    sigmoid,
    softplus,
    softsign,
)
from tapemagic.engine.operations.losses import sigmoid_cross_entropy, softmax_cross_entropy
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.operations.sparse_losses import (
    sparse_cross_entropy_slopes,
    sparse_softmax_cross_entropy,
)
from tapemagic.engine.operations.tails import one_minus_sigmoid, sigmoid_error, sigmoid_suffices
from tapemagic.engine.registry import chooses, even_zeros, lean, pointwise, vjp
from tapemagic.engine.rules.axes import expand, negative_axes, negative_axis
from tapemagic.engine.rules.elementwise import first_order_only, flat_slope
from tapemagic.engine.tensor.tensor import Traced

# -- activations: at kinks, TensorFlow's derivatives ---------------------------------------------------


def bell(x: Any) -> Any:
    """Compute exp(-x**2) without overflow in x**2."""
    # exp(-1600) is 0 already, and the square of 1e200 would overflow with a warning.
    near = np.clip(x, -NORMAL_TAIL, NORMAL_TAIL)
    return np.exp(-near * near)


def _both_sides(x: Any) -> tuple[Any, Any]:
    """Return the logistic functions of x and of -x."""
    p = sigmoid(x)
    # A first derivative adds 1 to a multiple of q, so only higher ones need all of its digits.
    return p, flat_slope(one_minus_sigmoid, p, x) if isinstance(x, Traced) else 1 - p


def _gelu(g, _y, x, approximate=False):
    """The probability P(x), plus x times its density; with tanh, the derivative of x * sigmoid(...)."""
    x = np.clip(x, -NORMAL_TAIL, NORMAL_TAIL)
    if not approximate:
        return g * (erfc(x * -(0.5**0.5)) / 2 + x * bell(x * 0.5**0.5) / math.sqrt(2 * math.pi))
    square = x * x
    p, q = _both_sides(GELU_SLOPE * x * (1 + GELU_CUBIC * square))
    return g * (p * (1 + GELU_SLOPE * x * (1 + 3 * GELU_CUBIC * square) * q))


def _silu(g, _y, x):
    """The logistic function, plus x times its slope p * (1 - p)."""
    x = np.clip(x, -LOGISTIC_TAIL, LOGISTIC_TAIL)
    p, q = _both_sides(x)
    return g * (p * (1 + x * q))


# From y = log(p): d log_sigmoid / dx = 1 - p = -expm1(y), and d softplus / dx = p = -expm1(-y). expm1 keeps the
# digits that 1 - exp(y) would lose for p close to 1.
# fmt: off
vjp(relu,         lambda g, y, _x: only_where(g, y > 0))
vjp(relu6,        lambda g, y, _x: only_where(g, (y > 0) & (y < 6)))
vjp(hard_sigmoid, lambda g, y, _x: only_where(g, (y > 0) & (y < 1)) / 6)
vjp(leaky_relu,   lambda g, _y, x, alpha=0.2: only_where(g, x > 0) + only_where(g, x <= 0) * alpha,
                  lambda g, _y, x, _alpha: g * np.minimum(x, 0))
vjp(elu,          lambda g, _y, x, alpha=1.0: only_where(g, x > 0)
                      + only_where(g, x <= 0) * alpha * np.exp(np.minimum(x, 0)),
                  lambda g, _y, x, _alpha: g * np.expm1(np.minimum(x, 0)))
vjp(selu,         lambda g, _y, x: g * np.where(x < 0, SELU_ALPHA * np.exp(np.minimum(x, 0)), 1) * SELU_SCALE)
vjp(gelu,         _gelu)
vjp(silu,         _silu)
vjp(sigmoid,      lambda g, y, x: g * (y * flat_slope(one_minus_sigmoid, y, x)))
vjp(one_minus_sigmoid, lambda g, _z, _y, _x: -g, None)
vjp(log_sigmoid,  lambda g, y, _x: -g * np.expm1(y))
vjp(softplus,     lambda g, y, _x: -g * np.expm1(-y))
vjp(softsign,     lambda g, _y, x: g * np.square(1 / (1 + np.abs(x))))
vjp(erf,          lambda g, _y, x: g * (2 / math.sqrt(math.pi)) * bell(x))
vjp(erfc,         lambda g, _y, x: g * (-2 / math.sqrt(math.pi)) * bell(x))
vjp(where_mask,   lambda g, _y, _x, mask: only_where(g, mask))
vjp(masked,       lambda g, _y, _x, mask, factor: only_where(g, mask) * factor, name="dropout")
# fmt: on

pointwise(relu, relu6, hard_sigmoid, leaky_relu, elu, selu, gelu, silu, sigmoid, log_sigmoid)
chooses(relu, relu6, hard_sigmoid, leaky_relu, where_mask, masked)
pointwise(softplus, softsign, erf, erfc, where_mask, masked, sigmoid_cross_entropy)
pointwise(one_minus_sigmoid, sigmoid_error)
lean(sigmoid, sigmoid_suffices)


# -- softmax and its logarithms -------------------------------------------------------------------


def inner(a: Any, b: Any, axes: tuple[int, ...]) -> Any:
    """Sum the products along axes, which stay."""
    if len(axes) == 1:
        return np.vecdot(a, b, axis=axes[0], keepdims=True)  # type: ignore[call-overload]
    return np.sum(a * b, axis=axes, keepdims=True)


def total(x: Any, axes: tuple[int, ...]) -> Any:
    """Sum along axes, which stay; for arrays, without the detour of np.sum, which takes longer than a short sum."""
    if type(x) is np.ndarray:
        return np.add.reduce(x, axis=axes, keepdims=True)
    return np.sum(x, axis=axes, keepdims=True)


def minus(a: Any, b: Any, out: Any) -> Any:
    """Return a - b, in the memory of `out`, a new array, if all three are arrays of the same layout."""
    if (
        type(a) is np.ndarray is type(b)
        and a.strides == b.strides
        and a.shape == b.shape
        and a.dtype is b.dtype
    ):
        return np.subtract(a, b, out=out)
    return a - b


def balanced(d: Any, p: Any, axes: tuple[int, ...]) -> Any:
    """Subtract the sum of `d` along axes, which would be 0 without rounding, in the proportions `p`, whose sum is 1.

    Where one class has nearly all of the probability, its slope is a small difference of two numbers close to 1, and
    the rounding error of this difference can be as large. The slopes of the other classes are precise, and so is minus
    their sum. `d` and `p` must be new arrays, because they are overwritten.
    """
    rest = total(d, axes)
    # In a Jacobian, d has more axes than p. Labels may be more precise than the logits.
    if type(d) is not np.ndarray or d.shape != p.shape or d.dtype is not p.dtype:
        return d - p * rest
    p *= rest
    d -= p
    return d


def _softmax(g, y, _x, axis=-1):
    """`g` minus its mean weighted by the probabilities, times the probabilities."""
    axes = negative_axes(axis, _x.ndim)
    off = g - inner(g, y, axes)
    # Centered again, like the deviations of a variance: see `balanced`.
    rest = inner(off, y, axes)
    if off.__class__ is not np.ndarray:
        return y * (off - rest)
    off -= rest
    off *= y
    return off


def _log_softmax(g, y, _x, axis=-1):
    """`g` minus the probabilities times its sum."""
    axes, p = negative_axes(axis, _x.ndim), np.exp(y)
    d = p * total(g, axes)
    return balanced(minus(g, d, d), p, axes)


def _logsumexp(g, y, x, axis=None, keepdims=False):
    """The softmax of `x`. Equal infinities share the gradient, which is a convention: they may differ by any number."""
    if x.size != y.size:
        g = first_order_only(g, y, np.isinf)
    return expand(g, negative_axes(axis, x.ndim), keepdims) * softmax(x, axis)


vjp(softmax, _softmax)
vjp(log_softmax, _log_softmax)
vjp(logsumexp, _logsumexp)
even_zeros(softmax, log_softmax, logsumexp, uses_all=True)


# -- losses ---------------------------------------------------------------------------------------


def _cross_entropy_labels(g, _y, _labels, logits, axis=-1):
    """Minus the log-probability of each class."""
    axis = negative_axis(axis, logits.ndim)
    return np.expand_dims(g, axis) * -log_softmax(logits, axis)


def _cross_entropy_logits(g, _y, labels, logits, axis=-1):
    """The softmax of the logits, times the sum of the labels, minus the labels."""
    axis = negative_axis(axis, logits.ndim)
    p = softmax(logits, axis)
    d = p * total(labels, (axis,))
    d = balanced(minus(d, labels, d), p, (axis,))
    g = np.expand_dims(g, axis)
    # A Jacobian's gradients have more axes than d.
    if type(d) is np.ndarray and d.flags.c_contiguous and g.ndim == d.ndim and g.dtype is d.dtype:
        d *= g
        return d
    return g * d


def _sparse_cross_entropy(g, _y, labels, logits):
    """The softmax of the logits, minus 1 at the label."""
    # Without a tape that records this gradient, a single pass computes it without the matrix `hit`.
    if isinstance(logits, np.ndarray) and isinstance(g, np.ndarray):
        return sparse_cross_entropy_slopes(g, labels, logits)
    hit = np.expand_dims(labels, -1) == np.arange(logits.shape[-1])
    p = softmax(logits)
    return np.expand_dims(g, -1) * balanced(p - hit, p, (-1,))


def _sigmoid_cross_entropy(g, _y, labels, logits):
    """The probability minus the label."""
    return g * flat_slope(sigmoid_error, sigmoid(logits), logits, labels)


# fmt: off
vjp(softmax_cross_entropy,        _cross_entropy_labels, _cross_entropy_logits)
vjp(sparse_softmax_cross_entropy, None, _sparse_cross_entropy)
vjp(sigmoid_cross_entropy,        lambda g, _y, _labels, logits: -g * logits,
                                  _sigmoid_cross_entropy)
vjp(sigmoid_error,                lambda g, _z, _y, _x, _labels: g, None, lambda g, _z, _y, _x, _labels: -g)
# fmt: on
