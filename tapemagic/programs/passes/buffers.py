"""Buffers: the calls of a loop over blocks write into memory that is made once before it, as by ``np.exp(u1, out=u1)``.

A block that is not asked for anew stays in the processor's cache, and one that begins on a cache line is read and
written in half the time; together they save a third of a loop's time. Two values share a buffer where one of them is
not read any more. What is read after the loop is written where it belongs.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapemagic.engine.operations.workspace import aligned_like
from tapemagic.programs.program import Input, Loop, Node, Store, arguments_of, replaced

AUGMENTED: dict[Any, Any] = {
    np.add: operator.iadd, np.subtract: operator.isub, np.multiply: operator.imul,
    np.divide: operator.itruediv,
}  # fmt: skip
"""Functions, and Python's operator that writes the result into the first argument."""

IN_PLACE = frozenset({*AUGMENTED, np.negative})
"""Functions that may write into an argument of theirs; others may take another algorithm for memory that overlaps."""


def with_buffers(loop: Loop, orders: Mapping[Node, Node]) -> list[Node]:
    """Let the calls of a loop write into buffers.

    Parameters
    ----------
    loop : Loop
        It gets another body, and the list of its buffers.
    orders : dict of Node to Node
        The calls whose results may go into buffers; and for each an array from outside, of which a block has the shape
        of such a result, and its order in memory.

    Returns
    -------
    list of Node
        What makes the buffers.
    """
    walk = _Walk(loop, orders)
    loop.body = walk.body
    return walk.before


class _Walk:
    """One walk over the calls of a loop in their order."""

    def __init__(self, loop: Loop, orders: Mapping[Node, Node]) -> None:
        self._loop = loop
        self._orders = orders
        self._left = Counter(x for entry in loop.body for x in arguments_of(entry))
        self._stores: dict[Node, Store] = {}
        for entry in loop.body:
            if isinstance(entry, Store) and entry.index is not None:
                self._stores.setdefault(entry.value, entry)
        self._shared = {x for e in loop.body if not only_reads(e) for x in arguments_of(e)}
        self._instead: dict[Node, Node] = {}
        self._buffers: dict[Node, Node] = {}
        self._free: defaultdict[Any, list[Node]] = defaultdict(list)
        self.before: list[Node] = []
        self.body: list[Any] = []
        for entry in loop.body:
            self._add(entry)

    def _now(self, node: Node) -> Node:
        return self._instead.get(node, node)

    def _add(self, entry: Any) -> None:
        """Add a call or a store as it is now, and give back the buffers of what it was the last to read."""
        read = arguments_of(entry)
        self._left.subtract(read)
        if isinstance(entry, Store):
            if self._stores.get(entry.value) is not entry or not _may_have_target(entry.value):
                self.body.append(Store(entry.target, entry.index, self._now(entry.value)))
        else:
            self.body.append(self._changed(entry))
        for x in dict.fromkeys(read):
            if x in self._buffers and not self._left[x]:
                self._free[self._key(x)].append(self._buffers.pop(x))

    def _changed(self, node: Node) -> Node:
        args, kwargs = (replaced(x, self._now) for x in (node.args, node.kwargs))
        made = self._instead[node] = node.with_arguments(args, kwargs)
        target = self._target(node)
        if target is None:
            return made
        first = node.args[0]
        unnamed = isinstance(first, Node) and not (is_named(first) or is_named(node))
        if unnamed and self._buffer_of(first) is target and node.function in AUGMENTED:
            made.function = AUGMENTED[node.function]
        else:
            made.write_into(target)
        if node in self._stores:
            return made
        for x in node.args:
            if isinstance(x, Node) and self._buffer_of(x) is target:
                del self._buffers[x]
        self._buffers[node] = target
        return made

    def _buffer_of(self, x: Node) -> Node | None:
        return self._buffers.get(x)

    def _key(self, node: Node) -> Any:
        """The kind and order in memory, which two values that share a buffer have in common."""
        like = self._orders[node]
        usual = len(like.kind.shape) < 2 or (isinstance(like, Input) and like.contiguous)
        return node.kind, None if usual else like

    def _target(self, node: Node) -> Node | None:
        """The array into which a call writes its result; None where it has memory of its own."""
        if not _may_have_target(node):
            return None
        if node in self._stores:
            store = self._stores[node]
            part = Node(operator.getitem, (store.target, store.index), {}, node.kind, node.site)
            part.back = node.back
            self.body.append(part)
            return part
        if node not in self._orders or node in self._shared:
            return None
        if works_in_place(node):
            for x in node.args:
                free = isinstance(x, Node) and x in self._buffers and not self._left[x]
                if free and self._key(x) == self._key(node):
                    return self._buffers[x]
        unused = self._free[self._key(node)]
        return unused.pop() if unused else self._made(node)

    def _made(self, node: Node) -> Node:
        """A new buffer for the results of a call."""
        like = self._orders[node]
        axis = next(k for k, n in enumerate(like.kind.shape) if n != node.kind.shape[k])
        index = (*(slice(None),) * axis, slice(None, self._loop.step))
        block = Node(operator.getitem, (like, index if axis else index[0]), {}, node.kind)
        options = {} if like.kind.dtype == node.kind.dtype else {"dtype": node.kind.dtype.type}
        made = Node(aligned_like, (block,), options, node.kind)
        self.before += [block, made]
        self._loop.buffers.append((made, axis))
        return made


def _may_have_target(node: Node) -> bool:
    """Whether a call takes ``out=``."""
    return isinstance(node.function, np.ufunc)


def works_in_place(node: Node) -> bool:
    """Whether a call gives the same to the bit where it writes into an argument: of real numbers.

    NumPy takes another algorithm for the product of a single complex number in place.
    """
    return node.function in IN_PLACE and not node.kwargs and node.kind.dtype.kind in "iuf"


def only_reads(entry: Any) -> bool:
    """Whether neither a view of an argument nor the argument itself is kept."""
    if isinstance(entry, Store):
        return entry.index is not None
    function = entry.function
    owner = getattr(function, "__self__", None)
    return isinstance(function, np.ufunc) or function is np.where or isinstance(owner, np.ufunc)


def is_named(node: Node) -> bool:
    """Whether a value has a name of the user's, or is the adjoint of one that has."""
    return bool(node.name or (node.back and node.back.to and node.back.to.name))
