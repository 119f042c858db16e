"""Sensitivity of a target to a plain number: if it is zero, the gradient is complete.

In a stable ``m + np.log(np.sum(np.exp(x - m)))`` with ``m = float(np.max(x))``, m cancels. The derivative with respect
to m is zero, so the gradient with respect to x is exact, although the tape sees m as a constant.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

import numpy as np

from tapemagic.engine.events import Event, Place
from tapemagic.engine.recording import Record, is_id, outputs_of, silence
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap, wrap
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.program_text import on_line, reads_of, text_of
from tapemagic.explain.query import Question

CANCELS_RTOL = 1e-9
"""Contributions cancel if their sum is at most this fraction of the sum of their sizes."""

FIRST_USE_ID = 2
"""The first of the ids for the uses of the number.

Ids of values come from a clock that has ticked for each earlier value. `is_insensitive` gives up if a tracked id is so
small that it could be one of these.
"""


def is_insensitive(q: Question, event: Event, target: Any) -> bool:
    """Return True if the plain number from a conversion has no first-order effect on the target.

    True only if every use of the number is known: it has a name, and for each time that the program reads the name,
    the tape recorded an operation with that number as a constant.
    """
    # The records only show a constant, not where it comes from: an equal number counts as a use. If there are as many
    # uses as the source code has reads of the name, all of them are known, and each gets an id of its own to
    # differentiate with respect to.
    recorded = [Record._make(plain) for plain in q.snapshot.records]
    name = _name(event.place)
    value = _value_of(q, event, name)
    reads = reads_of(event.place, name) if name else 0
    if value is None or not reads or not isinstance(target, Traced):
        return False
    records: list[Record] = []
    uses: list[Traced] = []
    ancestors = q.ancestors.keys() | q.snapshot.ancestors(id_of(target), blocked=False).keys()
    for record in recorded:
        records.append(record)
        if isinstance(record.output_id, int) and record.output_id in ancestors:
            values, ids = list(record.values), list(record.ids)
            for k, (constant, i) in enumerate(zip(values, ids, strict=False)):
                unknown = (
                    i > 0
                    or isinstance(constant, int)
                    or not has_numbers(constant)
                    or np.ndim(constant)
                )
                if not unknown and constant == value:
                    use = wrap(_spread(record, value), FIRST_USE_ID + len(uses))
                    values[k], ids[k] = unwrap(use), id_of(use)
                    uses.append(use)
            records[-1] = record._replace(values=tuple(values), ids=tuple(ids))
    if len(uses) != reads or any(i <= FIRST_USE_ID + len(uses) for i in q.snapshot.tracked):
        return False
    tracked = {**q.snapshot.tracked, **{id_of(use): 1 for use in uses}}
    with silence(), np.errstate(all="ignore"):
        tape = q.snapshot.with_records(records, tracked, q.snapshot.leaves).tape()
        gradients = [unwrap(g) for g in tape.gradient(target, uses) if g is not None]
    total = sum(np.sum(g) for g in gradients)
    size = sum(np.sum(np.abs(g)) for g in gradients)
    return bool(np.abs(total) <= CANCELS_RTOL * size)


class UsedConstants:
    """The plain numbers and arrays that operations of a target used."""

    def __init__(self, q: Question, target: Any) -> None:
        self._q = q
        self._times: dict[complex, int] = {}
        self._arrays: list[tuple[int, Any]] = []
        above = (
            q.snapshot.ancestors(id_of(target), blocked=False) if isinstance(target, Traced) else {}
        )
        for record in map(Record._make, q.snapshot.records if above else ()):
            time = outputs_of(record)[0]
            if above.keys().isdisjoint(outputs_of(record)):
                continue
            for constant, i in zip(record.values, record.ids, strict=False):
                if is_id(i) or not has_numbers(constant):
                    continue
                if isinstance(constant, np.ndarray) and constant.ndim:
                    self._arrays.append((time, constant))
                elif isinstance(constant, float | complex | np.inexact):
                    self._times[complex(constant)] = time

    def has(self, event: Event) -> bool:
        """Return True if a later operation of the target used a number or array equal to the converted value.

        A number that the program contains itself, such as a 2 in ``x**2``, says nothing.
        """
        if not (self._times or self._arrays):
            return False
        value = _converted(self._q, event)
        if value is None or np.ndim(value):
            arrays = (
                x for time, x in self._arrays if time > event.time and x.shape == np.shape(value)
            )
            return value is not None and any(np.array_equal(x, value) for x in arrays)
        number = complex(value)
        is_later = self._times.get(number, 0) > event.time
        return is_later and number not in _written(self._q, event.place)


def _written(q: Question, place: Place | None) -> set[complex]:
    """Return the numbers in a program and in the program that asks, apart from where these bind the source."""
    trees = {text_of(place)[0], text_of(q.program.place)[0]}
    return set().union(*(_numbers_in(tree, q.source_name) for tree in trees))


@lru_cache(64)
def _numbers_in(tree: ast.Module, source: str) -> frozenset[complex]:
    numbers = list[complex]()
    bound = list[complex]()
    for node in ast.walk(tree):
        match node:
            case ast.Constant(int() | float() | complex() as number):
                numbers.append(number)
            case ast.Assign([ast.Name(name)], ast.Constant(int() | float() as number)) if (
                name == source
            ):
                bound.append(number)
    for number in bound:
        numbers.remove(number)
    return frozenset(map(complex, numbers))


def _converted(q: Question, event: Event) -> Any:
    """Return the value that was converted, or None if it isn't known."""
    if id_of(q.source) == event.number:
        return unwrap(q.source)
    return q.snapshot.results.get(event.number)


def _value_of(q: Question, event: Event, name: str) -> Any:
    """Return the plain number from a conversion, or None if it isn't known."""
    for record in map(Record._make, q.snapshot.records):
        if record.output_id == event.number and has_numbers(record.output):
            return None if record.output.ndim else record.output
    # If the line ran several times, the name has only the last number.
    once = sum(event_there.place == event.place for event_there in q.snapshot.events) == 1
    bound = q.program.namespace.get(name) if once else None
    return bound if isinstance(bound, (float, np.floating)) else None


def _spread(record: Record, value: Any) -> Any:
    """Repeat a number for each element that an operation computes, so that contributions stay separate."""
    each = isinstance(record.operation.function, np.ufunc) and not record.params
    return np.full(record.output.shape if each else (), value)[()]


def _name(place: Place | None) -> str:
    """Return the name that a line assigns the plain number to, or ''."""
    names = []
    for statement in on_line(*text_of(place)):
        match statement:
            case ast.Assign([ast.Name() | ast.Attribute() as target], ast.Call()):
                names.append(ast.unparse(target))
    return names[0] if len(names) == 1 else ""
