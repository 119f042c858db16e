"""AUC: the area under the curve of right and wrong decisions at all thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.logistic import sigmoid
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.config import epsilon
from tapemagic.nn.losses.arguments import require_probabilities
from tapemagic.nn.losses.reduction import divide_no_nan
from tapemagic.nn.metrics.metric import Metric, require_columns
from tapemagic.nn.metrics.thresholds import Counts, counted_pair, counts, parsed_thresholds

CURVES = ("ROC", "PR", "PRGAIN")
METHODS = ("interpolation", "majoring", "minoring")


class AUC(Metric):
    """The area under a curve of two rates of decisions, such as ROC, as the threshold rises from 0 to 1.

    Parameters
    ----------
    num_thresholds : int, optional
        The number of evenly spaced thresholds, at least 2; the first is just below 0 and the last just above 1.
    curve : {'ROC', 'PR', 'PRGAIN'}, optional
        "ROC": true positive rate over false positive rate. "PR": precision over recall. "PRGAIN": precision and recall
        as gains over a classifier that is always positive [1]_.
    summation_method : {'interpolation', 'majoring', 'minoring'}, optional
        Trapezoids, larger or smaller rectangles. For "PR", counts are interpolated between points [2]_.
    thresholds : sequence of float, optional
        The inner thresholds, instead of `num_thresholds`.
    multi_label : bool, optional
        Compute the area for each column, and average these.
    num_labels : int, optional
        The number of columns, if variables must exist before the first batch.
    label_weights : sequence of float, optional
        The weight of each column.

    References
    ----------
    .. [1] P. Flach and M. Kull, "Precision-recall-gain curves: PR analysis done right", NIPS 2015.
    .. [2] J. Davis and M. Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006.

    Examples
    --------
    >>> from tapemagic import nn
    >>> auc = nn.metrics.AUC()
    >>> round(float(auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.75
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        thresholds: Sequence[float] | None = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ) -> None:
        super().__init__(dtype, name)
        inner = _inner_thresholds(num_thresholds, thresholds)
        # Just outside of 0 and 1, so that the ends of the curve have all and no predictions positive.
        self.thresholds = [-epsilon(), *inner, 1 + epsilon()]
        self.num_thresholds = len(self.thresholds)
        self.curve = _one_of(str(curve).upper(), CURVES, curve, "curve")
        method = str(summation_method).lower()
        self.summation_method = _one_of(method, METHODS, summation_method, "summation_method")
        self.multi_label = multi_label
        self.label_weights = None
        if label_weights is not None:
            self.label_weights = np.asarray(label_weights, self.dtype)
        self.from_logits = from_logits
        if num_labels and not multi_label:
            raise OptionError("num_labels is for multi_label=True: write it, or omit num_labels")
        self._built = False
        if num_labels or not multi_label:
            self._build(num_labels)

    true_positives: Variable

    def _build(self, columns: int | None) -> None:
        shape = (self.num_thresholds,) if columns is None else (self.num_thresholds, columns)
        for part in Counts._fields:
            setattr(self, part, self.add_variable(shape, name=part))
        self._built = True

    def _config_value(self, name: str, default: Any) -> Any:
        value = super()._config_value(name, default)
        # An array of thresholds isn't recorded: the list has two more, below 0 and above 1.
        return self.thresholds[1:-1] if value is self.thresholds else value

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch of targets, positive where not 0, predicted probabilities or logits, and sample weights."""
        y_true, y_pred, weights = counted_pair(y_true, y_pred, sample_weight, self.dtype)
        if self.from_logits:
            y_pred = sigmoid(y_pred)
        require_probabilities(y_pred, "write from_logits=True if they are logits")
        y_pred = np.clip(y_pred, 0, 1)
        totals = self._counts(y_true, y_pred, weights)
        for part in Counts._fields:
            getattr(self, part).assign_add(getattr(totals, part), read_value=False)

    def _counts(self, y_true: Any, y_pred: Any, weights: Any) -> Counts:
        """Count the decisions, with a column for each label if `multi_label`."""
        if not self.multi_label:
            if self.label_weights is not None:
                sample_weights = 1 if weights is None else weights
                weights = _spread(self.label_weights, y_pred.shape) * sample_weights
            return counts(y_true, y_pred, self.thresholds, weights)
        if y_pred.ndim != 2:
            raise ShapeError(
                f"multi_label=True needs predictions of the shape (batch, labels), not {y_pred.shape}"
            )
        if not self._built:
            self._build(y_pred.shape[1])
        require_columns(self.name, self.true_positives.shape[1], y_pred)
        columns = [
            counts(
                y_true[:, n],
                y_pred[:, n],
                self.thresholds,
                None if weights is None else weights[:, n],
            )
            for n in range(y_pred.shape[1])
        ]
        return Counts(*(np.stack(parts, axis=1) for parts in zip(*columns, strict=True)))

    def result(self) -> Any:
        """Return the area, or 0 before the first batch."""
        if not self._built:
            return np.sum(self.add_variable().read_value())
        totals = Counts(*(getattr(self, part).read_value() for part in Counts._fields))
        if self.curve == "PR" and self.summation_method == "interpolation":
            areas = _interpolated(totals)
        else:
            x, y = _points(totals, self.curve)
            areas = (x[:-1] - x[1:]) * _heights(y, self.summation_method)
        if not self.multi_label:
            return np.sum(areas)
        by_label = np.sum(areas, axis=0)
        if self.label_weights is None:
            return np.mean(by_label)
        weights = _spread(self.label_weights, by_label.shape)
        return divide_no_nan(np.sum(by_label * weights), np.sum(weights))


def _spread(label_weights: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast the weights of labels to all predictions."""
    if label_weights.shape != shape[-1:]:
        raise ShapeError(
            f"{label_weights.size} label_weights don't fit predictions of the shape {shape}: pass one for each column"
        )
    return np.broadcast_to(label_weights, shape)


def _points(totals: Counts, curve: str) -> tuple[Any, Any]:
    """Return the coordinates of the curve, from the smallest threshold to the largest."""
    right, wrong, true_negatives, false_negatives = totals
    recall = divide_no_nan(right, right + false_negatives)
    if curve == "ROC":
        return divide_no_nan(wrong, wrong + true_negatives), recall
    if curve == "PR":
        return recall, divide_no_nan(right, right + wrong)
    # Flach and Kull's gains, with p the share of positives: (precision - p) / ((1 - p) * precision), which equals
    # 1 - p / (1 - p) * FP / TP, and the same of recall with FN.
    odds = divide_no_nan(right + false_negatives, true_negatives + wrong)
    recall_gain = 1 - odds * divide_no_nan(false_negatives, right)
    precision_gain = 1 - odds * divide_no_nan(wrong, right)
    no_hits = np.equal(right, 0)
    recall_gain = np.maximum(np.where(no_hits, 0, recall_gain), 0)
    return recall_gain, np.where(no_hits, 1, precision_gain)


def _heights(y: Any, method: str) -> Any:
    """Return the heights of the strips under a curve."""
    if method == "interpolation":
        return (y[:-1] + y[1:]) / 2
    return np.maximum(y[:-1], y[1:]) if method == "majoring" else np.minimum(y[:-1], y[1:])


def _interpolated(totals: Counts) -> Any:
    """Return the areas of the strips under the precision-recall curve, with counts interpolated [2]."""
    # Precision isn't linear in recall between two thresholds; true and false positives are. With TP = slope * P +
    # intercept, the integral of TP / P over recall is the expression below, as in keras.metrics.AUC.
    right = totals.true_positives
    positive = right + totals.false_positives
    more = right[:-1] - right[1:]
    slope = divide_no_nan(more, np.maximum(positive[:-1] - positive[1:], 0))
    intercept = right[1:] - slope * positive[1:]
    both = (positive[:-1] > 0) & (positive[1:] > 0)
    ratio = np.where(both, divide_no_nan(positive[:-1], np.maximum(positive[1:], 0)), 1)
    strips = slope * (more + intercept * np.log(ratio))
    return divide_no_nan(strips, np.maximum(right[1:] + totals.false_negatives[1:], 0))


def _inner_thresholds(number: int, thresholds: Sequence[float] | None) -> list[float]:
    if thresholds is not None:
        return sorted(parsed_thresholds(thresholds, 0.5))
    if number < 2:
        raise OptionError(
            f"num_thresholds must be at least 2, not {number!r}: write num_thresholds=200"
        )
    return [n / (number - 1) for n in range(1, number - 1)]


def _one_of(name: str, choices: Sequence[str], value: Any, what: str) -> str:
    if name not in choices:
        raise OptionError(f"{what} must be one of {', '.join(choices)}, not {value!r}")
    return name
