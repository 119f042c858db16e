"""Cross-entropies between labels and logits, with a separate loss for each example."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.common import array, plain, real
from tapemagic.engine.operations.exponentials import axes_of, logarithm, minus_largest, reduced
from tapemagic.engine.operations.primitive import primitive
from tapemagic.errors import ShapeError, UnsupportedArgumentError


@primitive
def softmax_cross_entropy(labels: Any, logits: Any, axis: int = -1) -> Any:
    """The cross-entropy between probabilities and the softmax of logits.

    Equivalent to ``tf.nn.softmax_cross_entropy_with_logits``, but all derivatives are exact: TensorFlow's first
    derivative assumes that the labels add up to 1, and its second derivatives ignore the labels' contribution.

    Parameters
    ----------
    labels : array_like or Tensor
        The probability of each class; usually, they add up to 1 along `axis`.
    logits : array_like or Tensor
        The unscaled logarithm of the probability of each class, in the shape of `labels`.
    axis : int, optional
        The axis of the classes.

    Returns
    -------
    array or Tensor
        ``-sum(labels * log_softmax(logits))`` for each example: the shape of `logits` without `axis`. A label of 0
        contributes 0 for any logit, also for -inf.

    Raises
    ------
    numpy.exceptions.AxisError
        If `logits` doesn't have the axis.
    ShapeError
        If `labels` and `logits` differ in shape.
    UnsupportedArgumentError
        If `logits` are integers, or either argument is complex.

    See Also
    --------
    sparse_softmax_cross_entropy : For labels that are class numbers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.softmax_cross_entropy([[0.0, 1.0], [0.5, 0.5]], [[0.0, 1000.0], [2.0, 2.0]])
    array([0.        , 0.69314718])
    """
    labels, logits = _both(labels, logits, "softmax_cross_entropy")
    (axis,) = axes = axes_of(axis, logits)
    y, _ = minus_largest(logits, axes)
    expected = _weighted(labels, y, axis)
    np.exp(y, out=y)
    log_total = plain(logarithm(reduced(np.add, y, axes)).squeeze(axis))
    return np.sum(labels, axis=axis) * log_total - expected


@primitive
def sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    """The cross-entropy between probabilities and the logistic function of logits, element by element.

    Raises ShapeError if `labels` and `logits` differ in shape; UnsupportedArgumentError if `logits` are integers, or
    either argument is complex.

    Equivalent to ``tf.nn.sigmoid_cross_entropy_with_logits``, except that a correct infinite logit has the loss 0,
    where TensorFlow returns nan.

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

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.sigmoid_cross_entropy([1.0, 1.0, 0.5], [1000.0, -1000.0, 0.0])
    array([0.00000000e+00, 1.00000000e+03, 6.93147181e-01])
    """
    name = "sigmoid_cross_entropy"
    labels, logits = _both(labels, logits, name)
    # The loss is |z| * wrong + log1p(exp(-|z|)), where `wrong` is the probability of the less likely class: 1 - label
    # for z > 0, else the label. No term is negative, so nothing cancels, and exp can't overflow.
    size = np.abs(logits)
    wrong = (logits > 0) - np.copysign(1, logits) * labels
    with np.errstate(invalid="ignore"):
        straight = size * wrong
    if not np.isfinite(straight).all():
        straight = np.where(wrong == 0, 0, straight)
    return straight + np.log1p(np.exp(-size))


def real_logits(logits: Any, name: str) -> Any:
    """Convert logits to an array of real numbers; integers raise an error."""
    logits = array(logits)
    if logits.dtype.kind == "f":
        return logits
    if logits.dtype.kind in "biu":
        raise UnsupportedArgumentError(
            f"{name} takes real numbers as logits, not {logits.dtype}: write 1.0 for 1, and pass the "
            "labels first"
        )
    return real(logits, name)


def _both(labels: Any, logits: Any, name: str) -> tuple[Any, Any]:
    """Convert labels and logits to real arrays of the same shape; integer labels get the logits' dtype."""
    logits = real_logits(logits, name)
    labels = array(labels)
    # Integer labels, such as 0 and 1, would promote single precision logits to double (NEP 50).
    labels = labels.astype(logits.dtype) if labels.dtype.kind in "biu" else real(labels, name)
    if labels.shape != logits.shape:
        raise ShapeError(
            f"{name} of labels of shape {labels.shape} and logits of shape {logits.shape}: "
            "pass one label for each logit"
        )
    return labels, logits


def _weighted(labels: Any, y: Any, axis: int) -> Any:
    """Sum labels times `y`, where 0 times -inf is 0."""
    with np.errstate(invalid="ignore"):
        total = np.vecdot(labels, y, axis=axis)  # type: ignore[call-overload]
    if np.isfinite(total).all():
        return total
    finite_y = np.where(labels == 0, 0, y)
    return np.vecdot(labels, finite_y, axis=axis)  # type: ignore[call-overload]
