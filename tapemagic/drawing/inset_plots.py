"""Line plots of series in SVG, legible on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain
from typing import NamedTuple

from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import DIGITS, clipped, printable
from tapemagic.report.tabs.training.series import MOST, Series, thinned

COLOURS = ("#3b82f6", "#d97706", "#0d9488", "#c026d3")
"""The colours of lines: for those who see few colours, too; as far from white as from black."""

POINTS = 160
"""The number of points of all lines of a plot together."""

RATIO = 100
"""The ratio of the largest to the smallest value above which a logarithmic scale helps."""

LABELLED = 100, 50
"""The width and height from which on a plot has labels."""

LEFT, RIGHT, TOP, BOTTOM = 62, 18, 20, 32
"""The margins of a figure."""

LONGEST = 44
"""The number of characters of the title of a figure."""

DOT = "m-1.5,0h3"
"""The outline of a value that has no neighbours."""

TICKS = 4
"""At most so many ticks stand on the axis of the values."""

SMALLEST = 1e-300
"""The smallest difference that is divided by ticks."""


class Box(NamedTuple):
    """A rectangle, and the steps and values at its edges."""

    x: float
    y: float
    width: float
    height: float
    first: int
    last: int
    low: float
    high: float
    log: bool

    def across(self, step: float) -> float:
        """The horizontal place of a step."""
        share = (step - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return self.x + share * self.width

    def upwards(self, value: float) -> float:
        """The vertical place of a value."""
        return self.y + self.height * (1 - _share(value, self.low, self.high, self.log))


def _share(value: float, low: float, high: float, log: bool) -> float:
    """The place of a value between two others, from 0 to 1; the middle if they are equal."""
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    if low == high:
        return 0.5
    size = max(abs(low), abs(high))  # the difference of large numbers may be infinite
    return (value / size - low / size) / (high / size - low / size)


def helps_log(series: Iterable[Series]) -> bool:
    """Whether a logarithmic scale helps: all finite values are positive, and they differ by more than `RATIO`.

    Examples
    --------
    >>> from tapemagic.report.tabs.training.series import series_of
    >>> helps_log([series_of("loss", [500.0, 1.0])]), helps_log([series_of("loss", [500.0, 0.0])])
    (True, False)
    """
    values = _finite(series)
    return bool(values) and min(values) > 0 and max(values) / RATIO > min(values)


def plot(series: Sequence[Series], width: float, height: float, log: bool = False) -> str:
    """A line plot as the content of an SVG element, in a box from (0, 0) to (width, height).

    Parameters
    ----------
    series : sequence of Series
        One or a few; what is nan or infinite is a gap.
    width, height : float
        In pixels. A small plot has no labels; a larger one has those of the smallest and the largest value.
    log : bool, optional
        Take a logarithmic scale, if all finite values are positive.

    Returns
    -------
    str
        Of less than 2 kB; empty if no value is finite.

    Examples
    --------
    >>> from tapemagic.report.tabs.training.series import series_of
    >>> plot([series_of("loss", [4.0, 1.0])], 20, 10)
    '<path fill="none" stroke="#3b82f6" stroke-width="1.5" stroke-linecap="round" d="M1.5,1.5L18.5,8.5"/>'
    """
    values = _finite(series)
    if not values:
        return ""
    labelled = width >= LABELLED[0] and height >= LABELLED[1]
    left, edge = (LEFT, 7) if labelled else (1.5, 1.5)
    box = _box(series, (left, edge, width - left - edge, height - 2 * edge), log)
    axes = ""
    if labelled:
        axes = _frame(box) + _left_labels(box, [box.low, box.high])
    return axes + _lines(series, box)


def figure(
    series: Sequence[Series],
    title: str,
    across: str = "step",
    width: int = 300,
    height: int = 150,
    log: bool | None = None,
) -> str:
    """A line plot with a title, axes and ticks, as an SVG element.

    Parameters
    ----------
    series : sequence of Series
        One or a few; what is nan or infinite is a gap.
    title : str
        The quantity that is plotted.
    across : str, optional
        The label of the horizontal axis.
    width, height : int, optional
        In pixels.
    log : bool, optional
        Whether to take a logarithmic scale; wherever it helps, if left out.

    Returns
    -------
    str
        Empty if no value is finite.

    Examples
    --------
    >>> from tapemagic.report.tabs.training.series import series_of
    >>> figure([series_of("loss", [500.0, 1.0])], "loss")[:65]
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="150" '
    """
    if not _finite(series):
        return ""
    log = helps_log(series) if log is None else log
    area = (LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM)
    box = _box(series, area, log)
    ticks = [value for value in _ticks(box) if box.low <= value <= box.high]
    if len(ticks) < 2:
        ticks = [box.low, box.high]
    words = clipped(printable(title), LONGEST)
    name = f"{words} (logarithmic scale)" if box.log else words
    parts = [
        _text(LEFT, 13, name, "start", ' font-weight="600"'),
        _frame(box),
        _left_labels(box, ticks),
        *(
            _text(box.across(step), height - BOTTOM + 13, str(step), "middle")
            for step in dict.fromkeys([box.first, (box.first + box.last) // 2, box.last])
        ),
        _text(LEFT + area[2] / 2, height - 5, printable(across), "middle"),
        _lines(series, box),
    ]
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    content = f'<g font-family="sans-serif" font-size="11" fill="{GROUND}">{"".join(parts)}</g>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{content}</svg>'


def _finite(series: Iterable[Series]) -> list[float]:
    return [
        value for value in chain.from_iterable(x.values for x in series) if math.isfinite(value)
    ]


def _box(series: Sequence[Series], area: tuple[float, float, float, float], log: bool) -> Box:
    """The box with the scales that show all values."""
    values = _finite(series)
    low, high = min(values), max(values)
    steps = list(chain.from_iterable(x.steps for x in series))
    return Box(*area, min(steps), max(steps), low, high, log and low > 0)


def _lines(series: Sequence[Series], box: Box) -> str:
    most = max(5, min(MOST, int(box.width), POINTS // len(series)))
    return "".join(
        f'<path fill="none" stroke="{COLOURS[k % len(COLOURS)]}" stroke-width="1.5" stroke-linecap="round" '
        f'd="{_way(x, box, most)}"/>'
        for k, x in enumerate(series)
    )


def _way(series: Series, box: Box, most: int) -> str:
    """The outline of a line, with a gap where a value is not finite; a value between two gaps is a dot."""
    marks = []
    pen, single = "M", False
    for k in thinned(series.values, most):
        value = series.values[k]
        if not math.isfinite(value):
            marks.append(DOT * single)
            pen, single = "M", False
            continue
        marks.append(f"{pen}{_place(box.across(series.steps[k]))},{_place(box.upwards(value))}")
        pen, single = "L", pen == "M"
    return "".join(marks) + DOT * single


def _place(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def _frame(box: Box) -> str:
    """The two axes."""
    left, bottom = _place(box.x), _place(box.y + box.height)
    way = f"M{left},{_place(box.y)}V{bottom}H{_place(box.x + box.width)}"
    return f'<path fill="none" stroke="{GROUND}" stroke-opacity="0.6" d="{way}"/>'


def _left_labels(box: Box, ticks: Iterable[float]) -> str:
    """Values to the left of the axis, in as many digits as tell them apart."""
    values = list(dict.fromkeys(ticks))
    for digits in range(3, DIGITS + 2):
        labels = [_short(value, digits) for value in values]
        if len(set(labels)) == len(values):
            break
    places = [box.upwards(value) + 4 for value in values]
    return "".join(
        _text(box.x - 5, y, words, "end") for y, words in zip(places, labels, strict=True)
    )


def _text(x: float, y: float, words: str, anchor: str, more: str = "") -> str:
    style = f'text-anchor="{anchor}" font-size="11" fill="{GROUND}"{more}'
    return f'<text x="{_place(x)}" y="{_place(y)}" {style}>{escape(words)}</text>'


def _short(value: float, digits: int) -> str:
    text = f"{value + 0.0:.{digits}g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def _ticks(box: Box) -> list[float]:
    """A few round numbers around the values of a box."""
    return _powers(box.low, box.high) if box.log else _rounds(box.low, box.high)


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    step = max(1, math.ceil((last - first) / (TICKS - 1)))
    return [float(f"1e{k}") for k in range(first, last + 1, step)]


def _rounds(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    span = high / 2 - low / 2  # the whole may be infinite
    if span < SMALLEST:
        return [low, high]
    k = 3 * math.floor(math.log10(span)) - 2
    while 2 * (span / (TICKS - 1)) > _round(k):
        k += 1
    step = _round(k)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _round(k: int) -> float:
    """The k-th of the numbers 1, 2, 5, 10, 20, 50, …; those below 1 have negative k."""
    return float(f"{(1, 2, 5)[k % 3]}e{k // 3}")
