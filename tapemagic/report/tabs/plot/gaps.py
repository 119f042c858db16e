"""Describes the gaps of curves: what is missing, and for which numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import format_number
from tapemagic.report.tabs.plot.sampling import Point

RAISES = "raises "
"""The first word of the reason for a gap in all curves, because the cell fails there."""
MAX_INTERVALS = 3
EQUAL_SHARE = 1e-6
"""The share of a range within which two numbers count as equal."""


def gap_notes(name: str, symbols: Sequence[str], points: Sequence[Point]) -> list[str]:
    """Describe the gaps of curves in sentences.

    - `name`: The variable.
    - `symbols`: The symbols of the curves.
    - `points`: The points in ascending order.

    Examples
    --------
    >>> points = [Point(float(x), (0.0, 0.0), ("", "None" if x < 0 else "")) for x in range(-2, 3)]
    >>> gap_notes("x", ["y", "dy/dx"], points)
    ['dy/dx is None for x below about -1.0.']
    """
    gaps: dict[tuple[str, tuple[bool, ...]], list[str]] = {}
    for curve, symbol in enumerate(symbols):
        for reason in dict.fromkeys(p.reasons[curve] for p in points):
            if reason:
                # Curves with the same gap share a sentence.
                marked = tuple(p.reasons[curve] == reason for p in points)
                gaps.setdefault((reason, marked), []).append(symbol)
    notes = []
    for (reason, marked), affected in gaps.items():
        if reason.startswith(RAISES):
            what = f"The cell {reason}"
        else:
            what = f"{listed(affected)} {'is' if len(affected) == 1 else 'are'} {reason}"
        notes.append(f"{what} {where(name, points, marked)}.")
    return notes


def where(name: str, points: Sequence[Point], marked: Sequence[bool]) -> str:
    """Name the marked points of a range.

    Examples
    --------
    >>> points = [Point(float(x), (0.0,), ("",)) for x in range(-2, 3)]
    >>> where("x", points, [True] * 5), where("x", points, [False, False, True, False, False])
    ('at every point', 'at x = 0.0')
    """
    if all(marked):
        return "at every point"
    runs: list[list[int]] = [
        [k for k, _ in run]
        for is_marked, run in groupby(enumerate(marked), lambda entry: entry[1])
        if is_marked
    ]
    if len(runs) > MAX_INTERVALS:
        return f"at {sum(marked):,} of {len(points):,} points"
    return listed([_interval(name, points, run[0], run[-1]) for run in runs])


def _interval(name: str, points: Sequence[Point], first: int, last: int) -> str:
    """Name successive points."""
    if first == last and 0 < last < len(points) - 1:
        return f"at {name} = {format_number(points[first].x)}"
    if first == 0 == last or first == last == len(points) - 1:
        return f"at {name} = {format_number(points[first].x)}"
    if first == 0:
        return f"for {name} {_end(points, last, last + 1, '<', '≤', 'below')}"
    if last == len(points) - 1:
        return f"for {name} {_end(points, first, first - 1, '>', '≥', 'above')}"
    low, high = format_number(points[first].x), format_number(points[last].x)
    return f"for {name} from about {low} to about {high}"


def _end(
    points: Sequence[Point], inside: int, outside: int, without: str, within: str, about: str
) -> str:
    """Name one end of an interval: exactly if there are points close to it on both sides."""
    a, b = points[inside].x, points[outside].x
    width = points[-1].x - points[0].x
    if abs(a - b) > EQUAL_SHARE * width:
        return f"{about} about {format_number(a)}"
    # The two numbers count as equal, so the shorter one is named.
    if len(repr(b)) < len(repr(a)):
        return f"{without} {format_number(b)}"
    return f"{within} {format_number(a)}"
