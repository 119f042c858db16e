"""Adapt engine and NumPy functions to TensorFlow's names, arguments and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import NoDerivativeError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.shape import listed
from tapemagic.tf.core.tensor import EagerTensor, eager
from tapemagic.tf.errors import OpError, invalid_argument

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")


def adapter(function: Callable[P, Any]) -> Callable[P, EagerTensor]:
    """Make a function return EagerTensors instead of engine tensors.

    Errors of NumPy and the engine for wrong values, shapes and indices become InvalidArgumentErrors that keep their
    original class as well.
    """

    @wraps(function)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        try:
            return eager(function(*args, **kwargs))
        # Not TypeError, which TensorFlow itself raises for arguments of a wrong Python type.
        except (ValueError, IndexError, OverflowError) as error:
            # A Keras input has no values, so NumPy fails on it; only then is looking for one worth the time.
            symbol = _stand_in((*args, *kwargs.values()))
            if symbol is not None:
                return symbol.__tape_function__(adapted, args, kwargs)
            if isinstance(error, (OpError, NoDerivativeError)):
                raise
            # `from None` hides the traceback of the original error, which only repeats the message.
            raise invalid_argument(error) from None

    return adapted


adapter_to_several: Callable[[F], F] = adapter  # type: ignore[assignment]
"""The adapter of functions that return several tensors, which only type checkers distinguish."""


def named_adapter(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """Return the adapter of a function that a table generates, with a name and a docstring.

    Examples
    --------
    >>> import numpy as np
    >>> named_adapter("root", lambda x: np.sqrt(x), "Return the root.")(np.array([4.0]))
    <tf.Tensor: shape=(1,), dtype=float64, numpy=array([2.])>
    """
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return adapter(function)


def _stand_in(args: Any) -> Any:
    """Find a symbolic tensor, such as a model's input, among nested arguments."""
    for x in args:
        if hasattr(x, "__tape_function__"):
            return x
        if isinstance(x, (list, tuple)) and (symbol := _stand_in(x)) is not None:
            return symbol
    return None


def axes(axis: Any) -> Any:
    """Convert an axis or several axes, possibly in tensors or lists, to an int or a tuple of ints."""
    # None stays: NumPy reads it as "all axes", and TensorFlow's reductions do as well.
    if axis is None:
        return None
    if isinstance(axis, Traced):
        axis = unwrap(axis).tolist()
    if isinstance(axis, (list, tuple, np.ndarray, range)):
        # NumPy wants a tuple of ints for several axes, and refuses lists and arrays.
        return tuple(int(k) for k in axis)
    return int(axis)


def lengths(shape: Any) -> Any:
    """Convert a shape, possibly a tensor or a list of tensors, to a tuple of ints."""
    if isinstance(shape, Traced):
        shape = unwrap(shape).tolist()
    shape = listed(shape)
    if isinstance(shape, (list, tuple, np.ndarray)):
        return tuple(int(k) for k in shape)
    return (int(shape),)


def plain(value: Any) -> Any:
    """Return the array of a tensor or of nested lists; a trace still follows it, a tape does not."""
    # Through `tensor` first, so that nested Python numbers become int32 or float32, the dtypes that TensorFlow infers.
    value = unwrap(tensor(value))
    return value if isinstance(value, np.ndarray) else np.asarray(value)
