"""Where the target is not on the tape: it was computed elsewhere, or from nothing that the tape watched."""

from __future__ import annotations

from tapemagic.analysis.explain.advice import at
from tapemagic.analysis.explain.exit_causes import left_perhaps, left_surely
from tapemagic.analysis.explain.path_causes import held_before, late, on_another_thread
from tapemagic.analysis.explain.query import Question, Reason, perhaps_paused
from tapemagic.engine.recording import GRADIENT, time_of
from tapemagic.engine.tensor.variable import Variable


def target_apart(q: Question) -> Reason | None:
    """Why the tape does not know the target, if it does not."""
    i, evidence = q.target._id, q.evidence
    if i in evidence.tracked:
        return None
    if i == 0:
        return left_surely(q) or left_perhaps(q) or _constant_target(q)
    if isinstance(q.target, Variable):
        return Reason("not connected", f"{q.y} is a Variable, which was not computed from {q.x}")
    time, gradient = time_of(i), i < -GRADIENT
    pause = evidence.paused_at(time)
    if pause is not None:
        return Reason(
            "recording stopped",
            f"{q.y} was computed while recording was stopped{at(pause)}: compute it outside of stop_recording()",
        )
    if not evidence.recording_at(time):
        return _outside(q, time, gradient)
    gone = left_surely(q) or held_before(q)
    if gone is not None:
        return gone
    if gradient:
        return Reason(
            "linear",
            f"{q.y} is a gradient, and {q.x} does not occur in it: the first derivative is constant in {q.x}, so the "
            "second derivative is zero",
        )
    thread = on_another_thread(q)
    if thread is not None:
        return thread
    if evidence.tracked.get(q.source._id, 0) > time and not isinstance(q.source, Variable):
        return late(q)
    return left_perhaps(q) or perhaps_paused(
        q,
        f"{q.y} was not computed from anything that the tape watched by operations that have a derivative",
    )


def _constant_target(q: Question) -> Reason:
    return Reason(
        "constant", f"{q.y} is a constant: it was made as one, and not computed from {q.x}"
    )


def _outside(q: Question, time: int, gradient: bool) -> Reason:
    """The target was computed while the tape was not recording."""
    if gradient:
        return Reason(
            "gradient taken outside",
            f"{q.y} is a gradient that was taken outside of this tape's block, so the tape did not record how it was "
            f"computed: {_order(q)}",
        )
    move = f"move its computation into the {q.block}"
    if time < q.evidence.times[0]:
        return Reason(
            "computed before", f"{q.y} was computed before the tape began to record: {move}"
        )
    return Reason("computed after", f"{q.y} was computed when the tape no longer recorded: {move}")


def _order(q: Question) -> str:
    """How to get a second derivative."""
    if q.in_cell:
        return "ask for the second derivative with -o 2 in the %%tape line"
    return f"call the inner tape's gradient(...) inside the 'with' block of {q.program.tape}"
