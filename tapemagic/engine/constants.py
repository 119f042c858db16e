"""constant: a tensor made of anything that NumPy can make an array of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor import Tensor


def constant(
    value: Any,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    name: str | None = None,  # noqa: ARG001 (TensorFlow's signature)
) -> Tensor:
    """A tensor with the given value.

    Parameters
    ----------
    value : array_like
        Numbers, nested lists of numbers, an array or a tensor. It is copied.
    dtype : dtype, optional
        NumPy's own choice if left out: float64 for Python floats, int64 for Python integers.
    shape : tuple of int, optional
        The shape to fill: a single number fills it, other values are laid out in it.
    name : str, optional
        Accepted for TensorFlow's sake, and not used.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        If `value` is not made of numbers.
    ValueError
        If `value` does not fit into `shape`.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.constant(3.0)
    Tensor(3.0)
    >>> tm.constant(0.0, shape=(2,))
    Tensor([0., 0.])
    """
    tensor = Tensor(value, dtype)
    if shape is not None:
        held = tensor._value
        fitting = np.full(shape, held) if np.size(held) == 1 else np.reshape(held, shape)
        tensor._value = fitting if fitting.ndim else fitting[()]
    return tensor
