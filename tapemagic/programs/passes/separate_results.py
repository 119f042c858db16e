"""Separate results: results and new values of Variables share no more memory than before the passes.

If the user's line creates a new array, ``y = x * 1``, a program without this line would return the caller's array, into
which the caller may write.
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

AXIS_PERMUTING = frozenset(
    {np.transpose, np.swapaxes, np.moveaxis, np.flip, np.permute_dims}
    | {method("transpose"), method("swapaxes")}
)
"""View functions whose result is never a copy."""

PLACES = (int, slice, type(None), type(Ellipsis))
"""Types of the parts of an index whose result is a view."""

SAME = frozenset({np.asarray, np.atleast_1d, np.atleast_2d, np.atleast_3d})
"""View functions whose result may be their first argument itself."""


def with_separate_results(program: Program, before: Program) -> Program | None:
    """Copy the results that would share memory only because of the passes.

    A result that was a view of an argument stays a view, not the argument. A read-only broadcast stays read-only.

    - `program`: After the passes.
    - `before`: The program before the passes.

    Returns
    -------
    Program or None
        None if results that need a copy shared memory with each other, because the copies would not.
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
            outside = isinstance(root, Input | Constant)
            if (root if outside else owners.setdefault(root, old_root)) is old_root:
                return node
        # Constants belong to the program, which would return the same array at each call.
        copied.append(old_root)
        body.append(Node(np.copy, (node,), {}, node.kind, old.site, back=old.back, name=old.name))
        return body[-1]

    def as_seen(node: Any, old: Any, how: str) -> Any:
        if how == "array" and is_array(node):
            # np.broadcast_to returns a read-only array, and x[...] a view.
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
    """Return the node whose memory a value may share."""
    while node.function in VIEWS:
        node = node.args[0]
    return node


def is_spread(node: Node) -> bool:
    """Return True if a value is a broadcast of an array, which NumPy makes read-only."""
    while node.function in VIEWS:
        if node.function is np.broadcast_to:
            return True
        if not is_view(node):
            return False
        node = node.args[0]
    return False


def is_view(node: Node) -> bool:
    """Return True if a value is certainly a view: permuted axes, an unchanged kind, or basic indexing."""
    if node.function is not operator.getitem:
        return node.function in AXIS_PERMUTING or node.args[0].kind == node.kind
    index = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
    return all(isinstance(part, PLACES) for part in index)


def is_another(node: Node) -> bool:
    """Return True if a value is a view of an array, not the array itself."""
    while node.function in VIEWS:
        if node.function not in SAME:
            return True
        node = node.args[0]
    return False
