"""Findings as a widget with tabs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ipywidgets

from tapemagic.analysis.report.findings import Findings
from tapemagic.display import html
from tapemagic.display.appearance import Style, themed_page
from tapemagic.display.elements import element, live
from tapemagic.display.faces import gradients, graph, variables
from tapemagic.display.styles import QUIET
from tapemagic.display.svg import Drawing

NOTHING = element(
    "div", QUIET, "Nothing was recorded: no operation had a watched value as its input."
)
UNASKED = element("div", QUIET, "There is nothing to differentiate.")
EMPTY = {variables.TITLE: NOTHING, graph.TITLE: NOTHING, gradients.TITLE: UNASKED}
"""The words in the tabs that are there even if there is nothing to show."""
FRAME = "overflow:auto;max-height:72vh;width:0;min-width:100%"
"""The style of what stands in a tab: it is scrolled in itself, so that the tabs and the verdict stay where they are.

A width of its own keeps a wide picture from widening the tab, whose right side would be cut off.
"""
VIEW = "application/vnd.jupyter.widget-view+json"


def tabs(
    findings: Findings,
    drawing: Drawing,
    value: str | None,
    style: Style = Style(),  # noqa: B008 -- it is frozen
    faces: Mapping[str, str] | None = None,
) -> ipywidgets.Widget:
    """A box with the verdict, and a tab for each of the faces, which are made here if they are not given."""
    picture = graph.html(findings, drawing, live=True)
    pages = {**(faces or html.faces(findings, drawing)), graph.TITLE: picture}
    shown = {title: page or EMPTY[title] for title, page in pages.items() if page or title in EMPTY}
    titles = list(shown)
    first = style.first_tab if style.first_tab in shown else Style.first_tab
    framed = (element("div", FRAME, live(page)) for page in shown.values())
    head, *contents = [
        ipywidgets.HTML(themed_page(page, style.theme))
        for page in (live(html.head(findings, value)), *framed)
    ]
    tab = ipywidgets.Tab(contents, titles=titles, selected_index=titles.index(first))
    return ipywidgets.VBox([head, tab])


def view(widget: ipywidgets.Widget) -> dict[str, Any]:
    """The MIME bundle that shows a widget in a notebook; empty where there is no notebook."""
    bundle = widget._repr_mimebundle_() or {}
    return {VIEW: bundle[VIEW]} if VIEW in bundle else {}


def close(widget: ipywidgets.Widget) -> None:
    """Close a widget with its children, layouts and styles."""
    for part in [widget, *_parts(widget)]:
        part.close()


def _parts(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    """The layout and style of a widget, and its children at any depth with theirs."""
    for name in ("layout", "style"):
        if isinstance(part := getattr(widget, name, None), ipywidgets.Widget):
            yield part
    for child in getattr(widget, "children", ()):
        yield child
        yield from _parts(child)
