"""Gaps in edges where they would run through the title of a frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

Point: TypeAlias = "tuple[float, float]"
Curve: TypeAlias = "tuple[Point, ...]"
"""The control points of a Bézier curve: two of a line, four of a cubic curve."""
Box: TypeAlias = "tuple[int, int, int, int]"
"""Left, top, right and bottom."""
Steps: TypeAlias = "tuple[tuple[str, tuple[int, ...]], ...]"

SAMPLES = 64
"""The number of points at which a curve is tested."""


def with_gaps(steps: Steps, boxes: Sequence[Box]) -> Steps:
    """Return a path without the parts that are inside of some boxes.

    Closed paths, such as the heads of arrows, aren't changed.

    Examples
    --------
    >>> with_gaps((("M", (0, 0)), ("L", (0, 64))), [(-9, 16, 9, 32)])
    (('M', (0, 0)), ('L', (0, 16)), ('M', (0, 32)), ('L', (0, 64)))
    """
    boxes = [box for box in boxes if _overlaps(steps, box)]
    if not boxes or {kind for kind, _ in steps} & {"Z", "E"}:
        return steps
    parts: list[tuple[str, tuple[int, ...]]] = []
    end: tuple[int, ...] = ()
    for curve in _curves(steps):
        for piece in _outside(curve, boxes):
            start, *points = [tuple(map(round, point)) for point in piece]
            if start != end:
                parts.append(("M", start))
            end = points[-1]
            parts.append(("L" if len(points) == 1 else "C", tuple(x for p in points for x in p)))
    return tuple(parts)


def _overlaps(steps: Steps, box: Box) -> bool:
    """Return True if the control points of a path surround a part of a box."""
    xs = [x for _, points in steps for x in points[::2]]
    ys = [y for _, points in steps for y in points[1::2]]
    left, top, right, bottom = box
    return min(xs) < right and max(xs) > left and min(ys) < bottom and max(ys) > top


def _curves(steps: Steps) -> Iterator[Curve]:
    """Yield the lines and curves of a path."""
    start: Point = (0, 0)
    for kind, numbers in steps:
        points: list[Point] = list(zip(numbers[::2], numbers[1::2], strict=True))
        if kind == "C":
            yield (start, *points)
        elif kind == "L":
            yield from pairwise([start, *points])
        start = points[-1]


def _outside(curve: Curve, boxes: Sequence[Box]) -> Iterator[Curve]:
    """Yield the pieces of a curve that are outside of all boxes."""
    times = [k / SAMPLES for k in range(SAMPLES + 1)]
    begin: float | None = None
    for time in times:
        x, y = _split(curve, time)[0][-1]
        is_inside = any(x0 < x < x1 and y0 < y < y1 for x0, y0, x1, y1 in boxes)
        if is_inside and begin is not None:
            if before := time - 1 / SAMPLES - begin:
                yield _piece(curve, begin, begin + before)
            begin = None
        elif not is_inside and begin is None:
            begin = time
    if begin is not None and begin < 1:
        yield _piece(curve, begin, 1.0)


def _piece(curve: Curve, begin: float, end: float) -> Curve:
    """Return the piece of a curve between two times."""
    if (begin, end) == (0.0, 1.0):
        return curve
    first = _split(curve, end)[0]
    return _split(first, begin / end)[1]


def _split(curve: Curve, time: float) -> tuple[Curve, Curve]:
    """Split a curve at a time between 0 and 1, by de Casteljau's algorithm."""
    level, starts, ends = list(curve), [curve[0]], [curve[-1]]
    while len(level) > 1:
        level = [
            (x0 + (x1 - x0) * time, y0 + (y1 - y0) * time) for (x0, y0), (x1, y1) in pairwise(level)
        ]
        starts.append(level[0])
        ends.append(level[-1])
    return tuple(starts), tuple(reversed(ends))
