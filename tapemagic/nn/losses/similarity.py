"""The loss of vectors that are to point in one direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.norms import l2_normalize
from tapemagic.nn.config import epsilon
from tapemagic.nn.losses.arguments import pair
from tapemagic.nn.losses.loss import KnownLoss

Reduction = str | None


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Minus the cosine of the angle between targets and predictions.

    Parameters
    ----------
    y_true : array_like or Tensor
        The targets, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        The predictions, of shape (..., outputs).
    axis : int, optional
        The axis along which the vectors are.

    Returns
    -------
    Tensor
        The shape of the predictions without `axis`, in their dtype: -1 for vectors of the same direction, 1 for
        opposite ones, and 0 where one of them is 0.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    ShapeError
        If the shapes differ.
    UnsupportedArgumentError
        If one of them is complex.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.cosine_similarity([[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [2.0, 2.0]]), 4)
    Tensor([-0., -1.], dtype=float32)
    """
    y_true, y_pred = pair(y_true, y_pred)
    least = max(epsilon() ** 2, float(np.finfo(y_pred.dtype).tiny))
    return -np.sum(l2_normalize(y_true, axis, least) * l2_normalize(y_pred, axis, least), axis=axis)


class CosineSimilarity(KnownLoss):
    """The loss `cosine_similarity`, averaged over the batch.

    Parameters
    ----------
    axis : int, optional
        The axis along which the vectors are.
    reduction, name, dtype : optional
        As of `Loss`.

    Examples
    --------
    >>> import numpy as np
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
