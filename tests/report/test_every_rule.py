"""Every case of the rule table, examined to second order and shown in every form but the picture."""

from __future__ import annotations

from collections.abc import Collection

import pytest

import tapemagic as tm
from tapemagic.drawing.dot import dot
from tapemagic.drawing.svg import Drawing, draw
from tapemagic.engine.tape.observer import Observer
from tapemagic.report import html
from tapemagic.report.findings import Findings
from tapemagic.report.request import Kind
from tapemagic.report.text import text
from tests.report.recordings import findings_of
from tests.report.test_html import Reader
from tests.rules import harness
from tests.shares import each, share

pytestmark = pytest.mark.thorough

CASES = harness.collect("CASES")


def found(entry: harness.Case, order: int = 2, kinds: Collection[Kind] = ()) -> Findings:
    """What is found of a case."""
    inputs = [tm.constant(x) for x in entry.inputs]
    with Observer() as observer:
        observer.watch(inputs)
        result = entry.call(*inputs)
    results = result if isinstance(result, (tuple, list)) else [result]
    targets = [(f"y{i}", y) for i, y in enumerate(results) if isinstance(y, tm.Tensor)]
    sources = [(f"x{i}", x) for i, x in enumerate(inputs)]
    return findings_of(observer, targets, sources, order, matrices=tuple(kinds))


@pytest.mark.parametrize("module", sorted({name.partition("-")[0] for name in CASES}))
def test_shown(module: str) -> None:
    """Nothing that can be recorded is too strange to be shown, and no gradient fails."""
    for name, entry in share(CASES).items():
        if name.partition("-")[0] != module:
            continue
        findings = found(entry)
        assert findings.graph.nodes <= 60, name
        assert not [d for d in findings.derivatives if "failed" in (d.reason or "")], name
        assert text(findings), name
        assert Reader(html.page(findings, Drawing(None, ""), None)).tags, name
        assert dot(findings.graph).startswith("digraph"), name


def test_some_are_drawn() -> None:
    """Graphviz understands the DOT of every fiftieth case, or of a third of these."""
    for name in list(CASES)[:: each(50)]:
        assert draw(dot(found(CASES[name]).graph)).svg, name


def test_matrices_of_some() -> None:
    """Every tenth case, or a third of these, has its Jacobians and Hessians."""
    for name in list(CASES)[:: each(10)]:
        findings = found(CASES[name], 1, ("jacobian", "hessian"))
        assert not [m for m in findings.matrices if "failed" in (m.reason or "")], name
        assert Reader(html.page(findings, Drawing(None, ""), None)).tags, name
        assert text(findings), name
