"""In place: a call writes a large array into an argument that isn't read again, like ``np.subtract(w, g, out=g)``.

A large new array costs as much as a pass over it: the operating system clears its pages, or the cache holds other
memory. A step that updates a weight of 400 kB takes half the time with ``out=``. Only intermediate results of the
program are overwritten, never arguments, Variables, constants or results, and only by results of the same layout.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from tapemagic.programs.passes.buffers import only_reads, works_in_place
from tapemagic.programs.passes.layout import MIN_CHECKED_BYTES, Layouts
from tapemagic.programs.program import (
    Guard,
    Kind,
    Loop,
    Node,
    Program,
    arguments_of,
    nodes_in,
    replaced,
)

MIN_REUSED_BYTES = MIN_CHECKED_BYTES
"""Minimum bytes of an array whose memory is reused: NumPy caches smaller ones itself."""


def in_place(program: Program, least: int = MIN_REUSED_BYTES) -> Program:
    """Return a program whose calls write into large arguments that aren't read again.

    - `least`: The minimum number of bytes of an array that is overwritten.

    Examples
    --------
    >>> from tapemagic.programs.program import Input
    >>> x = Input(0, Kind((100_000,), np.dtype(float), True), "x")
    >>> y = Node(np.sin, [x], {}, x.kind)
    >>> z = Node(np.multiply, [y, 2.0], {}, x.kind)
    >>> in_place(Program([x], [y, z], [z], [])).body[1].kwargs["out"] is y
    True
    """
    free = _overwritable(program, least)
    if not free:
        return program
    layouts = Layouts()
    unread = Counter(x for entry in program.body for x in arguments_of(entry))
    instead: dict[Node, Node] = {}
    body = []
    for entry in program.body:
        read = arguments_of(entry)
        unread.subtract(read)
        new = _with_arguments(entry, instead) if any(x in instead for x in read) else entry
        if isinstance(entry, Node):
            if works_in_place(entry):
                last = (x for x in entry.args if x in free and not unread[x])
                target = next((x for x in last if layouts.has_same_layout(x, entry)), None)
                if target is not None:
                    # A copy: `source` shows the program without ``out=``, and shares its other nodes.
                    new = new.with_arguments(new.args, new.kwargs)
                    new.write_into(instead.get(target, target))
            layouts.record(entry)
            if new is not entry:
                instead[entry] = new
        body.append(new)
    if not instead:
        return program

    def change(node: Node) -> Node:
        return instead.get(node, node)

    assigned = [(variable, change(node)) for variable, node in program.assigned]
    results = [replaced(x, change) for x in program.results]
    return replace(program, body=body, results=results, assigned=assigned)


def _overwritable(program: Program, least: int) -> set[Node]:
    """Return the large intermediate results that no view, result or Variable shares memory with."""
    if any(isinstance(entry, Loop) for entry in program.body):
        return set()  # the loops take nearly all of the time
    new = {x for x in program.body if isinstance(x, Node) and _is_new(x, least)}
    if new:
        new -= {*nodes_in(program.results), *(node for _, node in program.assigned)}
        new -= {x for e in program.body if not _only_reads(e) for x in arguments_of(e)}
    return new


def _with_arguments(entry: Any, instead: dict[Node, Node]) -> Any:
    """Return a call or a guard that reads the new nodes."""

    def change(node: Node) -> Node:
        return instead.get(node, node)

    if isinstance(entry, Guard):
        return Guard(change(entry.condition), entry.expected, entry.site)
    return entry.with_arguments(replaced(entry.args, change), replaced(entry.kwargs, change))


def _is_new(node: Node, least: int) -> bool:
    """Return True if a call returns a large array in its own memory."""
    kind = node.kind
    if kind.__class__ is not Kind or not kind.shape or kind.size * kind.dtype.itemsize < least:
        return False
    return bool(kind.is_array and isinstance(node.function, np.ufunc) and not node.kwargs)


def _only_reads(entry: Any) -> bool:
    return isinstance(entry, Guard) or only_reads(entry)
