"""The cross-entropy of labels that are numbers of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.sparse_losses import sparse_softmax_cross_entropy
from tapemagic.errors import OptionError
from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.logits import logits_of
from tapemagic.nn.losses.arguments import (
    NO_LOGITS,
    class_axis,
    class_numbers,
    least_probability,
    require_classes,
    require_probabilities,
)
from tapemagic.nn.losses.loss import KnownLoss
from tapemagic.nn.losses.reduction import weighted

Reduction = str | None


def sparse_categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    ignore_class: int | None = None,
    axis: int = -1,
) -> Any:
    """Minus the logarithm of the predicted probability of each label.

    Parameters
    ----------
    y_true : array_like of int
        The number of the class of each example, in the shape of the predictions without the axis of the classes, or
        with length 1 there.
    y_pred : array_like or Tensor
        The probability of each class; they are divided by their sum. Those below 1e-7 count as 1e-7, and those above
        1 - 1e-7 as that.
    from_logits : bool, optional
        Whether the predictions are unscaled logarithms of probabilities instead, which is faster and more accurate.
    ignore_class : int, optional
        A label whose examples have the loss 0.
    axis : int, optional
        Where the classes are.

    Returns
    -------
    Tensor
        Of the shape of the predictions without the axis of the classes, in their dtype.

    Raises
    ------
    OptionError
        If a label is not the number of a class, or a prediction no probability, unless they are logits.
    ShapeError
        If there is not one label for each example.
    UnsupportedArgumentError
        If the predictions are complex.

    Notes
    -----
    Of predictions straight from a softmax, the logits are known, and the loss is computed from those, as in Keras with
    TensorFlow: it has a gradient where the probabilities are rounded to 0 or 1, and none with respect to the
    predictions themselves. Other predictions are kept at least 1e-7 from 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.sparse_categorical_crossentropy([1, 0], [[0.5, 0.5], [0.25, 0.75]]), 4)
    Tensor([0.6931, 1.3863], dtype=float32)
    >>> nn.losses.sparse_categorical_crossentropy([1], [[0.0, 1000.0]], from_logits=True)
    Tensor([0.], dtype=float32)
    """
    y_pred = as_tensor(real_numbers(y_pred))
    place = class_axis(axis, y_pred)
    if not from_logits and (logits := logits_of(y_pred, "softmax", place)) is not None:
        y_pred, from_logits = logits, True
    if place != -1:
        y_pred = np.moveaxis(y_pred, place, -1)
    labels = class_numbers(y_true, y_pred)
    if ignore_class is not None:
        counted = labels != ignore_class
        labels = np.where(counted, labels, 0)
        y_pred = np.where(counted[..., None], y_pred, 0)
    if not from_logits:
        require_probabilities(y_pred, NO_LOGITS)
        least = least_probability(y_pred)
        y_pred = np.log(np.clip(y_pred, least, 1 - least))
    try:
        losses = sparse_softmax_cross_entropy(labels, y_pred)
    except OptionError:
        require_classes(labels, y_pred.shape[-1])  # which says more
        raise
    return losses if ignore_class is None else np.where(counted, losses, 0)


class SparseCategoricalCrossentropy(KnownLoss):
    """The loss `sparse_categorical_crossentropy`, for labels that are numbers of classes, averaged over the batch.

    Parameters
    ----------
    from_logits : bool, optional
        Whether the model gives logits, without softmax at its end.
    ignore_class : int, optional
        A label whose examples do not count, not even in the mean.
    reduction : optional
        As of `Loss`.
    axis : int, optional
        Where the classes are.
    name, dtype : optional
        As of `Loss`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> loss = nn.losses.SparseCategoricalCrossentropy(from_logits=True)
    >>> round(float(loss([0, 1], [[2.0, 2.0], [0.0, 1000.0]])), 4)
    0.3466
    """

    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: Reduction = "sum_over_batch_size",
        axis: int = -1,
        name: str = "sparse_categorical_crossentropy",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            sparse_categorical_crossentropy,
            reduction,
            name,
            dtype,
            from_logits=from_logits,
            ignore_class=ignore_class,
            axis=axis,
        )
        self.ignore_class = ignore_class
        self.axis = axis

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Compute the losses, weight and reduce them; as of `Loss`, without the examples of the ignored class."""
        if self.ignore_class is not None:
            y_pred = self._predictions(y_pred)
            classes_last = np.moveaxis(y_pred, class_axis(self.axis, y_pred), -1)
            labels = class_numbers(y_true, classes_last)
            sample_weight = self._without_ignored(labels, sample_weight, y_pred.dtype)
        return super().__call__(y_true, y_pred, sample_weight)

    def _without_ignored(self, labels: Any, sample_weight: Any, dtype: Any) -> Any:
        """Weights that are 0 for the ignored class, and that make a mean over all labels one over the others."""
        counted = labels != self.ignore_class
        weights = counted.astype(dtype)
        if self.reduction in {"sum_over_batch_size", "mean"}:
            weights *= counted.size / max(np.count_nonzero(counted), 1)
        if sample_weight is None:
            return weights
        return np.multiply(*weighted(weights, sample_weight))
