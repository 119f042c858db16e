"""Losses of numbers that grow linearly with large errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.errors import OptionError
from tapemagic.nn.arguments import number
from tapemagic.nn.losses.arguments import pair
from tapemagic.nn.losses.loss import KnownLoss, averaged

Reduction = str | None


@averaged
def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """The mean of the Huber loss along the last axis: quadratic for small differences, linear for large ones [1]_.

    Parameters
    ----------
    y_true : array_like or Tensor
        The targets, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        The predictions, of shape (..., outputs).
    delta : float, optional
        Where it becomes linear; positive.

    Returns
    -------
    Tensor
        The mean of ``e**2 / 2`` where ``e = abs(y_true - y_pred)`` is at most `delta`, and of
        ``delta * e - delta**2 / 2`` elsewhere; of shape (...), in the dtype of the predictions.

    Raises
    ------
    OptionError
        If `delta` is not positive.
    ShapeError
        If the shapes differ.
    UnsupportedArgumentError
        If one of them is complex.

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
    y_true, y_pred = pair(y_true, y_pred)
    error = y_pred - y_true
    bounded = np.clip(error, -delta, delta)
    return bounded * (error - bounded / 2)


class Huber(KnownLoss):
    """The loss `huber`, averaged over the batch.

    Parameters
    ----------
    delta : float, optional
        Where it becomes linear; positive.
    reduction, name, dtype : optional
        As of `Loss`.

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
    """The mean of the logarithm of the hyperbolic cosine of the differences, along the last axis.

    Parameters
    ----------
    y_true : array_like or Tensor
        The targets, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        The predictions, of shape (..., outputs).

    Returns
    -------
    Tensor
        ``mean(log(cosh(y_pred - y_true)), axis=-1)``, of shape (...), in the dtype of the predictions.
        Nothing overflows.

    Raises
    ------
    ShapeError
        If the shapes differ.
    UnsupportedArgumentError
        If one of them is complex.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.log_cosh([[0.0, 0.0]], [[1.0, 1000.0]])
    Tensor([499.8703], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    error = y_pred - y_true
    with np.errstate(invalid="ignore"):  # NumPy warns of NaN that was there
        both = np.logaddexp(error, -error)
    return both - math.log(2)


class LogCosh(KnownLoss):
    """The loss `log_cosh`, averaged over the batch.

    Parameters
    ----------
    reduction, name, dtype : optional
        As of `Loss`.

    Examples
    --------
    >>> import numpy as np
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
        raise OptionError(f"delta is a positive number, not {delta!r}: write delta=1.0")
    return float(delta)
