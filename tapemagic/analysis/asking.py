"""Explanations in the words of the program that asks: its names for tensors are looked up where it calls from."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from tapemagic.analysis.explain import Explanation, explain
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Traced
from tapemagic.engine.variable import Variable


def explain_here(tape: GradientTape, target: Any, source: Any) -> Explanation:
    """Explain a gradient in the names of the function that called ``tape.explain``."""
    frame = sys._getframe(2)
    names = _names(frame)
    y = _name_of(target, frame) or "the target"
    x = _name_of(source, frame) or getattr(source, "name", "") or "the source"
    return explain(tape, target, source, y, x, names)


def _names(frame: FrameType) -> dict[int, str]:
    """What a function calls tensors, by their numbers; a variable without a name there goes by its own."""
    held = {**frame.f_globals, **frame.f_locals}
    return {
        value._id: name
        for name, value in held.items()
        if isinstance(value, Traced) and value._id > 0 and not name.startswith("_")
    }


def _name_of(value: Any, frame: FrameType) -> str:
    """What a function calls an object."""
    held = {**frame.f_globals, **frame.f_locals}
    if type(value) not in (int, str, bool, type(None)):
        for name, other in reversed(held.items()):
            if other is value and not name.startswith("_"):
                return name
    return value.name if isinstance(value, Variable) and value.name != "Variable" else ""
