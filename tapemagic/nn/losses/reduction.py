"""Weighting of losses, and their reduction to one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.conversions import real_numbers
from tapemagic.nn.losses.arguments import same_rank

MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")
REDUCTIONS = (*MEANS, "sum", "none", None)


def known_reduction(reduction: Any) -> str | None:
    """Return the name of a reduction, or raise OptionError if it's unknown."""
    if not isinstance(reduction, str | None) or reduction not in REDUCTIONS:
        raise OptionError(
            f"there is no reduction {reduction!r}: write one of {', '.join(map(repr, REDUCTIONS))}"
        )
    return reduction


def reduced(losses: Any, sample_weight: Any, reduction: str | None) -> Any:
    """Multiply losses by their weights, and reduce them to a sum or mean; see `Loss` for the arguments.

    The sum and mean of no losses are 0, and so is the mean with weights whose sum is 0.
    """
    weights = None
    if sample_weight is not None:
        losses, weights = weighted(losses, sample_weight)
        losses = losses * weights
    # A single loss, of vectors, stays multiplied by its weight, as in Keras, also in a mean with weights.
    if reduction is None or reduction == "none" or not losses.ndim:
        return losses
    if reduction == "mean_with_sample_weight" and weights is not None:
        return divide_no_nan(np.sum(losses), np.sum(weights))
    if reduction == "sum" or not losses.size:
        return np.sum(losses)
    return np.mean(losses)


def weighted(losses: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Return losses and their weights with equal rank and dtype, or raise ShapeError if they don't fit."""
    weights = real_numbers(sample_weight, losses.dtype, "sample weights")
    if not weights.ndim:
        return losses, weights
    weights_shape = weights.shape
    losses, weights = same_rank(losses, weights)
    # As in Keras, one number for a whole batch is multiplied by each of the weights.
    if not losses.ndim:
        return losses, weights
    fits = all(n in {1, m} for n, m in zip(weights.shape, losses.shape, strict=False))
    if weights.ndim != losses.ndim or not fits:
        raise ShapeError(
            f"sample weights of the shape {weights_shape} don't fit losses of the shape {losses.shape}: pass one "
            "weight for each loss, or use length 1 for an axis along which the weights are equal"
        )
    return losses, weights


def divide_no_nan(a: Any, b: Any) -> Any:
    """Return ``a / b``, and 0 where `b` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> divide_no_nan(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    # The divisor is replaced before the division: np.where differentiates both branches, so a / 0 would make the
    # gradient nan even where the result is 0.
    zero = np.equal(b, 0)
    return np.where(zero, 0, a / np.where(zero, 1, b))
