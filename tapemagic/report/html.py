"""A report as static HTML, with inline styles and data URIs alone, which every notebook viewer shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape

from tapemagic.drawing.curves import CurvePicture
from tapemagic.drawing.elements import FONT, element
from tapemagic.drawing.styles import CODE, SMALL, TITLE
from tapemagic.drawing.svg import Drawing
from tapemagic.report import limits
from tapemagic.report.failure import show as failure
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.code import show as code
from tapemagic.report.tabs.gradients import show as gradients
from tapemagic.report.tabs.graph import show as graph
from tapemagic.report.tabs.lines import show as lines
from tapemagic.report.tabs.plot import show as plot
from tapemagic.report.tabs.trace import show as trace
from tapemagic.report.tabs.training import show as training
from tapemagic.report.tabs.variables import show as variables
from tapemagic.report.text import LEAST_IMPORTANT
from tapemagic.report.verdict import show as verdict

TITLES = tuple(
    face.TITLE for face in (variables, graph, gradients, plot, trace, lines, code, training)
)
"""The titles of the faces, in the order of the tabs."""
LONG = {trace.TITLE, lines.TITLE, code.TITLE, training.TITLE}
"""The faces that a reader can close."""


class Faces(Mapping[str, str]):
    """The HTML of each face by its title, made when it is first wanted; empty where there is nothing to show.

    Parameters
    ----------
    findings : Findings
    drawing : Drawing
    curves : CurvePicture, optional
    """

    def __init__(
        self, findings: Findings, drawing: Drawing, curves: CurvePicture | None = None
    ) -> None:
        self._ways: dict[str, Callable[[], str]] = {
            variables.TITLE: partial(variables.html, findings),
            graph.TITLE: partial(graph.html, findings, drawing),
            gradients.TITLE: partial(gradients.html, findings),
            plot.TITLE: partial(plot.html, findings, curves),
            trace.TITLE: partial(trace.html, findings),
            lines.TITLE: partial(lines.html, findings),
            code.TITLE: partial(code.html, findings),
            training.TITLE: partial(training.html, findings),
        }
        self._made: dict[str, str] = {}

    def __getitem__(self, title: str) -> str:
        if title not in self._made:
            self._made[title] = self._ways[title]()
        return self._made[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ways)

    def __len__(self) -> int:
        return len(self._ways)


def page(findings: Findings, drawing: Drawing, value: str | None) -> str:
    """The whole report as HTML."""
    return assembled(findings, parts(Faces(findings, drawing)), value)


def assembled(findings: Findings, parts: Mapping[str, str], value: str | None) -> str:
    """The whole report as HTML, of faces in HTML by their titles; those for which there is no room are named."""
    sections = [section(*part) for part in parts.items()]
    return element("div", FONT, head(findings, value) + "".join(sections))


def parts(faces: Mapping[str, str]) -> dict[str, str]:
    """The HTML of the faces that have something to show; empty if there is no room for it beside the others."""
    shown = {title: face for title, face in faces.items() if face}
    kept = limits.kept(shown, limits.PAGE - limits.HEADLINE, LEAST_IMPORTANT)
    return {title: face if title in kept else "" for title, face in shown.items()}


def head(findings: Findings, value: str | None) -> str:
    """The error that stopped the cell, and the verdict; where they are too long, the beginning of their text."""
    html = failure.html(findings) + verdict.html(findings, value)
    if len(html) <= limits.HEADLINE:
        return html
    return element(
        "div", CODE, escape(limits.shortened(failure.text(findings) + verdict.text(findings), 1500))
    )


def section(title: str, face: str) -> str:
    """A face under its heading; the long ones can be closed."""
    if not face:
        return element("div", SMALL, limits.left_out(title))
    if title in LONG:
        return f"<details open>{element('summary', TITLE, escape(title))}{face}</details>"
    return element("div", TITLE, escape(title)) + face
