"""Steps for the tests: what is known, and what the gradients are, after each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph import find_graph as graph
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.graph.graph import Graph
from tapemagic.report.tabs.trace.steps import Steps, steps_of

Drawn = tuple[Subject, DrawnGraph]


@contextmanager
def drawings() -> Iterator[list[Drawn]]:
    """The graphs through which reports make steps inside this block."""
    found: list[Drawn] = []

    def kept(subject: Subject, drawn: DrawnGraph) -> Steps:
        found.append((subject, drawn))
        return steps_of(subject, drawn)

    with patch.object(graph, "steps_of", kept):
        yield found


def stepped(found: list[Drawn]) -> tuple[Steps, Graph]:
    """The steps through the first graph that was drawn, after they were checked."""
    subject, drawn = found[0]
    steps = steps_of(subject, drawn)
    check(steps, drawn.graph)
    return steps, drawn.graph


def check(steps: Steps, graph: Graph) -> None:
    """Every value becomes known once, and every gradient is complete in the end."""
    known = [*steps.filled_from_start, *(k for step in steps.steps for k in step.shown)]
    gradients = {k: text for step in steps.steps for k, text in step.gradients}
    orders = {value.order for value in graph.values if value.gradient is not None}
    ends = {
        value.index: str(value.gradient)
        for value in graph.values
        if value.role != "constant" and value.order in orders and value.step_gradient is None
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
    check_sums(steps)


SUM = re.compile(r"added to what .* has: (.*) \+ (.*) = (.*)")


def check_sums(steps: Steps) -> None:
    """What is added is added to something, what is there is added to, and the sums are right but for rounding."""
    has: dict[int, str] = {}
    for step in steps.steps:
        is_share = step.entry is not None and " passes back to " in step.words
        if is_share and len(step.gradients) == 1:
            [(k, _)] = step.gradients
            assert (k in has) == ("added to what" in step.words), step.words
        has.update(step.gradients)
        found = SUM.search(step.words)
        if found and "empty" not in step.words:
            before, added, after = (np.array(_value(text)) for text in found.groups())
            close = np.isclose(before + added, after, rtol=1e-4, atol=1e-5 * np.abs(added).max())
            assert np.all(close | ~np.isfinite(before + added)), step.words


def _value(text: str) -> Any:
    """A number or an array that a sentence shows."""
    return eval(text, {"nan": np.nan, "inf": np.inf, "infj": 1j * np.inf, "nanj": np.nan})  # noqa: S307
