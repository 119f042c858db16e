"""Misses: the reasons why a program did not match a call."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tapemagic.engine.effects import ATTEMPT
from tapemagic.programs.text.source import Retrace


class Miss:
    """Returned by a driver instead of a result: why the program did not match.

    - `guard`: The number of the guard that failed, counted from 1, or 0 if the arguments or a reachable object differ.
    - `program`: The program whose guard failed.
    - `error`: Type of Exception, or None. The class of the error that the program raised.
    - `attempt`: Attempt or None. The effects of the program before it ended.
    """

    __slots__ = ("attempt", "error", "guard", "program")

    def __init__(
        self,
        guard: int,
        program: Any = None,
        error: type[Exception] | None = None,
        attempt: Any = None,
    ) -> None:
        self.guard = guard
        self.program = program
        self.error = error
        self.attempt = attempt


MISS = Miss(0)
STALE = Miss(0)
"""Returned by a driver if the arguments differ, and if only an object that the function reads does."""

CHANGED = (LookupError, AttributeError, TypeError, ValueError)
"""The errors that checks raise if an object that the function reads no longer exists."""


def miss_from_error(parts: Sequence[tuple[int, object]]) -> Miss:
    """Return the miss for the current error, which a line of a driver raised.

    - `parts`: Sequence of (int, Miss, Compiled or None). The first line of each part of the driver, and its meaning:
      `STALE` for the guards, `MISS` for other checks, the program itself for its statements, None for the lines that
      wrap its results.
    """
    error: Any = sys.exception()
    # The line of the driver tells the part, so the parts need no `try` blocks of their own.
    line = error.__traceback__.tb_lineno
    running: object = next(part for start, part in reversed(parts) if start <= line)
    # A guard reads an attribute or item that is gone: it has changed.
    if running is STALE and isinstance(error, CHANGED):
        return STALE
    if running is None or isinstance(running, Miss):
        raise error
    attempt = error.__dict__.pop(ATTEMPT, None)
    if isinstance(error, Retrace):
        return Miss(error.args[0], running, attempt=attempt)
    return Miss(0, running, type(error), attempt)
