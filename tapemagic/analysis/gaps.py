"""Where target and source are both on the tape, and the path between them is broken."""

from __future__ import annotations

from tapemagic.analysis.evidence import Link
from tapemagic.analysis.question import Question, Reason, depends
from tapemagic.analysis.wording import at, way
from tapemagic.engine.recording import time_of

CHOOSING = {"where", "choose", "select", "ldexp"}
"""Operations with an argument that picks among others."""


def blocked(q: Question) -> Reason | None:
    """An operation without derivative stands between them."""
    below = q.below
    for number in q.evidence.above(q.target._id, blocked=True):
        for link in q.evidence.links.get(number, ()):
            if link.blocked and not link.late and link.number in below:
                return _blocked_by(q, link)
    return None


def _blocked_by(q: Question, link: Link) -> Reason:
    if link.operation == "stop_gradient":
        return Reason(
            "stop_gradient",
            f"stop_gradient stands between {q.x} and {q.y}: it lets values through, but no gradients",
        )
    if link.operation in CHOOSING:
        text = f"{link.operation} stands between {q.x} and {q.y}, and takes this argument only to choose by"
        return Reason("no derivative", text)
    return Reason(
        "no derivative",
        f"{link.operation} stands between {q.x} and {q.y}, and it has no derivative: it is flat, and then it jumps. To "
        "let gradients pass as if it were not there, write tapemagic.grad_pass_through",
    )


def watched_late(q: Question) -> Reason | None:
    """The source was used before the tape watched it."""
    own = id(q.source._value)
    used = any(
        (link.late and link.number == q.source._id) or (link.number <= 0 and link.key == own)
        for link in q.inputs()
    )
    return late(q) if used else None


def late(q: Question) -> Reason:
    """The tape was told too late to watch the source."""
    return Reason(
        "watched too late",
        f"{q.x} was watched only after {q.y} had been computed: call tape.watch({q.x}) first, at the top of the block",
    )


def assigned(q: Question) -> Reason | None:
    """A variable took on a value that was computed from the source: assigning records nothing."""
    above, below = q.above, q.below
    for event in q.evidence.heard("assigned"):
        if event.number in above and event.what in below:
            name = q.names.get(event.number, "a variable")
            return Reason(
                "assigned",
                f"{q.y} depends on the variable {name}, which was given a value computed from {q.x}{at(event)}: "
                f"assigning is not recorded. Compute {q.y} from the new value itself, and assign it afterwards",
            )
    return None


def stopped(q: Question) -> Reason | None:
    """An intermediate value was computed while the tape did not listen."""
    for link in q.inputs():
        if link.number >= -1:
            continue
        time = time_of(link.number)
        pause = q.evidence.paused_at(time)
        if pause is not None:
            return Reason(
                "recording stopped",
                f"{q.y} was computed from a value that was computed while recording was stopped{at(pause)}, so that "
                "value is a constant: compute it outside of stop_recording()",
            )
        if not q.evidence.recording_at(time):
            return Reason(
                "computed before",
                f"{q.y} was not computed from {q.x} while the tape recorded{depends(q)}. One of the values in it had "
                f"been computed before: if that was from {q.x}, move it into the block",
            )
    return None


def left(q: Question) -> Reason | None:
    """Something computed from the source was converted to what no tape can follow."""
    below = q.below
    constants = [link.made for link in q.inputs() if link.number <= 0]
    for event in reversed(q.evidence.heard("left")):
        if event.number not in below:
            continue
        if q.target._id > 0 and event.time > q.target._id:
            continue
        if q.target._id in q.evidence.tracked and not any(t > event.time for t in constants):
            continue
        name = q.names.get(event.number)
        what = name or f"a value computed from {q.x}"
        if event.number == q.source._id:
            what = q.x
        return Reason("left the tape", f"{what} left the tape through {way(event)}")
    return None
