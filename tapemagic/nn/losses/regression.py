"""Losses of numbers: squared, absolute and relative errors, and their relatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.nn.losses.arguments import pair
from tapemagic.nn.losses.loss import KnownLoss

Reduction = str | None


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
    return np.mean(np.square(y_pred - y_true), axis=-1)


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
