"""Why a gradient is None, in one sentence, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable

from tapemagic.analysis.gaps import assigned, blocked, late, left, stopped, watched_late
from tapemagic.analysis.question import Question, Reason, depends
from tapemagic.analysis.wording import as_real, at, kind, way
from tapemagic.engine.recording import GRADIENT, time_of
from tapemagic.engine.tensor import Traced
from tapemagic.engine.variable import Variable


def why_none(question: Question) -> Reason:
    """The reason for a None: the first of the possible ones for which there is evidence."""
    for test in REASONS:
        reason = test(question)
        if reason is not None:
            return reason
    return _unconnected(question)


# -- what can be told from target and source alone --------------------------------------------------


def _no_tensor(q: Question) -> Reason | None:
    if isinstance(q.target, Traced):
        return None
    module, name = type(q.target).__module__, type(q.target).__name__
    what = name if module == "builtins" else f"{module}.{name}"
    text = f"{q.y} is a {what} and no tensor, so no tape knows how it was computed"
    exits = q.evidence.heard("left")
    below = q.below if isinstance(q.source, Traced) else {}
    for event in [e for e in exits if e.number in below][-1:] or exits[-1:]:
        text += f": {q.names.get(event.number, 'a value')} left the tape through {way(event)}"
    return Reason("left the tape", f"{text}. Compute it with NumPy on tensors")


def _source_no_tensor(q: Question) -> Reason | None:
    if isinstance(q.source, Traced):
        return None
    return Reason(
        "not watched",
        f"{q.x} is a {type(q.source).__name__} and no tensor: write {q.x} = tapemagic.Variable(...), or "
        + ("name it in the %%tape line" if q.in_cell else "tapemagic.constant(...) and tape.watch"),
    )


def _whole_numbers(q: Question) -> Reason | None:
    if q.source.dtype.kind not in "fc":
        return Reason(
            "integer dtype",
            f"{q.x} holds {kind(q.source)} ({q.source.dtype}), and only real numbers have derivatives: "
            f"write {q.x} = {as_real(q.source)}",
        )
    if q.target.dtype.kind not in "fc":
        return Reason(
            "integer dtype",
            f"{q.y} holds {kind(q.target)} ({q.target.dtype}), which change in steps and have no derivative",
        )
    return None


def _never_entered(q: Question) -> Reason | None:
    if q.evidence.times:
        return None
    return Reason(
        "not recorded",
        "the tape was never entered: compute inside 'with tapemagic.GradientTape() as tape:'",
    )


# -- the source is not on the tape ------------------------------------------------------------------


def _rebound(q: Question) -> Reason | None:
    """The name stands for another value now than when the tape watched it."""
    above = q.evidence.above(q.target._id, blocked=True)
    older = [(i, line) for i, line in q.bindings if i != q.source._id]
    if q.source._id in above or not any(i in above for i, _ in older):
        return None
    lines = [line for i, line in q.bindings if i == q.source._id]
    where = f" on line {lines[-1]}" if lines and lines[-1] else ""
    return Reason(
        "name bound anew",
        f"the name {q.x} was bound to a new value{where}, and {q.y} was computed from the old one, which the tape "
        f"watched: give the new value another name, or keep {q.x} in a Variable and write {q.x}.assign(...)",
    )


def _reset(q: Question) -> Reason | None:
    """The tape was made to forget what it had recorded."""
    for event in q.evidence.heard("reset")[-1:]:
        for name, value in ((q.y, q.target), (q.x, q.source)):
            forgotten = value._id not in q.evidence.tracked and 0 < value._id < event.number
            if forgotten:
                return Reason(
                    "reset",
                    f"{name} belongs to what was recorded before tape.reset(){at(event)}, which made the tape "
                    "forget it: compute with it again",
                )
    return None


def _not_watched(q: Question) -> Reason | None:
    source, tape = q.source, q.tape
    if source._id in q.evidence.tracked:
        return None
    watch = f"call tape.watch({q.x}) before computing with it"
    if q.in_cell:
        watch = f"name it in the %%tape line, or call tape.watch({q.x})"
    if isinstance(source, Variable):
        if not source.trainable:
            return Reason(
                "not trainable",
                f"{q.x} is a Variable with trainable=False, which no tape watches by itself: {watch}",
            )
        if not tape._watch_accessed_variables:
            return Reason(
                "not watched",
                f"{q.x} is not watched, because the tape was made with watch_accessed_variables=False: {watch}",
            )
        return _not_read(q)
    if source._id == 0 or (source._id > 0 and source._id not in q.evidence.links):
        instead = "" if q.in_cell else ", or make it a Variable"
        return Reason("not watched", f"{q.x} is not watched{_by_this_one(q)}: {watch}{instead}")
    return Reason(
        "not watched",
        f"{q.x} is not watched: it is the result of an operation that this tape did not record, so it is a constant "
        f"to it. If it is to be a parameter, keep a Variable and write {q.x}.assign(...) in place of {q.x} = ...; "
        f"otherwise {watch}",
    )


def _by_this_one(q: Question) -> str:
    """A hint, where another tape watched the source: each tape watches for itself."""
    return " by this tape (each one watches for itself)" if q.source._id > 0 else ""


def _not_read(q: Question) -> Reason:
    """A variable that the tape would watch, if it were used while the tape records."""
    apart = _target_apart(q)
    if apart is not None and apart.cause not in {"not connected", "constant"}:
        return apart
    return _perhaps_paused(q, f"{q.x} was not read while the tape recorded{depends(q)}")


# -- the target is not on the tape ------------------------------------------------------------------


def _target_apart(q: Question) -> Reason | None:
    """The target was computed where the tape did not hear it, or from nothing that it watched."""
    i, evidence = q.target._id, q.evidence
    if i in evidence.tracked:
        return None
    if i == 0:
        return _constant_target(q)
    if isinstance(q.target, Variable):
        return Reason("not connected", f"{q.y} is a Variable, which was not computed from {q.x}")
    time, gradient = time_of(i), i < -GRADIENT
    pause = evidence.paused_at(time)
    if pause is not None:
        return Reason(
            "recording stopped",
            f"{q.y} was computed while recording was stopped{at(pause)}: compute it outside of stop_recording()",
        )
    if gradient and evidence.recording_at(time):
        return Reason(
            "linear",
            f"{q.y} is a gradient that does not depend on {q.x}: what it is the gradient of is linear in {q.x}, so its "
            "second derivative is zero",
        )
    if not evidence.recording_at(time):
        return _outside(q, time, gradient)
    gone = left(q)
    if gone is not None:
        return gone
    if evidence.tracked.get(q.source._id, 0) > time and not isinstance(q.source, Variable):
        return late(q)
    return _perhaps_paused(
        q,
        f"{q.y} was not computed from anything that the tape watched by operations that have a derivative",
    )


def _perhaps_paused(q: Question, text: str) -> Reason:
    """No connection; if recording was stopped for a while, that may be why."""
    for pause in q.evidence.heard("paused"):
        return Reason(
            "recording stopped",
            f"{text}. Recording was stopped{at(pause)}: what is computed there is a constant",
        )
    return Reason("not connected", text)


def _constant_target(q: Question) -> Reason:
    gone = left(q)
    if gone is not None:
        return gone
    return Reason(
        "constant", f"{q.y} is a constant: it was made as one, and not computed from {q.x}"
    )


def _outside(q: Question, time: int, gradient: bool) -> Reason:
    """The target was computed while the tape was not recording."""
    if gradient:
        return Reason(
            "gradient taken outside",
            f"{q.y} is a gradient that was taken outside of this tape's block, so the tape did not record how it was "
            "computed: call inner.gradient(...) inside the outer tape's 'with' block",
        )
    move = "move its computation into the " + ("cell" if q.in_cell else "tape's 'with' block")
    if time < q.evidence.times[0]:
        return Reason(
            "computed before", f"{q.y} was computed before the tape began to record: {move}"
        )
    return Reason("computed after", f"{q.y} was computed when the tape no longer recorded: {move}")


def _unconnected(q: Question) -> Reason:
    return Reason("not connected", f"{q.y} was not computed from {q.x}{depends(q)}")


REASONS: tuple[Callable[[Question], Reason | None], ...] = (
    _no_tensor,
    _source_no_tensor,
    _whole_numbers,
    _never_entered,
    _rebound,
    _reset,
    _not_watched,
    _target_apart,
    blocked,
    watched_late,
    assigned,
    left,
    stopped,
)
"""What may be the reason, the surest first."""
