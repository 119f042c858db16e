"""Conversion of arguments to arrays of real numbers and to tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.common import operand
from tapemagic.engine.operations.selection import cast
from tapemagic.engine.tensor.coercion import require_plain
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.nn.config import floatx


def real_numbers(x: Any, dtype: Any = None, what: str = "predictions") -> Any:
    """Convert real numbers to a floating-point dtype: a tensor stays a tensor, anything else becomes an array.

    Without a dtype, floating-point arrays and tensors keep theirs; integers, bools and lists get `nn.config.floatx`.
    Raises NotNumbersError for other objects, and UnsupportedArgumentError for complex numbers, ``np.matrix`` and
    masked arrays.

    Examples
    --------
    >>> import numpy as np
    >>> real_numbers([1.0, 2.0])
    array([1., 2.], dtype=float32)
    >>> real_numbers(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    if not isinstance(x, Traced):
        require_plain(type(x))
        # A list has no dtype of its own, and NumPy would choose float64: the weights are usually float32.
        listed = isinstance(x, list | tuple | float)
        x = operand(x)
        if dtype is None and listed and not isinstance(x, Traced):
            dtype = floatx()
    kind = x.dtype.kind
    if kind == "c":
        raise UnsupportedArgumentError(
            f"{what} must be real numbers, not {x.dtype}: pass np.real(x) or np.abs(x)"
        )
    if dtype is None:
        return x if kind == "f" else cast(x, floatx())
    return x if x.dtype == dtype else cast(x, dtype)


def as_array(x: Any) -> Any:
    """Return the bare array or NumPy scalar of a tensor or array_like, which no tape tracks.

    Examples
    --------
    >>> import tapemagic as tm
    >>> as_array(tm.constant([1.0])), as_array([1, 2])
    (array([1.]), array([1, 2]))
    """
    value = unwrap(x)
    return value if isinstance(value, np.ndarray | np.generic) else np.asarray(value)


def as_tensor(x: Any) -> Any:
    """Return a tensor unchanged, and an array as a new tensor."""
    return x if isinstance(x, Traced) else constant(x)
