"""Where values left the tape, and which of the exits a target was computed through."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from tapemagic.analysis.explain.advice import is_flat, replacement, takes_gradient, way_out
from tapemagic.analysis.explain.dataflow import Certainty, flow_into
from tapemagic.analysis.explain.program_text import made_from
from tapemagic.analysis.explain.query import Question, Reason
from tapemagic.analysis.explain.sensitivity import is_insensitive
from tapemagic.analysis.formatting import format_line
from tapemagic.engine.events import Event
from tapemagic.engine.tensor.tensor import Traced, id_of

SHOWING = {
    "matplotlib",
    "seaborn",
    "plotly",
    "bokeh",
    "tqdm",
    "logging",
    "IPython",
    "ipywidgets",
    "rich",
    "json",
}
"""Libraries that show or store values, and compute nothing that a program goes on with."""

SHOWN = 3
"""How many lines are named."""


def exits(q: Question, least: Certainty) -> list[Event]:
    """The exits of what was computed from the source through which the target may have been computed.

    An exit counts if the program's text has it feed the target, surely or perhaps, and if it came before the
    target and, where the tape recorded that, before a constant that went into it. The first of each line.
    """
    found: dict[object, Event] = {}
    for event in _before(q):
        if _feeds(q, event) >= least:
            found.setdefault(event.place and event.place[:2], event)
    return list(found.values())


def lost_part(q: Question, differentiated: Any = None) -> tuple[Event | None, Certainty]:
    """The first exit by which a part of a gradient is surely lost, or else the last by which one may be.

    What changes in steps loses nothing, and neither does a number that cancels.

    Parameters
    ----------
    q : Question
    differentiated : Tensor, optional
        The derivative that was differentiated last, if that was not the target.
    """
    target = q.target if differentiated is None else differentiated
    perhaps = None
    for event in _before(q):
        if is_flat(event):
            continue
        if _carried(q, event, steps=False) == Certainty.YES:
            if not is_insensitive(q, event, target):
                return event, Certainty.YES
        elif _within_library(event) and _carried(q, event, steps=True) == Certainty.YES:
            perhaps = event
    return perhaps, Certainty.PERHAPS if perhaps else Certainty.NO


def _within_library(event: Event) -> bool:
    """Whether a library took the value in the middle of a computation, whose result may be an object of its own."""
    library = event.place.library if event.place else ""
    return library not in {"", "numpy", *SHOWING}


def _feeds(q: Question, event: Event) -> Certainty:
    """Whether what left went into the target; of text, only what was read as a number again."""
    if event.kind != "text":
        return _carried(q, event, steps=True)
    return Certainty.YES if _carried(q, event, steps=False) == Certainty.YES else Certainty.NO


def _carried(q: Question, event: Event, steps: bool) -> Certainty:
    how, place = str(event.what), q.program.place
    names = _names(q, event)
    return min(flow_into(event.place, how, name, q.x, place, steps) for name in names)


def _names(q: Question, event: Event) -> list[str]:
    """The program's names for the target where something left: what is true of it is true of all of them."""
    others = [name for name, value in q.program.held.items() if value is q.target]
    known = [name for name in {q.y, *others} if made_from(event.place, name)]
    return known or [q.y]


def _before(q: Question) -> Iterator[Event]:
    """The exits of what was computed from the source that came before something that the target was made from."""
    found = [event for event in q.evidence.events_of("exit", "text") if event.time <= q.time]
    if not found:
        return
    tracked = isinstance(q.target, Traced) and id_of(q.target) in q.evidence.tracked
    last = _last_entry(q) if tracked else inf
    found = [event for event in found if event.time < last]
    if isinstance(q.source, Traced):
        computed = q.computed(event.number for event in found)
        found = [event for event in found if event.number in computed]
    for event in found:
        if not (is_flat(event) and takes_gradient(event.place)):
            yield event


def _last_entry(q: Question) -> int:
    """The last time at which a value that came from elsewhere than the tape went into the target."""
    changes = q.evidence.events_of("assigned", "changed")
    changed = [event.time for event in changes if event.number in q.above]
    return max([q.ancestry.last_entry, *changed])


def surely_through_exit(q: Question) -> Reason | None:
    """A conversion whose result went into the target, by the program's text."""
    found = exits(q, Certainty.YES)
    if not found:
        return None
    text = f"{exit_text(q, found[0])}: {replacement(found[0])}"
    if len(found) > 1:
        text += f". The same on {lines_of(found[1:])}"
    return Reason("left the tape", text)


def perhaps_through_exit(q: Question) -> Reason | None:
    """A conversion whose result may have gone into the target, for all that is known."""
    for event in exits(q, Certainty.PERHAPS)[-1:]:
        text = f"{exit_text(q, event)}. If {q.y} was computed from that: {replacement(event)}"
        return Reason("left the tape", text)
    return None


def exit_text(q: Question, event: Event) -> str:
    """The value that left the tape, how and where."""
    what = q.names.get(event.number) or f"a value computed from {q.x}"
    if isinstance(q.source, Traced) and event.number == id_of(q.source):
        what = q.x
    return f"{what} left the tape through {way_out(event)}"


def lines_of(events: list[Event]) -> str:
    """The lines of events, the first ones if they are many."""
    places = [format_line(event.place) for event in events if event.place]
    more = f" and {len(places) - SHOWN} more" * (len(places) > SHOWN)
    return ", ".join(places[:SHOWN]) + more
