"""Find parts that a gradient ignores although it isn't None: values between source and target that became plain."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.recording import is_stamp, time_of
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.advice import at, replacement
from tapemagic.explain.carrying_words import Certainty
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
"""Operations with which a program defines a derivative itself."""


def missing(q: Question, differentiated: Any = None) -> str:
    """Say which part of the target a gradient ignores, or may ignore. Return '' without a sign of such a part.

    For a higher derivative, `differentiated` is the derivative that was differentiated last.
    """
    # Certain losses come first, then likely ones, then those that the source code can't exclude.
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
            what = f"{q.target_name} uses {name}, which was computed from {q.source_name} before {before}"
            return f"{what}. {lost} {move}."
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
    """Say why a derivative may not be zero although the tape says so, or return ''.

    A program can hide values from the tape with ``stop_gradient``, a custom gradient or ``stop_recording``.
    """
    for number in q.snapshot.ancestors(id_of(q.target), blocked=True):
        for link in q.snapshot.links.get(number, ()):
            if link.operation in KEEPING:
                return f"{q.target_name} was computed through {KEEPING[link.operation]}"
            pause = q.snapshot.paused_at(time_of(link.number)) if is_stamp(link.number) else None
            if pause is not None:
                return f"part of {q.target_name} was computed inside stop_recording(){at(pause)}"
    return missing(q)
