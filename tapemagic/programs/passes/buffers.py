"""Buffers: the calls of a loop over blocks write into memory that is allocated before the loop: ``np.exp(u1, out=u1)``.

A buffer stays in the processor's cache, and memory that starts on a cache line is read and written in half the time.
Together they save a third of a loop's time. Two values share a buffer if they aren't read at the same time. Results
that are read after the loop are written into their arrays.
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
"""Functions, and the Python operator that writes the result into the first argument."""

IN_PLACE = frozenset({*AUGMENTED, np.negative})
"""Functions that may write into one of their arguments. Others may use another algorithm for overlapping memory."""


def with_buffers(loop: Loop, orders: Mapping[Node, Node]) -> list[Node]:
    """Let the calls of a loop write into buffers.

    - `loop`: Its body is replaced, and its list of buffers is filled.
    - `orders`: The calls whose results may go into buffers, each with an array from outside. A block of this array has
      the shape and memory layout of the result.

    Returns
    -------
    list of Node
        The calls that allocate the buffers.
    """
    walk = _Walk(loop, orders)
    loop.body = walk.body
    return walk.before


class _Walk:
    """Walk over the calls of a loop, in order, that assigns buffers."""

    def __init__(self, loop: Loop, orders: Mapping[Node, Node]) -> None:
        self._loop = loop
        self._orders = orders
        self._left = Counter(x for entry in loop.body for x in arguments_of(entry))
        self._stores: dict[Node, Store] = {}
        for entry in loop.body:
            if isinstance(entry, Store) and entry.index is not None:
                self._stores.setdefault(entry.value, entry)
        # `u1[:3]` or `[u1]` may outlive the value, so such a value gets its own memory.
        self._shared = {x for e in loop.body if not only_reads(e) for x in arguments_of(e)}
        self._instead: dict[Node, Node] = {}
        self._buffers: dict[Node, Node] = {}
        self._free: defaultdict[Any, list[Node]] = defaultdict(list)
        self.before: list[Node] = []
        self.body: list[Any] = []
        for entry in loop.body:
            self._add(entry)

    def _new(self, node: Node) -> Node:
        return self._instead.get(node, node)

    def _add(self, entry: Any) -> None:
        """Add a call or a store with its new arguments, and free the buffers that no later call reads."""
        read = arguments_of(entry)
        self._left.subtract(read)
        if isinstance(entry, Store):
            if self._stores.get(entry.value) is not entry or not _may_have_target(entry.value):
                self.body.append(Store(entry.target, entry.index, self._new(entry.value)))
        else:
            self.body.append(self._changed(entry))
        for x in dict.fromkeys(read):
            if x in self._buffers and not self._left[x]:
                self._free[self._key(x)].append(self._buffers.pop(x))

    def _changed(self, node: Node) -> Node:
        args, kwargs = (replaced(x, self._new) for x in (node.args, node.kwargs))
        new = self._instead[node] = node.with_arguments(args, kwargs)
        target = self._target(node)
        if target is None:
            return new
        first = node.args[0]
        # u1 *= x is shorter than np.multiply(u1, x, out=u1), but the value can't get its own name.
        unnamed = isinstance(first, Node) and not (is_named(first) or is_named(node))
        if unnamed and self._buffer_of(first) is target and node.function in AUGMENTED:
            new.function = AUGMENTED[node.function]
        else:
            new.write_into(target)
        if node in self._stores:
            return new
        for x in node.args:
            if isinstance(x, Node) and self._buffer_of(x) is target:
                del self._buffers[x]
        self._buffers[node] = target
        return new

    def _buffer_of(self, x: Node) -> Node | None:
        return self._buffers.get(x)

    def _key(self, node: Node) -> Any:
        """Return the kind and memory layout, which must be equal for values that share a buffer."""
        like = self._orders[node]
        usual = len(like.kind.shape) < 2 or (isinstance(like, Input) and like.contiguous)
        return node.kind, None if usual else like

    def _target(self, node: Node) -> Node | None:
        """Return the array into which a call writes its result, if any."""
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
        return unused.pop() if unused else self._allocated(node)

    def _allocated(self, node: Node) -> Node:
        """Return a new buffer for the results of a call."""
        like = self._orders[node]
        axis = next(k for k, n in enumerate(like.kind.shape) if n != node.kind.shape[k])
        index = (*(slice(None),) * axis, slice(None, self._loop.step))
        block = Node(operator.getitem, (like, index if axis else index[0]), {}, node.kind)
        options = {} if like.kind.dtype == node.kind.dtype else {"dtype": node.kind.dtype.type}
        buffer = Node(aligned_like, (block,), options, node.kind)
        self.before += [block, buffer]
        self._loop.buffers.append((buffer, axis))
        return buffer


def _may_have_target(node: Node) -> bool:
    """Return True if a call takes ``out=``."""
    return isinstance(node.function, np.ufunc)


def works_in_place(node: Node) -> bool:
    """Return True if a call that writes into its argument returns the same bits."""
    # NumPy uses another algorithm for the product of a single complex number in place, so complex dtypes are excluded.
    return node.function in IN_PLACE and not node.kwargs and node.kind.dtype.kind in "iuf"


def only_reads(entry: Any) -> bool:
    """Return True if an entry keeps neither an argument nor a view of an argument."""
    if isinstance(entry, Store):
        return entry.index is not None
    function = entry.function
    owner = getattr(function, "__self__", None)
    return isinstance(function, np.ufunc) or function is np.where or isinstance(owner, np.ufunc)


def is_named(node: Node) -> bool:
    """Return True if a value, or the value whose adjoint it is, has a user's name."""
    return bool(node.name or (node.back and node.back.to and node.back.to.name))
