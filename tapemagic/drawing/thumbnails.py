"""Small pictures of arrays: a curve of a vector, a heat-map of a matrix, an image as an image."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

import numpy as np

from tapemagic.drawing.elements import BESIDE, image
from tapemagic.drawing.heatmap import MARKS, color_levels
from tapemagic.drawing.pixels import pixels
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import format_shape
from tapemagic.report.cells import Cells, block_means, is_image_shape, rounded
from tapemagic.report.summary import Summary

SIDE, CURVE_SIZE = 60, (96, 30)
"""In pixels: the larger side of a heat map or image, and the size of a curve."""
MAX_RATIO = 3
"""The largest ratio of the sides of a heat map."""
LINE = "#3b82f6"
MIN_DISTANCE, MIN_CELL = 2, 3.5
"""In pixels: the smallest distance between points of a curve, and the smallest cell of a heat map."""
MAX_ZERO_DISTANCE = 3
"""A curve shows the zero line unless zero is this many times the range of the curve away."""
COLORS = "blue: negative, white: zero, orange: positive, checkered: nan or inf"


def thumbnail(summary: Summary, width: float, height: float) -> str:
    """Draw an array as part of an SVG, in a box of a size; '' for one that is better written out.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.report.summary import summarise
    >>> thumbnail(summarise(np.arange(9.0)), 18, 8)
    '<path d="M0 7H18" stroke="#7f7f7f" stroke-width=".7"/><path d="M0 7l2-1 2 0 3-1 2-1 2-1 3-1 2 0 2-1" \
fill="none" stroke="#3b82f6" stroke-linejoin="round"/>'
    >>> thumbnail(summarise(3.0), 16, 8)
    ''
    """
    if summary.kind == "vector" and summary.cells:
        return _curve(_coarse(summary.cells, 1, width / MIN_DISTANCE)[0], width, height)
    colors = summary.colours or color_levels(
        _coarse(summary.cells, height / MIN_CELL, width / MIN_CELL)
    )
    if not colors:
        return ""
    wide, tall = _fitted(summary, width, height)
    x, y = (width - wide) / 2, (height - tall) / 2
    frame = f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" fill="none" stroke="{GROUND}"/>'
    return pixels(colors, wide, tall, x, y) + frame


def _coarse(cells: Cells, rows: float, columns: float) -> Cells:
    """Average blocks of cells that would be too small to see."""
    if len(cells) <= rows and len(cells[0] if cells else ()) <= columns:
        return cells
    return rounded(block_means(np.array(cells), (int(rows), int(columns))))


def picture(summary: Summary) -> str:
    """Return an HTML image of an array with an alternative text, or '' if it is better written out."""
    if summary.kind == "vector":
        width, height = CURVE_SIZE
    else:
        width, height = (math.ceil(side) for side in _fitted(summary, SIDE, SIDE))
    content = thumbnail(summary, width, height)
    if not content:
        return ""
    box = f'viewBox="-1 -1 {width + 2} {height + 2}" width="{width + 2}" height="{height + 2}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{content}</svg>'
    return image(svg, words(summary), "", BESIDE)


def legend(summaries: Iterable[Summary | None]) -> list[str]:
    """Return a sentence that explains the pictures of arrays, or nothing without pictures."""
    drawn = [summary for summary in summaries if summary is not None]
    parts = []
    if any(summary.kind == "matrix" and summary.cells for summary in drawn):
        parts.append(COLORS)
    if any(summary.kind == "vector" and summary.cells for summary in drawn):
        parts.append("grey line: zero")
    if any(summary.kind == "vector" and not summary.is_finite for summary in drawn):
        parts.append("vertical dashed line: nan or inf")
    if any(summary.cells for summary in drawn):
        parts.append("each picture on its own scale")
    if any(summary.size > sum(map(len, summary.cells)) for summary in drawn if summary.cells):
        parts.append("of large arrays the means of blocks")
    if any(summary.part for summary in drawn):
        parts.append("of arrays with more axes the first part")
    return [f"Pictures: {'; '.join(parts)}."] if parts else []


def words(summary: Summary) -> str:
    """Return the alternative text of the picture of an array."""
    if summary.kind == "vector":
        what = f"vector of {summary.size:,} numbers"
    else:
        kind = "image" if summary.colours else "matrix" if len(summary.shape) == 2 else "array"
        what = f"{format_shape(summary.shape)} {kind}"
    part = f"the picture shows {summary.part}" if summary.part else ""
    return ", ".join(filter(None, [what, summary.range, part]))


def _fitted(summary: Summary, width: float, height: float) -> tuple[float, float]:
    """Return the largest size in a box with about the proportions of the array."""
    if not (summary.colours or summary.cells):
        return width, height
    colors, shape = summary.colours, summary.shape
    if colors:
        rows, columns = len(colors), len(colors[0])
    else:
        rows, columns = shape[-3:-1] if is_image_shape(shape) else shape[-2:]
    ratio = min(max(columns / rows, 1 / MAX_RATIO), MAX_RATIO)
    return min(width, round(height * ratio, 1)), min(height, round(width / ratio, 1))


def _curve(points: tuple[float, ...], width: float, height: float) -> str:
    """Draw a curve with a line at zero, and a vertical line at every nan or infinity."""
    finite = [x for x in points if math.isfinite(x)] or [0.0]
    low, high = min(finite), max(finite)
    # Zero is a reference only if it doesn't flatten the curve.
    near = low == high or max(low, -high) <= MAX_ZERO_DISTANCE * (high - low)
    if near:
        low, high = min(low, 0.0), max(high, 0.0)
    step = width / max(1, len(points) - 1)
    # Half of the range, because the range of large numbers overflows.
    span = high / 2 - low / 2

    def level(x: float) -> int:
        part = (x / 2 - low / 2) / span if span else 0.5
        return round(height - 1 - part * (height - 2))

    axis = (
        f'<path d="M0 {level(0.0)}H{width:g}" stroke="{GROUND}" stroke-width=".7"/>' if near else ""
    )
    lines, marks = [], []
    for is_finite, run in groupby(enumerate(points), lambda pair: math.isfinite(pair[1])):
        places = [(round(k * step), x) for k, x in run]
        if is_finite:
            lines.append(_line([(place, level(x)) for place, x in places]))
        else:
            marks += [f"M{place} 0V{height:g}" for place, _ in places]
    curve = (
        f'<path d="{"".join(lines)}" fill="none" stroke="{LINE}" stroke-linejoin="round"/>'
        if lines
        else ""
    )
    crosses = (
        f'<path d="{"".join(marks)}" stroke="{MARKS[0]}" stroke-dasharray="2 1"/>' if marks else ""
    )
    return axis + curve + crosses


def _line(places: Sequence[tuple[int, int]]) -> str:
    """Return the data of a path through points in relative coordinates; a single point is a dot."""
    (x, y), *_ = places
    steps = "".join(f" {c - a}{' ' * (d >= b)}{d - b}" for (a, b), (c, d) in pairwise(places))
    return f"M{x} {y}" + (f"l{steps[1:]}" if steps else "h.1")
