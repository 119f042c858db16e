"""Known signs and bounds: values that are never -0.0, and values that are never large."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.programs.passes.known_numbers import number
from tapemagic.programs.program import Kind, Node

MAX_DEPTH = 6
"""Maximum depth of calls that are examined for a value."""

NOT_NEGATIVE = frozenset({np.exp, np.exp2, np.cosh, np.absolute, np.fabs, np.hypot, np.square})
"""Functions of real numbers whose results are never -0.0."""

AT_MOST_ONE = frozenset({np.sin, np.cos, np.tanh, np.sign})
"""Functions of real numbers whose results are between -1 and 1, or nan."""

SAME_NUMBERS = frozenset({np.negative, np.absolute, np.positive, np.copy, np.reshape, np.transpose})
"""Functions that keep the absolute values of their first argument."""


def never_negative_zero(x: Any, depth: int = MAX_DEPTH) -> bool:
    """Return True if no element of a real value can be -0.0.

    Examples
    --------
    >>> never_negative_zero(0.0), never_negative_zero(-0.0)
    (True, False)
    """
    value = number(x)
    if value is not None:
        return not isinstance(value, complex) and not (value == 0 and bool(np.signbit(value)))
    if not isinstance(x, Node) or x.kind.__class__ is not Kind or not depth:
        return False
    if x.kind.dtype.kind in "iub":
        return True
    if x.kind.dtype.kind != "f" or x.kwargs:
        return False
    if x.function in NOT_NEGATIVE:
        return True
    if x.function is np.multiply:
        return x.args[0] is x.args[1]
    # In round-to-nearest, a sum is -0.0 only if both summands are, and x - y only if x is -0.0 and y is 0.0.
    if x.function is np.add:
        return any(never_negative_zero(part, depth - 1) for part in x.args)
    if x.function is np.subtract:
        return never_negative_zero(x.args[0], depth - 1)
    return False


def largest(x: Any, depth: int = MAX_DEPTH) -> float:
    """Return a bound of the absolute values of a real value, ignoring nan. Without a known bound, it's infinite.

    Examples
    --------
    >>> largest(-3.0)
    3.0
    """
    value = number(x)
    if value is not None:
        return math.inf if isinstance(value, complex | np.complexfloating) else abs(float(value))
    if not isinstance(x, Node) or x.kind.__class__ is not Kind or not depth or x.kwargs:
        return math.inf
    if x.kind.dtype.kind == "b":
        return 1.0
    if x.kind.dtype.kind != "f":
        return math.inf
    if x.function in AT_MOST_ONE:
        return 1.0
    if x.function in SAME_NUMBERS:
        return largest(x.args[0], depth - 1)
    if x.function in {np.add, np.subtract, np.multiply}:
        a, b = (largest(part, depth - 1) for part in x.args)
        bound = a * b if x.function is np.multiply else a + b
        # 1e-3 covers the rounding of a result, also in float16, whose unit roundoff is 4.9e-4.
        return math.inf if math.isnan(bound) else bound * (1 + 1e-3)
    return math.inf
