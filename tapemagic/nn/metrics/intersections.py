"""IoU and its kin: how much of the area of a class two pictures of class numbers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.tensor import unwrap, wrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.config import epsilon
from tapemagic.nn.metrics.metric import Metric


class IoU(Metric):
    """The intersection over the union of pixels of a class, on average over some classes.

    Parameters
    ----------
    num_classes : int
    target_class_ids : sequence of int
        The classes that count.
    ignore_class : int, optional
        Pixels with this label don't count.
    sparse_y_true, sparse_y_pred : bool, optional
        False for one-hot rows or probabilities along `axis`, instead of class numbers.
    dtype : optional
        That of the counts, by default int32.

    Examples
    --------
    >>> from tapemagic import nn
    >>> iou = nn.metrics.IoU(num_classes=2, target_class_ids=[0])
    >>> print(round(float(iou([0, 0, 1, 1], [0, 1, 0, 1])), 4))
    0.3333
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: DTypeLike | None = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(None, name)
        if (
            not target_class_ids
            or not 0 <= min(target_class_ids) <= max(target_class_ids) < num_classes
        ):
            raise OptionError(
                f"target_class_ids must be from 0 to {num_classes - 1}, not {target_class_ids!r}"
            )
        self.num_classes = num_classes
        self.target_class_ids = list(target_class_ids)
        self.ignore_class = ignore_class
        self.sparse_y_true = sparse_y_true
        self.sparse_y_pred = sparse_y_pred
        self.axis = axis
        self.total_cm: Variable = self.add_variable(
            (num_classes, num_classes),
            "zeros",
            np.dtype("int32" if dtype in (None, "int") else dtype),
            "total_confusion_matrix",
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add the labels and predictions of pixels, with a weight for each."""
        labels, predictions = np.asarray(unwrap(y_true)), np.asarray(unwrap(y_pred))
        if not self.sparse_y_true:
            labels = np.argmax(labels, self.axis)
        if not self.sparse_y_pred:
            predictions = np.argmax(predictions, self.axis)
        if labels.size != predictions.size:
            raise ShapeError(
                f"{type(self).__name__} needs a prediction for each label, not the shapes {labels.shape} and "
                f"{predictions.shape}: for probabilities, write sparse_y_pred=False"
            )
        rows, columns = (np.ravel(x).astype(np.int64) for x in (labels, predictions))
        # As in Keras, class numbers out of range don't count.
        counts = (rows >= 0) & (rows < self.num_classes)
        counts &= (columns >= 0) & (columns < self.num_classes)
        if self.ignore_class is not None:
            counts &= rows != self.ignore_class
        weight = 1 if sample_weight is None else np.asarray(unwrap(sample_weight))
        dtype = self.total_cm.dtype
        weights = np.broadcast_to(np.ravel(weight) if np.ndim(weight) else weight, rows.shape)
        matrix = np.zeros(self.total_cm.shape, dtype)
        np.add.at(matrix, (rows[counts], columns[counts]), weights[counts].astype(dtype))
        self.total_cm.assign_add(matrix)

    def result(self) -> Any:
        """Return the average of the classes that occur."""
        matrix = self.total_cm.numpy().astype(np.float32)
        both = np.diag(matrix)[self.target_class_ids]
        either = (matrix.sum(0) + matrix.sum(1) - np.diag(matrix))[self.target_class_ids]
        small = np.float32(epsilon())
        present = either > 1e-9
        shares = np.where(present, both / (either + small), np.float32(0))
        return wrap(np.float32(shares.sum() / (np.float32(present.sum()) + small)))


class MeanIoU(IoU):
    """The intersection over the union of pixels, on average over all classes.

    Parameters
    ----------
    num_classes : int
    ignore_class, sparse_y_true, sparse_y_pred, dtype : optional, see `IoU`

    Examples
    --------
    >>> from tapemagic import nn
    >>> iou = nn.metrics.MeanIoU(num_classes=2)
    >>> print(round(float(iou([0, 0, 1, 1], [0, 1, 0, 1])), 4))
    0.3333
    """

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        options = dtype, ignore_class, sparse_y_true, sparse_y_pred, axis
        super().__init__(num_classes, range(num_classes), name, *options)


class BinaryIoU(IoU):
    """The intersection over the union of pixels of two classes, for probabilities.

    Parameters
    ----------
    target_class_ids : sequence of int, optional
        0, 1, or both.
    threshold : float, optional
        The smallest probability of class 1.
    dtype : optional, see `IoU`

    Examples
    --------
    >>> from tapemagic import nn
    >>> iou = nn.metrics.BinaryIoU(threshold=0.3)
    >>> print(round(float(iou([0, 1, 0, 1], [0.1, 0.2, 0.4, 0.7])), 4))
    0.3333
    """

    def __init__(
        self,
        target_class_ids: Sequence[int] = (0, 1),
        threshold: float = 0.5,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add the labels and probabilities of pixels, with a weight for each."""
        super().update_state(y_true, np.asarray(unwrap(y_pred)) >= self.threshold, sample_weight)


class OneHotIoU(IoU):
    """`IoU` for one-hot labels and probabilities.

    Parameters
    ----------
    num_classes, target_class_ids, ignore_class, sparse_y_pred, dtype : see `IoU`

    Examples
    --------
    >>> from tapemagic import nn
    >>> iou = nn.metrics.OneHotIoU(num_classes=2, target_class_ids=[1])
    >>> print(round(float(iou([[0, 1], [1, 0]], [[0.2, 0.8], [0.1, 0.9]])), 4))
    0.5
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: DTypeLike | None = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(
            num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis
        )


class OneHotMeanIoU(MeanIoU):
    """`MeanIoU` for one-hot labels and probabilities.

    Parameters
    ----------
    num_classes, ignore_class, sparse_y_pred, dtype : see `IoU`

    Examples
    --------
    >>> from tapemagic import nn
    >>> iou = nn.metrics.OneHotMeanIoU(num_classes=2)
    >>> print(round(float(iou([[0, 1], [1, 0]], [[0.2, 0.8], [0.1, 0.9]])), 4))
    0.25
    """

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)
