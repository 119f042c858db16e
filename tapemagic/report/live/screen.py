"""Screen: the input of the functions that make the tabs of the widget."""

from __future__ import annotations

from dataclasses import dataclass

from tapemagic.drawing.curves import CurvePicture
from tapemagic.drawing.report_style import Theme
from tapemagic.report.findings import Findings


@dataclass(frozen=True)
class Screen:
    """The input of the functions that make the tabs of the widget.

    The function ``html(screen, static)`` of a tab, for example in ``live_graph.py``, returns its HTML, None if there is
    nothing to show, or '' if the front end fills the tab itself. It may call `static` for the HTML of the static page.

    Attributes
    ----------
    findings : Findings
    theme : {'auto', 'light', 'dark'}
    curves : CurvePicture or None
        The picture of the plot.
    has_view : bool
        Whether the front end draws the graph, with the trace to match.
    """

    findings: Findings
    theme: Theme = "auto"
    curves: CurvePicture | None = None
    has_view: bool = False
