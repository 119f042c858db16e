"""Kinks: operations that were differentiated where they have no derivative, and the slope that was taken there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapemagic.engine.recording import Record, silence
from tapemagic.engine.registry import NUMBERED, Operation
from tapemagic.engine.tensor.tensor import unwrap, wrap
from tapemagic.explain.chain_rule import Edge
from tapemagic.explain.formatting import format_number
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.verdict.statement import Statement

BETWEEN = "The tape used slope {}; any slope from {} to {} is valid."
NONE_THERE = "The tape used slope 0."
JUMP = "The function jumps here, so it has no slope; the tape used 0."
SHARED = "Tied values share the gradient equally; other splits are valid too."


@dataclass(frozen=True)
class Kink:
    """The points at which an operation has no derivative, and what was taken there.

    Attributes
    ----------
    name : str
        What the program writes for the operation.
    at : str
        The points in words, such as ``"at 0"``.
    is_there : callable
        Gives the elements of the result, or of the first input, at which the operation is at such a point.
    chosen_slope : str or callable
        The slope that the rule takes there; a callable is given the record, and which of its inputs are tracked.
    """

    name: str
    at: str
    is_there: Callable[[Record], Any]
    chosen_slope: str | Callable[[Record, list[int]], str]


def _at(*points: float) -> Callable[[Record], Any]:
    """Whether the first input is at one of some points."""

    def is_there(record: Record) -> Any:
        x = record.values[0]
        found = x == points[0]
        for point in points[1:]:
            found = found | (x == point)
        return found

    return is_there


def _at_origin(record: Record) -> Any:
    return np.equal(record.values[0], 0) & np.equal(record.values[1], 0)


def _at_zero_of_result(record: Record) -> Any:
    return record.output == 0


def _without_spread(record: Record) -> Any:
    """Whether the numbers of a standard deviation are equal, and more than one."""
    return (record.output == 0) & (np.size(record.values[0]) > np.size(record.output))


def _tied(record: Record) -> Any:
    x, y = record.values
    return np.equal(x, y) if record.ids[0] != record.ids[1] or record.ids[0] <= 0 else False


def _at_limits(record: Record) -> Any:
    x, low, high = record.values
    if low is not None and high is not None:
        return ((x == low) | (x == high)) & np.less(low, high)
    return (x == low) if high is None else (x == high)


def _at_slope_change(record: Record) -> Any:
    """Whether a unit with a slope alpha below 0 is at 0, and alpha is not 1."""
    return (record.values[0] == 0) & (np.asarray(_alpha(record)) != 1)


def _alpha(record: Record) -> Any:
    default = 0.2 if record.name == "leaky_relu" else 1.0
    return (
        record.values[1] if len(record.values) > 1 else (record.params or {}).get("alpha", default)
    )


def _slope_of_alpha(record: Record, _tracked: list[int]) -> str:
    alpha = _alpha(record)
    if np.ndim(alpha):
        return "The tape used slope alpha; any slope between alpha and 1 is valid."
    low, high = sorted([float(alpha), 1.0])
    return BETWEEN.format(*map(format_number, (alpha, low, high)))


def _absolute(record: Record, _tracked: list[int]) -> str:
    is_complex = np.asarray(record.values[0]).dtype.kind == "c"
    return NONE_THERE if is_complex else BETWEEN.format(0, -1, 1)


def _of_two(_record: Record, tracked: list[int]) -> str:
    """The slopes of the larger or smaller of two equal numbers."""
    if tracked == [0]:
        return "The tape used slope 1 for the first; any slope from 0 to 1 is valid."
    if tracked == [1]:
        return "The tape used slope 0 for the second; any slope from 0 to 1 is valid."
    return "The tape used slope 1 for the first and 0 for the second; any two slopes with the sum 1 are valid."


def _of_clip(_record: Record, tracked: list[int]) -> str:
    if 0 in tracked:
        return BETWEEN.format(1, 0, 1)
    return "The tape used slope 0 for the limit; any slope from 0 to 1 is valid."


KINKS: Mapping[str, Kink] = {
    "absolute": Kink("abs", "at 0", _at(0), _absolute),
    "fabs": Kink("fabs", "at 0", _at(0), _absolute),
    "copysign": Kink("copysign", "at 0", _at(0), BETWEEN.format(0, -1, 1)),
    "sign": Kink("sign", "at 0", _at(0), JUMP),
    "heaviside": Kink("heaviside", "at 0", _at(0), JUMP),
    "relu": Kink("relu", "at 0", _at(0), BETWEEN.format(0, 0, 1)),
    "relu6": Kink("relu6", "at 0 or 6", _at(0, 6), BETWEEN.format(0, 0, 1)),
    "hard_sigmoid": Kink("hard_sigmoid", "at -3 or 3", _at(-3, 3), BETWEEN.format(0, 0, "1/6")),
    "leaky_relu": Kink("leaky_relu", "at 0", _at_slope_change, _slope_of_alpha),
    "elu": Kink("elu", "at 0", _at_slope_change, _slope_of_alpha),
    "selu": Kink("selu", "at 0", _at(0), BETWEEN.format("1.0507", "1.0507", "1.7581")),
    "maximum": Kink("maximum", "where its arguments are equal", _tied, _of_two),
    "minimum": Kink("minimum", "where its arguments are equal", _tied, _of_two),
    "fmax": Kink("fmax", "where its arguments are equal", _tied, _of_two),
    "fmin": Kink("fmin", "where its arguments are equal", _tied, _of_two),
    "clip": Kink("clip", "at its limits", _at_limits, _of_clip),
    "arctan2": Kink("arctan2", "at (0, 0)", _at_origin, NONE_THERE),
    "norm": Kink("norm", "at 0", _at_zero_of_result, NONE_THERE),
    "vector_norm": Kink("vector_norm", "at 0", _at_zero_of_result, NONE_THERE),
    "hypot": Kink("hypot", "at 0", _at_zero_of_result, NONE_THERE),
    "std": Kink("std", "where all values are equal", _without_spread, NONE_THERE),
    "nanstd": Kink("nanstd", "where all values are equal", _without_spread, NONE_THERE),
}  # fmt: skip
"""Operations with kinks, by name."""

EXTREMES = {"max", "min", "amax", "amin", "nanmax", "nanmin"}


KINKED_OPERATIONS = KINKS.keys() | EXTREMES
"""The names of all operations with kinks."""


@dataclass
class KinkSite:
    """The kinks of one operation on one line, as far as they were counted."""

    text: str
    chosen_slope: str
    line: int | None
    hits: int = 0
    size: int = 0
    times: int = 0


def kinks(subject: Subject) -> Iterator[Statement]:
    """A statement for each operation and line where a gradient passed a kink."""
    found: dict[tuple[str, str, int | None], KinkSite] = {}
    lines, orders = subject.whole.origins.lines, subject.whole.origins.orders
    candidates: list[tuple[int, Record, Any, str, str]] = []
    tracked, records = subject.snapshot.tracked, subject.snapshot.records[: subject.operations]
    kinked = {i for i in {record[0] for record in records} if _has_kink(NUMBERED[i])}
    for position, plain in enumerate(records):
        if plain[0] not in kinked or (orders and orders[position]):
            continue
        record = Record._make(plain)
        inputs = [place for place, i in enumerate(record.ids) if i in tracked]
        for mask, name, taken in _kinks_of(record, inputs):
            candidates.append((position, record, mask, name, taken))
    cotangents = _cotangents(subject, [record for _, record, *_ in candidates])
    for position, record, mask, name, taken in candidates:
        g = cotangents.get(record.output_id)  # type: ignore[arg-type]
        if g is None or not has_numbers(g):
            continue
        passing = mask & (_incoming_gradient(record, g) != 0)
        hits = int(np.count_nonzero(passing)) if np.ndim(passing) else int(passing)
        if hits:
            line = lines[position] if lines else None
            place = found.setdefault((name, taken, line), KinkSite(name, taken, line))
            place.hits += hits
            place.size += int(np.size(passing))
            place.times += 1
    for place in found.values():
        yield Statement("kink", _sentence(place), place.line)


def _has_kink(operation: Operation) -> bool:
    """Whether an operation is one of those with kinks, and not a user's of the same name."""
    function = operation.function
    module = getattr(function, "__module__", None) or ""
    is_known = isinstance(function, np.ufunc) or module.split(".")[0] in ("numpy", "tapemagic")
    return is_known and operation.name in KINKED_OPERATIONS


