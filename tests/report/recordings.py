"""Recordings for the tests of what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.explain.snapshot import Named
from tapemagic.report.analysis import analyze
from tapemagic.report.context import Context
from tapemagic.report.findings import Findings
from tapemagic.report.request import Kind, ReportRequest
from tapemagic.report.tabs import TABS


def record(
    function: Callable[..., Any],
    *inputs: Any,
    order: int = 1,
    max_nodes: int = 60,
    matrices: Collection[Kind] = (),
    check: bool = False,
    **names: Any,
) -> Findings:
    """What is found of ``y = function(a, b, ...)``, with a, b, ... watched; `names` are constants."""
    values = [x if isinstance(x, tm.Variable) else tm.constant(x) for x in inputs]
    sources = list(zip("abcdefgh", values, strict=False))
    line = iter(range(2, 1_000_000))
    observer = Observer(lambda: (next(line), 0, 0, 0))
    with observer:
        observer.watch([x for x in values if not isinstance(x, tm.Variable)])
        y = function(*values)
    outputs = y if isinstance(y, (tuple, list)) else [y]
    targets = [("y" if len(outputs) == 1 else f"y{i}", x) for i, x in enumerate(outputs)]
    context = Context(list(names.items()), lines=["%%tape", *(f"line {i}" for i in range(2, 20))])
    request = ReportRequest(
        targets, sources, order, matrices=tuple(matrices), check=check, max_nodes=max_nodes
    )
    return analyze(observer, request, context)[0]


def with_contents(findings: Findings, **changes: Any) -> Findings:
    """Findings with other contents, by the names of their fields, tabs and properties."""
    tabs = dict(findings.tabs)
    if "derivatives" in changes:
        tabs["gradients"] = replace(tabs["gradients"], rows=changes.pop("derivatives"))
    if "graph" in changes:
        view = replace(tabs["graph"].view, graph=changes.pop("graph"))
        tabs["graph"] = replace(tabs["graph"], view=view)
    names = {tab.name for tab in TABS} & changes.keys() - {"lines"}
    tabs |= {name: changes.pop(name) for name in names}
    if "source_lines" in changes:
        tabs["lines"] = changes.pop("source_lines")
    return replace(findings, tabs=tabs, **changes)


def findings_of(
    observer: Observer,
    targets: Sequence[Named],
    sources: Sequence[Named],
    order: int = 1,
    context: Context | None = None,
    matrices: Sequence[Kind] = (),
) -> Findings:
    """The findings of a recording."""
    request = ReportRequest(targets, sources, order, matrices=matrices)
    return analyze(observer, request, context)[0]


def notes(found: Findings) -> str:
    """The sentences of a verdict that are neither results nor about single gradients."""
    topics = {"left", "note"}
    return "; ".join(said.text for said in found.verdict if said.topic in topics)


def square() -> Findings:
    """The smallest example: one variable, one operation."""
    return record(lambda x: x**2, 3.0)


def product() -> Findings:
    """Two variables and two orders."""
    return record(lambda a, b: a * b * np.sin(a), 2.0, 3.0, order=2)


def regression() -> Findings:
    """The mean squared error of a line, with data by name."""
    x, t = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[1.0], [2.0], [3.0]])
    w, b = tm.Variable([[1.0], [2.0]], name="w"), tm.Variable([0.5], name="b")
    return record(lambda w, b: np.mean((x @ w + b - t) ** 2), w, b, x=x, t=t)


def chain(length: int, max_nodes: int = 60) -> Findings:
    """A chain of sines."""

    def compute(x: Any) -> Any:
        for _ in range(length):
            x = np.sin(x)
        return x

    return record(compute, 0.5, max_nodes=max_nodes)
