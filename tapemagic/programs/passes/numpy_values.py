"""NumPy values and Python numbers: no rule applies to calls on values that may be Python numbers."""

# NEP 50: a Python number takes the dtype of the other operand, and a NumPy scalar keeps its dtype, so the same call may
# have results of other dtypes.

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapemagic.programs.program import Kind, Node, arguments_of
from tapemagic.programs.tracing.symbol import Method

PLAIN = frozenset({np.dtype(kind) for kind in (bool, int, float, complex)})
"""The dtypes of Python numbers."""

RETURNING_NUMPY = (np.ufunc, Method)
"""The classes of functions that return arrays and NumPy scalars."""


class NumpyValues:
    """Record of the nodes that may be Python numbers: single numbers from functions that aren't NumPy's."""

    def __init__(self) -> None:
        self._python: set[Node] = set()

    def record(self, node: Node) -> None:
        """Add a node that may be a Python number, judged by its function and by its arguments."""
        kind = node.kind
        if kind.__class__ is not Kind or kind.is_array or kind.dtype not in PLAIN:
            return
        if not gives_numpy(_source(node)) and not self._powers(node):
            self._python.add(node)

    def all_numpy(self, node: Node) -> bool:
        """Return True if the arguments of a call are NumPy values and literals."""
        return not self._python or self._python.isdisjoint(arguments_of(node))

    def _powers(self, node: Node) -> bool:
        # Python's ** returns a NumPy value if one operand is one.
        read = arguments_of(node)
        return node.function is operator.pow and any(x not in self._python for x in read)


def gives_numpy(function: Any) -> bool:
    """Return True if a function returns arrays and NumPy scalars for arguments that are such."""
    if isinstance(function, RETURNING_NUMPY):
        return True
    if isinstance(getattr(function, "__self__", None), np.ufunc) or function is operator.getitem:
        return True
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"


def _source(node: Node) -> Any:
    """Return the function that computed a value, which may be one of several results."""
    x = node.args[0] if node.args else None
    part = (
        node.function is operator.getitem and isinstance(x, Node) and x.kind.__class__ is not Kind
    )
    return x.function if part else node.function  # type: ignore[union-attr]
