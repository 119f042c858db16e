"""Cross-entropies of logits and class numbers: the losses, and their slopes in the logits."""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import integers, plain, require_in_range
from tapemagic.engine.operations.exponentials import is_short
from tapemagic.engine.operations.losses import real_logits
from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.tracing import one_call
from tapemagic.errors import ShapeError

no_warnings = partial(np.errstate, divide="ignore", invalid="ignore", over="ignore")
"""A context without warnings about infinities and their consequences."""

MAX_ORDINARY = 1e18
"""Differences between numbers up to this size and any other number can't overflow in single or double precision."""


@primitive
def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The cross-entropy between classes and the softmax of logits.

    Equivalent to ``tf.nn.sparse_softmax_cross_entropy_with_logits``.

    Parameters
    ----------
    labels : array_like of int
        The class number of each example, in the shape of `logits` without the last axis.
    logits : array_like or Tensor
        The unscaled logarithm of the probability of each class; the last axis counts the classes.

    Returns
    -------
    array or Tensor
        Minus the logarithm of the probability of each label, in the shape of `labels`.

    Raises
    ------
    OptionError
        If a label is negative, or not less than the number of classes.
    ShapeError
        If the number of labels and examples differs.
    UnsupportedArgumentError
        If `labels` contains something other than integers, or `logits` are integers or complex.

    See Also
    --------
    softmax_cross_entropy : For labels that are probabilities.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.sparse_softmax_cross_entropy([1, 0], [[0.0, 1000.0], [2.0, 2.0]])
    array([0.        , 0.69314718])
    """
    labels, logits = _checked(labels, logits)
    y, axis, cells, at = _below_largest(labels, logits)
    chosen = cells[at]
    with no_warnings():
        total = _totals(y, axis)
    return _losses(total, chosen, labels.shape)


@one_call
def sparse_cross_entropy_slopes(g: Any, labels: Any, logits: Any) -> Any:
    """Return the loss gradients `g` times (softmax of the logits, minus 1 at each label)."""
    y, axis, cells, at = _below_largest(np.asarray(labels, np.intp), logits)
    return _slopes(g, y, _totals(y, axis), axis, cells, at, logits.shape)


def _checked(labels: Any, logits: Any) -> tuple[Any, Any]:
    """Check labels and logits, and convert them to arrays of np.intp and of real numbers."""
    name = "sparse_softmax_cross_entropy"
    labels = integers(labels, "labels of sparse_softmax_cross_entropy")
    logits = real_logits(logits, name)
    if not logits.ndim or labels.shape != logits.shape[:-1]:
        raise ShapeError(
            f"{name} of labels of shape {labels.shape} and logits of shape {logits.shape}: "
            "the labels must have the shape of the logits without the last axis, which counts the classes"
        )
    require_in_range(labels, logits.shape[-1], "labels")
    return labels, logits


def _below_largest(labels: Any, logits: Any) -> tuple[Any, int, Any, Any]:
    """Subtract the largest logit of each example, into a new matrix; infinite logits that equal it give 0.

    - `logits`: In the shape of `labels`, with an additional axis for the classes.

    Returns
    -------
    y : matrix
        The differences, with the classes first if that is faster.
    axis : int
        The axis of the classes.
    cells : array
        The matrix `y`, or a view of it with a single axis.
    at : array, or tuple of two
        The positions of the labels in `cells`.
    """
    count = labels.size
    if logits.ndim != 2:
        labels, logits = labels.reshape(count), logits.reshape(count, logits.shape[-1])
    rows = np.arange(count)
    # With few classes, the loops over examples are long if the classes come first: see
    # `exponentials.reduced`.
    if not is_short(logits, (1,)):
        top = np.maximum.reduce(logits, axis=1, keepdims=True, initial=-np.inf)
        with no_warnings():
            y = logits - top
            if not isfinite(np.add.reduce(top, axis=None)):
                y[logits == top] = 0
        return y, 1, y, (rows, labels)
    x = logits.T.copy()
    top = np.maximum.reduce(x, axis=0)
    if (
        top.item(top.argmin()) > -MAX_ORDINARY and top.item(top.argmax()) < MAX_ORDINARY
    ):  # also false for nan
        y = x - top
    else:
        with no_warnings():
            y = x - top
        y[x == top] = 0
    return y, 0, y.reshape(-1), labels * count + rows


def _totals(y: Any, axis: int) -> Any:
    """Return the sum of the exponentials of each example, after overwriting `y` with the exponentials."""
    np.exp(y, out=y)
    return np.add.reduce(y, axis=axis)


def _losses(total: Any, chosen: Any, shape: Any) -> Any:
    """Return the logarithm of the total of each example, minus its label's entry."""
    losses = np.log(total)
    losses -= chosen
    return plain(losses if losses.shape == shape else losses.reshape(shape))


def _slopes(g: Any, y: Any, total: Any, axis: int, cells: Any, at: Any, shape: Any) -> Any:
    """Return the slopes in logits of a shape; `y`, which contains the exponentials, is overwritten."""
    y /= total[:, None] if axis else total
    # Each example has one label, so no cell occurs twice, and an indexed assignment is safe.
    # The probability minus 1 is minus the sum of the others, which keeps its digits if the probability is close to 1.
    cells[at] = 0
    cells[at] = -np.add.reduce(y, axis=axis)
    is_single = g.ndim == len(shape) - 1
    if is_single:
        y *= g.reshape(-1, 1) if axis else g.reshape(-1)
    slopes = y if axis else y.T
    slopes = slopes if slopes.shape == shape else slopes.reshape(shape)
    return slopes if is_single else g[..., None] * slopes
