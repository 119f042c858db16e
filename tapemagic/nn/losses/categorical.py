"""Cross-entropies of classes, for targets with a number for each class, and for class numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.exponentials import log_softmax
from tapemagic.engine.operations.losses import softmax_cross_entropy
from tapemagic.engine.operations.sparse_losses import sparse_softmax_cross_entropy
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.conversions import as_tensor, real_numbers
from tapemagic.nn.logits import logits_of
from tapemagic.nn.losses.arguments import (
    NO_LOGITS,
    class_axis,
    class_numbers,
    matching_pair,
    min_probability,
    require_classes,
    require_probabilities,
    share,
)
from tapemagic.nn.losses.binary import focal_weights
from tapemagic.nn.losses.loss import KnownLoss, Reduction
from tapemagic.nn.losses.reduction import weighted


def categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the cross-entropy ``-sum(y_true * log(y_pred))`` of target and predicted probabilities of classes.

    If the predictions are the direct result of a softmax, the loss is computed from its logits; see
    `binary_crossentropy`.

    Parameters
    ----------
    y_true : array_like or Tensor
        The target probability of each class, usually 1 for one class and 0 for the others.
    y_pred : array_like or Tensor
        The predicted probability of each class. Divided by their sum, they are clipped to the interval from 1e-7 to
        1 - 1e-7.
    from_logits : bool, optional
        True if the predictions are unscaled logarithms of probabilities, which is faster and more accurate.
    label_smoothing : float, optional
        The share, from 0 to 1, of the targets that is spread over all classes [1]_.
    axis : int, optional
        The axis of the classes.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    OptionError
        If a prediction is negative, unless it's a logit.
    ShapeError
        If the shapes differ, or there is only one class.

    References
    ----------
    .. [1] C. Szegedy, V. Vanhoucke, S. Ioffe, J. Shlens and Z. Wojna, "Rethinking the Inception architecture for
       computer vision", CVPR 2016, section 7.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.categorical_crossentropy([[0, 1], [1, 0]], [[0.5, 0.5], [0.25, 0.75]]), 4)
    Tensor([0.6931, 1.3863], dtype=float32)
    """
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing, axis)
    # With logits, log(softmax(z)) = z - logsumexp(z) stays finite where a probability rounds to 0.
    logits = y_pred if from_logits else logits_of(y_pred, "softmax", axis)
    if logits is not None:
        return softmax_cross_entropy(y_true, logits, axis=axis)  # type: ignore[no-any-return]
    return -np.sum(y_true * np.log(_scaled(y_pred, axis)), axis=axis)  # type: ignore[no-any-return]


class CategoricalCrossentropy(KnownLoss):
    """The loss `categorical_crossentropy`, for targets with a number for each class, averaged over the batch.

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
) -> Tensor:
    """Return the focal cross-entropy, in which well predicted examples have less weight [1]_.

    Parameters
    ----------
    y_true, y_pred, from_logits, label_smoothing, axis : see `categorical_crossentropy`
    alpha : float or array_like, optional
        The weight of each class.
    gamma : float, optional
        The exponent of the factor ``(1 - y_pred)**gamma``.

    References
    ----------
    .. [1] T.-Y. Lin, P. Goyal, R. Girshick, K. He and P. Dollár, "Focal loss for dense object detection", ICCV 2017,
       equation 5.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.categorical_focal_crossentropy([[0, 1], [1, 0]], [[0.5, 0.5], [0.25, 0.75]]), 4)
    Tensor([0.0433, 0.1949], dtype=float32)
    """
    y_true, y_pred = _targets(y_true, y_pred, label_smoothing, axis)
    logits = y_pred if from_logits else logits_of(y_pred, "softmax", axis)
    # Unlike Keras, which clips the probabilities: with logits, there is a gradient where a probability is rounded to 0.
    logarithms = np.log(_scaled(y_pred, axis)) if logits is None else log_softmax(logits, axis)
    weights = focal_weights(-np.expm1(logarithms), gamma) * np.asarray(alpha, y_pred.dtype)
    return np.sum(weights * y_true * -logarithms, axis=axis)  # type: ignore[no-any-return]


class CategoricalFocalCrossentropy(KnownLoss):
    """The loss `categorical_focal_crossentropy`, averaged over the batch.

    Parameters
    ----------
    alpha, gamma : optional, see `categorical_focal_crossentropy`

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
    """Return smoothed targets, and predictions."""
    y_true, y_pred = matching_pair(y_true, y_pred)
    if y_pred.shape[class_axis(axis, y_pred)] == 1:
        raise ShapeError(
            f"predictions of the shape {y_pred.shape} have one class, which is always right: for two classes and one "
            "output, use BinaryCrossentropy"
        )
    if share(label_smoothing):
        y_true = y_true * (1 - label_smoothing) + label_smoothing / y_true.shape[axis]
    return y_true, y_pred


def _scaled(y_pred: Any, axis: int) -> Any:
    """Return probabilities divided by their sum, and clipped away from 0 and 1."""
    require_probabilities(y_pred, NO_LOGITS, bounded=False)
    # Keras divides by the sum, so that predictions which aren't normalized are still a distribution.
    y_pred = y_pred / np.sum(y_pred, axis=axis, keepdims=True)
    minimum = min_probability(y_pred)
    return np.clip(y_pred, minimum, 1 - minimum)


