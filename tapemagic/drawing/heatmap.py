"""A matrix as a picture: blue where it is negative, white where it is zero, orange where it is positive."""

from __future__ import annotations

import math
from html import escape

from tapemagic.drawing.pixels import Colors, pixels
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import format_number, printable
from tapemagic.report.cells import Cells
from tapemagic.report.tabs.gradients.matrices import Matrix

# Blue and orange differ for all kinds of color blindness.
NEGATIVE, ZERO, POSITIVE = (29, 78, 216), (255, 255, 255), (180, 83, 9)
MARKS = ("#ff00ff", "#000000")
"""The colors of the checkered pattern for nan and infinity."""
LEVELS = 7
"""The number of colors on each side of zero."""
# With white for zero there are 15, so a cell of a picture takes four bits.
MAX_SIDE, MIN_SIDE, MAX_CELL = 320, 40, 24
"""In pixels: the approximate largest and smallest side of the picture, and the largest side of a cell."""
LETTER, LINE = 7, 18
"""The approximate width of a letter and height of a line of text, in pixels."""
MAX_NAME = 20
FRAME = 'stroke="#9ca3af" stroke-width="1"'


def heatmap(matrix: Matrix, cells: Cells) -> str:
    """Draw the cells in colors, with the names of the first and the last row and column, and a scale.

    - `matrix`: The names of its rows and columns.

    Returns str: an SVG element that depends on the numbers only, not on the machine.
    """
    low, high = _bounds(cells)
    across, down = _ends(matrix.columns), _ends(matrix.rows)
    scale = _ends((format_number(high), format_number(low)))
    side = max(4, min(MAX_CELL, MAX_SIDE // max(len(cells), len(cells[0]))))
    # Cells are at least so wide and tall that the names of the ends don't overlap.
    wide = max(side, -(-max(MIN_SIDE, LETTER * len("  ".join(across))) // len(cells[0])))
    tall = max(side, -(-max(MIN_SIDE, LINE * len(down)) // len(cells)))
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
        f"{pixels(color_levels(cells), width, height, left, top)}"
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" {FRAME}/>'
        f'<defs><linearGradient id="scale" x1="0" x2="0" y1="0" y2="1">{_stops(low, high)}</linearGradient></defs>'
        f'<rect x="{bar}" y="{top}" width="12" height="{height}" fill="url(#scale)" {FRAME}/>'
        f"{''.join(words)}</svg>"
    )


def _bounds(cells: Cells) -> tuple[float, float]:
    """Return the lowest and highest value of the color scale, which includes zero."""
    finite = [0.0, *(x for row in cells for x in row if math.isfinite(x))]
    return min(finite), max(finite)


def _ends(names: tuple[str, ...]) -> list[str]:
    """Return the first and last name, shortened, or only one if they are equal."""
    ends = [names[0], names[-1]] if names[0] != names[-1] else [names[0]]
    return [name if len(name) <= MAX_NAME else f"…{name[1 - MAX_NAME :]}" for name in ends]


def _texts(words: list[str], places: list[tuple[int, int, str]]) -> list[str]:
    return [
        f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(printable(word))}</text>'
        for word, (x, y, anchor) in zip(words, places, strict=False)
    ]


def color_levels(cells: Cells) -> Colors:
    """Return the colors of cells; if any is nan or infinite, each cell is four squares to show a pattern."""
    finite = [x for row in cells for x in row if math.isfinite(x)]
    largest = max(map(abs, finite), default=0.0) or 1.0
    if len(finite) == sum(map(len, cells)):
        return [[color(x / largest) for x in row] for row in cells]
    rows = []
    for row in cells:
        # Two rows of two squares in opposite order make a checkerboard.
        for pattern in (MARKS, MARKS[::-1]):
            pairs = ([color(x / largest)] * 2 if math.isfinite(x) else pattern for x in row)
            rows.append([shade for pair in pairs for shade in pair])
    return rows


def _stops(low: float, high: float) -> str:
    """Return the stops of the gradient of the color scale, from top to bottom."""
    largest, span = max(-low, high) or 1.0, (high - low) or 1.0
    stops = [(0.0, high), (high / span, 0.0), (1.0, low)]
    return "".join(
        f'<stop offset="{place:.4g}" stop-color="{color(value / largest)}"/>'
        for place, value in stops
    )


def color(part: float) -> str:
    """Return the color of a number between -1 and 1, or the strongest one for larger numbers."""
    # Rounding first keeps the color the same where BLAS or SIMD change the last digits of a number.
    strength = round(round(min(1.0, abs(part)), 6) * LEVELS) / LEVELS
    end = POSITIVE if part > 0 else NEGATIVE
    mixed = (round(z + strength * (e - z)) for z, e in zip(ZERO, end, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
