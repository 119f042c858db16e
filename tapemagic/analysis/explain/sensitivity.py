"""Sensitivity of a target to a number that left the tape: where it is zero, the gradient lacks nothing.

In a stable ``m + np.log(np.sum(np.exp(x - m)))`` with ``m = float(np.max(x))``, m cancels: the derivative with respect
to m is zero, and the gradient with respect to x is exact although m is a constant to the tape.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tapemagic.analysis.explain.program_text import on_line, reads_of, text_of
from tapemagic.analysis.explain.query import Question
from tapemagic.engine.events import Event, Place
from tapemagic.engine.recording import Absent, Record, silence
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap, wrap

CLOSE = 1e-9
"""The sum of contributions, relative to the sum of their sizes, below which they cancel."""

FIRST = 2
"""The first of the ids that stand for the uses of the number: far below those of values."""


def is_insensitive(q: Question, event: Event, target: Any) -> bool:
    """Whether a target does not change, to first order, with the number that left the tape.

    True only if every use of the number is known: it has a name, and each time the program reads the name, the tape
    recorded an operation with that number as a constant.
    """
    value = _value_of(q, event)
    reads = _reads(event.place)
    if value is None or not reads or not isinstance(target, Traced):
        return False
    records: list[Record] = []
    uses: list[Traced] = []
    made = q.above.keys() | q.evidence.above(id_of(target), blocked=False).keys()
    for plain in q.evidence.records:
        record = Record._make(plain)
        on_the_way = isinstance(record.output_id, int) and record.output_id in made
        positions = [k for k, i in enumerate(record.ids) if i <= 0] if on_the_way else []
        for k in positions:
            if _same(record.values[k], value):
                use = wrap(_spread(record, value), FIRST + len(uses))
                record = _replaced(record, k, use)
                uses.append(use)
        records.append(record)
    if len(uses) != reads or any(i <= FIRST + len(uses) for i in q.evidence.tracked):
        return False
    tracked = {**q.evidence.tracked, **{id_of(use): 1 for use in uses}}
    with silence(), np.errstate(all="ignore"):
        tape = q.evidence.with_records(records, tracked, q.evidence.leaves).tape()
        found = [unwrap(g) for g in tape.gradient(target, uses) if g is not None]
    total = sum(np.sum(g) for g in found)
    size = sum(np.sum(np.abs(g)) for g in found)
    return bool(np.abs(total) <= CLOSE * size)


def _value_of(q: Question, event: Event) -> Any:
    """The number that left the tape, if it was one, and the records keep it."""
    for record in map(Record._make, q.evidence.records):
        if record.output_id == event.number:
            known = not isinstance(record.output, Absent) and not record.output.ndim
            return record.output if known else None
    return None


def _reads(place: Place | None) -> int:
    """The number of times that a program reads the name under which a number left, to compute with it."""
    tree, line = text_of(place)
    match on_line(tree, line):
        case [ast.Assign([ast.Name(name)], ast.Call())]:
            return reads_of(tree, name)
    return 0


def _same(constant: Any, value: Any) -> bool:
    if isinstance(constant, (int, Absent)) or np.ndim(constant):
        return False
    return bool(constant == value)


def _spread(record: Record, value: Any) -> Any:
    """A number, once for each element that an operation computes, so that contributions are seen one by one."""
    if isinstance(record.operation.function, np.ufunc) and not record.params:
        return np.full(record.output.shape, value)
    return np.asarray(value)[()]


def _replaced(record: Record, position: int, use: Any) -> Record:
    """A record with a differentiable input in the place of a constant."""
    values, ids = list(record.values), list(record.ids)
    values[position], ids[position] = unwrap(use), id_of(use)
    return record._replace(values=tuple(values), ids=tuple(ids))
