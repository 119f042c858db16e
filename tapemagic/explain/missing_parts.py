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

CUSTOM_GRADIENT = "a function with a custom gradient"
KEEPING = {"stop_gradient": "stop_gradient", "custom gradient": CUSTOM_GRADIENT}
"""Operations by which a program says itself what a derivative is."""


def missing(q: Question, differentiated: Any = None) -> str:
    """The part that a gradient lacks, or may lack, in a sentence; empty if there is no sign of one.

    For a higher derivative, `differentiated` is the one that was differentiated last.
    """
    event, certainty = lost_part(q, differentiated)
    lost = f"The gradient ignores that part of {q.target_name}, so it's wrong."
    if event is not None and certainty == Certainty.YES:
        return f"{exit_text(q, event)}. {lost} {replacement(event, q.program.namespace)}."
    if used_before_watched(q):
        return f"{q.source_name} was also used before the tape watched it. {lost}"
    place = q.program.place
    for name, value in constants_of(q):
        used = id_of(value) in q.ancestry.numbers and q.source_name in made_from(place, name)
        if used and made_before(place, name, q.target_name):
            before, move = too_early(q, value)
            made = f"{q.target_name} uses {name}, which was computed from {q.source_name} before {before}"
            return f"{made}. {lost} {move}."
    if change := assigned(q, steps=False):
        return change.text
    if event is not None:
        perhaps = (
            f"If {q.target_name} was computed from the result, the gradient ignores that part."
        )
        return f"{exit_text(q, event)}. {perhaps} {replacement(event, q.program.namespace)}."
    thread = on_another_thread(q)
    return thread.text if thread else ""


def blocked_gradient(q: Question) -> str:
    """The reason why a derivative may not be constant although the tape says so; empty if there is no sign of one.

    Beside what is missing, this is what the program itself keeps from the tape.
    """
    for number in q.snapshot.ancestors(id_of(q.target), blocked=True):
        for link in q.snapshot.links.get(number, ()):
            if link.operation in KEEPING:
                return f"{q.target_name} was computed through {KEEPING[link.operation]}"
            pause = q.snapshot.paused_at(time_of(link.number)) if is_stamp(link.number) else None
            if pause is not None:
                return f"part of {q.target_name} was computed inside stop_recording(){at(pause)}"
    return missing(q)
