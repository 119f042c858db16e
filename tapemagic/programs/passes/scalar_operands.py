"""Scalar operands: constants that are single numbers become Python numbers.

So ``np.float64(2) * x`` and ``2 * x`` are equal calls, and one of them is left.
"""

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
    """Replace a constant by a Python number, if NumPy returns the same bits."""
    # NEP 50: a Python number takes the dtype of the other argument, so that must be the dtype of the constant.
    if len(node.args) != 2:
        return None
    a, b = node.args
    if rewriting.is_shown and isinstance(a, Constant) and isinstance(b, Constant):
        return None
    if isinstance(b, Constant):
        args = a, as_python(b, a)
    elif isinstance(a, Constant):
        args = as_python(a, b), b
    else:
        return None
    if args == node.args:
        return None
    return rewriting.call(node.function, args, node.kind, node, **node.kwargs)


def as_python(x: Constant, operand: Any) -> Any:
    """Return a constant as a Python number if the other operand has its dtype, else the constant.

    Examples
    --------
    >>> as_python(Constant(np.float32(0.1)), Constant(np.ones(2, np.float32)))
    0.1
    """
    value = x.value
    if not isinstance(operand, Node) or operand.kind.__class__ is not Kind or x.kind.is_array:
        return x
    if operand.kind.dtype != x.kind.dtype or x.name or value.dtype.char not in "efd":
        return x
    if not math.isfinite(value):
        return x
    # The shortest text that identifies a float32 reads better than its float64 value: 0.1, not 0.10000000149011612.
    plain = float(str(value))
    exact = type(value)(plain)
    return plain if exact.tobytes() == value.tobytes() else float(value)


RULES: Rules = dict.fromkeys(OPERATORS, (operator_with_number,))
