"""Training: the loss and the gradients over the steps of a loop that assigns Variables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tapemagic.analysis.formatting import derivative_symbol, format_number, without_subscript
from tapemagic.analysis.report.dead_units import dead_units
from tapemagic.analysis.report.series import Series, series_of
from tapemagic.analysis.report.subject import Subject
from tapemagic.analysis.report.training_flags import gradient_flags, loss_flags, weak_gradients
from tapemagic.engine.tape.gradient_steps import GradientStep, number_of
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.engine.tensor.variable import Variable

MAX_VARIABLES = 12
"""The number of Variables that are shown: those with the largest gradients."""

MAX_ROWS = 8
"""The number of steps in the table."""


@dataclass(frozen=True)
class Training:
    """The loss and the norms of gradients over the steps of a loop.

    Attributes
    ----------
    steps : int
        The number of steps: each is a value of the loss, with the gradients that the program took of it.
    line : int or None
        The line that took the gradients of the last step, or computed its loss if the program took none.
    loss : Series
    gradients : tuple of Series
        The Euclidean norms of the gradients; nan where there is none. Empty if the program took no gradients.
    headings : tuple of str
    rows : tuple of tuple of str
        The step, the loss, the norms of the gradients, and the values of the Variables at a few steps.
    flags : tuple of str
        Sentences on what looks wrong.
    more : int
        The number of Variables that are not shown.
    """

    steps: int
    line: int | None
    loss: Series
    gradients: tuple[Series, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    flags: tuple[str, ...] = ()
    more: int = 0


@dataclass
class _Course:
    """A Variable over the steps; a step that knows nothing of it is left out."""

    name: str
    is_number: bool
    values: dict[int, float] = field(default_factory=dict)
    gradients: dict[int, float | None] = field(default_factory=dict)
    changes: int = 0

    @property
    def heading(self) -> str:
        return self.name if self.is_number else f"|{self.name}|"

    @property
    def largest(self) -> float:
        """The largest gradient, infinite if one is nan."""
        sizes = [g for g in self.gradients.values() if g is not None]
        return math.inf if any(map(math.isnan, sizes)) else max(sizes, default=-1.0)


def training_of(subject: Subject) -> Training | None:
    """The loss and the gradients over the steps of a loop that assigns Variables; None if there is none.

    A step is a value of the loss, with the gradients that the program took of it. Where the program took gradients of
    several values, the loss is that of which it took most. Where it took none with respect to Variables, the loss is
    the target, as often as the same instruction computed it.
    """
    steps = _longest(subject, _calls(subject)) or _losses(subject)
    courses = _courses(subject, steps)
    if len(steps) < 2 or not any(course.changes for course in courses):
        return None
    name = _loss_name(subject, steps[-1])
    losses = [_real(step.value) for step in steps]
    shown = sorted(courses, key=lambda course: course.largest, reverse=True)[:MAX_VARIABLES]
    symbols = {x.name: f"|{derivative_symbol(name, x.name, 1)}|" for x in shown if x.gradients}
    return Training(
        len(steps),
        steps[-1].line,
        series_of(name, losses),
        tuple(
            series_of(symbols[x.name], [_known(x.gradients.get(k)) for k in range(len(steps))])
            for x in shown
            if x.gradients
        ),
        ("step", name, *symbols.values(), *(x.heading for x in shown)),
        tuple(_rows(losses, shown)),
        tuple(_flags(subject, name, losses, courses)),
        len(courses) - len(shown),
    )


def _calls(subject: Subject) -> list[GradientStep]:
    """The gradients that the program took of values that are no gradients; those of one value together."""
    found: list[GradientStep] = []
    for step in subject.whole.origins.steps:
        if step.records > subject.operations or any(map(subject.whole.order_of, step.targets)):
            continue
        last = found[-1] if found else None
        if (
            last is not None
            and last.targets == step.targets
            and not {*map(id_of, last.variables)} & {*map(id_of, step.variables)}
        ):
            found[-1] = step._replace(
                variables=last.variables + step.variables,
                values=last.values + step.values,
                is_new=last.is_new + step.is_new,
                gradients=last.gradients + step.gradients,
            )
        else:
            found.append(step)
    return found


def _longest(subject: Subject, steps: Sequence[GradientStep]) -> list[GradientStep]:
    """The steps of the value of which most gradients were taken."""
    groups: defaultdict[str | int | None, list[GradientStep]] = defaultdict(list)
    for step in steps:
        groups[_name(subject, step) or step.line].append(step)
    return max(reversed(groups.values()), key=len, default=[])


def _losses(subject: Subject) -> list[GradientStep]:
    """The values of the target, each as a step without gradients; none if it is computed once."""
    snapshot = subject.whole
    sites, calls = snapshot.origins.sites, snapshot.origins.calls
    number = id_of(subject.targets[0][1]) if subject.targets else 0
    records = snapshot.records[: subject.operations]
    last = next((p for p, record in enumerate(records) if record[-1] == number), None)
    variables = {id_of(x): x for x in snapshot.contents.variables}
    if last is None or not variables:
        return []
    places = [(calls[site[1]].code, site[2]) for site in sites[: subject.operations]]
    held: dict[int, np.ndarray] = {}
    before: dict[int, np.ndarray] = {}
    steps = []
    for p, (_, values, ids, _, output, made) in enumerate(records):
        held.update((i, value) for i, value in zip(ids, values, strict=True) if i in variables)
        if not held or isinstance(made, tuple):
            continue
        if places[p] == places[last] and snapshot.order_of(made) == 0:
            steps.append(
                GradientStep(
                    (made,),
                    np.sum(output).item(),
                    output.size != 1,
                    sites[p][0],
                    p,
                    tuple(variables[i] for i in held),
                    tuple(map(number_of, held.values())),
                    tuple(_differ(before.get(i), value) for i, value in held.items()),
                    (),
                )
            )
            before, held = {**before, **held}, {}
    return steps


def _differ(before: np.ndarray | None, now: np.ndarray) -> bool:
    return not (before is now or (before is not None and np.array_equal(before, now)))


def _courses(subject: Subject, steps: Sequence[GradientStep]) -> list[_Course]:
    """The Variables of some steps, in the order in which they come."""
    found: dict[int, _Course] = {}
    for k, step in enumerate(steps):
        for position, variable in enumerate(step.variables):
            number = id_of(variable)
            if number not in found:
                found[number] = _Course(_variable_name(subject, variable), not variable.shape)
            course = found[number]
            course.changes += bool(course.values) and step.is_new[position]
            course.values[k] = step.values[position]
            if step.gradients:
                course.gradients[k] = step.gradients[position]
    return _with_names_apart(list(found.values()))


def _with_names_apart(courses: list[_Course]) -> list[_Course]:
    """The same, with numbers behind names that several have."""
    taken: defaultdict[str, int] = defaultdict(int)
    for course in courses:
        taken[course.name] += 1
        if taken[course.name] > 1:
            course.name = f"{course.name} ({taken[course.name]})"
    return courses


def _variable_name(subject: Subject, variable: Variable) -> str:
    return subject.known_names.get(id_of(variable)) or variable.name


def _name(subject: Subject, step: GradientStep) -> str:
    """The name of a target in the program; empty if it has none, or if there are several targets."""
    name = subject.known_names.get(step.targets[0], "") if len(step.targets) == 1 else ""
    return without_subscript(name)


def _loss_name(subject: Subject, step: GradientStep) -> str:
    name = _name(subject, step) or "loss"
    name = f"sum of {name}" if step.is_sum else name
    return f"|{name}|" if np.iscomplexobj(step.value) else name


def _real(value: complex) -> float:
    return float(abs(value) if np.iscomplexobj(value) else value.real)


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _rows(losses: Sequence[float], courses: Sequence[_Course]) -> Iterator[tuple[str, ...]]:
    """The numbers at a few steps, evenly chosen."""
    last = len(losses) - 1
    count = min(MAX_ROWS, len(losses))
    for k in dict.fromkeys(round(row * last / (count - 1)) for row in range(count)):
        gradients = [_text(x.gradients, k) for x in courses if x.gradients]
        values = [_text(x.values, k) for x in courses]
        yield (f"{k + 1:,}", format_number(losses[k]), *gradients, *values)


def _text(numbers: Mapping[int, float | None], step: int) -> str:
    if step not in numbers:
        return ""
    value = numbers[step]
    return "None" if value is None else format_number(value)


def _flags(
    subject: Subject, name: str, losses: Sequence[float], courses: Sequence[_Course]
) -> Iterator[str]:
    """Sentences on what looks wrong: on the loss, on each gradient, on Variables, on units."""
    yield from loss_flags(name, losses)
    asked = {derivative_symbol(name, x.name, 1): x.gradients for x in courses if x.gradients}
    for symbol, gradients in asked.items():
        yield from gradient_flags(symbol, gradients)
    yield from weak_gradients(asked)
    for course in courses:
        if not course.changes and len(course.values) > 1:
            count = len(course.values)
            when = "every step" if count == len(losses) else f"all {count:,} steps that know it"
            yield f"{course.name} has the same value at {when}: it is not trained, or its assignment is missing"
    yield from dead_units(subject)
