"""Shares: the numbers that operations pass on to the gradients of their inputs, and their sums."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import SMALL, Record, silence
from tapemagic.engine.registry import no_derivative
from tapemagic.engine.tape.cotangents import seeds
from tapemagic.engine.tape.sweep import fit
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.adjoints import goals_of
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary

MAX_READERS = 200
"""The number of operations up to which all that goes into one gradient is computed."""

Place = tuple[int, int]
"""The position of an operation in the recording, and that of one of its inputs."""


@dataclass(frozen=True)
class Share:
    """The array that an operation passes on to the gradient of one of its inputs.

    Attributes
    ----------
    value : array or None
        None if it was not computed, since it is large.
    before, after : array or None
        The sum of what was passed on until then, and with it; None if that is not known.
    is_first, is_last : bool
        Whether nothing was added before, and whether nothing is added after.
    """

    value: Any
    before: Any
    after: Any
    is_first: bool
    is_last: bool

    @property
    def known(self) -> tuple[bool, ...]:
        """The facts that are known of it: two shares of one place of which the same is known are the same."""
        arrays = (self.value, self.before, self.after)
        return *(array is not None for array in arrays), self.is_first, self.is_last


NOTHING = object()
"""The share of an operation that passes nothing on after all."""


def shares(
    subject: Subject, wanted: Collection[int], shown: Collection[int]
) -> dict[int, dict[Place, Share]]:
    """The shares of the gradients of some values, by their ids, in the order of the reverse sweep.

    A value that is a target begins with its seed, which is no share.

    Parameters
    ----------
    subject : Subject
    wanted : collection of int
        The ids of the values.
    shown : collection of int
        The positions of the operations that are shown: what they pass on is computed in any case.
    """
    begun = starts(subject)
    with silence(), np.errstate(all="ignore"):
        return {
            i: _added_up(subject, i, places, begun.get(i), shown)
            for i, places in _readers(subject, wanted).items()
            if i in subject.adjoints
        }


def starts(subject: Subject) -> Mapping[int, Any]:
    """The gradients with which the reverse sweeps begin, by the ids of the targets and their derivatives."""
    targets = [x for _, x in subject.targets]
    found: dict[int, Any] = {}
    for level, goal in enumerate(goals_of(targets, subject.derivatives, subject.order)):
        known = [x for x in goal if subject.snapshot.tracks(id_of(x))]
        found |= {
            i: g for i, g in seeds(known, None, False).items() if subject.levels.get(i, 0) == level
        }
    return found


def _readers(subject: Subject, wanted: Collection[int]) -> dict[int, list[Place]]:
    """The operations through which each value gets a gradient, in the order of the reverse sweep."""
    snapshot, adjoints = subject.snapshot, subject.adjoints
    levels = subject.levels
    found: dict[int, list[Place]] = {i: [] for i in wanted}
    records = snapshot.records
    for position in range(len(records) - 1, -1, -1):
        _, _, ids, *_, made = records[position]
        if found.keys().isdisjoint(ids):
            continue
        outputs = made if isinstance(made, tuple) else (made,)
        reached = next((i for i in outputs if i in adjoints), None)
        if reached is None:
            continue
        for k, i in enumerate(ids):
            same = i in found and levels.get(i, 0) == levels.get(reached, 0)
            if same and snapshot.tracked[i] <= outputs[0]:
                found[i].append((position, k))
    return found


def _added_up(
    subject: Subject, i: int, places: Sequence[Place], start: Any, shown: Collection[int]
) -> dict[Place, Share]:
    """The shares of one gradient with the sums of those until then."""
    adjoint = subject.adjoints[i]
    places = [place for place in places if _rule(subject.records[place[0]], place[1])]
    all_known, is_small = (
        len(places) <= MAX_READERS,
        has_numbers(adjoint) and not isinstance(adjoint, Summary),
    )
    parts: list[tuple[Place, Any]] = []
    for place in places:
        known = is_small and (all_known or place[0] in shown)
        part = (
            subject.once(("part", *place), partial(_passed_on, subject, place)) if known else None
        )
        if part is not NOTHING:
            parts.append((place, part))
    found: dict[Place, Share] = {}
    before, is_first = start, start is None
    for k, (place, part) in enumerate(parts):
        is_last = k == len(parts) - 1
        after = part if is_first else None
        if not is_first and before is not None and part is not None:
            after = before + part
        found[place] = Share(part, before, adjoint if is_last else after, is_first, is_last)
        before, is_first = after, False
    return found


def _rule(record: Record, position: int) -> Any:
    """The rule of an operation for the gradient of one of its inputs; None if there is none."""
    operation = record.operation
    return None if operation.joint_rule is no_derivative else operation.rule_for(position)


def _passed_on(subject: Subject, place: Place) -> Any:
    """The array that an operation passes on, as the tape gives it; None if that is not computed."""
    record, position = subject.records[place[0]], place[1]
    given = _incoming(record, subject.adjoints)
    return None if given is None else passed_on(record, position, given)


def _incoming(record: Record, adjoints: Mapping[int, Any]) -> Any:
    """The gradient of a result, or of each of several, as a rule is given it; None if one is too large."""
    if not isinstance(record.output_id, tuple):
        return _conjugated(adjoints.get(record.output_id))
    known = [
        _conjugated(adjoints[i]) if i in adjoints else np.zeros(y.shape, y.dtype)[()]
        for i, y in zip(record.output_id, record.output, strict=True)
    ]
    return None if any(g is None for g in known) else tuple(known)


def _conjugated(g: Any) -> Any:
    if g is None or isinstance(g, Summary) or not has_numbers(g):
        return None
    return np.conjugate(g) if g.dtype.kind == "c" else g


def passed_on(record: Record, position: int, given: Any) -> Any:
    """The gradient of an input that the tape's rule makes of that of the result, as the tape gives it.

    Parameters
    ----------
    record : Record
    position : int
        Of the input.
    given : array
        The gradient of the result, or a tuple of those of all results, as the rule is given it.

    Returns
    -------
    array, None or `NOTHING`
        None if it cannot be computed, `NOTHING` if the rule gives none.
    """
    x = record.values[position]
    if not has_numbers(x) or x.nbytes > SMALL:
        return None
    try:
        part = _rule(record, position)(
            given, record.output, *record.values, **(record.params or {})
        )
        if part is None:
            return NOTHING
        part = fit(dense(part), x, record.name, position)
    except Exception:  # noqa: BLE001 -- a rule may call anything; the table of gradients tells of it
        return None
    return np.conjugate(part) + part.dtype.type(0) if part.dtype.kind == "c" else part
