"""The picture of a plot as SVG without a background, and the places of its marks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from tapemagic.drawing.axes import (
    COLORS,
    Box,
    bottom_labels,
    frame,
    label,
    left_labels,
    line,
    ticks,
)
from tapemagic.drawing.labels import text_width
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import clipped, printable
from tapemagic.report.tabs.plot.plot import Curve, Plot

WIDTH, HEIGHT = 620, 250
"""The size of the picture of one target in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 10, 40
"""The margins around the axes of one target."""
LEGEND, SAMPLE, IN_A_ROW = 18, 26, 4
"""The height of a row of the legend and the length of its lines in pixels, and the entries in a row."""
FONT_SIZE = 11
TICKS_ACROSS, TICKS_UP = 9, 8
"""About the largest number of labels below and to the left of the axes."""
MAX_TARGETS = 4
MAX_NAME = 40
"""The number of characters of a name."""
DASHES = ("", "6 2.5", "10 2.5 1.6 2.5", "1.6 2.6")
WIDTHS = (2.2, 1.6, 1.6, 1.6)
"""The dashes and widths of the curves of a target and of its derivatives."""
MAX_OFFSET = 0.1
"""Points of a curve that are off a straight line by less than this, in pixels, are dropped."""
HALF_TANGENT = 70
"""Half of the length of a tangent in pixels."""
MIN_GAP_DISTANCE = 0.04
"""The share of the range within which a point is close to a gap or a jump."""
MIN_EXCESS = 0.5
"""A picture is cut off where curves go beyond the other values, close to a gap or a jump, by more than this share."""


@dataclass(frozen=True)
class Mark:
    """The position of the ordinary run on a curve in pixels, and the ends of its tangent."""

    x: float
    y: float
    color: str
    tangent: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class CurvePicture:
    """The picture of a plot.

    - `content`: SVG without its outermost element, and without marks.
    - `notes`: Sentences about values that are cut off and curves that aren't drawn.
    """

    content: str
    width: int
    height: int
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def _box(self) -> str:
        return f'viewBox="0 0 {self.width} {self.height}"'

    def svg(self, marked: bool = True) -> str:
        """The picture as an SVG element."""
        size = f'width="{self.width}" height="{self.height}" {self._box} font-family="sans-serif"'
        marks = "".join(map(_mark, self.marks)) if marked else ""
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{self.content}{marks}</svg>'

    @property
    def layer(self) -> str:
        """The marks as an SVG element to lie over the picture, in an element with `position:relative`."""
        place = "position:absolute;inset:0;width:100%;height:100%;pointer-events:none"
        marks = "".join(map(_mark, self.marks))
        return f'<svg aria-hidden="true" {self._box} style="{place}">{marks}</svg>'


def _mark(mark: Mark) -> str:
    line = ""
    if mark.tangent:
        x1, y1, x2, y2 = mark.tangent
        line = f'<path stroke="{GROUND}" stroke-width="2" d="M{x1},{y1}L{x2},{y2}"/>'
    dot = f'<circle cx="{mark.x}" cy="{mark.y}" r="4.5" fill="{mark.color}" stroke="#fff"/>'
    return line + dot


def curve_picture(plot: Plot, ground: str = GROUND) -> CurvePicture | None:
    """Draw a plot.

    - `ground`: The color of axes and text.

    Returns CurvePicture or None: None if there is no curve to draw.
    """
    if not plot.drawn:
        return None
    # The ordinary run moves marks only, so the key of the cache omits it. It may also be nan, which equals
    # nothing, not even itself.
    nowhere = tuple(replace(curve, here=0.0) for curve in plot.curves)
    drawn = _drawn(replace(plot, curves=nowhere, at=0.0), ground)
    marks = [mark for target, box in drawn.boxes for mark in _marks(plot, target, box)]
    return CurvePicture(drawn.content, WIDTH, drawn.height, tuple(marks), drawn.notes)


@dataclass(frozen=True)
class Drawn:
    """The picture of curves, without marks, and the axes of each target."""

    content: str
    height: int
    boxes: tuple[tuple[str, Box], ...]
    notes: tuple[str, ...]


