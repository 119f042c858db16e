"""Reduction of many losses to one number, with sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.conversions import real_numbers
from tapemagic.nn.losses.arguments import same_rank

MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")
REDUCTIONS = (*MEANS, "sum", "none", None)


def known_reduction(reduction: Any) -> str | None:
    """A reduction, if it is one.

    Raises
    ------
    OptionError
        If it is not.
    """
    if not isinstance(reduction, str | None) or reduction not in REDUCTIONS:
        raise OptionError(
            f"the reduction {reduction!r} is not known: write one of {', '.join(map(repr, REDUCTIONS))}"
        )
    return reduction


def reduced(losses: Any, sample_weight: Any, reduction: str | None) -> Any:
    """Losses times their weights, added up or averaged.

    Parameters
    ----------
    losses : Tensor
        Of any shape.
    sample_weight : array_like or None
        One number, or of the shape of the losses up to axes of length 1.
    reduction : str or None

    Returns
    -------
    Tensor
        One number; without a reduction, of the shape of the losses. The sum and the mean of no losses are 0, and so
        is the mean with weights that add up to 0.

    Raises
    ------
    ShapeError
        If the weights do not fit the losses.
    """
    weights = None
    if sample_weight is not None:
        losses, weights = weighted(losses, sample_weight)
        losses = losses * weights
    if reduction is None or reduction == "none":
        return losses
    if reduction == "mean_with_sample_weight" and weights is not None:
        return divide_no_nan(np.sum(losses), np.sum(weights))
    if reduction == "sum" or not losses.size:
        return np.sum(losses)
    return np.mean(losses) if losses.ndim else losses


def weighted(losses: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Losses and their weights, of the same rank and in the dtype of the losses.

    Raises
    ------
    ShapeError
        If the weights do not fit the losses.
    """
    weights = real_numbers(sample_weight, losses.dtype, "sample weights")
    if not weights.ndim:
        return losses, weights
    weights_shape = weights.shape
    losses, weights = same_rank(losses, weights)
    fits = all(n in {1, m} for n, m in zip(weights.shape, losses.shape, strict=False))
    if weights.ndim != losses.ndim or not fits:
        raise ShapeError(
            f"sample weights of the shape {weights_shape} do not fit losses of the shape {losses.shape}: give one weight for "
            "each loss, or 1 as the length of an axis along which it is the same"
        )
    return losses, weights


def divide_no_nan(a: Any, b: Any) -> Any:
    """`a / b`, and 0 where `b` is 0.

    Examples
    --------
    >>> divide_no_nan(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    zero = np.equal(b, 0)
    return np.where(zero, 0, a / np.where(zero, 1, b))
