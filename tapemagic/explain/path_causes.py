"""Reasons on the way from source to target: operations without derivative, values computed before or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from tapemagic.engine.events import Event
from tapemagic.engine.recording import is_gradient_stamp, is_stamp, time_of
from tapemagic.engine.tape.cotangents import NEVER
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.advice import at
from tapemagic.explain.exit_causes import perhaps_through_exit, surely_through_exit
from tapemagic.explain.program_text import given_to, made_from, names_in
from tapemagic.explain.query import Question, Reason, depends, perhaps_paused, untaken

THREADING = {
    "Thread", "Timer", "submit", ".map", "apply_async", "starmap", "run_in_executor", "to_thread", "Process", "Parallel"
}  # fmt: skip
"""Functions that compute on another thread or in another process; with a dot, methods alone."""

CHOOSING = {"where", "choose", "select", "ldexp"}
"""Operations with an argument that picks among others."""


def blocked(q: Question) -> Reason | None:
    """An operation without derivative stands between them."""
    above = q.evidence.above(id_of(q.target), blocked=True)
    if id_of(q.source) not in above:
        return None
    below = q.evidence.below(id_of(q.source))
    links = (link for number in above for link in q.evidence.links.get(number, ()))
    for link in links:
        if link.blocked and not link.late and link.number in below:
            between = f"{link.operation} stands between {q.x} and {q.y}"
            if link.operation == "stop_gradient":
                text = f"{between}: it lets values through, but no gradients"
                return Reason("stop_gradient", text)
            if link.operation in CHOOSING:
                text = f"{between}, and takes this argument only to choose by"
                return Reason("no derivative", text)
            return Reason(
                "no derivative",
                f"{between}, and it has no derivative: it is flat, and then it jumps. To let gradients pass as if it "
                "were not there, write tapemagic.grad_pass_through",
            )
    return None


def watched_late(q: Question) -> Reason | None:
    """The source was used before the tape watched it."""
    if q.evidence.tracked.get(id_of(q.source)) == NEVER:
        return Reason(
            "stop_gradient",
            f"{q.x} comes out of stop_gradient, and is a constant to the tape; to differentiate in it, call "
            f"{q.program.tape}.watch({q.x}) before computing with it",
        )
    return late(q) if used_before_watched(q) else None


def used_before_watched(q: Question) -> bool:
    """Whether the source went into the target as a constant, too."""
    return id_of(q.source) in q.ancestry.late or id(unwrap(q.source)) in q.ancestry.constants


def late(q: Question) -> Reason:
    """The source was watched only after the target had been computed."""
    return Reason(
        "watched too late",
        f"{q.x} was watched only after {q.y} had been computed: call {q.program.tape}.watch({q.x}) first, at the top "
        f"of the {'cell' if q.in_cell else 'block'}",
    )


def assigned(q: Question, steps: bool = True) -> Reason | None:
    """A variable took on a value that was computed from the source: assigning records nothing.

    Steps that it made from where it was, as those of a descent, count or not.
    """
    events = [
        event
        for event in q.evidence.events_of("assigned", "changed")
        if event.number in q.above and event.number != id_of(q.source)
    ]
    computed = q.evidence.computed_from(id_of(q.source), (event.what for event in events))
    for event in events:
        if event.what in computed and _in_force(q, event):
            if not steps and event.number in q.evidence.above(event.what, blocked=True):
                continue
            name = q.names.get(event.number)
            return Reason(
                "assigned",
                f"{q.y} depends on {f'the variable {name}' if name else 'a variable'}, which was given a value "
                f"computed from {q.x}{at(event)}: assigning is not recorded. Compute {q.y} from the new value itself, "
                "and assign it afterwards",
            )
    return None


def _in_force(q: Question, event: Event) -> bool:
    """Whether the target read a variable after it was assigned to, and before it was given another value."""
    again = [e.time for e in q.evidence.events_of("assigned") if e.number == event.number]
    end = min((time for time in again if time > event.time), default=inf)
    reads = [link.made for link in q.ancestry.inputs if link.number == event.number]
    return any(event.time < made < end for made in reads)


def computed_before(q: Question) -> Reason | None:
    """A value with a name, from which the target was made, had been computed before the tape recorded."""
    for name, value in constants_of(q):
        if may_come_from(q, name):
            before, move = too_early(q, value)
            return Reason(
                "computed before",
                f"{q.y} was made from {name}, which had been computed before {before} and is a constant to the tape"
                f"{depends(q)}. If {name} was computed from {q.x}: {move}",
            )
    return None


def constants_of(q: Question) -> Iterator[tuple[str, Traced]]:
    """The results, and their names, from which the target was made, and which are too old to be tracked."""
    began = max(q.evidence.times[0], q.watched_at)
    found: dict[str, Traced] = {}
    for name, value in [*q.program.namespace.items()]:  # a thread may add to it
        if isinstance(value, Traced) and not isinstance(value, Variable):
            i = id_of(value)
            if i and i not in q.evidence.tracked and time_of(i) < began:
                found[name] = value
    if found.keys() - {q.x, q.y}:
        for name in sorted(found.keys() & made_from(q.program.place, q.y) - {q.x, q.y}):
            yield name, found[name]


def may_come_from(q: Question, name: str) -> bool:
    """Whether a value may have been computed from the source, for all that the program's text tells."""
    made = made_from(q.program.place, name)
    unread = any(callable(q.program.namespace.get(part)) for part in made)
    return not made or unread or bool(names_in(q.x) & made)


