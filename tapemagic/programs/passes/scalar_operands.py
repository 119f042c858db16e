"""Literals: constants that are single numbers become numbers of Python's, which are read where they stand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.programs.passes.rewriting import Rewriting, Rules, of_numbers
from tapemagic.programs.program import Constant, Kind, Node

OPERATORS = frozenset(
    {np.add, np.subtract, np.multiply, np.divide, np.less, np.less_equal, np.greater}
    | {np.greater_equal, np.equal, np.not_equal}
)


@of_numbers
def operator_with_number(node: Node, rewriting: Rewriting) -> Node | None:
    """The call with a number of Python's, where NumPy computes the same with it.

    That is so where the other argument has the number's own dtype, since NumPy gives a Python number the dtype of what
    it meets (NEP 50).
    """
    if len(node.args) != 2:
        return None
    a, b = node.args
    if rewriting.is_shown and isinstance(a, Constant) and isinstance(b, Constant):
        return None
    if isinstance(b, Constant):
        args = a, literal(b, a)
    elif isinstance(a, Constant):
        args = literal(a, b), b
    else:
        return None
    if args == node.args:
        return None
    return rewriting.call(node.function, args, node.kind, node, **node.kwargs)


def literal(x: Constant, other: Any) -> Any:
    """A constant as a number of Python's, if another argument has its dtype; else as it is.

    Examples
    --------
    >>> literal(Constant(np.float32(0.1)), Constant(np.ones(2, np.float32)))
    0.1
    """
    value = x.value
    if not isinstance(other, Node) or other.kind.__class__ is not Kind or x.kind.is_array:
        return x
    if other.kind.dtype != x.kind.dtype or x.name or value.dtype.char not in "efd":
        return x
    if not math.isfinite(value):
        return x
    plain = float(str(value))
    exact = type(value)(plain)
    return plain if exact.tobytes() == value.tobytes() else float(value)


RULES: Rules = dict.fromkeys(OPERATORS, (operator_with_number,))
