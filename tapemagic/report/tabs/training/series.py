"""Series: a number for each step of a loop, kept in few points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MAX_SERIES_POINTS = 100
"""The largest number of points that a series keeps."""


@dataclass(frozen=True)
class Series:
    """A number for each step of a loop, thinned to at most `MAX_SERIES_POINTS`.

    - `steps`: The steps that are kept, counted from 1.
    - `values`: The numbers at these steps; nan for a missing number.
    - `count`: The number of all steps.
    """

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    count: int


def series_of(name: str, values: Sequence[float]) -> Series:
    """A series of real numbers, in at most `MAX_SERIES_POINTS` points.

    Examples
    --------
    >>> series_of("loss", [4.0, 2.0, 1.0]).steps
    (1, 2, 3)
    """
    kept = thinned(values, MAX_SERIES_POINTS)
    return Series(name, tuple(k + 1 for k in kept), tuple(values[k] for k in kept), len(values))


def thinned(values: Sequence[float], max_points: int) -> Sequence[int]:
    """Return the positions of at most `max_points` values, including both ends and all visible peaks, valleys and gaps.

    Of each stretch of values those with the smallest, the largest and the first that is nan or infinite are kept.

    - `max_points`: At least 5.

    Examples
    --------
    >>> spike = [0.0] * 1000
    >>> spike[321] = 9.0
    >>> kept = thinned(spike, 20)
    >>> len(kept) <= 20, 321 in kept, kept[0], kept[-1]
    (True, True, 0, 999)
    """
    count = len(values)
    if count <= max_points:
        return range(count)
    # Three points per stretch (smallest, largest, first gap), and the two ends.
    stretches = (max_points - 2) // 3
    kept = {0, count - 1}
    for k in range(stretches):
        stretch = range(k * count // stretches, (k + 1) * count // stretches)
        finite = [i for i in stretch if math.isfinite(values[i])]
        if finite:
            kept |= {min(finite, key=values.__getitem__), max(finite, key=values.__getitem__)}
        kept.update([i for i in stretch if not math.isfinite(values[i])][:1])
    return sorted(kept)
