"""The data of a report for its front end, as JSON: front_end/src/content.ts states the same, field by field."""

from __future__ import annotations

from typing import TypedDict

from tapemagic.drawing.elements import element
from tapemagic.drawing.graph_picture import GraphPicture
from tapemagic.drawing.report_style import Theme
from tapemagic.drawing.styles import QUIET
from tapemagic.report import html
from tapemagic.report.findings import Findings
from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs import NOTHING_RECORDED, TABS, Tab, first_tab
from tapemagic.report.tabs.gradients.live_gradients import is_unchecked
from tapemagic.report.tabs.graph.live_graph import View, view_of


class Face(TypedDict):
    """A tab."""

    title: str
    html: str


class Control(TypedDict):
    """The slider of a scalar, or those of the entries of a small array."""

    name: str
    shape: list[int]
    entries: list[float]
    low: float
    high: float
    step: float
    moved: bool


class Content(TypedDict):
    """The contents of a report."""

    number: int
    theme: Theme
    head: str
    faces: list[Face]
    first: str
    view: View | None
    controls: list[Control]
    marks: str
    unchecked: bool
    live: bool


def content_of(picture: GraphPicture, value: str | None, faces: html.Faces) -> Content:
    """Return the contents of a report before a reader opens anything.

    - `picture`: The findings, with the picture of their graph.
    - `value`: The value of the cell's last expression as text, or None if the tables show it.
    - `faces`: The tabs as static HTML.
    """
    findings, style, curves = picture.findings, picture.style, faces.pictures.curves
    view = view_of(picture) if findings.graph.steps else None
    screen = Screen(findings, style.theme, curves, view is not None)
    pages = {tab.title: _page(tab, screen, faces) for tab in TABS}
    shown = {title: page for title, page in pages.items() if page is not None}
    return Content(
        # ReportWidget.renew counts up, so that the front end can tell the runs of a cell apart.
        number=0,
        theme=style.theme,
        head=html.head(findings, value),
        faces=[Face(title=title, html=page) for title, page in shown.items()],
        first=first_tab([*shown], findings.tabs, style.first_tab),
        view=view,
        controls=[],
        marks=curves.layer if curves else "",
        unchecked=is_unchecked(findings),
        live=True,
    )


def _page(tab: Tab, screen: Screen, faces: html.Faces) -> str | None:
    """A tab as HTML: '' if the front end fills it itself, and None if there is no such tab."""
    page = tab.live.html(screen, lambda: faces[tab.title]) if tab.live else faces[tab.title] or None
    if page is None and tab.if_empty:
        return element("div", QUIET, _why_empty(tab, screen.findings))
    return page


def _why_empty(tab: Tab, findings: Findings) -> str:
    """Return the words in a tab without contents."""
    # The operation that failed isn't on the tape, although it may have used a watched value.
    if findings.failure is not None and tab.if_empty == NOTHING_RECORDED:
        line = findings.failure.line
        return f"Nothing was recorded before the cell stopped{f' at line {line}' if line else ''}."
    return tab.if_empty
