"""Assignments: the values that a cell binds to names, and the ids of the tensors among them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Any, overload

from tapemagic.engine.tensor.tensor import Traced, has_id, id_of
from tapemagic.explain.formatting import subscript
from tapemagic.explain.snapshot import Named

CONTAINERS = (list, tuple, dict)
KINDS = ("", "watched", "tensor", "derivative", "number", "items")
"""The kinds of values of which the last one is kept for each name; '' is any."""

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

    def __iter__(self) -> Iterator[Bound]:
        return ((i, line or None) for i, line in zip(self._ids, self._lines, strict=True))

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
        self._kept: dict[str, dict[str, tuple[int, Any]]] = {kind: {} for kind in KINDS}
        self._latest = self._kept[""]
        # For each tensor its id, the line, and the number of the name.
        self._log = array("q")
        self._numbers: dict[str, int] = {}
        # Constants get an id when they are watched, which may be after they were bound to a name.
        self._without_id: dict[str, tuple[int, Traced]] = {}
        self._bindings: tuple[int, dict[str, Bindings]] | None = None
        self._ignored: Collection[int] = ()

    def add(self, name: str, value: Any, observer: Any) -> None:
        """Add the latest value of a name, a number or a container."""
        self.count += 1
        self._keep_watched(name, observer)
        entry = self._latest[name] = self.count, value
        self._kept["items" if isinstance(value, CONTAINERS) else "number"][name] = entry

    def add_tensor(self, name: str, value: Traced, line: int | None, observer: Any) -> None:
        """Add the latest value of a name, a tensor, with the line of the cell; `observer` knows its order."""
        self.count += 1
        self._keep_watched(name, observer)
        entry = self._latest[name] = self.count, value
        i = id_of(value)
        self._kept["derivative" if observer.order_of(value) else "tensor"][name] = entry
        if name in self._without_id:
            self._identify(*self._without_id.pop(name))
        if i <= 0:
            self._without_id[name] = len(self._log), value
        self._log.extend((i, line or 0, self._numbers.setdefault(name, len(self._numbers))))

    def _keep_watched(self, name: str, observer: Any) -> None:
        """Keep the last value of a name if it is watched, because the name gets another value now."""
        entry = self._latest.get(name)
        if entry and isinstance(entry[1], Traced) and observer.watches(entry[1]):
            self._kept["watched"][name] = entry

    def _identify(self, position: int, value: Traced) -> None:
        if has_id(value):
            self._log[position] = id_of(value)

    def ignore(self, values: Collection[Traced]) -> None:
        """Forget values that the cell never used."""
        self._ignored = frozenset(map(id_of, values))
        for entries in self._kept.values():
            for name, (_, kept) in list(entries.items()):
                if any(kept is value for value in values):
                    del entries[name]

    @property
    def history(self) -> list[Named]:
        """The last values of each name, oldest first: of all, of watched ones, tensors, numbers, containers."""
        kept = self._kept.values()
        entries = {count: (name, x) for of in kept for name, (count, x) in of.items()}
        return [entries[count] for count in sorted(entries)]

    @property
    def latest(self) -> dict[str, Any]:
        """The last value of each name, in the order in which the names were first bound."""
        return {name: value for name, (_, value) in self._latest.items()}

    @property
    def bindings(self) -> Mapping[str, Bindings]:
        """The tensors that each name was bound to."""
        if self._bindings is None or self._bindings[0] != len(self._log):
            names, bindings = list(self._numbers), {name: Bindings() for name in self._numbers}
            for i, line, number in self._logged():
                bindings[names[number]].append(i, line or None)
            self._bindings = len(self._log), bindings
        return self._bindings[1]

    def _logged(self) -> Iterator[tuple[int, int, int]]:
        return zip(self._log[::3], self._log[1::3], self._log[2::3], strict=True)

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
        for i, _, number in self._logged():
            # A variable is bound again and again with one id, a new tensor has a new one, which is later.
            if i <= 0 or i in seen or i in self._ignored:
                continue
            name = written[number]
            versions[name] += 1
            if i in known or i == last.get(name):
                seen.add(i)
                names[i] = name if i == last.get(name) else name + subscript(versions[name])
        return names
