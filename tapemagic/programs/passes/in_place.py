"""In place: a large array is written into an argument that nobody reads afterwards, as by ``np.subtract(w, g, out=g)``.

New memory for a large array costs as much as a pass over it, since the operating system clears it page by page, or
since the cache holds other memory. A step that changes a weight of 400 kB takes half as long for it. Memory is taken
from intermediate results of the program alone: never from arguments, Variables, constants or results; and only where
the result would lie in that order in memory anyway.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tapemagic.programs.passes.buffers import only_reads, works_in_place
from tapemagic.programs.passes.layout import Layouts, is_single
from tapemagic.programs.program import Guard, Kind, Node, Program, arguments_of, nodes_in

LEAST = 2**17
"""The number of bytes of an array from which on its memory serves again: for less, NumPy's own memory is at hand."""


def in_place(program: Program, least: int = LEAST) -> Program:
    """Let calls of a program write into large arguments; its nodes get an ``out=``.

    Examples
    --------
    >>> from tapemagic.programs.program import Input
    >>> x = Input(0, Kind((100_000,), np.dtype(float), True), "x")
    >>> y = Node(np.sin, [x], {}, x.kind)
    >>> z = Node(np.multiply, [y, 2.0], {}, x.kind)
    >>> in_place(Program([x], [y, z], [z], [])).body[1].kwargs["out"] is y
    True
    """
    fresh = {x for x in program.body if isinstance(x, Node) and _is_new(x, least)}
    if not fresh:
        return program
    kept = {*nodes_in(program.results), *(node for _, node in program.assigned)}
    kept |= {x for e in program.body if not _only_reads(e) for x in arguments_of(e)}
    fresh -= kept
    layouts = Layouts()
    left = Counter(x for entry in program.body for x in arguments_of(entry))
    for entry in program.body:
        read = arguments_of(entry)
        left.subtract(read)
        if not isinstance(entry, Node):
            continue
        if works_in_place(entry):
            last = (x for x in entry.args if isinstance(x, Node) and x in fresh and not left[x])
            target = next((x for x in last if _lie_alike(x, entry, layouts)), None)
            if target is not None:
                entry.write_into(target)
        layouts.note(entry)
    return program


def _is_new(node: Node, least: int) -> bool:
    """Whether a call gives a large array in memory of its own."""
    kind = node.kind
    if kind.__class__ is not Kind or not kind.shape or kind.size * kind.dtype.itemsize < least:
        return False
    return bool(kind.is_array and isinstance(node.function, np.ufunc) and not node.kwargs)


def _only_reads(entry: Any) -> bool:
    return isinstance(entry, Guard) or (isinstance(entry, Node) and only_reads(entry))


def _lie_alike(x: Node, node: Node, layouts: Layouts) -> bool:
    """Whether the result of a call has the kind and the order in memory of one of its arguments."""
    if x.kind != node.kind:
        return False
    if all(part is x or is_single(part) for part in node.args):
        return True
    return layouts.contiguous(x) and layouts.would_be_contiguous(node)
