"""Cross-entropies of classes, for targets with a number for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.exponentials import softmax
from tapemagic.engine.operations.losses import softmax_cross_entropy
from tapemagic.engine.operations.sparse_losses import sparse_softmax_cross_entropy
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.logits import logits_of
from tapemagic.nn.losses.arguments import (
    NO_LOGITS,
    class_axis,
    class_numbers,
    least_probability,
    pair,
    require_classes,
    require_probabilities,
    share,
)
from tapemagic.nn.losses.loss import KnownLoss
from tapemagic.nn.losses.reduction import weighted

Reduction = str | None


def categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """The cross-entropy between target and predicted probabilities of classes.

    Parameters
    ----------
    y_true : array_like or Tensor
        The target probability of each class, usually 1 for one class and 0 for the others, in the shape of the
        predictions.
    y_pred : array_like or Tensor
        The predicted probability of each class; they are divided by their sum. Those below 1e-7 count as 1e-7, and
        those above 1 - 1e-7 as that.
    from_logits : bool, optional
        Whether the predictions are unscaled logarithms of probabilities instead, which is faster and more accurate.
    label_smoothing : float, optional
        The share, from 0 to 1, of the targets that is spread over all classes [1]_.
    axis : int, optional
        Where the classes are.

    Returns
    -------
    Tensor
        ``-sum(y_true * log(y_pred))``, of the shape of the predictions without `axis`, in their dtype.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    OptionError
        If `label_smoothing` is no share, or a prediction is negative, unless they are logits.
    ShapeError
        If the shapes differ, or there is only one class.
    UnsupportedArgumentError
        If targets or predictions are complex.

    Notes
    -----
    Of predictions straight from a softmax, the logits are known, and the loss is computed from those, as in Keras with
    TensorFlow: it has a gradient where the probabilities are rounded to 0 or 1, and none with respect to the
    predictions themselves. Other predictions are kept at least 1e-7 from 0 and 1.

    References
    ----------
    .. [1] C. Szegedy, V. Vanhoucke, S. Ioffe, J. Shlens and Z. Wojna, "Rethinking the Inception architecture for
       computer vision", CVPR 2016, section 7.

    Examples
    --------
    >>> from tapemagic import nn
    >>> np.round(nn.losses.categorical_crossentropy([[0, 1], [1, 0]], [[0.5, 0.5], [0.25, 0.75]]), 4)
    Tensor([0.6931, 1.3863], dtype=float32)
    """
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing, axis)
    logits = y_pred if from_logits else logits_of(y_pred, "softmax", axis)
    if logits is not None:
        return softmax_cross_entropy(y_true, logits, axis=axis)
    return -np.sum(y_true * np.log(_scaled(y_pred, axis)), axis=axis)


class CategoricalCrossentropy(KnownLoss):
    """The loss `categorical_crossentropy`, for targets with a number for each class, averaged over the batch.

    Parameters
    ----------
    from_logits : bool, optional
        Whether the model gives logits, without softmax at its end.
    label_smoothing : float, optional
        The share, from 0 to 1, of the targets that is spread over all classes.
    axis : int, optional
        Where the classes are.
    reduction, name, dtype : optional
        See `Loss`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.CategoricalCrossentropy()([[0, 1], [1, 0]], [[0.5, 0.5], [0.25, 0.75]])), 4)
    1.0397
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "categorical_crossentropy",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            categorical_crossentropy,
            reduction,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=share(label_smoothing),
            axis=axis,
        )


def categorical_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """The focal cross-entropy, in which examples that are predicted well count less [1]_.

    Parameters
    ----------
    y_true, y_pred : array_like or Tensor
        As of `categorical_crossentropy`.
    alpha : float or array_like, optional
        The weight of each class.
    gamma : float, optional
        How much less they count: the losses are multiplied by ``(1 - y_pred)**gamma``.
    from_logits, label_smoothing, axis : optional
        As of `categorical_crossentropy`.

    Returns
    -------
    Tensor
        Of the shape of the predictions without `axis`, in their dtype.

    References
    ----------
    .. [1] T.-Y. Lin, P. Goyal, R. Girshick, K. He and P. Dollár, "Focal loss for dense object detection", ICCV 2017,
       equation 5.

    Examples
    --------
    >>> from tapemagic import nn
    >>> np.round(nn.losses.categorical_focal_crossentropy([[0, 1], [1, 0]], [[0.5, 0.5], [0.25, 0.75]]), 4)
    Tensor([0.0433, 0.1949], dtype=float32)
    """
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing, axis)
    if from_logits:
        y_pred = softmax(y_pred, axis)
    y_pred = _scaled(y_pred, axis)
    weights = np.power(1 - y_pred, gamma) * np.asarray(alpha, y_pred.dtype)
    return -np.sum(weights * y_true * np.log(y_pred), axis=axis)


class CategoricalFocalCrossentropy(KnownLoss):
    """The loss `categorical_focal_crossentropy`, averaged over the batch.

    Parameters
    ----------
    alpha : float or array_like, optional
        The weight of each class.
    gamma : float, optional
        How much less well predicted examples count.
    from_logits, label_smoothing, axis : optional
        As of `CategoricalCrossentropy`.
    reduction, name, dtype : optional
        See `Loss`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.CategoricalFocalCrossentropy()([[0, 1], [1, 0]], [[0.5, 0.5], [0.25, 0.75]])), 4)
    0.1191
    """

    def __init__(
        self,
        alpha: Any = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "categorical_focal_crossentropy",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            categorical_focal_crossentropy,
            reduction,
            name,
            dtype,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=share(label_smoothing),
            axis=axis,
        )


def _targets(y_true: Any, y_pred: Any, label_smoothing: float, axis: int) -> tuple[Any, Any]:
    """Targets, smoothed, and predictions."""
    y_true, y_pred = pair(y_true, y_pred)
    if y_pred.shape[class_axis(axis, y_pred)] == 1:
        raise ShapeError(
            f"predictions of the shape {y_pred.shape} have one class, which is always right: for two classes in one "
            "output there is BinaryCrossentropy"
        )
    if share(label_smoothing):
        y_true = y_true * (1 - label_smoothing) + label_smoothing / y_true.shape[axis]
    return y_true, y_pred


def _scaled(y_pred: Any, axis: int) -> Any:
    """Probabilities that add up to 1, away from 0 and 1."""
    require_probabilities(y_pred, NO_LOGITS, bounded=False)
    y_pred = y_pred / np.sum(y_pred, axis=axis, keepdims=True)
    least = least_probability(y_pred)
    return np.clip(y_pred, least, 1 - least)


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
