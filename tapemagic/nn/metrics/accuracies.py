"""Accuracies: the share of predictions that are right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.constant import constant
from tapemagic.errors import ShapeError
from tapemagic.nn.arguments import number, positive
from tapemagic.nn.config import floatx
from tapemagic.nn.losses.arguments import class_numbers, pair
from tapemagic.nn.metrics.reduction import MeanMetricWrapper, numbers


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where a prediction is the target, 0 elsewhere.

    Returns
    -------
    Tensor
        Of their shape, in `nn.config.floatx`.

    Examples
    --------
    >>> from tapemagic.nn.metrics.accuracies import accuracy
    >>> accuracy([1, 2, 3], [1, 2, 0])
    Tensor([1., 1., 0.], dtype=float32)
    """
    y_true, y_pred = map(numbers, pair(y_true, y_pred))
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
    """1 where a prediction is on the side of a threshold that its target, 0 or 1, tells; 0 elsewhere.

    Parameters
    ----------
    threshold : float, optional
        A larger prediction stands for 1; with logits, take 0.

    Returns
    -------
    Tensor
        Of their shape, in `nn.config.floatx`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.binary_accuracy([1, 1, 0], [0.6, 0.5, 0.2])
    Tensor([1., 0., 1.], dtype=float32)
    """
    y_true, y_pred = map(numbers, pair(y_true, y_pred))
    return _as_float((y_pred > number(threshold, "threshold")) == y_true)


class BinaryAccuracy(MeanMetricWrapper):
    """The share of predictions on the right side of a threshold.

    Parameters
    ----------
    name, dtype : optional
        See `Metric`.
    threshold : float, optional
        A larger prediction stands for 1; with logits, take 0.

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
    """1 where the largest prediction is at the largest target, 0 elsewhere.

    Parameters
    ----------
    y_true, y_pred : array_like
        Of one shape (..., classes): a probability or a 1 for each class, and predictions or logits.

    Returns
    -------
    Tensor
        Of shape (...), in `nn.config.floatx`. Of equal predictions the first one counts; where one is
        NaN, none does.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.3, 0.7], [0.3, 0.7]])
    Tensor([1., 0.], dtype=float32)
    """
    y_true, y_pred = _one_hot_pair(y_true, y_pred)
    return _as_float(np.argmax(y_true, axis=-1) == _largest(y_pred))


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
    """1 where the largest prediction is at the label, 0 elsewhere.

    Parameters
    ----------
    y_true : array_like of int
        The number of the class of each example, of shape (...) or (..., 1).
    y_pred : array_like
        Predictions or logits, of shape (..., classes).

    Returns
    -------
    Tensor
        Of shape (...), in `nn.config.floatx`. Of equal predictions the first one counts; where one is
        NaN, none does.

    Raises
    ------
    OptionError
        If a label is no whole number.
    ShapeError
        If there is not one label for each example.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.sparse_categorical_accuracy([1, 0], [[0.3, 0.7], [0.3, 0.7]])
    Tensor([1., 0.], dtype=float32)
    """
    y_pred = numbers(y_pred)
    right = class_numbers(y_true, y_pred) == _largest(y_pred)
    return _as_float(right[..., 0] if right.ndim > 1 and right.shape[-1] == 1 else right)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """The share of right predictions, for labels that are numbers of classes.

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
    """1 where the prediction at the largest target is among the `k` largest, 0 elsewhere.

    Parameters
    ----------
    y_true, y_pred : array_like
        Of one shape (..., classes).
    k : int, optional

    Returns
    -------
    Tensor
        Of shape (...), in `nn.config.floatx`. A prediction counts if fewer than `k` are larger.

    Raises
    ------
    OptionError
        If `k` is no positive whole number.
    ShapeError
        If their shapes differ.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.top_k_categorical_accuracy([[0, 1, 0]], [[0.5, 0.3, 0.2]], k=2)
    Tensor([1.], dtype=float32)
    """
    y_true, y_pred = _one_hot_pair(y_true, y_pred)
    return _as_float(_in_top_k(np.argmax(y_true, axis=-1), y_pred, k))


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """The share of predictions with the right class among the `k` largest, for targets with a number for each class.

    Parameters
    ----------
    k : int, optional
    name, dtype : optional
        See `Metric`.

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
    """1 where the prediction at the label is among the `k` largest, 0 elsewhere.

    Parameters
    ----------
    y_true : array_like of int
        The number of the class of each example, of shape (...) or (..., 1).
    y_pred : array_like
        Predictions or logits, of shape (..., classes).
    k : int, optional
    from_sorted_ids : bool, optional
        Whether `y_pred` are numbers of classes instead, the most probable first.

    Returns
    -------
    Tensor
        Of shape (...), in `nn.config.floatx`. A prediction counts if fewer than `k` are larger.

    Raises
    ------
    OptionError
        If `k` is no positive whole number, or a label no whole number.
    ShapeError
        If there is not one label for each example.

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
    """The share of predictions with the right class among the `k` largest, for labels that are numbers of classes.

    Parameters
    ----------
    k : int, optional
    name, dtype : optional
        See `Metric`.
    from_sorted_ids : bool, optional
        Whether predictions are numbers of classes, the most probable first.

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


def _largest(y_pred: Any) -> Any:
    """The place of the largest prediction of each example; -1 where one is NaN."""
    places = np.argmax(y_pred, axis=-1)
    unknown = np.isnan(np.max(y_pred, axis=-1))
    return np.where(unknown, -1, places) if unknown.any() else places


def _one_hot_pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Targets and predictions for each class, as arrays of one shape."""
    y_true, y_pred = numbers(y_true), numbers(y_pred)
    if y_true.shape != y_pred.shape or not y_pred.ndim or not y_pred.shape[-1]:
        advice = "give a number for each class, in the shape of the predictions"
        if y_true.shape == y_pred.shape[:-1] or y_true.shape[-1:] == (1,):
            advice = "for labels that are numbers of classes there is SparseCategoricalAccuracy"
        raise ShapeError(
            f"targets of the shape {y_true.shape} and predictions of the shape {y_pred.shape}: {advice}"
        )
    return y_true, y_pred


def _in_top_k(labels: Any, y_pred: Any, k: int) -> Any:
    """Whether fewer than `k` predictions are larger than that of the label; not where one is NaN."""
    classes = y_pred.shape[-1]
    is_class = (labels >= 0) & (labels < classes)
    chosen = np.take_along_axis(y_pred, np.where(is_class, labels, 0)[..., None], axis=-1)
    larger = np.sum(y_pred > chosen, axis=-1)
    return (
        is_class
        & (larger < positive(k, "k of top-k accuracy"))
        & ~np.any(np.isnan(y_pred), axis=-1)
    )