@lru_cache(maxsize=4)
def _drawn(plot: Plot, ground: str) -> Drawn:
    """Draw curves without marks."""
    # A slider moves the marks only: its curves come from the cache.
    groups = [list(group) for _, group in groupby(plot.drawn, lambda curve: curve.target)]
    groups, omitted = groups[:MAX_TARGETS], groups[MAX_TARGETS:]
    boxes: list[tuple[str, Box]] = []
    notes: list[str] = []
    parts: list[str] = []
    inner, width = HEIGHT - TOP - BOTTOM, WIDTH - LEFT - RIGHT
    above = 0
    for group in groups:
        target = group[0].target
        top = above + TOP + LEGEND * math.ceil(len(group) / IN_A_ROW)
        low, high, is_cut = _limits(plot.points, group)
        box = Box(LEFT, top, width, inner, plot.low, plot.high, low, high)
        boxes.append((target, box))
        parts += [_axes(box, plot.name), _curves(plot.points, group, box), _legend(group, above)]
        if is_cut:
            ends = f"from {low:.3g} to {high:.3g}"
            notes.append(f"The picture of {target} is cut off: it shows values {ends}.")
        above = top + inner + BOTTOM
    if omitted:
        names = ", ".join(clipped(group[0].target, MAX_NAME) for group in omitted)
        notes.append(f"Not drawn, for lack of room: {names}.")
    if plot.coarse:
        parts.append(label(WIDTH - RIGHT, above - 6, f"{len(plot.points)} points", "end"))
    # The axes are always gray; a theme has its own gray.
    content = "".join(parts).replace(GROUND, ground)
    return Drawn(content, above, tuple(boxes), tuple(notes))


def _axes(box: Box, name: str) -> str:
    """Draw the axes of a target with ticks, labels and faint lines at zero."""
    bottom = box.y + box.height
    across = ticks(box.first, box.last, TICKS_ACROSS)
    up = ticks(box.low, box.high, TICKS_UP)
    marks = [f"M{box.across(x):.1f},{bottom:g}v3.5" for x in across]
    marks += [f"M{box.x:g},{box.upwards(y):.1f}h-3.5" for y in up]
    zeros = [f"M{box.across(0):.1f},{box.y:g}V{bottom:g}"] * (box.first < 0 < box.last)
    zeros += [f"M{box.x:g},{box.upwards(0):.1f}h{box.width:g}"] * (box.low < 0 < box.high)
    middle = box.x + box.width / 2
    return "".join(
        [
            f'<path stroke="{GROUND}" stroke-opacity="0.35" d="{"".join(zeros)}"/>' * bool(zeros),
            frame(box),
            f'<path stroke="{GROUND}" stroke-opacity="0.6" d="{"".join(marks)}"/>',
            left_labels(box, up),
            bottom_labels(box, across),
            label(middle, bottom + BOTTOM - 9, clipped(printable(name), MAX_NAME), "middle"),
        ]
    )


def _curves(points: Sequence[float], curves: Sequence[Curve], box: Box) -> str:
    """Draw the curves of a target, with the target itself on top."""
    paths = []
    for curve in reversed(curves):
        xs, ys = _clipped(*_with_breaks(points, curve), box.low, box.high)
        places = [
            (box.across(x), box.upwards(y) if math.isfinite(y) else math.nan)
            for x, y in zip(xs, ys, strict=True)
        ]
        paths.append(f'<path d="{line(_simplified(places))}" {_style(curve.order)}/>')
    return "".join(paths)


def _style(order: int) -> str:
    """Return the attributes of the curve of a derivative."""
    k = order % len(DASHES)
    dashes = f' stroke-dasharray="{DASHES[k]}"' if DASHES[k] else ""
    return f'fill="none" stroke="{color(order)}" stroke-width="{WIDTHS[k]}"{dashes}'


