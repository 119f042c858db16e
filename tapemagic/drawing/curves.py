"""The picture of a plot, drawn by matplotlib as SVG without a background, and the places of its marks."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from tapemagic.drawing.inset_plots import COLOURS
from tapemagic.drawing.plain_svg import plain
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import clipped, printable
from tapemagic.report.tabs.plot.plot import Curve, Plot

WIDTH, HEIGHT = 620, 250
"""The size of the picture of one target in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 10, 40
"""The margins around the axes of one target."""
LEGEND = 18
"""The height of a line of the legend."""
IN_A_ROW = 4
MOST_TARGETS = 4
LONGEST = 40
"""The number of characters of a name."""
LINES = ("-", "--", "-.", ":")
WIDTHS = (2.2, 1.6, 1.6, 1.6)
"""The styles and widths of the curves of a target and of its derivatives."""
TANGENT = 70
"""Half of the length of a tangent in pixels."""
CLOSE = 0.04
"""The share of the range within which a point is close to a gap or a jump."""
POLE = 0.5
"""A picture is cut off where curves go beyond the other values, close to a gap or a jump, by more than this share."""
SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tapemagic",
    "font.family": "sans-serif",
    "font.size": 11,
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
}


@dataclass(frozen=True)
class Mark:
    """The place of the ordinary run on a curve, in pixels; the ends of the tangent there, or None."""

    x: float
    y: float
    colour: str
    tangent: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class CurvePicture:
    """The picture of a plot.

    Attributes
    ----------
    content : str
        SVG without its outermost element, and without marks.
    width, height : int
    marks : tuple of Mark
    notes : tuple of str
        Sentences on what is cut off or not drawn.
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
        """The marks as an SVG element to lie over the picture, in an element with a position of its own."""
        place = "position:absolute;inset:0;width:100%;height:100%;pointer-events:none"
        marks = "".join(map(_mark, self.marks))
        return f'<svg aria-hidden="true" {self._box} style="{place}">{marks}</svg>'


def _mark(mark: Mark) -> str:
    line = ""
    if mark.tangent:
        x1, y1, x2, y2 = mark.tangent
        line = f'<path stroke="{GROUND}" stroke-width="2" d="M{x1},{y1}L{x2},{y2}"/>'
    dot = f'<circle cx="{mark.x}" cy="{mark.y}" r="4.5" fill="{mark.colour}" stroke="#fff"/>'
    return line + dot


def curve_picture(plot: Plot, ground: str = GROUND) -> CurvePicture | None:
    """Draw a plot.

    Parameters
    ----------
    plot : Plot
    ground : str, optional
        The colour of axes and text.

    Returns
    -------
    CurvePicture or None
        None if there is no curve to draw.

    Notes
    -----
    Neither the settings of matplotlib nor its current figure change. Curves that were drawn last are not drawn again.
    """
    if not plot.drawn:
        return None
    nowhere = tuple(replace(curve, here=0.0) for curve in plot.curves)
    drawn = _drawn(replace(plot, curves=nowhere, at=0.0), ground)
    marks = [mark for panel in drawn.panels for mark in _marks(plot, panel)]
    return CurvePicture(drawn.content, WIDTH, drawn.height, tuple(marks), drawn.notes)


@dataclass(frozen=True)
class Panel:
    """The axes of one target: their place in pixels, and the values at their lower and upper end."""

    target: str
    top: float
    bottom: float
    low: float
    high: float


@dataclass(frozen=True)
class Drawn:
    """The picture of curves, without marks."""

    content: str
    height: int
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]


@lru_cache(maxsize=4)
def _drawn(plot: Plot, ground: str) -> Drawn:
    import matplotlib as mpl

    defaults: dict[str, Any] = {
        name: value for name, value in mpl.rcParamsDefault.items() if not name.startswith("backend")
    }
    with warnings.catch_warnings(action="ignore"), mpl.rc_context():
        settings: Any = mpl.rcParams
        settings.update(defaults | SETTINGS)
        return _drawn_figure(plot, ground)


def _drawn_figure(plot: Plot, ground: str) -> Drawn:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    groups = [list(group) for _, group in groupby(plot.drawn, lambda curve: curve.target)]
    groups, others = groups[:MOST_TARGETS], groups[MOST_TARGETS:]
    tops = [TOP + LEGEND * math.ceil(len(group) / IN_A_ROW) for group in groups]
    inner, width = HEIGHT - TOP - BOTTOM, WIDTH - LEFT - RIGHT
    height = sum(tops) + len(groups) * (inner + BOTTOM)
    figure = Figure((WIDTH / 72, height / 72), dpi=72)
    figure.patch.set_alpha(0)
    panels: list[Panel] = []
    notes: list[str] = []
    above = 0
    for top, group in zip(tops, groups, strict=True):
        first, last = above + top, above + top + inner
        place = (LEFT / WIDTH, 1 - last / height, width / WIDTH, inner / height)
        axes = figure.add_axes(place, facecolor="none")
        low, high, is_cut = _limits(plot.points, group)
        _draw_curves(axes, plot, group, (low, high), ground)
        panels.append(Panel(group[0].target, first, last, low, high))
        if is_cut:
            ends = f"from {low:.3g} to {high:.3g}"
            notes.append(f"The picture of {group[0].target} is cut off: it shows values {ends}.")
        above = last + BOTTOM
    if others:
        names = ", ".join(clipped(group[0].target, LONGEST) for group in others)
        notes.append(f"Not drawn, for lack of room: {names}.")
    if plot.coarse:
        words = f"{len(plot.points)} points"
        figure.text(1 - RIGHT / WIDTH, 4 / height, words, color=ground, ha="right", va="bottom")
    written = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Type": None, "Format": None}
    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(written, metadata=metadata)
    return Drawn(plain(written.getvalue()), height, tuple(panels), tuple(notes))


def _draw_curves(
    axes: Any, plot: Plot, curves: Sequence[Curve], ends: tuple[float, float], ground: str
) -> None:
    """Draw the curves of a target."""
    lines: list[Any] = []
    for curve in reversed(curves):
        k = curve.order
        style = {
            "color": colour(k),
            "linestyle": LINES[k % len(LINES)],
            "linewidth": WIDTHS[k % len(WIDTHS)],
        }
        xs, ys = _clipped(*_with_breaks(plot.points, curve), *ends)
        [line] = axes.plot(xs, ys, **style)
        single = _singles(ys)
        axes.plot([xs[i] for i in single], [ys[i] for i in single], ".", color=colour(k), ms=4)
        lines.insert(0, line)
    axes.set_xlim(plot.low, plot.high)
    axes.set_ylim(*ends)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(ground)
    for value, line in ((0, axes.axhline), (0, axes.axvline)):
        line(value, color=ground, alpha=0.35, linewidth=0.8, zorder=0)
    axes.tick_params(colors=ground)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value + 0.0:.10g}".replace("-", "−"))
    name = clipped(printable(plot.name), LONGEST)
    axes.set_xlabel(name, color=ground, parse_math=False)
    legend = axes.legend(
        lines,
        [str(k) for k in range(len(lines))],  # an underscore or a dollar in front means something
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=IN_A_ROW,
        frameon=False,
        labelcolor=ground,
        borderpad=0,
        borderaxespad=0.2,
        handlelength=2.6,
    )
    for text, curve in zip(legend.get_texts(), curves, strict=True):
        text.set_parse_math(False)
        text.set_text(clipped(printable(curve.symbol), LONGEST))


def colour(order: int) -> str:
    """The colour of the derivative of some order."""
    return COLOURS[order % len(COLOURS)]


def _finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _limits(points: Sequence[float], curves: Sequence[Curve]) -> tuple[float, float, bool]:
    """The lowest and highest value to show, and whether there are others beyond: close to gaps and jumps alone."""
    values = _finite(value for curve in curves for value in curve.values)
    calm = _calm(points, curves) or values
    whole_low, whole_high = min(values), max(values)
    low, high = min(calm), max(calm)
    more = POLE * (high - low)
    is_cut = whole_low < low - more or whole_high > high + more
    if not is_cut:
        low, high = whole_low, whole_high
    margin = 0.05 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin, is_cut


def _calm(points: Sequence[float], curves: Sequence[Curve]) -> list[float]:
    """The values of curves that are not close to a gap or a jump of one of them."""
    edges: set[float] = set()
    for curve in curves:
        known = [math.isfinite(value) for value in curve.values]
        edges.update(points[k] for k in curve.breaks)
        edges.update(x for x, is_known in zip(points, known, strict=True) if not is_known)
    far = CLOSE * (points[-1] - points[0])
    calm = [k for k, x in enumerate(points) if all(abs(x - edge) > far for edge in edges)]
    return [curve.values[k] for curve in curves for k in calm]


def _with_breaks(points: Sequence[float], curve: Curve) -> tuple[list[float], list[float]]:
    """The points of a curve, with nan where it jumps."""
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
    """The part of a line that is not below or above two values.

    Examples
    --------
    >>> _clipped([0.0, 1.0, 2.0], [0.0, 4.0, 8.0], 1.0, 6.0)
    ([0.25, 1.0, 1.5, 1.5], [1.0, 4.0, 6.0, nan])
    """
    found: list[tuple[float, float]] = []
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
            found.append((across, before[1] + share * (y - before[1])))
        if is_inside or math.isnan(y):
            found.append((x, y))
        elif crossed:
            found.append((found[-1][0], math.nan))
    return [x for x, _ in found], [y for _, y in found]


def _singles(ys: Sequence[float]) -> list[int]:
    """The places of values without a neighbour, which a line does not show."""
    known = [False, *map(math.isfinite, ys), False]
    return [
        k - 1 for k in range(1, len(known) - 1) if known[k] and not (known[k - 1] or known[k + 1])
    ]


def _marks(plot: Plot, panel: Panel) -> list[Mark]:
    """The marks of the ordinary run on the curves of a target, and the tangent at the target itself."""
    curves = [curve for curve in plot.drawn if curve.target == panel.target]
    slope = next((curve.here for curve in curves if curve.order == 1), math.nan)
    across = (WIDTH - LEFT - RIGHT) / (plot.high - plot.low)
    down = (panel.top - panel.bottom) / (panel.high - panel.low)
    marks = []
    for curve in curves:
        if not (plot.low <= plot.at <= plot.high and panel.low <= curve.here <= panel.high):
            continue
        x = LEFT + (plot.at - plot.low) * across
        y = panel.bottom + (curve.here - panel.low) * down
        tangent = None
        if curve.order == 0 and math.isfinite(slope):
            box = (LEFT, panel.top, WIDTH - RIGHT, panel.bottom)
            tangent = _tangent((x, y), math.atan2(slope * down, across), box)
        marks.append(Mark(round(x, 1), round(y, 1), colour(curve.order), tangent))
    return marks


def _tangent(
    at: tuple[float, float], angle: float, box: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    """The ends of a line through a point, inside of a box."""
    x, y = at
    across, down = math.cos(angle), math.sin(angle)
    ends: list[float] = []
    for sign in (-1, 1):
        length: float = TANGENT
        for place, step, low, high in ((x, across, box[0], box[2]), (y, down, box[1], box[3])):
            if sign * step > 0:
                length = min(length, (high - place) / (sign * step))
            elif step:
                length = min(length, (low - place) / (sign * step))
        ends += [round(x + sign * length * across, 1), round(y + sign * length * down, 1)]
    return ends[0], ends[1], ends[2], ends[3]
