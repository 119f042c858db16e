"""Separate results: what a program returns or assigns shares no memory that it did not share before the passes.

Where the user's line made a new array, ``y = x * 1``, a program without that line would return the caller's own array,
into which the caller may write.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapemagic.replay.program import Constant, Input, Kind, Node, Program
from tapemagic.replay.symbol import method

VIEWS = frozenset(
    {np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze}
    | {np.expand_dims, np.broadcast_to, np.asarray, np.real, np.imag, np.diagonal, np.atleast_1d}
    | {np.atleast_2d, np.atleast_3d, np.flip, np.rot90, np.matrix_transpose, np.permute_dims}
    | {operator.getitem, np.split, np.array_split, np.broadcast_arrays}
    | {method(name) for name in ("reshape", "ravel", "transpose", "swapaxes", "squeeze", "view")}
    | {method("diagonal"), getattr(np, "unstack", np.split)}  # the former from NumPy 2.1 on
)
"""Functions whose result may be a view of their first argument."""


def with_separate_results(program: Program, before: Program) -> Program:
    """A program with copies of those results that would share memory only because of the passes.

    Parameters
    ----------
    program : Program
        After the passes.
    before : Program
        The same one before them.
    """
    body = list(program.body)
    taken: dict[Node, Node] = {}

    def apart(node: Any, old: Any) -> Any:
        if not isinstance(node, Node) or node.kind.__class__ is not Kind or not node.kind.is_array:
            return node
        root, old_root = base(node), base(old)
        shared = taken.setdefault(root, old_root) is not old_root
        fixed = isinstance(root, Constant) and not root.by_reference
        if fixed or shared or (isinstance(root, Input | Constant) and root is not old_root):
            copy = Node(np.copy, (node,), {}, node.kind, old.site, name=old.name)
            body.append(copy)
            return copy
        return node

    results = [apart(x, old) for x, old in zip(program.results, before.results, strict=True)]
    assigned = [
        (variable, apart(node, old))
        for (variable, node), (_, old) in zip(program.assigned, before.assigned, strict=True)
    ]
    return Program(program.inputs, body, results, assigned, program.name, program.notes)


def base(node: Node) -> Node:
    """The node whose memory a value may share."""
    while node.function in VIEWS:
        node = node.args[0]
    return node
