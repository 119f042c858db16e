"""Checks of the arguments and results of functions that are differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

from tapemagic.engine.registry import Function, operation
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import identity
from tapemagic.errors import FunctionError, NotATensorError, NotNumbersError, OptionError


def name_of(function: Function) -> str:
    """Return the name of a function for error messages."""
    return getattr(function, "__name__", type(function).__name__)


def new_tensor(x: Any) -> Any:
    """Return a new tensor with the value of `x`, which live tapes record as the identity of `x`."""
    return apply(operation(identity), (x,), {}) if isinstance(x, Traced) else constant(x)


def argument(x: Any, function: Function, position: int) -> Any:
    """Convert a function's argument to a new tensor."""
    try:
        return new_tensor(x)
    except NotNumbersError:
        raise NotNumbersError(
            f"argument {position} of {name_of(function)} must be a number or an array, not {describe(x)}"
        ) from None


def checked_tensor(function: Function, y: Any) -> Traced:
    """Return a value that a function returned, if it is a tensor; otherwise raise an error."""
    if not isinstance(y, Traced):
        advice = "compute it with NumPy from its arguments, without float() or .numpy()"
        if isinstance(y, (tuple, list)):
            advice = "return only the value to differentiate"
        raise NotATensorError(f"{name_of(function)} returned {describe(y)}, not a tensor: {advice}")
    return y


def checked_result(function: Function, result: Any) -> Any:
    """Return the result of a function, or raise an error if it is None, as without a return statement."""
    if result is None:
        raise FunctionError(
            "Cannot differentiate a function that returns None; did you forget to return a value from "
            f"{name_of(function)}?"
        )
    return result


def checked_positions(
    positions: Sequence[int], option: str, function: Function, count: int, how: str = ""
) -> list[int]:
    """Return positions among `count` arguments, with negative positions counted from the end."""
    for k in positions:
        if not -count <= k < count:
            raise OptionError(
                f"{option} has the position {k}, but {name_of(function)} received {count} arguments{how}"
            )
    return [k % count for k in positions]


def second(pair: Function) -> Function:
    """Return a function that returns the second of the two values that `pair` returns."""

    @wraps(pair)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return pair(*args, **kwargs)[1]

    return decorated
