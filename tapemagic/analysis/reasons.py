"""Why a gradient is None, in one sentence, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tapemagic.analysis.evidence import Evidence, Link, Names
from tapemagic.analysis.places import line_of
from tapemagic.analysis.values import SHOWN, span
from tapemagic.engine.recording import GRADIENT, time_of
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Traced
from tapemagic.engine.variable import Variable


@dataclass(frozen=True)
class Reason:
    """Why there is no gradient.

    Attributes
    ----------
    cause : str
        One of the causes in a word or two, the same for all Nones of a kind, such as ``"not watched"``.
    text : str
        A sentence in the user's names, with what to write instead.
    """

    cause: str
    text: str


@dataclass(frozen=True)
class Question:
    """A gradient that is None, and what is known of it.

    Attributes
    ----------
    tape : GradientTape
    evidence : Evidence
    target, source : object
        What was to be differentiated, and with respect to what.
    y, x : str
        What the user calls them.
    names : mapping of int to str
        What the user calls other values, by their numbers.
    bindings : sequence of (int, int or None)
        The numbers of the values that the source's name was bound to, and the lines, oldest first.
    in_cell : bool
        Whether a ``%%tape`` line says what is watched.
    """

    tape: GradientTape
    evidence: Evidence
    target: Any
    source: Any
    y: str
    x: str
    names: Names = field(default_factory=dict)
    bindings: Sequence[tuple[int, int | None]] = ()
    in_cell: bool = False

    @property
    def above(self) -> Mapping[int, None]:
        """The values on which the target depends by operations that have a derivative."""
        return self.evidence.above(self.target._id, blocked=False)

    @property
    def below(self) -> Mapping[int, None]:
        """The values that were computed from the source by operations that the tape recorded."""
        return self.evidence.below(self.source._id)

    def inputs(self) -> Iterator[Link]:
        """All inputs of the operations that made the target."""
        for number in self.above:
            yield from self.evidence.links.get(number, ())


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
    kind = f"{type(q.target).__module__}.{type(q.target).__name__}".removeprefix("builtins.")
    text = f"{q.y} is a {kind} and no tensor, so no tape knows how it was computed"
    exits = q.evidence.heard("left")
    if exits:
        name = q.names.get(exits[-1].number)
        what = f"{name} left" if name else "a value left"
        text += f": {what} the tape through {_way(exits[-1])}"
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
            f"{q.x} holds {_kind(q.source)} ({q.source.dtype}), and only real numbers have derivatives: "
            f"write {q.x} = {_as_real(q.source)}",
        )
    if q.target.dtype.kind not in "fc":
        return Reason(
            "integer dtype",
            f"{q.y} holds {_kind(q.target)} ({q.target.dtype}), which change in steps and have no derivative",
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
    if q.source._id in above or not any(i in above or i in q.evidence.leaves for i, _ in older):
        return None
    lines = [line for i, line in q.bindings if i == q.source._id]
    where = f" on line {lines[-1]}" if lines and lines[-1] else ""
    return Reason(
        "name bound anew",
        f"the name {q.x} was bound to a new value{where}, and {q.y} was computed from the old one, which the tape "
        f"watched: give the new value another name, or keep {q.x} in a Variable and write {q.x}.assign(...)",
    )


def _reset(q: Question) -> Reason | None:
    resets = q.evidence.heard("reset")
    if not resets or q.target._id in q.evidence.tracked:
        return None
    if not 0 < time_of(q.target._id) < resets[-1].number:
        return None
    return Reason(
        "reset",
        f"{q.y} was computed before tape.reset(){_at(resets[-1])}, which made the tape forget it: compute it again",
    )


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
        return Reason("not watched", f"{q.x} is not watched: {watch}{instead}")
    return Reason(
        "not watched",
        f"{q.x} is not watched: it is the result of an operation that this tape did not record, so it is a constant "
        f"to it. If it is to be a parameter, keep a Variable and write {q.x}.assign(...) in place of {q.x} = ...; "
        f"otherwise {watch}",
    )


def _not_read(q: Question) -> Reason:
    """A variable that the tape would watch, if it were used while the tape records."""
    apart = _target_apart(q)
    if apart is not None and apart.cause not in {"not connected", "constant"}:
        return apart
    text = f"{q.x} was not read while the tape recorded{_depends(q)}"
    for pause in q.evidence.heard("paused"):
        return Reason(
            "recording stopped",
            f"{text}. Recording was stopped{_at(pause)}: what is computed there is a constant",
        )
    return Reason("not connected", text)


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
            f"{q.y} was computed while recording was stopped{_at(pause)}: compute it outside of stop_recording()",
        )
    if gradient and evidence.recording_at(time):
        return Reason(
            "linear",
            f"{q.y} is a gradient that does not depend on {q.x}: what it is the gradient of is linear in {q.x}, so its "
            "second derivative is zero",
        )
    if not evidence.recording_at(time):
        return _outside(q, time, gradient)
    left = _left(q)
    if left is not None:
        return left
    if evidence.tracked.get(q.source._id, 0) > time and not isinstance(q.source, Variable):
        return _late(q)
    return Reason(
        "not connected",
        f"{q.y} was not computed from anything that the tape watched by operations that have a derivative",
    )


def _constant_target(q: Question) -> Reason:
    left = _left(q)
    if left is not None:
        return left
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


# -- both are on the tape, and the path between them is broken --------------------------------------


def _blocked(q: Question) -> Reason | None:
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
    return Reason(
        "no derivative",
        f"{link.operation} stands between {q.x} and {q.y}, and it has no derivative here: it changes in steps, or "
        "takes this argument only to choose by",
    )


def _watched_late(q: Question) -> Reason | None:
    own = id(q.source._value)
    late = any(
        (link.late and link.number == q.source._id) or (link.number <= 0 and link.key == own)
        for link in q.inputs()
    )
    return _late(q) if late else None


def _late(q: Question) -> Reason:
    return Reason(
        "watched too late",
        f"{q.x} was watched only after {q.y} had been computed: call tape.watch({q.x}) first, at the top of the block",
    )


def _assigned(q: Question) -> Reason | None:
    """A variable took on a value that was computed from the source: assigning records nothing."""
    above, below = q.above, q.below
    for event in q.evidence.heard("assigned"):
        if event.number in above and event.what in below:
            name = q.names.get(event.number, "a variable")
            return Reason(
                "assigned",
                f"{q.y} depends on the variable {name}, which was given a value computed from {q.x}{_at(event)}: "
                "assigning is not recorded. Compute with the tensor itself, and assign afterwards",
            )
    return None


def _stopped(q: Question) -> Reason | None:
    """An intermediate value was computed while the tape did not listen."""
    for link in q.inputs():
        if link.number >= -1:
            continue
        time = time_of(link.number)
        pause = q.evidence.paused_at(time)
        if pause is not None:
            return Reason(
                "recording stopped",
                f"{q.y} was computed from a value that was computed while recording was stopped{_at(pause)}, so that "
                "value is a constant: compute it outside of stop_recording()",
            )
        if not q.evidence.recording_at(time):
            return Reason(
                "computed before",
                f"{q.y} was not computed from {q.x} while the tape recorded{_depends(q)}. One of the values in it had "
                f"been computed before: if that was from {q.x}, move it into the block",
            )
    return None


def _left(q: Question) -> Reason | None:
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
        return Reason("left the tape", f"{what} left the tape through {_way(event)}")
    return None


def _unconnected(q: Question) -> Reason:
    return Reason("not connected", f"{q.y} was not computed from {q.x}{_depends(q)}")


REASONS: tuple[Callable[[Question], Reason | None], ...] = (
    _no_tensor,
    _source_no_tensor,
    _whole_numbers,
    _never_entered,
    _rebound,
    _reset,
    _not_watched,
    _target_apart,
    _blocked,
    _watched_late,
    _assigned,
    _left,
    _stopped,
)
"""What may be the reason, the surest first."""


# -- words ------------------------------------------------------------------------------------------

INSTEAD = {
    "float()": "write NumPy's functions in place of float() and those of math, such as np.sin(x) for math.sin(x), and "
    "np.stack([x, y]) for np.array([x, y])",
    "np.asarray": "call NumPy on the tensor itself; of several tensors make one with np.stack([x, y])",
    "int()": "whole numbers have no derivative",
}


def _way(event: Any) -> str:
    """How a value left the tape, where, and what to write instead."""
    library = event.place.library if event.place else ""
    through = event.what
    if library == "numpy":
        through = "NumPy, which made a plain array of a list"
    elif library:
        through = f"{library}, which converted it with {event.what}"
    instead = INSTEAD.get(event.what)
    if library == "numpy":
        instead = "make one tensor of several with np.stack([x, y]) first"
    elif event.what.startswith("np.") and event.what != "np.asarray":
        instead = "its result has no derivative"
    elif " to " in event.what:
        instead = "whole numbers and truth values have no derivative"
    elif library:
        instead = "a tape follows NumPy alone"
    elif instead is None:
        instead = "stay with the tensor"
    return f"{through}{_at(event)}: {instead}"


def _at(event: Any) -> str:
    """Where something happened: " on line 3 (y = float(x))"."""
    return f" on {line_of(event.place)}" if event.place else ""


def _depends(q: Question) -> str:
    """What the target does depend on, if that has names."""
    above = q.above
    leaves = sorted(i for i in above if i in q.evidence.leaves)
    names = [q.names[i] for i in leaves if i in q.names]
    return f"; it depends on {_listed(names)}" if names else ""


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _kind(value: Any) -> str:
    return "truth values" if value.dtype.kind == "b" else "whole numbers"


def _as_real(value: Any) -> str:
    """The same value as one writes it with real numbers."""
    real = value._value.astype(float)
    if not real.shape:
        return span(real)
    return f"np.array({span(real)})" if real.size <= SHOWN else "np.array(..., dtype=float)"
