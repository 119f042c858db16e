"""Normalization of batches and layers, and dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.laziness import IN_PARTS, require_computed
from tapemagic.engine.operations.common import (
    checked_epsilon,
    numpy_axis,
    only_where,
    operand,
    real,
)
from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError

Axis = int | Sequence[int] | None


def batch_norm(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Any:
    """Normalize a batch with given moments: ``scale * (x - mean) / sqrt(variance + epsilon) + offset``.

    Raises ShapeError if another argument doesn't broadcast to the shape of `x`.

    Parameters
    ----------
    x : array_like or Tensor
        Usually, the first axis counts the examples of a batch.
    mean, variance : array_like or Tensor
        Broadcast to the shape of `x`: usually one number per feature, over the batch.
    offset, scale : array_like or Tensor, optional
        Broadcast to the shape of `x`. Default: no offset, no scale.
    epsilon : float, optional
        Keeps a variance of 0 out of the denominator.

    Returns
    -------
    array or Tensor
        In the shape of `x`.

    Notes
    -----
    Equivalent to ``tf.nn.batch_normalization``. S. Ioffe and C. Szegedy, "Batch normalization: accelerating deep
    network training by reducing internal covariate shift", ICML 2015, algorithm 1. Composed of NumPy functions, each
    of which is a node on the tape.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> tm.batch_norm(x, x.mean(axis=0), x.var(axis=0), epsilon=0.0)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    x = operand(x)
    mean = _fitting(mean, x, "batch_norm", "mean")
    variance = _fitting(variance, x, "batch_norm", "variance")
    return _scaled(x - mean, variance, scale, offset, epsilon, "batch_norm")


def layer_norm(
    x: Any, scale: Any = None, offset: Any = None, axis: Axis = -1, epsilon: float = 1e-5
) -> Any:
    """Normalize each example to mean 0 and variance 1, then multiply by `scale` and add `offset`.

    Raises numpy.exceptions.AxisError if `x` doesn't have the axis; ShapeError if `scale` or `offset` doesn't broadcast
    to the shape of `x`.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    scale, offset : array_like or Tensor, optional
        Broadcast to the shape of `x`, along its last axes unless they have axes of length 1.
    axis : int or tuple of int or None, optional
        The axis, or axes, of mean and variance. None: all axes.
    epsilon : float, optional
        Added to the variance, so that equal numbers become 0.

    Returns
    -------
    array or Tensor
        In the shape of `x`.

    Notes
    -----
    J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer normalization", arXiv:1607.06450.
    Composed of NumPy functions, each of which is a node on the tape.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.layer_norm([[1.0, 3.0], [2.0, 2.0]], offset=[0.0, 10.0], epsilon=0.0625)
    array([[-0.9701425, 10.9701425],
           [ 0.       , 10.       ]])
    """
    x, axis = operand(x), numpy_axis(axis)
    centred = x - np.mean(x, axis=axis, keepdims=True)
    variance = np.mean(np.square(centred), axis=axis, keepdims=True)
    return _scaled(centred, variance, scale, offset, epsilon, "layer_norm")


def _scaled(centred: Any, variance: Any, scale: Any, offset: Any, epsilon: float, name: str) -> Any:
    """Divide deviations by their standard deviation, multiply by `scale`, and add `offset`."""
    # The small factors are multiplied first: one product of the size of x, instead of two.
    inverse = 1 / np.sqrt(variance + checked_epsilon(epsilon, name))
    if scale is not None:
        inverse = inverse * _fitting(scale, centred, name, "scale")
    y = centred * inverse
    return y if offset is None else y + _fitting(offset, centred, name, "offset")


def _fitting(part: Any, x: Any, name: str, role: str) -> Any:
    """Convert an argument to an operand that broadcasts to the shape of `x`."""
    if type(part) in {int, float} and x.dtype.kind == "f":
        part = x.dtype.type(part)  # np.float64 would promote single precision (NEP 50)
    elif type(part) is not complex:
        part = operand(part)
    shape = np.shape(unwrap(part))
    try:
        fits = np.broadcast_shapes(shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"{name}: {role} of shape {shape} does not broadcast to the shape of x, {x.shape}"
        )
    return part


def dropout(x: Any, rate: Any, rng: Any) -> Any:
    """Set random elements to 0, and scale the others up, so that the expected sum is unchanged.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers.
    rate : float
        The probability that an element becomes 0; at least 0 and less than 1.
    rng : numpy.random.Generator
        The source of random numbers, such as ``np.random.default_rng(0)``. It draws one number per element of `x`.

    Returns
    -------
    array or Tensor
        In the shape and dtype of `x`; float64 for integers. The derivatives are 0 for the same elements.

    Raises
    ------
    OptionError
        If `rate` isn't a number in this range.
    NotComputedError
        If `x` is lazy.
    UnsupportedArgumentError
        If `rng` is not a generator, or `x` is complex.

    Notes
    -----
    N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", Journal of Machine
    Learning Research 15 (2014). The factor ``1 / (1 - rate)`` is applied immediately, as in ``tf.nn.dropout``, so
    nothing must be scaled when the network is used without dropout.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.dropout(np.ones(6), 0.5, np.random.default_rng(0))
    array([2., 0., 0., 0., 2., 2.])
    """
    if not isinstance(rate, (int, float, np.integer, np.floating)) or not 0 <= rate < 1:
        raise OptionError(
            f"dropout needs a rate that is a plain number, at least 0 and less than 1, not {rate!r}"
        )
    if not isinstance(rng, np.random.Generator):
        raise UnsupportedArgumentError(
            f"dropout needs a random generator, such as np.random.default_rng(0), not {rng!r}: "
            "it would otherwise not be reproducible"
        )
    x = operand(x)
    require_computed(unwrap(x), "dropout, which draws a number for each element,", IN_PARTS)
    # The random mask is drawn outside of the operation, whose rule then uses the same mask.
    return masked(x, mask=rng.random(x.shape) >= rate, factor=1 / (1 - float(rate)))


@primitive
def masked(x: Any, mask: Any, factor: float) -> Any:
    """Return `x` times a factor where a mask is true, and 0 elsewhere: `dropout` with a given mask."""
    return only_where(real(x, "dropout"), mask) * factor
