"""The confusion matrix: how often each class was predicted for each label."""

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
    """Count how often each class was predicted for each label, like ``tf.math.confusion_matrix``.

    Parameters
    ----------
    labels : array_like of int
        The numbers of the right classes, of shape (examples,) or (examples, 1).
    predictions : array_like of int
        The numbers of the predicted classes, such as ``np.argmax(y_pred, axis=-1)``, in the same shape.
    num_classes : int, optional
        The number of classes, by default one more than the largest number in `labels` and `predictions`.
    weights : array_like, optional
        The weight of each example. For fractions, pass ``dtype=float``.
    dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    numpy.ndarray
        The row is the label, the column the prediction.

    Raises
    ------
    DtypeError
        If a weight doesn't fit into `dtype`.
    OptionError
        If a number is negative, or not smaller than `num_classes`.
    ShapeError
        If the shapes differ, or have more than one axis.
    UnsupportedArgumentError
        If labels or predictions aren't integers.

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
            f"labels of the shape {rows.shape} and predictions of the shape {columns.shape}: pass one class number for "
            "each example, such as np.argmax(y_pred, axis=-1)"
        )
    largest = max(np.max(rows, initial=-1), np.max(columns, initial=-1))
    size = int(largest) + 1 if num_classes is None else count(num_classes, "num_classes")
    for numbers, what in ((rows, "label"), (columns, "prediction")):
        wrong = (numbers < 0) | (numbers >= size)
        if np.any(wrong):
            raise OptionError(
                f"the {what} {numbers[wrong].flat[0]} isn't one of {size} classes, which are 0 to {size - 1}"
            )
    # One flat index for each pair (label, prediction), so that bincount counts the pairs.
    places = rows * size + columns
    if weights is None:
        matrix = np.bincount(places, minlength=size * size)
    else:
        example_weights = cast_exactly(as_array(operand(weights)), dtype)
        if example_weights.ndim and example_weights.shape != rows.shape:
            raise ShapeError(
                f"weights of the shape {example_weights.shape} don't fit labels of the shape {rows.shape}: pass one "
                "for each label"
            )
        matrix = np.bincount(places, np.broadcast_to(example_weights, rows.shape), size * size)
    return matrix.reshape(size, size).astype(dtype)


def _numbers(classes: Any, what: str) -> Any:
    """Return class numbers as integers, without a last axis of length 1."""
    numbers = integers(operand(classes), what)
    return numbers[:, 0] if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers
