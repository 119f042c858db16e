"""Removal of values that no rule reads, and of records whose results nothing refers to any more, from a tape.

Dead results are found by counting the references to their id, which is an object of its own: the tensor that holds
the result refers to it, and so does every record that has it as an input. When only its own record and the tape's
table refer to it, the record is dropped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import absent
from tapemagic.engine.registry import NUMBERED

LIGHT, HEAVY = 1 << 19, 1 << 24
"""The bytes recorded before values that no rule reads are dropped, and before dead results are looked for."""

MANY = 1 << 12
"""The number of records at which dead results are first looked for."""


references = getattr(sys, "getrefcount", lambda _: sys.maxsize)


def _count_in_table() -> int:
    """The reference count of an id that only a record and the tape's table hold."""
    record = (None, int("1000000"))
    tracked = {record[-1]: record[-1]}
    count: int = references(record[-1])
    tracked.clear()
    return count


def _count_of_argument(held: Any) -> int:
    count: int = references(held)
    return count


def _count_of_new() -> int:
    """The reference count of an argument, inside a function, if its caller has two names for it."""
    dx = value = object()
    count = _count_of_argument(dx)
    del value
    return count


ALONE = _count_in_table()
"""The count ``references(record[-1])`` for the id of a result that nothing else refers to."""

_NEW = _count_of_new()


def sole(array: Any) -> bool:
    """Whether only the caller, who has two names for it, refers to an array: it may then be written into."""
    return array.base is None and references(array) <= _NEW


def drop_dead(records: list[Any], tracked: dict[int, int], first: int = 0) -> None:
    """Remove the records, from the position `first` on, that no gradient can need any more.

    The newest come first, so that a removed record no longer refers to its inputs when their records are checked.
    """
    position = len(records)
    some = False
    for record in islice(reversed(records), position - first):
        position -= 1
        if record[-1].__class__ is not tuple:
            if references(record[-1]) > ALONE:
                continue
            del tracked[record[-1]]
        else:
            if any(references(number) > ALONE + 1 for number in record[-1]):
                continue
            for number in record[-1]:
                del tracked[number]
        records[position] = None
        some = True
    if some:
        records[first:] = [record for record in records[first:] if record is not None]


def weight(records: Iterable[Any]) -> int:
    """The bytes of the arrays that records hold, each counted once, however many of them share it."""
    held: dict[int, int] = {}
    for _, values, _, _, output, _ in records:
        outputs = output if output.__class__ is tuple else (output,)
        for value in (*values, *outputs):
            if value.__class__ is np.ndarray and not is_lazy(value):
                base = value if value.base is None else value.base
                held[id(base)] = getattr(base, "nbytes", value.nbytes)
    return sum(held.values())


def slim(record: Any, tracked: Mapping[int, int]) -> Any:
    """A record with only those values that the rules of its tracked inputs read."""
    number, values, ids, params, output, output_id = record
    newest = output_id[0] if output_id.__class__ is tuple else output_id
    unread = NUMBERED[number].unread(tuple([tracked.get(i, sys.maxsize) <= newest for i in ids]))
    if not unread:
        return record
    kept = list(values)
    for position in unread:
        if position < 0:
            output = absent(output)
        else:
            kept[position] = absent(kept[position])
    return number, tuple(kept), ids, params, output, output_id
