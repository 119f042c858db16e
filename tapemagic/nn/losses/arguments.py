"""Targets, predictions, labels and sample weights as losses and metrics compute with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.engine.laziness import is_lazy, require_computed
from tapemagic.engine.operations.common import operand
from tapemagic.engine.tensor.coercion import require_plain
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, RankError, ShapeError, UnsupportedArgumentError
from tapemagic.nn.arguments import number
from tapemagic.nn.config import epsilon
from tapemagic.nn.conversions import as_array, as_tensor, real_numbers


def pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Targets and predictions, which become a tensor, in the dtype of the predictions and of one shape.

    An axis of length 1 at the end of one of them, which the other one does not have, is taken away or put in there.

    Raises
    ------
    NotNumbersError
        If one of them is not made of numbers.
    RankError
        If the predictions have no axis.
    ShapeError
        If their shapes differ otherwise; a single target is meant for all predictions.
    UnsupportedArgumentError
        If one of them is complex.
    """
    y_pred = as_tensor(real_numbers(y_pred))
    y_true = real_numbers(y_true, y_pred.dtype, "targets")
    require_outputs(y_pred)
    if y_true.shape == y_pred.shape:
        return y_true, y_pred
    if not y_true.ndim:
        return np.broadcast_to(y_true, y_pred.shape), y_pred
    y_true, y_pred = same_rank(y_true, y_pred)
    if y_true.shape != y_pred.shape:
        advice = "give one target for each prediction"
        if y_true.shape in {y_pred.shape[:-1], (*y_pred.shape[:-1], 1)}:
            advice += (
                "; for labels that are numbers of classes there is SparseCategoricalCrossentropy"
            )
        raise ShapeError(
            f"targets of the shape {y_true.shape} and predictions of the shape {y_pred.shape}: {advice}"
        )
    return y_true, y_pred


def require_outputs(y_pred: Any) -> None:
    """Raise an error for predictions without an axis, or of length 0 there.

    Raises
    ------
    RankError
        If there is no axis.
    ShapeError
        If the last one has the length 0.
    """
    if not y_pred.ndim:
        raise RankError(
            f"a loss takes predictions with at least one axis, not the number {unwrap(y_pred)}: write "
            "np.reshape(y_pred, (1, 1)) for one example with one output"
        )
    if not y_pred.shape[-1]:
        raise ShapeError(f"predictions of the shape {y_pred.shape} have no outputs")


