"""Tracebacks that show only your own frames, without those of this package and of installed libraries."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType, TracebackType

from tapemagic.engine.events import origin_of


def keep_user_frames(error: BaseException, seen: set[int] | None = None) -> None:
    """Keep only user frames in the traceback of an error, of its causes, and of the errors in a group.

    If a library handled an error by raising another one, the handled error isn't shown.
    """
    # Causes and contexts may form a cycle (`raise a from b` and `raise b from a`), hence the ids of
    # visited errors.
    seen = set() if seen is None else seen
    if id(error) in seen:
        return
    seen.add(id(error))
    error.__traceback__ = _of_the_user(error.__traceback__)
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for other in (error.__cause__, error.__context__, *parts):
        if other is not None:
            keep_user_frames(other, seen)
    handled = error.__context__
    # Python would still print "During handling of the above exception ...", followed by an error
    # without any frame.
    if error.__cause__ is None and handled is not None and handled.__traceback__ is None:
        error.__suppress_context__ = True


def _of_the_user(trace: TracebackType | None) -> TracebackType | None:
    """Copy a traceback without the frames of this package and of installed libraries."""
    user_entries = [part for part in walk(trace) if is_user(part)]
    rest = None
    # tb_next of an existing entry can't be shared with other tracebacks, so the chain is rebuilt
    # from its end.
    for part in reversed(user_entries):
        rest = TracebackType(rest, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return rest


def clear_own_frames(error: BaseException, seen: set[int] | None = None) -> None:
    """Drop the variables of this package's functions that have ended with an error.

    A traceback keeps the frames of your program, these the frames that called them, and those a whole recording.
    """
    seen = set() if seen is None else seen
    if id(error) in seen:
        return
    seen.add(id(error))
    for part in walk(error.__traceback__):
        frame: FrameType | None = part.tb_frame
        while frame is not None:
            if origin_of(frame.f_code.co_filename) is None:
                try:
                    frame.clear()
                except RuntimeError:  # it still runs, and so do all that called it
                    break
            frame = frame.f_back
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for other in (error.__cause__, error.__context__, *parts):
        if other is not None:
            clear_own_frames(other, seen)


def walk(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the entries of a traceback, from the outermost call to the one that raised the error."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def is_user(trace: TracebackType) -> bool:
    """Return True if an entry of a traceback is in a user file or in a notebook cell."""
    return origin_of(trace.tb_frame.f_code.co_filename) == ""
