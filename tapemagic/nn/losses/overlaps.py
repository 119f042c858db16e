"""Dice and Tversky losses: how much of the area of targets predictions leave out, and how much they add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.nn.config import epsilon
from tapemagic.nn.losses.arguments import matching_pair
from tapemagic.nn.losses.loss import KnownLoss, Reduction

Axes = int | Sequence[int] | None


def dice(y_true: Any, y_pred: Any, axis: Axes = None) -> Tensor:
    """Return ``1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred))``.

    Parameters
    ----------
    axis : int or sequence of int, optional
        The axes of the sums, such as ``(1, 2, 3)`` for a loss for each picture; by default all.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.dice([[1.0, 1.0, 0.0]], [[0.5, 1.0, 0.5]]), 4)
    Tensor(0.25, dtype=float32)
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    both = _sum(y_true * y_pred, axis)
    return 1 - 2 * both / (_sum(y_true, axis) + _sum(y_pred, axis) + epsilon())  # type: ignore[no-any-return]


class Dice(KnownLoss):
    """The loss `dice`, averaged over the batch.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.Dice(axis=1)([[1.0, 1.0, 0.0]], [[0.5, 1.0, 0.5]])), 4)
    0.25
    """

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "dice",
        axis: Axes = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(dice, reduction, name, dtype, axis=axis)


def tversky(
    y_true: Any, y_pred: Any, alpha: float = 0.5, beta: float = 0.5, axis: Axes = None
) -> Tensor:
    """Return `dice` with two weights: `alpha` for what predictions leave out, `beta` for what they add [1]_.

    Parameters
    ----------
    alpha, beta : float, optional
        The weights of ``y_true * (1 - y_pred)`` and of ``(1 - y_true) * y_pred``, as in Keras's code. Its
        documentation describes them the other way round.
    axis : optional, see `dice`

    References
    ----------
    .. [1] S. S. M. Salehi, D. Erdogmus and A. Gholipour, "Tversky loss function for image segmentation using 3D fully
       convolutional deep networks", MLMI 2017.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.tversky([[1.0, 1.0, 0.0]], [[0.5, 1.0, 0.5]], alpha=1.0)), 4)
    0.3333
    """
    y_true, y_pred = matching_pair(y_true, y_pred)
    both = _sum(y_true * y_pred, axis)
    missed, added = _sum((1 - y_pred) * y_true, axis), _sum(y_pred * (1 - y_true), axis)
    return 1 - both / (both + missed * alpha + added * beta + epsilon())  # type: ignore[no-any-return]


class Tversky(KnownLoss):
    """The loss `tversky`, averaged over the batch.

    Parameters
    ----------
    alpha, beta, axis : optional, see `tversky`

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.Tversky(alpha=1.0)([[1.0, 1.0, 0.0]], [[0.5, 1.0, 0.5]])), 4)
    0.3333
    """

    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "tversky",
        axis: Axes = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(tversky, reduction, name, dtype, alpha=alpha, beta=beta, axis=axis)


def _sum(x: Any, axis: Axes) -> Any:
    # A config stores several axes as a list, which NumPy refuses.
    return np.sum(x, axis=tuple(axis) if isinstance(axis, Sequence) else axis)
