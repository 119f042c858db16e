"""F-scores: weighted harmonic means of precision and recall."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.config import epsilon
from tapemagic.nn.metrics.metric import Metric, require_columns
from tapemagic.nn.metrics.reduction import numbers

PARTS = ("true_positives", "false_positives", "false_negatives", "intermediate_weights")


class FBetaScore(Metric):
    """The harmonic mean of precision and recall, where recall has a weight of ``beta**2``.

    Parameters
    ----------
    average : {None, 'micro', 'macro', 'weighted'}, optional
        None returns the score of each class, "macro" their mean, "weighted" the mean weighted by the number of
        positive targets; "micro" adds the decisions of all classes first.
    beta : float, optional
        Positive.
    threshold : float, optional
        Above 0 and at most 1: a larger prediction is positive. By default the largest prediction of each example.

    Examples
    --------
    >>> from tapemagic import nn
    >>> score = nn.metrics.FBetaScore(beta=2.0, threshold=0.5)
    >>> found = score([[1, 1], [1, 0], [1, 1]], [[0.2, 0.6], [0.8, 0.4], [0.6, 0.8]])
    >>> found.numpy().round(3)
    array([0.714, 1.   ], dtype=float32)
    """

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str = "fbeta_score",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(dtype, name)
        if average not in {None, "micro", "macro", "weighted"}:
            raise OptionError(
                f"average must be 'micro', 'macro', 'weighted' or None, not {average!r}"
            )
        if not beta > 0:
            raise OptionError(f"beta must be a positive number, not {beta!r}: write beta=1.0")
        if threshold is not None and not 0 < threshold <= 1:
            raise OptionError(f"threshold must be above 0 and at most 1, not {threshold!r}")
        self.average = average
        self.beta = float(beta)
        self.threshold = threshold
        self._built = False

    true_positives: Variable

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch of targets and predictions of shape (batch, classes), with one weight for each example."""
        y_true, y_pred = numbers(y_true, self.dtype, "targets"), numbers(y_pred, self.dtype)
        if y_pred.ndim != 2 or y_true.shape != y_pred.shape:
            raise ShapeError(
                f"an F-score needs targets and predictions of equal shape (batch, classes), not {y_true.shape} and "
                f"{y_pred.shape}: for class numbers, pass np.eye(classes)[labels]"
            )
        if not self._built:
            shape = () if self.average == "micro" else y_pred.shape[1:]
            for part in PARTS:
                setattr(self, part, self.add_variable(shape, name=part))
            self._built = True
        if self.average != "micro":
            require_columns(self.name, self.true_positives.shape[0], y_pred)
        weights = None
        if sample_weight is not None:
            weights = numbers(sample_weight, self.dtype, "sample weights").reshape(-1, 1)
            if len(weights) not in {1, len(y_pred)}:
                raise ShapeError(f"{len(weights)} sample weights for {len(y_pred)} examples")
        positive = self._decided(y_pred)
        values = (positive * y_true, positive * (1 - y_true), (1 - positive) * y_true, y_true)
        for part, value in zip(PARTS, values, strict=True):
            weighted = value if weights is None else value * weights
            total = np.sum(weighted, axis=None if self.average == "micro" else 0)
            getattr(self, part).assign_add(total, read_value=False)

    def _decided(self, y_pred: Any) -> Any:
        """Return 1 for positive predictions, and 0 for negative predictions."""
        if self.threshold is not None:
            positive = y_pred > self.threshold
        else:
            largest = np.max(y_pred, axis=-1, keepdims=True)
            # Keras's rule: a row of zeros has no positive prediction, although all are largest.
            positive = (y_pred >= largest) & (np.abs(y_pred) > 1e-9)
        return positive.astype(self.dtype)

    def result(self) -> Any:
        """Return the score of each class, or their average, or 0 before the first batch."""
        if not self._built:
            return self.add_variable().read_value()
        right, wrong, missed, positive = (getattr(self, part).read_value() for part in PARTS)
        # Keras adds epsilon to all divisors, where other metrics use divide_no_nan; the scores differ by about 1e-7.
        precision = right / (right + wrong + epsilon())
        recall = right / (right + missed + epsilon())
        square = self.beta**2
        score = precision * recall / (square * precision + recall + epsilon()) * (1 + square)
        if self.average == "weighted":
            return np.sum(score * (positive / (np.sum(positive) + epsilon())))
        return score if self.average is None else np.mean(score)


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall. See `FBetaScore` for the parameters.

    Examples
    --------
    >>> from tapemagic import nn
    >>> score = nn.metrics.F1Score("macro")
    >>> round(float(score([[1, 0], [0, 1], [0, 1]], [[0.8, 0.2], [0.7, 0.3], [0.1, 0.9]])), 4)
    0.6667
    """

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str = "f1_score",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)
