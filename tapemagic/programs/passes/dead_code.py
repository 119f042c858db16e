"""Dead code: calls whose results nobody reads."""

from __future__ import annotations

from typing import Any

from tapemagic.programs.passes.purity import may_be_left_out
from tapemagic.programs.program import Guard, Node, Program, nodes_in


def without_dead_code(program: Program) -> Program:
    """A program without the calls on which no result, assignment or guard depends.

    A call that may raise an error because of its numbers, such as an inverse, is kept; so is a user's own function.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.programs.program import Input, Kind
    >>> x = Input(0, Kind((3,), np.dtype(float), True), "x")
    >>> y, z = (Node(f, [x], {}, x.kind) for f in (np.sin, np.cos))
    >>> without_dead_code(Program([x], [y, z], [z], [])).body == [z]
    True
    """
    needed: set[Node] = {*nodes_in(program.results), *(node for _, node in program.assigned)}
    body: list[Any] = []
    for entry in reversed(program.body):
        if entry in needed or isinstance(entry, Guard) or not may_be_left_out(entry):
            needed.update(entry.reads())
            body.append(entry)
    old = program
    return Program(old.inputs, body[::-1], old.results, old.assigned, old.name, old.notes)
