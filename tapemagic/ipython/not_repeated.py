"""Refuse in further runs of a cell everything that cannot be undone: writing files, programs, connections, asking."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import IOBase
from pathlib import Path
from threading import get_ident
from typing import Any

from tapemagic.engine.events import user_line
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.explain.formatting import clipped, printable

WRITING = frozenset("wax+")
"""The letters of a mode with which ``open`` writes."""
FILES = "remove rename rmdir mkdir symlink link truncate chmod chown utime"
PROGRAMS = "system fork forkpty posix_spawn exec spawn startfile"
PROBLEMS: Mapping[str, str] = {
    **{f"os.{name}": "changes the file {}" for name in FILES.split()},
    **{f"os.{name}": "runs another program" for name in PROGRAMS.split()},
    "subprocess.Popen": "runs another program",
    "socket.connect": "opens a connection",
    "socket.sendto": "opens a connection",
    "sqlite3.connect": "opens the database {}",
    "builtins.input": "asks with input()",
}
"""The audit events of Python that cannot be undone, and how to say them."""
MAX_PATH = 40

refused_by_thread: dict[int, list[str]] = {}
"""The reasons of refusals, by the identity of each thread that must not do anything twice."""


class NotRepeatedError(BaseException):
    """Raised in place of what cannot be undone; the message is the reason why the cell isn't run again.

    No Exception, because a cell may catch those.
    """


def unrepeatable(objects: Iterable[Any]) -> str:
    """Return the reason why a cell that uses some objects can't be set back, or ''.

    Examples
    --------
    >>> unrepeatable([1.0, iter([1, 2])])
    'it uses an iterator (list_iterator), which runs cannot set back'
    >>> unrepeatable([1.0, [2.0]])
    ''
    """
    artist = getattr(sys.modules.get("matplotlib.artist"), "Artist", ())
    for x in objects:
        kind = type(x).__name__
        if isinstance(x, IOBase) and not x.closed:
            return f"it uses an open file ({kind}), which runs cannot set back"
        if isinstance(x, artist):
            return f"it draws into a picture of another cell ({kind})"
        # By the type: an object may have an attribute for every name. Tensors have a __next__ for no loop.
        if hasattr(type(x), "__next__") and not isinstance(x, Traced):
            return f"it uses an iterator ({kind}), which runs cannot set back"
    return ""


@contextmanager
def nothing_twice(namespace: dict[str, Any]) -> Iterator[list[str]]:
    """Refuse what cannot be undone in this thread: writing files, starting programs, connections, asking.

    Python reports these to audit hooks (PEP 578), so what a library writes in C isn't seen.

    - `namespace`: The names of the cell, in which ``input`` is replaced: notebooks ask by a function of their own.

    Yields the list of what was refused.
    """
    _add_hook()
    thread, refused = get_ident(), list[str]()
    refused_by_thread[thread] = refused
    own = namespace.get("input")
    namespace["input"] = _ask
    try:
        yield refused
    finally:
        del refused_by_thread[thread]
        if namespace.get("input") is _ask:
            del namespace["input"]
        if own is not None:
            namespace["input"] = own


@cache
def _add_hook() -> None:
    """Add the audit hook. Python can't remove one, so it is added by the first check, and waits for others."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not refused_by_thread or get_ident() not in refused_by_thread:
        return
    if event == "open":
        path, mode, flags = arguments
        flagged = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        writes = WRITING & set(mode) if isinstance(mode, str) else (flags or 0) & flagged
        if writes:
            _refuse(f"writes the file {_shown(path)}")
    elif event in PROBLEMS:
        _refuse(PROBLEMS[event].format(_shown(arguments[0]) if arguments else ""))


def _ask(_prompt: object = "", /) -> str:
    _refuse("asks with input()")
    return ""


def _refuse(what: str) -> None:
    place = user_line()
    where = f" (line {place.line})" if place else ""
    refused = refused_by_thread[get_ident()]
    refused.append(f"it {what}{where}, which cannot be undone")
    raise NotRepeatedError(refused[-1])


def _shown(path: Any) -> str:
    """Return the name of a file without its folders."""
    try:
        return clipped(printable(repr(Path(os.fsdecode(path)).name)), MAX_PATH)
    except TypeError:
        return clipped(printable(repr(path)), MAX_PATH)
