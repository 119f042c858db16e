"""A report as static HTML, with inline styles and data URIs alone, which every notebook viewer shows."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tapemagic.analysis.report.findings import Findings
from tapemagic.display.elements import FONT, element
from tapemagic.display.faces import (
    failure,
    gradients,
    graph,
    lines,
    trace,
    training,
    variables,
    verdict,
)
from tapemagic.display.styles import TITLE
from tapemagic.display.svg import Drawing


def faces(findings: Findings, drawing: Drawing, live: bool = False) -> Mapping[str, str]:
    """The HTML of each face by its title; empty where there is nothing to show."""
    return {
        variables.TITLE: variables.html(findings),
        graph.TITLE: graph.html(findings, drawing, live),
        gradients.TITLE: gradients.html(findings),
        trace.TITLE: trace.html(findings),
        lines.TITLE: lines.html(findings),
        training.TITLE: training.html(findings),
    }


def page(findings: Findings, drawing: Drawing, value: str | None) -> str:
    """The whole report as HTML."""
    parts = [failure.html(findings), verdict.html(findings, value)]
    for words, face in faces(findings, drawing).items():
        if face:
            parts += [title(words), face]
    return element("div", FONT, "".join(parts))


def title(words: str) -> str:
    """The heading of a section."""
    return element("div", TITLE, escape(words))
