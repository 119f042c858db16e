"""The gradients with respect to every value of a recording."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.recording import SMALL, Record
from tapemagic.engine.tape.sweep import Gradients
from tapemagic.engine.tensor.tensor import Traced, id_of
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
    return gradients_by_id


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
