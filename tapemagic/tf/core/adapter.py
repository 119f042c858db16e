"""Adapters: functions of the engine and of NumPy, under TensorFlow's names, arguments and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import NoDerivativeError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.errors import OpError, invalid_argument

F = TypeVar("F", bound=Callable[..., Any])


def adapter(function: F) -> F:
    """Make a function of the engine's tensors one of TensorFlow's: what it returns becomes EagerTensors.

    What NumPy and the engine raise for wrong values, shapes and indices is an InvalidArgumentError then, beside the
    class that it has.
    """

    @wraps(function)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        try:
            return eager(function(*args, **kwargs))
        except (ValueError, IndexError, OverflowError) as error:
            symbol = _stand_in((*args, *kwargs.values()))
            if symbol is not None:
                return symbol.__tape_function__(adapted, args, kwargs)
            if isinstance(error, (OpError, NoDerivativeError)):
                raise
            raise invalid_argument(error) from None

    return adapted  # type: ignore[return-value]


def _stand_in(args: Any) -> Any:
    """The first argument that stands for a tensor without values, as the input of a model does, also in lists."""
    for x in args:
        if hasattr(x, "__tape_function__"):
            return x
        if isinstance(x, (list, tuple)) and (found := _stand_in(x)) is not None:
            return found
    return None


def axes(axis: Any) -> Any:
    """An axis, or several, as NumPy's functions take them: tensors and lists become whole numbers and tuples."""
    if axis is None:
        return None
    if isinstance(axis, Traced):
        axis = unwrap(axis).tolist()
    if isinstance(axis, (list, tuple, np.ndarray, range)):
        return tuple(int(k) for k in axis)
    return int(axis)


def lengths(shape: Any) -> Any:
    """A shape as a tuple of whole numbers: it may be a tensor, or a list with tensors in it."""
    if isinstance(shape, Traced):
        shape = unwrap(shape).tolist()
    if isinstance(shape, (list, tuple, np.ndarray)):
        return tuple(int(k) for k in shape)
    return (int(shape),)


def plain(value: Any) -> Any:
    """The array in a tensor, or made of lists; a trace sees what is computed from it, and a tape does not."""
    value = unwrap(tensor(value))
    return value if isinstance(value, np.ndarray) else np.asarray(value)
