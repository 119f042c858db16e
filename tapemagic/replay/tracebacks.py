"""Tracebacks of programs that point at the user's own lines."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from tapemagic.engine.tracebacks import walk
from tapemagic.replay.program import Site


def point_at_user(
    error: BaseException, file: str, sites: Mapping[int, Site], functions: Mapping[Any, str]
) -> None:
    """Put the user's statements in the place of the lines of a program, in the traceback of an error.

    Parameters
    ----------
    error : BaseException
    file : str
        The name under which the program was compiled.
    sites : dict of int to Site
        The user's statement behind each line of the program.
    functions : dict of (str, int) to str
        The names of the functions in which the statements stand, by files and lines.
    """
    found = list(walk(error.__traceback__))
    rest: TracebackType | None = None
    for part in reversed(found):
        site = sites.get(part.tb_lineno) if part.tb_frame.f_code.co_filename == file else None
        place = part if site is None else _entry(site, functions)
        rest = TracebackType(rest, place.tb_frame, place.tb_lasti, place.tb_lineno)
    error.__traceback__ = rest


def _entry(site: Site, functions: Mapping[Any, str]) -> TracebackType:
    """An entry of a traceback at a statement: that of code which is compiled to fail there."""
    name = functions.get((site.file, site.line), "<module>")
    code = compile("\n" * (site.line - 1) + "raise KeyError", site.file, "exec")
    try:
        exec(code.replace(co_name=name, co_qualname=name), {})  # noqa: S102 (the text is our own)
    except KeyError as error:
        entry = error.__traceback__
    return entry.tb_next  # type: ignore[return-value, union-attr]
