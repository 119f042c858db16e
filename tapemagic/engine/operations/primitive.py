"""The decorator that makes a function an operation which tapes record."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from tapemagic.engine.tensor.dispatch import call
from tapemagic.engine.tensor.tensor import Traced

F = TypeVar("F", bound=Callable[..., Any])


def primitive(function: F) -> F:
    """Make a function of arrays an operation: with tensors among its arguments, it is recorded like a NumPy function.

    The function itself computes on arrays; called with a tensor, or a list that holds one, it is
    recorded. Its rules are given with ``vjp(function, ...)``.
    """

    @wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        if _holds_tensor(args) or (kwargs and _holds_tensor((*kwargs.values(),))):
            return call(recorded, args, kwargs)
        return function(*args, **kwargs)

    return recorded  # type: ignore[return-value]


def _holds_tensor(values: Any) -> bool:
    for value in values:
        if isinstance(value, Traced):
            return True
        if isinstance(value, (list, tuple)) and _holds_tensor(value):
            return True
    return False
