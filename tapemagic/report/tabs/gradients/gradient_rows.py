"""The rows of the table of gradients: a value, or the reason for a None."""

from __future__ import annotations

from functools import partial
from math import inf

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.explain.causes import why_none
from tapemagic.explain.missing_parts import blocked_gradient, missing
from tapemagic.explain.query import Question
from tapemagic.report.subject import Subject
from tapemagic.report.summary import summarise
from tapemagic.report.tabs.gradients.check_result import Check
from tapemagic.report.tabs.gradients.derivatives import Derivative, Key, name_of_sum
from tapemagic.report.tabs.gradients.numeric_check import checks_of


def gradient_rows(
    subject: Subject, check: bool = False, seconds: float = inf
) -> dict[Key, Derivative]:
    """A row for every derivative that was taken; with `check`, those of first order are compared, for some seconds."""
    checks = checks_of(subject, seconds) if check else {}
    return {key: _row(subject, key, checks.get(key)) for key in subject.found.gradients}


def reasons_for_none(subject: Subject) -> dict[tuple[int, int], str | None]:
    """The reasons for gradients of first order that are None, by target and source; None for others."""
    return {
        (t, s): None if gradient is not None else _reason(subject, (t, s, 1))
        for (t, s, level), gradient in subject.found.gradients.items()
        if level == 1
    }


def _row(subject: Subject, key: Key, check: Check | None) -> Derivative:
    """A row, with a reason if the derivative is None or a part of it is missing."""
    t, s, level = key
    target, source = subject.targets[t], subject.sources[s]
    gradient = subject.found.gradients[key]
    value = None if gradient is None else summarise(unwrap(gradient))
    return Derivative(
        target[0],
        source[0],
        level,
        tuple(source[1].shape),
        None if value is None else value.text,
        _reason(subject, key) or None,
        name_of_sum(target, source, level),
        value,
        check,
    )


def _reason(subject: Subject, key: Key) -> str:
    return subject.once(("reason", key), partial(_why_incomplete, subject, key))


def _why_incomplete(subject: Subject, key: Key) -> str:
    """The reason why a derivative is None, or a part of it is missing; empty if it is whole."""
    t, s, level = key
    found = subject.found
    question = _question(subject, t, s)
    y, x = question.target_name, question.source_name
    below = found.gradients.get((t, s, level - 1))
    if found.gradients[key] is not None:
        return missing(question, below)
    if key in found.problems:
        return found.problems[key]
    if level == 1:
        return why_none(question).text
    if below is None:
        return f"there is no derivative of order {level - 1} to differentiate"
    if kept := blocked_gradient(question):
        return f"On the tape, the derivative of order {level - 1} doesn't depend on {x}, but {kept.rstrip('.')}."
    shape = "linear" if level == 2 else f"a polynomial of degree {level - 1} or less"
    return f"Zero: near this point, {y} is {shape} in {x}."


def _question(subject: Subject, t: int, s: int) -> Question:
    (y, target), (x, source) = subject.targets[t], subject.sources[s]
    context = subject.context
    bindings = context.bindings.get(x, ())
    return Question(
        subject.whole, target, source, y, x, subject.known_names, bindings, context.program
    )
