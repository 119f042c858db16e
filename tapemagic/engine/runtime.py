"""The running interpreter: its garbage collector, its output streams, and hidden state that cells share."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

_states: list[object] = []


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Pause the search for reference cycles in a block, or in a function that this decorates.

    Reports and programs consist of many objects that stay. The collector would search them for cycles again and again:
    with 10,000 operations, that takes up to a third of the time.

    Examples
    --------
    >>> import gc
    >>> with without_garbage_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Blocks may be nested, or your program may have disabled the collector itself.
        if was_enabled:
            gc.enable()


def register_global_state(state: T) -> T:
    """Declare and return an object as state of the whole program, such as a random generator.

    Every repeated run of a cell, as for a slider, restores it to its value before the first run.

    Examples
    --------
    >>> counts = register_global_state({"calls": 0})
    >>> any(state is counts for state in registered_states())
    True
    """
    _states.append(state)
    return state


def registered_states() -> list[object]:
    """Return the objects that were declared as state of the whole program, oldest first."""
    return list(_states)


def is_interactive(stream: Any) -> bool:
    """Return True if a person watches an output stream: in a terminal, or in a notebook whose front end takes input.

    Programs that execute notebooks, such as nbconvert and nbval, take no input, so they save no progress bars.
    """
    try:
        if stream.isatty():
            return True
    except (AttributeError, ValueError):
        return False
    if not type(stream).__module__.startswith("ipykernel") or "IPython" not in sys.modules:
        return False
    kernel = getattr(sys.modules["IPython"].get_ipython(), "kernel", None)
    # ipykernel has no public name for this. A front end sends allow_stdin=True with each cell if it can ask a person
    # for input(); nbclient, on which nbconvert and nbval are built, sends False.
    return bool(getattr(kernel, "_allow_stdin", False))
