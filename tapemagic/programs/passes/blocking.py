"""Blocking: large arrays are computed block by block, so that intermediate results stay in the processor's cache.

A chain of elementwise calls on arrays of a million elements spends its time on writing intermediate results to memory
and reading them again. In a loop over blocks, an intermediate result is as short as a block, and results that are read
after the loop are written into arrays that are allocated before the loop. `grouping` groups the calls, and `cutting`
decides which calls can run in blocks.

Elementwise results, maxima and minima have the same bits, except for the sign of a zero that is the maximum or minimum
of several zeros. Sums and means over the axis of the blocks are sums of the blocks' sums. With and without blocks, n
numbers are added up along a tree. A depth of h bounds the error by h·u / (1 − h·u) · Σ|x|, where u is the unit roundoff
(N. J. Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14(4), 1993). NumPy adds pairwise within
a block, and adds the blocks' sums pairwise: for a contiguous array, h is at most 22 + log2(b / 128) for a block of b
elements, plus 22 + log2(m / 128) for m blocks, less than 60 up to 10¹² elements.
The memory layout of a result is that of the first array of its shape among the arguments. Without blocks, arguments of
several layouts may lead to another layout, so that a later sum or matrix product rounds in another order.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from math import prod
from typing import Any, cast

import numpy as np

from tapemagic.programs.passes.buffers import with_buffers
from tapemagic.programs.passes.cutting import Cut, Reduction, is_pointwise, reduction_of
from tapemagic.programs.passes.grouping import Group, groups_of, ordered
from tapemagic.programs.passes.known_numbers import number
from tapemagic.programs.program import (
    Back,
    Constant,
    Guard,
    Input,
    Kind,
    Loop,
    Node,
    Program,
    Store,
    arguments_of,
    replaced,
)
from tapemagic.programs.tracing.symbol import method

MIN_BLOCKED_BYTES = 2**20
"""Minimum size of arrays that are computed in blocks.

Measured with 2 MB of second-level cache per core: for less, the loop costs as much as it saves. It saves a quarter of
the time at 2 MB, and half or more starting at 8 MB.
"""


def in_blocks(program: Program, least: int = MIN_BLOCKED_BYTES) -> Program:
    """Return a program whose elementwise calls on large arrays run in loops over blocks.

    - `least`: The minimum number of bytes of an array that is cut into blocks.

    Examples
    --------
    >>> from tapemagic.programs.program import Input
    >>> x = Input(0, Kind((1_000_000,), np.dtype(float), True), "x")
    >>> a = Node(np.sin, [x], {}, x.kind)
    >>> b = Node(np.exp, [a], {}, x.kind)
    >>> c = Node(np.add, [b, a], {}, x.kind)
    >>> body = in_blocks(Program([x], [a, b, c], [c], [])).body
    >>> body[0].function.__name__, type(body[-1]).__name__
    ('empty_like', 'Loop')
    """
    if not _holds_large(program, least):
        return program
    ends = program.results, [node for _, node in program.assigned]
    groups = groups_of(program.body, [*ends], least)
    if not groups:
        return program
    builder = _Builder()
    for unit in ordered(program.body, groups):
        builder.add(unit)
    results = [replaced(x, builder.new) for x in program.results]
    assigned = [(variable, builder.new(node)) for variable, node in program.assigned]
    return replace(program, body=builder.body, results=results, assigned=assigned)


def _holds_large(program: Program, least: int) -> bool:
    """Return True if a call reads or returns a large array. Calls with several results don't count."""
    for node in program.inputs:
        if _nbytes(node.kind) >= least:
            return True
    for entry in program.body:
        if not isinstance(entry, Node) or entry.kind.__class__ is not Kind:
            continue
        if _nbytes(entry.kind) >= least:
            return True
        for x in arguments_of(entry):
            if x.__class__ is Constant and _nbytes(x.kind) >= least:
                return True
    return False


