"""The gradients with respect to every value of a recording."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.recording import SMALL, Record
from tapemagic.engine.tape.gradient_steps import GradientStep
from tapemagic.engine.tape.sweep import Gradients
from tapemagic.engine.tensor.tensor import Traced, id_of, wrap
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.observed_sweep import observe_sweep
from tapemagic.explain.snapshot import Snapshot
from tapemagic.report.derivatives import GradientTable
from tapemagic.report.summary import summarise

T = TypeVar("T")

Adjoints = Mapping[int, Any]
"""Gradients by the ids of values: arrays where they are small, summaries of others."""


def adjoints_of(
    snapshot: Snapshot, targets: Sequence[Traced], table: GradientTable, order: int
) -> Adjoints:
    """The gradients with respect to every value of a recording, by the ids of the values.

    Values that the cell computed, derivatives among them, are sources of the gradients of the targets; values that
    belong to a k-th derivative that the report took are sources of the gradients of its derivatives of that order.
    """
    return full_adjoints(snapshot, targets, table, order, _kept, snapshot.tracked)


def full_adjoints(
    snapshot: Snapshot,
    targets: Sequence[Traced],
    table: GradientTable,
    order: int,
    keep: Callable[[Any], T],
    ids: Container[int],
) -> dict[int, T]:
    """Compute the gradients of some values in full, and keep of each what `keep` returns."""
    level_of = levels(snapshot, table)
    return {
        i: gradient
        for level, goal in enumerate(goals_of(targets, table, order))
        for i, gradient in gradients_of_all(snapshot, goal, keep, ids).items()
        # A sweep from derivatives also passes through values of lower orders, whose adjoints come from another sweep.
        if level_of.get(i, 0) == level
    }


def goals_of(targets: Sequence[Traced], table: GradientTable, order: int) -> list[list[Traced]]:
    """The values whose gradients are the adjoints, for each level: the targets, then their derivatives."""
    derivatives: list[list[Traced]] = [
        [g for (_, _, k), g in table.gradients.items() if k == level and g is not None]
        for level in range(1, order)
    ]
    return [list(targets), *derivatives]


def levels(snapshot: Snapshot, table: GradientTable) -> Mapping[int, int]:
    """Return the level of each value by id: the order of the goals whose gradients it helps compute, if not 0."""
    # Most records are those of the cell, at level 0, which readers of this mapping take as the default.
    first = table.begins[0] if table.begins else len(snapshot.records)
    return {
        i: table.level(position)
        for position, record in enumerate(snapshot.records[first:], first)
        for i in Record._make(record).output_ids
    }


def gradients_of_all(
    snapshot: Snapshot,
    targets: Sequence[Traced],
    keep: Callable[[Any], T],
    ids: Container[int],
) -> dict[int, T]:
    """The gradients of the sum of some targets with respect to values from which they were computed."""
    goals = [x for x in targets if snapshot.tracks(id_of(x))]
    records, tracked = snapshot.records, snapshot.tracked
    gradients_by_id: dict[int, T] = {}
    if not goals or not snapshot.has_values:
        return gradients_by_id

    def hear(position: int, gradients: Gradients) -> None:
        output_ids = records[position][-1]
        for i in output_ids if isinstance(output_ids, tuple) else (output_ids,):
            g = gradients.get(i)
            if g is not None and i in ids:
                gradients_by_id[i] = keep(_as_returned(g))

    # One sweep serves all values: the listener sees each gradient just before the sweep consumes it.
    try:
        rest = observe_sweep(records, tracked, goals, hear)
    except Exception:  # noqa: BLE001 -- a rule may call anything; the table of gradients shows the error
        return gradients_by_id
    gradients_by_id.update(
        (i, keep(_as_returned(rest[i]))) for i in tracked.keys() & rest.keys() if i in ids
    )
    # What lies before a value whose records were let go has another part of its gradient there.
    last_cut = max(snapshot.contents.cut & rest.keys(), default=0)
    return {i: g for i, g in gradients_by_id.items() if i >= last_cut}


class StepGradients:
    """The gradients of the losses of training steps: for each value, that of the first loss it leads to.

    - `named`: The ids of values with names, whose gradients are computed together.
    - `steps`: The calls by which the program took gradients, oldest first.
    """

    def __init__(
        self, snapshot: Snapshot, named: Container[int], steps: Sequence[GradientStep]
    ) -> None:
        self._snapshot, self._named = snapshot, named
        # Most targets of a long loop have been let go.
        tracked = snapshot.tracked
        self._goals = {
            i: k
            for k, step in zip(reversed(range(len(steps))), reversed(steps), strict=True)
            for i in step.targets
            if i in tracked
        }
        self._swept: dict[tuple[int, bool], dict[int, Any]] = {}

    def is_goal(self, number: int | None) -> bool:
        """Return True if a value is the loss of a step, by its id."""
        return number in self._goals

    def get(self, number: int) -> Any:
        """Return the gradient with respect to a value, by its id; None if no step has one."""
        step = self._first_goals[0].get(number)
        if step is None:
            return None
        # A curve needs the named values of many steps, and a picture all values of a few.
        key = (step, number in self._named)
        if key not in self._swept:
            self._swept[key] = self._sweep(*key)
        return self._swept[key].get(number)

    def _sweep(self, step: int, only_named: bool) -> dict[int, Any]:
        begin, end = self._first_goals[1][step]
        snapshot = self._snapshot
        records = snapshot.records[begin:end]
        part = snapshot.with_records(records, snapshot.tracked, snapshot.leaves)
        goals = [
            wrap(output, i)
            for record in map(Record._make, records)
            for output, i in zip(record.outputs, record.output_ids, strict=True)
            if self._goals.get(i) == step
        ]
        with np.errstate(all="ignore"):
            return gradients_of_all(
                part, goals, _kept, self._named if only_named else snapshot.tracked
            )

    @cached_property
    def _first_goals(self) -> tuple[Mapping[int, int], Mapping[int, tuple[int, int]]]:
        """The first step whose loss each value leads to, by its id, and the range of records of each step."""
        goals, tracked, records = self._goals, self._snapshot.tracked, self._snapshot.records
        first: dict[int, int] = {}
        ranges: dict[int, tuple[int, int]] = {}
        never = len(records)
        for position in range(len(records) - 1, -1, -1) if goals else ():
            ids, output_id = records[position][2], records[position][-1]
            outputs: Any = output_id if isinstance(output_id, tuple) else (output_id,)
            for i in outputs:
                if i in goals:
                    first[i] = goals[i]
            step = min(first.get(i, never) for i in outputs)
            if step == never:
                continue
            ranges[step] = position, ranges.get(step, (0, position + 1))[1]
            for i in ids:
                if i in tracked and first.get(i, never) > step:
                    first[i] = step
        return first, ranges


def _as_returned(g: Any) -> Any:
    """Return a gradient as `tape.gradient` does: conjugated if complex, without negative zeros."""
    # The sweep carries the conjugates of complex gradients; adding 0 turns -0.0 into 0.0.
    if g.__class__ is np.float64 or g.dtype.kind != "c":
        return g
    return np.conjugate(g) + g.dtype.type(0)


def _kept(g: Any) -> Any:
    """A gradient as an array if it is small, or not computed; else as a summary."""
    # A report of a large network would otherwise hold every gradient of it until its cell runs again.
    small = g.__class__ is np.float64 or g.nbytes <= SMALL
    return g if small or not has_numbers(g) else summarise(g)
