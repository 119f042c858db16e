"""The user's line in the traceback of an error that a program raised."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from tapemagic.replay.program import Site


def with_user_line(
    error: BaseException, file: str, sites: Mapping[int, Site | None]
) -> BaseException:
    """An error whose traceback ends with the user's line, in the place of that of the program.

    Parameters
    ----------
    error : BaseException
    file : str
        That of the program.
    sites : mapping of int to Site
        The user's lines behind those of the program.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != file:
        trace = trace.tb_next
    site = sites.get(trace.tb_lineno) if trace is not None else None
    if trace is None or site is None:
        return error
    shown = _traceback_at(site, trace.tb_frame.f_code.co_name)
    return error.with_traceback(shown)


def _traceback_at(site: Site, name: str) -> TracebackType | None:
    """A traceback of one entry, at a line of the user's."""
    code: Any = compile("\n" * (site.line - 1) + "raise StopIteration", site.file, "exec")
    code = code.replace(co_name=name, co_qualname=name)
    try:
        exec(code, {})  # noqa: S102 (one statement of our own)
    except StopIteration:
        trace = sys.exc_info()[2]
        return trace.tb_next if trace is not None else None
    return None