def _kinks_of(record: Record, inputs: list[int]) -> Iterator[tuple[Any, str, str]]:
    """The elements at a kink, the operation with the point in words, and what was taken there."""
    if not inputs or not all(map(has_numbers, (*record.values, record.output))):
        return
    name = record.name
    if (kink := KINKS.get(name)) is not None:
        mask = kink.is_there(record)
        if np.any(mask):
            taken = (
                kink.chosen_slope
                if isinstance(kink.chosen_slope, str)
                else kink.chosen_slope(record, inputs)
            )
            yield mask, f"{kink.name} has no derivative {kink.at}", taken
    elif name in EXTREMES:
        share = np.asarray(_edge(record).pull_back(np.ones_like(record.output)))
        mask = (share > 0) & (share < 1)
        if np.any(mask):
            yield mask, f"{name} has no derivative where values are tied", SHARED


def _edge(record: Record) -> Edge:
    return Edge(record.ids[0], record, 0, record.output_id)  # type: ignore[arg-type]


def _incoming_gradient(record: Record, g: Any) -> Any:
    """The gradient that arrives at each element where kinks are counted."""
    return np.asarray(_edge(record).pull_back(g)) if record.name in EXTREMES else g


def _cotangents(subject: Subject, records: list[Record]) -> dict[int, Any]:
    """The gradients with respect to the results of operations, in full."""
    known = {
        i: subject.adjoints.get(i) for record in records if isinstance(i := record.output_id, int)
    }
    large = [i for i, g in known.items() if isinstance(g, Summary)]
    if large:
        targets = [value for _, value in subject.targets]
        with silence(), np.errstate(all="ignore"):
            sources = [wrap(np.float64(0), i) for i in large]
            full = subject.snapshot.tape().gradient(targets, sources)
        known |= {i: unwrap(g) for i, g in zip(large, full, strict=True) if g is not None}
    return {i: g for i, g in known.items() if g is not None}


def _sentence(place: KinkSite) -> str:
    """The statement on the kinks of one operation on one line."""
    where = [] if place.line is None else [f"line {place.line}"]
    if place.size > place.times:
        where.append(f"{place.hits:,} of {place.size:,} elements")
    elif place.times > 1:
        where.append(f"{place.times:,} times")
    at = f" ({', '.join(where)})" if where else ""
    return f"{place.text}{at}. {place.chosen_slope}"
