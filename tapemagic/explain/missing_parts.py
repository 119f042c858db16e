"""Find parts that a gradient ignores although it isn't None: values between source and target that became plain."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from tapemagic.engine.events import Event, is_flat
from tapemagic.engine.recording import is_stamp, time_of
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.advice import at, listed, replacement
from tapemagic.explain.carrying_words import Certainty
from tapemagic.explain.exit_causes import exit_text, exits_before, lost_part
from tapemagic.explain.path_causes import (
    assigned,
    constants_of,
    on_another_thread,
    too_early,
    used_before_watched,
)
from tapemagic.explain.program_text import made_before, made_from
from tapemagic.explain.query import Question

SHOWN = 3
"""The number of calls that a sentence names."""
CUSTOM_GRADIENT = "a function with a custom gradient"
KEEPING = {"stop_gradient": "stop_gradient", "custom gradient": CUSTOM_GRADIENT}
"""Operations with which a program defines a derivative itself."""


def missing(q: Question, differentiated: Any = None) -> str:
    """Say which part of the target a gradient ignores, or may ignore. Return '' without a sign of such a part.

    For a higher derivative, `differentiated` is the derivative that was differentiated last.
    """
    # Certain losses come first, then likely ones, then those that the source code can't exclude.
    event, certainty = lost_part(q, differentiated)
    ignored = f"The gradient ignores that part of {q.target_name}"
    lost = f"{ignored}, so it's wrong."
    if event is not None and certainty >= Certainty.LIKELY:
        # That the target's statement converts a value doesn't show that it counts: as in max(float(x), 2.0).
        effect = lost if certainty == Certainty.YES else f"{ignored}."
        return f"{exit_text(q, event)}. {effect} {replacement(event, q.program.namespace)}."
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


def left_through(q: Question) -> str:
    """Say where the part of a target that a gradient lacks left the tape, as the end of a sentence."""
    event, certainty = lost_part(q)
    is_known = event is not None and certainty >= Certainty.LIKELY
    events = [event] if event is not None and is_known else _ways_out(q)
    if not events:
        reason = missing(q)
        return f". {reason}" if reason else "."
    # Advice for one of several calls might be for one that does no harm.
    advice = replacement(events[0], q.program.namespace) if len(events) == 1 else ""
    return f", which left through {_ways(events)}." + (f" {advice}." if advice else "")


def ways_out(q: Question) -> str:
    """Name the calls through which values between source and target left the tape, or return ''."""
    return _ways(_ways_out(q))


def _ways(events: Sequence[Event]) -> str:
    """Name calls with their lines: float() on line 3; '' for none."""
    if not events:
        return ""
    words = [f"{str(event.what).partition(' to ')[0]}{at(event)}" for event in events[:SHOWN]]
    more = len(events) - SHOWN
    return listed([*words, f"{more} more"] if more > 0 else words)


def _ways_out(q: Question) -> list[Event]:
    """Return the exits of values computed from the source that the target may have come back from, one of each line.

    That they happened is known from the run. Conversions to text count only if there are no others.
    """
    events = [event for event in exits_before(q) if not is_flat(event)]
    chosen = [event for event in events if event.kind == "exit"] or events
    by_line = {event.place and event.place[:2]: event for event in reversed(chosen)}
    return list(by_line.values())[::-1]


def held_back(q: Question, after_gradients: AbstractSet[int]) -> str:
    """Say why a gradient lacks a part on purpose, so that nudging the source proves no mistake, or return ''.

    - `after_gradients`: The ids of values that the cell computed from gradients it took.
    """
    if not after_gradients.isdisjoint(q.snapshot.ancestors(id_of(q.target), blocked=True)):
        return f"{q.target_name} was computed from gradients that the cell took, which count as constants"
    return _kept(q)


def blocked_gradient(q: Question) -> str:
    """Say why a derivative may not be zero although the tape says so, or return ''.

    A program can hide values from the tape with ``stop_gradient``, a custom gradient or ``stop_recording``.
    """
    return _kept(q) or missing(q)


def _kept(q: Question) -> str:
    """Say through what the program itself keeps values from the tape, or return ''."""
    for number in q.snapshot.ancestors(id_of(q.target), blocked=True):
        for link in q.snapshot.links.get(number, ()):
            if link.operation in KEEPING:
                return f"{q.target_name} was computed through {KEEPING[link.operation]}"
            pause = q.snapshot.paused_at(time_of(link.number)) if is_stamp(link.number) else None
            if pause is not None:
                return f"part of {q.target_name} was computed inside stop_recording(){at(pause)}"
    return ""
