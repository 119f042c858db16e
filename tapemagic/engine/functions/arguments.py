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
    """The name of a function for error messages."""
    return getattr(function, "__name__", type(function).__name__)


def new_tensor(x: Any) -> Any:
    """A new tensor with the value of `x`; live tapes record it as the identity of `x`."""
    return apply(operation(identity), (x,), {}) if isinstance(x, Traced) else constant(x)


def argument(x: Any, function: Function, position: int) -> Any:
    """A new tensor with the value of a function's argument."""
    try:
        return new_tensor(x)
    except NotNumbersError:
        raise NotNumbersError(
            f"argument {position} of {name_of(function)} is {describe(x)}, and no number or array"
        ) from None


def checked_tensor(function: Function, y: Any) -> Traced:
    """One of the values that a function returned, as the tensor that it has to be."""
    if not isinstance(y, Traced):
        advice = "compute it with NumPy from its arguments, without float() or .numpy()"
        if isinstance(y, (tuple, list)):
            advice = "return the value to differentiate alone"
        raise NotATensorError(
            f"{name_of(function)} returned {describe(y)}, and no tensor: {advice}"
        )
    return y


def checked_result(function: Function, result: Any) -> Any:
    """The result of a function, which must not be None."""
    if result is None:
        raise FunctionError(
            "Cannot differentiate a function that returns None; did you forget to return a value from "
            f"{name_of(function)}?"
        )
    return result


def checked_positions(
    wanted: Sequence[int], option: str, function: Function, count: int, how: str = ""
) -> list[int]:
    """Positions of `count` arguments, counted from the first one."""
    for k in wanted:
        if not -count <= k < count:
            raise OptionError(
                f"{option} has the position {k}, but {name_of(function)} was given {count} arguments{how}"
            )
    return [k % count for k in wanted]


def second(pair: Function) -> Function:
    """A function that returns the second of the two values which `pair` returns."""

    @wraps(pair)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return pair(*args, **kwargs)[1]

    return decorated
