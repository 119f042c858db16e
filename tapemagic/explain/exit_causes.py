"""The lines where values left the tape, and which of these exits a target was computed through."""

from __future__ import annotations

from math import inf
from typing import Any

from tapemagic.engine.events import Event
from tapemagic.engine.tensor.tensor import Traced, id_of
from tapemagic.explain.advice import is_flat, lost_track, replacement, takes_gradient
from tapemagic.explain.dataflow import Certainty, flow_into, flow_through_unknown_call
from tapemagic.explain.formatting import format_line
from tapemagic.explain.program_text import made_from, text_of, within_one_function
from tapemagic.explain.query import Question, Reason
from tapemagic.explain.sensitivity import is_insensitive

SHOWING = {
    "matplotlib", "seaborn", "plotly", "bokeh", "tqdm", "logging", "IPython", "ipywidgets", "rich", "json"
}  # fmt: skip
"""Libraries that show or store values, and compute nothing that a program goes on with."""

SHOWN = 3
"""The number of lines that are named."""

NOT_TRACKED = "not tracked"
"""The cause of a None where a call turned a value into a plain one."""


def exits(q: Question, least: Certainty) -> list[Event]:
    """The exits of what was computed from the source through which the target may have been computed.

    An exit counts if the program's text has it go into the target, surely or perhaps, and if it came before the
    target and, where the tape recorded that, before a constant that went into it. The first of each line.
    """
    found: dict[object, Event] = {}
    for event in _before(q):
        # Text counts only where it is surely read as a number again.
        is_text = event.kind == "text"
        if _flow(q, event, steps=not is_text) >= (Certainty.YES if is_text else least):
            found.setdefault(event.place and event.place[:2], event)
    return list(found.values())


def lost_part(q: Question, differentiated: Any = None) -> tuple[Event | None, Certainty]:
    """The first exit by which a part of a gradient is surely lost, or else the last by which one may be.

    What changes in steps loses nothing, and neither does a number that cancels in the target, or in the derivative
    that was differentiated last.
    """
    target = q.target if differentiated is None else differentiated
    perhaps = None
    for event in _before(q):
        if is_flat(event) or _is_step(q, event):
            continue
        if _flow(q, event, steps=False) == Certainty.YES:
            if not is_insensitive(q, event, target):
                return event, Certainty.YES
        elif (
            not text_of(event.place)[0].body
            or _flow(q, event, steps=False, objects=True) == Certainty.YES
            or (_within_library(q, event) and _flow(q, event, steps=True) == Certainty.YES)
            or flow_through_unknown_call(
                event.place, str(event.what), q.target_name, q.source_name, q.program.place
            )
        ):
            perhaps = event
    return perhaps, Certainty.PERHAPS if perhaps else Certainty.NO


def _is_step(q: Question, event: Event) -> bool:
    """Whether a gradient left, and went into the target by way of assignments alone: a step of a descent."""
    with_it = (e.number for e in q.snapshot.events_of("exit") if e.place == event.place)
    if not any(map(q.snapshot.order_of, with_it)):
        return False
    return _flow(q, event, steps=False, assignments=False) != Certainty.YES


def _within_library(q: Question, event: Event) -> bool:
    """Whether a library took the value in the middle of a computation, whose result may be an object of its own.

    It may have been given a function for that, in which the value left.
    """
    place, asked = event.place, q.program.place
    if place is None:
        return False
    inside = asked is not None and within_one_function(place, asked)
    return not {place.library, "" if inside else place.caller} <= {"", "numpy", *SHOWING}


def _flow(
    q: Question, event: Event, steps: bool, objects: bool = False, assignments: bool = True
) -> Certainty:
    """Whether an exit goes into the target: into all its names that the program around the exit makes."""
    others = [name for name, value in q.program.namespace.items() if value is q.target]
    names = [name for name in {q.target_name, *others} if made_from(event.place, name)] or [
        q.target_name
    ]
    how, place = str(event.what), q.program.place
    return min(
        flow_into(event.place, how, name, q.source_name, place, steps, objects, assignments)
        for name in names
    )


def _before(q: Question) -> list[Event]:
    """The exits of what was computed from the source that came before something that the target was made from."""
    found = [event for event in q.snapshot.events_of("exit", "text") if event.time <= q.time]
    if not found:
        return found
    last: float = inf
    if isinstance(q.target, Traced) and id_of(q.target) in q.snapshot.tracked:
        changes = q.snapshot.events_of("assigned", "changed")
        changed = [event.time for event in changes if event.number in q.ancestors]
        last = max([q.ancestry.last_entry, *changed])
    found = [event for event in found if event.time < last]
    if isinstance(q.source, Traced):
        computed = q.snapshot.computed_from(id_of(q.source), (event.number for event in found))
        found = [event for event in found if event.number in computed]
    return [event for event in found if not (is_flat(event) and takes_gradient(event.place))]


def surely_through_exit(q: Question) -> Reason | None:
    """A conversion whose result went into the target, by the program's text."""
    found = exits(q, Certainty.YES)
    if not found:
        return None
    found = [event for event in found if not is_flat(event)] or found
    text = f"{exit_text(q, found[0])}. {replacement(found[0], q.program.namespace)}."
    if len(found) > 1:
        places = [format_line(event.place) for event in found[1:] if event.place]
        more = f" and {len(places) - SHOWN} more" * (len(places) > SHOWN)
        text += f" The same on {', '.join(places[:SHOWN])}{more}."
    return Reason(NOT_TRACKED, text)


def perhaps_through_exit(q: Question) -> Reason | None:
    """A conversion whose result may have gone into the target, for all that is known."""
    for event in exits(q, Certainty.PERHAPS)[-1:]:
        advice = replacement(event, q.program.namespace)
        text = f"{exit_text(q, event)}, and {q.target_name} may have been computed from the result. {advice}."
        return Reason(NOT_TRACKED, text)
    return None


def exit_text(q: Question, event: Event) -> str:
    """Return the clause that a call made a plain value, with the line and the name of the value."""
    is_source = isinstance(q.source, Traced) and event.number == id_of(q.source)
    value = (
        q.source_name
        if is_source
        else q.names.get(event.number) or f"a value computed from {q.source_name}"
    )
    return lost_track(event, value, q.program.namespace)
