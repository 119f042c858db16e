"""``tf.keras.utils``: helpers."""

from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.model_plot import plot_model
from tapemagic.tf.keras.saving import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from tapemagic.tf.random import set_seed


def set_random_seed(seed: int) -> None:
    """Seed the random numbers of layers, initializers and ``tf.random``, as ``tf.random.set_seed`` does.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.set_random_seed(1)
    """
    set_seed(seed)


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Convert class numbers to one-hot rows.

    Parameters
    ----------
    x : array_like of int
        The classes, starting at 0.
    num_classes : int, optional
        Default: the largest class plus one.

    Returns
    -------
    numpy.ndarray of float64
        Shape of `x` (without a last axis of length 1) plus an axis of length `num_classes`.

    Raises
    ------
    OptionError
        If a class is negative, not an integer, or too large.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.to_categorical([0, 2])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    # A NumPy array, as in Keras: labels are prepared before training, and have no gradient.
    numbers = np.asarray(unwrap(tensor(x)))
    classes = numbers.astype(np.int64)
    if np.any(classes != numbers):
        raise OptionError("classes are integers: pass the labels 0, 1, 2, ... to to_categorical")
    # Labels often come as a column, of shape (n, 1): Keras drops that axis.
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    count = int(classes.max(initial=-1)) + 1 if num_classes is None else int(num_classes)
    wrong = classes[(classes < 0) | (classes >= count)]
    if wrong.size:
        raise OptionError(
            f"the class {wrong[0]} is not one of 0 to {count - 1}: pass num_classes={wrong[0] + 1} or more"
        )
    return np.eye(count)[classes]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """Divide an array by its norm along an axis; where the norm is 0, leave it unchanged.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.normalize([[3.0, 4.0]], order=1).round(3)
    array([[0.429, 0.571]], dtype=float32)
    """
    values = np.asarray(unwrap(tensor(x)))
    # The norm of a vector is a scalar, into which the next line could not write.
    norms = np.atleast_1d(np.linalg.norm(values, order, axis))
    norms[norms == 0] = 1
    return values / np.expand_dims(norms, axis)


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Convert lists of different lengths to rows of one length, filled up with a value.

    Parameters
    ----------
    sequences : sequence of sequences
    maxlen : int, optional
        The length of the rows, by default that of the longest sequence.
    dtype : dtype, optional
    padding, truncating : {'pre', 'post'}, optional
        Whether to fill up, and to cut off, at the begin or at the end.
    value : float or str, optional
        The value that fills up.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.pad_sequences([[1, 2, 3], [4]], padding="post")
    array([[1, 2, 3],
           [4, 0, 0]], dtype=int32)
    """
    for name, side in (("padding", padding), ("truncating", truncating)):
        if side not in {"pre", "post"}:
            raise OptionError(f"{name} of pad_sequences must be 'pre' or 'post', not {side!r}")
    try:
        rows = [np.asarray(unwrap(row)) for row in sequences]
    except ValueError:
        rows = [np.empty(0)]
        sequences = [0]
    if any(not row.ndim for row in rows) or any(np.ndim(row) == 0 for row in sequences):
        raise OptionError(
            "pad_sequences takes a list of sequences, each a list of numbers: write [[1, 2], [3]]"
        )
    shapes = {row.shape[1:] for row in rows if len(row)}
    if len(shapes) > 1:
        raise OptionError(
            f"the elements of all sequences must have one shape, not {' and '.join(map(str, sorted(shapes)))}"
        )
    length = max(map(len, rows), default=0) if maxlen is None else int(maxlen)
    result = np.full((len(rows), length, *(shapes or [()]).pop()), value, dtype)
    for target, row in zip(result, rows, strict=True):
        count = min(len(row), length)
        if count:
            kept = row[-count:] if truncating == "pre" else row[:count]
            place = slice(length - count, None) if padding == "pre" else slice(count)
            target[place] = kept
    return result


__all__ = [
    "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "get_registered_name", "get_registered_object", "normalize", "pad_sequences", "plot_model",
    "register_keras_serializable", "serialize_keras_object", "set_random_seed", "to_categorical",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
