"""The words of reasons: how a value left the tape, where something happened, what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tapemagic.analysis.dataflow import around, tree_of
from tapemagic.analysis.places import line_of
from tapemagic.analysis.values import SHOWN, span
from tapemagic.engine.events import Event, Place

MATH = "write NumPy's functions in place of those of math, such as np.sin(x) for math.sin(x)"
STACK = "make one tensor of several with np.stack([x, y])"
BLOCK = "make one tensor of a table of tensors with np.block([[a, b], [c, d]])"
COLLECT = (
    "collect the parts in a list, and make one tensor of them at the end, with np.stack(parts)"
)
DRAW = "draw plain numbers, and compute with the tensor afterwards, as in mu + sigma * rng.normal(size=3)"
FILL = "compute with the tensor, as in x * np.ones(3) or x * np.arange(3)"
STAY = {"np.asarray": "call NumPy on the tensor itself", "float()": "leave it a tensor"}


def way(event: Event) -> str:
    """How a value left the tape, where, and what to write instead."""
    return f"{through(event)}: {instead(event)}"


def through(event: Event) -> str:
    """How a value left the tape, and where."""
    library = event.place.library if event.place else ""
    what = str(event.what)
    if library and library != "numpy":
        return f"{library}, which converted it with {what}{at(event)}"
    if what == "np.asarray" and not _calls(event.place, "asarray"):
        what = "NumPy, which made a plain array of it,"
    return f"{what}{at(event)}"


def instead(event: Event) -> str:
    """What to write in place of what left the tape, judged by how it did, and by the line that did it."""
    what = str(event.what)
    library = event.place.library if event.place else ""
    if library == "scipy" and "linalg" in _text(event.place):
        return "a tape follows NumPy alone: np.linalg has the same"
    if library and library != "numpy":
        return "a tape follows NumPy alone"
    if " to " in what or what == "int()":
        return "whole numbers and truth values have no derivative; a smooth function in its place has one"
    if what.startswith("tapemagic."):
        return "it copies the value alone: compute with the tensor itself, which needs no copy"
    if what.startswith("np.") and what != "np.asarray":
        return "its result has no derivative; a smooth function in its place has one"
    if what in STAY:
        return next((advice for found, advice in ADVICE if found(event.place)), STAY[what])
    return "stay with the tensor"


def _statement(place: Place | None) -> ast.stmt | None:
    """The statement that stands on a line."""
    tree = tree_of(place)
    statements = around(tree, place.line) if tree and place else []
    return statements[-1] if statements else None


def _text(place: Place | None) -> str:
    """A statement's text, names in full."""
    statement = _statement(place)
    return "" if statement is None else ast.unparse(statement)


def _called(place: Place | None) -> list[ast.Call]:
    """What a statement calls."""
    statement = _statement(place)
    return [node for node in ast.walk(statement or ast.Pass()) if isinstance(node, ast.Call)]


def _calls(place: Place | None, *names: str) -> bool:
    """Whether a line calls something of one of these names."""
    dotted = (ast.unparse(call.func) for call in _called(place))
    return any(part in names for name in dotted for part in name.split("."))


def _lists(place: Place | None, nested: bool) -> bool:
    """Whether a list, or a list of lists, is given to a function."""
    for call in _called(place):
        for given in call.args:
            if isinstance(given, (ast.List, ast.Tuple, ast.ListComp)):
                parts = [given.elt] if isinstance(given, ast.ListComp) else given.elts
                if not nested or any(isinstance(part, (ast.List, ast.Tuple)) for part in parts):
                    return True
    return False


def _writes(place: Place | None) -> bool:
    """Whether a line writes into a part of something."""
    match _statement(place):
        case ast.Assign([*_, ast.Subscript()]) | ast.AugAssign(ast.Subscript()):
            return True
    return False


ADVICE: tuple[tuple[Callable[[Place | None], bool], str], ...] = (
    (lambda place: _calls(place, "math", "cmath"), MATH),
    (_writes, COLLECT),
    (lambda place: _calls(place, "rng", "random", "normal", "uniform"), DRAW),
    (lambda place: _calls(place, "full", "arange", "linspace", "full_like"), FILL),
    (lambda place: _lists(place, nested=True), BLOCK),
    (lambda place: _lists(place, nested=False), STACK),
    (lambda place: _calls(place, "vectorize"), "call NumPy's functions on whole tensors"),
)
"""What may be seen on a line, and what to write instead; the first that is true."""


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