def _nbytes(kind: Any) -> int:
    """Return the bytes of an array, or 0 for a number and for several values."""
    if kind.__class__ is not Kind or not kind.shape:
        return 0
    return int(kind.size * kind.dtype.itemsize)


class _Builder:
    """Builder of the program with loops, from calls, guards and groups."""

    def __init__(self) -> None:
        self.body: list[Any] = []
        self._instead: dict[Node, Node] = {}

    def new(self, node: Node) -> Node:
        """Return the node of the new program for a node of the old program."""
        return self._instead.get(node, node)

    def add(self, unit: Any) -> None:
        """Add a call or a guard, or a group as a loop."""
        if isinstance(unit, Group):
            builder = _LoopBuilder(unit, self.new)
            buffers = with_buffers(builder.loop, builder.orders)
            self.body += [*builder.before, *buffers, builder.loop, *builder.after]
            self._instead |= builder.instead
        elif isinstance(unit, Guard):
            self.body.append(Guard(self.new(unit.condition), unit.expected, unit.site))
        elif any(x in self._instead for x in arguments_of(unit)):
            args, kwargs = (replaced(x, self.new) for x in (unit.args, unit.kwargs))
            self._instead[unit] = unit.with_arguments(args, kwargs)
            self.body.append(self._instead[unit])
        else:
            self.body.append(unit)


