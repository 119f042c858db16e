"""The gradients with respect to every value of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.analysis.report.derivatives import GradientTable
from tapemagic.analysis.report.summary import summarise
from tapemagic.analysis.snapshot import Snapshot
from tapemagic.engine.recording import SMALL, silence
from tapemagic.engine.tape.cotangents import seeds
from tapemagic.engine.tape.sweep import sweep
from tapemagic.engine.tensor.tensor import Traced, id_of

Adjoints = Mapping[int, Any]
"""Gradients by the ids of values: arrays where they are small, summaries of others."""


def adjoints_of(
    snapshot: Snapshot, targets: Sequence[Traced], found: GradientTable, order: int
) -> Adjoints:
    """The gradients with respect to every value of a recording, by the ids of the values.

    Values of order 0, which the user computed, are sources of the gradients of the targets; values of order k, which
    belong to a k-th derivative, are sources of the gradients of the derivatives of that order. The targets may be
    derivatives themselves, and the cell may compute higher orders than were asked for; then the nearest order is used.
    """
    adjoints: dict[int, Any] = {}
    level_of = levels(snapshot, targets, order)
    for level, goal in enumerate(goals_of(targets, found, order)):
        for i, gradient in gradients_of_all(snapshot, goal).items():
            if level_of(i) == level:
                adjoints[i] = gradient
    return adjoints


def goals_of(
    targets: Sequence[Traced], found: GradientTable, order: int
) -> list[list[Traced]]:
    """The values whose gradients are the adjoints, for each level: the targets, then their derivatives."""
    derivatives = [
        [g for (_, _, k), g in found.gradients.items() if k == level and g is not None]
        for level in range(1, order)
    ]
    return [list(targets), *derivatives]


def levels(snapshot: Snapshot, targets: Sequence[Traced], order: int) -> Callable[[int], int]:
    """A function that gives the level of a value by its id: that of the goals of which it has the gradient."""
    first = max((snapshot.order_of(id_of(target)) for target in targets), default=0)
    return lambda i: min(max(snapshot.order_of(i) - first, 0), order - 1)


def gradients_of_all(snapshot: Snapshot, targets: Sequence[Traced]) -> dict[int, Any]:
    """The gradients of the sum of some targets with respect to every value from which they were computed."""
    started = seeds([x for x in targets if snapshot.tracks(id_of(x))], None, False)
    if not started or not snapshot.has_values:
        return {}
    records = _Noted(snapshot, started)
    tracked = snapshot.contents.tracked
    with silence(), np.errstate(all="ignore"):
        try:
            sweep(records, tracked, started, set(), False)
        except Exception:  # noqa: BLE001 -- a rule may call anything; the table of gradients tells of it
            return records.found
    for i in tracked.keys() & started.keys():
        records.note(i)
    return records.found


class _Noted:
    """The records of a sweep, which notes the gradient with respect to each result as soon as it is complete.

    Parameters
    ----------
    snapshot : Snapshot
    gradients : dict of int to array
        The gradients to which the sweep adds.
    """

    def __init__(self, snapshot: Snapshot, gradients: dict[int, Any]) -> None:
        self._records = snapshot.records
        self._gradients = gradients
        self.found: dict[int, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._records)

    def __reversed__(self) -> Iterator[Any]:
        gradients = self._gradients
        for record in reversed(self._records):
            made = record[-1]
            if made.__class__ is tuple:
                for i in made:
                    if i in gradients:
                        self.note(i)
            elif made in gradients:
                self.note(made)
            yield record

    def note(self, i: int) -> None:
        """Store a gradient as the tape gives it: conjugated if complex; a large one as a summary."""
        g = self._gradients[i]
        if g.dtype.kind == "c":
            g = np.conjugate(g)
        self.found[i] = g if g.nbytes <= SMALL else summarise(g)
