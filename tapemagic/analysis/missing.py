"""A gradient that is not None may still lack a part: what left the tape on its way to the target."""

from __future__ import annotations

from tapemagic.analysis.dataflow import Feeds, made_from
from tapemagic.analysis.exits import exits, left
from tapemagic.analysis.gaps import assigned, constants_of, used_before_watched
from tapemagic.analysis.question import Question
from tapemagic.analysis.wording import at, instead
from tapemagic.engine.recording import time_of


def missing(q: Question) -> str:
    """What a gradient may lack, in a sentence; empty if there is no sign of anything."""
    for event in exits(q, Feeds.YES)[:1]:
        return f"{left(q, event)}, and that part of {q.y} is missing in it: {instead(event)}"
    if used_before_watched(q):
        return f"{q.x} was also used before the tape watched it, and that part of {q.y} is missing in it"
    for name, began in constants_of(q):
        if q.x in made_from(q.program.place, name):
            return (
                f"{name}, from which {q.y} was made, had been computed from {q.x} before {began}, and that part of "
                f"{q.y} is missing in it: move its computation into the {q.block}"
            )
    change = assigned(q)
    if change is not None:
        return change.text
    for link in q.inputs():
        pause = q.evidence.paused_at(time_of(link.number)) if link.number < -1 else None
        if pause is not None:
            return (
                f"a value in {q.y} was computed while recording was stopped{at(pause)}: if it was computed from {q.x}, "
                "that part is missing in it"
            )
    return ""
