"""Precision, recall and the numbers of true and false decisions, at one threshold or several."""

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
    """Base class of metrics that add up some of the numbers of true and false positives and negatives.

    Parameters
    ----------
    counted : sequence of str
        The names of those numbers, and of the variables.
    thresholds, top_k, class_id, name, dtype : optional
        As of `Precision`.
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
        self.thresholds = parsed_thresholds(thresholds, 0.5 if top_k is None else LOWEST)
        self.top_k = top_k
        self.class_id = class_id
        self._counted = tuple(counted)
        for part in counted:
            setattr(self, part, self.add_variable((len(self.thresholds),), name=part))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Parameters
        ----------
        y_true : array_like
            Positive where it is not 0, in the shape of the predictions, up to an axis of length 1 at the end.
        y_pred : array_like
            Positive where it is larger than a threshold.
        sample_weight : array_like, optional
            One weight for each example or prediction.

        Raises
        ------
        OptionError
            If there are fewer classes than `top_k`, or no class `class_id`.
        ShapeError
            If the shapes do not fit.
        """
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
        """The share of one number in the sum with another."""
        a, b = (getattr(self, name).read_value() for name in (part, rest))
        return self._squeeze(divide_no_nan(a, a + b))

    def _squeeze(self, values: Any) -> Any:
        """A number for one threshold, an array for several."""
        return values[0] if len(self.thresholds) == 1 else values


def _class(class_id: int, y_pred: Any) -> int:
    if y_pred.ndim < 2:
        raise ShapeError(
            f"class_id takes predictions with an axis of classes, not of the shape {y_pred.shape}: leave it out"
        )
    if not 0 <= class_id < y_pred.shape[-1]:
        raise OptionError(f"class_id is from 0 to {y_pred.shape[-1] - 1}, not {class_id!r}")
    return class_id


class Precision(Decisions):
    """The share of right ones among the predictions that are positive.

    Parameters
    ----------
    thresholds : float or sequence of float, optional
        From 0 to 1; a larger prediction is positive. 0.5 if left out; with `top_k`, every one of these is positive.
    top_k : int, optional
        Only the `k` largest predictions of each example count as positive.
    class_id : int, optional
        Only this class counts.
    name, dtype : optional
        See `Metric`.

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
        """The precision for each threshold, 0 without positive predictions."""
        return self._share("true_positives", "false_positives")


class Recall(Decisions):
    """The share of positive predictions among the targets that are positive.

    Parameters
    ----------
    thresholds, top_k, class_id, name, dtype : optional
        As of `Precision`.

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
        """The recall for each threshold, 0 without positive targets."""
        return self._share("true_positives", "false_negatives")


class _Count(Decisions):
    """One of the four numbers."""

    counted: str

    def __init__(
        self,
        thresholds: Thresholds = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__((self.counted,), thresholds, name=name, dtype=dtype)

    def result(self) -> Any:
        """The number for each threshold."""
        return self._squeeze(getattr(self, self.counted).read_value())


class TruePositives(_Count):
    """The number, or weight, of positive predictions with positive targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.TruePositives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(2.0, dtype=float32)
    """

    counted = "true_positives"


class FalsePositives(_Count):
    """The number, or weight, of positive predictions whose targets are not.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.FalsePositives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(1.0, dtype=float32)
    """

    counted = "false_positives"


class TrueNegatives(_Count):
    """The number, or weight, of predictions that are not positive, and neither are their targets.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.TrueNegatives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(0.0, dtype=float32)
    """

    counted = "true_negatives"


class FalseNegatives(_Count):
    """The number, or weight, of predictions that are not positive, though their targets are.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.metrics.FalseNegatives()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7])
    Tensor(1.0, dtype=float32)
    """

    counted = "false_negatives"
