"""Reference counts of CPython: whether anything else refers to an object.

The counts of objects without other references are measured once, by the same calls, since Python's versions differ.
Where Python does not count references, every object counts as referred to.
"""

from __future__ import annotations

import sys
from typing import Any

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