class _LoopBuilder:
    """Builder of the loop that computes a group.

    - `before`, `after`: Calls that allocate the arrays that the loop writes into, and calls that combine the reductions
      of the blocks.
    - `instead`: For members that are read outside, the nodes that hold their values after the loop.
    - `orders`: For calls of the loop, an array from outside with the memory layout of the results.
    """

    def __init__(self, group: Group, new: Any) -> None:
        self._group = group
        self._new = new
        self._inner: dict[Node, Node] = {}
        self._layouts: dict[Node, Node | None] = {}
        self._same: dict[Node, Node] = {}
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.instead: dict[Node, Node] = {}
        self.orders: dict[Node, Node] = {}
        self._parts: dict[tuple[Node, Cut], Node] = {}
        self.loop = Loop(group.length, group.rows)
        stored = set(group.stored)
        reduced = {node.args[0] for node in group.members if not is_pointwise(node)}
        read_inside = {x for node in group.members for x in arguments_of(node)}
        for node in group.members:
            same = repeated(node)
            if same is not None and node not in stored and node not in reduced:
                self._same[node] = self._same.get(same, same)
                continue
            inner = self._inner[node] = self._in_block(node)
            like = self._layouts[node] = self._layout(node)
            if like is not None:
                self.orders[inner] = new(like)
            self.loop.body.append(inner)
            if group.cuts[node] is None:
                self._combine(node, inner)
            elif node in stored:
                inner.name = f"{node.name}_part" if node.name and node in read_inside else ""
                self._write(node, inner)

    def _in_block(self, node: Node) -> Node:
        """Return the call for one block."""
        cut, function = self._group.reads[node], node.function
        if self._group.cuts[node] is None:
            function = cast("Reduction", reduction_of(node)).in_block
        args = [self._part_of(x, cut, node) if isinstance(x, Node) else x for x in node.args]
        inner = node.with_arguments(args, node.kwargs)
        inner.function = function
        inner.kind = self._kind_in_block(node, self._group.cuts[node])
        return inner

    def _part_of(self, x: Node, cut: Cut, reader: Node) -> Node:
        """Return the part of a value that a call for one block reads."""
        x = self._same.get(x, x)
        if x in self._inner:
            return self._inner[x]
        outer: Node = self._new(x)
        if cut.axis(x.kind.shape) is None:
            return outer
        part = self._parts.get((outer, cut))
        if part is None:
            kind = self._kind_in_block(x, cut)
            args = outer, self._index(cut, x)
            part = Node(operator.getitem, args, {}, kind, reader.site, _of_rule(reader))
            self._parts[outer, cut] = part
            self.loop.body.append(part)
        elif outer.name:  # a part that is read twice gets a statement, and so a name
            part.name, part.back = f"{outer.name}_part", None
        return part

    def _index(self, cut: Any, x: Node) -> Any:
        axis = cut.axis(x.kind.shape)
        return (slice(None),) * axis + (self.loop.part,) if axis else self.loop.part

    def _kind_in_block(self, x: Node, cut: Cut | None) -> Kind:
        shape = list(x.kind.shape)
        axis = cut.axis(x.kind.shape) if cut else None
        if axis is not None:
            shape[axis] = min(self.loop.step, self.loop.count)
        return Kind(tuple(shape), x.kind.dtype, x.kind.is_array)

    def _write(self, node: Node, inner: Node) -> None:
        """Write the results of the blocks into an array that is allocated before the loop."""
        inner.back = _of_rule(node)
        like = self._layouts[node]
        if like is None:
            array = Node(np.empty, [node.kind.shape, node.kind.dtype.type], {}, node.kind)
        else:
            options = {} if like.kind == node.kind else {"dtype": node.kind.dtype.type}
            array = Node(np.empty_like, [self._new(like)], options, node.kind)
        array.back, array.name = node.back, node.name
        self.before.append(array)
        self.instead[node] = array
        self.loop.body.append(Store(array, self._index(self._group.cuts[node], node), inner))

    def _layout(self, node: Node) -> Node | None:
        """Return the array from outside whose memory layout a result without blocks would have, if any."""
        # The method `copy` has order="C" by default, unlike np.copy ("K"), so its result has no array's layout.
        shape = node.kind.shape
        read = (self._same.get(x, x) for x in arguments_of(node))
        like = next((x for x in read if x.kind.shape == shape), None)
        like = self._layouts.get(like, like)  # type: ignore[arg-type]
        if node.function is method("copy") and not (isinstance(like, Input) and like.contiguous):
            return None
        return like

    def _combine(self, node: Node, inner: Node) -> None:
        """Reduce the reductions of the blocks."""
        reduction = cast("Reduction", reduction_of(node))
        inner.name, inner.back = "", _of_rule(node)
        blocks = -(-self.loop.count // self.loop.step)
        kind = Kind((blocks, *node.kind.shape), node.kind.dtype, True)
        name = f"{node.name}_parts" if node.name else "parts"
        parts = Node(list, (), {}, kind, back=inner.back, name=name)
        self.before.append(parts)
        self.loop.body.append(Store(parts, None, inner))
        total = node.with_arguments([parts], {"axis": 0})
        total.function = reduction.in_block
        self.after.append(total)
        if reduction.function is np.mean:
            count = prod(node.args[0].kind.shape[axis] for axis in reduction.axes)
            total.name, total.back = inner.name, inner.back
            total = node.with_arguments([total, count], {})
            total.function = np.divide
            self.after.append(total)
        self.instead[node] = total


def repeated(node: Node) -> Node | None:
    """Return the argument that a product with 1 repeats, if any.

    Examples
    --------
    >>> from tapemagic.programs.program import Input
    >>> x = Input(0, Kind((3,), np.dtype(float), True), "x")
    >>> repeated(Node(np.multiply, [1.0, x], {}, x.kind)) is x
    True
    """
    if node.function is not np.multiply or node.kwargs or node.kind.dtype.kind not in "iuf":
        return None
    # `identities` keeps a product with 1 if the memory layout differs. In a block, the layout is free.
    for x, factor in (node.args, node.args[::-1]):
        if number(factor) == 1 and isinstance(x, Node) and x.kind == node.kind:
            return x
    return None


def _of_rule(node: Node) -> Back | None:
    """Return the sweep that computed a node, for a part of the node, which isn't the whole adjoint."""
    return node.back and node.back._replace(to=None, sources=())
