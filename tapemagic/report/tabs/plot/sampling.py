"""Chooses the points of curves: from coarse to fine within a time limit, and close to gaps and jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import perf_counter

# Multiples of the one before, so that a finer grid runs the cell only for the points in between.
GRIDS = (8, 24, 48, 96, 192)
"""The numbers of intervals, from coarse to fine; each grid contains the points of the grids before."""
SECONDS, REDRAW_SECONDS = 2.0, 0.04
"""The time limits for all points: for a new plot, and while a reader drags a slider."""
MAX_EDGES = 8
"""The number of gaps, and of jumps, that are located exactly."""
HALVINGS = 26
"""The number of halvings that locate a gap or a jump."""
# 192 intervals halved 26 times are 1e-10 of the range: beyond the digits of a report.
STEEP_FACTOR = 5
"""A change is a possible jump if it is this many times the median change."""
ROUNDING = 1e-6
"""A change is rounding noise if it is less than this share of the largest one."""
CONTINUITY_FACTOR = 4
"""A curve is continuous if halving a distance makes the change this many times smaller."""
# A straight line halves the change, so 4 leaves room for bends; at a jump, the change stays.


@dataclass(frozen=True)
class Point:
    """A point of all curves.

    - `values`: One for each curve; nan in a gap.
    - `reasons`: The reason for the gap of each curve; '' if its value is finite.
    """

    x: float
    values: tuple[float, ...]
    reasons: tuple[str, ...]


Pair = tuple[Point, Point]


@dataclass(frozen=True)
class Samples:
    """The points of all curves.

    - `points`: The points in ascending order.
    - `breaks`: The positions of the points after which each curve jumps.
    - `grid`: The number of intervals of the finest grid.
    """

    points: tuple[Point, ...]
    breaks: tuple[frozenset[int], ...]
    grid: int


def sampled(
    evaluate: Callable[[float], Point],
    low: float,
    high: float,
    seconds: float = SECONDS,
    grids: Sequence[int] = GRIDS,
) -> Samples:
    """Compute the points of curves over a range.

    - `evaluate`: Computes a point.
    - `seconds`: The time limit. A finer grid is begun, and a gap or jump located, only if all its points are expected
      in time; the coarsest grid is always computed.
    - `grids`: The numbers of intervals.

    Examples
    --------
    >>> samples = sampled(lambda x: Point(x, (x * x,), ("",)), -1.0, 1.0)
    >>> len(samples.points), samples.points[96]
    (193, Point(x=0.0, values=(0.0,), reasons=('',)))
    """
    sampler = _Sampler(evaluate, seconds)
    grid = grids[0]
    for count in grids:
        places = [at(low, high, k, count) for k in range(count + 1)]
        if count > grid and not sampler.has_time_for(len(places) - len(sampler.points())):
            break
        for x in places:
            sampler.keep(x)
        grid = count
    for a, b in _gap_edges(sampler.points()):
        sampler.approach_gap(a, b)
    apart = [sampler.jump(*pair) for pair in _steep(sampler.points())]
    points = sampler.points()
    return Samples(tuple(points), _breaks(points, filter(None, apart)), grid)


def at(low: float, high: float, k: int, count: int) -> float:
    """Return the k-th of the points that divide an interval into `count` parts.

    Examples
    --------
    >>> at(-6.0, 6.0, 1, 4), at(-0.1, 0.1, 1, 2)
    (-3.0, 0.0)
    """
    return high if k == count else low + (high - low) * k / count


@dataclass(frozen=True)
class Jump:
    """A jump of a curve between two numbers that count as equal."""

    low: float
    high: float
    curve: int
    size: float


class _Sampler:
    """Computes points, each once, and estimates the time for more."""

    def __init__(self, evaluate: Callable[[float], Point], seconds: float) -> None:
        self._evaluate = evaluate
        self._seconds = seconds
        self._start = perf_counter()
        self._computed: dict[float, Point] = {}
        self._kept: set[float] = set()

    def point(self, x: float) -> Point:
        """Return the point at `x`."""
        if x not in self._computed:
            self._computed[x] = self._evaluate(x)
        return self._computed[x]

    def keep(self, *places: float) -> None:
        """Add points to the curves."""
        for x in places:
            self.point(x)
        self._kept.update(places)

    def points(self) -> list[Point]:
        """Return the points of the curves in ascending order."""
        return [self._computed[x] for x in sorted(self._kept)]

    def has_time_for(self, count: int) -> bool:
        """Return True if `count` more points are expected within the time limit."""
        # Each further point is expected to take as long as the average one so far.
        spent = perf_counter() - self._start
        return spent * (1 + count / max(1, len(self._computed))) <= self._seconds

    def approach_gap(self, a: Point, b: Point) -> None:
        """Locate the edge of a gap between two points, and add the points on both sides."""

        def closer(a: Point, middle: Point, b: Point) -> Pair:
            return (a, middle) if a.reasons != middle.reasons else (middle, b)

        if edge := self._halved((a, b), closer):
            self._enclose(*edge)

    def jump(self, a: Point, b: Point, curve: int) -> Jump | None:
        """Locate a jump between two points, and add the points next to it; None if the curve is only steep."""
        size = abs(b.values[curve] - a.values[curve])

        def closer(a: Point, middle: Point, b: Point) -> Pair | None:
            left = abs(middle.values[curve] - a.values[curve])
            right = abs(b.values[curve] - middle.values[curve])
            # A gap may be a single point, such as 0 for 1/x.
            if not math.isfinite(left + right):
                self.keep(middle.x)
                return None
            if max(left, right) < size / CONTINUITY_FACTOR:
                return None
            return (a, middle) if left >= right else (middle, b)

        edge = self._halved((a, b), closer)
        if edge is None:
            return None
        a, b = edge
        self._enclose(a, b)
        return Jump(a.x, b.x, curve, abs(b.values[curve] - a.values[curve]))

    def _halved(
        self, pair: Pair, closer: Callable[[Point, Point, Point], Pair | None]
    ) -> Pair | None:
        """Bring two points together by halving; None without time, or if `closer` gives up."""
        if not self.has_time_for(HALVINGS + 2):
            return None
        for _ in range(HALVINGS):
            a, b = pair
            x = at(a.x, b.x, 1, 2)
            # No float is between two neighbors.
            if not a.x < x < b.x:
                break
            chosen = closer(a, self.point(x), b)
            if chosen is None:
                return None
            pair = chosen
        return pair

    def _enclose(self, a: Point, b: Point) -> None:
        """Add two points, and one at the simplest number in between."""
        # The edge is probably at a simple number, such as 0 or 1.5, which a sentence should name.
        self.keep(a.x, b.x, simplest(a.x, b.x))


def _gap_edges(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Return the pairs of neighbors with different gaps."""
    pairs = pairwise(points)
    return [pair for pair in pairs if pair[0].reasons != pair[1].reasons][:MAX_EDGES]


