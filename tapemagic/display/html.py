"""A report as static HTML, with inline styles and data URIs alone, which every notebook viewer shows."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tapemagic.analysis.report.findings import Findings
from tapemagic.display import limits
from tapemagic.display.elements import FONT, element
from tapemagic.display.faces import gradients, graph, lines, trace, training, variables, verdict
from tapemagic.display.styles import CODE, SMALL, TITLE
from tapemagic.display.svg import Drawing

LONG = {trace.TITLE, lines.TITLE, training.TITLE}
"""The faces that a reader can close."""
LEAST_IMPORTANT = (
    lines.TITLE,
    trace.TITLE,
    training.TITLE,
    variables.TITLE,
    graph.TITLE,
    gradients.TITLE,
)


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


def page(findings: Findings, drawing: Drawing, value: str | None, room: int = limits.PAGE) -> str:
    """The whole report as HTML, of at most so many characters; what there is no room for is named."""
    shown = {title: face for title, face in faces(findings, drawing).items() if face}
    kept = limits.kept(shown, room - limits.HEADLINE, LEAST_IMPORTANT)
    sections = [
        section(title, face) if title in kept else element("div", SMALL, limits.left_out(title))
        for title, face in shown.items()
    ]
    return element("div", FONT, head(findings, value) + "".join(sections))


def head(findings: Findings, value: str | None) -> str:
    """The verdict; where it is too long for a page, the beginning of its text."""
    html = verdict.html(findings, value)
    if len(html) <= limits.HEADLINE:
        return html
    return element("div", CODE, escape(limits.shortened(verdict.text(findings), 1500)))


def section(title: str, face: str) -> str:
    """A face under its heading; the long ones can be closed."""
    if title in LONG:
        return f'<details open="">{element("summary", TITLE, escape(title))}{face}</details>'
    return element("div", TITLE, escape(title)) + face
