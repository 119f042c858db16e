"""The words of reasons: how a value left the tape, where something happened, what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tapemagic.analysis.explain.program_text import on_line, tree_of
from tapemagic.analysis.formatting import SHOWN, span
from tapemagic.analysis.places import line_of
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
    if library and library != "numpy" and not what.startswith(library):
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
    if what.startswith(("tapemagic.", "copy.")):
        return "it copies the value alone: compute with the tensor itself, which needs no copy"
    if library and library != "numpy":
        return "a tape follows NumPy alone"
    if " to " in what or what == "int()":
        return "whole numbers and truth values have no derivative; a smooth function in its place has one"
    if is_flat(event):
        return "its result has no derivative; a smooth function in its place has one"
    if what in STAY:
        usable = ADVICE if what == "np.asarray" else ADVICE_FOR_NUMBERS
        return next((advice for found, advice in usable if found(event.place)), STAY[what])
    return "stay with the tensor"


def is_flat(event: Event) -> bool:
    """Whether what left changes in steps, so that nothing of a derivative left with it."""
    what = str(event.what)
    by_function = what.startswith("np.") and what != "np.asarray"
    return by_function or " to " in what or what == "int()"


def swept(place: Place | None) -> bool:
    """Whether a line takes a gradient, whose own rules may have compared values."""
    return _calls(place, "gradient", "jacobian", "batch_jacobian")


def _statements(place: Place | None) -> list[ast.stmt]:
    """The statements that stand on a line, or around it."""
    tree = tree_of(place)
    return on_line(tree, place.line) if tree and place else []


def _text(place: Place | None) -> str:
    """The text of what stands on a line, names in full."""
    return "\n".join(map(ast.unparse, _statements(place)))


def _called(place: Place | None) -> list[ast.Call]:
    """What the statements on a line call."""
    nodes = (node for statement in _statements(place) for node in ast.walk(statement))
    return [node for node in nodes if isinstance(node, ast.Call)]


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
            if isinstance(given, ast.Name) and not nested and _appended(place, given.id):
                return True
    return False


def _appended(place: Place | None, name: str) -> bool:
    """Whether a program appends to something of a name, which so is a list."""
    calls = [node for node in ast.walk(tree_of(place) or ast.Pass()) if isinstance(node, ast.Call)]
    return any(ast.unparse(call.func) == f"{name}.append" for call in calls)


def _writes(place: Place | None) -> bool:
    """Whether a line writes into a part of an array, and not into a dict."""
    for statement in _statements(place):
        match statement:
            case ast.Assign([*_, ast.Subscript(slice=key)]) | ast.AugAssign(
                ast.Subscript(slice=key)
            ):
                if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                    return True
    return False


Advice = tuple[tuple[Callable[[Place | None], bool], str], ...]
ADVICE_FOR_NUMBERS: Advice = (
    (lambda place: _calls(place, "math", "cmath"), MATH),
    (_writes, COLLECT),
    (lambda place: _calls(place, "rng", "random", "normal", "uniform"), DRAW),
    (lambda place: _calls(place, "full", "arange", "linspace", "full_like"), FILL),
)
"""What may be seen on a line that took a number, and what to write instead; the first that is true."""

ADVICE: Advice = (
    *ADVICE_FOR_NUMBERS,
    (lambda place: _lists(place, nested=True), BLOCK),
    (lambda place: _lists(place, nested=False), STACK),
    (lambda place: _calls(place, "vectorize"), "call NumPy's functions on whole tensors"),
)
"""The same for one that made an array."""


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
