"""Losses of predicted probabilities of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.typing import DTypeLike

from tapemagic.engine.operations.logistic import sigmoid
from tapemagic.engine.operations.losses import sigmoid_cross_entropy
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.nn.logits import logits_of
from tapemagic.nn.losses.arguments import (
    NO_LOGITS,
    matching_pair,
    min_probability,
    require_probabilities,
    share,
)
from tapemagic.nn.losses.loss import ERRORS, KnownLoss, Reduction


def binary_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the mean along an axis of the cross-entropy between binary targets and predicted probabilities.

    The mean of ``-y_true * log(y_pred) - (1 - y_true) * log(1 - y_pred)``. Raises OptionError if a prediction isn't a
    probability, unless it's a logit, or a target isn't between -0.5 and 1.5.

    If the predictions are the direct result of a sigmoid, the loss is computed from its logits, as in Keras on
    TensorFlow: so it has a gradient where probabilities are rounded to 0 or 1, but no gradient with respect to the
    predictions themselves.

    Parameters
    ----------
    y_true : array_like or Tensor
        0, 1, or a probability; see `nn.losses` for the shape.
    y_pred : array_like or Tensor
        Probabilities of 1, which are clipped to the interval from 1e-7 to 1 - 1e-7.
    from_logits : bool, optional
        True if the predictions are log-odds, before a sigmoid, which is faster and more accurate.
    label_smoothing : float, optional
        The share, from 0 to 1, by which targets are moved towards 0.5.
    axis : int, optional
        The axis of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.binary_crossentropy([[1.0, 0.0]], [[0.5, 0.5]]), 4)
    Tensor([0.6931], dtype=float32)
    >>> np.round(nn.losses.binary_crossentropy([[1.0, 0.0]], [[1000.0, 0.0]], from_logits=True), 4)
    Tensor([0.3466], dtype=float32)
    """
    return np.mean(_each(y_true, y_pred, from_logits, label_smoothing, axis), axis=axis)  # type: ignore[no-any-return]


def _each(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """Return the cross-entropy of each prediction."""
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing)
    normalize_axis_tuple(axis, y_pred.ndim)
    # With logits z, the cross-entropy is max(z, 0) - z * y + log(1 + exp(-|z|)), which neither overflows nor loses the
    # gradient where the sigmoid rounds to 1.
    logits = y_pred if from_logits else logits_of(y_pred, "sigmoid")
    if logits is not None:
        return sigmoid_cross_entropy(y_true, logits)
    return _from_probabilities(y_true, y_pred)


ERRORS[binary_crossentropy] = _each


class BinaryCrossentropy(KnownLoss):
    """The loss `binary_crossentropy`, averaged over the batch.

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
) -> Tensor:
    """Return the binary focal cross-entropy, in which well predicted examples have less weight [1]_.

    Parameters
    ----------
    y_true, y_pred, from_logits, label_smoothing, axis : see `binary_crossentropy`
    apply_class_balancing : bool, optional
        Weight targets of 1 by `alpha`, and targets of 0 by ``1 - alpha``.
    alpha : float, optional
    gamma : float, optional
        The exponent of the factor ``(1 - p)**gamma``, where `p` is the predicted probability of the target.

    References
    ----------
    .. [1] T.-Y. Lin, P. Goyal, R. Girshick, K. He and P. Dollár, "Focal loss for dense object detection", ICCV 2017,
       equations 4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.binary_focal_crossentropy([[1.0, 0.0]], [[0.5, 0.5]]), 4)
    Tensor([0.1733], dtype=float32)
    """
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing)
    logits = y_pred if from_logits else logits_of(y_pred, "sigmoid")
    if logits is None:
        losses = _from_probabilities(y_true, y_pred)
        one, zero = y_pred, 1 - y_pred
    else:
        losses = sigmoid_cross_entropy(y_true, logits)
        # Not 1 - sigmoid(z), which is rounded to 0 for large z.
        one, zero = sigmoid(logits), sigmoid(-logits)
    # The factor has 1 - p_t in equation 5 of [1], also for smoothed targets.
    losses = focal_weights(y_true * zero + (1 - y_true) * one, gamma) * losses
    if apply_class_balancing:
        losses = (y_true * alpha + (1 - y_true) * (1 - alpha)) * losses
    return np.mean(losses, axis=axis)  # type: ignore[no-any-return]


def focal_weights(wrong: Any, gamma: float) -> Any:
    """Return ``wrong**gamma``, for the probability that a prediction is wrong."""
    # Below an exponent of 1 the slope at 0 is infinite, and times the slope 0 of a saturated probability it's nan:
    # Keras returns that.
    if gamma < 1:
        wrong = np.maximum(wrong, np.finfo(wrong.dtype).tiny)
    return np.power(wrong, gamma) if gamma else 1


class BinaryFocalCrossentropy(KnownLoss):
    """The loss `binary_focal_crossentropy`, averaged over the batch.

    Parameters
    ----------
    apply_class_balancing, alpha, gamma : optional, see `binary_focal_crossentropy`

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
    """Return smoothed targets, and predictions."""
    y_true, y_pred = matching_pair(y_true, y_pred)
    # Keras accepts any targets. Class numbers such as 2 are a common mistake, and would give a negative loss.
    require_probabilities(y_true, _NOT_BINARY, beyond=0.5, what="target")
    if share(label_smoothing):
        y_true = y_true * (1 - label_smoothing) + 0.5 * label_smoothing
    return y_true, y_pred


_NOT_BINARY = (
    "a binary cross-entropy takes targets of 0 and 1; for more than two classes there is "
    "SparseCategoricalCrossentropy"
)


def _from_probabilities(y_true: Any, y_pred: Any) -> Any:
    """Return the cross-entropy of each probability."""
    require_probabilities(y_pred, NO_LOGITS)
    minimum = min_probability(y_pred)
    y_pred = np.clip(y_pred, minimum, 1 - minimum)
    return -(y_true * np.log(y_pred) + (1 - y_true) * np.log(1 - y_pred))
