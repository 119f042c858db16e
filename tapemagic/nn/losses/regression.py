"""Losses of numbers and vectors: squared, absolute, relative and robust errors, and cosine similarity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.norms import l2_normalize
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.errors import OptionError
from tapemagic.nn.arguments import number
from tapemagic.nn.config import epsilon
from tapemagic.nn.losses.arguments import matching_pair
from tapemagic.nn.losses.loss import KnownLoss, Reduction, averaged


@averaged
def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Return ``mean((y_true - y_pred)**2, axis=-1)``.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.mean_squared_error([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [2.0, 0.0]])
    Tensor([0.5, 2. ], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    return np.square(y_pred - y_true)


class MeanSquaredError(KnownLoss):
    """The loss `mean_squared_error`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> mse = nn.losses.MeanSquaredError()
    >>> mse([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [2.0, 0.0]])
    Tensor(1.25, dtype=float32)
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "mean_squared_error",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(mean_squared_error, reduction, name, dtype)


@averaged
def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Return ``mean(abs(y_true - y_pred), axis=-1)``, whose derivative is 0 where both are equal.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.mean_absolute_error([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [3.0, 0.0]])
    Tensor([0.5, 1.5], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    return np.abs(y_pred - y_true)


class MeanAbsoluteError(KnownLoss):
    """The loss `mean_absolute_error`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.MeanAbsoluteError()([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [3.0, 0.0]])
    Tensor(1.0, dtype=float32)
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "mean_absolute_error",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(mean_absolute_error, reduction, name, dtype)


@averaged
def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """Return ``100 * mean(abs(y_true - y_pred) / maximum(abs(y_true), 1e-7), axis=-1)``.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.mean_absolute_percentage_error([[1.0, 2.0]], [[2.0, 2.0]])
    Tensor([50.], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    # A target of 0 has no relative error: Keras divides by 1e-7 there, which makes the loss huge but finite.
    size = np.maximum(np.abs(y_true), epsilon())
    return 100 * np.abs((y_true - y_pred) / size)


class MeanAbsolutePercentageError(KnownLoss):
    """The loss `mean_absolute_percentage_error`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.MeanAbsolutePercentageError()([[1.0, 2.0]], [[2.0, 2.0]])
    Tensor(50.0, dtype=float32)
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "mean_absolute_percentage_error",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(mean_absolute_percentage_error, reduction, name, dtype)


@averaged
def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """Return ``mean((log(y_true + 1) - log(y_pred + 1))**2, axis=-1)``; numbers below 1e-7 count as 1e-7.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.mean_squared_logarithmic_error([[0.0, 1.0]], [[1.0, 1.0]]), 4)
    Tensor([0.2402], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    # log1p keeps the digits of small numbers that log(x + 1) loses.
    logarithms = np.log1p(np.maximum(y_pred, epsilon()))
    return np.square(logarithms - np.log1p(np.maximum(y_true, epsilon())))


class MeanSquaredLogarithmicError(KnownLoss):
    """The loss `mean_squared_logarithmic_error`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.MeanSquaredLogarithmicError()([[0.0, 1.0]], [[1.0, 1.0]])), 4)
    0.2402
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "mean_squared_logarithmic_error",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(mean_squared_logarithmic_error, reduction, name, dtype)


@averaged
def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Return the mean Huber loss along the last axis: quadratic for small errors, linear for large errors [1]_.

    With ``e = abs(y_true - y_pred)``: ``e**2 / 2`` up to `delta`, a positive number, and ``delta * e - delta**2 / 2``
    above.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35 (1964).

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.huber([[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [3.0, 0.0]])
    Tensor([0.25, 1.25], dtype=float32)
    """
    delta = _positive(delta)
    y_true, y_pred = matching_pair(y_true, y_pred)
    error = y_pred - y_true
    # One expression for both branches: with c = clip(e), c * (e - c / 2) is e**2 / 2 inside and linear outside.
    bounded = np.clip(error, -delta, delta)
    return bounded * (error - bounded / 2)


class Huber(KnownLoss):
    """The loss `huber`, averaged over the batch.

    Parameters
    ----------
    delta : float, optional, see `huber`

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.Huber()([[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [3.0, 0.0]])
    Tensor(0.75, dtype=float32)
    """

    def __init__(
        self,
        delta: float = 1.0,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "huber_loss",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(huber, reduction, name, dtype, delta=_positive(delta))


@averaged
def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """Return ``mean(log(cosh(y_pred - y_true)), axis=-1)``, without overflow.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.log_cosh([[0.0, 0.0]], [[1.0, 1000.0]])
    Tensor([499.8703], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    error = y_pred - y_true
    # log(cosh(x)) = log(exp(x) + exp(-x)) - log(2): cosh overflows in float32 at 89, logaddexp doesn't.
    with np.errstate(invalid="ignore"):  # NumPy warns about nan inputs
        both = np.logaddexp(error, -error)
    return both - math.log(2)


class LogCosh(KnownLoss):
    """The loss `log_cosh`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.LogCosh()([[0.0, 0.0]], [[1.0, 0.0]])), 4)
    0.2169
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "log_cosh",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(log_cosh, reduction, name, dtype)


def _positive(delta: Any) -> float:
    if not number(delta, "delta") > 0:
        raise OptionError(f"delta must be a positive number, not {delta!r}: write delta=1.0")
    return float(delta)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Tensor:
    """Return minus the cosine of the angle between targets and predictions along `axis`.

    The result is -1 for vectors of the same direction, 1 for opposite vectors, and 0 if one of the vectors is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.cosine_similarity([[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [2.0, 2.0]]), 4)
    Tensor([-0., -1.], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    minimum = max(epsilon() ** 2, float(np.finfo(y_pred.dtype).tiny))
    return -np.sum(  # type: ignore[no-any-return]
        l2_normalize(y_true, axis, minimum) * l2_normalize(y_pred, axis, minimum), axis=axis
    )


class CosineSimilarity(KnownLoss):
    """The loss `cosine_similarity`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.CosineSimilarity()([[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [2.0, 2.0]])), 4)
    -0.5
    """

    def __init__(
        self,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "cosine_similarity",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(cosine_similarity, reduction, name, dtype, axis=axis)
