"""The confusion matrix: how often each class was taken for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.common import count, integers, operand
from tapemagic.engine.tensor.coercion import cast_exactly
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.conversions import as_array


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: int | None = None,
    weights: Any = None,
    dtype: DTypeLike = np.int32,
) -> Any:
    """The number of times that each class was taken for each.

    Parameters
    ----------
    labels : array_like of int
        The numbers of the right classes, of shape (examples,), or with an axis of length 1 at the end.
    predictions : array_like of int
        The numbers of the predicted classes, such as ``np.argmax(y_pred, axis=-1)``, in the same shape.
    num_classes : int, optional
        The number of classes. Left out, one more than the largest number in `labels` and `predictions`.
    weights : array_like, optional
        How much each example counts; for fractions, give ``dtype=float``.
    dtype : dtype, optional
        Of the result.

    Returns
    -------
    numpy.ndarray
        Of shape (classes, classes): the row is the label, the column the prediction.

    Raises
    ------
    DtypeError
        If a weight does not fit into `dtype`.
    OptionError
        If a number is negative, or not smaller than `num_classes`.
    ShapeError
        If the shapes differ, or have more than one axis.
    UnsupportedArgumentError
        If labels or predictions are not whole numbers.

    Notes
    -----
    The same as ``tf.math.confusion_matrix``.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.confusion_matrix([1, 2, 2], [1, 2, 0])
    array([[0, 0, 0],
           [0, 1, 0],
           [1, 0, 1]], dtype=int32)
    """
    rows = _numbers(labels, "labels of a confusion matrix")
    columns = _numbers(predictions, "predictions of a confusion matrix")
    if rows.shape != columns.shape or rows.ndim != 1:
        raise ShapeError(
            f"labels of the shape {rows.shape} and predictions of the shape {columns.shape}: give one number of a "
            "class for each example, such as np.argmax(y_pred, axis=-1)"
        )
    largest = max(np.max(rows, initial=-1), np.max(columns, initial=-1))
    size = int(largest) + 1 if num_classes is None else count(num_classes, "num_classes")
    for numbers, what in ((rows, "label"), (columns, "prediction")):
        wrong = (numbers < 0) | (numbers >= size)
        if np.any(wrong):
            raise OptionError(
                f"the {what} {numbers[wrong].flat[0]} is not one of {size} classes, whose numbers are from 0 to "
                f"{size - 1}"
            )
    places = rows * size + columns
    if weights is None:
        found = np.bincount(places, minlength=size * size)
    else:
        given = cast_exactly(as_array(operand(weights)), dtype)
        if given.ndim and given.shape != rows.shape:
            raise ShapeError(
                f"weights of the shape {given.shape} do not fit labels of the shape {rows.shape}: give one for each"
            )
        found = np.bincount(places, np.broadcast_to(given, rows.shape), size * size)
    return found.reshape(size, size).astype(dtype)


def _numbers(classes: Any, what: str) -> Any:
    """Numbers of classes, without an axis of length 1 at the end."""
    given = integers(operand(classes), what)
    return given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
