"""Cross-entropies of logits and the numbers of classes: the losses, their slopes in the logits, and both at once."""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import inside, plain, whole
from tapemagic.engine.operations.exponentials import is_short
from tapemagic.engine.operations.losses import real_logits
from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.tracing import one_call
from tapemagic.errors import ShapeError

QUIET = partial(np.errstate, divide="ignore", invalid="ignore", over="ignore")
"""A context in which infinities and what comes of them are no reason for a warning."""

ORDINARY = 1e18
"""A number so small that its difference from any other of single or double precision does not overflow."""


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
    >>> from tapemagic.engine.operations.sparse_losses import sparse_softmax_cross_entropy
    >>> sparse_softmax_cross_entropy([1, 0], [[0.0, 1000.0], [2.0, 2.0]])
    array([0.        , 0.69314718])
    """
    labels, logits = _checked(labels, logits)
    y, axis, cells, at = _below_largest(labels, logits)
    chosen = cells[at]
    with QUIET():
        total = _totals(y, axis)
    return _losses(total, chosen, labels.shape)


@one_call
def sparse_cross_entropy_slopes(g: Any, labels: Any, logits: Any) -> Any:
    """The gradients `g` of the losses times the softmax of the logits minus 1 at each label."""
    y, axis, cells, at = _below_largest(np.asarray(labels, np.intp), logits)
    return _slopes(g, y, _totals(y, axis), axis, cells, at, logits.shape)


@one_call
def sparse_cross_entropy_with_slopes(g: Any, labels: Any, logits: Any) -> tuple[Any, Any]:
    """The losses, and their slopes: what `sparse_softmax_cross_entropy` and `sparse_cross_entropy_slopes` return.

    Parameters
    ----------
    g : array
        The gradients of the losses, in the shape of `labels`; with axes in front of these, several of each.
    labels, logits : array
        As of `sparse_softmax_cross_entropy`, which raises the same errors.

    Returns
    -------
    losses : array of the shape of `labels`
    slopes : array
        In the shape of `logits`, with the axes in front that `g` has.

    Examples
    --------
    >>> sparse_cross_entropy_with_slopes(np.ones(1), np.array([0]), np.array([[2.0, 2.0]]))
    (array([0.69314718]), array([[-0.5,  0.5]]))
    """
    labels, logits = _checked(labels, logits)
    y, axis, cells, at = _below_largest(labels, logits)
    chosen = cells[at]
    total = _totals(y, axis)
    losses = _losses(total, chosen, labels.shape)
    return losses, _slopes(g, y, total, axis, cells, at, logits.shape)


def _checked(labels: Any, logits: Any) -> tuple[Any, Any]:
    """Labels as an array of np.intp, and logits as one of real numbers."""
    name = "sparse_softmax_cross_entropy"
    labels = whole(labels, "labels of sparse_softmax_cross_entropy")
    logits = real_logits(logits, name)
    if not logits.ndim or labels.shape != logits.shape[:-1]:
        raise ShapeError(
            f"{name} of labels of shape {labels.shape} and logits of shape {logits.shape}: "
            "the labels' shape has to be that of the logits without the last axis, which counts the classes"
        )
    inside(labels, logits.shape[-1], "labels")
    return labels, logits


def _below_largest(labels: Any, logits: Any) -> tuple[Any, int, Any, Any]:
    """Logits minus the largest one of each example, as a new matrix; infinities equal to that are level with it.

    Parameters
    ----------
    labels : array of np.intp
    logits : array
        In the shape of `labels`, with one axis more: the classes.

    Returns
    -------
    y : matrix
        The classes come first if that is faster.
    axis : int
        That of the classes.
    cells : array
        `y`, or a view of it with a single axis.
    at : array, or tuple of two
        The places of the labels in `cells`.
    """
    count = labels.size
    if logits.ndim != 2:
        labels, logits = labels.reshape(count), logits.reshape(count, logits.shape[-1])
    rows = np.arange(count)
    if not is_short(logits, (1,)):
        top = np.maximum.reduce(logits, axis=1, keepdims=True, initial=-np.inf)
        with QUIET():
            y = logits - top
            if not isfinite(np.add.reduce(top, axis=None)):
                y[logits == top] = 0
        return y, 1, y, (rows, labels)
    x = logits.T.copy()
    top = np.maximum.reduce(x, axis=0)
    if top.item(top.argmin()) > -ORDINARY and top.item(top.argmax()) < ORDINARY:  # none is nan
        y = x - top
    else:
        with QUIET():
            y = x - top
        y[x == top] = 0
    return y, 0, y.reshape(-1), labels * count + rows


def _totals(y: Any, axis: int) -> Any:
    """The sum of the exponentials of each example; `y` is overwritten with the exponentials."""
    np.exp(y, out=y)
    return np.add.reduce(y, axis=axis)


def _losses(total: Any, chosen: Any, shape: Any) -> Any:
    """The logarithm of the total of each example, minus what the label has."""
    losses = np.log(total)
    losses -= chosen
    return plain(losses if losses.shape == shape else losses.reshape(shape))


def _slopes(g: Any, y: Any, total: Any, axis: int, cells: Any, at: Any, shape: Any) -> Any:
    """The slopes in logits of a shape; `y`, the exponentials, is overwritten."""
    y /= total[:, None] if axis else total
    cells[at] -= 1
    one_each = g.ndim == len(shape) - 1
    if one_each:
        y *= g.reshape(-1, 1) if axis else g.reshape(-1)
    slopes = y if axis else y.T
    slopes = slopes if slopes.shape == shape else slopes.reshape(shape)
    return slopes if one_each else g[..., None] * slopes
