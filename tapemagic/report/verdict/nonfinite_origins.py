"""The place where the first nan or infinity of each target began."""

from __future__ import annotations

from dataclasses import replace

from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.nonfinite import (
    NonFinite,
    first_nonfinite,
    first_nonfinite_gradient,
    is_finite,
)
from tapemagic.report.subject import Subject
from tapemagic.report.verdict.nonfinite_text import bad_assignment


def nonfinite_origins(subject: Subject) -> tuple[NonFinite, ...]:
    """For each target, the first nan or infinity among the values it was computed from, or else of its gradients."""
    snapshot = subject.whole
    facts: list[NonFinite] = []
    for t, (_, target) in enumerate(subject.targets):
        found = subject.found.gradients.items()
        gradients = [g for (of, _, level), g in found if of == t and level == 1]
        fact = None
        if not is_finite(unwrap(target)):
            fact = _before_assignment(
                subject, first_nonfinite(snapshot, snapshot.ancestors(id_of(target), blocked=True))
            )
        elif not all(is_finite(unwrap(g)) for g in gradients if g is not None):
            fact = first_nonfinite_gradient(snapshot, target)
        if fact is not None or (fact := _nonfinite_of_higher_order(subject, t)):
            facts.append(replace(fact, target=id_of(target)))
    return tuple(facts)


def _before_assignment(subject: Subject, fact: NonFinite | None) -> NonFinite | None:
    """Of an operand that is a variable, which was given a nan in the cell, the operation that made the nan."""
    if fact is None or not (given := bad_assignment(subject, fact)) or type(given.what) is not int:
        return fact
    before = first_nonfinite(subject.whole, subject.whole.ancestors(given.what, blocked=True))
    return fact if before is None or before.cause == "input" else before


def _nonfinite_of_higher_order(subject: Subject, t: int) -> NonFinite | None:
    """The first nan or infinity on the way back from a finite derivative of a target."""
    found = subject.found.gradients
    for (of, s, level), g in found.items():
        if of != t or level < 2 or g is None or is_finite(unwrap(g)):
            continue
        below = found.get((of, s, level - 1))
        if below is not None and is_finite(unwrap(below)):
            fact = first_nonfinite_gradient(subject.whole, below)
            return None if fact is None else replace(fact, order=level)
    return None
