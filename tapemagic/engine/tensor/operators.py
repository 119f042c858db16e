"""Python's operators off the hot path, each the NumPy function that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from tapemagic.engine.tensor.coercion import PandasData, shown
from tapemagic.errors import NotNumbersError, UnhashableError

Binary = Callable[[Any, Any], Any]

OPERANDS = (np.ndarray, np.generic, float, int, bool, complex, list, tuple, PandasData)
"""What may stand beside a tensor: other types get the chance to know better."""


def is_plain_operand(x: Any) -> bool:
    """Whether something that is no tensor may stand beside one.

    Raises
    ------
    NotNumbersError
        If it is a number for which NumPy has no dtype, such as a fraction.
    """
    if isinstance(x, OPERANDS):
        return True
    if isinstance(x, Number):
        raise NotNumbersError(
            f"a tensor computes with floating-point numbers, not with {shown(x)} of type {type(x).__name__}: write "
            "float(...) around it"
        )
    return False


def _binary(function: Callable[..., Any]) -> Binary:
    def forward(self: Any, other: Any) -> Any:
        if not (isinstance(other, Operators) or is_plain_operand(other)):
            return NotImplemented
        return function(self, other)

    return forward


def _reflected(function: Callable[..., Any]) -> Binary:
    def forward(self: Any, other: Any) -> Any:
        if not is_plain_operand(other):
            return NotImplemented
        return function(other, self)

    return forward


class Operators:
    """The operators that are NumPy called on self."""

    __slots__ = ()

    __pandas_priority__ = 5000
    """Above that of a DataFrame, which is 4000: pandas leaves operators to the operand with the highest one."""

    __matmul__, __rmatmul__ = _binary(np.matmul), _reflected(np.matmul)
    __mod__, __rmod__ = _binary(np.remainder), _reflected(np.remainder)
    __divmod__, __rdivmod__ = _binary(np.divmod), _reflected(np.divmod)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __and__, __rand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and)
    __or__, __ror__ = _binary(np.bitwise_or), _reflected(np.bitwise_or)
    __xor__, __rxor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary(np.left_shift), _reflected(np.left_shift)
    __rshift__, __rrshift__ = _binary(np.right_shift), _reflected(np.right_shift)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)

    def __hash__(self) -> int:
        name = type(self).__name__
        raise UnhashableError(
            f"a {name} cannot be in a set, or a key of a dict, since == compares it element by element: use x.ref() "
            "there, and give several to a tape as a list"
        )

    def __pos__(self) -> Any:
        return np.positive(self)  # type: ignore[call-overload]

    def __invert__(self) -> Any:
        return np.invert(self)  # type: ignore[call-overload]
