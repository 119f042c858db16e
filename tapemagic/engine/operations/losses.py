"""Cross-entropies between labels and logits: one loss for each example, not reduced."""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import array, inside, plain, real, whole
from tapemagic.engine.operations.exponentials import (
    axes_of,
    is_short,
    log_total,
    minus_largest,
)
from tapemagic.engine.operations.primitive import primitive
from tapemagic.errors import ShapeError, UnsupportedArgumentError


@primitive
def softmax_cross_entropy(labels: Any, logits: Any, axis: int = -1) -> Any:
    """The cross-entropy between probabilities and the softmax of logits.

    Parameters
    ----------
    labels : array_like or Tensor
        The probability of each class; usually they add up to 1 along `axis`.
    logits : array_like or Tensor
        The unscaled logarithm of the probability of each class, in the shape of `labels`.
    axis : int, optional
        Where the classes are.

    Returns
    -------
    array or Tensor
        ``-sum(labels * log_softmax(logits))`` for each example: the shape of `logits` without `axis`.
        A label of 0 makes 0 of any logit, also of -inf.

    Raises
    ------
    numpy.exceptions.AxisError
        If `logits` does not have the axis.
    ShapeError
        If `labels` and `logits` differ in shape.
    UnsupportedArgumentError
        If `logits` are whole numbers, or either is complex.

    See Also
    --------
    sparse_softmax_cross_entropy : For labels that are the number of a class.

    Notes
    -----
    The same as ``tf.nn.softmax_cross_entropy_with_logits``. All its derivatives are the true ones:
    TensorFlow's first derivative takes for granted that labels add up to 1, and its second
    derivatives leave out what comes from the labels.

    Examples
    --------
    >>> from tapemagic.engine.operations.losses import softmax_cross_entropy
    >>> softmax_cross_entropy([[0.0, 1.0], [0.5, 0.5]], [[0.0, 1000.0], [2.0, 2.0]])
    array([0.        , 0.69314718])
    """
    name = "softmax_cross_entropy"
    labels, logits = _both(labels, logits, name)
    (axis,) = axes_of(axis, logits)
    y, _ = minus_largest(logits, (axis,))
    expected = _weighted(labels, y, axis)
    return np.sum(labels, axis=axis) * _log_sum_exp(y, axis) - expected


