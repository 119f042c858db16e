"""Reasons between source and target: operations without derivative, values computed too early or on other threads."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from tapemagic.engine.events import Event
from tapemagic.engine.recording import is_gradient_stamp, is_id, is_stamp, time_of
from tapemagic.engine.tape.cotangents import NEVER
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.advice import at
from tapemagic.explain.exit_causes import perhaps_through_exit, surely_through_exit
from tapemagic.explain.program_text import given_to, made_from, names_in
from tapemagic.explain.query import Question, Reason, branch_note, dependency_note, with_pause_note

THREADING = {
    "Thread", "Timer", "submit", ".map", "apply_async", "starmap", "run_in_executor", "to_thread", "Process", "Parallel"
}  # fmt: skip
"""Functions that compute on another thread or in another process. A leading dot means methods only."""

CHOOSING = {"where", "choose", "select", "ldexp"}
"""Operations with an argument that only selects among other arguments."""


def blocked(q: Question) -> Reason | None:
    """Blame an operation without derivative between source and target."""
    above = q.snapshot.ancestors(id_of(q.target), blocked=True)
    if id_of(q.source) not in above:
        return None
    # Only operations between the two count: the target may have other inputs without a derivative.
    below = q.snapshot.descendants(id_of(q.source))
    links = (link for number in above for link in q.snapshot.links.get(number, ()))
    for link in links:
        if link.blocked and not link.watched_late and link.number in below:
            between = f"between {q.source_name} and {q.target_name}"
            if link.operation == "stop_gradient":
                text = f"stop_gradient {between} passes values on, but no gradients."
                return Reason("stop_gradient", text)
            if link.operation in CHOOSING:
                text = f"{link.operation} {between} uses this argument only to choose, so it has no derivative in it."
                return Reason("no derivative", text)
            return Reason(
                "no derivative",
                f"{link.operation} {between} changes in steps, so it has no derivative. To pass gradients on as if it "
                "weren't there, write tapemagic.grad_pass_through.",
            )
    return None


def watched_late(q: Question) -> Reason | None:
    """Blame a source that was used before the tape watched the source."""
    # stop_gradient marks its results as tracked from NEVER on, so that nothing passes through them.
    if q.snapshot.tracked.get(id_of(q.source)) == NEVER:
        return Reason(
            "stop_gradient",
            f"{q.source_name} is a result of stop_gradient, so the tape sees a constant. To differentiate with "
            f"respect to it, "
            f"call {q.program.tape}.watch({q.source_name}) before you use it.",
        )
    return late(q) if used_before_watched(q) else None


def used_before_watched(q: Question) -> bool:
    """Return True if the target also uses the source as a constant."""
    # A constant has no id on this tape, but its array is the same object.
    number, array = id_of(q.source), unwrap(q.source)
    if not _may_be_constant(q, number, array):
        return False
    return number in q.ancestry.late or id(array) in q.ancestry.constants


def _may_be_constant(q: Question, number: int, array: Any) -> bool:
    """Return True if any operation used a value before it was watched, or as an array off the tape.

    For a long recording this takes a tenth of the time for finding the operations that the target depends on.
    """
    since = q.snapshot.tracked.get(number, 0)
    # Without values, a record has the identities of the arrays in place of the arrays.
    key = array if q.snapshot.has_values else id(array)
    for _, values, ids, _, _, output_id in q.snapshot.records:
        if number in ids and since > (output_id[0] if isinstance(output_id, tuple) else output_id):
            return True
        for value, i in zip(values, ids, strict=True):
            if (value is key or (key.__class__ is int and value == key)) and not is_id(i):
                return True
    return False


def late(q: Question) -> Reason:
    """Return the reason for a source that was watched only after the target was computed."""
    return Reason(
        "watched too late",
        f"{q.source_name} was watched only after {q.target_name} was computed. Call "
        f"{q.program.tape}.watch({q.source_name}) first, at the top of "
        f"the {'cell' if q.in_cell else 'block'}.",
    )


def assigned(q: Question, steps: bool = True) -> Reason | None:
    """Blame a Variable that was assigned a value computed from the source, because assignments aren't recorded.

    With `steps`, an assignment that depends on the Variable itself, such as a descent step, counts too.
    """
    events = [
        event
        for event in q.snapshot.events_of("assigned", "changed")
        if event.number in q.ancestors and event.number != id_of(q.source)
    ]
    computed = q.snapshot.computed_from(id_of(q.source), (event.what for event in events))
    for event in events:
        if event.what in computed and _in_force(q, event):
            if not steps and event.number in q.snapshot.ancestors(event.what, blocked=True):
                continue
            name = q.names.get(event.number)
            return Reason(
                "assigned",
                f"{q.target_name} uses {f'the Variable {name}' if name else 'a Variable'}, which was assigned a "
                f"value computed "
                f"from {q.source_name}{at(event)}, but a tape doesn't record assignments. Compute "
                f"{q.target_name} from the new value "
                "itself, and assign it afterwards.",
            )
    return None


def _in_force(q: Question, event: Event) -> bool:
    """Return True if the target read a Variable between this assignment and the next assignment."""
    again = [e.time for e in q.snapshot.events_of("assigned") if e.number == event.number]
    end = min((time for time in again if time > event.time), default=inf)
    reads = [link.result_id for link in q.ancestry.inputs if link.number == event.number]
    return any(event.time < result_id < end for result_id in reads)


def computed_before(q: Question) -> Reason | None:
    """Blame a named value in the target that was computed before the tape recorded."""
    for name, value in constants_of(q):
        if may_come_from(q, name):
            before, move = too_early(q, value)
            return Reason(
                "computed before",
                f"{q.target_name} uses {name}, which was computed before {before}, so the tape sees a "
                f"constant{dependency_note(q)}. "
                f"If {name} was computed from {q.source_name}, {move[0].lower()}{move[1:]}.",
            )
    return None


def constants_of(q: Question) -> Iterator[tuple[str, Traced]]:
    """Yield the names and values of results that the target uses, and that are older than the recording."""
    began = max(q.snapshot.times[0], q.watched_at)
    constants: dict[str, Traced] = {}
    for name, value in [*q.program.namespace.items()]:  # a thread may add to it
        if isinstance(value, Traced) and not isinstance(value, Variable):
            i = id_of(value)
            if i and i not in q.snapshot.tracked and time_of(i) < began:
                constants[name] = value
    if constants.keys() - {q.source_name, q.target_name}:
        for name in sorted(
            constants.keys()
            & made_from(q.program.place, q.target_name) - {q.source_name, q.target_name}
        ):
            yield name, constants[name]


def may_come_from(q: Question, name: str) -> bool:
    """Return False if the source code shows that a value wasn't computed from the source."""
    origins = made_from(q.program.place, name)
    unread = any(callable(q.program.namespace.get(part)) for part in origins)
    return not origins or unread or bool(names_in(q.source_name) & origins)


