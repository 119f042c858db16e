"""Losses of numbers: squared, absolute and relative errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.nn.config import epsilon
from tapemagic.nn.losses.arguments import pair
from tapemagic.nn.losses.loss import KnownLoss, averaged

Reduction = str | None


@averaged
def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of the squared differences along the last axis.

    Parameters
    ----------
    y_true : array_like or Tensor
        The targets, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        The predictions, of shape (..., outputs).

    Returns
    -------
    Tensor
        ``mean((y_true - y_pred)**2, axis=-1)``, of shape (...), in the dtype of the predictions.

    Raises
    ------
    ShapeError
        If the shapes differ.
    UnsupportedArgumentError
        If one of them is complex.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.mean_squared_error([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [2.0, 0.0]])
    Tensor([0.5, 2. ], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    return np.square(y_pred - y_true)


class MeanSquaredError(KnownLoss):
    """The loss `mean_squared_error`, averaged over the batch.

    Parameters
    ----------
    reduction, name, dtype : optional
        As of `Loss`.

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
    """The mean of the absolute differences along the last axis.

    Parameters
    ----------
    y_true : array_like or Tensor
        The targets, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        The predictions, of shape (..., outputs).

    Returns
    -------
    Tensor
        ``mean(abs(y_true - y_pred), axis=-1)``, of shape (...), in the dtype of the predictions.
        The derivative where they are equal is 0.

    Raises
    ------
    ShapeError
        If the shapes differ.
    UnsupportedArgumentError
        If one of them is complex.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.mean_absolute_error([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [3.0, 0.0]])
    Tensor([0.5, 1.5], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    return np.abs(y_pred - y_true)


class MeanAbsoluteError(KnownLoss):
    """The loss `mean_absolute_error`, averaged over the batch.

    Parameters
    ----------
    reduction, name, dtype : optional
        As of `Loss`.

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
    """The mean of the absolute differences in percent of the targets, along the last axis.

    Parameters
    ----------
    y_true : array_like or Tensor
        The targets, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        The predictions, of shape (..., outputs).

    Returns
    -------
    Tensor
        ``100 * mean(abs(y_true - y_pred) / maximum(abs(y_true), 1e-7), axis=-1)``, of shape (...), in the dtype of the
        predictions.

    Raises
    ------
    ShapeError
        If the shapes differ.
    UnsupportedArgumentError
        If one of them is complex.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.mean_absolute_percentage_error([[1.0, 2.0]], [[2.0, 2.0]])
    Tensor([50.], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    size = np.maximum(np.abs(y_true), epsilon())
    return 100 * np.abs((y_true - y_pred) / size)


class MeanAbsolutePercentageError(KnownLoss):
    """The loss `mean_absolute_percentage_error`, averaged over the batch.

    Parameters
    ----------
    reduction, name, dtype : optional
        As of `Loss`.

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
    """The mean of the squared differences of the logarithms, of 1 more each, along the last axis.

    Parameters
    ----------
    y_true : array_like or Tensor
        The targets, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        The predictions, of shape (..., outputs).

    Returns
    -------
    Tensor
        ``mean((log(y_true + 1) - log(y_pred + 1))**2, axis=-1)``, of shape (...), in the dtype of the predictions.
        Numbers below 1e-7 count as 1e-7.

    Raises
    ------
    ShapeError
        If the shapes differ.
    UnsupportedArgumentError
        If one of them is complex.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.mean_squared_logarithmic_error([[0.0, 1.0]], [[1.0, 1.0]]), 4)
    Tensor([0.2402], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    logarithms = np.log1p(np.maximum(y_pred, epsilon()))
    return np.square(logarithms - np.log1p(np.maximum(y_true, epsilon())))


class MeanSquaredLogarithmicError(KnownLoss):
    """The loss `mean_squared_logarithmic_error`, averaged over the batch.

    Parameters
    ----------
    reduction, name, dtype : optional
        As of `Loss`.

    Examples
    --------
    >>> import numpy as np
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
