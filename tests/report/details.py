"""Details of recordings, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.report.analysis import analyze
from tapemagic.report.context import Context
from tapemagic.report.details import Details
from tapemagic.report.findings import Findings
from tapemagic.report.request import ReportRequest


def details_of(
    function: Callable[..., Any], *inputs: Any, order: int = 1, **names: Any
) -> tuple[Findings, Details]:
    """What is found of ``y = function(a, b, ...)``, and what can be asked; all of it on one line."""
    values = [x if isinstance(x, tm.Variable) else tm.constant(x) for x in inputs]
    observer = Observer(lambda: (2, 0, 0, 0))
    with observer:
        observer.watch([x for x in values if not isinstance(x, tm.Variable)])
        y = function(*values)
    sources = list(zip("abcdefgh", values, strict=False))
    context = Context(list(names.items()), lines=["%%tape", "y = ..."])
    targets = [("y", y)] if y is not None else []
    return analyze(observer, ReportRequest(targets, sources, order), context)


def key_of(found: Findings, name: str) -> str:
    """The key of a value by its name or symbol."""
    assert found.view is not None
    names = [value.name or value.symbol for value in found.graph.values]
    return found.view.keys[names.index(name)]
