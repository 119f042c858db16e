"""Metrics: numbers over many batches that tell how good predictions are. Tapes record nothing of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.identifiers import find, snake_case
from tapemagic.nn.losses import (
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_hinge,
    hinge,
    huber,
    kl_divergence,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from tapemagic.nn.losses.arguments import kind_of_targets
from tapemagic.nn.metrics.accuracies import (
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from tapemagic.nn.metrics.auc import (
    AUC,
)
from tapemagic.nn.metrics.confusion_matrix import (
    confusion_matrix,
)
from tapemagic.nn.metrics.decisions import (
    FalseNegatives,
    FalsePositives,
    Precision,
    Recall,
    TrueNegatives,
    TruePositives,
)
from tapemagic.nn.metrics.f_score import (
    F1Score,
    FBetaScore,
)
from tapemagic.nn.metrics.metric import (
    Metric,
)
from tapemagic.nn.metrics.of_losses import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
)
from tapemagic.nn.metrics.operating_points import (
    PrecisionAtRecall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
)
from tapemagic.nn.metrics.reduction import (
    Mean,
    MeanMetricWrapper,
    Sum,
)
from tapemagic.nn.metrics.regression import (
    R2Score,
    RootMeanSquaredError,
)

__all__ = [
    "AUC",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "Hinge",
    "KLDivergence",
    "LogCoshError",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "Poisson",
    "Precision",
    "PrecisionAtRecall",
    "R2Score",
    "Recall",
    "RecallAtPrecision",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SpecificityAtSensitivity",
    "SquaredHinge",
    "Sum",
    "TopKCategoricalAccuracy",
    "TrueNegatives",
    "TruePositives",
    "binary_accuracy",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_accuracy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "confusion_matrix",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "log_cosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "poisson",
    "sparse_categorical_accuracy",
    "sparse_categorical_crossentropy",
    "sparse_top_k_categorical_accuracy",
    "squared_hinge",
    "top_k_categorical_accuracy",
]

_CLASSES = (
    AUC,
    Accuracy,
    BinaryAccuracy,
    BinaryCrossentropy,
    CategoricalAccuracy,
    CategoricalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    F1Score,
    FBetaScore,
    FalseNegatives,
    FalsePositives,
    Hinge,
    KLDivergence,
    LogCoshError,
    Mean,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    Precision,
    PrecisionAtRecall,
    R2Score,
    Recall,
    RecallAtPrecision,
    RootMeanSquaredError,
    SensitivityAtSpecificity,
    SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy,
    SpecificityAtSensitivity,
    SquaredHinge,
    Sum,
    TopKCategoricalAccuracy,
    TrueNegatives,
    TruePositives,
)
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
