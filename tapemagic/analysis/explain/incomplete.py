"""A gradient that is not None may still lack a part: what left the tape on its way to the target."""

from __future__ import annotations

from tapemagic.analysis.explain.advice import at, instead
from tapemagic.analysis.explain.exit_causes import left, lost
from tapemagic.analysis.explain.path_causes import (
    assigned,
    constants_of,
    too_early,
    used_before_watched,
)
from tapemagic.analysis.explain.program_text import made_before, made_from
from tapemagic.analysis.explain.query import Question
from tapemagic.engine.recording import time_of

KEEPING = {
    "stop_gradient": "stop_gradient",
    "custom gradient": "a function with a gradient of its own",
}
"""Operations by which a program says itself what a derivative is."""


def missing(q: Question) -> str:
    """What a gradient may lack, in a sentence; empty if there is no sign of anything."""
    event = lost(q)
    if event is not None:
        return f"{left(q, event)}, and that part of {q.y} is missing in it: {instead(event)}"
    if used_before_watched(q):
        return f"{q.x} was also used before the tape watched it, and that part of {q.y} is missing in it"
    used = {link.number for link in q.inputs()}
    for name, value in constants_of(q):
        place = q.program.place
        if value._id in used and q.x in made_from(place, name) and made_before(place, name, q.y):
            before, move = too_early(q, value)
            return (
                f"{name}, from which {q.y} was made, had been computed from {q.x} before {before}, and that part of "
                f"{q.y} is missing in it: {move}"
            )
    change = assigned(q, steps=False)
    return change.text if change else ""


def withheld(q: Question) -> str:
    """Why a derivative may not be constant although the tape says so, in a sentence; empty if there is no sign of it.

    Beside what is missing, this is what the program itself keeps from the tape.
    """
    for number in q.evidence.above(q.target._id, blocked=True):
        for link in q.evidence.links.get(number, ()):
            if link.operation in KEEPING:
                return f"{KEEPING[link.operation]} is on the way to {q.y}"
            pause = q.evidence.paused_at(time_of(link.number)) if link.number < -1 else None
            if pause is not None:
                return f"a value in {q.y} was computed while recording was stopped{at(pause)}"
    return missing(q)
