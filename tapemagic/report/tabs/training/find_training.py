"""Training: the loss and the gradients over the steps of a loop that assigns Variables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent
from tapemagic.engine.tape.gradient_steps import GradientStep, number_of, size_of
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.formatting import (
    clipped,
    derivative_symbol,
    format_number,
    own_name,
    without_subscript,
)
from tapemagic.explain.lazy_values import with_numbers
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.training.dead_units import dead_units
from tapemagic.report.tabs.training.series import Series, series_of
from tapemagic.report.tabs.training.training_flags import (
    gradient_flags,
    loss_flags,
    weak_gradients,
)

MAX_VARIABLES = 12
"""The number of Variables that are shown: those with the largest gradients."""

MAX_FLAGS = 6
"""The number of sentences on gradients."""

MAX_NAME_LENGTH = 40
"""The number of characters of a name."""

MAX_ROWS = 8
"""The number of steps in the table."""


@dataclass(frozen=True)
class Training:
    """The loss and the norms of gradients over the steps of a loop.

    - `steps`: The number of steps: each is a value of the loss, with the gradients that the program took of it.
    - `line`: The line that took the gradients of the last step, or computed its loss if the program took none.
    - `gradients`: The Euclidean norms of the gradients; nan for a missing gradient. Empty if the program took no
      gradients.
    - `rows`: The step, the loss, the norms of the gradients, and the values of the Variables at a few steps.
    - `flags`: Sentences on what looks wrong.
    - `more`: The number of Variables that are not shown.
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
    is_assigned: bool = False
    values: dict[int, float] = field(default_factory=dict)
    gradients: dict[int, float | None] = field(default_factory=dict)
    first_version: int | None = None
    has_changed: bool = False

    @property
    def heading(self) -> str:
        return self.name if self.is_number else f"|{self.name}|"

    @property
    def largest(self) -> float:
        """The largest gradient, infinite if one is nan."""
        sizes = [g for g in self.gradients.values() if g is not None]
        # -1 is below every size, so Variables without a gradient come last.
        return math.inf if any(map(math.isnan, sizes)) else max(sizes, default=-1.0)


def find(subject: Subject) -> Training | None:
    """Find the loss and the gradients over the steps of a loop that assigns Variables.

    Variables that were assigned the values that they had count, too. A step is a value of the loss, with the gradients
    that the program took of it. Where the program took gradients of several values, the loss is that of the line that
    took most. Where it took none with respect to Variables, the loss is the target, as often as the same instruction
    computed it. Without the numbers of a Dask array that is not computed there is none either.
    """
    steps = _longest(subject, _calls(subject)) or _losses(subject)
    steps = [_with_numbers(step) for step in steps]
    if any(is_lazy(step.value) for step in steps):
        return None
    courses = _courses(subject, steps)
    if len(steps) < 2 or not any(course.has_changed or course.is_assigned for course in courses):
        return None
    name = _loss_name(subject, steps)
    heading = _heading(name, steps)
    losses = [_real(step.value) for step in steps]
    by_size = sorted(range(len(courses)), key=lambda k: courses[k].largest, reverse=True)
    shown = [courses[k] for k in sorted(by_size[:MAX_VARIABLES])]
    symbols = {x.name: f"|{derivative_symbol(name, x.name, 1)}|" for x in shown if x.gradients}
    return Training(
        len(steps),
        steps[-1].line,
        series_of(heading, losses),
        tuple(
            series_of(symbols[x.name], [_or_nan(x.gradients.get(k)) for k in range(len(steps))])
            for x in shown
            if x.gradients
        ),
        ("step", heading, *symbols.values(), *(x.heading for x in shown)),
        tuple(_rows(losses, shown)),
        (
            *loss_flags(heading, losses),
            *_flags(name, len(losses), courses),
            *dead_units(subject),
        ),
        len(courses) - len(shown),
    )


def _with_numbers(step: GradientStep) -> GradientStep:
    """A step with the numbers of what was lazy and is computed; without its gradients if one of them is not."""
    if isinstance(step.value, float) and all(isinstance(g, float) for g in step.gradients):
        return step
    value, gradients = with_numbers(step.value), [with_numbers(g) for g in step.gradients]
    if isinstance(value, np.ndarray | np.generic) and not is_lazy(value):
        value = _sum_of(value)
    if any(map(is_lazy, gradients)):
        return step._replace(value=value, gradients=())
    sizes = (g if g is None or isinstance(g, float) else size_of(g) for g in gradients)
    return step._replace(value=value, gradients=tuple(sizes))


def _calls(subject: Subject) -> list[GradientStep]:
    """The gradients that the program took of values other than gradients, grouped by value."""
    steps: list[GradientStep] = []
    for step in subject.training_calls:
        last = steps[-1] if steps else None
        # Two calls on the same target, each for other Variables, are one step.
        if (
            last is not None
            and last.targets == step.targets
            and not {*map(id_of, last.variables)} & {*map(id_of, step.variables)}
        ):
            steps[-1] = step._replace(
                variables=last.variables + step.variables,
                values=last.values + step.values,
                versions=last.versions + step.versions,
                gradients=last.gradients + step.gradients,
            )
        else:
            steps.append(step)
    return steps


def _longest(subject: Subject, steps: Sequence[GradientStep]) -> list[GradientStep]:
    """The steps of the line that took most gradients, rather those of a target of the report."""
    groups: defaultdict[int | None, list[GradientStep]] = defaultdict(list)
    for step in steps:
        groups[step.line].append(step)
    targets = {id_of(x) for _, x in subject.targets}

    def weight(group: Sequence[GradientStep]) -> tuple[int, bool]:
        return len(group), any(not targets.isdisjoint(step.targets) for step in group)

    return max(groups.values(), key=weight, default=[])


