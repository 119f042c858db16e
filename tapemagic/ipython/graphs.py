"""%tape_graph: the graph of the last %%tape cell on its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError

from tapemagic.drawing.report_style import Style
from tapemagic.engine.tape.observer import Observer
from tapemagic.explain.formatting import significant_digits
from tapemagic.explain.snapshot import Named, snapshot_of
from tapemagic.ipython.line_arguments import normalize, tensor_named
from tapemagic.ipython.session import Session
from tapemagic.report.analysis import analyze
from tapemagic.report.folding import fold
from tapemagic.report.request import ReportRequest
from tapemagic.report.tabs.graph.view import kept_iterations
from tapemagic.report.tapegraph import DotSource, TapeGraph

MIN_NODES, MAX_NODES = 20, 2000
"""Minimum and maximum number of nodes in a picture."""
NODES_FACTOR = 4
"""Factor by which the graph on its own may have more nodes than the graph of a report."""


def tape_graph(
    options: Any,
    session: Session | None,
    namespace: Mapping[str, Any],
    max_nodes: int,
    style: Style,
) -> TapeGraph | DotSource:
    """Draw the graph of the last %%tape cell.

    - `options`: The options of the magic, as strings.
    - `session`: The last %%tape cell.
    - `namespace`: The variables of the notebook.
    - `max_nodes`: Maximum number of nodes in a report.

    Returns
    -------
    TapeGraph or DotSource

    Raises UsageError if there is no cell, or the target or iteration does not exist.
    """
    __tracebackhide__ = True
    if session is None:
        raise UsageError(
            "%tape_graph shows the last %%tape cell, and none has run yet: run one first"
        )
    nodes = _number(options.nodes, "nodes", MIN_NODES, MAX_NODES)
    # Without the derivatives that the report computed: they would be drawn as operations of the cell.
    is_other = options.target is not None
    observer, targets, joins = session.recording(not is_other), session.targets, session.joins
    if is_other:
        targets, joins = [_target(options.target, session, namespace)], 0
    iteration = _iteration(options.iteration, observer)
    room = nodes or min(MAX_NODES, NODES_FACTOR * max_nodes)
    request = ReportRequest(
        targets,
        session.all_sources(),
        order=session.order,
        joins=joins,
        iteration=iteration,
        max_nodes=room,
    )
    with significant_digits(style.digits):
        findings, _ = analyze(observer, request, session.context())
    graph = TapeGraph(findings, style)
    return graph.dot if options.dot else graph


def _target(name: str, session: Session, namespace: Mapping[str, Any]) -> Named:
    value = tensor_named(name, namespace, "%tape_graph")
    if not session.observer.tracks(value):
        raise UsageError(
            f"%tape_graph: {name!r} is not on the tape of the last %%tape cell: name a value that it watched, "
            "or computed from what it watched"
        )
    return normalize(name), value


MAX_NUMBERS = 16
"""The most iterations that an error names."""


def _iteration(text: str, observer: Observer) -> int | None:
    """Return the iteration to open."""
    if not text:
        return None
    count, kept = kept_iterations(fold(snapshot_of(observer)))
    if not count:
        raise UsageError(
            "%tape_graph: there is no iteration to open: no loop of the last %%tape cell recorded operations more "
            "than once"
        )
    number = _number(text, "iteration", 1, count)
    if number not in kept:
        numbers = [f"{k:,}" for k in sorted(kept)]
        if len(numbers) > MAX_NUMBERS:
            numbers[MAX_NUMBERS // 2 : -MAX_NUMBERS // 2] = ["…"]
        raise UsageError(
            f"%tape_graph: iteration {number:,} of {count:,} was let go while the loop ran, since nothing refers to "
            f"its values: these are kept: {', '.join(numbers)}"
        )
    return number


def _number(text: str, name: str, minimum: int, maximum: int) -> int | None:
    """Parse the number in an option; return None without the option."""
    if not text:
        return None
    # Not int() alone, which accepts " 2 ", "1_0" and digits of other scripts.
    if not (re.fullmatch("[0-9]{1,9}", text) and minimum <= int(text) <= maximum):
        raise UsageError(
            f"%tape_graph: --{name} must be an integer from {minimum} to {maximum}, not {text!r}"
        )
    return int(text)
