"""Python's operators off the hot path, each the NumPy function that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.errors import UnhashableError

Binary = Callable[[Any, Any], Any]

OPERANDS = (np.ndarray, np.generic, float, int, bool, complex, list, tuple)
"""What may stand beside a tensor: other types get the chance to know better."""


def _binary(function: Callable[..., Any]) -> Binary:
    def forward(self: Any, other: Any) -> Any:
        if not isinstance(other, (Operators, *OPERANDS)):
            return NotImplemented
        return function(self, other)

    return forward


def _reflected(function: Callable[..., Any]) -> Binary:
    def forward(self: Any, other: Any) -> Any:
        if not isinstance(other, OPERANDS):
            return NotImplemented
        return function(other, self)

    return forward


class Operators:
    """The operators that are NumPy called on self."""

    __slots__ = ()

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
