"""Variables that changed while a tape recorded: each value that was read, as if it were a variable of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tapemagic.analysis.formatting import brief, span, subscript
from tapemagic.analysis.report.dead_ends import few
from tapemagic.analysis.snapshot import Snapshot
from tapemagic.engine.recording import new_id

SHOWN = 4
"""Of how many values a table tells."""

Reads = Mapping[int, Sequence[Any]]
"""The values of each variable that were read, by the variable's number, oldest first."""


def reads(snapshot: Snapshot, positions: Iterable[int]) -> Reads:
    """The values of watched variables that some records read. A variable has another array after every change."""
    variables = snapshot.contents.variables
    found: dict[int, dict[int, Any]] = {variable._id: {} for variable in variables}
    for position in positions:
        _, values, ids, *_ = snapshot.records[position]
        for value, i in zip(values, ids, strict=True):
            if i in found:
                found[i].setdefault(id(value), value)
    return {i: list(values.values()) for i, values in found.items()}


@dataclass(frozen=True)
class SplitVersions:
    """A recording in which every value of a variable that changed has a number of its own.

    Attributes
    ----------
    snapshot : Snapshot
        The recording itself, if no variable changed.
    versions : mapping of int to sequence of int
        The numbers of the values, by the number of the variable that had them, oldest first.
    """

    snapshot: Snapshot
    versions: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def roles(self, roles: Mapping[int, Any]) -> dict[int, Any]:
        """Roles by number, in which the values of a variable have its role."""
        news = {new: roles[i] for i, numbers in self.versions.items() for new in numbers}
        return dict(roles) | news

    def names(self, names: Mapping[int, str]) -> dict[int, str]:
        """Names by number, in which the values of a variable w are called w₁, w₂ and so on."""
        found = dict(names)
        for i, numbers in self.versions.items():
            name = names.get(i, "")
            found.update((new, name + subscript(k)) for k, new in enumerate(numbers, 1))
        return found


def split_versions(snapshot: Snapshot, known: Reads, whole: Collection[int]) -> SplitVersions:
    """A recording with a number for every value of a variable, but for those variables that shall stay `whole`."""
    new = {
        i: {id(value): new_id() for value in values}
        for i, values in known.items()
        if len(values) > 1 and snapshot.tracks(i) and i not in whole
    }
    if not new:
        return SplitVersions(snapshot)
    records = [
        (number, values, _renumbered(values, ids, new), *rest)
        for number, values, ids, *rest in snapshot.records
    ]
    since = {j: snapshot.tracked[i] for i, numbers in new.items() for j in numbers.values()}
    split = snapshot.with_records(
        records, {**snapshot.tracked, **since}, snapshot.leaves | since.keys()
    )
    return SplitVersions(split, {i: list(numbers.values()) for i, numbers in new.items()})


def _renumbered(
    values: Sequence[Any], ids: Sequence[int], new: Mapping[int, Mapping[int, int]]
) -> tuple[int, ...]:
    pairs = zip(values, ids, strict=True)
    return tuple(new[i].get(id(value), i) if i in new else i for value, i in pairs)


def now_and_then(value: Any, read: Sequence[Any]) -> str:
    """A value in one line; of a variable that changed since it was read, also what was read: 4.7 now; 5.0 when read."""
    now = brief(value)
    if all(x is value or brief(x) == now for x in read):
        return now
    *first, last = map(span, few(list(read), SHOWN))
    then = [*first, "…", last] if len(read) > SHOWN else [*first, last]
    return f"{now} now; {', '.join(then)} when read"
