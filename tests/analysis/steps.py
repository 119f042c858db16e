"""Steps for the tests: what is known, and what the gradients are, after each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from tapemagic.analysis.report import graph_view
from tapemagic.analysis.report.graph.drawn_graph import DrawnGraph
from tapemagic.analysis.report.graph.graph import Graph
from tapemagic.analysis.report.subject import Subject
from tapemagic.analysis.report.trace.trace_step import Steps
from tapemagic.analysis.report.trace.trace_steps import steps_of

Drawn = tuple[Subject, DrawnGraph]


@contextmanager
def drawings() -> Iterator[list[Drawn]]:
    """The graphs through which reports make steps inside this block."""
    found: list[Drawn] = []

    def kept(subject: Subject, drawn: DrawnGraph) -> Steps:
        found.append((subject, drawn))
        return steps_of(subject, drawn)

    with patch.object(graph_view, "steps_of", kept):
        yield found


def stepped(found: list[Drawn]) -> tuple[Steps, Graph]:
    """The steps through the first graph that was drawn, after they were checked."""
    subject, drawn = found[0]
    steps = steps_of(subject, drawn)
    check(steps, drawn.graph)
    return steps, drawn.graph


def check(steps: Steps, graph: Graph) -> None:
    """Every value becomes known once, and every gradient is complete in the end."""
    known = [*steps.known, *(k for step in steps.steps for k in step.shown)]
    gradients = {k: text for step in steps.steps for k, text in step.gradients}
    orders = {value.order for value in graph.values if value.gradient is not None}
    ends = {
        value.index: str(value.gradient)
        for value in graph.values
        if value.role != "constant" and value.order in orders
    }
    assert sorted(known) == list(range(len(graph.values)))
    assert gradients == (ends if steps.steps else {})
    for step in steps.steps:
        assert 0 < len(step.words) <= 200
        assert step.words.isprintable()
        rows = steps.trace.parts[step.part].rows
        assert step.row is None or step.step in (None, rows[step.row].step)
        assert step.entry is None or step.row is not None
        assert step.entry is None or step.entry < len(rows[step.row or 0].reverse)