def same_rank(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays, with an axis of length 1 at the end taken away or put in, where only one of them has it.

    Examples
    --------
    >>> a, b = same_rank(np.zeros(3), np.zeros((3, 1)))
    >>> a.shape, b.shape
    ((3, 1), (3, 1))
    """
    if a.ndim == b.ndim + 1 and a.shape[-1] == 1:
        return (a, b[:, None]) if b.ndim == 1 else (a[..., 0], b)
    if b.ndim == a.ndim + 1 and b.shape[-1] == 1:
        return (a[:, None], b) if a.ndim == 1 else (a, b[..., 0])
    return a, b


def class_numbers(y_true: Any, y_pred: Any) -> Any:
    """The number of the class of each example, as an array of whole numbers without the last axis of `y_pred`.

    Raises
    ------
    OptionError
        If a label is no whole number.
    ShapeError
        If there is not one label for each example.
    UnsupportedArgumentError
        If labels are complex.
    """
    require_outputs(y_pred)
    if y_true.__class__ is np.ndarray and y_true.dtype.kind in "iu":
        labels = y_true
    else:
        require_plain(type(y_true))
        labels = as_array(operand(y_true))
        if labels.dtype.kind not in "iu":
            labels = _as_integers(labels)
    if labels.ndim == y_pred.ndim and labels.ndim and labels.shape[-1] == 1:
        labels = labels[..., 0]
    if labels.shape != y_pred.shape[:-1]:
        raise _shape_error(labels, y_pred)
    return labels


AS_WHOLE = "write np.astype(labels, int)"
"""The advice for labels of which it cannot be seen whether they are whole numbers."""


def _as_integers(labels: Any) -> Any:
    """Labels of another dtype as whole numbers."""
    if labels.dtype.kind == "c":
        raise UnsupportedArgumentError(f"labels are whole numbers, not {labels.dtype}")
    require_computed(labels, f"the check that labels of {labels.dtype} are whole", AS_WHOLE)
    with np.errstate(invalid="ignore"):
        integers = labels.astype(np.int64)
    broken = integers != labels
    if np.any(broken):
        raise OptionError(
            f"a label is the number of a class, and {labels[broken].flat[0]} is no whole number: if the labels are "
            "probabilities, take CategoricalCrossentropy"
        )
    return integers


def _shape_error(labels: Any, y_pred: Any) -> ShapeError:
    advice = (
        "give one label for each example, and the classes along the last axis of the predictions"
    )
    if labels.shape == y_pred.shape:
        advice = (
            "one label for each class is what CategoricalCrossentropy and CategoricalAccuracy take; here give one "
            "number for each example, such as np.argmax(y_true, axis=-1)"
        )
    return ShapeError(
        f"labels of the shape {labels.shape} and predictions of the shape {y_pred.shape}: {advice}"
    )


def require_classes(labels: Any, classes: int) -> None:
    """Raise an error for a label that is not the number of a class.

    Raises
    ------
    OptionError
        If a label is negative, or not smaller than the number of classes.
    """
    wrong = (labels < 0) | (labels >= classes)
    if not wrong.any():
        return
    at = np.argwhere(wrong)[0].tolist()
    advice = f"labels are the whole numbers from 0 to {classes - 1}"
    if classes == 1:
        advice = "one number for two classes is what BinaryCrossentropy takes"
    raise OptionError(
        f"the label {labels[tuple(at)]} at {at} is not one of the {classes} classes of the predictions: {advice}"
    )


def require_probabilities(
    values: Any, advice: str, bounded: bool = True, beyond: float = 0.01, what: str = "prediction"
) -> None:
    """Raise an error for numbers that cannot be meant as probabilities.

    Parameters
    ----------
    values : array or Tensor
        NaN passes, and so does what is not computed.
    advice : str
        What to write instead.
    bounded : bool, optional
        Whether more than 1 is an error, too.
    beyond : float, optional
        How far outside of 0 and 1 is still taken for a probability, as rounding explains it.
    what : str, optional
        What the numbers are.

    Raises
    ------
    OptionError
    """
    values = as_array(values)
    if not values.size or is_lazy(values):
        return
    least, largest = np.min(values), np.max(values)
    wrong = least if least < -beyond else largest
    if wrong < -beyond or (bounded and wrong > 1 + beyond):
        raise OptionError(f"the {what} {wrong:.6g} is no probability: {advice}")


NO_LOGITS = (
    "write from_logits=True if the model has no softmax or sigmoid at its end, or give it one"
)
"""The advice where predictions are no probabilities."""


def least_probability(x: Any) -> float:
    """The number that keeps probabilities away from 0 and 1: 1e-7, or what half precision tells from 1.

    Examples
    --------
    >>> least_probability(np.zeros(1, "float32")), least_probability(np.zeros(1, "float16"))
    (1e-07, 0.00048828125)
    """
    return max(epsilon(), float(np.finfo(x.dtype).epsneg))


def class_axis(axis: Any, y_pred: Any) -> int:
    """The axis of the classes, counted from the end.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    OptionError
        If it is no whole number.
    """
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise OptionError(
            f"axis is the number of the axis of the classes, not {axis!r}: write axis=-1"
        )
    rank: int = y_pred.ndim
    if -rank <= axis < 0:
        return int(axis)
    return normalize_axis_index(int(axis), rank) - rank


def share(label_smoothing: Any) -> float:
    """A share of label smoothing.

    Raises
    ------
    OptionError
        If it is not from 0 to 1.
    """
    if number(label_smoothing, "label_smoothing", 0) > 1:
        raise OptionError(
            f"label_smoothing is a share from 0 to 1, not {label_smoothing!r}: write label_smoothing=0.1"
        )
    return float(label_smoothing)


def kind_of_targets(targets: tuple[int, ...], predictions: tuple[int, ...]) -> str:
    """The kind of targets by the shapes of targets and predictions: "binary", "sparse" or "categorical".

    Examples
    --------
    >>> kind_of_targets((8,), (8, 10)), kind_of_targets((8, 10), (8, 10)), kind_of_targets((8,), (8, 1))
    ('sparse', 'categorical', 'binary')
    """
    if predictions[-1:] == (1,):
        return "binary"
    if len(targets) < len(predictions) or targets[-1:] == (1,):
        return "sparse"
    return "categorical"
