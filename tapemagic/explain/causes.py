"""Find out why a gradient is None, and say what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapemagic.engine.events import is_flat
from tapemagic.engine.recording import CONSTANT, is_stamp, time_of
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.advice import as_real, at, kind, replacement, with_article
from tapemagic.explain.branches import branch_taken, constant_branch, constant_inside
from tapemagic.explain.carrying_words import Certainty
from tapemagic.explain.exit_causes import (
    NOT_TRACKED,
    exit_text,
    exits,
    perhaps_through_exit,
    surely_through_exit,
)
from tapemagic.explain.path_causes import (
    assigned,
    blocked,
    computed_before,
    computed_while_stopped,
    on_another_thread,
    target_apart,
    watched_late,
)
from tapemagic.explain.program_text import expression_of
from tapemagic.explain.query import Question, Reason, branch_note, dependency_note, with_pause_note
from tapemagic.explain.reassignment import reassignment

CHOOSING = {
    "np.greater", "np.greater_equal", "np.less", "np.less_equal", "np.equal", "np.not_equal", "bool()"
}  # fmt: skip
"""Conversions that a program uses to choose a branch."""

REASSIGNED = "name reassigned"
"""The cause of a None where the name of the source belongs to a new value."""

Test = Callable[[Question], Reason | None]


def why_none(question: Question) -> Reason:
    """Return the reason for a None: the first of all possible reasons for which there is evidence."""
    return _first(REASONS, question) or Reason(
        "not connected",
        f"Nothing recorded on the tape leads from {question.source_name} to "
        f"{question.target_name}{dependency_note(question)}"
        f"{branch_note(question) or branch_taken(question)}.",
    )


def why_without_records(q: Question) -> Reason | None:
    """Return a reason that doesn't need the records, for a tape that has deleted its records, or None if unclear."""
    reason = _first((_source_no_tensor, _no_tensor, _whole_numbers, _made_afterwards), q)
    if reason is not None:
        return reason
    # A stamp is the time at which an untracked result was computed.
    if is_stamp(id_of(q.target)) and not q.snapshot.recording_at(time_of(id_of(q.target))):
        return target_apart(q)
    recorded = has_id(q.source) and not isinstance(q.source, Variable)
    return None if recorded or id_of(q.source) in q.snapshot.leaves else _not_watched(q)


def _first(tests: Iterable[Test], q: Question) -> Reason | None:
    return next(filter(None, (test(q) for test in tests)), None)


# -- reasons that need only the target and the source -----------------------------------------------


def _source_no_tensor(q: Question) -> Reason | None:
    if isinstance(q.source, Traced):
        return None
    type_name = type_of(q.source)
    if (change := reassignment(q)) and change.was_variable:
        return Reason(
            REASSIGNED,
            f"{q.source_name} is {with_article(type_name)}, and not a Variable anymore: {change.line} replaced it. "
            f"Write {change.instead} instead.",
        )
    if any(i in q.snapshot.leaves for i, _ in q.bindings):
        return Reason(
            REASSIGNED,
            f"{q.source_name} is {with_article(type_name)} now, but it was a tensor when the tape recorded. Run "
            f"its cell again, "
            "or give one of the two another name.",
        )
    plain = "plain " * (type_name in ("float", "int", "bool", "complex", "list"))
    what = f"a plain {type_name}" if plain else with_article(type_name)
    advice = f"Write {_as_variable(q.source_name, q.source)}"
    if q.in_cell:
        advice = f"Name it on the %%tape line, or write {_as_variable(q.source_name, q.source)}"
    return Reason(
        "not watched", f"{q.source_name} is {what}, so the tape can't track it. {advice}."
    )


def _as_variable(name: str, value: Any) -> str:
    """Return the assignment that replaces a plain value by a Variable with real numbers."""
    # NumPy infers an integer dtype for [1, 2], which has no derivative, hence dtype=float.
    target = f"{name} = " * name.isidentifier()
    try:
        kind_of_numbers = np.asarray(value).dtype.kind
    except (TypeError, ValueError):
        kind_of_numbers = "O"
    if kind_of_numbers in "fc":
        arguments = name if target else "..."
    elif kind_of_numbers in "iub" and not isinstance(value, (str, bytes)):
        arguments = f"{name if target else '...'}, dtype=float"
    else:
        arguments = "..."
    return f"{target}tapemagic.Variable({arguments})"


