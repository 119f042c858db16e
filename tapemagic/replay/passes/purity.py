"""Purity of functions: which calls may be left out, made once instead of twice, or made beforehand."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np

from tapemagic.replay.program import Node
from tapemagic.replay.symbol import Method

BY_INDEX = frozenset(
    {operator.getitem, np.take, np.take_along_axis, np.choose, np.put_along_axis, np.select}
)
"""Functions that raise an error for an index which is out of range."""


@cache
def is_pure(function: Any) -> bool:
    """Whether a function of NumPy's or of this package, which has no effect but its result.

    Examples
    --------
    >>> is_pure(np.sin), is_pure(np.add.reduce), is_pure(print)
    (True, True, False)
    """
    if isinstance(function, np.ufunc | Method | operator.attrgetter | operator.itemgetter):
        return True
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    module = getattr(function, "__module__", None) or ""
    top = module.partition(".")[0]
    return top in {"numpy", "tapemagic", "_operator", "operator"} and "random" not in module


@cache
def _is_linear_algebra(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").startswith("numpy.linalg")


def raises(node: Node) -> bool:
    """Whether a call was made under an np.errstate that raises errors."""
    return node.errstate is not None and "raise" in node.errstate.values()


def may_be_left_out(node: Node) -> bool:
    """Whether a call whose result nobody reads may be dropped.

    It has no effect, and raises no error that depends on numbers.
    """
    function = node.function
    if raises(node):
        return False
    if function in BY_INDEX:
        return not any(isinstance(x, Node) for x in _index_parts(node.args[1:]))
    return is_pure(function) and not _is_linear_algebra(function)


def _index_parts(args: tuple[Any, ...]) -> list[Any]:
    return [part for x in args for part in (x if isinstance(x, tuple | list) else (x,))]
