"""Separate results: what a program returns or assigns shares no memory that it did not share before the passes.

Where the user's line made a new array, ``y = x * 1``, a program without that line would return the caller's own array,
into which the caller may write.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

import numpy as np

from tapemagic.programs.program import Constant, Input, Node, Program, is_array
from tapemagic.programs.tracing.symbol import method

VIEWS = frozenset(
    {np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze}
    | {np.expand_dims, np.broadcast_to, np.asarray, np.real, np.imag, np.diagonal, np.atleast_1d}
    | {np.atleast_2d, np.atleast_3d, np.flip, np.rot90, np.matrix_transpose, np.permute_dims}
    | {operator.getitem, np.split, np.array_split, np.broadcast_arrays}
    | {method(name) for name in ("reshape", "ravel", "transpose", "swapaxes", "squeeze", "view")}
    | {method("diagonal"), getattr(np, "unstack", np.split)}  # the former from NumPy 2.1 on
)
"""Functions whose result may be a view of their first argument."""


TURNS = frozenset(
    {np.transpose, np.swapaxes, np.moveaxis, np.flip, np.permute_dims}
    | {method("transpose"), method("swapaxes")}
)
"""Those whose result is never a copy."""

PLACES = (int, slice, type(None), type(Ellipsis))
"""The parts of an index that gives a view."""

SAME = frozenset({np.asarray, np.atleast_1d, np.atleast_2d, np.atleast_3d})
"""Those whose result may be their first argument itself."""


def with_separate_results(program: Program, before: Program) -> Program | None:
    """A program with copies of those results that would share memory only because of the passes, and views of others.

    A view of an argument stays an array of its own, and one that NumPy does not let be written into stays so.

    Parameters
    ----------
    program : Program
        After the passes.
    before : Program
        The same one before them.

    Returns
    -------
    Program or None
        None if arrays to be copied shared memory with one another.
    """
    body = list(program.body)
    owners: dict[Node, Node] = {}
    shared = Counter(
        base(old)
        for old, (how, _) in zip(before.results, before.notes.get("leaves", ()), strict=False)
        if how == "array" and is_array(old)
    )
    copied: list[Node] = []

    def apart(node: Any, old: Any) -> Any:
        if not is_array(node):
            return node
        root, old_root = base(node), base(old)
        if not isinstance(root, Constant) or root.by_reference:
            given = isinstance(root, Input | Constant)
            if (root if given else owners.setdefault(root, old_root)) is old_root:
                return node
        copied.append(old_root)
        body.append(Node(np.copy, (node,), {}, node.kind, old.site, back=old.back, name=old.name))
        return body[-1]

    def as_seen(node: Any, old: Any, how: str) -> Any:
        if how == "array" and is_array(node):
            if is_spread(old) and not is_spread(node):
                body.append(Node(np.broadcast_to, (node, node.kind.shape), {}, node.kind, old.site))
                return body[-1]
            if isinstance(node, Input) and is_another(old):
                body.append(Node(operator.getitem, (node, ...), {}, node.kind, old.site))
                return body[-1]
        return node

    leaves = before.notes.get("leaves") or [("", None)] * len(program.results)
    results = [
        as_seen(apart(x, old), old, how)
        for x, old, (how, _) in zip(program.results, before.results, leaves, strict=True)
    ]
    assigned = [
        (variable, apart(node, old))
        for (variable, node), (_, old) in zip(program.assigned, before.assigned, strict=True)
    ]
    if any(shared[root] > 1 for root in copied):
        return None
    return Program(program.inputs, body, results, assigned, program.name, program.notes)


def base(node: Node) -> Node:
    """The node whose memory a value may share."""
    while node.function in VIEWS:
        node = node.args[0]
    return node


def is_spread(node: Node) -> bool:
    """Whether a value is a broadcast of an array, into which NumPy does not let anybody write."""
    while node.function in VIEWS:
        if node.function is np.broadcast_to:
            return True
        if not is_view(node):
            return False
        node = node.args[0]
    return False


def is_view(node: Node) -> bool:
    """Whether a value is no copy: it has other axes, or the same shape, or is a part at places that are known."""
    if node.function is not operator.getitem:
        return node.function in TURNS or node.args[0].kind == node.kind
    index = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
    return all(isinstance(part, PLACES) for part in index)


def is_another(node: Node) -> bool:
    """Whether a value is a view of an array that is given, and not that array."""
    while node.function in VIEWS:
        if node.function not in SAME:
            return True
        node = node.args[0]
    return False
