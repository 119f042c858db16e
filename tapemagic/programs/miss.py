"""Misses: the ways on from a program that does not hold for a call."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tapemagic.programs.text.source import Retrace


class Miss:
    """Returned by a driver in the place of a result: why the program does not hold.

    Attributes
    ----------
    guard : int
        The number of the guard that failed, counted from 1; 0 if the arguments or what the function closes over differ.
    program : Compiled or None
        The program whose guard failed.
    error : type of Exception, or None
        The class of what the program raised.
    """

    __slots__ = ("error", "guard", "program")

    def __init__(
        self, guard: int, program: Any = None, error: type[Exception] | None = None
    ) -> None:
        self.guard = guard
        self.program = program
        self.error = error


MISS = Miss(0)
STALE = Miss(0)
"""The results of a driver if the arguments differ, and if only something that the function closes over does."""

CHANGED = (LookupError, AttributeError, TypeError, ValueError)
"""The errors that checks raise if something that a function closes over is not there any more."""


def failure(parts: Sequence[tuple[int, object]]) -> Miss:
    """The way on after a line of a driver raised the error that is handled now.

    Parameters
    ----------
    parts : sequence of (int, Miss, Compiled or None)
        The first lines of the parts of the driver, and what each part is: `STALE` stands for the checks of what the
        function closes over, `MISS` for others; a program, of which a guard may have failed, or a call; None for what
        makes its results what they are outside of it.
    """
    error: Any = sys.exception()
    line = error.__traceback__.tb_lineno
    running: object = next(part for start, part in reversed(parts) if start <= line)
    if running is STALE and isinstance(error, CHANGED):
        return STALE
    if running is None or isinstance(running, Miss):
        raise error
    if isinstance(error, Retrace):
        return Miss(error.args[0], running)
    return Miss(0, running, type(error))