def sparse_categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    ignore_class: int | None = None,
    axis: int = -1,
) -> Tensor:
    """Return minus the logarithm of the predicted probability of each label.

    Raises OptionError if a label isn't a class number, or a prediction isn't a probability, unless it's a logit;
    ShapeError unless there is one label for each example.

    Parameters
    ----------
    y_true : array_like of int
        The class number of each example, in the shape of the predictions without the axis of the classes, or with
        length 1 there.
    ignore_class : int, optional
        A label whose examples have the loss 0.
    y_pred, from_logits, axis : see `categorical_crossentropy`

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
    class_position = class_axis(axis, y_pred)
    if not from_logits and (logits := logits_of(y_pred, "softmax", class_position)) is not None:
        y_pred, from_logits = logits, True
    if class_position != -1:
        y_pred = np.moveaxis(y_pred, class_position, -1)
    labels = class_numbers(y_true, y_pred)
    if ignore_class is not None:
        counted = labels != ignore_class
        labels = np.where(counted, labels, 0)
        # Zeros as predictions, too: nan in an ignored example would make its gradient 0 * nan.
        y_pred = np.where(counted[..., None], y_pred, 0)
    if not from_logits:
        require_probabilities(y_pred, NO_LOGITS)
        minimum = min_probability(y_pred)
        y_pred = np.log(np.clip(y_pred, minimum, 1 - minimum))
    try:
        losses = sparse_softmax_cross_entropy(labels, y_pred)
    except OptionError:
        require_classes(labels, y_pred.shape[-1])  # its message is more specific
        raise
    return losses if ignore_class is None else np.where(counted, losses, 0)  # type: ignore[return-value]


class SparseCategoricalCrossentropy(KnownLoss):
    """The loss `sparse_categorical_crossentropy`, for class numbers as labels, averaged over the batch.

    Parameters
    ----------
    ignore_class : int, optional
        A label whose examples are ignored, also in the mean.

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

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """Compute, weight and reduce the losses of all examples except those of the ignored class; see `Loss`."""
        if self.ignore_class is not None:
            y_pred = self._predictions(y_pred)
            classes_last = np.moveaxis(y_pred, class_axis(self.axis, y_pred), -1)
            labels = class_numbers(y_true, classes_last)
            sample_weight = self._without_ignored(labels, sample_weight, y_pred.dtype)
        return super().__call__(y_true, y_pred, sample_weight)

    def _without_ignored(self, labels: Any, sample_weight: Any, dtype: Any) -> Any:
        """Return weights that are 0 for the ignored class, scaled so that the mean is one over the other examples."""
        counted = labels != self.ignore_class
        weights = counted.astype(dtype)
        if self.reduction in {"sum_over_batch_size", "mean"}:
            # The mean divides by all examples, so the weights compensate for those that are ignored.
            weights *= counted.size / max(np.count_nonzero(counted), 1)
        if sample_weight is None:
            return weights
        return np.multiply(*weighted(weights, sample_weight))


def categorical_generalized_cross_entropy(y_true: Any, y_pred: Any, q: float) -> Tensor:
    """Return ``(1 - p**q) / q`` for the predicted probability `p` of each label, which wrong labels affect less [1]_.

    Parameters
    ----------
    y_true, y_pred : see `sparse_categorical_crossentropy`
        Probabilities are at least 1e-7.
    q : float
        A number between 0 and 1: near 0 the loss is the cross-entropy, at 1 it would be ``1 - p``.

    References
    ----------
    .. [1] Z. Zhang and M. R. Sabuncu, "Generalized cross entropy loss for training deep neural networks with noisy
       labels", NeurIPS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> np.round(nn.losses.categorical_generalized_cross_entropy([1, 0], [[0.75, 0.25], [0.36, 0.64]], 0.5), 4)
    Tensor([1. , 0.8], dtype=float32)
    """
    y_pred = as_tensor(real_numbers(y_pred))
    labels = class_numbers(y_true, y_pred)
    require_classes(labels, y_pred.shape[-1])
    require_probabilities(y_pred, NO_LOGITS)
    # p**q from log(p), which is finite where a softmax rounds to 0, and so is its gradient.
    logits = logits_of(y_pred, "softmax", -1)
    least = min_probability(y_pred)
    logarithms = np.log(np.maximum(y_pred, least)) if logits is None else log_softmax(logits)
    chosen = np.take_along_axis(logarithms, labels[..., None], axis=-1)[..., 0]
    return -np.expm1(q * chosen) / q  # type: ignore[return-value]


class CategoricalGeneralizedCrossEntropy(KnownLoss):
    """The loss `categorical_generalized_cross_entropy`, averaged over the batch.

    Parameters
    ----------
    q : float, optional, see `categorical_generalized_cross_entropy`

    Examples
    --------
    >>> from tapemagic import nn
    >>> loss = nn.losses.CategoricalGeneralizedCrossEntropy()
    >>> round(float(loss([1, 0], [[0.75, 0.25], [1.0, 0.0]])), 4)
    0.5
    """

    def __init__(
        self,
        q: float = 0.5,
        reduction: Reduction = "sum_over_batch_size",
        name: str = "categorical_generalized_cross_entropy",
        dtype: DTypeLike | None = None,
    ) -> None:
        if not 0 < q < 1:
            raise OptionError(f"q must be between 0 and 1, not {q!r}: write q=0.5")
        super().__init__(categorical_generalized_cross_entropy, reduction, name, dtype, q=q)
