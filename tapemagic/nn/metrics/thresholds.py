"""Counts of right and wrong decisions when scores are compared with thresholds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.operations.selection import top_k as largest
from tapemagic.engine.tracing import one_call
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.losses.arguments import same_rank
from tapemagic.nn.metrics.reduction import numbers

LOWEST = -1e10
"""The threshold with `top_k`, and the score of predictions that aren't among the k largest; Keras's NEG_INF."""


class Counts(NamedTuple):
    """Total weights of true and false positives and negatives, each for every threshold."""

    true_positives: Any
    false_positives: Any
    true_negatives: Any
    false_negatives: Any


def parsed_thresholds(thresholds: Any, default: float) -> list[float]:
    """Return thresholds from 0 to 1 as a list, or raise OptionError."""
    if thresholds is None:
        return [default]
    limits = [float(t) for t in np.ravel(thresholds)]
    wrong = [t for t in limits if not 0 <= t <= 1]
    if wrong or not limits:
        raise OptionError(
            f"thresholds must be numbers from 0 to 1, not {wrong or thresholds}: write 0.5"
        )
    return limits


@one_call
def counts(y_true: Any, y_pred: Any, thresholds: Any, weights: Any = None) -> Counts:
    """Return the total weights of true and false positives and negatives for each threshold, in double precision.

    Targets are positive where not 0, and predictions where larger than the threshold. All arrays have one shape.

    Examples
    --------
    >>> import numpy as np
    >>> counts(np.array([0, 1, 1]), np.array([0.4, 0.6, 0.2]), [0.5]).true_positives
    array([1.])
    """
    # One pass for all thresholds: sort scores into the intervals between thresholds, and sum the weights from the top.
    # Comparing each score with 200 thresholds would need 200 times the memory.
    limits = np.asarray(thresholds, y_pred.dtype)
    order = np.argsort(limits)
    scores, positive = y_pred.ravel(), y_true.ravel() != 0
    places = np.searchsorted(limits[order], scores)
    places[np.isnan(scores)] = (
        0  # NaN isn't larger than any threshold, but searchsorted sorts it last
    )
    weights = np.ones(scores.shape) if weights is None else weights.ravel()

    def above(weights: Any) -> Any:
        """Return the total weight of the scores above each threshold."""
        bins = np.bincount(places, weights, limits.size + 1)
        totals = np.empty(limits.size)
        totals[order] = np.cumsum(bins[::-1])[-2::-1]
        return totals

    hits, misses = weights * positive, weights * ~positive
    right, wrong = above(hits), above(misses)
    return Counts(right, wrong, np.sum(misses) - wrong, np.sum(hits) - right)


def counted_pair(y_true: Any, y_pred: Any, sample_weight: Any, dtype: str) -> tuple[Any, Any, Any]:
    """Return targets, predictions and weights (or None) as arrays of equal shape, or raise ShapeError."""
    y_pred, y_true = numbers(y_pred, dtype), numbers(y_true, dtype, "targets")
    shapes = y_true.shape, y_pred.shape
    y_pred, y_true = same_rank(y_pred, y_true)
    if y_true.shape != y_pred.shape:
        raise ShapeError(
            f"targets of the shape {shapes[0]} and predictions of the shape {shapes[1]}: pass a target of 0 or 1 for "
            "each prediction"
        )
    if sample_weight is None:
        return y_true, y_pred, None
    weights = numbers(sample_weight, dtype, "sample weights")
    if weights.ndim == y_true.ndim - 1:
        weights = weights[..., None]
    try:
        return y_true, y_pred, np.broadcast_to(weights, y_true.shape)
    except ValueError:
        raise ShapeError(
            f"sample weights of the shape {np.shape(sample_weight)} don't fit predictions of the shape {shapes[1]}: "
            "pass one weight for each example"
        ) from None


def among_largest(y_pred: Any, k: int) -> Any:
    """Replace the scores that aren't among the `k` largest along the last axis by `LOWEST`."""
    chosen = np.full(y_pred.shape, LOWEST, y_pred.dtype)
    places = largest(y_pred, k).indices
    np.put_along_axis(chosen, places, np.take_along_axis(y_pred, places, -1), -1)
    return chosen
