"""Removal of recorded values that no rule reads, and of records whose results nothing refers to anymore.

Dead results are found by reference counts: an id is a separate integer object, to which the tensor with the result
refers, and every record that has it as an input. A record is dropped when nothing but itself and the tape's table
refers to its id.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import SMALL, absent
from tapemagic.engine.registry import NUMBERED

# Looking at records costs time, keeping them costs memory. Half a megabyte of new values is worth a look for unread
# ones, which is cheap. Counting references is dearer, so it waits for 16 MB of values that rules read, or for 4,096
# records. `BaseTape._drop_dead` then doubles these limits with the amount that it found alive, so the total time stays
# proportional to the length of the tape.
SLIM_AFTER_BYTES, PRUNE_AFTER_BYTES = 1 << 19, 1 << 24
"""The bytes recorded before values that no rule reads are dropped, and before dead results are looked for."""

PRUNE_AFTER_RECORDS = 1 << 12
"""The number of records before dead results are looked for."""


reference_count = getattr(sys, "getrefcount", lambda _: sys.maxsize)


def _count_in_table() -> int:
    """Return the reference count of an id to which only a record and the tape's table refer."""
    record = (
        None,
        int("1000000"),
    )  # int() creates an object; a literal would be shared as a constant of the code
    tracked = {record[-1]: record[-1]}
    count: int = reference_count(record[-1])
    tracked.clear()
    return count


def _count_of_argument(argument: Any) -> int:
    count: int = reference_count(argument)
    return count


def _count_of_new() -> int:
    """Return the reference count of an argument inside a function, if its caller has two names for the object."""
    dx = value = object()
    count = _count_of_argument(dx)
    del value
    return count


COUNT_IN_TABLE = _count_in_table()
"""The value of ``reference_count(record[-1])`` for the id of a result that nothing else refers to.

These counts are measured at import because Python versions count differently: in 3.14, passing a local variable to a
function no longer adds a reference.
"""

_COUNT_OF_UNSHARED = _count_of_new()


def is_unshared(array: Any) -> bool:
    """Return True if only the caller, which has two names for it, refers to an array, so it may be written into."""
    return array.base is None and reference_count(array) <= _COUNT_OF_UNSHARED


def drop_dead(records: list[Any], tracked: dict[int, int], first: int = 0) -> None:
    """Remove the records, starting at position `first`, that no gradient can need anymore.

    Newest first: a removed record no longer refers to its inputs when the records of these are checked.
    """
    position = len(records)
    found_dead = False
    for record in islice(reversed(records), position - first):
        position -= 1
        if record[-1].__class__ is not tuple:
            if reference_count(record[-1]) > COUNT_IN_TABLE:
                continue
            del tracked[record[-1]]
        else:
            # The tuple of ids is one more reference to each of them.
            if any(reference_count(number) > COUNT_IN_TABLE + 1 for number in record[-1]):
                continue
            for number in record[-1]:
                del tracked[number]
        records[position] = None
        found_dead = True
    if found_dead:
        records[first:] = [record for record in records[first:] if record is not None]


def bytes_held(records: Iterable[Any]) -> int:
    """Return the size of the arrays in records, in bytes; an array that several records share counts once."""
    base_sizes: dict[int, int] = {}
    for _, values, _, _, output, _ in records:
        outputs = output if output.__class__ is tuple else (output,)
        for value in (*values, *outputs):
            if value.__class__ is np.ndarray and not is_lazy(value):
                base = value if value.base is None else value.base
                base_sizes[id(base)] = getattr(base, "nbytes", value.nbytes)
    return sum(base_sizes.values())


def without_unread(record: Any, tracked: Mapping[int, int]) -> Any:
    """Return a record with only the values that the rules of its tracked inputs read."""
    number, values, ids, params, output, output_id = record
    newest = output_id[0] if output_id.__class__ is tuple else output_id
    operation = NUMBERED[number]
    unread = operation.unread(tuple([tracked.get(i, sys.maxsize) <= newest for i in ids]))
    # Small values stay anyway, and traced or lazy ones must not be looked at.
    if operation.suffices and type(output) is np.ndarray and output.nbytes > SMALL:
        unread += (0,) * operation.suffices(output)
    if not unread:
        return record
    kept = list(values)
    for position in unread:
        if position < 0:
            output = absent(output)
        else:
            kept[position] = absent(kept[position])
    return number, tuple(kept), ids, params, output, output_id
