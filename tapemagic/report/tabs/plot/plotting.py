"""The curves of a plot, computed from runs of the program."""

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

LARGEST = 1e150
"""The largest number that is drawn: beyond it, ranges overflow."""
TABLE = 8
"""The number of intervals between the points for a table."""

Numbers = tuple[tuple[float, ...], tuple[str, ...]]
"""The value of each curve, and the reason for its gap."""


@dataclass(frozen=True)
class Plotted:
    """A plot, with the points of which it was made."""

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
    """The plot of targets and their derivatives over a range.

    Parameters
    ----------
    evaluate : callable
        Runs the program with a number in the place of the variable, and returns the `numbers` of the run.
    name : str
        Of the variable.
    ends : (float, float)
        The range.
    targets : sequence of (name, value)
        Those of the ordinary run.
    order : int
        The highest order of derivatives.
    ordinary : (float, sequence of float)
        The value of the variable in the ordinary run, and its `numbers`.
    last : Plotted, optional
        The plot of an earlier run that differs in the value of the variable, as far as is known. Its curves are taken
        as they are if they have the values of this run at the points of the table.
    seconds : float, optional
        The limit of time.
    """
    low, high = ends
    own, here = ordinary
    kinds = [(target, level) for target, _ in targets for level in range(order + 1)]
    symbols = [derivative_symbol(y, name, k) if k else y for y, k in kinds]
    known: dict[float, Point] = {}

    def point(x: float) -> Point:
        if x not in known:
            known[x] = Point(x, *evaluate(x))
        return known[x]

    samples = last.samples if last and _still_holds(last, symbols, point) else None
    samples = samples or sampled(point, low, high, seconds)
    points = samples.points
    curves = tuple(
        Curve(*kind, symbol, tuple(p.values[c] for p in points), samples.breaks[c], here[c])
        for c, (kind, symbol) in enumerate(zip(kinds, symbols, strict=True))
    )
    xs = tuple(point.x for point in points)
    wanted = {xs.index(x) for x in _table_places(low, high)}
    notes = [*_sums(targets), *gap_notes(name, symbols, points)]
    is_coarse = samples.grid < GRIDS[-1]
    plot = Plot(name, low, high, xs, tuple(sorted(wanted)), curves, own, tuple(notes), is_coarse)
    return Plotted(plot, samples)


def _still_holds(last: Plotted, symbols: Sequence[str], point: Callable[[float], Point]) -> bool:
    """Whether the curves of an earlier plot have the values of now at the points of the table."""
    if [curve.symbol for curve in last.plot.curves] != symbols:
        return False
    points = [last.samples.points[k] for k in last.plot.listed]
    return all(repr(point(earlier.x)) == repr(earlier) for earlier in points)  # nan is not nan


def _table_places(low: float, high: float) -> list[float]:
    return [at(low, high, k, TABLE) for k in range(TABLE + 1)]


def _sums(targets: Sequence[Named]) -> list[str]:
    """Sentences on targets of which the sum is plotted."""
    return [
        f"{name} is an array: its curves are those of the sum of {name}."
        for name, value in targets
        if np.ndim(unwrap(value)) or np.size(unwrap(value)) != 1
    ]


@np.errstate(all="ignore")
def numbers(observer: Observer, values: Sequence[Any], source: Any, order: int) -> Numbers:
    """The values of targets and their derivatives in a run, target by target.

    Parameters
    ----------
    observer : Observer
        The recording of the run.
    values : sequence
        The targets; None for one that has no value, and a plain number for one that is not on the tape.
    source : tensor
    order : int
    """
    recorded = [(str(k), value) for k, value in enumerate(values) if observer.tracks(value)]
    found = differentiate(observer, recorded, [("", source)], order)
    places = {name: t for t, (name, _) in enumerate(recorded)}
    rows = [
        _number(value if k == 0 else _derivative(found, places.get(str(t)), k), k)
        for t, value in enumerate(values)
        for k in range(order + 1)
    ]
    return tuple(value for value, _ in rows), tuple(reason for _, reason in rows)


def _derivative(found: GradientTable, target: int | None, order: int) -> Any:
    return None if target is None else found.gradients.get((target, 0, order))


def _number(value: Any, order: int) -> tuple[float, str]:
    """The number of a curve, or nan and the reason why there is none."""
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
    return (number, "") if abs(number) <= LARGEST else (math.nan, "too large to be drawn")


def failed(error: BaseException, count: int) -> Numbers:
    """The numbers of a run that raised an error."""
    return (math.nan,) * count, (f"raises {type(error).__name__}",) * count
