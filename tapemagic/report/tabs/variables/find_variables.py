"""The table of variables: a row for every named value, with its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.explain.lazy_values import with_numbers
from tapemagic.report.subject import Role, Subject
from tapemagic.report.summary import Summary, summarise
from tapemagic.report.variable_versions import format_reads


@dataclass(frozen=True)
class NamedValue:
    """A row of the table of variables.

    Attributes
    ----------
    index : int
    name : str
        All names of the value, separated by commas.
    role : {'watched', 'variable', 'computed', 'target', 'constant'}
    value : Summary
    gradient : Summary or None
        The gradient of the targets, or of their sum, or None if they do not depend on the value.
    line : int or None
        The line of the cell that made the value.
    reads : str
        The values that a variable had when it was read, if it has changed: ``5.0, 4.0``.
    has_gradient : bool
        Whether there is a gradient to show, be it a None: not for constants, nor without a target, nor for what the
        cell computed from gradients.
    """

    index: int
    name: str
    role: Role
    value: Summary
    gradient: Summary | None = None
    line: int | None = None
    reads: str = ""
    has_gradient: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.value.shape

    @property
    def dtype(self) -> str:
        """The dtype of the value."""
        return self.value.dtype

    @property
    def text(self) -> str:
        """The value in one line, with earlier values of a variable: 5.0 when used, 4.7 now."""
        return f"{self.reads} when used, {self.value.text} now" if self.reads else self.value.text


def find(subject: Subject) -> tuple[NamedValue, ...]:
    """Return a row for every named value, oldest first, and one for all names of a watched value."""
    snapshot, context = subject.whole, subject.context
    output_ids = (record[-1] for record in snapshot.records)
    lines: dict[Any, int | None] = dict(zip(output_ids, snapshot.origins.lines, strict=True))
    rows: dict[str | int, NamedValue] = {}
    after = subject.after_gradients
    for name, value in dict([*subject.sources, *context.named, *subject.targets]).items():
        number = id_of(value) if isinstance(value, Traced) else 0
        role = subject.roles.get(number, "computed" if snapshot.tracks(number) else "constant")
        key = (number if role in ("watched", "variable") else 0) or name
        if key in rows:
            rows[key] = replace(rows[key], name=f"{rows[key].name}, {name}")
            continue
        array = unwrap(value) if isinstance(value, Traced) else value
        gradient = _gradient(subject, number)
        rows[key] = NamedValue(
            len(rows),
            name,
            role,
            summarise(array),
            None if gradient is None else summarise(gradient),
            # A reader looks for the line that assigned the name, which may not be the one that computed the value.
            context.assigned.get(name, lines.get(number)),
            format_reads(array, subject.reads.get(number, ())),
            role != "constant"
            and bool(subject.targets)
            and not (gradient is None and number in after),
        )
    return tuple(rows.values())


def _gradient(subject: Subject, number: int) -> Any:
    """Return the gradient of the sum of all targets with respect to a value, by its id; it may be missing.

    For a variable with several values, it is the sum of the gradients of these.
    """
    if number not in subject.split.versions:
        return subject.adjoints.get(number)
    gradients = [
        with_numbers(unwrap(gradient))
        for (_, s, level), gradient in subject.derivatives.gradients.items()
        if level == 1 and gradient is not None and id_of(subject.sources[s][1]) == number
    ]
    return sum(gradients[1:], gradients[0]) if gradients else None


def not_finite(rows: Sequence[NamedValue]) -> tuple[set[int], set[int]]:
    """Return the rows where a nan or infinity may have begun: those of values, and those of gradients.

    Of values these are the constants, and the first one that was computed or watched; gradients are computed from the
    last value to the first.
    """
    bad = [row for row in rows if not row.value.is_finite]
    first = [row.index for row in bad if row.role != "constant"][:1]
    gradients = [row.index for row in rows if row.gradient and not row.gradient.is_finite]
    return {row.index for row in bad if row.role == "constant"} | {*first}, set(gradients[-1:])
