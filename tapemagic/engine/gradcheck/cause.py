"""The likely cause of a derivative that differs from its difference quotient."""

from __future__ import annotations

import sys
from textwrap import shorten
from typing import Any

import numpy as np

from tapemagic.engine.events import Event, source_line
from tapemagic.engine.gradcheck.finite_differences import (
    STEP,
    Comparison,
    WeightedSum,
    real_or_complex,
    spans,
)
from tapemagic.engine.tape.recorder import contents_of
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.constant import constant

COARSE = 1e-10
"""Numbers that are rounded more than this make no good difference quotients."""


def likely_cause(at: WeightedSum, position: int, direction: Any, found: Comparison) -> str:
    """Say why a derivative with respect to one input differs; empty if that cannot be seen."""
    if not np.isfinite(found.quotient):
        return (
            "the function is not finite on all sides of this point: "
            "choose one that is further inside of its domain"
        )
    coarse = [y.dtype for y in at.outputs if np.finfo(y.dtype).eps > COARSE]
    if coarse:
        return (
            f"the function computes in {coarse[0]}, which is too coarse for difference quotients: "
            "let it compute in float64"
        )
    if _is_kink_or_jump(at, direction, found):
        return (
            "the function has a kink or a jump at this point, and so no derivative: "
            "choose another point"
        )
    exits = _exits(at, position)
    if exits:
        return _of_exit(exits[-1])
    if not np.any(at.gradient[slice(*spans(at.inputs)[position])]):
        return (
            "the tape's gradient is zero in all of this input: "
            "did the function leave the tape, with .numpy(), float(x) or np.asarray(x)?"
        )
    return ""


def _is_kink_or_jump(at: WeightedSum, direction: Any, found: Comparison) -> bool:
    """Whether difference quotients to both sides, or with other steps, are different.

    The second difference f(x+h) - 2 f(x) + f(x-h) grows with h at a kink, with h**2 where the function is smooth; at
    a jump, the slope depends on the step.
    """
    f = {k: at.total(STEP * k * direction) for k in (-2, -1, 0, 1, 2)}
    bend, wider = (abs(f[k] + f[-k] - 2 * f[0]) for k in (1, 2))
    slope, wide = ((f[k] - f[-k]) / k for k in (1, 2))
    much = STEP * found.gap / 2
    kink = bend > much and wider < 3 * bend
    jump = abs(wide - slope) > max(much / 2, 0.1 * abs(slope))
    return kink or jump


def _exits(at: WeightedSum, position: int) -> list[Event]:
    """The conversions of values computed from an input that may have come back as constants."""
    points = list(map(constant, at.inputs))
    with Tape(watch_accessed_variables=False) as tape:
        tape.watch(points[position])
        found = real_or_complex(at.function(*points))
    last = max(y._id for y in found) if all(y._id > 0 for y in found) else sys.maxsize
    if last < sys.maxsize:
        with_constants = (
            np.min(record.output_id) for record in tape.records if any(i <= 0 for i in record.ids)
        )
        last = max((i for i in with_constants if i <= last), default=0)
    return [
        event for event in contents_of(tape).events if event.kind == "exit" and event.time < last
    ]


def _of_exit(event: Event) -> str:
    """Say that a call turned a value into a plain one, where, and what to write instead."""
    through = str(event.what)
    if event.place:
        library = f" in {event.place.library}" if event.place.library else ""
        line = shorten(source_line(event.place), 60, placeholder="…")
        through += f"{library} on line {event.place.line}" + (f" ({line})" if line else "")
    return (
        f"{through} turned this input into a plain value, so the tape's number may lack a part: "
        "compute with the tensor itself, and write np.sin(x) instead of math.sin(x)"
    )
