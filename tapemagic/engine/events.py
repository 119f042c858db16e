"""What a tape hears beside operations: values that leave it, assignments, pauses. From these it explains a None."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tapemagic.engine.recording import live

MOST = 1000
"""How many events a tape remembers; of more, the first ones."""

OWN = str(Path(__file__).parent.parent)
LIBRARIES = (str(Path(np.__file__).parent.parent), str(Path(os.__file__).parent))
"""Where installed packages are, and the standard library, which may be around them."""

Kind = Literal["left", "assigned", "paused", "reset"]


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
    kind : {'left', 'assigned', 'paused', 'reset'}
        It was converted to something that no tape can follow; it was assigned to a variable; the tape stopped
        recording for a while; the tape forgot everything.
    number : int
        The value's number, the variable's, or the time at which the pause began.
    what : object
        The name of the conversion, the number of the assigned value, or the time at which the pause ended.
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
        if not file.startswith(OWN):
            name = _library(file)
            if not name:
                return Place(file, frame.f_lineno, library)
            library = library or name
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _library(file: str) -> str:
    """The library to which a file belongs, by the name under which one imports it; empty for the user's own."""
    if file.startswith("<") and not file.startswith("<ipython"):
        return "python" if file.startswith("<frozen") else ""
    for folder in LIBRARIES:
        if file.startswith(folder):
            return Path(file).relative_to(folder).parts[0].removesuffix(".py")
    return ""
