"""Precision, recall and the numbers of true and false decisions at one or several thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.losses.reduction import divide_no_nan
from tapemagic.nn.metrics.metric import Metric
from tapemagic.nn.metrics.thresholds import (
    LOWEST,
    among_largest,
    counted_pair,
    counts,
    parsed_thresholds,
)

Thresholds = float | Sequence[float] | None


class Decisions(Metric):
    """Base class of metrics that count some of the true and false positives and negatives.

    Parameters
    ----------
    counted : sequence of str
        The names of the counts, and of the variables.
    thresholds : float or sequence of float, optional
        From 0 to 1; a larger prediction is positive. By default 0.5; with `top_k`, the `k` largest are all positive.
    top_k : int, optional
        Only the `k` largest predictions of each example may be positive.
    class_id : int, optional
        Only this class counts.
    """

    def __init__(
        self,
        counted: Sequence[str],
        thresholds: Thresholds = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(dtype, name)
        # With top_k, every one of the k largest predictions is positive, even if it's below 0.5.
        self.thresholds = parsed_thresholds(thresholds, 0.5 if top_k is None else LOWEST)
        self.top_k = top_k
        self.class_id = class_id
        self._counted = tuple(counted)
        for part in counted:
            setattr(self, part, self.add_variable((len(self.thresholds),), name=part))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch of targets, positive where not 0, predictions, and one weight per example or prediction."""
        y_true, y_pred, weights = counted_pair(y_true, y_pred, sample_weight, self.dtype)
        if self.top_k is not None:
            y_pred = among_largest(y_pred, self.top_k)
        if self.class_id is not None:
            chosen = _class(self.class_id, y_pred)
            y_true, y_pred = y_true[..., chosen], y_pred[..., chosen]
            weights = None if weights is None else weights[..., chosen]
        batch_counts = counts(y_true, y_pred, self.thresholds, weights)
        for part in self._counted:
            getattr(self, part).assign_add(getattr(batch_counts, part), read_value=False)

    def _share(self, part: str, rest: str) -> Any:
        """Return the share of one count in its sum with another count."""
        a, b = (getattr(self, name).read_value() for name in (part, rest))
        # 0/0 is 0, as in Keras; scikit-learn warns and lets the caller choose.
        return self._squeeze(divide_no_nan(a, a + b))

    def _squeeze(self, values: Any) -> Any:
        """Return a number for one threshold, or an array for several."""
        return values[0] if len(self.thresholds) == 1 else values


def _class(class_id: int, y_pred: Any) -> int:
    if y_pred.ndim < 2:
        raise ShapeError(
            f"class_id needs predictions with an axis of classes, not of the shape {y_pred.shape}: omit it"
        )
    if not 0 <= class_id < y_pred.shape[-1]:
        raise OptionError(f"class_id must be from 0 to {y_pred.shape[-1] - 1}, not {class_id!r}")
    return class_id


class Precision(Decisions):
    """The share of positive predictions that are right. See `Decisions` for the parameters.

    Examples
    --------
    >>> from tapemagic import nn
    >>> precision = nn.metrics.Precision()
    >>> precision([0, 1, 1, 1, 1], [0.9, 0.2, 0.8, 0.7, 0.6])
    Tensor(0.75, dtype=float32)
    """

    def __init__(
        self,
        thresholds: Thresholds = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        parts = ("true_positives", "false_positives")
        super().__init__(parts, thresholds, top_k, class_id, name, dtype)

    def result(self) -> Any:
        """Return the precision for each threshold, or 0 without positive predictions."""
        return self._share("true_positives", "false_positives")


class Recall(Decisions):
    """The share of positive targets that are predicted. See `Decisions` for the parameters.

    Examples
    --------
    >>> from tapemagic import nn
    >>> recall = nn.metrics.Recall(thresholds=[0.5, 0.75])
    >>> recall([0, 1, 1, 1, 1], [0.9, 0.2, 0.8, 0.7, 0.6])
    Tensor([0.75, 0.25], dtype=float32)
    """

    def __init__(
        self,
        thresholds: Thresholds = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        parts = ("true_positives", "false_negatives")
        super().__init__(parts, thresholds, top_k, class_id, name, dtype)

    def result(self) -> Any:
        """Return the recall for each threshold, or 0 without positive targets."""
        return self._share("true_positives", "false_negatives")


class _Count(Decisions):
    """Base class of a metric that is one of the four counts."""

    counted: str

    def __init__(
        self,
        thresholds: Thresholds = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__((self.counted,), thresholds, name=name, dtype=dtype)

    def result(self) -> Any:
        """Return the count for each threshold."""
        return self._squeeze(getattr(self, self.counted).read_value())


class TruePositives(_Count):
    """The number, or total weight, of positive predictions with positive targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.TruePositives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(2.0, dtype=float32)
    """

    counted = "true_positives"


class FalsePositives(_Count):
    """The number, or total weight, of positive predictions with negative targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.FalsePositives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(1.0, dtype=float32)
    """

    counted = "false_positives"


class TrueNegatives(_Count):
    """The number, or total weight, of negative predictions with negative targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.TrueNegatives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(0.0, dtype=float32)
    """

    counted = "true_negatives"


class FalseNegatives(_Count):
    """The number, or total weight, of negative predictions with positive targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.FalseNegatives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(1.0, dtype=float32)
    """

    counted = "false_negatives"