def _losses(subject: Subject) -> list[GradientStep]:
    """The values of the target, each as a step without gradients; no steps if it is computed once."""
    snapshot = subject.whole
    sites, calls = snapshot.origins.sites, snapshot.origins.calls
    number = id_of(subject.targets[0][1]) if subject.targets else 0
    records = snapshot.records[: subject.operations]
    last = next((p for p, record in enumerate(records) if record[-1] == number), None)
    variables = {id_of(x): x for x in snapshot.contents.variables}
    if last is None or not variables:
        return []
    # The same instruction of the same code computes the loss in each step.
    _, call, offset, _ = sites[last]
    code = calls[call].code
    if code is None:
        return []
    latest: dict[int, Any] = {}
    versions: dict[int, tuple[int, Any]] = {}
    steps = []
    for p, (_, values, ids, _, output, output_id) in enumerate(records):
        if not variables.keys().isdisjoint(ids):
            latest.update(
                (i, value) for i, value in zip(ids, values, strict=True) if i in variables
            )
        if not latest or isinstance(output_id, tuple):
            continue
        line, call, at, _ = sites[p]
        # Of an iteration that a long loop doesn't keep, the elements of a large result may be gone, and so their sum.
        if isinstance(output, Absent):
            continue
        if at == offset and calls[call].code is code and snapshot.order_of(output_id) == 0:
            for i, value in latest.items():
                version, before = versions.get(i, (0, value))
                # By value, too: assigning an equal array doesn't change the Variable.
                is_same = before is value or _is_equal(before, value)
                versions[i] = version + (not is_same), value
            steps.append(
                GradientStep(
                    (output_id,),
                    output if is_lazy(output) else _sum_of(output),
                    output.size != 1,
                    line,
                    output_id,
                    tuple([variables[i] for i in latest]),
                    tuple([number_of(value) for value in latest.values()]),
                    tuple([versions[i][0] for i in latest]),
                    (),
                )
            )
            latest = {}
    return steps


def _is_equal(before: Any, value: Any) -> bool:
    """Return True if two values of a variable are equal; of an array whose elements are gone, the norm decides."""
    if isinstance(before, Absent) or isinstance(value, Absent):
        return number_of(before) == number_of(value)
    return np.array_equal(before, value)


def _sum_of(value: Any) -> Any:
    """Return the sum of the elements of an array as a Python number."""
    # NumPy's sum of a single number takes ten times as long as the number itself.
    return value.item() if value.__class__ is np.float64 else np.sum(value).item()


def _courses(subject: Subject, steps: Sequence[GradientStep]) -> list[_Course]:
    """The Variables of some steps, in the order in which they come."""
    courses: dict[int, _Course] = {}
    assigned = {event.number for event in subject.whole.events_of("assigned", "changed")}
    for k, step in enumerate(steps):
        for position, variable in enumerate(step.variables):
            number = id_of(variable)
            if number not in courses:
                courses[number] = _Course(
                    clipped(subject.known_names.get(number) or own_name(variable), MAX_NAME_LENGTH),
                    not variable.shape and variable.dtype.kind == "f",
                    number in assigned,
                )
            course = courses[number]
            version = step.versions[position]
            if course.first_version is None:
                course.first_version = version
            course.has_changed = course.has_changed or version != course.first_version
            course.values[k] = step.values[position]
            if step.gradients:
                course.gradients[k] = step.gradients[position]
    return _with_names_apart(list(courses.values()))


def _with_names_apart(courses: list[_Course]) -> list[_Course]:
    """Return the courses with numbers after names that several Variables share."""
    taken: defaultdict[str, int] = defaultdict(int)
    for course in courses:
        taken[course.name] += 1
        if taken[course.name] > 1:
            course.name = f"{course.name} ({taken[course.name]})"
    return courses


def _loss_name(subject: Subject, steps: Sequence[GradientStep]) -> str:
    """The name that all targets have in the program; of those without a common name, 'loss'."""
    targets = [step.targets[0] if len(step.targets) == 1 else 0 for step in steps]
    names = {without_subscript(subject.known_names.get(i, "")) for i in targets}
    return clipped((names.pop() if len(names) == 1 else "") or "loss", MAX_NAME_LENGTH)


def _heading(name: str, steps: Sequence[GradientStep]) -> str:
    """The name of the number that is differentiated."""
    number = f"sum of {name}" if any(step.is_sum for step in steps) else name
    return f"|{number}|" if any(np.iscomplexobj(step.value) for step in steps) else number


def _real(value: complex) -> float:
    # Most are floats, for which NumPy's test takes ten times as long.
    if isinstance(value, float):
        return value
    return float(abs(value) if np.iscomplexobj(value) else value.real)


def _or_nan(value: float | None) -> float:
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


def _flags(name: str, steps: int, courses: Sequence[_Course]) -> Iterator[str]:
    """Sentences on what looks wrong with gradients and Variables."""
    gradients = {derivative_symbol(name, x.name, 1): x.gradients for x in courses if x.gradients}
    flags = [flag for symbol, sizes in gradients.items() for flag in gradient_flags(symbol, sizes)]
    flags += weak_gradients(gradients)
    yield from flags[:MAX_FLAGS]
    if len(flags) > MAX_FLAGS:
        yield f"{len(flags) - MAX_FLAGS:,} more notes on gradients are not shown"
    for course in courses:
        count = len(course.values)
        is_pushed = any(course.gradients.values()) or not course.gradients
        if is_pushed and count > 1 and not course.has_changed:
            when = "every step" if count == steps else f"all {count:,} steps that know it"
            why = (
                "its assignments are too small to change it, or stand outside of the loop"
                if course.is_assigned
                else "it is not trained, or its assignment is missing"
            )
            yield f"{course.name} has the same value at {when}: {why}"
