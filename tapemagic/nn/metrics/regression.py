"""The root mean squared error, correlations, and the coefficient of determination."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.config import epsilon
from tapemagic.nn.losses.arguments import matching_pair, same_rank
from tapemagic.nn.metrics.metric import Metric, require_columns
from tapemagic.nn.metrics.reduction import Mean, MeanMetricWrapper, numbers

AGGREGATIONS = ("uniform_average", "variance_weighted_average", None)


class RootMeanSquaredError(Mean):
    """The square root of the mean of the squared differences.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.RootMeanSquaredError()([[0.0], [0.0]], [[1.0], [7.0]])
    Tensor(5.0, dtype=float32)
    """

    def __init__(
        self, name: str = "root_mean_squared_error", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add a batch of targets, predictions and sample weights."""
        y_true, y_pred = matching_pair(
            numbers(y_true, self.dtype, "targets"), numbers(y_pred, self.dtype)
        )
        super().update_state(np.square(y_pred - y_true), sample_weight)

    def result(self) -> Any:
        """Return the root of the mean, or 0 before the first batch."""
        return np.sqrt(super().result())


def pearson_correlation(y_true: Any, y_pred: Any, axis: int = -1) -> Tensor:
    """Return Pearson's correlation coefficient along the axis `axis`, which is nan for constant numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.metrics.pearson_correlation([[0.0, 1.0, 0.5]], [[0.25, 0.5, 1.0]]), 4)
    Tensor([0.3273], dtype=float32)
    """
    (first, scale), (second, other_scale) = (
        (x - np.mean(x, axis=axis, keepdims=True), np.std(x, axis=axis, keepdims=True))
        for x in matching_pair(y_true, y_pred)
    )
    return np.mean(first / scale * (second / other_scale), axis=axis)  # type: ignore[no-any-return]