def _legend(curves: Sequence[Curve], above: float) -> str:
    """Draw the legend of a target in rows of equal columns."""
    names = [clipped(printable(curve.symbol), MAX_NAME) for curve in curves]
    # Equal columns may be too narrow for a long name, which is then squeezed.
    column = max(text_width(name, FONT_SIZE) for name in names) + SAMPLE + 18
    column = min(column, (WIDTH - LEFT - RIGHT) / min(IN_A_ROW, len(names)))
    parts = []
    for k, (curve, name) in enumerate(zip(curves, names, strict=True)):
        x, y = LEFT + k % IN_A_ROW * column, above + TOP + LEGEND * (k // IN_A_ROW) + 4
        room = column - SAMPLE - 12
        wide = text_width(name, FONT_SIZE)
        fit = f' textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"' if wide > room else ""
        parts.append(f'<path d="M{x:.0f},{y}h{SAMPLE}" {_style(curve.order)}/>')
        parts.append(label(x + SAMPLE + 6, y + 4, name, "start", fit))
    return "".join(parts)


def color(order: int) -> str:
    """Return the color of the derivative of some order."""
    return COLORS[order % len(COLORS)]


def _simplified(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Drop the points of a line that are on a straight line between others, up to `MAX_OFFSET`."""
    kept: list[tuple[float, float]] = []
    for is_finite, group in groupby(points, lambda point: math.isfinite(point[1])):
        piece = list(group)
        kept += _corners(piece) if is_finite else piece[:1]
    return kept


def _corners(piece: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of a line (Ramer-Douglas-Peucker)."""
    kept, todo = {0, len(piece) - 1}, [(0, len(piece) - 1)]
    while todo:
        first, last = todo.pop()
        (x1, y1), (x2, y2) = piece[first], piece[last]
        slope = (y2 - y1) / (x2 - x1) if x2 > x1 else 0.0
        off = [abs(y1 + slope * (x - x1) - y) for x, y in piece[first + 1 : last]]
        if off and max(off) > MAX_OFFSET * math.hypot(1, slope):
            middle = first + 1 + off.index(max(off))
            kept.add(middle)
            todo += [(first, middle), (middle, last)]
    return [piece[k] for k in sorted(kept)]


def _finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _limits(points: Sequence[float], curves: Sequence[Curve]) -> tuple[float, float, bool]:
    """Return the lowest and highest value to show, and whether values near gaps and jumps are cut off."""
    # 1/x would flatten every other curve. But exp(9x) has no gap, so its large values are shown.
    values = _finite(value for curve in curves for value in curve.values)
    smooth = _smooth(points, curves) or values
    whole_low, whole_high = min(values), max(values)
    low, high = min(smooth), max(smooth)
    more = MIN_EXCESS * (high - low)
    is_cut = whole_low < low - more or whole_high > high + more
    if not is_cut:
        low, high = whole_low, whole_high
    # A constant curve has no range to take a part of.
    margin = 0.05 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin, is_cut


def _smooth(points: Sequence[float], curves: Sequence[Curve]) -> list[float]:
    """Return the values at points that aren't close to a gap or jump of any curve."""
    edges: set[float] = set()
    for curve in curves:
        finite = [math.isfinite(value) for value in curve.values]
        edges.update(points[k] for k in curve.breaks)
        edges.update(x for x, is_value in zip(points, finite, strict=True) if not is_value)
    far = MIN_GAP_DISTANCE * (points[-1] - points[0])
    smooth = [k for k, x in enumerate(points) if all(abs(x - edge) > far for edge in edges)]
    return [curve.values[k] for curve in curves for k in smooth]


def _with_breaks(points: Sequence[float], curve: Curve) -> tuple[list[float], list[float]]:
    """Return the points of a curve, with nan where it jumps."""
    xs: list[float] = []
    ys: list[float] = []
    for k, (x, y) in enumerate(zip(points, curve.values, strict=True)):
        xs.append(x)
        ys.append(y)
        if k in curve.breaks:
            xs.append(x)
            ys.append(math.nan)
    return xs, ys


def _clipped(
    xs: Sequence[float], ys: Sequence[float], low: float, high: float
) -> tuple[list[float], list[float]]:
    """Cut a line off below and above two values, with nan where it leaves that range.

    Examples
    --------
    >>> _clipped([0.0, 1.0, 2.0], [0.0, 4.0, 8.0], 1.0, 6.0)
    ([0.25, 1.0, 1.5, 1.5], [1.0, 4.0, 6.0, nan])
    """
    points_inside: list[tuple[float, float]] = []
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        is_inside = low <= y <= high
        before = (xs[k - 1], ys[k - 1]) if k else (x, math.nan)
        crossed = sorted(
            (limit - before[1]) / (y - before[1])
            for limit in (low, high)
            if min(before[1], y) < limit < max(before[1], y)
        )
        for share in crossed:
            across = before[0] + share * (x - before[0])
            points_inside.append((across, before[1] + share * (y - before[1])))
        if is_inside or math.isnan(y):
            points_inside.append((x, y))
        elif crossed:
            points_inside.append((points_inside[-1][0], math.nan))
    return [x for x, _ in points_inside], [y for _, y in points_inside]


def _marks(plot: Plot, target: str, box: Box) -> list[Mark]:
    """Return the marks of the ordinary run on the curves of a target, with the tangent of the target itself."""
    curves = [curve for curve in plot.drawn if curve.target == target]
    slope = next((curve.here for curve in curves if curve.order == 1), math.nan)
    across, down = box.width / (box.last - box.first), -box.height / (box.high - box.low)
    marks = []
    for curve in curves:
        if not (box.first <= plot.at <= box.last and box.low <= curve.here <= box.high):
            continue
        x, y = box.across(plot.at), box.upwards(curve.here)
        tangent = None
        if curve.order == 0 and math.isfinite(slope):
            tangent = _tangent((x, y), math.atan2(slope * down, across), box)
        marks.append(Mark(round(x, 1), round(y, 1), color(curve.order), tangent))
    return marks


def _tangent(at: tuple[float, float], angle: float, box: Box) -> tuple[float, float, float, float]:
    """Return the ends of a tangent through a point, inside a box."""
    x, y = at
    across, down = math.cos(angle), math.sin(angle)
    sides = ((x, across, box.x, box.x + box.width), (y, down, box.y, box.y + box.height))
    ends: list[float] = []
    for sign in (-1, 1):
        length: float = HALF_TANGENT
        for place, step, low, high in sides:
            if sign * step > 0:
                length = min(length, (high - place) / (sign * step))
            elif step:
                length = min(length, (low - place) / (sign * step))
        ends += [round(x + sign * length * across, 1), round(y + sign * length * down, 1)]
    return ends[0], ends[1], ends[2], ends[3]
