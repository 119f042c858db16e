"""Assignments: the values that a cell binds to names, and the ids of the tensors among them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Container, Mapping, Sequence
from typing import Any, overload

from tapemagic.engine.tensor.tensor import Traced, has_id, id_of
from tapemagic.explain.formatting import subscript
from tapemagic.explain.snapshot import Named

CONTAINERS = (list, tuple, dict)

Bound = tuple[int, int | None]
"""The id of a tensor that a name was bound to, and the line of the cell."""


class Bindings(Sequence[Bound]):
    """The tensors that a name was bound to, oldest first, as pairs of an id and a line or None.

    Examples
    --------
    >>> bound = Bindings()
    >>> bound.append(1 << 20, 3)
    >>> bound[0], list(bound[:0]), len(bound)
    ((1048576, 3), [], 1)
    """

    def __init__(self) -> None:
        self._ids, self._lines = array("q"), array("l")

    def append(self, i: int, line: int | None) -> None:
        """Add the latest binding."""
        self._ids.append(i)
        self._lines.append(line or 0)

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> Bound: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Bound]: ...

    def __getitem__(self, index: int | slice) -> Bound | Sequence[Bound]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        return self._ids[index], self._lines[index] or None


class Assignments:
    """The values that a cell binds to names.

    Of each name, only the last values are kept, because a history of all values would keep every array of a loop alive.
    Ids are kept in arrays of numbers: the int object that is the id of a tensor tells a tape whether it is alive.
    """

    def __init__(self) -> None:
        self.count = 0
        self._kept: dict[tuple[str, str], tuple[int, Any]] = {}
        self._ids, self._lines, self._name_numbers = array("q"), array("l"), array("l")
        self._numbers: dict[str, int] = {}
        # Constants get an id when they are watched, which may be after they were bound to a name.
        self._without_id: dict[str, tuple[int, Traced]] = {}
        self._bindings: tuple[int, dict[str, Bindings]] | None = None
        self._ignored: Collection[int] = ()

    def add(self, name: str, value: Any, order: int, line: int | None) -> None:
        """Add the latest value of a name, whose derivative has the given order, or 0 if it is none."""
        self.count += 1
        entry = self.count, value
        self._kept[name, ""] = entry
        if isinstance(value, Traced):
            self._kept[name, "derivative" if order else "tensor"] = entry
            self._log(name, value, line)
        else:
            self._kept[name, "items" if isinstance(value, CONTAINERS) else "number"] = entry

    def last(self, name: str) -> Any:
        """Return the last value of a name, or None."""
        return self._kept.get((name, ""), (0, None))[1]

    def keep(self, name: str) -> None:
        """Keep the last value of a name, which is watched, also after the name gets another value."""
        self._kept[name, "watched"] = self._kept[name, ""]

    def _log(self, name: str, value: Traced, line: int | None) -> None:
        if name in self._without_id:
            self._identify(*self._without_id.pop(name))
        if not has_id(value):
            self._without_id[name] = len(self._ids), value
        self._ids.append(id_of(value))
        self._lines.append(line or 0)
        self._name_numbers.append(self._numbers.setdefault(name, len(self._numbers)))

    def _identify(self, position: int, value: Traced) -> None:
        if has_id(value):
            self._ids[position] = id_of(value)

    def ignore(self, values: Collection[Traced]) -> None:
        """Forget values that the cell never used."""
        self._ignored = frozenset(map(id_of, values))
        self._kept = {
            key: entry
            for key, entry in self._kept.items()
            if not any(entry[1] is value for value in values)
        }

    @property
    def history(self) -> list[Named]:
        """The last values of each name, oldest first: of all, of watched ones, tensors, numbers, containers."""
        entries = {count: (name, value) for (name, _), (count, value) in self._kept.items()}
        return [entries[count] for count in sorted(entries)]

    @property
    def latest(self) -> dict[str, Any]:
        """The last value of each name, in the order in which the names were first bound."""
        return {name: value for (name, kind), (_, value) in self._kept.items() if not kind}

    @property
    def bindings(self) -> Mapping[str, Bindings]:
        """The tensors that each name was bound to."""
        if self._bindings is None or self._bindings[0] != len(self._ids):
            names, bindings = list(self._numbers), {name: Bindings() for name in self._numbers}
            for i, line, number in zip(self._ids, self._lines, self._name_numbers, strict=True):
                bindings[names[number]].append(i, line or None)
            self._bindings = len(self._ids), bindings
        return self._bindings[1]

    def names(self, known: Container[int]) -> dict[int, str]:
        """Return the names of tensors by id; earlier values of a name get a subscript.

        Of earlier values, only those with an id in `known` are named: a long loop has hundreds of thousands of others.
        """
        names: dict[int, str] = {}
        for position, value in self._without_id.values():
            self._identify(position, value)
        latest, written = self.latest, list(self._numbers)
        last = {name: id_of(x) for name, x in latest.items() if has_id(x)}
        versions = dict.fromkeys(written, 0)
        seen: set[int] = set()
        for i, number in zip(self._ids, self._name_numbers, strict=True):
            # A variable is bound again and again with one id, a new tensor has a new one, which is later.
            if i <= 0 or i in seen or i in self._ignored:
                continue
            name = written[number]
            versions[name] += 1
            if i in known or i == last.get(name):
                seen.add(i)
                names[i] = name if i == last.get(name) else name + subscript(versions[name])
        return names