def too_early(q: Question, value: Traced) -> tuple[str, str]:
    """Return the event before which a value was computed, as text, and the advice."""
    watched = f"{q.source_name} was watched"
    if time_of(id_of(value)) >= q.snapshot.times[0]:
        return watched, f"Compute it after {q.program.tape}.watch({q.source_name})"
    began = "this cell ran" if q.in_cell else "the tape began to record"
    if q.in_cell and id_of(q.source) in q.snapshot.tracked and not isinstance(q.source, Variable):
        began = watched
    return began, f"Move its computation into the {q.block}"


def on_another_thread(q: Question) -> Reason | None:
    """Blame another thread, if the source was passed to one, and the target uses a value from outside the recording."""
    if not names_in(q.source_name) & given_to(q.program.place, THREADING):
        return None
    for stamp in [id_of(q.target), *q.constants]:
        time = time_of(stamp) if is_stamp(stamp) else 0
        recording = q.snapshot.recording_at(time) and not q.snapshot.paused_at(time)
        # An operation of this thread at that time would be on the tape.
        if time >= q.watched_at and recording:
            return Reason(
                "another thread",
                f"{q.target_name} uses a value that another thread computed, but a tape records only the thread "
                f"that entered "
                f"it. If that value was computed from {q.source_name}, compute it in this thread.",
            )
    return None


