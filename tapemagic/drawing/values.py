"""Numbers and arrays in a table: as text, and as HTML with a small picture."""

from __future__ import annotations

from collections.abc import Sequence

from tapemagic.drawing.elements import aligned, element, escape_text
from tapemagic.drawing.styles import BAD, GROUND, NAME
from tapemagic.drawing.thumbnails import picture
from tapemagic.explain.formatting import SHOWN
from tapemagic.report.summary import Summary

GRID = f"display:inline-block;{NAME};border:solid {GROUND};border-width:0 1px;padding:0 4px;text-align:left"


def text(summary: Summary) -> str:
    """Return a value without its shape; a small matrix takes several lines.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.report.summary import summarise
    >>> print(text(summarise(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 60.0], [7.0, 8.0, 9.0]]))))
    [[1.0, 2.0,  3.0],
     [4.0, 5.0, 60.0],
     [7.0, 8.0,  9.0]]
    >>> text(summarise(np.arange(9.0)))
    '0.0 to 8.0, mean 4.0'
    """
    if len(summary.rows) < 2 or summary.size <= SHOWN:
        return summary.details
    rows = grid(summary.rows, ", ")
    return "[" + ",\n ".join(f"[{row}]" for row in rows) + "]"


def html(summary: Summary, pictured: bool = True, bad: bool = False) -> str:
    """Return a value without its shape as HTML: a small table, or a picture with range and mean; red if `bad`."""
    if len(summary.rows) > 1:
        words = element("span", GRID, "\n".join(map(escape_text, grid(summary.rows, "  "))))
    else:
        words = escape_text(summary.details)
    words = element("span", BAD, words) if bad else words
    shown = picture(summary) if pictured else ""
    return f"{shown}<br>{words}" if shown else words


def grid(rows: Sequence[Sequence[str]], between: str) -> list[str]:
    """Return the lines of a matrix with columns aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [between.join(map(str.rjust, row, widths)) for row in rows]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the columns of a table of text, whose cells may have several lines."""
    lines = []
    for row in rows:
        cells = [cell.split("\n") for cell in row]
        tallest = max(map(len, cells))
        padded = ([*cell, *[""] * (tallest - len(cell))] for cell in cells)
        lines += list(zip(*padded, strict=True))
    return aligned(lines)
