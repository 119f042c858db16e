"""Program state: objects of this package that cells change without naming them, such as a global random generator."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

_states: list[object] = []


def register(state: T) -> T:
    """Make an object known as state of the whole program, which every repeated run of a cell begins with anew.

    Examples
    --------
    >>> counts = register({"calls": 0})
    >>> any(state is counts for state in registered())
    True
    """
    _states.append(state)
    return state


def registered() -> list[object]:
    """All objects that were made known, oldest first."""
    return list(_states)
