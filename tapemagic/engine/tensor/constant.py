"""constant: tensors made from array_likes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.events import record_exit
from tapemagic.engine.tensor.coercion import cast_exactly
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.errors import ShapeError


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
        Numbers, nested lists of numbers, or an array, which is copied. A Dask array stays one, and is computed later.
        A tensor is returned itself, still on its tapes; of a variable, a constant with its value.
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
    DtypeError
        If `dtype` is unknown, or none of numbers, or `value` does not fit into it.
    NotNumbersError
        If `value` is not made of numbers, or of lists of different lengths.
    ShapeError
        If `value` does not fit into `shape`.
    UnsupportedArgumentError
        If `value` is an ``np.matrix``, a masked array, or another array with an arithmetic of its own; or a Dask array
        of unknown shape, or with other chunks than NumPy's arrays.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.constant(3.0)
    Tensor(3.0)
    >>> tm.constant(0.0, shape=(2,))
    Tensor([0., 0.])
    """
    if isinstance(value, Tensor):
        if dtype is not None:
            cast_exactly(value._value, dtype)
        tensor = value if dtype is None else value.astype(dtype)
    else:
        if isinstance(value, Traced):
            record_exit(value, "tapemagic.constant()")
        tensor = Tensor(value, dtype)
    return tensor if shape is None else _filled_or_reshaped(tensor, shape)


def _filled_or_reshaped(value: Tensor, shape: Any) -> Any:
    """A tensor reshaped; a single number fills the shape."""
    try:
        if value.size == 1:
            return np.broadcast_to(np.reshape(value, ()), shape)
        return np.reshape(value, shape)
    except (TypeError, ValueError, RecursionError):
        raise ShapeError(
            f"cannot lay a value of shape {value.shape} out in shape {shown(shape)}: give a tuple of whole numbers "
            "that holds as many numbers, or a single number to fill it with"
        ) from None
