"""Who still holds an object, by Python's own count: nobody is asked, and nothing is kept to know it.

What the counts are for objects that nobody else holds is found out once, by the same calls, since Python's
versions differ. Where Python does not count, everything counts as held.
"""

from __future__ import annotations

import sys
from typing import Any

references = getattr(sys, "getrefcount", lambda _: sys.maxsize)


def _count_in_table() -> int:
    """How often a number is referred to that only a record and the tape's table know."""
    record = (None, int("1000000"))
    tracked = {record[-1]: record[-1]}
    count: int = references(record[-1])
    tracked.clear()
    return count


def _count_of_argument(held: Any) -> int:
    count: int = references(held)
    return count


def _count_of_new() -> int:
    """How often an object is referred to, in a function that it is given to, if the caller has two names for it."""
    dx = value = object()
    count = _count_of_argument(dx)
    del value
    return count


ALONE = _count_in_table()
"""What ``references(record[-1])`` gives for the number of a result that nobody can reach any more."""

_NEW = _count_of_new()


def sole(array: Any) -> bool:
    """Whether nobody but the caller, who has two names for it, holds an array: it may then be written into."""
    return array.base is None and references(array) <= _NEW
