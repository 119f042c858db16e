"""NumPy's values and Python's: a number of Python's takes the dtype of what it meets, and no rule is to touch it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapemagic.programs.program import Kind, Node, arguments_of
from tapemagic.programs.tracing.symbol import Method

PLAIN = frozenset({np.dtype(kind) for kind in (bool, int, float, complex)})
"""The dtypes that a number of Python's may have."""


GIVING = (np.ufunc, Method)
"""The classes of functions that return arrays and NumPy scalars."""


class NumpyValues:
    """The nodes that may be numbers of Python's: single numbers from functions of which it is not known."""

    def __init__(self) -> None:
        self._python: set[Node] = set()

    def note(self, node: Node) -> None:
        """Find out about a node from its function, and from its arguments, which were noted before."""
        kind = node.kind
        if kind.__class__ is not Kind or kind.is_array or kind.dtype not in PLAIN:
            return
        if not gives_numpy(_source(node)) and not self._powers(node):
            self._python.add(node)

    def hold(self, node: Node) -> bool:
        """Whether a call is made with values of NumPy's, and literals, alone."""
        return not self._python or self._python.isdisjoint(arguments_of(node))

    def _powers(self, node: Node) -> bool:
        read = arguments_of(node)
        return node.function is operator.pow and any(x not in self._python for x in read)


def gives_numpy(function: Any) -> bool:
    """Whether a function returns arrays and NumPy scalars, for which it may need to be given such."""
    if isinstance(function, GIVING):
        return True
    if isinstance(getattr(function, "__self__", None), np.ufunc) or function is operator.getitem:
        return True
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"


def _source(node: Node) -> Any:
    """The function that computed a value, which may be one of several."""
    x = node.args[0] if node.args else None
    part = (
        node.function is operator.getitem and isinstance(x, Node) and x.kind.__class__ is not Kind
    )
    return x.function if part else node.function  # type: ignore[union-attr]
