"""Line plots of series in SVG: small ones in the boxes of a graph, and the figures of a training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain

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
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import clipped, printable
from tapemagic.report.tabs.training.series import MAX_SERIES_POINTS, Series, thinned

MAX_POINTS = 160
"""The number of points of all lines of a plot together."""
MIN_LOG_RATIO = 100
"""The smallest ratio of the largest to the smallest value for a logarithmic scale."""
LEFT, RIGHT, TOP, BOTTOM = 62, 18, 20, 32
"""The margins of a figure in pixels."""
MAX_TITLE = 44
"""The number of characters of the title of a figure."""


def helps_log(series: Iterable[Series]) -> bool:
    """Return True if all finite values are positive and differ by more than a factor of `MIN_LOG_RATIO`.

    Examples
    --------
    >>> from tapemagic.report.tabs.training.series import series_of
    >>> helps_log([series_of("loss", [500.0, 1.0])]), helps_log([series_of("loss", [500.0, 0.0])])
    (True, False)
    """
    values = _finite(series)
    return bool(values) and min(values) > 0 and max(values) / MIN_LOG_RATIO > min(values)


def plot(series: Sequence[Series], width: float, height: float, log: bool = False) -> str:
    """Draw a line plot without axes as the content of an SVG element, in a box from (0, 0) to (width, height).

    - `series`: One or a few; a value that is nan or infinite leaves a gap.
    - `width`, `height`: In pixels.
    - `log`: Use a logarithmic scale, if all finite values are positive.

    Returns str: less than 2 kB, or '' without finite values.

    Examples
    --------
    >>> from tapemagic.report.tabs.training.series import series_of
    >>> plot([series_of("loss", [4.0, 1.0])], 20, 10)
    '<path fill="none" stroke="#3b82f6" stroke-width="1.5" stroke-linecap="round" d="M1.5,1.5L18.5,8.5"/>'
    """
    if not _finite(series):
        return ""
    return _lines(series, _box(series, (1.5, 1.5, width - 3, height - 3), log))


def figure(
    series: Sequence[Series],
    title: str,
    across: str = "step",
    width: int = 300,
    height: int = 150,
    log: bool | None = None,
) -> str:
    """Draw a line plot with a title, axes and ticks, as an SVG element.

    - `series`: One or a few; a value that is nan or infinite leaves a gap.
    - `title`: The quantity that is plotted.
    - `across`: The label of the horizontal axis.
    - `width`, `height`: In pixels.
    - `log`: Whether to use a logarithmic scale; by default, where it helps.

    Returns str: an SVG element, or '' without finite values.

    Examples
    --------
    >>> from tapemagic.report.tabs.training.series import series_of
    >>> figure([series_of("loss", [500.0, 1.0])], "loss")[:65]
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="150" '
    """
    if not _finite(series):
        return ""
    area = (LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM)
    box = _box(series, area, helps_log(series) if log is None else log)
    words = clipped(printable(title), MAX_TITLE)
    middle = (box.first + box.last) // 2
    parts = [
        label(LEFT, 13, f"{words} (logarithmic scale)" if box.log else words, "start", BOLD),
        frame(box),
        left_labels(box, ticks(box.low, box.high, log=box.log)),
        bottom_labels(box, list(dict.fromkeys([box.first, middle, box.last]))),
        label(LEFT + area[2] / 2, height - 5, printable(across), "middle"),
        _lines(series, box),
    ]
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    content = f'<g font-family="sans-serif" font-size="11" fill="{GROUND}">{"".join(parts)}</g>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{content}</svg>'


BOLD = ' font-weight="600"'


def _finite(series: Iterable[Series]) -> list[float]:
    return [
        value for value in chain.from_iterable(x.values for x in series) if math.isfinite(value)
    ]


def _box(series: Sequence[Series], area: tuple[float, float, float, float], log: bool) -> Box:
    """Return the box with the scales that show all values."""
    values = _finite(series)
    low, high = min(values), max(values)
    steps = list(chain.from_iterable(x.steps for x in series))
    return Box(*area, min(steps), max(steps), low, high, log and low > 0)


def _lines(series: Sequence[Series], box: Box) -> str:
    # Several lines share the points, so that a plot takes less than 2 kB.
    max_points = max(5, min(MAX_SERIES_POINTS, int(box.width), MAX_POINTS // len(series)))
    return "".join(
        f'<path fill="none" stroke="{COLORS[k % len(COLORS)]}" stroke-width="1.5" stroke-linecap="round" '
        f'd="{line(_points(x, box, max_points))}"/>'
        for k, x in enumerate(series)
    )


def _points(series: Series, box: Box, max_points: int) -> Iterable[tuple[float, float]]:
    """Return the positions of at most `max_points` values, with nan for nan and infinity."""
    for k in thinned(series.values, max_points):
        value = series.values[k]
        y = box.upwards(value) if math.isfinite(value) else math.nan
        yield box.across(series.steps[k]), y
