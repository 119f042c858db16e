"""Sensitivity of a target to a number that left the tape: where it is zero, the gradient lacks nothing.

In a stable ``m + np.log(np.sum(np.exp(x - m)))`` with ``m = float(np.max(x))``, m cancels: the derivative with respect
to m is zero, and the gradient with respect to x is exact although m is a constant to the tape.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tapemagic.engine.events import Event, Place
from tapemagic.engine.recording import Record, silence
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap, wrap
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.program_text import on_line, reads_of, text_of
from tapemagic.explain.query import Question

CANCELS_RTOL = 1e-9
"""The sum of contributions, relative to the sum of their sizes, below which they cancel."""

FIRST_USE_ID = 2
"""The first of the ids that stand for the uses of the number: far below those of values."""


def is_insensitive(q: Question, event: Event, target: Any) -> bool:
    """Whether a target does not change, to first order, with the number that left the tape.

    True only if every use of the number is known: it has a name, and each time the program reads the name, the tape
    recorded an operation with that number as a constant.
    """
    recorded = [Record._make(plain) for plain in q.snapshot.records]
    name = _name(event.place)
    value = _value_of(q, event, name)
    reads = reads_of(event.place, name) if name else 0
    if value is None or not reads or not isinstance(target, Traced):
        return False
    records: list[Record] = []
    uses: list[Traced] = []
    made = q.ancestors.keys() | q.snapshot.ancestors(id_of(target), blocked=False).keys()
    for record in recorded:
        records.append(record)
        if isinstance(record.output_id, int) and record.output_id in made:
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
        found = [unwrap(g) for g in tape.gradient(target, uses) if g is not None]
    total = sum(np.sum(g) for g in found)
    size = sum(np.sum(np.abs(g)) for g in found)
    return bool(np.abs(total) <= CANCELS_RTOL * size)


def _value_of(q: Question, event: Event, name: str) -> Any:
    """The number that left the tape, or that was made of what left once, if it is known."""
    for record in map(Record._make, q.snapshot.records):
        if record.output_id == event.number and has_numbers(record.output):
            return None if record.output.ndim else record.output
    once = sum(other.place == event.place for other in q.snapshot.events) == 1
    held = q.program.namespace.get(name) if once else None
    return held if isinstance(held, (float, np.floating)) else None


def _spread(record: Record, value: Any) -> Any:
    """A number, once for each element that an operation computes, so that contributions are seen one by one."""
    each = isinstance(record.operation.function, np.ufunc) and not record.params
    return np.full(record.output.shape if each else (), value)[()]


def _name(place: Place | None) -> str:
    """The name under which a number left on a line; empty if there is none."""
    names = []
    for statement in on_line(*text_of(place)):
        match statement:
            case ast.Assign([ast.Name(name)], ast.Call()):
                names.append(name)
    return names[0] if len(names) == 1 else ""