@primitive
def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The cross-entropy between classes and the softmax of logits.

    Parameters
    ----------
    labels : array_like of int
        The number of the class of each example, in the shape of `logits` without the last axis.
    logits : array_like or Tensor
        The unscaled logarithm of the probability of each class; the classes are along the last axis.

    Returns
    -------
    array or Tensor
        Minus the logarithm of the probability of each label, in the shape of `labels`.

    Raises
    ------
    OptionError
        If a label is negative, or not smaller than the number of classes.
    ShapeError
        If there is not one label for each example.
    UnsupportedArgumentError
        If `labels` are not whole numbers, or `logits` are, or complex.

    See Also
    --------
    softmax_cross_entropy : For labels that are probabilities.

    Notes
    -----
    The same as ``tf.nn.sparse_softmax_cross_entropy_with_logits``.

    Examples
    --------
    >>> from tapemagic.engine.operations.losses import sparse_softmax_cross_entropy
    >>> sparse_softmax_cross_entropy([1, 0], [[0.0, 1000.0], [2.0, 2.0]])
    array([0.        , 0.69314718])
    """
    name = "sparse_softmax_cross_entropy"
    labels, logits = whole(labels, f"labels of {name}"), _logits(logits, name)
    if not logits.ndim or labels.shape != logits.shape[:-1]:
        raise ShapeError(
            f"{name} of labels of shape {labels.shape} and logits of shape {logits.shape}: "
            "the labels' shape has to be that of the logits without the last axis, which counts the classes"
        )
    inside(labels, logits.shape[-1], "labels")
    with QUIET():
        y, axis, at = less_largest(labels, logits)
        chosen = y[at]
        total = np.add.reduce(np.exp(y, out=y), axis=axis)
        np.log(total, out=total)
    total -= chosen
    return plain(total.reshape(labels.shape))


QUIET = partial(np.errstate, divide="ignore", invalid="ignore", over="ignore")
"""A context in which infinities and what comes of them are no reason for a warning."""


def less_largest(labels: Any, logits: Any) -> tuple[Any, int, tuple[Any, Any]]:
    """Logits minus the largest one of each example as a new matrix, the axis of its classes, and where the labels are.

    The classes come first if that is faster. NumPy's warnings have to be off.
    """
    places = np.asarray(labels, np.intp).reshape(-1)
    count = places.size
    x = logits.reshape(count, logits.shape[-1])
    if is_short(x, (1,)):
        x = x.T.copy()
        axis, top, at = 0, np.maximum.reduce(x, axis=0), (places, np.arange(count))
    else:
        top = np.maximum.reduce(x, axis=1, keepdims=True, initial=-np.inf)
        axis, at = 1, (np.arange(count), places)
    y = x - top
    if not isfinite(np.add.reduce(top, axis=None)):
        y[x == top] = 0  # infinities which are equal to the largest one are level with it
    return y, axis, at


@primitive
def sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    """The cross-entropy between probabilities and the logistic function of logits, element by element.

    Parameters
    ----------
    labels : array_like or Tensor
        Probabilities, between 0 and 1.
    logits : array_like or Tensor
        The unscaled logarithms of the odds, in the shape of `labels`.

    Returns
    -------
    array or Tensor
        ``-labels * log_sigmoid(logits) - (1 - labels) * log_sigmoid(-logits)``, in the same shape.

    Raises
    ------
    ShapeError
        If `labels` and `logits` differ in shape.
    UnsupportedArgumentError
        If `logits` are whole numbers, or either is complex.

    Notes
    -----
    The same as ``tf.nn.sigmoid_cross_entropy_with_logits``. A logit that is infinite on the right
    side has the loss 0, where TensorFlow has NaN.

    Examples
    --------
    >>> from tapemagic.engine.operations.losses import sigmoid_cross_entropy
    >>> sigmoid_cross_entropy([1.0, 1.0, 0.5], [1000.0, -1000.0, 0.0])
    array([0.00000000e+00, 1.00000000e+03, 6.93147181e-01])
    """
    name = "sigmoid_cross_entropy"
    labels, logits = _both(labels, logits, name)
    size = np.abs(logits)
    wrong = (logits > 0) - np.copysign(1, logits) * labels
    with np.errstate(invalid="ignore"):
        straight = size * wrong
    if not np.isfinite(straight).all():
        straight = np.where(wrong == 0, 0, straight)
    return straight + np.log1p(np.exp(-size))


def _logits(logits: Any, name: str) -> Any:
    """Logits as an array of real numbers."""
    logits = array(logits)
    if logits.dtype.kind in "biu":
        raise UnsupportedArgumentError(
            f"{name} takes logits that are real numbers, not {logits.dtype}: write 1.0 for 1, and give the "
            "labels first"
        )
    return real(logits, name)


def _both(labels: Any, logits: Any, name: str) -> tuple[Any, Any]:
    """Labels and logits as arrays of real numbers, of the same shape; whole labels in the logits' dtype."""
    logits = _logits(logits, name)
    labels = array(labels)
    labels = labels.astype(logits.dtype) if labels.dtype.kind in "biu" else real(labels, name)
    if labels.shape != logits.shape:
        raise ShapeError(
            f"{name} of labels of shape {labels.shape} and logits of shape {logits.shape}: "
            "give one label for each logit"
        )
    return labels, logits


def _weighted(labels: Any, y: Any, axis: int) -> Any:
    """The sum of labels times `y`, where 0 times -inf is 0."""
    with np.errstate(invalid="ignore"):
        total = np.vecdot(labels, y, axis=axis)  # type: ignore[call-overload]
    if np.isfinite(total).all():
        return total
    known = np.where(labels == 0, 0, y)
    return np.vecdot(labels, known, axis=axis)  # type: ignore[call-overload]


def _log_sum_exp(y: Any, axis: int) -> Any:
    """The logarithm of the sum of the exponentials of `y`; overwrites `y` with the exponentials."""
    np.exp(y, out=y)
    return plain(log_total(y, (axis % y.ndim,)).squeeze(axis))
