"""The drawing of a recording as a graph: folded until it is about a screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tapemagic.analysis.nonfinite import NonFinite
from tapemagic.analysis.report.dead_ends import drawn_positions
from tapemagic.analysis.report.folding import fold as folded
from tapemagic.analysis.report.graph.graph import Graph, Value
from tapemagic.analysis.report.graph.graph_builder import GraphBuilder
from tapemagic.analysis.report.graph.view import VIEWS, NoRoomError, Plan, plan
from tapemagic.analysis.report.subject import Subject
from tapemagic.engine.recording import Record

MAX_NODES = 60
MAX_DEPTH = 8
"""The most operations on a path from top to bottom, as long as something can be folded: about a screen."""
MAX_INPUTS = 6
"""The number of inputs, or outputs, drawn of one operation."""


@dataclass(frozen=True)
class DrawnGraph:
    """A graph with its connections to the recording.

    Attributes
    ----------
    graph : Graph
    positions : collection of int
        The positions of the records that it shows, those in folds included.
    values : mapping of int to int
        The index in the graph of each value that has a box, by its id.
    steps : mapping of int to int
        The index of the step that made a value, by the value's id.
    plan : Plan
        What was drawn: its items are the steps of the graph.
    """

    graph: Graph
    positions: Collection[int]
    values: Mapping[int, int]
    steps: Mapping[int, int]
    plan: Plan

    def marked(self, facts: Iterable[NonFinite], records: Sequence[Record]) -> Graph:
        """The graph in which the places are marked where the first nan or infinity of each target is."""
        values, steps = list(self.graph.values), list(self.graph.steps)
        for fact in facts:
            record = records[fact.record]
            backward = fact.way == "backward" or fact.cause == "input"
            ids = record.ids if backward else record.output_ids
            shown = [self.values[i] for i in ids if i in self.values]
            made = self.steps.get(record.output_ids[0])
            if fact.cause == "input" and made is not None:
                shown += steps[made].inputs
            bad = [k for k in shown if not _looks_finite(values[k], fact.way)]
            for k in bad:
                values[k] = replace(values[k], bad=True)
            if not bad and made is not None:
                steps[made] = replace(steps[made], bad=True)
        return replace(self.graph, values=tuple(values), steps=tuple(steps))


def _looks_finite(value: Value, way: str) -> bool:
    text = value.gradient if way == "backward" else value.text
    return text is None or not ("nan" in text or "inf" in text)


def draw(subject: Subject, max_nodes: int = MAX_NODES, iteration: int | None = None) -> DrawnGraph:
    """The graph of a recording, folded until it has at most `max_nodes` nodes.

    Parameters
    ----------
    subject : Subject
    max_nodes : int, optional
        If a graph with everything folded has more, the operations in the middle are one node.
    iteration : int, optional
        The number of the iteration that is drawn of outermost loops, from 1 on; the last if left out.

    Returns
    -------
    DrawnGraph
    """
    max_inputs = max(2, min(MAX_INPUTS, max_nodes // 10))
    snapshot = subject.snapshot
    positions, cell = subject.positions, subject.tree
    if any(len(record[2]) > max_inputs for record in snapshot.records):
        positions = drawn_positions(snapshot.records, subject.names, subject.roles, max_inputs)
        cell = folded(snapshot, positions)
    operations = subject.operations
    for view in VIEWS:
        try:
            planned = plan(cell, view, operations, iteration, room=max_nodes // 2)
        except NoRoomError:
            continue
        builder = GraphBuilder(subject, max_inputs, planned)
        graph = builder.build(max_nodes)
        if graph.nodes <= max_nodes and _depth(graph) <= MAX_DEPTH:
            return DrawnGraph(graph, positions, builder.index, builder.producer, planned)
    whole = plan(cell, VIEWS[-1], operations, iteration)
    ends = max(1, min(max_nodes // 4, len(whole.items) // 2))
    while True:
        planned = whole.without_middle(ends)
        builder = GraphBuilder(subject, max_inputs, planned)
        graph = builder.build(max_nodes)
        if graph.nodes <= max_nodes or ends == 1:
            return DrawnGraph(graph, positions, builder.index, builder.producer, planned)
        ends = max(1, min(ends - 1, ends * max_nodes // graph.nodes))


def _depth(graph: Graph) -> int:
    """The number of operations on the longest path, if any of them could be folded; 0 if none could."""
    if not any(frame.kind in ("iteration", "call") for frame in graph.frames):
        return 0
    rank = [0] * len(graph.values)
    for step in graph.steps:
        below = 1 + max((rank[i] for i in step.inputs), default=0)
        for i in step.outputs:
            rank[i] = below
    return max(rank, default=0)
