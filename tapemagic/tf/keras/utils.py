"""``tf.keras.utils``: helpers."""

from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.missing import missing
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


__all__ = [
    "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "get_registered_name", "get_registered_object", "normalize", "register_keras_serializable",
    "serialize_keras_object", "set_random_seed", "to_categorical",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
