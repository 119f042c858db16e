"""The likely cause of a derivative that differs from finite differences."""

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
from tapemagic.engine.tape.base_tape import contents_of
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.constant import constant

MAX_NAMED = 3
"""The number of conversions that a message names."""

MAX_EPSILON = 1e-10
"""Numbers with a larger rounding error are too coarse for finite differences."""


def likely_cause(at: WeightedSum, position: int, direction: Any, comparison: Comparison) -> str:
    """Describe why a derivative with respect to an input differs, or return '' if the cause isn't visible."""
    if not np.isfinite(comparison.quotient):
        return (
            "the function is nan or infinite next to this point: "
            "choose a point further inside its domain"
        )
    coarse = [y.dtype for y in at.outputs if np.finfo(y.dtype).eps > MAX_EPSILON]
    if coarse:
        return (
            f"the function computes in {coarse[0]}, which is too coarse for finite differences: "
            "compute in float64"
        )
    if _is_kink_or_jump(at, direction, comparison):
        return (
            "the function has a kink or a jump at this point, so it has no derivative: "
            "choose another point"
        )
    exits = _exits(at, position)
    if exits:
        return _of_exits(exits)
    if not np.any(at.gradient[slice(*spans(at.inputs)[position])]):
        return (
            "the tape's gradient is zero for all of this input: "
            "did .numpy(), float(x) or np.asarray(x) turn it into a plain number?"
        )
    return ""


def _is_kink_or_jump(at: WeightedSum, direction: Any, comparison: Comparison) -> bool:
    """Return True if finite differences to both sides, or with other steps, differ.

    The second difference f(x+h) - 2 f(x) + f(x-h) is proportional to h at a kink, but to h**2 if the function is
    smooth. At a jump, the slope depends on the step.
    """
    # Values at steps of -2h to 2h are enough for two second differences and two slopes.
    f = {k: at.total(STEP * k * direction) for k in (-2, -1, 0, 1, 2)}
    bend, wider = (abs(f[k] + f[-k] - 2 * f[0]) for k in (1, 2))
    slope, slope_2h = ((f[k] - f[-k]) / k for k in (1, 2))
    min_bend = STEP * comparison.gap / 2
    kink = bend > min_bend and wider < 3 * bend
    jump = abs(slope_2h - slope) > max(min_bend / 2, 0.1 * abs(slope))
    return kink or jump


def _exits(at: WeightedSum, position: int) -> list[Event]:
    """Return the conversions of values computed from an input that may have entered the result as constants."""
    points = list(map(constant, at.inputs))
    with Tape(watch_accessed_variables=False) as tape:
        tape.watch(points[position])
        outputs = real_or_complex(at.function(*points))
    # A conversion only matters if a later record has a constant among its inputs, which may come from it; if the
    # result
    # itself isn't on the tape, any conversion matters.
    last = max(y._id for y in outputs) if all(y._id > 0 for y in outputs) else sys.maxsize
    if last < sys.maxsize:
        with_constants = (
            np.min(record.output_id) for record in tape.records if any(i <= 0 for i in record.ids)
        )
        last = max((i for i in with_constants if i <= last), default=0)
    events = [event for event in contents_of(tape).events if event.time < last]
    # Most text is only printed, so it counts if there is nothing else.
    exits = [event for event in events if event.kind == "exit"]
    return exits or [event for event in events if event.kind == "text"]


def _of_exits(events: list[Event]) -> str:
    """Say which conversions lost track of a value, where, and what to write instead."""
    # The same conversion happens once in each call. Of several, any may be the one whose result was used.
    found = list(dict.fromkeys(map(_words, events)))
    rest = len(found) - MAX_NAMED
    through = " or ".join(found[:MAX_NAMED]) + (f" or {rest} other calls" if rest > 0 else "")
    return (
        f"{through} turned this input into a plain number, so the tape's gradient may lack a part: "
        "compute with the tensor itself, with np.sin(x) instead of math.sin(x)"
    )


def _words(event: Event) -> str:
    """Return the name and the line of a conversion."""
    if not event.place:
        return str(event.what)
    library = f" in {event.place.library}" if event.place.library else ""
    line = shorten(source_line(event.place), 60, placeholder="…")
    return f"{event.what}{library} on line {event.place.line}" + (f" ({line})" if line else "")
