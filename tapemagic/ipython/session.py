"""One run of a %%tape cell: the tapes that listen, and what the cell calls things."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, Self

from tapemagic.analysis.explain.advice import way
from tapemagic.analysis.explain.explain import Explanation, explain
from tapemagic.analysis.explain.query import Program, Question
from tapemagic.analysis.formatting import subscript
from tapemagic.analysis.report.derivatives import Named
from tapemagic.analysis.report.findings import Context
from tapemagic.analysis.snapshot import Snapshot, snapshot_of
from tapemagic.engine.events import Place
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.ipython.celltape import CellTape
from tapemagic.ipython.parts import tensors
from tapemagic.ipython.runcell import Cell
from tapemagic.ipython.watchable import is_number, is_watchable, watchable

HIDDEN = {"In", "Out"}
"""Names of IPython's own in every notebook."""

CONTAINERS = (list, tuple, dict)
NAMELESS = "Variable"
"""What a Variable is called that was given no name."""


class Session:
    """Listens to a cell while it runs, and remembers what it calls its values.

    Attributes
    ----------
    history : list of (name, value)
        Every number, array, tensor, list and dict that the cell gave a name, oldest first.
    sources : dict of str to tensor
        What the first line of the cell says to watch.
    assigned : dict of str to int
        The lines on which the cell last assigned its names.
    bindings : dict of str to list of (int, int or None)
        For each name the numbers of the tensors that it was bound to, and on which lines, oldest first.
    lists : dict of str to str
        The types of those lists and tuples that became tensors because they are watched.

    Raises
    ------
    UsageError
        If something is to be watched which cannot be.
    """

    def __init__(
        self, cell: Cell, watch: Sequence[str], persistent: bool, auto_watch: bool
    ) -> None:
        self.cell = cell
        self.watch = tuple(watch)
        self.observer = Observer(cell.line, auto_watch)
        self.tape = CellTape(self.observer, persistent, auto_watch)
        self.history: list[Named] = []
        self.bindings: dict[str, list[tuple[int, int | None]]] = {}
        self.sources: dict[str, Any] = {}
        self.assigned: dict[str, int] = {}
        self._given: dict[str, Any] = {}
        self._stale: set[int] = set()
        self.lists: dict[str, str] = {}
        for name in watch:
            if name in cell.namespace and (
                name not in cell.assigned or is_watchable(cell.namespace[name])
            ):
                self._given[name] = self._made(name, cell.namespace[name])

    def __enter__(self) -> Self:
        self.observer.__enter__()
        self.tape.__enter__()
        for name, value in self._given.items():
            self.cell.namespace[name] = held = self._hear(name, value)
            self.bindings[name] = [(held._id, None)]
        return self

    def __exit__(self, *error: object) -> None:
        self.tape.__exit__(None, None, None)
        self.observer.__exit__(None, None, None)
        self._forget_unused()

    def _forget_unused(self) -> None:
        """Forget what a name held before the cell, if the cell bound it anew without using it."""
        contents = self.snapshot().contents
        used = {i for record in contents.records for i in record[2]}
        used |= {event.number for event in contents.events}
        unused = [
            x
            for name, x in self._given.items()
            if self.sources.get(name) is not x and x._id not in used
        ]
        self._stale = {x._id for x in unused}
        self.history = [
            (name, value) for name, value in self.history if not any(value is x for x in unused)
        ]

    def named(self, name: str, value: Any) -> Any:
        """Hear that the cell assigns a name; what shall be bound to it: a tensor, if it is to be watched."""
        line = self.cell.line()
        value = self._hear(name, value)
        if line is not None:
            self.assigned[name] = line
        if isinstance(value, Traced):
            self.bindings.setdefault(name, []).append((value._id, line))
        return value

    def _hear(self, name: str, value: Any) -> Any:
        if name in self.watch and not (self.observer.tracks(value)):
            value = self._made(name, value)
            self.tape.track(value)
            self.sources[name] = value
        if is_number(value) or isinstance(value, CONTAINERS):
            self.history.append((name, value))
        return value

    def _made(self, name: str, value: Any) -> Traced:
        """The tensor to watch in place of a value; lists are remembered."""
        made: Traced = watchable(name, value)
        if not isinstance(value, Traced):
            self.lists.pop(name, None)
        if isinstance(value, CONTAINERS):
            self.lists[name] = type(value).__name__
        return made

    def snapshot(self) -> Snapshot:
        """What the cell has recorded so far."""
        return snapshot_of(self.observer)

    def context(self, note: str = "") -> Context:
        """What the cell calls things, and where."""
        return Context(
            self._named(),
            self.found_names(),
            self.assigned,
            self.cell.lines,
            note,
            self.bindings,
            self.program(),
        )

    def program(self) -> Program:
        """The cell, as what asks for reasons."""
        place = Place(self.cell.filename, 1, "")
        return Program(place, self.cell.namespace, in_cell=True)

    def question(self, y: str, target: Any, x: str, source: Any) -> Question:
        """A gradient of this cell to be explained, in the cell's names."""
        names = self.found_names()
        for name, value in self.all_sources():
            names.setdefault(value._id, name)
        snapshot, bindings = self.snapshot(), self.bindings.get(x, ())
        return Question(snapshot, target, source, y, x, names, bindings, self.program())

    def explain(self, y: str, target: Any, x: str, source: Any) -> Explanation:
        """Why a gradient is None, or along which paths it came about, in the cell's names."""
        return explain(self.question(y, target, x, source))

    def notes(self) -> list[str]:
        """What there is to say of what was watched: which lists are arrays now."""
        return [
            f"{name} was a {kind} and is an array now, because it is watched: {name} + {name} adds the numbers in it"
            for name, kind in self.lists.items()
        ]

    def last_exit(self, but: Container[int] = ()) -> str:
        """How a value last left the tape, `but` for some, as the end of a sentence; empty if none did."""
        for event in self.snapshot().events[::-1]:
            if event.kind == "exit" and event.number not in but:
                name = self.found_names().get(event.number, "a value")
                return f": {name} left the tape through {way(event)}"
        return ""

    def _named(self) -> list[Named]:
        """What has a name in the cell, or is read by it; counters are left out."""
        namespace = self.cell.namespace
        named = {
            name: value
            for name, value in dict(self.history).items()
            if not isinstance(value, (int, *CONTAINERS))
        }
        for name in sorted(self.cell.read - self.cell.assigned):
            if is_number(namespace.get(name)):
                named.setdefault(name, namespace[name])
        return list(named.items())

    def found_names(self) -> dict[int, str]:
        """The names of values, by their numbers; earlier values of a name that changed get a subscript."""
        found: dict[int, str] = {}
        versions: dict[str, list[int]] = {}
        for name, value in self.history:
            if isinstance(value, Traced) and value._id > 0 and value._id not in found:
                found[value._id] = name
                versions.setdefault(name, []).append(value._id)
        latest = dict(self.history)
        for name, numbers in versions.items():
            for version, number in enumerate(numbers, 1):
                if number != getattr(latest[name], "_id", 0):
                    found[number] = name + subscript(version)
        return found

    def all_sources(self) -> list[Named]:
        """Everything that was watched, under the names that the user knows."""
        names = self.found_names()
        named = [(name, self.sources[name]) for name in self.watch if name in self.sources]
        sources = {names.get(value._id, name): value for name, value in named}
        taken = {value._id for value in sources.values()}
        others = [value for value in self._watched() if value._id not in taken]
        for name, value in zip(self._names_of(others), others, strict=True):
            sources[unused(name, sources)] = value
        return list(sources.items())

    def watched(self) -> set[int]:
        """The numbers of all that is watched."""
        return set(self.snapshot().leaves) | {source._id for source in self.sources.values()}

    def _is_watched(self, value: Traced) -> bool:
        return self.observer.watches(value) or any(
            value._id == source._id for source in self.sources.values()
        )

    def is_computed(self, value: Traced) -> bool:
        """Whether a tensor was computed from what is watched."""
        return self.observer.tracks(value) and not self._is_watched(value)

    def _watched(self) -> list[Any]:
        """The variables that were watched, and what else is known by name."""
        values: dict[int, Any] = {x._id: x for x in self.observer.watched_variables()}
        held = [*dict(self.history).values(), *self.cell.namespace.values()]
        for value in held:
            if isinstance(value, Traced) and self.observer.watches(value):
                values.setdefault(value._id, value)
        return [value for number, value in values.items() if number not in self._stale]

    def _names_of(self, values: Sequence[Traced]) -> list[str]:
        """The notebook's names for values: best those that the cell uses.

        A Variable without any name is called after the list, dict or object that holds it.
        """
        own = {x._id: getattr(x, "name", "unnamed") for x in values}
        used, others = self.notebook()
        named = {x._id: name for name, x in [*used, *others][::-1] if isinstance(x, Traced)}
        if any(name == NAMELESS and i not in named for i, name in own.items()):
            places = [*tensors(used), *tensors(others)]
            own |= {x._id: name for name, x in places[::-1] if own.get(x._id) == NAMELESS}
        return [named.get(i, name) for i, name in own.items()]

    def notebook(self) -> tuple[list[Named], list[Named]]:
        """What the notebook has names for: first what the cell uses, and then the rest, but for hidden names."""
        namespace = self.cell.namespace
        mentioned = self.cell.read | self.cell.assigned
        used = [(name, x) for name, x in namespace.items() if name in mentioned]
        others = [
            (name, x)
            for name, x in namespace.items()
            if name not in mentioned and not name.startswith("_") and name not in HIDDEN
        ]
        return used, others


def unused(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if it is taken."""
    candidate, copy = name, 1
    while candidate in taken:
        copy += 1
        candidate = f"{name} ({copy})"
    return candidate
