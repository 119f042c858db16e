"""Common subexpressions: a call that was made before, with the same arguments, is not made again."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.passes.purity import is_pure
from tapemagic.programs.program import Constant, Kind, Node

COMMUTATIVE = frozenset({np.add, np.multiply})
"""Functions for which the order of two arguments makes no difference, but for the sign and payload of a nan.

Complex products are not among them: NumPy rounds two of the four products of their parts alone.
"""

ARITHMETIC = frozenset({np.add, np.subtract, np.multiply, np.divide})
"""Functions for which 2 is the same as 2.0, next to floating-point numbers."""

LARGEST = 1 << 20
"""The number of bytes up to which constants are compared by their bytes."""


class Table:
    """The calls made so far, by their functions and arguments."""

    def __init__(self) -> None:
        self._nodes: dict[Any, Node] = {}
        self._constants: dict[int, tuple[Constant, Any]] = {}

    def find(self, node: Node) -> Node | None:
        """The same call, made earlier; if there is none, this one is noted."""
        function = node.function
        if not is_pure(function):
            return None
        key = self._key(function, node.args, node.kwargs)
        if node.errstate:
            key = (tuple(node.errstate.items()), key)
        return None if (found := self._nodes.setdefault(key, node)) is node else found

    def holds(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Whether a call is in the table, its arguments in this order."""
        return self._key(function, args, {}) in self._nodes

    def _key(self, function: Any, args: Any, kwargs: Any) -> Any:
        if function in ARITHMETIC and int in map(type, args) and any(map(_is_float, args)):
            args = [float(x) if x.__class__ is int and abs(x) <= 1 << 24 else x for x in args]
        parts = [x if x.__class__ is Node else self._part(x) for x in args]
        if function in COMMUTATIVE and len(args) == 2 and _any_order(function, *args):
            parts = [frozenset(parts)]
        if not kwargs:
            return (function, *parts)
        return (function, *parts, *((name, self._part(x)) for name, x in kwargs.items()))

    def _part(self, x: Any) -> Any:
        kind = x.__class__
        if kind is Constant:
            return self._constant(x)
        if isinstance(x, Node):
            return x
        if kind is tuple or kind is list:
            return (kind, *map(self._part, x))
        if kind is slice:
            return kind, self._part(x.start), self._part(x.stop), self._part(x.step)
        if kind is dict:
            return (kind, *((name, self._part(part)) for name, part in x.items()))
        if kind is float or kind is complex:
            return kind, repr(x)
        try:
            hash(x)
        except TypeError:
            return kind, id(x)
        return kind, x

    def _constant(self, x: Constant) -> Any:
        """Equal for constants that are equal to the bit, and lie in memory alike."""
        if x.by_reference or x.value.nbytes > LARGEST or x.value.dtype.hasobject:
            return x
        known = self._constants.get(id(x))
        if known is None:
            value = x.value
            key = value.__class__, value.dtype, value.shape, value.strides, value.tobytes()
            self._constants[id(x)] = known = x, key
        return known[1]


def _any_order(function: Any, a: Any, b: Any) -> bool:
    """Whether the result is the same for both orders, and lies in memory alike.

    One of two axes or more may follow either argument.
    """
    if len(_shape(a)) > 1 and len(_shape(b)) > 1:
        return False
    return function is not np.multiply or not (_is_complex(a) or _is_complex(b))


def _is_float(x: Any) -> bool:
    return isinstance(x, Node) and x.kind.__class__ is Kind and x.kind.dtype.kind == "f"


def _is_complex(x: Any) -> bool:
    if isinstance(x, Node):
        return x.kind.__class__ is Kind and x.kind.dtype.kind == "c"
    return isinstance(x, complex)


def _shape(x: Any) -> tuple[int, ...]:
    return x.kind.shape if isinstance(x, Node) else ()
