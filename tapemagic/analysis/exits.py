"""Where values left the tape, and which of the exits a target was computed through."""

from __future__ import annotations

from tapemagic.analysis.dataflow import Feeds, feeds
from tapemagic.analysis.places import line_of
from tapemagic.analysis.question import Question, Reason
from tapemagic.analysis.wording import instead, through
from tapemagic.engine.events import Event
from tapemagic.engine.tensor import Traced

SHOWN = 3
"""How many lines are named."""


def exits(q: Question, least: Feeds) -> list[Event]:
    """The exits of what was computed from the source through which the target may have been computed.

    An exit counts if the program's text has it feed the target, surely or perhaps, and if it came before the
    target and, where the tape recorded that, before a constant that went into it. The first of each line.
    """
    below = q.below if isinstance(q.source, Traced) else None
    tracked = isinstance(q.target, Traced) and q.target._id in q.evidence.tracked
    constants = [link.made for link in q.inputs() if link.number <= 0] if tracked else []
    found: dict[object, Event] = {}
    for event in q.evidence.heard("left"):
        before = event.time <= q.time and (
            not tracked or any(made > event.time for made in constants)
        )
        computed = below is None or event.number in below
        if before and computed and feeds(event.place, q.y) >= least:
            found.setdefault(event.place and event.place[:2], event)
    return list(found.values())


def left_surely(q: Question) -> Reason | None:
    """What left the tape went into the target, by the program's own text."""
    found = exits(q, Feeds.YES)
    if not found:
        return None
    text = f"{left(q, found[0])}: {instead(found[0])}"
    if len(found) > 1:
        text += f". The same on {lines_of(found[1:])}"
    return Reason("left the tape", text)


def left_perhaps(q: Question) -> Reason | None:
    """What left the tape may have gone into the target, for all that is known."""
    for event in exits(q, Feeds.PERHAPS)[-1:]:
        text = f"{left(q, event)}. If {q.y} was computed from that: {instead(event)}"
        return Reason("left the tape", text)
    return None


def left(q: Question, event: Event) -> str:
    """What left the tape, how and where."""
    what = q.names.get(event.number) or f"a value computed from {q.x}"
    if isinstance(q.source, Traced) and event.number == q.source._id:
        what = q.x
    return f"{what} left the tape through {through(event)}"


def lines_of(events: list[Event]) -> str:
    """The lines of events, the first ones if they are many."""
    places = [line_of(event.place) for event in events if event.place]
    more = f" and {len(places) - SHOWN} more" * (len(places) > SHOWN)
    return ", ".join(places[:SHOWN]) + more
