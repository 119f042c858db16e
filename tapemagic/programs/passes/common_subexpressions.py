"""Common subexpressions: equal calls with the same arguments run once."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.passes.purity import is_pure
from tapemagic.programs.program import Constant, Kind, Node

COMMUTATIVE = frozenset({np.add, np.multiply})
"""Functions whose two arguments may be swapped. Only the sign and payload of a nan may differ."""
# Complex products may not: with fused multiply-add, NumPy rounds only two of the four products of the parts.

ARITHMETIC = frozenset({np.add, np.subtract, np.multiply, np.divide})
"""Functions that return the same for 2 and 2.0 if the other argument is a float."""

MAX_COMPARED_BYTES = 1 << 20
"""Maximum bytes of constants that are compared by value."""


class Table:
    """The calls so far, by functions and arguments."""

    def __init__(self) -> None:
        self._nodes: dict[Any, Node] = {}
        self._constants: dict[int, tuple[Constant, Any]] = {}

    def find(self, node: Node) -> Node | None:
        """Return an equal earlier call, if any. Else remember this call."""
        function = node.function
        if not is_pure(function):
            return None
        key = self._key(function, node.args, node.kwargs)
        if node.errstate:
            key = (tuple(node.errstate.items()), key)
        return None if (earlier := self._nodes.setdefault(key, node)) is node else earlier

    def contains(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Return True if a call is in the table."""
        return self._key(function, args, {}) in self._nodes

    def _key(self, function: Any, args: Any, kwargs: Any) -> Any:
        # Ints up to 2**24 are exact in float32.
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
            return kind, repr(x)  # tells 0.0 from -0.0, and makes nan equal to nan
        # A Variable or a user object has no hash, and its == may return an array. The program keeps it alive.
        try:
            hash(x)
        except TypeError:
            return kind, id(x)
        return kind, x

    def _constant(self, x: Constant) -> Any:
        """Return a key that is equal for constants with the same bits and memory layout."""
        if x.by_reference or x.value.nbytes > MAX_COMPARED_BYTES or x.value.dtype.hasobject:
            return x
        cached = self._constants.get(id(x))
        if cached is None:
            value = x.value
            key = value.__class__, value.dtype, value.shape, value.strides, value.tobytes()
            self._constants[id(x)] = cached = x, key  # `x` keeps the id valid
        return cached[1]


def _any_order(function: Any, a: Any, b: Any) -> bool:
    """Return True if the result has the same bits and memory layout for both orders of the arguments."""
    # With two axes or more, the layout of the result may be that of either argument.
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