def computed_while_stopped(q: Question) -> Reason | None:
    """Blame an intermediate value that was computed while the tape didn't record."""
    # Values that the source code shows to be independent of the source can't be the reason.
    cleared = {id_of(value) for name, value in constants_of(q) if not may_come_from(q, name)}
    for stamp in q.constants:
        if stamp in cleared:
            continue
        pause = q.snapshot.paused_at(time_of(stamp))
        if pause is not None:
            return Reason(
                "recording stopped",
                f"{q.target_name} uses a value that was computed inside stop_recording(){at(pause)}, so the "
                f"tape sees a "
                f"constant. If it was computed from {q.source_name}, move that line out of the block.",
            )
        if not q.snapshot.recording_at(time_of(stamp)):
            return Reason(
                "computed before",
                f"Nothing recorded on the tape leads from {q.source_name} to "
                f"{q.target_name}{dependency_note(q)}. {q.target_name} uses a value that was "
                f"computed before the tape recorded. If it was computed from {q.source_name}, move that line "
                f"into the block.",
            )
    return None


def target_apart(q: Question) -> Reason | None:
    """Return the reason why the tape doesn't track the target, or None if it does."""
    i, evidence = id_of(q.target), q.snapshot
    if i in evidence.tracked:
        return None
    if i == 0:  # a constant, never the result of an operation
        text = f"{q.target_name} is a constant. It wasn't computed from {q.source_name}{branch_note(q)}."
        return surely_through_exit(q) or perhaps_through_exit(q) or Reason("constant", text)
    if isinstance(q.target, Variable):
        return Reason(
            "not connected",
            f"{q.target_name} is a Variable, which wasn't computed from {q.source_name}.",
        )
    time = time_of(i)
    pause = evidence.paused_at(time)
    if pause is not None:
        text = (
            f"{q.target_name} was computed inside stop_recording(){at(pause)}, so the tape sees a constant. "
            f"Move that line out "
            "of the block."
        )
        return Reason("recording stopped", text)
    if not evidence.recording_at(time):
        return _outside(q, time)
    if gone := surely_through_exit(q) or computed_before(q):
        return gone
    if is_gradient_stamp(i):
        return Reason(
            "linear",
            f"The first derivative doesn't depend on {q.source_name}, so the second is zero.",
        )
    if thread := on_another_thread(q):
        return thread
    text = f"{q.target_name} wasn't computed from watched values by operations with a derivative"
    return late(q) if q.watched_at > time else perhaps_through_exit(q) or with_pause_note(q, text)


def _outside(q: Question, time: int) -> Reason:
    """Return the reason for a target that was computed while the tape wasn't recording."""
    move = f"Move its computation into the {q.block}."
    if is_gradient_stamp(id_of(q.target)):
        order = f"Call the inner tape's gradient(...) inside the 'with' block of {q.program.tape}."
        if q.in_cell:
            order = "For second derivatives, add -o 2 to the %%tape line."
        return Reason(
            "gradient taken outside",
            f"{q.target_name} is a gradient that was taken outside this tape's block, so the tape didn't record "
            f"how it was "
            f"computed. {order}",
        )
    if time < q.snapshot.times[0]:
        text = f"{q.target_name} was computed before the tape began to record. {move}"
        return Reason("computed before", text)
    return Reason(
        "computed after", f"{q.target_name} was computed after the tape stopped recording. {move}"
    )