def _steep(points: Sequence[Point]) -> list[tuple[Point, Point, int]]:
    """Return the pairs of neighbors between which a curve may jump, the largest jumps first."""
    candidates: list[tuple[float, tuple[Point, Point, int]]] = []
    for curve in range(len(points[0].values)):
        pairs = [
            (abs(b.values[curve] - a.values[curve]), (a, b, curve))
            for a, b in pairwise(points)
            if math.isfinite(b.values[curve] - a.values[curve])
        ]
        changes = [change for change, _ in pairs]
        # The median: a few jumps must not make the others look usual.
        usual = median(changes) if changes else 0.0
        least = max(STEEP_FACTOR * usual, ROUNDING * max(changes, default=0.0))
        candidates += [(change / (usual or 1.0), pair) for change, pair in pairs if change > least]
    candidates.sort(key=lambda entry: -entry[0])
    places = list(dict.fromkeys(a.x for _, (a, _, _) in candidates))[:MAX_EDGES]
    return [pair for _, pair in candidates if pair[0].x in places]


def _breaks(points: Sequence[Point], jumps: Iterable[Jump]) -> tuple[frozenset[int], ...]:
    """Return the positions after which each curve jumps."""
    # `simplest` may add a point inside the jump: then each part of it with an eighth of its size counts.
    breaks: list[set[int]] = [set() for _ in points[0].values]
    for jump in jumps:
        for k, (a, b) in enumerate(pairwise(points)):
            change = abs(b.values[jump.curve] - a.values[jump.curve])
            if jump.low <= a.x and b.x <= jump.high and change > jump.size / 8:
                breaks[jump.curve].add(k)
    return tuple(map(frozenset, breaks))


def simplest(low: float, high: float) -> float:
    """Return the number with the fewest digits from `low` to `high`.

    Examples
    --------
    >>> simplest(-1e-9, 2e-9), simplest(1.4999, 1.50001), simplest(0.25, 0.25)
    (0.0, 1.5, 0.25)
    """
    if low <= 0 <= high:
        return 0.0
    for digits in range(1, 17):
        for end in (low, high):
            rounded = float(f"{end:.{digits}g}")
            if low <= rounded <= high:
                return rounded
    return low
