"""Memory layout: which arrays of a program are known to be C-contiguous.

The order in which NumPy adds up an array, and the BLAS kernel, depend on the layout. So a rule may only replace an
array by an array of the same layout. For inputs, only the layout that is checked at each call is known.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.programs.program import Constant, Input, Kind, Node
from tapemagic.programs.tracing.symbol import method

MIN_CHECKED_BYTES = 2**17
"""Minimum bytes of a Variable whose layout is checked at each call, so that rules may rely on it."""


class Layouts:
    """Set of the nodes that are known to be C-contiguous, recorded in the order of execution."""

    def __init__(self) -> None:
        self._contiguous: set[Node] = set()

    def record(self, node: Node) -> None:
        """Add a node if its arguments show that it's C-contiguous."""
        if node.kind.__class__ is Kind and (not node.kind.is_array or self._is(node)):
            self._contiguous.add(node)

    def contiguous(self, x: Any) -> bool:
        """Return True if a value is a number, or an array that is known to be C-contiguous."""
        if isinstance(x, Constant):
            return not x.by_reference and bool(np.asarray(x.value).flags.c_contiguous)
        if not isinstance(x, Node):
            return isinstance(x, bool | int | float | complex)
        if isinstance(x, Input) and x.contiguous:
            return True
        return x in self._contiguous or (x.kind.__class__ is Kind and not x.kind.is_array)

    def has_same_layout(self, x: Any, node: Node) -> bool:
        """Return True if a value has the kind and the layout that a new node would have."""
        if not isinstance(x, Node) or x.kind != node.kind:
            return False
        return (self.contiguous(x) and self.would_be_contiguous(node)) or _keeps(node, x)

    def would_be_contiguous(self, node: Node) -> bool:
        """Return True if a node that isn't in the program yet would be C-contiguous."""
        return node.kind.__class__ is Kind and (not node.kind.is_array or self._is(node))

    def _is(self, node: Node) -> bool:
        function = node.function
        if has_order(node):
            return False
        # A ufunc without a signature allocates its result in the order of its arguments (order="K").
        if isinstance(function, np.ufunc) and function.signature is None:
            return len(node.kind.shape) < 2 or self._all_agree(node)
        if function in VIEWS:
            return self.contiguous(node.args[0]) and function is not np.broadcast_to
        if function is operator.getitem:
            return node.args[1] == () and self.contiguous(node.args[0])
        if function in ELEMENTWISE:
            return self._all_agree(node)
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            return lines(node.kind.shape) <= 1
        return function is np.matmul and len(node.kind.shape) <= 2

    def _all_agree(self, node: Node) -> bool:
        return lines(node.kind.shape) <= 1 or all(map(self._agrees, node.args))

    def _agrees(self, x: Any) -> bool:
        """Return True if an argument of an elementwise function leaves its result C-contiguous."""
        if not isinstance(x, Node) or lines(x.kind.shape) <= 1:
            return True
        if isinstance(x, Constant):
            return is_in_order(x)
        repeats_one = x.function is np.broadcast_to and is_single(x.args[0])
        return repeats_one or self.contiguous(x)


def _keeps(node: Node, x: Node) -> bool:
    """Return True if a call on numbers and the result `x` of another call has the layout of `x`."""
    # An elementwise result has no gaps, and keeps the order of axes of its only array argument.
    if not (_is_elementwise(node) and _is_elementwise(x)) or node.kwargs or x.kwargs:
        return False
    return all(part is x or (is_single(part) and not _is_array(part)) for part in node.args)


def _is_array(x: Any) -> bool:
    return isinstance(x, Node) and x.kind.is_array and bool(x.kind.shape)


def _is_elementwise(node: Node) -> bool:
    return isinstance(node.function, np.ufunc) and node.function.signature is None


VIEWS = frozenset(
    {np.reshape, method("reshape"), np.broadcast_to, np.asarray, np.ravel, method("ravel")}
)
"""Functions whose result may share the memory of their first argument, in the same order."""

ELEMENTWISE = frozenset({np.where, np.copy, method("copy"), method("astype"), operator.pow})
"""Functions other than ufuncs whose new array has the layout of their arguments."""


def has_order(node: Node) -> bool:
    """Return True if a call has an order other than "K", the layout of the arguments."""
    if node.kwargs and node.kwargs.get("order", "K") != "K":
        return True
    for x in node.args:  # noqa: SIM110 (quicker than a generator)
        if x.__class__ is str and x != "K":
            return True
    return False


def lines(shape: Sequence[int]) -> int:
    """Return the number of axes with more than one element."""
    return sum(length != 1 for length in shape) if len(shape) > 1 else len(shape)


def repeats(x: Constant) -> bool:
    """Return True if all elements of a constant share one place in memory."""
    return not x.by_reference and not any(np.asarray(x.value).strides)


def is_in_order(x: Constant) -> bool:
    """Return True if the strides of a constant don't grow from axis to axis.

    Axes with stride 0 don't count, because NumPy ignores them when it chooses the layout of a result.

    Examples
    --------
    >>> row = np.arange(3.0)
    >>> [is_in_order(Constant(np.broadcast_to(part, (3, 3)))) for part in (row, row[:, None])]
    [True, True]
    >>> is_in_order(Constant(np.ones((2, 3)).T))
    False
    """
    value = np.asarray(x.value)
    if x.by_reference:
        return False
    axes = zip(value.shape, value.strides, strict=True)
    steps = [step for length, step in axes if length > 1 and step]
    return all(step > 0 for step in steps) and steps == sorted(steps, reverse=True)


def is_single(x: Any) -> bool:
    """Return True if an argument is a single number, or an array of one element."""
    return x.kind.size == 1 if isinstance(x, Node) else isinstance(x, bool | int | float | complex)
