"""Parts that a gradient may lack although it is not None: what left the tape on its way to the target."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.recording import is_stamp, time_of
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.advice import at, replacement
from tapemagic.explain.dataflow import Certainty
from tapemagic.explain.exit_causes import exit_text, lost_part
from tapemagic.explain.path_causes import (
    assigned,
    constants_of,
    on_another_thread,
    too_early,
    used_before_watched,
)
from tapemagic.explain.program_text import made_before, made_from
from tapemagic.explain.query import Question

OWN = "a function with a custom gradient"
KEEPING = {"stop_gradient": "stop_gradient", "custom gradient": OWN}
"""Operations by which a program says itself what a derivative is."""


def missing(q: Question, differentiated: Any = None) -> str:
    """The part that a gradient lacks, or may lack, in a sentence; empty if there is no sign of one.

    For a higher derivative, `differentiated` is the one that was differentiated last.
    """
    event, certainty = lost_part(q, differentiated)
    lost = f"The gradient ignores that part of {q.y}, so it's wrong."
    if event is not None and certainty == Certainty.YES:
        return f"{exit_text(q, event)}. {lost} {replacement(event, q.program.namespace)}."
    if used_before_watched(q):
        return f"{q.x} was also used before the tape watched it. {lost}"
    place = q.program.place
    for name, value in constants_of(q):
        used = id_of(value) in q.ancestry.numbers and q.x in made_from(place, name)
        if used and made_before(place, name, q.y):
            before, move = too_early(q, value)
            made = f"{q.y} uses {name}, which was computed from {q.x} before {before}"
            return f"{made}. {lost} {move}."
    if change := assigned(q, steps=False):
        return change.text
    if event is not None:
        perhaps = f"If {q.y} was computed from the result, the gradient ignores that part."
        return f"{exit_text(q, event)}. {perhaps} {replacement(event, q.program.namespace)}."
    thread = on_another_thread(q)
    return thread.text if thread else ""


def withheld(q: Question) -> str:
    """The reason why a derivative may not be constant although the tape says so; empty if there is no sign of one.

    Beside what is missing, this is what the program itself keeps from the tape.
    """
    for number in q.evidence.above(id_of(q.target), blocked=True):
        for link in q.evidence.links.get(number, ()):
            if link.operation in KEEPING:
                return f"{q.y} was computed through {KEEPING[link.operation]}"
            pause = q.evidence.paused_at(time_of(link.number)) if is_stamp(link.number) else None
            if pause is not None:
                return f"part of {q.y} was computed inside stop_recording(){at(pause)}"
    return missing(q)
