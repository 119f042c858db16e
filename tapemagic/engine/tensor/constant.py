"""constant: create tensors from array_likes."""

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
    """Create a tensor with the given value.

    Parameters
    ----------
    value : array_like
        Numbers, nested lists of numbers, or an array, which is copied. A Dask array stays lazy. A tensor is returned
        unchanged, still on its tapes; a variable is converted to a constant with its current value.
    dtype : dtype, optional
        Default: NumPy's choice, which is float64 for Python floats and int64 for Python integers.
    shape : tuple of int, optional
        The shape of the result: a single number is repeated, other values are reshaped.
    name : str, optional
        Ignored; it exists for compatibility with TensorFlow.

    Returns
    -------
    Tensor

    Raises
    ------
    DtypeError
        If `dtype` is unknown or not numeric, or `value` doesn't fit into it.
    NotNumbersError
        If `value` contains something other than numbers, or lists of different lengths.
    ShapeError
        If `value` doesn't fit into `shape`.
    UnsupportedArgumentError
        If `value` is an ``np.matrix``, a masked array, or another subclass of np.ndarray with a different arithmetic;
        or a Dask array of unknown shape, or whose chunks aren't NumPy arrays.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.constant(3.0)
    Tensor(3.0)
    >>> tm.constant(0.0, shape=(2,))
    Tensor([0., 0.])
    """
    if isinstance(value, Tensor):
        # Only checks that no value changes. The cast itself goes through astype, which tapes
        # record.
        if dtype is not None:
            cast_exactly(value._value, dtype)
        tensor = value if dtype is None else value.astype(dtype)
    else:
        if isinstance(value, Traced):
            record_exit(value, "tapemagic.constant()")
        tensor = Tensor(value, dtype)
    return tensor if shape is None else _filled_or_reshaped(tensor, shape)


def _filled_or_reshaped(value: Tensor, shape: Any) -> Any:
    """Reshape a tensor, or repeat a single number to fill the shape."""
    try:
        if value.size == 1:
            return np.broadcast_to(np.reshape(value, ()), shape)
        return np.reshape(value, shape)
    except (TypeError, ValueError, RecursionError):
        raise ShapeError(
            f"cannot reshape a value of shape {value.shape} to shape {shown(shape)}: pass a tuple of integers "
            "with as many elements, or a single number to fill it with"
        ) from None
