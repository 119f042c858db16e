"""Losses of predicted probability distributions, and of predicted means of distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.errors import OptionError
from tapemagic.nn.conversions import as_array
from tapemagic.nn.losses.arguments import matching_pair, min_probability, require_probabilities
from tapemagic.nn.losses.loss import KnownLoss, Reduction, averaged


def kl_divergence(y_true: Any, y_pred: Any) -> Tensor:
    """Return the Kullback-Leibler divergence ``sum(y_true * log(y_true / y_pred), axis=-1)`` of probabilities [1]_.

    Probabilities are clipped to the interval from 1e-7 to 1; other numbers raise OptionError.

    References
    ----------
    .. [1] S. Kullback and R. A. Leibler, "On information and sufficiency", Annals of Mathematical Statistics 22 (1951).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.kl_divergence([[0.5, 0.5]], [[0.25, 0.75]]), 4)
    Tensor([0.1438], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    for values, what in ((y_true, "target"), (y_pred, "prediction")):
        require_probabilities(values, "a divergence compares probabilities", what=what)
    minimum = min_probability(y_pred)
    # Both are clipped: 0 * log(0 / q) should be 0, but is nan.
    y_true, y_pred = np.clip(y_true, minimum, 1), np.clip(y_pred, minimum, 1)
    return np.sum(y_true * np.log(y_true / y_pred), axis=-1)  # type: ignore[no-any-return]


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
    """Return ``mean(y_pred - y_true * log(y_pred + 1e-7), axis=-1)``.

    Up to a constant, this is minus the log-likelihood of the counts `y_true` for Poisson distributions with the means
    `y_pred`. Negative predictions raise OptionError.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.poisson([[1.0, 1.0]], [[1.0, 2.0]]), 4)
    Tensor([1.1534], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    minimum = min_probability(y_pred)
    values = as_array(y_pred)
    if np.min(values, initial=0) < -minimum:
        raise OptionError(
            f"the prediction {np.min(values):.6g} isn't the mean of a Poisson distribution, which is positive: end the "
            "model with an exponential or softplus"
        )
    # As in Keras, epsilon is added, not clipped to: so the gradient at 0 is finite and not 0.
    return y_pred - y_true * np.log(y_pred + minimum)


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
