"""Checks and conversions of the targets, predictions and labels of losses and metrics."""

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


def matching_pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return targets and predictions of equal shape and dtype, the predictions as a tensor.

    A last axis of length 1 that only one of them has is removed or added. A single target applies to all predictions.
    Raises NotNumbersError, UnsupportedArgumentError for complex numbers, and RankError or ShapeError.
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
        advice = "pass one target for each prediction"
        if y_true.shape in {y_pred.shape[:-1], (*y_pred.shape[:-1], 1)}:
            advice += "; for class numbers as labels there is SparseCategoricalCrossentropy"
        raise ShapeError(
            f"targets of the shape {y_true.shape} and predictions of the shape {y_pred.shape}: {advice}"
        )
    return y_true, y_pred


def require_outputs(y_pred: Any) -> None:
    """Raise RankError for predictions without axes, or ShapeError if the last axis is empty."""
    if not y_pred.ndim:
        raise RankError(
            f"a loss needs predictions with at least one axis, not the number {unwrap(y_pred)}: write "
            "np.reshape(y_pred, (1, 1)) for one example with one output"
        )
    if not y_pred.shape[-1]:
        raise ShapeError(f"predictions of the shape {y_pred.shape} have no outputs")


def same_rank(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two arrays of equal rank: remove or add a last axis of length 1 that only one of them has.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = same_rank(np.zeros(3), np.zeros((3, 1)))
    >>> a.shape, b.shape
    ((3, 1), (3, 1))
    """
    # As Keras's squeeze_or_expand_to_same_rank: without this, (n,) and (n, 1) would broadcast to (n, n), the classic
    # silent error with targets of shape (n,) and a model of one output.
    if a.ndim == b.ndim + 1 and a.shape[-1] == 1:
        return (a, b[:, None]) if b.ndim == 1 else (a[..., 0], b)
    if b.ndim == a.ndim + 1 and b.shape[-1] == 1:
        return (a[:, None], b) if a.ndim == 1 else (a, b[..., 0])
    return a, b


def class_numbers(y_true: Any, y_pred: Any) -> Any:
    """Return the class number of each example as an integer array of the shape of `y_pred` without its last axis.

    Raises OptionError for a label that isn't an integer, and ShapeError unless there is one label for each example.
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


AS_INTEGERS = "write np.astype(labels, int)"
"""The advice for lazy labels, whose values can't be checked."""


def _as_integers(labels: Any) -> Any:
    """Convert labels of another dtype to integers, or raise OptionError for fractions."""
    if labels.dtype.kind == "c":
        raise UnsupportedArgumentError(f"labels must be integers, not {labels.dtype}")
    require_computed(labels, f"the check that labels of {labels.dtype} are integers", AS_INTEGERS)
    with np.errstate(invalid="ignore"):
        integers = labels.astype(np.int64)
    broken = integers != labels
    if np.any(broken):
        raise OptionError(
            f"a label must be a class number, and {labels[broken].flat[0]} isn't an integer: if the labels are "
            "probabilities, use CategoricalCrossentropy"
        )
    return integers


def _shape_error(labels: Any, y_pred: Any) -> ShapeError:
    advice = "pass one label for each example, and predictions with the classes along the last axis"
    if labels.shape == y_pred.shape:
        advice = (
            "CategoricalCrossentropy and CategoricalAccuracy take one label for each class; here pass one number for "
            "each example, such as np.argmax(y_true, axis=-1)"
        )
    return ShapeError(
        f"labels of the shape {labels.shape} and predictions of the shape {y_pred.shape}: {advice}"
    )


def require_classes(labels: Any, classes: int) -> None:
    """Raise OptionError for a label that isn't a class number."""
    wrong = (labels < 0) | (labels >= classes)
    if not wrong.any():
        return
    at = np.argwhere(wrong)[0].tolist()
    advice = f"labels are integers from 0 to {classes - 1}"
    if classes == 1:
        advice = "for two classes and one output, use BinaryCrossentropy"
    raise OptionError(
        f"the label {labels[tuple(at)]} at {at} isn't one of the {classes} classes of the predictions: {advice}"
    )


def require_probabilities(
    values: Any, advice: str, bounded: bool = True, beyond: float = 0.01, what: str = "prediction"
) -> None:
    """Raise OptionError, with advice, for numbers that can't be probabilities. NaN and lazy arrays pass.

    - `bounded`: Also refuse numbers above 1.
    - `beyond`: The tolerance outside of the interval from 0 to 1.
    - `what`: The name of the numbers in the message.
    """
    values = as_array(values)
    if not values.size or is_lazy(values):
        return
    smallest, largest = np.min(values), np.max(values)
    wrong = smallest if smallest < -beyond else largest
    if wrong < -beyond or (bounded and wrong > 1 + beyond):
        raise OptionError(f"the {what} {wrong:.6g} isn't a probability: {advice}")


NO_LOGITS = "write from_logits=True if the model has no softmax or sigmoid at its end, or add one"
"""The advice for predictions that aren't probabilities."""


def min_probability(x: Any) -> float:
    """Return the distance that probabilities keep from 0 and 1: 1e-7, or the resolution of half precision near 1.

    Examples
    --------
    >>> import numpy as np
    >>> min_probability(np.zeros(1, "float32")), min_probability(np.zeros(1, "float16"))
    (1e-07, 0.00048828125)
    """
    # The losses clip to [p, 1 - p] before a logarithm. In float16, 1 - 1e-7 rounds to 1, and log(1 - 1) is infinite:
    # epsneg is the smallest number for which 1 - p differs from 1. Keras clips by 1e-7 in every dtype.
    return max(epsilon(), float(np.finfo(x.dtype).epsneg))


def class_axis(axis: Any, y_pred: Any) -> int:
    """Return the axis of the classes counted from the end, or raise OptionError or numpy.exceptions.AxisError."""
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise OptionError(
            f"axis must be the number of the axis of the classes, not {axis!r}: write axis=-1"
        )
    rank: int = y_pred.ndim
    if -rank <= axis < 0:
        return int(axis)
    return normalize_axis_index(int(axis), rank) - rank


def share(label_smoothing: Any) -> float:
    """Return a share of label smoothing from 0 to 1, or raise OptionError."""
    if number(label_smoothing, "label_smoothing", 0) > 1:
        raise OptionError(
            f"label_smoothing must be a share from 0 to 1, not {label_smoothing!r}: write label_smoothing=0.1"
        )
    return float(label_smoothing)


def kind_of_targets(targets: tuple[int, ...], predictions: tuple[int, ...]) -> str:
    """Return the kind of targets, "binary", "sparse" or "categorical", from the shapes of targets and predictions.

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
