"""The sizes of labels in a graph, from a table of widths instead of the fonts of the machine.

Graphviz measures text with the fonts that it finds, so its layouts differ between machines. All sizes come from here
instead, and `tapemagic.drawing.picture` puts the text into the boxes.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from html import escape

LINE = 12
"""The height of a line of text in points."""
FIELD_PADDING, SIDE_PADDING = 2, 5
"""The room in points above and below the content of a field, and to the left and right of it."""
LEAST_WIDTH = 18
"""The smallest width of a box in points."""
BASELINE = 0.34
"""The distance from the middle of a line down to its baseline, in units of the font size."""
SPREAD = 0.07
"""The room that a character gets in addition to its width in Helvetica, in units of the font size."""
# A browser without Helvetica, Arial or Liberation Sans shows DejaVu Sans: most of its letters and digits are
# 0.05 to 0.08 em wider. The padding covers the rest.
WIDE, UNKNOWN = 0.77, 0.85
# Signs such as = are 0.84 em wide in DejaVu Sans, 0.58 in Helvetica: with SPREAD, these have room in both.
EAST_ASIAN, EMOJI = 1.0, 1.3
# U+FE0F turns the character before it into an emoji: together they are as wide as one.
AS_EMOJI, TO_EMOJI = "\ufe0f", EMOJI - UNKNOWN
# The widths of the Adobe Font Metrics of Helvetica, which Arial and Liberation Sans share, in 1/1000 em.
WIDTHS = {
    letter: width / 1000
    for width, letters in {
        191: "'",
        222: "ijl",
        260: "|",
        278: " !,./:;I[\\]ft·",
        333: "()-`r",
        355: '"',
        389: "*",
        400: "°",
        500: "Jckvsxyz",
        556: "#$0123456789?L_abdeghnopqu–",
        611: "FTZ",
        667: "&ABEKPSVXY",
        722: "CDHNRUw",
        778: "GOQ",
        833: "Mm",
        889: "%",
        944: "W",
        1000: "…—ЖШЩŒÆ",
        1015: "@Ю",
    }.items()
    for letter in letters
} | dict.fromkeys("+<=>^{}~−×÷±", WIDE)


@lru_cache(maxsize=1000)
def text_width(text: str, size: float) -> float:
    """Return the width in points to reserve for a line of text, in any font of a browser.

    Examples
    --------
    >>> round(text_width("gradient 6.0", 10), 1)
    61.2
    >>> text_width("é", 10) == text_width("e", 10)
    True
    """
    return size * sum(map(_width, text))


@lru_cache(maxsize=1000)
def _width(letter: str) -> float:
    """Return the width of a character in units of the font size, or an upper bound for unknown characters."""
    if letter in WIDTHS:
        return WIDTHS[letter] + SPREAD
    if unicodedata.east_asian_width(letter) in {"W", "F"}:
        return (EMOJI if unicodedata.category(letter) == "So" else EAST_ASIAN) + SPREAD
    if letter == AS_EMOJI:
        return TO_EMOJI
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0.0
    if unicodedata.decomposition(letter).startswith("<font>"):  # 𝑥 is wider than x
        return UNKNOWN
    parts = unicodedata.normalize("NFKD", letter)
    return UNKNOWN if parts == letter else sum(map(_width, parts))


def widest(lines: Iterable[str], size: float) -> float:
    """Return the width in points of the widest line."""
    return max((text_width(line, size) for line in lines), default=0.0)


def field_height(lines: int, picture: float = 0.0) -> float:
    """Return the height in points of a field with lines of text above a picture of some height."""
    return LINE * lines + picture + 2 * FIELD_PADDING


def box(width: float, height: float) -> tuple[int, int]:
    """Return the size of a rectangle around content of some size, whose height includes its padding."""
    return max(LEAST_WIDTH, even(width + 2 * SIDE_PADDING)), even(height)


def ellipse(width: float, height: float, least: tuple[int, int]) -> tuple[int, int]:
    """Return the size of an ellipse whose outline doesn't touch its content."""
    tall = max(least[1], even(height * math.sqrt(2)))
    wide = width / math.sqrt(1 - (height / tall) ** 2)
    return max(least[0], even(wide + SIDE_PADDING)), tall


def even(length: float) -> int:
    """Round up to an even number of points."""
    # Graphviz 2.43 lays out in whole points and halves each width; version 14 doesn't round. Even sizes give both
    # the same layout, unless they order boxes differently.
    return 2 * math.ceil(length / 2)


def fixed_label(text: str, size: int, room: int = 0) -> str:
    """Return a label of an edge or frame as DOT: an HTML-like cell of fixed size, with `room` more points."""
    # Edges and clusters have no attribute for the size of their label, so it is a cell. Graphviz draws the outline
    # of a cell with a background, even a transparent one: `picture` centers the text in it.
    width, height = even(text_width(text, size) + SIDE_PADDING + room), even(1.2 * size)
    cell = f'<td fixedsize="true" width="{width}" height="{height}">{_html(text)}</td>'
    borders = 'border="0" cellborder="0" cellspacing="0" cellpadding="0"'
    return f'<<table {borders} bgcolor="transparent"><tr>{cell}</tr></table>>'


def _html(text: str) -> str:
    """Escape text for an HTML-like label, where a backslash has a meaning too."""
    return escape(text).replace("\\", "&#92;")


def inches(points: float) -> str:
    """Convert points to inches, the unit of DOT."""
    return f"{points / 72:.6g}"