def _no_tensor(q: Question) -> Reason | None:
    if isinstance(q.target, Traced):
        return None
    if q.target is None:
        return Reason(
            "no tensor",
            f"{q.target_name} is None. Does the function that computes it return a value?",
        )
    if branch := constant_instead(q):
        return Reason("constant", branch)
    # A conversion that lost a derivative explains more than one that changes in steps.
    sure = sorted(exits(q, Certainty.LIKELY), key=is_flat)
    text = f"{q.target_name} is {with_article(type_of(q.target))}, not a tensor"
    chosen = sure or exits(q, Certainty.PERHAPS)[-1:]
    if not chosen:
        more = branch_note(q) or ". Compute it from tensors with NumPy"
        return Reason(NOT_TRACKED, f"{text}, so no tape knows how it was computed{more}.")
    advice = replacement(chosen[0], q.program.namespace)
    return Reason(NOT_TRACKED, f"{text}: {exit_text(q, chosen[0])}. {advice}.")


def constant_instead(q: Question) -> str:
    """Say which branch returned a plain number. Return '' if a conversion may have made the number."""
    # A comparison only chooses the branch. Any other conversion may have produced the number itself.
    branch = constant_branch(q.program, q.target_name, q.target, q.source_name)
    left = exits(q, Certainty.PERHAPS) if branch else []
    return branch if all(event.what in CHOOSING for event in left) else ""


def _constant_inside(q: Question) -> Reason | None:
    """Blame a user function that compared the source and returned a constant for use in the target."""
    left = exits(q, Certainty.PERHAPS) or exits(q, Certainty.NO)
    if not left or any(event.what not in CHOOSING for event in left):
        return None
    places = [event.place for event in left if event.place]
    text = constant_inside(q.program, q.target_name, q.source_name, places)
    return Reason("constant", text) if text else None


def type_of(value: Any) -> str:
    """Return the type of a value as written in code."""
    module, name = type(value).__module__, type(value).__name__
    return name if module == "builtins" else f"{module}.{name}"


def _whole_numbers(q: Question) -> Reason | None:
    if q.source.dtype.kind not in "fc":
        real = as_real(q.source)
        watched = id_of(q.source) in q.snapshot.tracked
        if isinstance(q.source, Variable) or not (watched or q.in_cell):
            real = f"tapemagic.Variable({real})"
        elif not q.in_cell:  # the program watches it already
            real = f"tapemagic.constant({real})"
        return Reason(
            "integer dtype",
            f"{q.source_name} holds {kind(q.source)} ({q.source.dtype}), which have no derivative. Write "
            f"{q.source_name} = {real}.",
        )
    if q.target.dtype.kind not in "fc":
        numbers = f"{q.target_name} holds {kind(q.target)} ({q.target.dtype})"
        return Reason("integer dtype", f"{numbers}, which change in steps and have no derivative.")
    return None


def _never_entered(q: Question) -> Reason | None:
    text = "The tape never recorded. Compute inside 'with tapemagic.GradientTape() as tape:'."
    return None if q.snapshot.times else Reason("not recorded", text)


# -- the source is not on the tape ------------------------------------------------------------------


def _rebound(q: Question) -> Reason | None:
    """Blame a name that is bound to another value now than while the tape recorded."""
    # The target depends on an older value of the name. `bindings` lists all its values, the oldest first.
    above = q.snapshot.ancestors(id_of(q.target), blocked=True)
    older = [i for i, _ in q.bindings if i != id_of(q.source)]
    if id_of(q.source) in above or above.keys().isdisjoint(older):
        return None
    lines = [line for i, line in q.bindings if i == id_of(q.source)]
    where = f" on line {lines[-1]}" if lines and lines[-1] else ""
    keep = f"keep {q.source_name} in a Variable and use {q.source_name}.assign(...)"
    if (change := reassignment(q)) and change.was_variable:
        where, keep = f" on {change.line}", f"keep the Variable: write {change.instead}"
    return Reason(
        REASSIGNED,
        f"You reassigned {q.source_name}{where}, but {q.target_name} uses the old value. Give the new value "
        f"another name, or {keep}.",
    )


def _reset(q: Question) -> Reason | None:
    """Blame a call of ``reset``, which deleted the records of the source or the target."""
    # The last reset deleted all that earlier ones had left.
    for event in q.snapshot.events_of("reset")[-1:]:
        reset = f"{q.program.tape}.reset(){at(event)}, which deleted the recording"
        watched = id_of(q.source) in event.what and id_of(q.source) not in q.snapshot.tracked
        if id_of(q.target) not in q.snapshot.tracked and 0 < id_of(q.target) < event.number:
            text = f"{q.target_name} was computed before {reset}. Compute it again."
            return Reason("reset", text)
        if watched and isinstance(q.source, Variable):
            return Reason(
                "reset", f"{q.source_name} was used only before {reset}{dependency_note(q)}."
            )
        if watched:
            text = f"{q.source_name} was watched before {reset}. Call {q.program.tape}.watch({q.source_name}) again."
            return Reason("reset", text)
    return None


