"""Functions that are to be differentiated: what they are called, are given and return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import identity
from tapemagic.errors import FunctionError, NotATensorError, NotNumbersError

Function = Callable[..., Any]


def name_of(function: Function) -> str:
    """What a function is called."""
    return getattr(function, "__name__", type(function).__name__)


def new_tensor(x: Any) -> Any:
    """A tensor of its own with the value of `x`, connected with it on the tapes that listen."""
    return apply(operation(identity), (x,), {}) if isinstance(x, Traced) else constant(x)


def argument(x: Any, function: Function, position: int) -> Any:
    """A tensor of its own with the value of a function's argument.

    Raises
    ------
    NotNumbersError
        If it is not made of numbers.
    """
    try:
        return new_tensor(x)
    except NotNumbersError:
        raise NotNumbersError(
            f"argument {position} of {name_of(function)} is {describe(x)}, and no number or array"
        ) from None


def checked_tensor(function: Function, y: Any) -> Traced:
    """Something that a function returned, if it can be differentiated.

    Raises
    ------
    NotATensorError
        If it is no tensor.
    """
    if not isinstance(y, Traced):
        raise NotATensorError(
            f"{name_of(function)} returned {describe(y)}, and no tensor: compute it with NumPy from its "
            "arguments, without float() or .numpy()"
        )
    return y


def checked_result(function: Function, result: Any) -> Any:
    """What a function returned, if it can be differentiated.

    Raises
    ------
    FunctionError
        If it is None.
    """
    if result is None:
        raise FunctionError(
            "Cannot differentiate a function that returns None; did you forget to return a value from "
            f"{name_of(function)}?"
        )
    return result
