"""What a tape hears beside operations: values that leave it, assignments, pauses. From these it explains a None."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from tapemagic.engine.recording import live

MOST = 32
"""How many events of one line a tape remembers; of more, the first ones."""

Kind = Literal["left", "assigned", "changed", "paused", "reset"]


class Place(NamedTuple):
    """A line of the user's program, and the library that it had called, if there was one.

    Attributes
    ----------
    file : str
    line : int
    library : str
        Empty if the line itself did it.
    """

    file: str
    line: int
    library: str


class Event(NamedTuple):
    """Something that happened to a value.

    Attributes
    ----------
    kind : {'left', 'assigned', 'changed', 'paused', 'reset'}
        It was converted to something that no tape can follow; a variable was given it, or changed by it; the tape
        stopped recording for a while; the tape forgot everything.
    number : int
        The value's number, the variable's, or the time at which the pause began or the tape forgot.
    what : object
        The name of the conversion, the number of the assigned value, the time at which the pause ended, or the
        numbers of what was watched.
    place : Place or None
    time : int
        Of the clock by which values are numbered.
    """

    kind: Kind
    number: int
    what: Any
    place: Place | None
    time: int


def left(x: Any, how: str) -> None:
    """Tell the tapes that a tensor is converted to something that they cannot follow."""
    tapes = live()
    if not tapes:
        return
    i = x._read()._id
    for tape in tapes:
        if i in tape._tracked:
            tape._hear("left", i, how)


def here() -> Place | None:
    """The line of the user's program that is running."""
    frame = sys._getframe(1)
    library = ""
    while frame is not None:
        file = frame.f_code.co_filename
        origin = origin_of(file)
        if origin is not None:
            if not origin:
                return Place(file, frame.f_lineno, library)
            library = origin
        frame = frame.f_back  # type: ignore[assignment]
    return None


@cache
def origin_of(file: str) -> str | None:
    """The library to which a file belongs; empty for the user's own, None for this package."""
    own, libraries = _folders()
    return None if file.startswith(own) else _library(file, libraries)


@cache
def _folders() -> tuple[str, tuple[str, str]]:
    """Where this package is; where others are, and the standard library, which may be around them."""
    from pathlib import Path

    packages, standard = Path(np.__file__).parent.parent, Path(os.__file__).parent
    return str(Path(__file__).parent.parent), (str(packages), str(standard))


def _library(file: str, libraries: tuple[str, ...]) -> str:
    """The library to which a file belongs, by the name under which one imports it; empty for the user's own."""
    if file.startswith("<") and not file.startswith("<ipython"):
        return "python" if file.startswith("<frozen") else ""
    for folder in libraries:
        if file.startswith(folder):
            below = file.removeprefix(folder).lstrip(os.sep)
            return below.partition(os.sep)[0].removesuffix(".py")
    return ""
