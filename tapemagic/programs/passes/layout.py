"""Memory layout: which arrays of a program are known to be C-contiguous.

The order in which NumPy adds up an array, and the kernel that BLAS takes, depend on it. So a rule may give an array for
another only where both are known to lie in memory alike. Of inputs that is known alone which is checked at each call.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.programs.program import Constant, Input, Kind, Node
from tapemagic.programs.symbol import method

MIN_CHECKED_BYTES = 2**17
"""The number of bytes of a Variable from which on its layout is checked at each call, so that rules may rely on it."""


class Layouts:
    """The nodes of which the layout is known; they are noted in the order of execution."""

    def __init__(self) -> None:
        self._contiguous: set[Node] = set()

    def note(self, node: Node) -> None:
        """Find out about a node from its arguments."""
        if node.kind.__class__ is Kind and (not node.kind.is_array or self._is(node)):
            self._contiguous.add(node)

    def contiguous(self, x: Any) -> bool:
        """Whether a value is known to be C-contiguous; a number is."""
        if isinstance(x, Constant):
            return not x.by_reference and bool(np.asarray(x.value).flags.c_contiguous)
        if not isinstance(x, Node):
            return isinstance(x, bool | int | float | complex)
        if isinstance(x, Input) and x.contiguous:
            return True
        return x in self._contiguous or (x.kind.__class__ is Kind and not x.kind.is_array)

    def alike(self, x: Any, node: Node) -> bool:
        """Whether `x` may take the place of a new node with the same numbers: kind and layout are the same."""
        if not isinstance(x, Node) or x.kind != node.kind:
            return False
        return (self.contiguous(x) and self.would_be_contiguous(node)) or _keeps(node, x)

    def would_be_contiguous(self, node: Node) -> bool:
        """Whether a node that is not in the program yet would be C-contiguous."""
        return node.kind.__class__ is Kind and (not node.kind.is_array or self._is(node))

    def _is(self, node: Node) -> bool:
        function = node.function
        if has_order(node):
            return False
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
        """Whether an argument of an elementwise function does not turn the order of its result."""
        if not isinstance(x, Node) or lines(x.kind.shape) <= 1:
            return True
        if isinstance(x, Constant):
            return is_in_order(x)
        repeats_one = x.function is np.broadcast_to and is_single(x.args[0])
        return repeats_one or self.contiguous(x)


def _keeps(node: Node, x: Node) -> bool:
    """Whether a call of numbers and the result of another call has its layout: both without gaps, in one order."""
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
"""Functions that are no ufuncs, but give a new array in the order of their arguments, as ufuncs do."""


def has_order(node: Node) -> bool:
    """Whether a call tells NumPy in which order its result is to lie in memory, other than its arguments' own, "K"."""
    if node.kwargs and node.kwargs.get("order", "K") != "K":
        return True
    for x in node.args:  # noqa: SIM110 (quicker than a generator)
        if x.__class__ is str and x != "K":
            return True
    return False


def lines(shape: Sequence[int]) -> int:
    """The number of axes that have more than one element."""
    return sum(length != 1 for length in shape) if len(shape) > 1 else len(shape)


def repeats(x: Constant) -> bool:
    """Whether a constant array repeats one element in memory."""
    return not x.by_reference and not any(np.asarray(x.value).strides)


def is_in_order(x: Constant) -> bool:
    """Whether later axes of a constant are not farther apart in memory, but for those along which it repeats.

    Of these NumPy takes no notice when it chooses the order of a result.

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
    """Whether an argument is a single number."""
    return x.kind.size == 1 if isinstance(x, Node) else isinstance(x, bool | int | float | complex)
