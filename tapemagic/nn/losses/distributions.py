"""Losses of probability distributions and of their means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.errors import OptionError
from tapemagic.nn.conversions import as_array
from tapemagic.nn.losses.arguments import least_probability, pair, require_probabilities
from tapemagic.nn.losses.loss import KnownLoss, averaged

Reduction = str | None


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """The Kullback-Leibler divergence of the predicted from the target probabilities [1]_.

    Parameters
    ----------
    y_true, y_pred : array_like or Tensor
        Probabilities, of one shape (..., classes). Those below 1e-7 count as 1e-7, and those above 1 as 1.

    Returns
    -------
    Tensor
        ``sum(y_true * log(y_true / y_pred), axis=-1)``, of shape (...), in the dtype of the predictions.

    Raises
    ------
    OptionError
        If one of them is no probability.

    References
    ----------
    .. [1] S. Kullback and R. A. Leibler, "On information and sufficiency", Annals of Mathematical Statistics 22 (1951).

    Examples
    --------
    >>> from tapemagic import nn
    >>> np.round(nn.losses.kl_divergence([[0.5, 0.5]], [[0.25, 0.75]]), 4)
    Tensor([0.1438], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    for values, what in ((y_true, "target"), (y_pred, "prediction")):
        require_probabilities(values, "a divergence compares probabilities", what=what)
    least = least_probability(y_pred)
    y_true, y_pred = np.clip(y_true, least, 1), np.clip(y_pred, least, 1)
    return np.sum(y_true * np.log(y_true / y_pred), axis=-1)


class KLDivergence(KnownLoss):
    """The loss `kl_divergence`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.KLDivergence()([[0.5, 0.5]], [[0.25, 0.75]])), 4)
    0.1438
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "kl_divergence",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(kl_divergence, reduction, name, dtype)


@averaged
def poisson(y_true: Any, y_pred: Any) -> Any:
    """The mean of ``y_pred - y_true * log(y_pred)`` along the last axis.

    Returns
    -------
    Tensor
        ``mean(y_pred - y_true * log(y_pred + 1e-7), axis=-1)``, of shape (...), in the dtype of the predictions.
        Up to a constant, minus the logarithm of the probability of the counts `y_true` in Poisson
        distributions of the means `y_pred`.

    Raises
    ------
    OptionError
        If a prediction is negative.

    Examples
    --------
    >>> from tapemagic import nn
    >>> np.round(nn.losses.poisson([[1.0, 1.0]], [[1.0, 2.0]]), 4)
    Tensor([1.1534], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    least = least_probability(y_pred)
    values = as_array(y_pred)
    if np.min(values, initial=0) < -least:
        raise OptionError(
            f"the prediction {np.min(values):.6g} is no mean of a Poisson distribution, which is positive: let the "
            "model end in an exponential or softplus"
        )
    return y_pred - y_true * np.log(y_pred + least)


class Poisson(KnownLoss):
    """The loss `poisson`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.Poisson()([[1.0, 1.0]], [[1.0, 2.0]])), 4)
    1.1534
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "poisson",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(poisson, reduction, name, dtype)
