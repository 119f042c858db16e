"""Events on a tape, in addition to operations: conversions, assignments and pauses explain missing gradients."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from types import CodeType
from typing import Any, Literal, NamedTuple

from tapemagic.engine.recording import live, open_blocks, tapes_of_threads

MAX_EVENTS_PER_LINE = 32
"""The maximum number of events per source line that a tape keeps, the first ones."""

Kind = Literal["exit", "text", "assigned", "changed", "paused", "reset"]

PACKAGES = f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"
"""Parts of paths that mark folders of installed libraries."""

EVALUATED = "<string>"
"""The file name of code that Python compiled from a string, for example with `exec`."""

CELL_FILE = re.compile(r"<ipython-input-|ipykernel_\d+")
"""The file names of notebook cells."""

PROGRAMS = "<tapemagic "
"""The start of the file names of programs that this package compiles."""


class Place(NamedTuple):
    """A line of your program, and the library that it called, if any.

    - `library`: Empty if the line itself caused the event.
    - `caller`: The library that called the function on this line, or '' if your program called it.
    """

    file: str
    line: int
    library: str
    caller: str = ""


class Event(NamedTuple):
    """A conversion, an assignment or an interruption that a tape can't differentiate.

    - `kind`: {'exit', 'text', 'assigned', 'changed', 'paused', 'reset'}. A value was converted to something that no
      tape can follow, or to text or bytes; a variable was assigned a value, or changed in place; recording was paused;
      all records were dropped.
    - `number`: The number of the value or of the variable, or the time at which the pause or the reset began.
    - `what`: The name of the conversion, the number of the assigned value, the time at which the pause ended, or the
      numbers of the values that were watched.
    - `time`: The time, by the clock that also numbers values.
    """

    kind: Kind
    number: int
    what: Any
    place: Place | None
    time: int


def is_flat(event: Event) -> bool:
    """Return True if a conversion changes in steps, so that it loses no part of a derivative."""
    what = str(event.what)
    # np.asarray only converts; every other np. or scipy. name here is a function without a rule, such as np.argmax.
    by_function = what.startswith(("np.", "scipy.")) and what != "np.asarray"
    return by_function or " to " in what or what == "int()"


def record_exit(x: Any, how: str) -> None:
    """Record that the call `how` converts a tensor to something that no tape can follow.

    A tape doesn't record the operations of other threads, but what these convert may come back.
    """
    tapes: Sequence[Any] = live()
    if not (tapes or open_blocks):
        return
    i = x._read()._id
    # A tape begins to track a Variable when this thread reads it, which it may do later.
    is_read_later = not tapes and getattr(x, "trainable", False)
    for tape in tapes or tapes_of_threads():
        if is_read_later or i in tape._tracked:
            tape._record_event("exit", i, how)


def record_text(x: Any, how: str) -> None:
    """Record that the call `how` converts a tensor to text or bytes, without counting it as a read of the tensor.

    The event of a trainable variable is always recorded, because a tape may begin to track it later.
    """
    # Not x._read(): printing a variable must not make a tape watch it.
    for tape in live():
        if x._id in tape._tracked or getattr(x, "trainable", False):
            tape._record_event("text", x._id, how)


def user_line() -> Place | None:
    """Return the line of your program that is running, or None in a thread of a library."""
    frame = sys._getframe(1)
    library = ""
    evaluated = None
    while frame is not None:
        file = frame.f_code.co_filename
        origin = origin_of(file)
        if origin is not None and not is_generated(frame.f_code):
            if not origin:
                place = Place(file, frame.f_lineno, library, _caller_of(frame))
                if file != EVALUATED:
                    return place
                # The lines of text that a program evaluates say nothing: the line that calls exec or eval does.
                evaluated = evaluated or place
            library = origin
        frame = frame.f_back  # type: ignore[assignment]
    return evaluated


def is_generated(code: CodeType) -> bool:
    """Return True if Python generated a method from source text, as `dataclass` does; its lines aren't informative."""
    return code.co_filename == EVALUATED and code.co_name.startswith("__")


def outer_frame() -> int:
    """Return the identity of the innermost frame outside this package, or 0."""
    frame = sys._getframe(1)
    while frame is not None:
        if origin_of(frame.f_code.co_filename) is not None:
            return id(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return 0


def _caller_of(frame: Any) -> str:
    """Return the installed library that called a function of a file, such as an optimizer that calls the objective."""
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
    """Return the lines of a file that `linecache` has, or nothing for ``<string>``.

    Python 3.13 and later register the text of ``python -c`` under that name, so linecache would return those lines for
    any code that was compiled from a string.
    """
    return [] if file == EVALUATED else linecache.getlines(file, module)


def source_line(place: Place) -> str:
    """Return the text of a line, or '' if the file isn't available."""
    return "".join(source_lines(place.file)[place.line - 1 : place.line])


@cache
def origin_of(file: str) -> str | None:
    """Return the name of the library that a file belongs to, '' for user files, or None for this package.

    A library is part of the standard library or installed: in a ``site-packages`` or ``dist-packages`` folder, in an
    egg or archive on ``sys.path``, or next to its metadata in a folder on ``sys.path``, as ``pip install --target``
    leaves it. Modules next to the notebook, or in your own folders on ``PYTHONPATH``, are user files.
    """
    if file.startswith((_own_folder(), PROGRAMS)):
        return None
    # "<frozen importlib._bootstrap>" and similar names: modules of the standard library without a
    # file.
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
    """Return the folder of this package, with a separator at its end."""
    from pathlib import Path

    return f"{Path(__file__).absolute().parent.parent}{os.sep}"


@cache
def _standard_folders() -> tuple[str, ...]:
    """Return the folders of the standard library."""
    import sysconfig
    from pathlib import Path

    paths = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return tuple({f"{path}{os.sep}" for path in (*paths, str(Path(os.__file__).parent)) if path})


def _top(path: str) -> str:
    """Return the importable name of a file, from its path inside a folder of libraries or inside an egg."""
    first, _, rest = path.partition(os.sep)
    if rest and first.endswith((".egg", ".zip", ".whl")):
        return _top(rest)
    return first.removesuffix(".py").removesuffix(".pyc")


def _installed(file: str) -> str:
    """Return the library that a file elsewhere belongs to, according to the metadata next to it, or ''."""
    folder = max((f for f in map(_folder, sys.path) if file.startswith(f)), key=len, default="")
    if not folder:
        return ""
    name = _top(file.removeprefix(folder))
    packed = folder.rstrip(os.sep).endswith((".egg", ".zip", ".whl"))
    return name if packed or name in _packages_in(folder) else ""


def _folder(entry: str) -> str:
    """Convert an entry of ``sys.path`` to the start of absolute paths."""
    from pathlib import Path

    return str(Path(entry).absolute()).rstrip(os.sep) + os.sep


@cache
def _packages_in(folder: str) -> frozenset[str]:
    """Return the packages that were installed in a folder, according to their metadata."""
    from pathlib import Path

    # importlib.metadata takes 17 ms to import, and most folders contain no metadata.
    if not any(
        path.suffix in (".dist-info", ".egg-info") for path in Path(folder).glob("*.*-info")
    ):
        return frozenset()
    from importlib.metadata import distributions

    packages: set[str] = set()
    for distribution in distributions(path=[folder]):
        names = (distribution.read_text("top_level.txt") or "").split()
        files = (_top(str(path)) for path in distribution.files or () if path.suffix == ".py")
        packages.update(names or files)
    return frozenset(packages)
