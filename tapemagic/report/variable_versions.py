"""Variables that changed during a recording: each value that was read gets its own id and name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent, new_id
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.formatting import SHOWN, format_entries, format_value, subscript
from tapemagic.explain.snapshot import Snapshot
from tapemagic.report.drawn_records import first_and_last

MAX_SHOWN, MAX_SHOWN_ARRAYS = 4, 2
"""The number of values of one variable in the table of variables, and of one that is a large array."""

Reads = Mapping[int, Sequence[Any]]
"""The values of each variable that were read, by the variable's id, oldest first."""


def reads(snapshot: Snapshot, positions: Iterable[int]) -> Reads:
    """The values of watched variables that records read; every change of a variable makes a new array."""
    variables = snapshot.contents.variables
    values_by_id: dict[int, dict[int, Any]] = {id_of(variable): {} for variable in variables}
    records = snapshot.records
    for position in positions if variables else ():
        _, values, ids, _, _, _ = records[position]
        if values_by_id.keys().isdisjoint(ids):
            continue
        for value, i in zip(values, ids, strict=True):
            if i in values_by_id:
                # By identity: an assignment always binds a new array, and an equal value is still another version.
                key, alive = _identified(value)
                values_by_id[i].setdefault(key, alive)
    return {i: list(values.values()) for i, values in values_by_id.items()}


@dataclass(frozen=True)
class SplitVersions:
    """A recording in which every value of a variable that changed has its own id.

    - `snapshot`: The recording itself, if no variable changed.
    - `versions`: The ids of the values of each variable, by the variable's id, oldest first.
    """

    snapshot: Snapshot
    versions: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def roles(self, roles: Mapping[int, Any]) -> dict[int, Any]:
        """Roles by id, extended to the values of variables."""
        news = {new: roles[i] for i, numbers in self.versions.items() for new in numbers}
        return dict(roles) | news

    def names(self, names: Mapping[int, str]) -> dict[int, str]:
        """Names by id, in which the values of a variable w are w₁, w₂ and so on."""
        named = dict(names)
        for i, numbers in self.versions.items():
            name = names.get(i, "")
            named.update((new, name + subscript(k)) for k, new in enumerate(numbers, 1))
        return named


def split_versions(
    snapshot: Snapshot, reads_by_id: Reads, unsplit: Collection[int]
) -> SplitVersions:
    """A recording with an id for every value of each variable that changed, except for the `unsplit` variables."""
    new = {
        i: {_identified(value)[0]: new_id() for value in values}
        for i, values in reads_by_id.items()
        if len(values) > 1 and snapshot.tracks(i) and i not in unsplit
    }
    if not new:
        return SplitVersions(snapshot)
    records = [
        (number, values, _renumbered(values, ids, new), *rest)
        for number, values, ids, *rest in snapshot.records
    ]
    # Each version is tracked since the variable was, so that reads before that time stay constants.
    since = {j: snapshot.tracked[i] for i, numbers in new.items() for j in numbers.values()}
    split = snapshot.with_records(
        records, {**snapshot.tracked, **since}, snapshot.leaves | since.keys()
    )
    return SplitVersions(split, {i: list(numbers.values()) for i, numbers in new.items()})


def _renumbered(
    values: Sequence[Any], ids: Sequence[int], new: Mapping[int, Mapping[int, int]]
) -> tuple[int, ...]:
    pairs = zip(values, ids, strict=True)
    # An operation that isn't shown may have read a value that got no id: it keeps the id of the variable.
    return tuple(new[i].get(_identified(value)[0], i) if i in new else i for value, i in pairs)


def _identified(value: Any) -> tuple[int, Any]:
    """Return the identity of a recorded value, and the value; both are those of the array behind a placeholder."""
    if not isinstance(value, Absent) or value.array is None:
        return id(value), value
    array = value.array()
    return (id(value.array), value) if array is None else (id(array), array)


def format_reads(value: Any, read: Sequence[Any]) -> str:
    """Return the values that were read of a variable, as ``5.0, 4.0``, or '' if it hasn't changed since."""
    current = format_value(value)
    # As text: after a change below the last digit shown, both numbers would look the same.
    if all(x is value or format_value(x) == current for x in read):
        return ""
    max_shown = MAX_SHOWN if np.size(value) <= SHOWN else MAX_SHOWN_ARRAYS
    *first, last = map(format_entries, first_and_last(list(read), max_shown))
    return ", ".join([*first, "…", last] if len(read) > max_shown else [*first, last])
