"""Accuracies: the shares of predictions that are right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.constant import constant
from tapemagic.errors import ShapeError
from tapemagic.nn.arguments import number, positive
from tapemagic.nn.config import floatx
from tapemagic.nn.losses.arguments import class_numbers, matching_pair
from tapemagic.nn.metrics.reduction import MeanMetricWrapper, numbers


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return 1 where a prediction equals its target, 0 elsewhere.

    Examples
    --------
    >>> from tapemagic.nn.metrics.accuracies import accuracy
    >>> accuracy([1, 2, 3], [1, 2, 0])
    Tensor([1., 1., 0.], dtype=float32)
    """
    y_true, y_pred = map(numbers, matching_pair(y_true, y_pred))
    return _as_float(y_true == y_pred)


class Accuracy(MeanMetricWrapper):
    """The share of predictions that are equal to their targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.Accuracy()([1, 2, 3, 4], [1, 2, 3, 0])
    Tensor(0.75, dtype=float32)
    """

    def __init__(self, name: str = "accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(accuracy, name, dtype)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Return 1 where a prediction is on the right side of a threshold for its target of 0 or 1, 0 elsewhere.

    Parameters
    ----------
    threshold : float, optional
        Larger predictions mean 1. For logits, use 0.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.binary_accuracy([1, 1, 0], [0.6, 0.5, 0.2])
    Tensor([1., 0., 1.], dtype=float32)
    """
    y_true, y_pred = map(numbers, matching_pair(y_true, y_pred))
    # Keras's comparison: a prediction equal to the threshold counts as 0.
    return _as_float((y_pred > number(threshold, "threshold")) == y_true)


class BinaryAccuracy(MeanMetricWrapper):
    """The share of predictions on the right side of a threshold.

    Parameters
    ----------
    threshold : float, optional, see `binary_accuracy`

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.BinaryAccuracy()([1, 1, 0, 0], [0.6, 0.5, 0.2, 0.1])
    Tensor(0.75, dtype=float32)
    """

    def __init__(
        self,
        name: str = "binary_accuracy",
        dtype: DTypeLike | None = None,
        threshold: float = 0.5,
    ) -> None:
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return 1 where the class with the largest prediction has the largest target, 0 elsewhere.

    Of equal predictions the first one counts; examples with a NaN prediction or target are wrong.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.3, 0.7], [0.3, 0.7]])
    Tensor([1., 0.], dtype=float32)
    """
    y_true, y_pred = _one_hot_pair(y_true, y_pred)
    labels = _largest(y_true)
    return _as_float((labels == _largest(y_pred)) & (labels >= 0))


class CategoricalAccuracy(MeanMetricWrapper):
    """The share of right predictions, for targets with a number for each class.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.CategoricalAccuracy()([[0, 1], [1, 0]], [[0.3, 0.7], [0.3, 0.7]])
    Tensor(0.5, dtype=float32)
    """

    def __init__(self, name: str = "categorical_accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(categorical_accuracy, name, dtype)


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return 1 where the class with the largest prediction is the label, 0 elsewhere.

    Labels are class numbers of shape (...) or (..., 1). Of equal predictions the first one counts; examples with a NaN
    prediction are wrong.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.sparse_categorical_accuracy([1, 0], [[0.3, 0.7], [0.3, 0.7]])
    Tensor([1., 0.], dtype=float32)
    """
    y_pred = numbers(y_pred)
    # Keras drops a last axis of length 1 of the result, as for sequences of one step.
    right = class_numbers(y_true, y_pred) == _largest(y_pred)
    return _as_float(right[..., 0] if right.ndim > 1 and right.shape[-1] == 1 else right)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """The share of right predictions, for class numbers as labels.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.SparseCategoricalAccuracy()([1, 0], [[0.3, 0.7], [0.3, 0.7]])
    Tensor(0.5, dtype=float32)
    """

    def __init__(
        self, name: str = "sparse_categorical_accuracy", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype)


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return 1 where fewer than `k` predictions exceed the prediction for the largest target, 0 elsewhere.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.top_k_categorical_accuracy([[0, 1, 0]], [[0.5, 0.3, 0.2]], k=2)
    Tensor([1.], dtype=float32)
    """
    y_true, y_pred = _one_hot_pair(y_true, y_pred)
    return _as_float(_in_top_k(_largest(y_true), y_pred, k))


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """The share of predictions with the right class among the `k` largest, for targets with a number for each class.

    Parameters
    ----------
    k : int, optional

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.TopKCategoricalAccuracy(k=2)([[0, 1, 0]], [[0.5, 0.3, 0.2]])
    Tensor(1.0, dtype=float32)
    """

    def __init__(
        self,
        k: int = 5,
        name: str = "top_k_categorical_accuracy",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


def sparse_top_k_categorical_accuracy(
    y_true: Any, y_pred: Any, k: int = 5, from_sorted_ids: bool = False
) -> Any:
    """Return 1 where fewer than `k` predictions exceed the prediction for the label, 0 elsewhere.

    Parameters
    ----------
    y_true : array_like of int
        Class numbers, of shape (...) or (..., 1).
    y_pred : array_like
    k : int, optional
    from_sorted_ids : bool, optional
        True if `y_pred` holds class numbers, the most probable first.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.sparse_top_k_categorical_accuracy([1, 2], [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], k=2)
    Tensor([1., 0.], dtype=float32)
    """
    y_pred = numbers(y_pred)
    labels = class_numbers(y_true, y_pred)
    if from_sorted_ids:
        return _as_float(
            np.any(labels[..., None] == y_pred[..., : positive(k, "k of top-k accuracy")], axis=-1)
        )
    return _as_float(_in_top_k(labels, y_pred, k))


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """The share of predictions with the right class among the `k` largest, for class numbers as labels.

    Parameters
    ----------
    k, from_sorted_ids : optional, see `sparse_top_k_categorical_accuracy`

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.SparseTopKCategoricalAccuracy(k=2)([1, 2], [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    Tensor(0.5, dtype=float32)
    """

    def __init__(
        self,
        k: int = 5,
        name: str = "sparse_top_k_categorical_accuracy",
        dtype: DTypeLike | None = None,
        from_sorted_ids: bool = False,
    ) -> None:
        super().__init__(
            sparse_top_k_categorical_accuracy, name, dtype, k=k, from_sorted_ids=from_sorted_ids
        )


def _as_float(right: Any) -> Any:
    return constant(right, floatx())


def _largest(numbers: Any) -> Any:
    """Return the class with the largest number of each example, or -1 for examples with NaN."""
    # np.argmax returns the position of the first NaN, which would count as a right prediction for that class.
    places = np.argmax(numbers, axis=-1)
    unknown = np.isnan(np.max(numbers, axis=-1))
    return np.where(unknown, -1, places) if unknown.any() else places


def _one_hot_pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return targets and predictions with a number for each class, as arrays of equal shape."""
    y_true, y_pred = numbers(y_true), numbers(y_pred)
    if y_true.shape != y_pred.shape or not y_pred.ndim or not y_pred.shape[-1]:
        advice = "pass a number for each class, in the shape of the predictions"
        if y_true.shape == y_pred.shape[:-1] or y_true.shape[-1:] == (1,):
            advice = "for class numbers as labels there is SparseCategoricalAccuracy"
        raise ShapeError(
            f"targets of the shape {y_true.shape} and predictions of the shape {y_pred.shape}: {advice}"
        )
    return y_true, y_pred


def _in_top_k(labels: Any, y_pred: Any, k: int) -> Any:
    """Return True where fewer than `k` predictions exceed the prediction for the label, and none is NaN."""
    # Counting larger predictions, as TensorFlow's in_top_k does, lets ties count as right, unlike a sorted top k.
    classes = y_pred.shape[-1]
    is_class = (labels >= 0) & (labels < classes)
    chosen = np.take_along_axis(y_pred, np.where(is_class, labels, 0)[..., None], axis=-1)
    larger = np.sum(y_pred > chosen, axis=-1)
    return (
        is_class
        & (larger < positive(k, "k of top-k accuracy"))
        & ~np.any(np.isnan(y_pred), axis=-1)
    )
