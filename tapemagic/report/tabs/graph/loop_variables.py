"""Values that a loop carries from one iteration to the next, and how they develop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.engine.tape.gradient_steps import number_of
from tapemagic.explain.formatting import without_subscript
from tapemagic.explain.lazy_values import has_numbers, with_numbers
from tapemagic.report.folding import Part
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.graph.view import Fold
from tapemagic.report.tabs.training.series import Series, series_of

MAX_CARRIED = 3
"""The most values of one loop whose series are kept."""


@dataclass(frozen=True)
class Carried:
    """A value that a loop carries, over its iterations: numbers, or norms of arrays.

    Attributes
    ----------
    name : str
        Empty for a value without a name.
    values : Series
        One number for each iteration; nan where nothing is known.
    gradients : Series or None
        The same for the gradients; None if there are none.
    is_norm : bool
        Whether the value is an array, and the numbers are norms.
    """

    name: str
    values: Series
    gradients: Series | None = None
    is_norm: bool = False


@dataclass(frozen=True)
class Development:
    """A value that a loop carries, in each iteration.

    Attributes
    ----------
    name : str
        Empty for a value without a name.
    values : sequence
        Arrays, or what is kept of them; None where nothing is known.
    ids : sequence of int or None
    """

    name: str
    values: Sequence[Any]
    ids: Sequence[int | None]


def carried(subject: Subject, found: Sequence[Development]) -> tuple[Carried, ...]:
    """The series of the values that a folded loop carries."""
    return tuple(_series(one, subject) for one in found)


def developments(subject: Subject, fold: Fold) -> list[Development]:
    """The values that a folded loop carries: variables first, then results that are used later.

    Of iterations with fewer or more operations than the last one, only results with a name are found. Of too many
    values, those that are targets stay.
    """
    iterations = [_positions(part) for part in fold.parts]
    found = [*_variables(subject, iterations), *_results(subject, iterations)]
    goals = {name for name, _ in subject.targets}
    kept = sorted(range(len(found)), key=lambda k: found[k].name not in goals)[:MAX_CARRIED]
    return [found[k] for k in sorted(kept)]


def _positions(part: Part) -> list[int]:
    return [part] if isinstance(part, int) else list(part.positions())


def _results(subject: Subject, iterations: Sequence[Sequence[int]]) -> list[Development]:
    """The results that other iterations, or operations behind the loop, use; of each name the last."""
    if len(iterations) < 2:
        return []
    last, records = iterations[-1], subject.records
    slots = {slot: _stem(subject, records[last[slot]]) for slot in _used(subject, iterations)}
    ends = {name: slot for slot, name in slots.items()}
    found = []
    for slot, name in slots.items():
        if name and ends[name] != slot:
            continue
        found_rows = [_row(subject, positions, last, slot) for positions in iterations]
        rows = [row for row in found_rows if row is not None]
        if len(rows) == len(iterations):
            ids = [row.output_ids[0] for row in rows]
            found.append(Development(name, [row.output for row in rows], ids))
    goals = {name for name, _ in subject.targets}
    return sorted(found, key=lambda one: (one.name not in goals, not one.name))


def _used(subject: Subject, iterations: Sequence[Sequence[int]]) -> list[int]:
    """The places, within an iteration with as many operations as the last, of results that are used later."""
    records = subject.records
    slots: dict[int, tuple[int, int]] = {}
    for k, positions in enumerate(iterations):
        for slot, p in enumerate(positions):
            number = records[p].output_id
            if isinstance(number, int) and len(positions) == len(iterations[-1]):
                slots[number] = (k, slot)
    used = set()
    for k, positions in enumerate(iterations):
        for p in positions:
            used |= {slots[i][1] for i in records[p].ids if i in slots and slots[i][0] != k}
    for slot, p in enumerate(iterations[-1]):
        made = records[p].output_id
        if made in subject.roles or (made in subject.names and not np.ndim(records[p].output)):
            used.add(slot)
    return sorted(used)


def _stem(subject: Subject, record: Record) -> str:
    """The name of a result; empty if it has none."""
    return without_subscript(subject.names.get(record.output_id, ""))  # type: ignore[arg-type]


def _row(
    subject: Subject, positions: Sequence[int], last: Sequence[int], slot: int
) -> Record | None:
    """The operation of an iteration that does what one of the last iteration does; None if that cannot be told.

    It is in the same place, if the iterations have equally many operations, or else it has a result of the same name.
    """
    records, wanted = subject.records, subject.records[last[slot]]
    name = _stem(subject, wanted)
    if len(positions) == len(last):
        same = records[positions[slot]]
        if same.number == wanted.number and _stem(subject, same) == name:
            return same
    made = (records[p] for p in reversed(positions))
    return next((record for record in made if name and _stem(subject, record) == name), None)


def _variables(subject: Subject, iterations: Sequence[Sequence[int]]) -> list[Development]:
    """The variables that changed from iteration to iteration."""
    versions = subject.split.versions
    variable_of = {new: i for i, numbers in versions.items() for new in numbers}
    points: dict[int, dict[int, tuple[Any, int]]] = {}
    for k, positions in enumerate(iterations):
        for p in positions:
            record = subject.records[p]
            for value, i in zip(record.values, record.ids, strict=True):
                if i in variable_of:
                    points.setdefault(variable_of[i], {}).setdefault(k, (value, i))
    found = []
    for i, known in points.items():
        if len(known) < 2:
            continue
        read = [known.get(k) for k in range(len(iterations))]
        values = [None if point is None else point[0] for point in read]
        ids = [None if point is None else point[1] for point in read]
        name = without_subscript(subject.known_names.get(i, ""))
        found.append(Development(name, values, ids))
    return found


def _series(found: Development, subject: Subject) -> Carried:
    name, values = found.name, found.values
    gradients = [None if i is None else subject.adjoints.get(i) for i in found.ids]
    size, sizes = partial(size_of, subject.norms), None
    if any(g is not None for g in gradients):
        sizes = series_of("gradient", list(map(size, gradients)))
    is_norm = any(np.ndim(x) for x in values)
    return Carried(name, series_of(name, list(map(size, values))), sizes, is_norm)


def size_of(norms: dict[int, float], value: Any) -> float:
    """A real number, or the norm of anything else; nan for what is not known."""
    if isinstance(value, np.float64):
        return float(value)
    value = with_numbers(value)
    if value is None or not has_numbers(value):
        return math.nan
    if isinstance(value, Summary):
        return size_of(norms, value.norm)
    if not isinstance(value, np.ndarray):
        return number_of(value)
    if id(value) not in norms:
        norms[id(value)] = number_of(value)
    return norms[id(value)]
