"""The table of gradients: a row with a value, or the reason for a None, for every derivative; full matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.explain.causes import why_none
from tapemagic.explain.formatting import derivative_symbol
from tapemagic.explain.missing_parts import blocked_gradient, missing
from tapemagic.explain.query import Question
from tapemagic.report.derivatives import Key, name_of_sum
from tapemagic.report.request import Kind
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary, summarise
from tapemagic.report.tabs.gradients.check_result import Check, Checked
from tapemagic.report.tabs.gradients.derivative_checks import Checker, checks_of, lacking_text
from tapemagic.report.tabs.gradients.jacobians import hessians, jacobians
from tapemagic.report.tabs.gradients.matrices import ASKING, Matrix, PendingMatrix
from tapemagic.report.tabs.gradients.next_step import next_step
from tapemagic.report.tabs.gradients.numeric_check import MAX_WORK
from tapemagic.report.tabs.gradients.own_gradients import (
    OwnGradient,
    checked_own_gradients,
    own_gradients,
)


@dataclass(frozen=True)
class Derivative:
    """A row of the table of gradients: a value, or None with its reason."""

    target: str
    source: str
    order: int
    shape: tuple[int, ...]
    text: str | None
    reason: str | None = None
    summed: str = ""
    """The name of the array of whose sum this is the derivative: the target, or the derivative one order below."""
    value: Summary | None = None
    check: Check | None = None
    """The check by finite differences."""

    @property
    def symbol(self) -> str:
        """The symbol of the derivative: d²y/dx²."""
        return derivative_symbol(self.target, self.source, self.order)

    @property
    def note(self) -> str:
        """The note that this is the gradient of a sum, and no full matrix, or '' for a scalar."""
        return f"the gradient of the sum of {self.summed}" if self.summed else ""


@dataclass(frozen=True)
class GradientFindings:
    """The contents of the tab Gradients.

    - `rows`: The derivatives of the targets with respect to the sources, order by order.
    - `matrices`: The full matrices that were requested.
    - `own`: The gradients that the program took itself.
    - `next_step`: A sentence on one more step of training, or ''.
    """

    rows: tuple[Derivative, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    own: tuple[OwnGradient, ...] = ()
    next_step: str = ""

    def checks(self) -> list[Checked]:
        """Return the derivatives that were compared with finite differences, or could not be, in the order shown."""
        entries: list[Derivative | OwnGradient | Matrix] = [*self.rows, *self.own, *self.matrices]
        # Several gradients of the program may have the same symbol, but not the same name.
        return [
            Checked(getattr(entry, "name", "") or entry.symbol, entry.check)
            for entry in entries
            if entry.check
        ]


def find(subject: Subject) -> GradientFindings:
    """Find the rows of the table of gradients, the full matrices, and the gradients that the program took."""
    rows, matrices = subject.shared(gradient_rows), _finished(subject, subject.matrices)
    keys = zip(subject.derivatives.gradients, rows, strict=True)
    incomplete = {key for key, row in keys if row.reason and row.text is not None}
    step = next_step(subject, incomplete)
    return GradientFindings(rows, matrices, subject.shared(own_gradients), step)


def checked(subject: Subject, may_run: bool) -> GradientFindings:
    """Find the same, with as many derivatives compared with finite differences as `MAX_WORK` allows."""
    checker = Checker(subject, MAX_WORK, may_run)
    rows, own = _rows(subject, checks_of(checker)), checked_own_gradients(checker)
    # The entries of the matrices were not kept, so the matrices are computed again.
    matrices = requested_matrices(subject, subject.whole.tape(), checker)
    return GradientFindings(rows, _finished(subject, matrices), own)


def _finished(subject: Subject, matrices: Sequence[PendingMatrix]) -> tuple[Matrix, ...]:
    # With --compute, the hint to use --compute would be wrong.
    hint = ASKING if subject.request.compute is None else ""
    return tuple(matrix.finished(hint) for matrix in matrices)


def gradient_rows(subject: Subject) -> tuple[Derivative, ...]:
    """Return a row for every derivative; with the option ``check``, compared with finite differences."""
    return _rows(subject, checks_of(subject.shared(Checker)) if subject.request.check else {})


def _rows(subject: Subject, checks: Mapping[Key, Check]) -> tuple[Derivative, ...]:
    return tuple(_row(subject, key, checks.get(key)) for key in subject.derivatives.gradients)


MATRICES: dict[Kind, Callable[..., list[PendingMatrix]]] = {
    "jacobian": jacobians,
    "hessian": hessians,
}
"""The functions that find the full matrices of each kind."""


def requested_matrices(
    subject: Subject, tape: Tape, checker: Checker | None = None
) -> list[PendingMatrix]:
    """Return the full matrices that were requested; those of Dask arrays have no numbers yet.

    With a `checker`, or the option ``check``, they are compared with finite differences.
    """
    request = subject.request
    if request.check and checker is None:
        checker = subject.shared(Checker)
    reasons = reasons_for_none(subject) if request.matrices else {}
    return [
        matrix
        for kind, find_matrices in MATRICES.items()
        if kind in request.matrices
        for matrix in find_matrices(tape, request.targets, request.sources, reasons, checker)
    ]


def reasons_for_none(subject: Subject) -> dict[tuple[int, int], str | None]:
    """Return the reasons for gradients of first order that are None, by target and source."""
    return {
        (t, s): None if gradient is not None else _reason(subject, (t, s, 1))
        for (t, s, level), gradient in subject.derivatives.gradients.items()
        if level == 1
    }


def _row(subject: Subject, key: Key, check: Check | None) -> Derivative:
    """A row, with a reason if the derivative is None or a part of it is missing."""
    t, s, level = key
    target, source = subject.targets[t], subject.sources[s]
    gradient = subject.derivatives.gradients[key]
    value = None if gradient is None else summarise(unwrap(gradient))
    # What a check found replaces what the source shows.
    is_decided = check is not None and (
        check.is_lower_wrong or (check.is_rerun and value is not None)
    )
    reason = "" if is_decided else _reason(subject, key)
    if check and check.outcome == "lacks":
        symbol = derivative_symbol(target[0], source[0], level)
        reason = lacking_text(check, symbol, source[0])
    return Derivative(
        target[0],
        source[0],
        level,
        tuple(source[1].shape),
        None if value is None else value.text,
        reason or None,
        name_of_sum(target, source, level),
        value,
        check,
    )


def _reason(subject: Subject, key: Key) -> str:
    return subject.once(("reason", key), partial(_why_incomplete, subject, key))


def _why_incomplete(subject: Subject, key: Key) -> str:
    """The reason why a derivative is None, or a part of it is missing, or '' if it is whole."""
    t, s, level = key
    table = subject.derivatives
    question = _question(subject, t, s)
    y, x = question.target_name, question.source_name
    below = table.gradients.get((t, s, level - 1))
    if table.gradients[key] is not None:
        return missing(question, below)
    # The error of a rule is the reason, so no other is searched for.
    if key in table.problems:
        return table.problems[key]
    if level == 1:
        return why_none(question).text
    if below is None:
        return f"there is no derivative of order {level - 1} to differentiate"
    if kept := blocked_gradient(question):
        kept = kept.removesuffix(".")
        return f"on the tape, the derivative of order {level - 1} doesn't depend on {x}, but {kept}"
    # The derivative below this one doesn't depend on x, so y is a polynomial in x around this point.
    what = "linear" if level == 2 else f"a polynomial of degree {level - 1} or less"
    return f"it is zero, because {y} is {what} in {x} near this point"


def _question(subject: Subject, t: int, s: int) -> Question:
    (y, target), (x, source) = subject.targets[t], subject.sources[s]
    context = subject.context
    bindings = context.bindings.get(x, ())
    return Question(
        subject.whole, target, source, y, x, subject.known_names, bindings, context.program
    )