def concordance_correlation(y_true: Any, y_pred: Any, axis: int = -1) -> Tensor:
    """Return the concordance correlation coefficient along the axis `axis`, which is 1 only for equal numbers.

    Unlike Pearson's coefficient, it's smaller for predictions that are shifted or scaled: twice the covariance divided
    by the variances plus the squared difference of the means.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.metrics.concordance_correlation([[0.0, 1.0, 0.5]], [[0.25, 0.5, 1.0]]), 2)
    Tensor([0.31], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    mean, other_mean = (np.mean(x, axis=axis, keepdims=True) for x in (y_true, y_pred))
    covariance = np.mean((y_true - mean) * (y_pred - other_mean), axis=axis)
    spread = np.var(y_true, axis=axis) + np.var(y_pred, axis=axis)
    apart = np.squeeze(np.square(mean - other_mean), axis)
    return 2 * covariance / (spread + apart + epsilon())  # type: ignore[no-any-return]


class PearsonCorrelation(MeanMetricWrapper):
    """The mean of `pearson_correlation`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.PearsonCorrelation()([[0.0, 1.0, 0.5]], [[0.25, 0.5, 1.0]])), 4)
    0.3273
    """

    def __init__(
        self, name: str = "pearson_correlation", dtype: DTypeLike | None = None, axis: int = -1
    ) -> None:
        super().__init__(pearson_correlation, name, dtype, axis=axis)


class ConcordanceCorrelation(MeanMetricWrapper):
    """The mean of `concordance_correlation`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.metrics.ConcordanceCorrelation()([[0.0, 1.0, 0.5]], [[0.25, 0.5, 1.0]])), 4)
    0.3077
    """

    def __init__(
        self, name: str = "concordance_correlation", dtype: DTypeLike | None = None, axis: int = -1
    ) -> None:
        super().__init__(concordance_correlation, name, dtype, axis=axis)


class R2Score(Metric):
    """The coefficient of determination: the share of the targets' variance that predictions explain.

    For an output with constant targets, the score is 0, or NaN if they are predicted exactly.

    Parameters
    ----------
    class_aggregation : {'uniform_average', 'variance_weighted_average', None}, optional
        The mean of the scores of all outputs, the mean weighted by the variances of their targets, or each score.
    num_regressors : int, optional
        The number of inputs of the model, for the adjusted score; 0 for the plain score.

    Examples
    --------
    >>> from tapemagic import nn
    >>> score = nn.metrics.R2Score()
    >>> round(float(score([[1.0], [4.0], [3.0]], [[2.0], [4.0], [4.0]])), 4)
    0.5714
    """

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str = "r2_score",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(dtype, name)
        if class_aggregation not in AGGREGATIONS:
            raise OptionError(
                f"class_aggregation must be one of {', '.join(map(repr, AGGREGATIONS))}, not {class_aggregation!r}"
            )
        if num_regressors < 0:
            raise OptionError(f"num_regressors must be at least 0, not {num_regressors!r}")
        self.class_aggregation = class_aggregation
        self.num_regressors = num_regressors
        self.num_samples = self.add_variable(name="num_samples")
        self._built = False

    def _build(self, outputs: int) -> None:
        self.squared_sum, self.sum, self.total_mse, self.count = (
            self.add_variable((outputs,), name=name)
            for name in ("squared_sum", "sum", "residual", "count")
        )
        self._built = True

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch of targets and predictions of shape (batch, outputs), with weights per example or output."""
        y_true, y_pred = same_rank(
            numbers(y_true, self.dtype, "targets"), numbers(y_pred, self.dtype)
        )
        if y_pred.ndim != 2 or y_true.shape != y_pred.shape:
            raise ShapeError(
                f"R2Score needs targets and predictions of equal shape (batch, outputs), not {y_true.shape} and "
                f"{y_pred.shape}"
            )
        if not self._built:
            self._build(y_pred.shape[1])
        require_columns(self.name, self.sum.shape[0], y_pred)
        weights = np.ones_like(y_true)
        if sample_weight is not None:
            weights = numbers(sample_weight, self.dtype, "sample weights")
            weights = weights[:, None] if weights.ndim == 1 else weights
            try:
                weights = np.broadcast_to(weights, y_true.shape)
            except ValueError:
                raise ShapeError(
                    f"sample weights of the shape {np.shape(sample_weight)} don't fit predictions of the shape "
                    f"{y_pred.shape}: pass one weight for each example"
                ) from None
        for variable, change in (
            (self.sum, y_true * weights),
            (self.squared_sum, y_true * y_true * weights),
            (self.total_mse, np.square(y_true - y_pred) * weights),
            (self.count, weights),
        ):
            variable.assign_add(np.sum(change, axis=0), read_value=False)
        self.num_samples.assign_add(y_true.size, read_value=False)

    def result(self) -> Any:
        """Return the score, or one for each output; NaN before the first batch."""
        if not self._built:
            return self.num_samples * np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            # Sums, not means: the state of all batches is four sums, and the total sum of squares is
            # sum(y**2) - sum(y)**2 / n.
            variance = self.squared_sum - self.sum * (self.sum / self.count)
            scores: Any = 1 - self.total_mse / variance
            # Keras's rule for constant targets: 1 - x / 0 is -inf and becomes 0; 0 / 0 stays nan.
            scores = np.where(np.isinf(scores), 0, scores)
            return self._adjusted(self._aggregated(scores, variance))

    def _aggregated(self, scores: Any, variance: Any) -> Any:
        if self.class_aggregation is None:
            return scores
        if self.class_aggregation == "uniform_average":
            return np.mean(scores)
        return np.sum(variance * scores) / np.sum(variance)

    def _adjusted(self, score: Any) -> Any:
        """Return the score adjusted for the number of inputs of the model."""
        inputs = self.num_regressors
        if not inputs:
            return score
        number = float(self.num_samples)
        if inputs >= number - 1:
            warnings.warn(
                "an adjusted R2 score needs more examples than inputs of the model, so this is the plain score",
                stacklevel=4,
            )
            return score
        return 1 - (1 - score) * ((number - 1) / (number - inputs - 1))
