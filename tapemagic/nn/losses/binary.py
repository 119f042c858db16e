"""Losses of the probabilities of yes or no."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.typing import DTypeLike

from tapemagic.engine.operations.logistic import sigmoid
from tapemagic.engine.operations.losses import sigmoid_cross_entropy
from tapemagic.nn.logits import logits_of
from tapemagic.nn.losses.arguments import (
    NO_LOGITS,
    least_probability,
    pair,
    require_probabilities,
    share,
)
from tapemagic.nn.losses.loss import ERRORS, KnownLoss

Reduction = str | None


def binary_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """The mean, along an axis, of the cross-entropy between targets of 0 or 1 and predicted probabilities of 1.

    Parameters
    ----------
    y_true : array_like or Tensor
        0, 1, or a probability, in the shape of the predictions, up to an axis of length 1 at the end.
    y_pred : array_like or Tensor
        Probabilities. Those below 1e-7 count as 1e-7, and those above 1 - 1e-7 as that.
    from_logits : bool, optional
        Whether the predictions are logarithms of odds instead, before a sigmoid, which is faster and more accurate.
    label_smoothing : float, optional
        The share, from 0 to 1, by which targets are moved towards 0.5.
    axis : int, optional
        The axis of the mean.

    Returns
    -------
    Tensor
        The mean of ``-y_true * log(y_pred) - (1 - y_true) * log(1 - y_pred)``, of the shape of the predictions without
        `axis`, in their dtype.

    Raises
    ------
    OptionError
        If `label_smoothing` is no share, a prediction is no probability, unless they are logits, or a target is not
        near to 0, to 1 or between them.

    Notes
    -----
    Of predictions straight from a sigmoid, the logits are known, and the loss is computed from those, as in Keras with
    TensorFlow: it has a gradient where the probabilities are rounded to 0 or 1, and none with respect to the
    predictions themselves. Other predictions are kept at least 1e-7 from 0 and 1.

    Examples
    --------
    >>> from tapemagic import nn
    >>> np.round(nn.losses.binary_crossentropy([[1.0, 0.0]], [[0.5, 0.5]]), 4)
    Tensor([0.6931], dtype=float32)
    >>> np.round(nn.losses.binary_crossentropy([[1.0, 0.0]], [[1000.0, 0.0]], from_logits=True), 4)
    Tensor([0.3466], dtype=float32)
    """
    return np.mean(_each(y_true, y_pred, from_logits, label_smoothing, axis), axis=axis)


def _each(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """The cross-entropy of each prediction."""
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing)
    normalize_axis_tuple(axis, y_pred.ndim)
    logits = y_pred if from_logits else logits_of(y_pred, "sigmoid")
    if logits is not None:
        return sigmoid_cross_entropy(y_true, logits)
    return _from_probabilities(y_true, y_pred)


ERRORS[binary_crossentropy] = _each


class BinaryCrossentropy(KnownLoss):
    """The loss `binary_crossentropy`, averaged over the batch.

    Parameters
    ----------
    from_logits : bool, optional
        Whether the model gives logits, without sigmoid at its end.
    label_smoothing : float, optional
        The share, from 0 to 1, by which targets are moved towards 0.5.
    axis : int, optional
        The axis of the mean over outputs.
    reduction, name, dtype : optional
        See `Loss`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.BinaryCrossentropy()([[1], [0]], [[0.5], [0.5]])), 4)
    0.6931
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "binary_crossentropy",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            binary_crossentropy,
            reduction,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=share(label_smoothing),
            axis=axis,
        )


def binary_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """The binary focal cross-entropy, in which examples that are predicted well count less [1]_.

    Parameters
    ----------
    y_true, y_pred : array_like or Tensor
        As of `binary_crossentropy`.
    apply_class_balancing : bool, optional
        Whether targets of 1 have the weight `alpha`, and those of 0 the weight ``1 - alpha``.
    alpha : float, optional
    gamma : float, optional
        How much less they count: the losses are multiplied by ``(1 - p)**gamma``, where `p` is the predicted
        probability of what is right.
    from_logits, label_smoothing, axis : optional
        As of `binary_crossentropy`.

    Returns
    -------
    Tensor
        Of the shape of the predictions without `axis`, in their dtype.

    References
    ----------
    .. [1] T.-Y. Lin, P. Goyal, R. Girshick, K. He and P. Dollár, "Focal loss for dense object detection", ICCV 2017,
       equations 4 and 5.

    Examples
    --------
    >>> from tapemagic import nn
    >>> np.round(nn.losses.binary_focal_crossentropy([[1.0, 0.0]], [[0.5, 0.5]]), 4)
    Tensor([0.1733], dtype=float32)
    """
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing)
    if from_logits:
        y_pred = sigmoid(y_pred)
    losses = _from_probabilities(y_true, y_pred)
    right = y_true * y_pred + (1 - y_true) * (1 - y_pred)
    losses = np.power(1 - right, gamma) * losses
    if apply_class_balancing:
        losses = (y_true * alpha + (1 - y_true) * (1 - alpha)) * losses
    return np.mean(losses, axis=axis)


class BinaryFocalCrossentropy(KnownLoss):
    """The loss `binary_focal_crossentropy`, averaged over the batch.

    Parameters
    ----------
    apply_class_balancing : bool, optional
        Whether targets of 1 have the weight `alpha`, and those of 0 the weight ``1 - alpha``.
    alpha : float, optional
    gamma : float, optional
        How much less well predicted examples count.
    from_logits, label_smoothing, axis : optional
        As of `BinaryCrossentropy`.
    reduction, name, dtype : optional
        See `Loss`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> round(float(nn.losses.BinaryFocalCrossentropy()([[1], [0]], [[0.5], [0.5]])), 4)
    0.1733
    """

    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "binary_focal_crossentropy",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            binary_focal_crossentropy,
            reduction,
            name,
            dtype,
            apply_class_balancing=apply_class_balancing,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=share(label_smoothing),
            axis=axis,
        )


def _targets(y_true: Any, y_pred: Any, label_smoothing: float) -> tuple[Any, Any]:
    """Targets, smoothed, and predictions."""
    y_true, y_pred = pair(y_true, y_pred)
    require_probabilities(y_true, _NOT_BINARY, beyond=0.5, what="target")
    if share(label_smoothing):
        y_true = y_true * (1 - label_smoothing) + 0.5 * label_smoothing
    return y_true, y_pred


_NOT_BINARY = (
    "a binary cross-entropy takes targets of 0 and 1; for numbers of several classes there is "
    "SparseCategoricalCrossentropy"
)


def _from_probabilities(y_true: Any, y_pred: Any) -> Any:
    """The cross-entropy of each probability."""
    require_probabilities(y_pred, NO_LOGITS)
    least = least_probability(y_pred)
    y_pred = np.clip(y_pred, least, 1 - least)
    return -(y_true * np.log(y_pred) + (1 - y_true) * np.log(1 - y_pred))
