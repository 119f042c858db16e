"""Hinge losses, which are 0 for predictions on the right side of a margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.nn.conversions import as_array
from tapemagic.nn.losses.arguments import matching_pair
from tapemagic.nn.losses.loss import KnownLoss, Reduction, averaged


@averaged
def hinge(y_true: Any, y_pred: Any) -> Any:
    """Return ``mean(maximum(1 - y_true * y_pred, 0), axis=-1)`` for targets of -1 or 1; 0 counts as -1.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.hinge([[-1.0, 1.0]], [[0.5, 0.5]])
    Tensor([1.], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    return np.maximum(1 - _signs(y_true) * y_pred, 0)


class Hinge(KnownLoss):
    """The loss `hinge`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.Hinge()([[0, 1]], [[0.5, 0.5]])
    Tensor(1.0, dtype=float32)
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "hinge",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(hinge, reduction, name, dtype)


@averaged
def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """Return ``mean(maximum(1 - y_true * y_pred, 0)**2, axis=-1)`` for targets of -1 or 1; 0 counts as -1.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.squared_hinge([[-1.0, 1.0]], [[0.5, 0.5]])
    Tensor([1.25], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    return np.square(np.maximum(1 - _signs(y_true) * y_pred, 0))


class SquaredHinge(KnownLoss):
    """The loss `squared_hinge`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.SquaredHinge()([[0, 1]], [[0.5, 0.5]])
    Tensor(1.25, dtype=float32)
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "squared_hinge",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(squared_hinge, reduction, name, dtype)


def categorical_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """Return by how much the prediction of the right class falls short of exceeding all others by 1.

    ``maximum(1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred), 0)`` along the last axis, where `y_true` is 1 for
    the right class and 0 for the others.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.categorical_hinge([[0, 1, 0]], [[0.5, 0.75, 0.0]])
    Tensor([0.75], dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    right = np.sum(y_true * y_pred, axis=-1)
    # As in Keras, the right class takes part in the maximum with 0, so negative predictions count as 0.
    wrong = np.max((1 - y_true) * y_pred, axis=-1)
    return np.maximum(wrong - right + 1, 0)  # type: ignore[no-any-return]


class CategoricalHinge(KnownLoss):
    """The loss `categorical_hinge`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.losses.CategoricalHinge()([[0, 1, 0]], [[0.5, 0.75, 0.0]])
    Tensor(0.75, dtype=float32)
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "categorical_hinge",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(categorical_hinge, reduction, name, dtype)


def _signs(y_true: Any) -> Any:
    """Convert targets that are all 0 or 1 to -1 or 1, and return others unchanged."""
    # Keras's rule, applied to a whole batch: one that has only 0 and 1 is converted, one with -1 isn't.
    values = as_array(y_true)
    return 2 * y_true - 1 if np.all((values == 0) | (values == 1)) else y_true