def too_early(q: Question, value: Traced) -> tuple[str, str]:
    """The time before which a value was computed, and the advice about it."""
    watched = f"{q.x} was watched"
    if time_of(id_of(value)) >= q.evidence.times[0]:
        return watched, f"compute it after {q.program.tape}.watch({q.x})"
    began = "this cell ran" if q.in_cell else "the tape began to record"
    if q.in_cell and id_of(q.source) in q.evidence.tracked and not isinstance(q.source, Variable):
        began = watched
    return began, f"move its computation into the {q.block}"


def on_another_thread(q: Question) -> Reason | None:
    """The target was made from a value that this tape's thread did not compute, and the source went to another one."""
    if not names_in(q.x) & given_to(q.program.place, THREADING):
        return None
    for stamp in [id_of(q.target), *q.constants]:
        time = time_of(stamp) if is_stamp(stamp) else 0
        recording = q.evidence.recording_at(time) and not q.evidence.paused_at(time)
        if time >= q.watched_at and recording:
            return Reason(
                "another thread",
                f"{q.y} was made from a value that was computed while the tape recorded, and not by its thread. A tape "
                f"records only the thread that entered it: if that value was computed from {q.x}, compute it here",
            )
    return None


def computed_while_stopped(q: Question) -> Reason | None:
    """An intermediate value was computed while the tape did not record."""
    cleared = {id_of(value) for name, value in constants_of(q) if not may_come_from(q, name)}
    for stamp in q.constants:
        if stamp in cleared:
            continue
        pause = q.evidence.paused_at(time_of(stamp))
        if pause is not None:
            return Reason(
                "recording stopped",
                f"{q.y} was computed from a value that was computed while recording was stopped{at(pause)}, which is a "
                f"constant to the tape: if that was from {q.x}, compute it outside of stop_recording()",
            )
        if not q.evidence.recording_at(time_of(stamp)):
            return Reason(
                "computed before",
                f"{q.y} was not computed from {q.x} while the tape recorded{depends(q)}. One of the values in it had "
                f"been computed before: if that was from {q.x}, move it into the block",
            )
    return None


def target_apart(q: Question) -> Reason | None:
    """The reason why the tape does not track the target, if it does not."""
    i, evidence = id_of(q.target), q.evidence
    if i in evidence.tracked:
        return None
    if i == 0:
        text = f"{q.y} is a constant: it was made as one, and not computed from {q.x}{untaken(q)}"
        return surely_through_exit(q) or perhaps_through_exit(q) or Reason("constant", text)
    if isinstance(q.target, Variable):
        return Reason("not connected", f"{q.y} is a Variable, which was not computed from {q.x}")
    time = time_of(i)
    pause = evidence.paused_at(time)
    if pause is not None:
        text = f"{q.y} was computed while recording was stopped{at(pause)}: compute it outside of stop_recording()"
        return Reason("recording stopped", text)
    if not evidence.recording_at(time):
        return _outside(q, time)
    if gone := surely_through_exit(q) or computed_before(q):
        return gone
    if is_gradient_stamp(i):
        return Reason(
            "linear",
            f"{q.y} is a gradient, and {q.x} does not occur in it: the first derivative is constant in {q.x}, so the "
            "second derivative is zero",
        )
    if thread := on_another_thread(q):
        return thread
    text = f"{q.y} was not computed from anything that the tape watched by operations that have a derivative"
    return late(q) if q.watched_at > time else perhaps_through_exit(q) or perhaps_paused(q, text)


def _outside(q: Question, time: int) -> Reason:
    """The target was computed while the tape was not recording."""
    move = f"move its computation into the {q.block}"
    if is_gradient_stamp(id_of(q.target)):
        order = f"call the inner tape's gradient(...) inside the 'with' block of {q.program.tape}"
        if q.in_cell:
            order = "ask for the second derivative with -o 2 in the %%tape line"
        return Reason(
            "gradient taken outside",
            f"{q.y} is a gradient that was taken outside of this tape's block, so the tape did not record how it was "
            f"computed: {order}",
        )
    if time < q.evidence.times[0]:
        text = f"{q.y} was computed before the tape began to record: {move}"
        return Reason("computed before", text)
    return Reason("computed after", f"{q.y} was computed when the tape no longer recorded: {move}")
