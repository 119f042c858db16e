"""Metrics: numbers over many batches that tell how good predictions are. Tapes record nothing of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.identifiers import find, snake_case
from tapemagic.nn.losses.arguments import kind_of_targets
from tapemagic.nn.metrics.accuracies import Accuracy as Accuracy
from tapemagic.nn.metrics.accuracies import BinaryAccuracy as BinaryAccuracy
from tapemagic.nn.metrics.accuracies import CategoricalAccuracy as CategoricalAccuracy
from tapemagic.nn.metrics.accuracies import SparseCategoricalAccuracy as SparseCategoricalAccuracy
from tapemagic.nn.metrics.accuracies import (
    SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy,
)
from tapemagic.nn.metrics.accuracies import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from tapemagic.nn.metrics.accuracies import binary_accuracy as binary_accuracy
from tapemagic.nn.metrics.accuracies import categorical_accuracy as categorical_accuracy
from tapemagic.nn.metrics.accuracies import (
    sparse_categorical_accuracy as sparse_categorical_accuracy,
)
from tapemagic.nn.metrics.accuracies import (
    sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy,
)
from tapemagic.nn.metrics.accuracies import top_k_categorical_accuracy as top_k_categorical_accuracy
from tapemagic.nn.metrics.metric import Metric as Metric
from tapemagic.nn.metrics.reduction import Mean as Mean
from tapemagic.nn.metrics.reduction import MeanMetricWrapper as MeanMetricWrapper
from tapemagic.nn.metrics.reduction import Sum as Sum

_CLASSES = {
    name: kind
    for name, kind in globals().items()
    if isinstance(kind, type) and issubclass(kind, Metric)
}
_TABLE: dict[str, Any] = _CLASSES | {snake_case(name): kind for name, kind in _CLASSES.items()}


def get(identifier: Any) -> Any:
    """The metric for a name, a class, an object or a function; None for None.

    Raises
    ------
    OptionError
        If there is none of that name.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.get("sparse_categorical_accuracy")
    <SparseCategoricalAccuracy name=sparse_categorical_accuracy>
    """
    return None if identifier is None else find(identifier, _TABLE, "a metric")


def get_for(identifier: Any, y_true: Any, y_pred: Any) -> Metric:
    """The metric for a name in `compile`, where "accuracy" and "acc" are chosen by the shapes of the data.

    Parameters
    ----------
    identifier : str, callable or Metric
    y_true, y_pred : array_like
        A batch of targets and predictions.

    Returns
    -------
    Metric
        A function is wrapped in `MeanMetricWrapper`. "accuracy" is `BinaryAccuracy` for one output,
        `SparseCategoricalAccuracy` for labels that are numbers of classes, and else `CategoricalAccuracy`. The name is
        the text, if it is one.

    Raises
    ------
    OptionError
        If there is none of that name.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> get_for("accuracy", np.zeros(4), np.zeros((4, 10)))
    <SparseCategoricalAccuracy name=accuracy>
    """
    if isinstance(identifier, str) and identifier.lower() in {"accuracy", "acc"}:
        kind = kind_of_targets(np.shape(y_true), np.shape(y_pred))
        return _ACCURACIES[kind](name=identifier)  # type: ignore[no-any-return]
    metric = get(identifier)
    if not isinstance(metric, Metric):
        metric = MeanMetricWrapper(metric)
    if isinstance(identifier, str):
        metric.name = identifier
    return metric  # type: ignore[no-any-return]


_ACCURACIES: dict[str, Any] = {
    "binary": BinaryAccuracy,
    "sparse": SparseCategoricalAccuracy,
    "categorical": CategoricalAccuracy,
}


__all__ = [
    name
    for name, value in globals().items()
    if name[0] != "_" and getattr(value, "__module__", "").startswith(__name__)
]
