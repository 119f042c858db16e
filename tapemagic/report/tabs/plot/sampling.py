"""Points of curves: from coarse to fine within a limit of time, and close to gaps and jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import perf_counter

GRIDS = (8, 24, 48, 96, 192)
"""The numbers of intervals, from coarse to fine: each grid holds the points of those before."""
SECONDS, QUICK = 2.0, 0.04
"""The time for all points; and while a reader waits for a slider."""
MOST_EDGES = 8
"""The number of gaps, and of jumps, that are looked at closely."""
HALVINGS = 26
"""The number of halvings that bring two points together up to the digits of a report."""
STEEP = 5
"""A change is looked at closely if it is so many times the usual one."""
ROUNDING = 1e-6
"""A change is none if it is no more than this share of the largest one."""
SHRUNK = 4
"""A curve does not jump where the change gets so many times smaller as points come closer."""


@dataclass(frozen=True)
class Point:
    """A point of all curves.

    Attributes
    ----------
    x : float
    values : tuple of float
        For each curve; nan where there is none.
    reasons : tuple of str
        For each curve: the words for its gap, empty where the value is finite.
    """

    x: float
    values: tuple[float, ...]
    reasons: tuple[str, ...]


Pair = tuple[Point, Point]


@dataclass(frozen=True)
class Samples:
    """The points of all curves.

    Attributes
    ----------
    points : tuple of Point
        By rising x.
    breaks : tuple of frozenset of int
        For each curve the positions of the points behind which it jumps.
    grid : int
        The number of intervals of the finest grid.
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
    """The points of curves over a range.

    Parameters
    ----------
    evaluate : callable
        Computes a point.
    low, high : float
    seconds : float, optional
        A finer grid is begun, and a gap or jump looked at, if all points are expected within this time; the coarsest
        grid is computed whatever it takes.
    grids : sequence of int, optional
        The numbers of intervals.

    Returns
    -------
    Samples

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
    """The k-th of the points that divide an interval into so many parts.

    Examples
    --------
    >>> at(-6.0, 6.0, 1, 4), at(-0.1, 0.1, 1, 2)
    (-3.0, 0.0)
    """
    return high if k == count else low + (high - low) * k / count


@dataclass(frozen=True)
class Jump:
    """A jump of a curve between two numbers that are as good as one."""

    low: float
    high: float
    curve: int
    size: float


class _Sampler:
    """Computes points, each once, and knows how long one takes."""

    def __init__(self, evaluate: Callable[[float], Point], seconds: float) -> None:
        self._evaluate = evaluate
        self._seconds = seconds
        self._start = perf_counter()
        self._known: dict[float, Point] = {}
        self._kept: set[float] = set()

    def point(self, x: float) -> Point:
        """The point at a number."""
        if x not in self._known:
            self._known[x] = self._evaluate(x)
        return self._known[x]

    def keep(self, *places: float) -> None:
        """Make points those of the curves."""
        for x in places:
            self.point(x)
        self._kept.update(places)

    def points(self) -> list[Point]:
        """The points of the curves, by rising x."""
        return [self._known[x] for x in sorted(self._kept)]

    def has_time_for(self, count: int) -> bool:
        """Whether so many more points are expected within the time."""
        spent = perf_counter() - self._start
        return spent * (1 + count / max(1, len(self._known))) <= self._seconds

    def approach_gap(self, a: Point, b: Point) -> None:
        """Find where a gap begins or ends between two points, and keep the points beside that."""

        def closer(a: Point, middle: Point, b: Point) -> Pair:
            return (a, middle) if a.reasons != middle.reasons else (middle, b)

        if found := self._halved((a, b), closer):
            self._enclose(*found)

    def jump(self, a: Point, b: Point, curve: int) -> Jump | None:
        """Find where a curve jumps between two points, and keep the points beside that; None if it is only steep."""
        whole = abs(b.values[curve] - a.values[curve])

        def closer(a: Point, middle: Point, b: Point) -> Pair | None:
            left = abs(middle.values[curve] - a.values[curve])
            right = abs(b.values[curve] - middle.values[curve])
            if not math.isfinite(left + right):  # a gap that is a single point
                self.keep(middle.x)
                return None
            if max(left, right) < whole / SHRUNK:
                return None
            return (a, middle) if left >= right else (middle, b)

        found = self._halved((a, b), closer)
        if found is None:
            return None
        a, b = found
        self._enclose(a, b)
        return Jump(a.x, b.x, curve, abs(b.values[curve] - a.values[curve]))

    def _halved(
        self, pair: Pair, closer: Callable[[Point, Point, Point], Pair | None]
    ) -> Pair | None:
        """Two points that came closer by halving; None if there is no time, or nothing to come closer to."""
        if not self.has_time_for(HALVINGS + 2):
            return None
        for _ in range(HALVINGS):
            a, b = pair
            x = at(a.x, b.x, 1, 2)
            if not a.x < x < b.x:
                break
            chosen = closer(a, self.point(x), b)
            if chosen is None:
                return None
            pair = chosen
        return pair

    def _enclose(self, a: Point, b: Point) -> None:
        """Keep two points, and the one at the simplest number between them."""
        self.keep(a.x, b.x, simplest(a.x, b.x))


def _gap_edges(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """The pairs of neighbours of which one is in a gap, and the other is not or in another one."""
    pairs = pairwise(points)
    return [pair for pair in pairs if pair[0].reasons != pair[1].reasons][:MOST_EDGES]


def _steep(points: Sequence[Point]) -> list[tuple[Point, Point, int]]:
    """The pairs of neighbours between which a curve may jump, the largest jumps first."""
    found: list[tuple[float, tuple[Point, Point, int]]] = []
    for curve in range(len(points[0].values)):
        pairs = [
            (abs(b.values[curve] - a.values[curve]), (a, b, curve))
            for a, b in pairwise(points)
            if math.isfinite(b.values[curve] - a.values[curve])
        ]
        changes = [change for change, _ in pairs]
        usual = median(changes) if changes else 0.0
        least = max(STEEP * usual, ROUNDING * max(changes, default=0.0))
        found += [(change / (usual or 1.0), pair) for change, pair in pairs if change > least]
    found.sort(key=lambda entry: -entry[0])
    places = list(dict.fromkeys(a.x for _, (a, _, _) in found))[:MOST_EDGES]
    return [pair for _, pair in found if pair[0].x in places]


def _breaks(points: Sequence[Point], jumps: Iterable[Jump]) -> tuple[frozenset[int], ...]:
    """The positions behind which each curve jumps: those inside of a jump with a good part of its size."""
    found: list[set[int]] = [set() for _ in points[0].values]
    for jump in jumps:
        for k, (a, b) in enumerate(pairwise(points)):
            change = abs(b.values[jump.curve] - a.values[jump.curve])
            if jump.low <= a.x and b.x <= jump.high and change > jump.size / 8:
                found[jump.curve].add(k)
    return tuple(map(frozenset, found))


def simplest(low: float, high: float) -> float:
    """The number with the fewest digits between two numbers, or one of them.

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
