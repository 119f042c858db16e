"""Computes the curves of a plot by running the cell for each point."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.explain.formatting import derivative_symbol
from tapemagic.explain.snapshot import Named
from tapemagic.report.derivatives import GradientTable, differentiate
from tapemagic.report.tabs.plot.gaps import gap_notes
from tapemagic.report.tabs.plot.plot import Curve, Plot
from tapemagic.report.tabs.plot.sampling import GRIDS, SECONDS, Point, Samples, at, sampled

MAX_DRAWN = 1e150
"""The largest number that is drawn."""
# Products of two such numbers must not overflow (1e308).
TABLE = 8
"""The number of intervals of the table of values."""

Numbers = tuple[tuple[float, ...], tuple[str, ...]]
"""The value of each curve, and the reason for its gap."""


@dataclass(frozen=True)
class Plotted:
    """A plot with its points."""

    plot: Plot
    samples: Samples


def plot_of(
    evaluate: Callable[[float], Numbers],
    name: str,
    ends: tuple[float, float],
    targets: Sequence[Named],
    order: int,
    ordinary: tuple[float, Sequence[float]],
    last: Plotted | None = None,
    seconds: float = SECONDS,
) -> Plotted:
    """Plot targets and their derivatives over a range.

    - `evaluate`: Runs the cell with a number as the value of the variable, and returns the `numbers` of the run.
    - `name`: The variable.
    - `ends`: (float, float). The range.
    - `targets`: Sequence of (name, value). The targets of the ordinary run.
    - `order`: The highest order of derivatives.
    - `ordinary`: (float, sequence of float). The value of the variable in the ordinary run, and its `numbers`.
    - `last`: The plot of an earlier run, which probably differs only in the value of the variable. Its curves are
      reused if they have the values of this run at the points of the table.
    - `seconds`: The time limit.
    """
    low, high = ends
    own, here = ordinary
    kinds = [(target, level) for target, _ in targets for level in range(order + 1)]
    symbols = [derivative_symbol(y, name, k) if k else y for y, k in kinds]
    cache: dict[float, Point] = {}

    def point(x: float) -> Point:
        if x not in cache:
            cache[x] = Point(x, *evaluate(x))
        return cache[x]

    samples = last.samples if last and _is_current(last, symbols, point) else None
    samples = samples or sampled(point, low, high, seconds)
    points = samples.points
    curves = tuple(
        Curve(*kind, symbol, tuple(p.values[c] for p in points), samples.breaks[c], here[c])
        for c, (kind, symbol) in enumerate(zip(kinds, symbols, strict=True))
    )
    xs = tuple(point.x for point in points)
    listed = {xs.index(x) for x in _table_places(low, high)}
    notes = [*_sums(targets), *gap_notes(name, symbols, points)]
    is_coarse = samples.grid < GRIDS[-1]
    plot = Plot(name, low, high, xs, tuple(sorted(listed)), curves, own, tuple(notes), is_coarse)
    return Plotted(plot, samples)


def _is_current(last: Plotted, symbols: Sequence[str], point: Callable[[float], Point]) -> bool:
    """Return True if an earlier plot still has the current values at the points of the table."""
    if [curve.symbol for curve in last.plot.curves] != symbols:
        return False
    points = [last.samples.points[k] for k in last.plot.listed]
    # Strings are compared, because nan doesn't equal nan.
    return all(repr(point(earlier.x)) == repr(earlier) for earlier in points)


def _table_places(low: float, high: float) -> list[float]:
    return [at(low, high, k, TABLE) for k in range(TABLE + 1)]


def _sums(targets: Sequence[Named]) -> list[str]:
    """Describe the targets whose sum is plotted."""
    return [
        f"{name} is an array: its curves are those of the sum of {name}."
        for name, value in targets
        if np.ndim(unwrap(value)) or np.size(unwrap(value)) != 1
    ]


# A range may leave the domain of the cell; the gap says so, and needs no warning of each point.
@np.errstate(all="ignore")
def numbers(observer: Observer, values: Sequence[Any], source: Any, order: int) -> Numbers:
    """Return the values of targets and their derivatives in a run, target by target.

    - `observer`: The recording of the run.
    - `values`: The targets: None if a target has no value, a plain number if it isn't on the tape.
    """
    recorded = [(str(k), value) for k, value in enumerate(values) if observer.tracks(value)]
    table = differentiate(observer, recorded, [("", source)], order)
    places = {name: t for t, (name, _) in enumerate(recorded)}
    rows = [
        _number(value if k == 0 else _derivative(table, places.get(str(t)), k), k)
        for t, value in enumerate(values)
        for k in range(order + 1)
    ]
    return tuple(value for value, _ in rows), tuple(reason for _, reason in rows)


def _derivative(table: GradientTable, target: int | None, order: int) -> Any:
    return None if target is None else table.gradients.get((target, 0, order))


def _number(value: Any, order: int) -> tuple[float, str]:
    """Return the number of a curve, or nan and the reason for a gap."""
    if value is None:
        return math.nan, "None" if order else "without a value"
    array = np.asarray(unwrap(value))
    if array.dtype.kind not in "fiub":
        return math.nan, "complex" if array.dtype.kind == "c" else "no number"
    number = float(np.sum(array, dtype=np.float64))
    if math.isnan(number):
        return math.nan, "nan"
    if math.isinf(number):
        return math.nan, "infinite"
    return (number, "") if abs(number) <= MAX_DRAWN else (math.nan, "too large to be drawn")


def failed(error: BaseException, count: int) -> Numbers:
    """Return the numbers of a run that raised an error."""
    return (math.nan,) * count, (f"raises {type(error).__name__}",) * count
