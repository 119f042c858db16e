"""Find the calls that turned tracked values into plain ones ("exits"), and those that a target was computed through.

An exit is a conversion such as ``float(x)``. The tape records each exit and its line, but not where the plain value
goes. The program's source shows that (see `dataflow`).
"""

from __future__ import annotations

import ast
from math import inf
from typing import Any

from tapemagic.engine.events import Event
from tapemagic.engine.tensor.tensor import Traced, id_of
from tapemagic.explain.advice import is_flat, lost_track, replacement, takes_gradient
from tapemagic.explain.dataflow import Certainty, flow_into, flow_through_unknown_call
from tapemagic.explain.formatting import format_line
from tapemagic.explain.program_text import (
    cell_that_binds,
    made_from,
    names_in,
    sources,
    text_of,
    within_one_function,
)
from tapemagic.explain.query import Question, Reason
from tapemagic.explain.sensitivity import is_insensitive

SHOWING = {
    "matplotlib", "seaborn", "plotly", "bokeh", "tqdm", "logging", "IPython", "ipywidgets", "rich", "json"
}  # fmt: skip
"""Libraries that show or store values, and return no results that a program computes with."""

SHOWN = 3
"""Maximum number of lines to name."""

NOT_TRACKED = "not tracked"
"""The cause of a None where a call turned a value into a plain one."""


def exits(q: Question, least: Certainty) -> list[Event]:
    """Find the exits of values computed from the source through which the target may have been computed.

    - `least`: How certain the source code must be that the result of the exit is used in the target.

    Returns list of Event: the first exit of each line.
    """
    by_line: dict[object, Event] = {}
    for event in _before(q):
        # Almost all text is only printed. It counts only if the source shows that it is parsed into a number again.
        is_text = event.kind == "text"
        if _flow(q, event, steps=not is_text) >= (Certainty.YES if is_text else least):
            by_line.setdefault(event.place and event.place[:2], event)
    return list(by_line.values())


def lost_part(q: Question, differentiated: Any = None) -> tuple[Event | None, Certainty]:
    """Find the first exit that certainly loses a part of a gradient, or else the last one that may.

    Exits that change in steps lose nothing. Neither does a number that cancels in the target (see `sensitivity`), or
    in the derivative that was differentiated last.
    """
    target = q.target if differentiated is None else differentiated
    perhaps = None
    for event in _before(q):
        if is_flat(event) or _is_step(q, event):
            continue
        flow = _flow(q, event, steps=False)
        if flow == Certainty.YES:
            if not is_insensitive(q, event, target):
                return event, Certainty.YES
        elif (
            not text_of(event.place)[0].body
            or (flow == Certainty.PERHAPS and not _is_bound(q, event))
            or _flow(q, event, steps=False, objects=True) == Certainty.YES
            or (_within_library(q, event) and _flow(q, event, steps=True) == Certainty.YES)
            or flow_through_unknown_call(
                event.place, str(event.what), q.target_name, q.source_name, q.program.place
            )
        ):
            perhaps = event
    return perhaps, Certainty.PERHAPS if perhaps else Certainty.NO


def _is_bound(q: Question, event: Event) -> bool:
    """Return True if a program that can be read binds the target, so that its text shows what the target uses."""
    place, tree = q.program.place, text_of(event.place)[0]
    stored = {
        node.attr
        for program in (tree, text_of(place)[0])
        for node in ast.walk(program)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return any(
        made_from(place, name)
        or sources(tree.body, name)
        or (
            "." in name and name.rpartition(".")[2] in stored
        )  # self.loss, whose object has another name elsewhere
        or any(cell_that_binds(part, event.place, place) for part in names_in(name))
        for name in _names(q)
    )


def _is_step(q: Question, event: Event) -> bool:
    """Return True if a gradient was converted, and is used in the target only through assignments: a descent step."""
    with_it = (e.number for e in q.snapshot.events_of("exit") if e.place == event.place)
    if not any(map(q.snapshot.order_of, with_it)):
        return False
    return _flow(q, event, steps=False, assignments=False) != Certainty.YES


def _within_library(q: Question, event: Event) -> bool:
    """Return True if a library converted the value within a computation, such as an optimizer that calls a function.

    The result of the computation may be an object of the library.
    """
    place, asking_place = event.place, q.program.place
    if place is None:
        return False
    inside = asking_place is not None and within_one_function(place, asking_place)
    return not {place.library, "" if inside else place.caller} <= {"", "numpy", *SHOWING}


def _flow(
    q: Question, event: Event, steps: bool, objects: bool = False, assignments: bool = True
) -> Certainty:
    """Return how certainly an exit is used in the target, by the name of the target for which that is least certain."""
    names = [name for name in _names(q) if made_from(event.place, name)] or [q.target_name]
    how, place = str(event.what), q.program.place
    return min(
        flow_into(event.place, how, name, q.source_name, place, steps, objects, assignments)
        for name in names
    )


def _names(q: Question) -> set[str]:
    """Return the program's names for the target."""
    aliases = [name for name, value in q.program.namespace.items() if value is q.target]
    return {q.target_name, *aliases}


def _before(q: Question) -> list[Event]:
    """List the exits of values computed from the source that happened before the target's last plain input."""
    events = [event for event in q.snapshot.events_of("exit", "text") if event.time <= q.time]
    if not events:
        return events
    # A plain value enters the target as a constant or through a Variable. Exits after the last of these don't matter.
    last: float = inf
    if isinstance(q.target, Traced) and id_of(q.target) in q.snapshot.tracked:
        changes = q.snapshot.events_of("assigned", "changed")
        changed = [event.time for event in changes if event.number in q.ancestors]
        last = max([q.ancestry.last_entry, *changed])
    events = [event for event in events if event.time < last]
    if isinstance(q.source, Traced):
        computed = q.snapshot.computed_from(id_of(q.source), (event.number for event in events))
        events = [event for event in events if event.number in computed]
    # Rules compare values themselves (relu's does), on the line that takes the gradient.
    return [event for event in events if not (is_flat(event) and takes_gradient(event.place))]


def surely_through_exit(q: Question) -> Reason | None:
    """Blame a conversion whose result is used in the target, as the source code shows."""
    events = exits(q, Certainty.YES)
    if not events:
        return None
    events = [event for event in events if not is_flat(event)] or events
    text = f"{exit_text(q, events[0])}. {replacement(events[0], q.program.namespace)}."
    if len(events) > 1:
        places = [format_line(event.place) for event in events[1:] if event.place]
        more = f" and {len(places) - SHOWN} more" * (len(places) > SHOWN)
        text += f" The same on {', '.join(places[:SHOWN])}{more}."
    return Reason(NOT_TRACKED, text)


def perhaps_through_exit(q: Question) -> Reason | None:
    """Blame the last conversion whose result may be used in the target."""
    for event in exits(q, Certainty.PERHAPS)[-1:]:
        advice = replacement(event, q.program.namespace)
        text = f"{exit_text(q, event)}, and {q.target_name} may have been computed from the result. {advice}."
        return Reason(NOT_TRACKED, text)
    return None


def exit_text(q: Question, event: Event) -> str:
    """Say which call on which line turned which value into a plain number or array."""
    is_source = isinstance(q.source, Traced) and event.number == id_of(q.source)
    value = (
        q.source_name
        if is_source
        else q.names.get(event.number) or f"a value computed from {q.source_name}"
    )
    return lost_track(event, value, q.program.namespace)