def _made_afterwards(q: Question) -> Reason | None:
    """Blame a source that is younger than the target: the cell that creates it ran again."""
    # Ids and times come from one clock, so a later id means a Variable that was created later.
    young = isinstance(q.source, Variable) and id_of(q.source) > q.time
    if not young or id_of(q.source) in q.snapshot.tracked:
        return None
    return Reason(
        "made afterwards",
        f"{q.source_name} was created after {q.target_name} was computed, so {q.target_name} used an older "
        f"value of that name. Run the tape's "
        f"{'cell' if q.in_cell else 'block'} again.",
    )


def _not_watched(q: Question) -> Reason | None:
    source, call = q.source, f"{q.program.tape}.watch({q.source_name})"
    if id_of(source) in q.snapshot.tracked:
        return None
    watch = f"Call {call} before you use it"
    if q.in_cell:
        watch = f"Name it on the %%tape line, or call {call} before you use it"
    if isinstance(source, Variable):
        if not source.trainable:
            kind_of = "a Variable with trainable=False, which tapes don't watch automatically"
            return Reason("not trainable", f"{q.source_name} is {kind_of}. {watch}.")
        if not q.snapshot.contents.watches_variables:
            why = "the tape was created with watch_accessed_variables=False"
            return Reason("not watched", f"{q.source_name} isn't watched, because {why}. {watch}.")
        return _not_read(q)
    if replaced := _replaced(q, watch):
        return replaced
    if id_of(source) == CONSTANT or (has_id(source) and id_of(source) not in q.snapshot.links):
        if has_id(source):
            text = (
                f"This tape isn't watching {q.source_name} (each tape keeps its own list). {watch}."
            )
        else:
            text = f"{q.source_name} isn't watched. {watch}{', or make it a Variable' * (not q.in_cell)}."
        return Reason("not watched", text)
    if not q.source_name.isidentifier():
        is_code = expression_of(q.source_name) is not None
        return Reason(
            "not watched",
            f"{q.source_name} is the result of an operation that this tape didn't record, so the tape sees a constant. "
            "Differentiate with respect to the value that it was taken from"
            f"{f', or {watch[0].lower()}{watch[1:]}' * is_code}.",
        )
    return Reason(
        "not watched",
        f"{q.source_name} is the result of an operation that this tape didn't record, so the tape sees a "
        f"constant. {watch}. "
        f"If {q.source_name} is a parameter, keep it in a Variable and write {q.source_name}.assign(...) "
        f"instead of {q.source_name} = ...",
    )


def _replaced(q: Question, watch: str) -> Reason | None:
    """Blame a line such as `w = w - 0.1 * g` in a training loop, which binds w to a tensor: the Variable is gone."""
    change = reassignment(q)
    if change is None:
        return None
    if change.was_variable:
        return Reason(
            REASSIGNED,
            f"{q.source_name} isn't a Variable anymore: {change.line} replaced it with a new tensor, which "
            f"this tape doesn't watch. Write {change.instead} instead.",
        )
    return Reason(
        "not watched",
        f"{q.source_name} is a new tensor since {change.line}, and this tape doesn't watch it. If {q.source_name} was "
        f"a Variable before, write {change.instead} instead. Otherwise, {watch[0].lower()}{watch[1:]}.",
    )


def _not_read(q: Question) -> Reason:
    """Return the reason for a Variable that wasn't used while the tape recorded."""
    for test in (target_apart, computed_before, on_another_thread, computed_while_stopped):
        reason = test(q)
        if reason is not None and reason.cause not in {"not connected", "constant"}:
            return reason
    return with_pause_note(
        q, f"{q.source_name} wasn't used while the tape recorded{dependency_note(q)}"
    )


def _swapped(q: Question) -> Reason | None:
    """Blame swapped arguments: the source was computed from the target."""
    below = q.snapshot.ancestors(id_of(q.source), blocked=True)
    if q.target is q.source or id_of(q.target) not in below:
        return None
    return Reason(
        "not connected",
        f"{q.source_name} was computed from {q.target_name}, not {q.target_name} from {q.source_name}. Put the "
        f"target first, then the source.",
    )


# Source and target alone prove the first reasons. The next need the records, and guesses ("perhaps") come last.
REASONS: tuple[Test, ...] = (
    _source_no_tensor, _no_tensor, _whole_numbers, _never_entered, _swapped, _rebound, _reset, _made_afterwards,
    _not_watched, target_apart, blocked, watched_late, assigned, _constant_inside,
    surely_through_exit, computed_before,
    on_another_thread, computed_while_stopped, perhaps_through_exit,
)  # fmt: skip
"""Tests for reasons, the most certain first."""
