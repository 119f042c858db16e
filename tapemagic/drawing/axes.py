"""The axes of line plots in SVG: scales, ticks, labels and lines, legible on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import DIGITS

COLORS = ("#3b82f6", "#d97706", "#0d9488", "#c026d3")
"""The colors of lines: distinct also with color blindness, and as far from white as from black."""
DOT = "m-1.5,0h3"
"""The outline of a value that has no neighbors."""
MAX_PLAIN = 1e5
"""Integers of this size and above have an exponent."""
MIN_SPAN = 1e-300
"""The smallest range that is divided by ticks."""
# The steps of a smaller range would be subnormal, and lose their digits.


class Box(NamedTuple):
    """A rectangle in pixels, and the steps and values at its edges."""

    x: float
    y: float
    width: float
    height: float
    first: float
    last: float
    low: float
    high: float
    log: bool = False

    def across(self, step: float) -> float:
        """Return the horizontal position of a step."""
        share = (step - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return self.x + share * self.width

    def upwards(self, value: float) -> float:
        """Return the vertical position of a value."""
        return self.y + self.height * (1 - _share(value, self.low, self.high, self.log))


def _share(value: float, low: float, high: float, log: bool) -> float:
    """Return the position of a value between two others, from 0 to 1, or 0.5 if they are equal."""
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    if low == high:
        return 0.5
    # The difference of large numbers overflows, so they are scaled first.
    size = max(abs(low), abs(high))
    return (value / size - low / size) / (high / size - low / size)


def short(x: float) -> str:
    """Return a length with one decimal."""
    return f"{x:.1f}".removesuffix(".0")


def line(points: Iterable[tuple[float, float]]) -> str:
    """Return the data of a path through points: nan leaves a gap, and a single point is a dot."""
    pieces = []
    for is_finite, group in groupby(points, lambda point: math.isfinite(point[1])):
        if is_finite:
            places = [f"{short(x)},{short(y)}" for x, y in group]
            pieces.append(f"M{'L'.join(places)}" + DOT * (len(places) == 1))
    return "".join(pieces)


def frame(box: Box) -> str:
    """Return the two axes."""
    left, bottom = short(box.x), short(box.y + box.height)
    path = f"M{left},{short(box.y)}V{bottom}H{short(box.x + box.width)}"
    return f'<path fill="none" stroke="{GROUND}" stroke-opacity="0.6" d="{path}"/>'


def left_labels(box: Box, values: Iterable[float]) -> str:
    """Label values to the left of the vertical axis."""
    values = list(dict.fromkeys(values))
    return "".join(
        label(box.x - 5, box.upwards(value) + 4, words, "end")
        for value, words in zip(values, _labels(values), strict=True)
    )


def bottom_labels(box: Box, values: Sequence[float]) -> str:
    """Label values below the horizontal axis."""
    return "".join(
        label(box.across(value), box.y + box.height + 13, words, "middle")
        for value, words in zip(values, _labels(values), strict=True)
    )


def _labels(values: Sequence[float]) -> list[str]:
    """Write values in as many digits as tell them apart."""
    labels = []
    for digits in range(3, DIGITS + 2):
        labels = [_written(value, digits) for value in values]
        if len(set(labels)) == len(values):
            break
    return labels


def _written(value: float, digits: int) -> str:
    if abs(value) < MAX_PLAIN and value == int(value):
        return str(int(value))
    text = f"{value + 0.0:.{digits}g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def label(x: float, y: float, words: str, anchor: str, more: str = "") -> str:
    """Return a line of text as SVG, with its start, middle or end at a point."""
    style = f'text-anchor="{anchor}" font-size="11" fill="{GROUND}"{more}'
    return f'<text x="{short(x)}" y="{short(y)}" {style}>{escape(words)}</text>'


def ticks(low: float, high: float, max_count: int = 4, log: bool = False) -> list[float]:
    """Return up to about `max_count` round numbers between two values, or the two values if there are too few.

    Examples
    --------
    >>> ticks(0.3, 4.1), ticks(1.0, 1e7, log=True)
    ([2.0, 4.0], [1.0, 1000.0, 1000000.0])
    """
    values = _powers(low, high, max_count) if log else _multiples(low, high, max_count)
    values = [value for value in values if low <= value <= high]
    return values if len(values) > 1 else [low, high]


def _powers(low: float, high: float, max_count: int) -> list[float]:
    """Return powers of ten."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    step = max(1, math.ceil((last - first) / (max_count - 1)))
    return [float(f"1e{k}") for k in range(first, last + 1, step)]


def _multiples(low: float, high: float, max_count: int) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten."""
    # Half of the range: the whole may overflow.
    span = high / 2 - low / 2
    if span < MIN_SPAN:
        return [low, high]
    # Round numbers are counted by k: three per power of ten.
    k = 3 * math.floor(math.log10(span)) - 2
    while 2 * (span / (max_count - 1)) > _round_number(k):
        k += 1
    step = _round_number(k)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _round_number(k: int) -> float:
    """Return the k-th of the numbers 1, 2, 5, 10, 20, 50, …; negative k count down from 0.5."""
    return float(f"{(1, 2, 5)[k % 3]}e{k // 3}")
