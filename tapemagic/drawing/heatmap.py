"""A matrix as a picture: blue where it is negative, white where it is zero, orange where it is positive."""

from __future__ import annotations

import math
from html import escape

from tapemagic.drawing.pixels import Colours, pixels
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import format_number, printable
from tapemagic.report.cells import Cells
from tapemagic.report.tabs.gradients.matrices import Matrix

NEGATIVE, ZERO, POSITIVE = (29, 78, 216), (255, 255, 255), (180, 83, 9)
MARKS = ("#ff00ff", "#000000")
"""The colours of the pattern in the place of a number that is not finite."""
LEVELS = 7
"""The number of colours on each side of zero: with that of zero 15, so that a cell takes half a byte."""
SIDE, LEAST, CELL = 320, 40, 24
"""In pixels: the approximate largest and smallest side of the picture, and the largest side of a cell."""
LETTER, LINE = 7, 18
"""The approximate width of a letter and height of a line of text, in pixels."""
LONGEST = 20
FRAME = 'stroke="#9ca3af" stroke-width="1"'


def heatmap(matrix: Matrix, cells: Cells) -> str:
    """Draw the cells in colours, with the names of the first and the last row and column, and a scale.

    Parameters
    ----------
    matrix : Matrix
        The names of its rows and columns.
    cells : tuple of tuple of float

    Returns
    -------
    str
        An SVG element: the same for the same numbers, whatever the machine.
    """
    low, high = _bounds(cells)
    across, down = _ends(matrix.columns), _ends(matrix.rows)
    scale = _ends((format_number(high), format_number(low)))
    side = max(4, min(CELL, SIDE // max(len(cells), len(cells[0]))))
    wide = max(side, -(-max(LEAST, LETTER * len("  ".join(across))) // len(cells[0])))
    tall = max(side, -(-max(LEAST, LINE * len(down)) // len(cells)))
    width, height = wide * len(cells[0]), tall * len(cells)
    left, top = LETTER * max(map(len, down)) + 6, LINE
    right, bottom = left + width, top + height
    bar = right + 16
    words = [
        *_texts(across, [(left, top - 5, "start"), (right, top - 5, "end")]),
        *_texts(down, [(left - 6, top + 11, "end"), (left - 6, bottom - 3, "end")]),
        *_texts(scale, [(bar + 17, top + 10, "start"), (bar + 17, bottom - 2, "start")]),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{bar + 20 + LETTER * max(map(len, scale))}"'
        f' height="{bottom + 2}" font-family="Helvetica,Arial,sans-serif" font-size="11" fill="{GROUND}">'
        f"{pixels(shades(cells), width, height, left, top)}"
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" {FRAME}/>'
        f'<defs><linearGradient id="scale" x1="0" x2="0" y1="0" y2="1">{_stops(low, high)}</linearGradient></defs>'
        f'<rect x="{bar}" y="{top}" width="12" height="{height}" fill="url(#scale)" {FRAME}/>'
        f"{''.join(words)}</svg>"
    )


def _bounds(cells: Cells) -> tuple[float, float]:
    """The lowest and highest value of the colour scale: those of all finite values and zero."""
    finite = [0.0, *(x for row in cells for x in row if math.isfinite(x))]
    return min(finite), max(finite)


def _ends(names: tuple[str, ...]) -> list[str]:
    """The first and the last name, cut off at `LONGEST` characters; one name if they are equal."""
    ends = [names[0], names[-1]] if names[0] != names[-1] else [names[0]]
    return [name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}" for name in ends]


def _texts(words: list[str], places: list[tuple[int, int, str]]) -> list[str]:
    return [
        f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(printable(word))}</text>'
        for word, (x, y, anchor) in zip(words, places, strict=False)
    ]


def shades(cells: Cells) -> Colours:
    """The colours of cells; one that is not finite has a pattern, for which every cell is four squares."""
    finite = [x for row in cells for x in row if math.isfinite(x)]
    most = max(map(abs, finite), default=0.0) or 1.0
    if len(finite) == sum(map(len, cells)):
        return [[colour(x / most) for x in row] for row in cells]
    rows = []
    for row in cells:
        for pattern in (MARKS, MARKS[::-1]):
            pairs = ([colour(x / most)] * 2 if math.isfinite(x) else pattern for x in row)
            rows.append([shade for pair in pairs for shade in pair])
    return rows


def _stops(low: float, high: float) -> str:
    """The stops of the colour scale's gradient, from top to bottom."""
    most, span = max(-low, high) or 1.0, (high - low) or 1.0
    stops = [(0.0, high), (high / span, 0.0), (1.0, low)]
    return "".join(
        f'<stop offset="{place:.4g}" stop-color="{colour(value / most)}"/>'
        for place, value in stops
    )


def colour(part: float) -> str:
    """The colour of a number between -1 and 1; the strongest one for larger numbers.

    Rounding comes first, so that the last digits of a number do not change its colour.
    """
    strength = round(round(min(1.0, abs(part)), 6) * LEVELS) / LEVELS
    end = POSITIVE if part > 0 else NEGATIVE
    mixed = (round(z + strength * (e - z)) for z, e in zip(ZERO, end, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
