"""Pairs: two calls that go through the same steps become one call of a kernel, which goes through them once.

A loss and its gradient are such a pair: of the logits both take the exponentials and their sums. The kernel is called
in the place of the first of the two, so that an error about the labels comes from there; what else it reads is computed
before it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tapemagic.engine.operations.exponentials import softmax
from tapemagic.engine.operations.losses import (
    softmax_cross_entropy,
    softmax_cross_entropy_with_softmax,
)
from tapemagic.engine.operations.sparse_losses import (
    sparse_cross_entropy_slopes,
    sparse_cross_entropy_with_slopes,
    sparse_softmax_cross_entropy,
)
from tapemagic.programs.passes.purity import may_be_left_out, raises
from tapemagic.programs.program import (
    Back,
    Guard,
    Node,
    Program,
    arguments_of,
    replaced,
)


class Pair(NamedTuple):
    """A function whose call may be joined to an earlier one of another function.

    Attributes
    ----------
    first : callable
        The function of the earlier call.
    shared : tuple of int
        The place of the logits among the arguments of the earlier call, and of this one.
    kernel : callable
        Returns the results of both.
    arguments : callable
        The arguments of the kernel for two calls with the same logits; None where they differ in others.
    """

    first: Any
    shared: tuple[int, int]
    kernel: Any
    arguments: Callable[[Node, Node], tuple[Any, ...] | None]


def _with_gradient(losses: Node, slopes: Node) -> tuple[Any, ...] | None:
    """Those of the slopes, of the same labels."""
    if losses.kwargs or slopes.kwargs or losses.args[0] is not slopes.args[1]:
        return None
    return slopes.args if isinstance(losses.args[0], Node) else None


def _along_axis(losses: Node, shares: Node) -> tuple[Any, ...] | None:
    """Those of the losses, along the same axis."""
    ndim = len(losses.kind.shape) + 1
    axes = [_axis(losses, 2), _axis(shares, 1)]
    if not all(type(axis) is int for axis in axes) or (axes[0] - axes[1]) % ndim:
        return None
    return (*losses.args[:2], axes[0])


def _axis(node: Node, place: int) -> Any:
    return node.args[place] if len(node.args) > place else node.kwargs.get("axis", -1)


PAIRS: dict[Any, Pair] = {
    sparse_cross_entropy_slopes: Pair(
        sparse_softmax_cross_entropy, (1, 2), sparse_cross_entropy_with_slopes, _with_gradient
    ),
    softmax: Pair(
        softmax_cross_entropy, (1, 0), softmax_cross_entropy_with_softmax, _along_axis
    ),
}  # fmt: skip
"""The pairs, by the functions of their later calls. Each saves a third of the time of the two, or more."""


def in_pairs(program: Program, pairs: Mapping[Any, Pair] = PAIRS) -> Program:
    """A program in which the calls of pairs are joined.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.programs.program import Constant, Input, Kind
    >>> y = Input(0, Kind((3,), np.dtype(int), True), "y")
    >>> x = Input(1, Kind((3, 2), np.dtype(float), True), "x")
    >>> a = Node(sparse_softmax_cross_entropy, [y, x], {}, Kind((3,), np.dtype(float), True))
    >>> b = Node(sparse_cross_entropy_slopes, [Constant(np.ones(3)), y, x], {}, x.kind)
    >>> body = in_pairs(Program([y, x], [a, b], [a, b], [])).body
    >>> [node.function.__name__ for node in body]
    ['sparse_cross_entropy_with_slopes', 'getitem', 'getitem']
    """
    joints = _joints(program.body, pairs)
    if not joints:
        return program
    builder = _Builder(program, joints)
    results = [replaced(x, builder.now) for x in program.results]
    assigned = [(variable, builder.now(node)) for variable, node in program.assigned]
    return replace(program, body=builder.body, results=results, assigned=assigned)


class _Joint(NamedTuple):
    """Two calls to be joined.

    Attributes
    ----------
    first, second : Node
    both : Node
        The call of the kernel.
    before : list of Node
        Calls that stand after the first one, and have to be made before it.
    """

    first: Node
    second: Node
    both: Node
    before: list[Node]


def _joints(body: list[Any], pairs: Mapping[Any, Pair]) -> list[_Joint]:
    """The pairs of a body; no two calls with a guard between them."""
    shared = {pair.first: pair.shared[0] for pair in pairs.values()}
    fixed = {*shared, *pairs}
    places: dict[Node, int] = {}
    firsts: dict[Any, list[Node]] = {}
    found: list[_Joint] = []
    for k, entry in enumerate(body):
        if isinstance(entry, Guard):
            firsts.clear()
            continue
        places[entry] = k
        pair = pairs.get(entry.function)
        if pair is not None:
            earlier = firsts.get((pair.first, _argument(entry, pair.shared[1])), [])
            joints = (_joint(first, entry, pair, places, fixed) for first in earlier)
            joint = next((joint for joint in joints if joint is not None), None)
            if joint is not None:
                found.append(joint)
                earlier.remove(joint.first)
        logits = _argument(entry, shared.get(entry.function))
        if logits is not None:
            firsts.setdefault((entry.function, logits), []).append(entry)
    return found


def _argument(node: Node, place: int | None) -> Node | None:
    """The argument at a place, if it is a node."""
    if place is None or place >= len(node.args) or not isinstance(node.args[place], Node):
        return None
    return node.args[place]  # type: ignore[no-any-return]


def _joint(
    first: Node, second: Node, pair: Pair, places: dict[Node, int], fixed: set[Any]
) -> _Joint | None:
    """Two calls as one; None if the later one needs what cannot be known in the place of the first.

    Parameters
    ----------
    first, second : Node
    pair : Pair
    places : dict of Node to int
        The place of each call in the body.
    fixed : set of callable
        Functions whose calls stay where they are.
    """
    args = None
    if first.errstate == second.errstate and not raises(first):
        args = pair.arguments(first, second)
    if args is None:
        return None
    kinds = first.kind, second.kind
    both = Node(pair.kernel, args, {}, kinds, first.site, first.back, errstate=first.errstate)
    before: dict[Node, int] = {}
    todo = [*arguments_of(both)]
    for node in todo:
        place = places.get(node, -1)
        if place < places[first] or node in before:
            continue
        if node.function in fixed or raises(node) or not may_be_left_out(node):
            return None
        before[node] = place
        todo += arguments_of(node)
    return _Joint(first, second, both, sorted(before, key=before.__getitem__))


class _Builder:
    """Puts the program together."""

    def __init__(self, program: Program, joints: list[_Joint]) -> None:
        self.body: list[Any] = []
        self._instead: dict[Node, Node] = {}
        self._done: set[Node] = {joint.second for joint in joints}
        by_first = {joint.first: joint for joint in joints}
        for entry in program.body:
            if entry in by_first:
                self._join(by_first[entry])
            else:
                self._add(entry)

    def now(self, node: Node) -> Node:
        """The node of the new program that computes what one of the old program does."""
        return self._instead.get(node, node)

    def _join(self, joint: _Joint) -> None:
        for node in joint.before:
            self._add(node)
        both = self._changed(joint.both)
        self.body.append(both)
        for k, node in enumerate((joint.first, joint.second)):
            part = Node(operator.getitem, (both, k), {}, node.kind, node.site, name=node.name)
            part.back = self._back(node)
            self._instead[node] = part
            self.body.append(part)

    def _add(self, entry: Any) -> None:
        if isinstance(entry, Guard):
            self.body.append(Guard(self.now(entry.condition), entry.expected, entry.site))
        elif entry not in self._done:
            self._done.add(entry)
            self.body.append(self._changed(entry))

    def _changed(self, node: Node) -> Node:
        """A call with what it reads now."""
        back = self._back(node)
        if back is node.back and not any(x in self._instead for x in arguments_of(node)):
            return node
        args, kwargs = (replaced(x, self.now) for x in (node.args, node.kwargs))
        made = self._instead[node] = node.with_arguments(args, kwargs)
        made.back = back
        return made

    def _back(self, node: Node) -> Back | None:
        back = node.back
        if back is None or (back.of not in self._instead and back.to not in self._instead):
            return back
        return back._replace(of=self.now(back.of), to=self.now(back.to))
