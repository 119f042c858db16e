"""Grouping of calls that can run in one loop over blocks of their arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tapemagic.engine.effects import has_effect
from tapemagic.programs.passes.cutting import Cut, cut_of, is_pointwise, reduction_of, rows_of_block
from tapemagic.programs.program import Guard, Kind, Node, arguments_of, nodes_in

MAX_ITEMSIZE = np.dtype(np.complex128).itemsize
"""Maximum bytes of a number, without long doubles."""


class Group:
    """Calls that run in one loop.

    - `members`: In the order of execution.
    - `reads`, `cuts`: The axis along which the arguments of each member are cut, and the axis of its result. For a
      reduction over the cut axis, whose result is only complete after the loop, the cut of the result is None.
    - `stored`: The members that are read outside the loop.
    """

    def __init__(self) -> None:
        self.members: list[Node] = []
        self.reads: dict[Node, Cut] = {}
        self.cuts: dict[Node, Cut | None] = {}
        self.stored: list[Node] = []

    def is_worthwhile(self, least: int) -> bool:
        """Return True if a loop saves time, because enough results are never written in full."""
        # Two results must stay in blocks, or one if the loop stores nothing.
        inner = sum(cut is not None for cut in self.cuts.values()) - len(self.stored)
        long_enough = self.nbytes >= least and self.rows > 1
        return long_enough and (inner >= 2 or (inner == 1 and not self.stored))

    @property
    def length(self) -> int:
        """The number of rows of the arrays that are cut."""
        return self.reads[self.members[0]].length

    @property
    def rows(self) -> int:
        """The number of rows of a block."""
        return rows_of_block(self.length, self.nbytes)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the largest array."""
        kinds = {x.kind for node in self.members for x in (node, *arguments_of(node))}
        return max(int(kind.size * kind.dtype.itemsize) for kind in kinds)


class Grouping:
    """The groups of a program, found in one pass over its calls.

    Each call gets a stage: the number of loops that must end before it. Calls of one stage form a group if they are cut
    along the same axis, and if one reads another or both read the same array. A call that reads a complete result of a
    loop is one stage later, and so are all calls after a guard on such a result.
    """

    def __init__(self, body: Iterable[Any], least: int) -> None:
        """Group the calls of a body on arrays of `least` or more elements."""
        self._least = least
        self._stages: dict[Node, int] = {}
        self._reads: dict[Node, Cut] = {}
        self._cuts: dict[Node, Cut | None] = {}
        self._parents: dict[Node, Node] = {}
        self._readers: dict[tuple[int, Cut, Node], Node] = {}
        floor = 0
        for entry in body:
            if isinstance(entry, Guard):
                floor = max(floor, self._ready(entry.condition, complete=True))
            else:
                self._add(entry, floor)
                if has_effect(entry.function):
                    # A loop around an effect could run before or after it, but not on both sides.
                    floor = max(floor, self._stages[entry])

    def groups(self) -> list[Group]:
        """Return the groups in the order of their first calls."""
        groups: dict[Node, Group] = {}
        for node, cut in self._cuts.items():
            group = groups.setdefault(self._root(node), Group())
            group.members.append(node)
            group.reads[node] = self._reads[node]
            group.cuts[node] = cut
        return list(groups.values())

    def _add(self, node: Node, floor: int) -> None:
        read = set(arguments_of(node))
        stage = max([floor, *map(self._ready, read)])
        inside = {x for x in read if x in self._cuts and self._stages[x] == stage}
        cut, result = self._place(node, inside)
        if inside and cut is None:
            stage, inside = stage + 1, set()
            cut, result = self._place(node, inside)
        self._stages[node] = stage
        if cut is None:
            return
        self._reads[node], self._cuts[node] = cut, result
        self._parents[node] = node
        for x in inside:
            self._parents[self._root(x)] = self._root(node)
        for x in read - inside:
            if cut.axis(x.kind.shape) is not None:
                reader = self._readers.setdefault((stage, cut, x), node)
                self._parents[self._root(reader)] = self._root(node)

    def _ready(self, x: Node, complete: bool = False) -> int:
        """Return the first stage in which a value can be read in blocks, or as a complete array."""
        in_blocks = self._cuts.get(x) is not None and not complete
        waits = x in self._cuts and not in_blocks
        return self._stages.get(x, 0) + waits

    def _place(self, node: Node, inside: set[Node]) -> tuple[Cut | None, Cut | None]:
        """Return the cuts of the arguments and of the result of a call, if it can run in blocks."""
        if not isinstance(node.kind, Kind):
            return None, None
        reduction = reduction_of(node)
        if reduction is not None:
            x = node.args[0]
            cut = self._cuts[x] if x in inside else cut_of(x.kind, self._least)
            return (cut, reduction.cut(cut, len(x.kind.shape))) if cut else (None, None)
        if not is_pointwise(node):
            return None, None
        cuts = {self._cuts[x] for x in inside} or {cut_of(node.kind, self._least)}
        cut = cuts.pop()
        if cuts or cut is None or cut.axis(node.kind.shape) is None:
            return None, None
        return cut, cut

    def _root(self, node: Node) -> Node:
        # Union-find with path halving: nearly linear in the number of calls.
        parents = self._parents
        while parents[node] is not node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node


def groups_of(body: list[Any], results: Any, least: int) -> list[Group]:
    """Return the groups of calls that are faster in a loop over blocks.

    - `results`: Nodes that are read after the last line, in any structure.
    - `least`: The minimum number of bytes of an array that is cut.
    """
    groups = Grouping(body, least // MAX_ITEMSIZE).groups()
    group_of = {node: group for group in groups for node in group.members}
    outside = set(nodes_in(results))
    for entry in body:
        home = group_of.get(entry)
        for x in arguments_of(entry):
            if group_of.get(x) is not home or home is None:
                outside.add(x)
    for group in groups:
        group.stored = [x for x in group.members if x in outside and group.cuts[x] is not None]
    return [group for group in groups if group.is_worthwhile(least)]


def ordered(body: list[Any], groups: list[Group]) -> Iterator[Any]:
    """Yield the calls, guards and groups of a program, each as late as its readers allow.

    No call moves before a guard, because it may raise an error or warn if the guard fails. Calls with an effect keep
    their order.
    """
    unit_of: dict[Any, Any] = {node: group for group in groups for node in group.members}
    guard: Guard | Node | None = None
    needs: dict[Any, list[Any]] = {}
    last: dict[Any, Any] = {}
    for entry in body:
        unit = unit_of.setdefault(entry, entry)
        last[unit] = entry
        needs.setdefault(unit, []).extend(arguments_of(entry))
        if guard is not None:
            needs[unit].append(guard)
        if isinstance(entry, Guard) or has_effect(entry.function):
            guard = entry
    done: set[Any] = set()
    for entry in body:
        unit = unit_of[entry]
        if last[unit] is entry:
            yield from _with_needs(unit, needs, unit_of, done)


def _with_needs(unit: Any, needs: Any, unit_of: Any, done: set[Any]) -> Iterator[Any]:
    """Yield the units that a unit needs and that weren't yielded yet, then the unit."""
    # A stack instead of recursion: chains of calls may be longer than Python's recursion limit.
    if unit in done:
        return
    done.add(unit)
    waiting = [(unit, iter(needs[unit]))]
    while waiting:
        current, rest = waiting[-1]
        for x in rest:
            needed = unit_of.get(x)
            if needed is not None and needed not in done:
                done.add(needed)
                waiting.append((needed, iter(needs[needed])))
                break
        else:
            waiting.pop()
            yield current
