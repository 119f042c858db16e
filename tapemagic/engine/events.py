"""Events of a tape beside its operations, which explain missing gradients: conversions, assignments, pauses."""

from __future__ import annotations

import linecache
import os
import re
import sys
from functools import cache
from types import CodeType
from typing import Any, Literal, NamedTuple

from tapemagic.engine.recording import live

MOST = 32
"""The number of events of one line that a tape keeps: the first ones."""

Kind = Literal["exit", "text", "assigned", "changed", "paused", "reset"]

PACKAGES = f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"
"""Folders into which libraries are installed, wherever they are."""

EVALUATED = "<string>"
"""The file of all texts that Python evaluates."""

CELL_FILE = re.compile(r"<ipython-input-|ipykernel_\d+")
"""The file names of notebook cells."""

PROGRAMS = "<tapemagic "
"""The beginning of the names under which this package compiles programs."""


class Place(NamedTuple):
    """A line of the user's program, and the library that it called, if it called one.

    Attributes
    ----------
    file : str
    line : int
    library : str
        Empty if the line itself did it.
    caller : str
        The library that called the function in which the line is; empty if the program itself did.
    """

    file: str
    line: int
    library: str
    caller: str = ""


class Event(NamedTuple):
    """A conversion, an assignment or an interruption that a tape cannot differentiate.

    Attributes
    ----------
    kind : {'exit', 'text', 'assigned', 'changed', 'paused', 'reset'}
        A value was converted to something that no tape can follow; it was converted to text or bytes; a variable was
        given it, or changed by it; recording was stopped for a while; all records were dropped.
    number : int
        The number of the value or of the variable, or the time at which the pause or the reset began.
    what : object
        The name of the conversion, the number of the assigned value, the time at which the pause ended, or the
        numbers of the values that were watched.
    place : Place or None
    time : int
        By the clock that numbers values.
    """

    kind: Kind
    number: int
    what: Any
    place: Place | None
    time: int


def record_exit(x: Any, how: str) -> None:
    """Record that a tensor is converted, by a call named `how`, to something that no tape can follow."""
    tapes = live()
    if not tapes:
        return
    i = x._read()._id
    for tape in tapes:
        if i in tape._tracked:
            tape._record_event("exit", i, how)


def record_text(x: Any, how: str) -> None:
    """Record that a tensor is written as text or bytes, by a call named `how`, without counting as a read of it.

    A trainable variable may be tracked later: that of its text is recorded in any case.
    """
    for tape in live():
        if x._id in tape._tracked or getattr(x, "trainable", False):
            tape._record_event("text", x._id, how)


def user_line() -> Place | None:
    """The line of the user's program that is running; None where there is none, as in a thread of a library."""
    frame = sys._getframe(1)
    library = ""
    while frame is not None:
        file = frame.f_code.co_filename
        origin = origin_of(file)
        if origin is not None and not is_made(frame.f_code):
            if not origin:
                return Place(file, frame.f_lineno, library, _caller_of(frame))
            library = origin
        frame = frame.f_back  # type: ignore[assignment]
    return None


def is_made(code: CodeType) -> bool:
    """Whether a method is one that Python makes of a text, as for dataclasses: its lines say nothing to anyone."""
    return code.co_filename == EVALUATED and code.co_name.startswith("__")


def outer_frame() -> int:
    """The identity of the innermost frame that is not of this package; 0 where there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if origin_of(frame.f_code.co_filename) is not None:
            return id(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return 0


def _caller_of(frame: Any) -> str:
    """The installed library through which a file calls a function of its own, such as one to be minimized."""
    file, library = frame.f_code.co_filename, ""
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
        origin = origin_of(frame.f_code.co_filename)
        if origin:
            library = library or origin
        elif library and frame.f_code.co_filename == file:
            return "" if library in sys.stdlib_module_names else library
    return ""


def source_lines(file: str, module: dict[str, Any] | None = None) -> list[str]:
    """The lines of a file, as far as they are known; none of ``<string>``, as Python calls every text it evaluates.

    From Python 3.13 on, the module linecache takes all of these for the text behind ``python -c``.
    """
    return [] if file == EVALUATED else linecache.getlines(file, module)


def source_line(place: Place) -> str:
    """The text of a line of a program; empty if it is not known."""
    return "".join(source_lines(place.file)[place.line - 1 : place.line])


@cache
def origin_of(file: str) -> str | None:
    """The name of the library to which a file belongs; empty for the user's own files, None for this package.

    A library is the standard library, or a package that was installed: below a ``site-packages`` or ``dist-packages``
    anywhere, in an egg or an archive of ``sys.path``, or beside its metadata in a folder of ``sys.path``, as
    ``pip install --target`` leaves it. A module beside the notebook, or in a folder of one's own on ``PYTHONPATH``, is
    the user's.
    """
    if file.startswith((_own_folder(), PROGRAMS)):
        return None
    if file.startswith("<"):
        return "python" if file.startswith("<frozen") else ""
    for folder in PACKAGES:
        if folder in file:
            return _top(file.rpartition(folder)[2])
    for folder in _standard_folders():
        if file.startswith(folder):
            return _top(file.removeprefix(folder))
    return _installed(file)


@cache
def _own_folder() -> str:
    """The folder of this package."""
    from pathlib import Path

    return f"{Path(__file__).absolute().parent.parent}{os.sep}"


@cache
def _standard_folders() -> tuple[str, ...]:
    """The folders of the standard library."""
    import sysconfig
    from pathlib import Path

    paths = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return tuple({f"{path}{os.sep}" for path in (*paths, str(Path(os.__file__).parent)) if path})


def _top(path: str) -> str:
    """The name that imports a file, by its path below the folder of libraries; of an egg, what is in it."""
    first, _, rest = path.partition(os.sep)
    if rest and first.endswith((".egg", ".zip", ".whl")):
        return _top(rest)
    return first.removesuffix(".py").removesuffix(".pyc")


def _installed(file: str) -> str:
    """The library to which a file elsewhere belongs, by the metadata beside it; empty if there is none."""
    folder = max((f for f in map(_folder, sys.path) if file.startswith(f)), key=len, default="")
    if not folder:
        return ""
    name = _top(file.removeprefix(folder))
    packed = folder.rstrip(os.sep).endswith((".egg", ".zip", ".whl"))
    return name if packed or name in _packages_in(folder) else ""


def _folder(entry: str) -> str:
    """An entry of ``sys.path`` as the beginning of paths."""
    from pathlib import Path

    return str(Path(entry).absolute()).rstrip(os.sep) + os.sep


@cache
def _packages_in(folder: str) -> frozenset[str]:
    """The packages in a folder that were installed there, by their metadata."""
    from pathlib import Path

    if not any(
        path.suffix in (".dist-info", ".egg-info") for path in Path(folder).glob("*.*-info")
    ):
        return frozenset()
    from importlib.metadata import distributions

    found: set[str] = set()
    for distribution in distributions(path=[folder]):
        names = (distribution.read_text("top_level.txt") or "").split()
        files = (_top(str(path)) for path in distribution.files or () if path.suffix == ".py")
        found.update(names or files)
    return frozenset(found)
