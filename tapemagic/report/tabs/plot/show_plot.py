"""Shows a plot: the curves of targets and their derivatives over a range of one variable."""

from __future__ import annotations

import math

from tapemagic.drawing.curves import CurvePicture
from tapemagic.drawing.elements import aligned, element, escape_text, image, listing
from tapemagic.drawing.styles import SMALL
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import format_number, printable
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.plot.plot import Plot

TITLE = "Plot"
MAX_COLUMNS = 12
"""The number of curves in the table."""
LOOK = "display:block;max-width:100%"
FRAME = "position:relative;width:fit-content;max-width:100%;margin:4px 0"
"""The style of the element around the picture, over which a live page draws marks."""


def text(findings: Findings) -> str:
    """Return a plot as text: a table of values at a few points, and sentences about gaps."""
    plot = findings.plot
    if plot is None:
        return ""
    table = aligned(_table(plot), right=True) if plot.drawn else []
    return "\n".join(map(printable, [caption(plot), *table, *_notes(findings, plot)]))


def html(findings: Findings, picture: CurvePicture | None, marked: bool = True) -> str:
    """Return a plot as HTML: the picture of the curves, sentences about gaps, and a table of values.

    - `picture`: None if no curve has a value.
    - `marked`: Whether the ordinary run is marked in the picture.
    """
    plot = findings.plot
    if plot is None:
        return ""
    # A slider moves the mark of this run, so the widget draws it over a picture without marks.
    drawn = image(picture.svg(marked), f"{ALT}{caption(plot)}", LOOK) if picture else ""
    notes = [*_notes(findings, plot), *(picture.notes if picture else ())]
    words = "".join(element("div", SMALL, escape_text(note)) for note in notes)
    if not plot.drawn:
        return element("div", "", escape_text(caption(plot))) + words
    head, *rows = ([escape_text(cell) for cell in row] for row in _table(plot))
    table = listing([f"<code>{name}</code>" for name in head], rows, ())
    numbers = (
        f"<details><summary>{escape_text(f'Values of {caption(plot)}')}</summary>{table}</details>"
    )
    return element("div", FRAME, drawn) + words + numbers


ALT = "Plot of the cell: "
"""The first words of the alternative text, by which the nbval plug-in recognizes the picture."""


def caption(plot: Plot) -> str:
    """Name the curves and the range."""
    ends = f"{plot.name} from {format_number(plot.low)} to {format_number(plot.high)}"
    if not plot.drawn:
        return f"Nothing to plot over {ends}"
    return f"{listed([curve.symbol for curve in plot.drawn])} over {ends}"


def _notes(findings: Findings, plot: Plot) -> list[str]:
    """Describe gaps, curves that aren't drawn, and incomplete gradients."""
    outside = [plot.outside] if plot.outside else []
    lacking = [
        f"{entry.symbol} is what the tape gives, which is not the slope of the curve: {entry.reason}."
        for entry in findings.derivatives
        if entry.source == plot.name and entry.value is not None and entry.reason
    ]
    return [*plot.notes, *outside, *lacking]


def _table(plot: Plot) -> list[tuple[str, ...]]:
    """Return the values at a few points as rows; a dash is a gap."""
    curves = plot.drawn[:MAX_COLUMNS]
    rows: list[tuple[str, ...]] = [(plot.name, *(curve.symbol for curve in curves))]
    for k in plot.listed:
        values = (curve.values[k] for curve in curves)
        cells = (format_number(value) if math.isfinite(value) else "–" for value in values)
        rows.append((format_number(plot.points[k]), *cells))
    return rows
