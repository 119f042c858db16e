"""Small pictures of arrays: a curve of a vector, a heat-map of a matrix, an image as an image."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

import numpy as np

from tapemagic.drawing.elements import BESIDE, image
from tapemagic.drawing.heatmap import MARKS, shades
from tapemagic.drawing.pixels import pixels
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import format_shape
from tapemagic.report.cells import Cells, block_means, is_image_shape, rounded
from tapemagic.report.summary import Summary

SIDE, CURVE = 60, (96, 30)
"""In pixels: the larger side of a heat-map or image, and the size of a curve."""
SLIMMEST = 3
"""The largest ratio of the sides of a heat-map."""
LINE = "#3b82f6"
POINT, CELL = 2, 3.5
"""In pixels: the smallest distance of two points of a curve, and the smallest cell of a heat-map."""
FAR = 3
"""A curve shows zero unless it is this many times its own range away."""
COLOURS = "blue: negative, white: zero, orange: positive, chequered: not finite"


def thumbnail(summary: Summary, width: float, height: float) -> str:
    """A part of an SVG that shows an array in a box of this size; empty for what is better written out.

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
        return _curve(_coarse(summary.cells, 1, width / POINT)[0], width, height)
    colours = summary.colours or shades(_coarse(summary.cells, height / CELL, width / CELL))
    if not colours:
        return ""
    wide, tall = _fitted(summary, width, height)
    x, y = (width - wide) / 2, (height - tall) / 2
    frame = f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" fill="none" stroke="{GROUND}"/>'
    return pixels(colours, wide, tall, x, y) + frame


def _coarse(cells: Cells, rows: float, columns: float) -> Cells:
    """The means of blocks of cells, so that there are no more of them than one can see."""
    if len(cells) <= rows and len(cells[0] if cells else ()) <= columns:
        return cells
    return rounded(block_means(np.array(cells), (int(rows), int(columns))))


def picture(summary: Summary) -> str:
    """An HTML image of an array, with its range and mean as alternative text; empty for what is better written out."""
    if summary.kind == "vector":
        width, height = CURVE
    else:
        width, height = (math.ceil(side) for side in _fitted(summary, SIDE, SIDE))
    content = thumbnail(summary, width, height)
    if not content:
        return ""
    box = f'viewBox="-1 -1 {width + 2} {height + 2}" width="{width + 2}" height="{height + 2}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{content}</svg>'
    return image(svg, words(summary), "", BESIDE)


def legend(summaries: Iterable[Summary | None]) -> list[str]:
    """The meaning of the pictures of some arrays, as a sentence; empty if there are none."""
    drawn = [summary for summary in summaries if summary is not None]
    parts = []
    if any(summary.kind == "matrix" and summary.cells for summary in drawn):
        parts.append(COLOURS)
    if any(summary.kind == "vector" and summary.cells for summary in drawn):
        parts.append("grey line: zero")
    if any(summary.kind == "vector" and not summary.is_finite for summary in drawn):
        parts.append("upright dashed line: not finite")
    if any(summary.cells for summary in drawn):
        parts.append("each picture on its own scale")
    if any(summary.size > sum(map(len, summary.cells)) for summary in drawn if summary.cells):
        parts.append("of large arrays the means of blocks")
    if any(summary.part for summary in drawn):
        parts.append("of arrays with more axes the first part")
    return [f"Pictures: {'; '.join(parts)}."] if parts else []


def words(summary: Summary) -> str:
    """The alternative text of the picture of an array."""
    if summary.kind == "vector":
        what = f"vector of {summary.size:,} numbers"
    else:
        kind = "image" if summary.colours else "matrix" if len(summary.shape) == 2 else "array"
        what = f"{format_shape(summary.shape)} {kind}"
    shown = f"the picture shows {summary.part}" if summary.part else ""
    return ", ".join(filter(None, [what, summary.range, shown]))


def _fitted(summary: Summary, width: float, height: float) -> tuple[float, float]:
    """The largest size in a box that has about the proportions of the array."""
    if not (summary.colours or summary.cells):
        return width, height
    colours, shape = summary.colours, summary.shape
    if colours:
        rows, columns = len(colours), len(colours[0])
    else:
        rows, columns = shape[-3:-1] if is_image_shape(shape) else shape[-2:]
    ratio = min(max(columns / rows, 1 / SLIMMEST), SLIMMEST)
    return min(width, round(height * ratio, 1)), min(height, round(width / ratio, 1))


def _curve(points: tuple[float, ...], width: float, height: float) -> str:
    """A curve, with a line at zero, and an upright line at every number that is not finite."""
    finite = [x for x in points if math.isfinite(x)] or [0.0]
    low, high = min(finite), max(finite)
    near = low == high or max(low, -high) <= FAR * (high - low)
    if near:
        low, high = min(low, 0.0), max(high, 0.0)
    step = width / max(1, len(points) - 1)
    span = high / 2 - low / 2  # the range itself may overflow

    def level(x: float) -> int:
        part = (x / 2 - low / 2) / span if span else 0.5
        return round(height - 1 - part * (height - 2))

    axis = (
        f'<path d="M0 {level(0.0)}H{width:g}" stroke="{GROUND}" stroke-width=".7"/>' if near else ""
    )
    lines, marks = [], []
    for known, run in groupby(enumerate(points), lambda pair: math.isfinite(pair[1])):
        places = [(round(k * step), x) for k, x in run]
        if known:
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
    """The data of a path through places, each a step from the one before; a single place is a dot."""
    (x, y), *_ = places
    steps = "".join(f" {c - a}{' ' * (d >= b)}{d - b}" for (a, b), (c, d) in pairwise(places))
    return f"M{x} {y}" + (f"l{steps[1:]}" if steps else "h.1")
