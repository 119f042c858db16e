"""Metrics: numbers that rate predictions over many batches, and aren't recorded by tapes.

All metric functions share these arguments and errors:

- `y_true`: the targets, an array_like of the shape of the predictions, except for a last axis of length 1.
- `y_pred`: the predictions or logits, an array_like of shape (...) or (..., classes).
- The result is a Tensor of shape (...) in the dtype `nn.config.floatx`, such as 1 for right and 0 for wrong.
- ShapeError: if the shapes differ. OptionError: if an option or label has a value that the function doesn't accept.

Each class, such as `BinaryAccuracy`, is the mean of the function of its name, `binary_accuracy`, over all batches, and
takes the function's options.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.nn.identifiers import find, snake_case
from tapemagic.nn.losses import binary_crossentropy as binary_crossentropy
from tapemagic.nn.losses import binary_focal_crossentropy as binary_focal_crossentropy
from tapemagic.nn.losses import categorical_crossentropy as categorical_crossentropy
from tapemagic.nn.losses import categorical_focal_crossentropy as categorical_focal_crossentropy
from tapemagic.nn.losses import categorical_hinge as categorical_hinge
from tapemagic.nn.losses import hinge as hinge
from tapemagic.nn.losses import huber as huber
from tapemagic.nn.losses import kl_divergence as kl_divergence
from tapemagic.nn.losses import log_cosh as log_cosh
from tapemagic.nn.losses import mean_absolute_error as mean_absolute_error
from tapemagic.nn.losses import mean_absolute_percentage_error as mean_absolute_percentage_error
from tapemagic.nn.losses import mean_squared_error as mean_squared_error
from tapemagic.nn.losses import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from tapemagic.nn.losses import poisson as poisson
from tapemagic.nn.losses import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from tapemagic.nn.losses import squared_hinge as squared_hinge
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
from tapemagic.nn.metrics.auc import AUC as AUC
from tapemagic.nn.metrics.confusion_matrix import confusion_matrix as confusion_matrix
from tapemagic.nn.metrics.decisions import FalseNegatives as FalseNegatives
from tapemagic.nn.metrics.decisions import FalsePositives as FalsePositives
from tapemagic.nn.metrics.decisions import Precision as Precision
from tapemagic.nn.metrics.decisions import Recall as Recall
from tapemagic.nn.metrics.decisions import TrueNegatives as TrueNegatives
from tapemagic.nn.metrics.decisions import TruePositives as TruePositives
from tapemagic.nn.metrics.f_score import F1Score as F1Score
from tapemagic.nn.metrics.f_score import FBetaScore as FBetaScore
from tapemagic.nn.metrics.intersections import BinaryIoU as BinaryIoU
from tapemagic.nn.metrics.intersections import IoU as IoU
from tapemagic.nn.metrics.intersections import MeanIoU as MeanIoU
from tapemagic.nn.metrics.intersections import OneHotIoU as OneHotIoU
from tapemagic.nn.metrics.intersections import OneHotMeanIoU as OneHotMeanIoU
from tapemagic.nn.metrics.metric import Metric as Metric
from tapemagic.nn.metrics.of_losses import BinaryCrossentropy as BinaryCrossentropy
from tapemagic.nn.metrics.of_losses import CategoricalCrossentropy as CategoricalCrossentropy
from tapemagic.nn.metrics.of_losses import CategoricalHinge as CategoricalHinge
from tapemagic.nn.metrics.of_losses import CosineSimilarity as CosineSimilarity
from tapemagic.nn.metrics.of_losses import Hinge as Hinge
from tapemagic.nn.metrics.of_losses import KLDivergence as KLDivergence
from tapemagic.nn.metrics.of_losses import LogCoshError as LogCoshError
from tapemagic.nn.metrics.of_losses import MeanAbsoluteError as MeanAbsoluteError
from tapemagic.nn.metrics.of_losses import (
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
)
from tapemagic.nn.metrics.of_losses import MeanSquaredError as MeanSquaredError
from tapemagic.nn.metrics.of_losses import (
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
)
from tapemagic.nn.metrics.of_losses import Poisson as Poisson
from tapemagic.nn.metrics.of_losses import (
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
)
from tapemagic.nn.metrics.of_losses import SquaredHinge as SquaredHinge
from tapemagic.nn.metrics.operating_points import PrecisionAtRecall as PrecisionAtRecall
from tapemagic.nn.metrics.operating_points import RecallAtPrecision as RecallAtPrecision
from tapemagic.nn.metrics.operating_points import (
    SensitivityAtSpecificity as SensitivityAtSpecificity,
)
from tapemagic.nn.metrics.operating_points import (
    SpecificityAtSensitivity as SpecificityAtSensitivity,
)
from tapemagic.nn.metrics.reduction import Mean as Mean
from tapemagic.nn.metrics.reduction import MeanMetricWrapper as MeanMetricWrapper
from tapemagic.nn.metrics.reduction import Sum as Sum
from tapemagic.nn.metrics.regression import ConcordanceCorrelation as ConcordanceCorrelation
from tapemagic.nn.metrics.regression import PearsonCorrelation as PearsonCorrelation
from tapemagic.nn.metrics.regression import R2Score as R2Score
from tapemagic.nn.metrics.regression import RootMeanSquaredError as RootMeanSquaredError
from tapemagic.nn.metrics.regression import concordance_correlation as concordance_correlation
from tapemagic.nn.metrics.regression import pearson_correlation as pearson_correlation

# All metrics that have a name for `compile`; the base class and the wrapper need arguments.
_CLASSES = [
    value
    for value in vars().values()
    if isinstance(value, type)
    and issubclass(value, Metric)
    and value not in {Metric, MeanMetricWrapper}
]
_CLASSES.sort(key=lambda kind: (not kind.__name__.isupper(), kind.__name__))
if not TYPE_CHECKING:  # as in `nn.layers`
    __all__ = ["MeanMetricWrapper", "Metric", "get"]
    __all__ += [kind.__name__ for kind in _CLASSES]
    __all__ += [
        name
        for name, value in vars().items()
        if isinstance(value, FunctionType) and name not in {"find", "snake_case", "kind_of_targets"}
    ]

_TABLE: dict[str, Any] = {
    **{kind.__name__: kind for kind in _CLASSES},
    **{snake_case(kind.__name__): kind for kind in _CLASSES},
    **dict.fromkeys(("bce", "BCE"), BinaryCrossentropy),
    **dict.fromkeys(("mse", "MSE"), MeanSquaredError),
    **dict.fromkeys(("mae", "MAE"), MeanAbsoluteError),
    **dict.fromkeys(("mape", "MAPE"), MeanAbsolutePercentageError),
    **dict.fromkeys(("msle", "MSLE"), MeanSquaredLogarithmicError),
}


def get(identifier: Any) -> Any:
    """Look up the metric for `identifier`: a name, a class, an object or a function. None stays None here.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.get("sparse_categorical_accuracy")
    <SparseCategoricalAccuracy name=sparse_categorical_accuracy>
    """
    return None if identifier is None else find(identifier, _TABLE, "a metric")


def get_for(identifier: Any, y_true: Any, y_pred: Any) -> Metric:
    """Return the metric for an identifier in `compile`, where the data selects the kind of "accuracy" or "acc".

    "accuracy" is `BinaryAccuracy` for one output, `SparseCategoricalAccuracy` for class numbers as labels, and
    `CategoricalAccuracy` otherwise. A function is wrapped in `MeanMetricWrapper`. A string becomes the metric's name.

    Parameters
    ----------
    identifier : str, callable or Metric
    y_true, y_pred : array_like
        A batch of targets and predictions.

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
    # Keras names results after the string in compile: "mse", not "mean_squared_error".
    if isinstance(identifier, str):
        metric.name = identifier
    return metric  # type: ignore[no-any-return]


_ACCURACIES: dict[str, Any] = {
    "binary": BinaryAccuracy,
    "sparse": SparseCategoricalAccuracy,
    "categorical": CategoricalAccuracy,
}
