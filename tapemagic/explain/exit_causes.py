"""Find the calls that turned tracked values into plain ones ("exits"), and those that a target was computed through.

An exit is a conversion such as ``float(x)``. The tape records each exit and its line, but not where the plain value
goes. The program's source shows that (see `dataflow`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import inf
from typing import Any

from tapemagic.engine.events import Event, is_flat
from tapemagic.engine.tensor.tensor import Traced, id_of
from tapemagic.explain.advice import lost_track, replacement, takes_gradient
from tapemagic.explain.carrying_words import Certainty
from tapemagic.explain.dataflow import flows_into
from tapemagic.explain.formatting import format_line
from tapemagic.explain.program_text import made_from, names_bound, text_of
from tapemagic.explain.query import Question, Reason
from tapemagic.explain.sensitivity import UsedConstants, is_insensitive
from tapemagic.explain.word_bindings import on

SHOWN = 3
"""Maximum number of lines to name."""

NOT_TRACKED = "not tracked"
"""The cause of a None where a call turned a value into a plain one."""


def exits(q: Question, least: Certainty) -> list[Event]:
    """Find the exits of values computed from the source through which the target may have been computed.

    - `least`: How certain the source code must be that the result of the exit is used in the target.

    Returns list of Event: an exit of each line.
    """
    by_line: dict[object, Event] = {}
    events = exits_before(q)
    # Almost all text is only printed. It counts only if the source shows that it is parsed into a number again.
    for is_text in (False, True):
        kept = [event for event in events if (event.kind == "text") == is_text]
        enough = Certainty.LIKELY if is_text else least
        for event, certainty in _flows(q, kept, steps=not is_text).items():
            line = event.place and event.place[:2]
            # A comparison on the same line only chooses.
            is_better = line not in by_line or (is_flat(by_line[line]) and not is_flat(event))
            if certainty >= enough and is_better:
                by_line[line] = event
    return sorted(by_line.values(), key=lambda event: event.time)


def lost_part(q: Question, differentiated: Any = None) -> tuple[Event | None, Certainty]:
    """Find an exit through which the gradient certainly lost a part, or else the last exit that may have lost one.

    It is certain only if the run shows it as well: one of the target's operations used an equal number. It is likely if
    the target's own statement converts the value. Exits that change in steps lose nothing. Neither does a number that
    cancels in the target (see `sensitivity`), or in the derivative that was differentiated last.
    """
    target = q.target if differentiated is None else differentiated
    events = [event for event in exits_before(q) if not is_flat(event)]
    flows = _flows(q, events, steps=False)
    # Of a gradient that was converted, assignments take steps of a descent.
    steps = [event for event in events if flows[event] and _is_gradient(q, event)]
    within = _flows(q, steps, steps=False, assignments=False)
    best: tuple[Event, Certainty] | None = None
    used = UsedConstants(q, target)
    insensitive = dict[object, bool]()
    for event in events:
        if within.get(event, Certainty.LIKELY) < Certainty.LIKELY:
            continue
        # Printing a value says nothing on an equal number.
        is_used = event.kind == "exit" and used.has(event)
        line = event.place and event.place[:2]
        if flows[event] == Certainty.NO and not is_used:
            continue
        if line not in insensitive:
            insensitive[line] = is_insensitive(q, event, target)
        if insensitive[line]:
            continue
        if flows[event] == Certainty.LIKELY and is_used:
            return event, Certainty.YES
        if best is None or best[1] == Certainty.PERHAPS:
            is_shown = flows[event] == Certainty.LIKELY and _binds_target(q, event)
            best = event, Certainty.LIKELY if is_shown else Certainty.PERHAPS
    return best or (None, Certainty.NO)


def _binds_target(q: Question, event: Event) -> bool:
    """Return True if the only statement that binds the target converts the value itself."""
    tree, line = text_of(event.place)
    kinds = ast.Assign | ast.AnnAssign | ast.AugAssign
    statements = (x for x in ast.walk(tree) if isinstance(x, kinds))
    binding = [statement for statement in statements if q.target_name in names_bound([statement])]
    return len(binding) == 1 and on(binding[0], line)


def _is_gradient(q: Question, event: Event) -> bool:
    """Return True if a conversion on the same line turned a gradient into a plain value."""
    with_it = (e.number for e in q.snapshot.events_of("exit") if e.place == event.place)
    return any(map(q.snapshot.order_of, with_it))


def _flows(
    q: Question, events: Sequence[Event], steps: bool, assignments: bool = True
) -> dict[Event, Certainty]:
    """Return how certainly exits are used in the target, by the name for which that is least certain."""
    if not events:
        return {}
    exits = [(event.place, str(event.what)) for event in events]
    # The target may have several names: those that its cell doesn't bind say nothing.
    places = dict.fromkeys(event.place for event in events)
    names = [x for x in _names(q) if any(made_from(place, x) for place in places)] or [
        q.target_name
    ]
    arguments = q.source_name, q.program.place, steps, assignments, q.program.namespace
    flows = [flows_into(exits, name, *arguments) for name in names]
    return dict(zip(events, map(min, zip(*flows, strict=True)), strict=True))


def _names(q: Question) -> set[str]:
    """Return the program's names for the target."""
    aliases = [name for name, value in [*q.program.namespace.items()] if value is q.target]
    return {q.target_name, *aliases}


def exits_before(q: Question) -> list[Event]:
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
    events = exits(q, Certainty.LIKELY)
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
