"""Metrics that are the means of loss functions; see `nn.losses` for the formulas and `Metric` for the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.losses.arguments import class_numbers
from tapemagic.nn.losses.binary import binary_crossentropy
from tapemagic.nn.losses.categorical import (
    categorical_crossentropy,
    sparse_categorical_crossentropy,
)
from tapemagic.nn.losses.distributions import kl_divergence, poisson
from tapemagic.nn.losses.hinges import categorical_hinge, hinge, squared_hinge
from tapemagic.nn.losses.reduction import weighted
from tapemagic.nn.losses.regression import (
    cosine_similarity,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
)
from tapemagic.nn.metrics.reduction import MeanMetricWrapper


class MeanSquaredError(MeanMetricWrapper):
    """The mean of the squared differences.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.MeanSquaredError()([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [3.0, 0.0]])), 4)
    2.5
    """

    def __init__(self, name: str = "mean_squared_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(mean_squared_error, name, dtype)


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of the absolute differences.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.MeanAbsoluteError()([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [3.0, 0.0]])), 4)
    1.0
    """

    def __init__(self, name: str = "mean_absolute_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(mean_absolute_error, name, dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean of the absolute differences in percent of the targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.MeanAbsolutePercentageError()([[1.0, 2.0]], [[2.0, 2.0]])), 4)
    50.0
    """

    def __init__(
        self, name: str = "mean_absolute_percentage_error", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(mean_absolute_percentage_error, name, dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of ``(log(y_true + 1) - log(y_pred + 1))**2``.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.MeanSquaredLogarithmicError()([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [3.0, 0.0]])), 4)
    0.6006
    """

    def __init__(
        self, name: str = "mean_squared_logarithmic_error", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(mean_squared_logarithmic_error, name, dtype)


class LogCoshError(MeanMetricWrapper):
    """The mean of the logarithm of the hyperbolic cosine of the differences.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.LogCoshError()([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [3.0, 0.0]])), 4)
    0.6858
    """

    def __init__(self, name: str = "logcosh", dtype: DTypeLike | None = None) -> None:
        super().__init__(log_cosh, name, dtype)


# Keras's metric is the cosine itself, which is 1 for equal directions, and its loss minus the cosine.
def _cosine(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    return -cosine_similarity(y_true, y_pred, axis)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between targets and predictions, which is minus the loss of this name.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.CosineSimilarity()([[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]])), 4)
    0.5
    """

    def __init__(
        self, name: str = "cosine_similarity", dtype: DTypeLike | None = None, axis: int = -1
    ) -> None:
        super().__init__(_cosine, name, dtype, axis=axis)


class Hinge(MeanMetricWrapper):
    """The mean of the hinge loss.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.Hinge()([[0, 1]], [[0.5, 0.5]])), 4)
    1.0
    """

    def __init__(self, name: str = "hinge", dtype: DTypeLike | None = None) -> None:
        super().__init__(hinge, name, dtype)


class SquaredHinge(MeanMetricWrapper):
    """The mean of the squared hinge loss.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.SquaredHinge()([[0, 1]], [[0.5, 0.5]])), 4)
    1.25
    """

    def __init__(self, name: str = "squared_hinge", dtype: DTypeLike | None = None) -> None:
        super().__init__(squared_hinge, name, dtype)


class CategoricalHinge(MeanMetricWrapper):
    """The mean of the categorical hinge loss.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.CategoricalHinge()([[0, 1, 0]], [[0.5, 0.75, 0.0]])), 4)
    0.75
    """

    def __init__(self, name: str = "categorical_hinge", dtype: DTypeLike | None = None) -> None:
        super().__init__(categorical_hinge, name, dtype)


class KLDivergence(MeanMetricWrapper):
    """The mean of the Kullback-Leibler divergence of the predicted from the target probabilities.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.KLDivergence()([[0.5, 0.5]], [[0.25, 0.75]])), 4)
    0.1438
    """

    def __init__(self, name: str = "kl_divergence", dtype: DTypeLike | None = None) -> None:
        super().__init__(kl_divergence, name, dtype)


class Poisson(MeanMetricWrapper):
    """The mean of ``y_pred - y_true * log(y_pred)``.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.Poisson()([[1.0, 1.0]], [[1.0, 2.0]])), 4)
    1.1534
    """

    def __init__(self, name: str = "poisson", dtype: DTypeLike | None = None) -> None:
        super().__init__(poisson, name, dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean of the cross-entropy between targets of 0 or 1 and predicted probabilities of 1.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.BinaryCrossentropy()([[1], [0]], [[0.5], [0.5]])), 4)
    0.6931
    """

    def __init__(
        self,
        name: str = "binary_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(
            binary_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean of the cross-entropy between target and predicted probabilities of classes.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.CategoricalCrossentropy()([[0, 1], [1, 0]], [[0.5, 0.5], [0.25, 0.75]])), 4)
    1.0397
    """

    def __init__(
        self,
        name: str = "categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
    ) -> None:
        super().__init__(
            categorical_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean of minus the logarithm of the predicted probability of each label.

    Parameters
    ----------
    ignore_class : int, optional
        A label whose examples are ignored, as in the loss. Keras counts them as 0 if there are no sample weights.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.SparseCategoricalCrossentropy()([1, 0], [[0.5, 0.5], [0.25, 0.75]])), 4)
    1.0397
    """

    def __init__(
        self,
        name: str = "sparse_categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(
            sparse_categorical_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            ignore_class=ignore_class,
            axis=axis,
        )
        self._ignored = ignore_class
        self._axis = axis

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add a batch of labels, predictions and sample weights."""
        if self._ignored is not None:
            # Weights of 0 for ignored examples, so that the mean divides only by the number of the others.
            y_pred = as_tensor(real_numbers(y_pred))
            labels = class_numbers(y_true, np.moveaxis(y_pred, self._axis, -1))
            counted = (labels != self._ignored).astype(self.dtype)
            weights = 1 if sample_weight is None else sample_weight
            sample_weight = np.multiply(*weighted(counted, weights))
        super().update_state(y_true, y_pred, sample_weight)
