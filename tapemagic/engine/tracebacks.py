"""Tracebacks of the user's frames alone, without those of this package and of other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from tapemagic.engine.events import origin_of


def free_of_others(error: BaseException, seen: set[int] | None = None) -> None:
    """Leave the user's frames alone in the traceback of an error, and in those of its causes and parts.

    An error within a library, which it handled by raising another one, is not shown.
    """
    seen = set() if seen is None else seen
    if id(error) in seen:
        return
    seen.add(id(error))
    error.__traceback__ = _of_the_user(error.__traceback__)
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for other in (error.__cause__, error.__context__, *parts):
        if other is not None:
            free_of_others(other, seen)
    handled = error.__context__
    if error.__cause__ is None and handled is not None and handled.__traceback__ is None:
        error.__suppress_context__ = True


def _of_the_user(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package and of other libraries."""
    kept = [part for part in walk(trace) if is_user(part)]
    rest = None
    for part in reversed(kept):
        rest = TracebackType(rest, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return rest


def walk(trace: TracebackType | None) -> Iterator[TracebackType]:
    """The entries of a traceback, from the outermost call to the place of the error."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def is_user(trace: TracebackType) -> bool:
    """Whether an entry of a traceback is in a file or a cell of the user's."""
    return origin_of(trace.tb_frame.f_code.co_filename) == ""
