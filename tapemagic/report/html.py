"""A report as static HTML, with only inline styles and data URIs, which every notebook viewer shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from tapemagic.drawing.curves import CurvePicture
from tapemagic.drawing.elements import FONT, element
from tapemagic.drawing.styles import CODE, SMALL, TITLE
from tapemagic.drawing.svg import Drawing
from tapemagic.report import limits
from tapemagic.report.failure import show_failure as failure
from tapemagic.report.findings import Findings
from tapemagic.report.tabs import LEAST_IMPORTANT, TABS
from tapemagic.report.verdict import show_verdict as verdict


@dataclass(frozen=True)
class Pictures:
    """The pictures of a report: an attribute is what `Tab.picture` names.

    - `drawing`: The graph.
    - `curves`: The plot; None without a plot.
    """

    drawing: Drawing
    curves: CurvePicture | None = None


class Faces(Mapping[str, str]):
    """The static HTML of each tab by its title, made when it is first read, or '' if there is nothing to show."""

    def __init__(self, findings: Findings, pictures: Pictures) -> None:
        self._findings = findings
        self.pictures = pictures
        self._tabs = {tab.title: tab for tab in TABS}
        self._html: dict[str, str] = {}

    def __getitem__(self, title: str) -> str:
        # Page, LaTeX and widget share the tabs, and some take long to draw.
        if title not in self._html:
            tab = self._tabs[title]
            picture = [getattr(self.pictures, tab.picture)] if tab.picture else []
            self._html[title] = tab.show.html(self._findings, *picture)
        return self._html[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tabs)

    def __len__(self) -> int:
        return len(self._tabs)


def page(findings: Findings, drawing: Drawing, value: str | None) -> str:
    """The whole report as HTML."""
    return assembled(findings, parts(Faces(findings, Pictures(drawing))), value)


def assembled(findings: Findings, parts: Mapping[str, str], value: str | None) -> str:
    """The whole report as HTML, of faces in HTML by their titles; those for which there is no room are named."""
    sections = [section(*part) for part in parts.items()]
    return element("div", FONT, head(findings, value) + "".join(sections))


def parts(faces: Mapping[str, str]) -> dict[str, str]:
    """Return the HTML of the tabs that show something, with '' for those that are omitted for lack of room."""
    shown = {title: face for title, face in faces.items() if face}
    kept = limits.fits(shown, limits.PAGE - limits.HEADLINE, LEAST_IMPORTANT)
    return {title: face if title in kept else "" for title, face in shown.items()}


def head(findings: Findings, value: str | None) -> str:
    """The error that stopped the cell, and the verdict; where they are too long, the beginning of their text."""
    html = failure.html(findings) + verdict.html(findings, value)
    # HTML that is cut off would leave tags open, so a verdict that is too long is shown as plain text.
    if len(html) <= limits.HEADLINE:
        return html
    return element(
        "div", CODE, escape(limits.shortened(failure.text(findings) + verdict.text(findings), 1500))
    )


def section(title: str, face: str) -> str:
    """A face under its heading; the long ones can be closed."""
    if not face:
        return element("div", SMALL, limits.omission_note(title))
    # <details> opens and closes without scripts, which notebooks remove from stored HTML.
    if any(tab.is_long for tab in TABS if tab.title == title):
        return f"<details open>{element('summary', TITLE, escape(title))}{face}</details>"
    return element("div", TITLE, escape(title)) + face
