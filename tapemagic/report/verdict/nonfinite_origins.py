"""Find where the nan or infinity of each target, or of its gradients, began."""

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
    """Find the first nan or infinity behind each target, or else behind its gradients."""
    snapshot = subject.whole
    facts: list[NonFinite] = []
    for t, (_, target) in enumerate(subject.targets):
        all_gradients = subject.derivatives.gradients.items()
        gradients = [g for (of, _, level), g in all_gradients if of == t and level == 1]
        fact = None
        if not is_finite(unwrap(target)):
            fact = _before_assignment(
                subject, first_nonfinite(snapshot, snapshot.ancestors(id_of(target), blocked=True))
            )
        # The gradients of a nan are nan as well, so they matter only for a finite target.
        elif not all(is_finite(unwrap(g)) for g in gradients if g is not None):
            fact = first_nonfinite_gradient(snapshot, target)
        if fact is not None or (fact := _nonfinite_of_higher_order(subject, t)):
            facts.append(replace(fact, target=id_of(target)))
    return tuple(facts)


def _before_assignment(subject: Subject, fact: NonFinite | None) -> NonFinite | None:
    """Find the operation that computed a nan which the cell then assigned to a Variable."""
    if (
        fact is None
        or not (assignment := bad_assignment(subject, fact))
        or type(assignment.what) is not int
    ):
        return fact
    before = first_nonfinite(subject.whole, subject.whole.ancestors(assignment.what, blocked=True))
    return fact if before is None or before.cause == "input" else before


def _nonfinite_of_higher_order(subject: Subject, t: int) -> NonFinite | None:
    """Find the first nan or infinity in the backward pass from a finite derivative of a target."""
    gradients = subject.derivatives.gradients
    for (of, s, level), g in gradients.items():
        if of != t or level < 2 or g is None or is_finite(unwrap(g)):
            continue
        below = gradients.get((of, s, level - 1))
        if below is not None and is_finite(unwrap(below)):
            fact = first_nonfinite_gradient(subject.whole, below)
            return None if fact is None else replace(fact, order=level)
    return None
