"""The words of reasons: how a value left the tape, where something happened, what to write instead."""

from __future__ import annotations

import linecache
from typing import Any

from tapemagic.analysis.places import line_of
from tapemagic.analysis.values import SHOWN, span
from tapemagic.engine.events import Event

INSTEAD = {
    "np.asarray": "call NumPy on the tensor itself; of several tensors make one with np.stack([x, y])",
    "int()": "whole numbers have no derivative",
}
MATH = "write NumPy's functions in place of those of math, such as np.sin(x) for math.sin(x)"
STACK = "make one tensor of several with np.stack([x, y])"


def way(event: Event) -> str:
    """How a value left the tape, where, and what to write instead."""
    library = event.place.library if event.place else ""
    through = str(event.what)
    if library == "numpy":
        through = "NumPy, which made a plain array of a list"
    elif library:
        through = f"{library}, which converted it with {through}"
    return f"{through}{at(event)}: {_instead(event, library)}"


def _instead(event: Event, library: str) -> str:
    what = str(event.what)
    if library == "numpy":
        return f"{STACK} first"
    if library:
        return "a tape follows NumPy alone"
    if " to " in what:
        return "whole numbers and truth values have no derivative"
    if what == "float()":
        return _in_place_of_float(event)
    if what.startswith("np.") and what != "np.asarray":
        return "its result has no derivative"
    return INSTEAD.get(what, "stay with the tensor")


def _in_place_of_float(event: Event) -> str:
    """What to write for a conversion to float, judged by the line that did it."""
    text = linecache.getline(event.place.file, event.place.line) if event.place else ""
    if "math." in text:
        return MATH
    if "np." in text and "float(" not in text:
        return STACK
    return "leave it a tensor; " + MATH


def at(event: Event) -> str:
    """Where something happened: " on line 3 (y = float(x))"."""
    return f" on {line_of(event.place)}" if event.place else ""


def listed(names: list[str]) -> str:
    """Names in a row: "a, b and c"."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def kind(value: Any) -> str:
    """What an array holds that has no derivative."""
    return "truth values" if value.dtype.kind == "b" else "whole numbers"


def as_real(value: Any) -> str:
    """The same value as one writes it with real numbers."""
    real = value._value.astype(float)
    if not real.shape:
        return span(real)
    return f"np.array({span(real)})" if real.size <= SHOWN else "np.array(..., dtype=float)"
