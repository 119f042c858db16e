"""Refuse in further runs of a cell everything that cannot be undone: writing files, programs, connections, asking."""

from __future__ import annotations

import builtins
import io
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Any

from IPython.core import interactiveshell

from tapemagic.engine.events import user_line
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.explain.formatting import clipped, printable

WRITING = frozenset("wax+")
"""The letters of a mode with which ``open`` writes."""
FILES = "remove unlink rename replace rmdir mkdir symlink link truncate chmod utime mkfifo"
"""The functions of `os` that change files."""
PROGRAMS = "system popen fork forkpty posix_spawn posix_spawnp"
"""The functions of `os` that start programs."""
MAX_PATH = 40


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
        if isinstance(x, io.IOBase) and not x.closed:
            return f"it uses an open file ({kind}), which runs cannot set back"
        if isinstance(x, artist):
            return f"it draws into a picture of another cell ({kind})"
        # By the type: an object may have an attribute for every name. Tensors have a __next__ for no loop.
        if hasattr(type(x), "__next__") and not isinstance(x, Traced):
            return f"it uses an iterator ({kind}), which runs cannot set back"
    return ""


@contextmanager
def nothing_twice() -> Iterator[list[str]]:
    """Refuse what cannot be undone in this thread: writing files, starting programs, connections, asking.

    Yields the list of what was refused. Seen is what goes through Python's own functions, and not, for instance,
    what a library writes in C.
    """
    thread, refused = get_ident(), list[str]()
    replaced: list[tuple[Any, str, Any]] = []

    def refuse(what: str) -> None:
        place = user_line()
        where = f" (line {place.line})" if place else ""
        refused.append(f"it {what}{where}, which cannot be undone")
        raise NotRepeatedError(refused[-1])

    def guard(owner: Any, name: str, problem: Callable[..., str]) -> None:
        original = getattr(owner, name)
        replaced.append((owner, name, vars(owner).get(name)))

        def guarded(*args: Any, **options: Any) -> Any:
            if get_ident() == thread and (what := problem(*args, **options)):
                refuse(what)
            return original(*args, **options)

        setattr(owner, name, guarded)

    # What ran once must not run twice: these functions are the doors through which Python code reaches the world.
    try:
        guard(builtins, "open", _opened)
        guard(io, "open", _opened)
        # The name open in a notebook is IPython's, which holds the function itself.
        guard(interactiveshell, "io_open", _opened)
        guard(builtins, "input", lambda *_: "asks with input()")
        guard(os, "open", _opened_by_flags)
        for name in filter(partial(hasattr, os), FILES.split()):
            guard(os, name, lambda path="", *_, **__: f"changes the file {_shown(path)}")
        for name in filter(partial(hasattr, os), PROGRAMS.split()):
            guard(os, name, lambda *_, **__: "runs another program")
        guard(subprocess.Popen, "__init__", lambda *_, **__: "runs another program")
        guard(socket.socket, "connect", lambda *_: "opens a connection")
        yield refused
    finally:
        for owner, name, before in reversed(replaced):
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def _opened(file: Any = "", mode: Any = "r", *_: Any, **__: Any) -> str:
    """Return the words for a file that ``open`` would write, or ''."""
    return f"writes the file {_shown(file)}" if WRITING & set(str(mode)) else ""


def _opened_by_flags(file: Any = "", flags: int = 0, *_: Any, **__: Any) -> str:
    """Return the words for a file that ``os.open`` would write, or ''."""
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    return f"writes the file {_shown(file)}" if flags & writing else ""


def _shown(path: Any) -> str:
    """Return the name of a file without its folders."""
    try:
        return clipped(printable(repr(Path(os.fsdecode(path)).name)), MAX_PATH)
    except TypeError:
        return clipped(printable(repr(path)), MAX_PATH)
