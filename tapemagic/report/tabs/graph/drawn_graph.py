"""The drawing of a recording as a graph: folded until it is about a screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.explain.formatting import clipped
from tapemagic.explain.nonfinite import NonFinite
from tapemagic.explain.program_text import Statement, statement_at
from tapemagic.report.drawn_records import drawn_positions
from tapemagic.report.folding import Block, Part, pruned
from tapemagic.report.request import MAX_NODES
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summaries, shared_summaries
from tapemagic.report.tabs.graph.boxes import Development
from tapemagic.report.tabs.graph.graph import Graph, Value
from tapemagic.report.tabs.graph.graph_builder import GraphBuilder
from tapemagic.report.tabs.graph.view import (
    FOLD_POLICIES,
    LAYER_FOLD_POLICIES,
    FoldOverrides,
    FoldPolicy,
    NoRoomError,
    Plan,
    Statements,
    plan,
)

MAX_DEPTH = 8
"""The most operations on a path from top to bottom, as long as something can be folded: about a screen."""
MAX_INPUTS = 6
"""The number of inputs, or outputs, drawn of one operation."""
MIN_INSIDE = 6
"""Maximum number of operations and folds of an opened part that is always drawn whole."""
MAX_TIMES = 4
"""Maximum number of operations and folds, as a multiple of `max_nodes`: a larger picture opens nothing more."""
# Keys come from a browser: without limits, one message could keep the kernel busy for long.
MAX_OPENED, MAX_KEY_LENGTH = 1_000, 1_000
"""The most openings at once, and the most characters of a key."""
KEY = re.compile(r"([0-9]+(\.[0-9]+)*)?~*")


@dataclass(frozen=True)
class DrawnGraph:
    """A graph with its connections to the recording.

    - `positions`: The positions of the records that it shows, those in folds included.
    - `values`: The index in the graph of each value that has a box, by its id.
    - `steps`: The index of the step that made a value, by the value's id.
    - `plan`: The operations and folds of the graph, one for each of its steps, in the same order.
    - `developments`: The values that folded loops carry, by the indices of their steps.
    - `constants`: The constants that closed layers received, by their indices in the graph.
    """

    graph: Graph
    positions: Collection[int]
    values: Mapping[int, int]
    steps: Mapping[int, int]
    plan: Plan
    developments: Mapping[int, Sequence[Development]]
    constants: Mapping[int, Any]

    def marked(self, facts: Iterable[NonFinite], records: Sequence[Record]) -> Graph:
        """Mark the values and operations with the first nan or infinity of each target."""
        values, steps = list(self.graph.values), list(self.graph.steps)
        for fact in facts:
            record = records[fact.record]
            backward = fact.way == "backward" or fact.cause == "input"
            ids = record.ids if backward else record.output_ids
            shown = [self.values[i] for i in ids if i in self.values]
            step = self.steps.get(record.output_ids[0])
            if fact.cause == "input" and step is not None:
                shown += steps[step].inputs
            bad = [k for k in shown if not _looks_finite(values[k], fact.way)]
            for k in bad:
                values[k] = replace(values[k], bad=True)
            if not bad and step is not None:
                steps[step] = replace(steps[step], bad=True)
        return replace(self.graph, values=tuple(values), steps=tuple(steps))


def _looks_finite(value: Value, direction: str) -> bool:
    text = value.gradient if direction == "backward" else value.text
    return text is None or not ("nan" in text or "inf" in text)


class Drawer:
    """Draws a recording as a graph, with any of its parts open or closed.

    - `max_nodes`: The most nodes at first: if a graph with everything folded has more, the operations in the middle are
      one node.
    - `iteration`: The number of the iteration that is drawn of outermost loops, counted from 1; by default the last.
    """

    def __init__(
        self, subject: Subject, max_nodes: int = MAX_NODES, iteration: int | None = None
    ) -> None:
        self.subject = subject
        self.max_nodes = max_nodes
        self.iteration = iteration
        self.max_inputs = max(2, min(MAX_INPUTS, max_nodes // 10))
        self._summaries: Summaries = {}
        self._statements: dict[tuple[Part, bool], Statement | None] = {}

    def draw(self, opened: Mapping[str, int] = MappingProxyType({})) -> DrawnGraph:
        """The graph in which some parts are opened or closed, compared to the one with at most `max_nodes` nodes.

        - `opened`: By the key of a part (`Step.fold`, `GraphFrame.fold`): 0 if it is closed, 1 if it is open; of a
          loop, the number of the open iteration, counted from 1. A number out of range is the nearest, and a key of no
          part has no effect. Where there are too many operations inside of what is opened, those in the middle are one
          node; nothing else changes.

        Raises ValueError if something isn't a key, or isn't an integer.
        """
        by_key = checked(opened)
        with shared_summaries(self._summaries), np.errstate(all="ignore"):
            return self._opened(by_key)

    def _opened(self, by_key: Mapping[str, int]) -> DrawnGraph:
        drawn, view, ends = self._folded
        if not by_key:
            return drawn
        inside, spare = self._inside, max(0, self.max_nodes - _connected(drawn.graph))
        while True:
            # Each round draws half as much of every opened part, until the picture has room or the minimum is reached.
            openings = FoldOverrides(by_key, ends, inside, MAX_TIMES * self.max_nodes)
            drawn = self._drawn(view, openings, spare=spare)
            room = self.max_nodes * (1 + sum(map(bool, by_key.values())))
            if drawn.graph.nodes <= room or inside == MIN_INSIDE:
                return drawn
            inside = max(MIN_INSIDE, inside // 2)

    @property
    def _inside(self) -> int:
        """The most operations and folds of a part that is opened, for it to be drawn whole."""
        return max(MIN_INSIDE, self.max_nodes // 2)

    @cached_property
    def _tree(self) -> tuple[Sequence[int], Block]:
        """The positions of the operations to draw, and the tree that they make."""
        subject, records = self.subject, self.subject.snapshot.records
        # Operations of which not all inputs are drawn hide what leads only to the others.
        if all(len(record[2]) <= self.max_inputs for record in records):
            return subject.positions, subject.tree
        positions = drawn_positions(records, subject.names, subject.roles, self.max_inputs)
        # The tree of all operations, since iterations of which none is drawn count.
        return positions, pruned(subject.tree, set(positions))

    @cached_property
    def _folded(self) -> tuple[DrawnGraph, FoldPolicy, int | None]:
        """The first graph, its fold policy, and the number of parts at its ends if the middle is folded."""
        views: Sequence[FoldPolicy] = FOLD_POLICIES
        if self._tree[1].holds_layers:
            views = LAYER_FOLD_POLICIES
        screens = self.subject.request.screens
        if screens is not None:
            views = [
                replace(x, statements=folded) for x in views for folded in get_args(Statements)
            ]
        candidates: list[tuple[DrawnGraph, list[FoldPolicy]]] = []
        # Several views may fold a recording in the same way.
        seen: list[tuple[Plan, list[FoldPolicy]]] = []
        for view in views:
            # The planner stops as soon as there is no room, so a long recording is not planned whole.
            with suppress(NoRoomError):
                planned = self._planned(view, room=self.max_nodes // 2)
                equal = next((alike for plan, alike in seen if plan == planned), None)
                if equal is not None:
                    equal.append(view)
                    continue
                alike = [view]
                seen.append((planned, alike))
                drawn = self._built(planned)
                if drawn.graph.nodes > self.max_nodes:
                    continue
                if screens is None and _depth(drawn.graph) <= MAX_DEPTH:
                    return drawn, view, None
                candidates.append((drawn, alike))
                if screens is not None and screens(drawn.graph) == ALL_SCREENS:
                    break
        if screens is not None and candidates:
            drawn, alike = _best(candidates, screens)
            return drawn, alike[0], None
        parts = len(self._tree[1].parts)
        ends = max(1, min(self.max_nodes // 4, parts // 2))
        while True:
            drawn = self._drawn(view, FoldOverrides(ends=ends, inside=self._inside))
            if drawn.graph.nodes <= self.max_nodes or ends == 1:
                return drawn, view, ends
            # In proportion to the excess, so that few rounds are needed.
            ends = max(1, min(ends - 1, ends * self.max_nodes // drawn.graph.nodes))

    def _drawn(
        self,
        view: FoldPolicy,
        openings: FoldOverrides | None = None,
        room: float = inf,
        spare: int = 0,
    ) -> DrawnGraph:
        """The graph of a view.

        Raises
        ------
        NoRoomError
        """
        return self._built(self._planned(view, openings, room), spare)

    def _planned(
        self, view: FoldPolicy, openings: FoldOverrides | None = None, room: float = inf
    ) -> Plan:
        """The operations and folds of a view.

        Raises
        ------
        NoRoomError
        """
        return plan(
            self._tree[1],
            view,
            self.subject.operations,
            self.iteration,
            room,
            openings,
            self._statement_of,
        )

    def _statement_of(self, part: Part, operands: bool) -> Statement | None:
        """Return the statement to which an operation of the cell belongs, or the operand in it."""
        # Each of the views that are compared asks for all operations.
        if (part, operands) not in self._statements:
            self._statements[part, operands] = self._find_statement(part, operands)
        return self._statements[part, operands]

    def _find_statement(self, part: Part, operands: bool) -> Statement | None:
        origins = self.subject.snapshot.origins
        if not isinstance(part, int) or origins.orders[part]:
            return None
        _, call, offset, _ = origins.sites[part]
        code = origins.calls[call].code
        return None if code is None else statement_at(code, offset, operands)

    def _built(self, planned: Plan, spare: int = 0) -> DrawnGraph:
        """The graph of operations and folds."""
        builder = GraphBuilder(self.subject, self.max_inputs, planned)
        graph = builder.build(self.max_nodes, spare)
        return DrawnGraph(
            graph,
            self._tree[0],
            builder.index,
            builder.producer,
            planned,
            builder.developments,
            builder.layer_constants,
        )


ALL_SCREENS = 4
"""The answer of `ReportRequest.screens` for a graph that every screen has room for."""


def _best(
    candidates: Sequence[tuple[DrawnGraph, list[FoldPolicy]]], screens: Callable[[Graph], int]
) -> tuple[DrawnGraph, list[FoldPolicy]]:
    """Return the first of some drawings, from open to closed, that screens have most room for, with its views."""
    rooms = [screens(drawn.graph) for drawn, _ in candidates]
    best = rooms.index(max(rooms))
    # One box for everything says less than a picture that only a wide screen has room for.
    steps = candidates[best][0].graph.steps
    if len(steps) == 1 and steps[0].kind == "statement" and any(rooms[:best]):
        best = rooms.index(max(rooms[:best]))
    # What is too large for all screens should at least not be too long.
    if not rooms[best]:
        short = (k for k, x in enumerate(candidates) if _depth(x[0].graph) <= MAX_DEPTH)
        best = next(short, len(candidates) - 1)
        folded = replace(candidates[best][1][0], statements="closed")
        best = next((k for k, x in enumerate(candidates) if folded in x[1]), best)
    return candidates[best]


def checked(opened: Any) -> Mapping[str, int]:
    """Check what a browser sent as `FoldOverrides.by_key`; negative numbers become 0.

    Raises ValueError if something isn't a key, or isn't an integer.

    Examples
    --------
    >>> checked({"3.0.2": 1, "4": -1})
    {'3.0.2': 1, '4': 0}
    >>> checked({"3.0.2": "1"})
    Traceback (most recent call last):
    ...
    ValueError: the opening of '3.0.2' is an integer, not '1'
    """
    if not isinstance(opened, Mapping) or len(opened) > MAX_OPENED:
        raise ValueError(f"openings are a mapping with at most {MAX_OPENED:,} keys")
    for key, number in opened.items():
        if not (isinstance(key, str) and len(key) <= MAX_KEY_LENGTH and KEY.fullmatch(key)):
            raise ValueError(f"{clipped(repr(key), 40)} is not a key of a part of a graph")
        # bool is a subclass of int, and JSON true would open iteration 1.
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(
                f"the opening of {clipped(repr(key), 40)} is an integer, not {clipped(repr(number), 40)}"
            )
    return {key: max(0, number) for key, number in opened.items()}


def _connected(graph: Graph) -> int:
    """The number of nodes without the values that no operation reads or makes."""
    steps = graph.steps
    return len(steps) + len(
        {i for step in steps for i in (*step.inputs, *step.outputs, *step.assigned)}
    )


def _depth(graph: Graph) -> int:
    """The number of operations on the longest path, if any of them could be folded, or 0 if none could."""
    if not any(frame.kind in ("iteration", "call") for frame in graph.frames):
        return 0
    rank = [0] * len(graph.values)
    for step in graph.steps:
        below = 1 + max((rank[i] for i in step.inputs), default=0)
        for i in step.outputs:
            rank[i] = below
    return max(rank, default=0)
