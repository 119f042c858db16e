"""Points of curves: grids, gaps and jumps."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from tapemagic.report.tabs.plot.gaps import gap_notes
from tapemagic.report.tabs.plot.sampling import Point, Samples, sampled


def of(function: Callable[[float], float]) -> Callable[[float], Point]:
    """A function as points, with a gap wherever it raises an error or is not finite."""

    def point(x: float) -> Point:
        try:
            y = function(x)
        except ZeroDivisionError:
            y = math.inf
        except ValueError:
            return Point(x, (math.nan,), ("raises ValueError",))
        if not math.isfinite(y):
            return Point(x, (math.nan,), ("nan",))
        return Point(x, (y,), ("",))

    return point


def notes(function: Callable[[float], float], low: float, high: float) -> list[str]:
    """The sentences on the gaps of a function."""
    return gap_notes("x", ["y"], sampled(of(function), low, high).points)


def jumps(samples: Samples) -> list[tuple[float, float]]:
    """The ends of the jumps of a curve."""
    return [(samples.points[k].x, samples.points[k + 1].x) for k in sorted(samples.breaks[0])]


def test_a_smooth_function_has_a_grid_alone() -> None:
    """A steep function that does not jump has no break."""
    for function in (math.sin, math.exp, lambda x: math.tanh(50 * x), abs):
        samples = sampled(of(function), -6.0, 6.0)

        assert [] == jumps(samples)
        assert {12.0 * k / 192 - 6.0 for k in range(193)} == {p.x for p in samples.points}


@pytest.mark.parametrize("place", [0.0, 0.3, -1.2345, math.pi / 2])
def test_a_jump_is_found_where_it_is(place: float) -> None:
    """A curve is not connected over a jump, and goes on both sides up to it."""
    samples = sampled(of(lambda x: 1.0 + x if x > place else x), -2.0, 2.0)

    [(low, high)] = jumps(samples)
    assert low <= place <= high
    assert high - low < 1e-8


def test_an_isolated_value_within_a_jump() -> None:
    """The sign of x jumps twice: before 0 and behind it."""
    samples = sampled(of(lambda x: float(np.sign(x))), -1.0, 1.3)

    assert [0.0] == sorted({x for jump in jumps(samples) for x in jump if abs(x) < 1e-12})
    assert len(jumps(samples)) == 2


def test_poles() -> None:
    """Curves are not connected over poles at which the sign changes."""
    for power in (1, 3):
        samples = sampled(of(lambda x, power=power: (x - 0.01) ** -power), -1.0, 1.0)
        around = [(a, b) for a, b in pairwise(samples.points) if a.x <= 0.01 <= b.x]

        assert any((a.x, b.x) in jumps(samples) or any(a.reasons + b.reasons) for a, b in around)


def test_gaps_in_words() -> None:
    """A gap has an exact end, open or closed."""
    assert ["The cell raises ValueError for x < 0.0."] == notes(math.sqrt, -6.0, 6.3)
    assert ["The cell raises ValueError for x ≤ 0.0."] == notes(math.log, -6.0, 6.3)
    assert ["y is nan for x > 0.25."] == notes(lambda x: math.nan if x > 0.25 else x, -1.0, 1.0)
    assert ["y is nan for x ≥ 0.25."] == notes(lambda x: math.nan if x >= 0.25 else x, -1.0, 1.0)
    assert ["y is nan at x = 0.0."] == notes(lambda x: x or math.nan, -1.0, 1.0)
    assert ["y is nan at every point."] == notes(lambda _: math.nan, -1.0, 1.0)
    assert [] == notes(math.exp, -1.0, 1.0)


def test_a_slow_function_has_fewer_points() -> None:
    """The coarsest grid is computed whatever it takes, and gaps are told as far as they are known."""
    samples = sampled(of(lambda x: math.nan if x < 0.1 else x), -1.0, 1.0, seconds=0)

    assert [k / 4 - 1 for k in range(9)] == [p.x for p in samples.points]
    assert ["y is nan for x below about 0.0."] == gap_notes("x", ["y"], samples.points)
