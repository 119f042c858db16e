"""Circle loss: embeddings of one class near each other, and of different classes far apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.exponentials import logsumexp
from tapemagic.engine.operations.logistic import softplus
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.nn.attached_masks import set_mask
from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.losses.arguments import class_numbers
from tapemagic.nn.losses.loss import KnownLoss, Reduction


def circle(
    y_true: Any,
    y_pred: Any,
    ref_labels: Any = None,
    ref_embeddings: Any = None,
    remove_diagonal: bool = True,
    gamma: float = 80,
    margin: float = 0.4,
) -> Tensor:
    """Return for each embedding how far it is from its class, compared with other classes [1]_.

    An embedding with no other of its class, or none of another class, has the loss 0.

    Parameters
    ----------
    y_true : array_like of int
        The class number of each embedding.
    y_pred : array_like or Tensor
        The embeddings, vectors of length 1 along the last axis, as `UnitNormalization` returns them.
    ref_labels, ref_embeddings : array_like, optional
        The embeddings to compare with and their class numbers, by default `y_pred` and `y_true`.
    remove_diagonal : bool, optional
        False to compare each embedding also with itself.
    gamma : float, optional
        The factor of all similarities.
    margin : float, optional
        The distance at which pairs begin to count less.

    References
    ----------
    .. [1] Y. Sun, C. Cheng, Y. Zhang, C. Zhang, L. Zheng, Z. Wang and Y. Wei, "Circle loss: a unified perspective of
       pair similarity optimization", CVPR 2020, equation 6.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> vectors = [[1.0, 0.0], [0.6, 0.8], [0.8, 0.6]]
    >>> np.round(nn.losses.circle([0, 0, 1], vectors, gamma=1), 4)
    Tensor([0.9617, 1.1448, 0.    ], dtype=float32)
    """
    y_pred = as_tensor(real_numbers(y_pred))
    labels = class_numbers(y_true, y_pred)
    others = y_pred
    if ref_embeddings is not None:
        others = as_tensor(real_numbers(ref_embeddings, y_pred.dtype))
    other_labels = labels if ref_labels is None else class_numbers(ref_labels, others)
    same = labels[:, None] == other_labels
    different = ~same
    if remove_diagonal:
        same &= ~np.eye(len(same), len(other_labels), dtype=bool)
    distances = np.maximum(1 - y_pred @ np.transpose(others), 0)
    near = -gamma * np.maximum(margin + distances, 0) * (margin - distances)
    far = gamma * np.maximum(1 + margin - distances, 0) * (1 - margin - distances)
    compared = same.any(axis=1) & different.any(axis=1)
    total = _logsumexp_where(same, near, compared) + _logsumexp_where(different, far, compared)
    return np.where(compared, softplus(total), 0)  # type: ignore[return-value]


def _logsumexp_where(chosen: Any, x: Any, rows: Any) -> Any:
    # In a row without pairs, all count: logsumexp of nothing is -inf, whose gradient would be nan.
    return logsumexp(np.where(chosen | ~rows[:, None], x, -np.inf), axis=1)


class Circle(KnownLoss):
    """The loss `circle`, averaged over the embeddings whose loss isn't 0.

    Parameters
    ----------
    gamma, margin, remove_diagonal : optional, see `circle`

    Examples
    --------
    >>> from tapemagic import nn
    >>> loss = nn.losses.Circle(gamma=1.0)
    >>> round(float(loss([0, 0, 1], [[1.0, 0.0], [0.6, 0.8], [0.8, 0.6]])), 4)
    1.0532
    """

    def __init__(
        self,
        gamma: float = 80.0,
        margin: float = 0.4,
        remove_diagonal: bool = True,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "circle",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            circle,
            reduction,
            name,
            dtype,
            gamma=gamma,
            margin=margin,
            remove_diagonal=remove_diagonal,
        )

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the loss of each embedding, with a mask for `Loss`: zeros don't count in the mean."""
        losses = super().call(y_true, y_pred)
        set_mask(losses, losses > 0)
        return losses
