"""One run of a %%tape cell: the tapes that listen, and what the cell calls things."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Self

import numpy as np
from IPython.core.error import UsageError

from tapemagic.analysis.asking import explain_here
from tapemagic.analysis.derivatives import Named
from tapemagic.analysis.explain import Explanation, explain
from tapemagic.analysis.findings import Context
from tapemagic.analysis.observer import Observer
from tapemagic.analysis.wording import way
from tapemagic.engine.constants import constant
from tapemagic.engine.sweep import Gradients
from tapemagic.engine.tape import GradientTape, Walk
from tapemagic.engine.tensor import Traced
from tapemagic.engine.variable import Variable
from tapemagic.ipython.runcell import Cell

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class CellTape(GradientTape):
    """The user's tape in a %%tape cell, with an observer that hears what it hears.

    The observer outlives a gradient of this tape, so that showing a report never consumes the tape, and a
    gradient never empties the report.
    """

    def __init__(
        self, observer: Observer, persistent: bool, watch_accessed_variables: bool
    ) -> None:
        super().__init__(persistent, watch_accessed_variables)
        self._observer = observer
        self._warned = True

    def _track(self, x: Traced) -> None:
        super()._track(x)
        self._observer._track(x)
        if isinstance(x, Variable):
            self._variables.setdefault(x._id, x)
            self._observer._variables.setdefault(x._id, x)

    def reset(self) -> None:
        """Forget all records, and everything that was watched, and go on recording."""
        super().reset()
        if self._observer._recording:
            self._observer.reset()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block; results computed in it are constants for this tape."""
        observer = self._observer
        listening = observer.stop_recording() if observer._recording else nullcontext()
        with super().stop_recording(), listening:
            yield

    def explain(self, target: Any, source: Any) -> Explanation:
        """As every tape's; the observer knows more."""
        return explain_here(self._observer, target, source)

    def _differentiate(self, walk: Walk, ids: set[int], *of: Any) -> Gradients:
        if self._persistent:
            return super()._differentiate(walk, ids, *of)
        with self._observer.paused():
            return super()._differentiate(walk, ids, *of)


class Session:
    """Listens to a cell while it runs, and remembers what it calls its values.

    Attributes
    ----------
    history : list of (name, value)
        Every number, array and tensor that the cell gave a name, oldest first.
    sources : dict of str to tensor
        What the first line of the cell says to watch.
    assigned : dict of str to int
        The lines on which the cell last assigned its names.
    bindings : dict of str to list of (int, int or None)
        For each name the numbers of the tensors that it was bound to, and on which lines, oldest first.

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
        for name in watch:
            if name in cell.namespace and (
                name not in cell.assigned or _is_watchable(cell.namespace[name])
            ):
                self._given[name] = watchable(name, cell.namespace[name])

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

    def named(self, name: str, value: Any) -> Any:
        """Hear that the cell assigns a name; what shall be bound to it: a tensor, if it is to be watched."""
        line = self.cell.line()
        if line is not None:
            self.assigned[name] = line
        value = self._hear(name, value)
        if isinstance(value, Traced):
            self.bindings.setdefault(name, []).append((value._id, line))
        return value

    def _hear(self, name: str, value: Any) -> Any:
        if name in self.watch and not (
            isinstance(value, Traced) and value._id in self.observer._tracked
        ):
            value = watchable(name, value)
            self.tape._track(value)
            self.sources[name] = value
        if is_number(value):
            self.history.append((name, value))
        return value

    def context(self, note: str = "") -> Context:
        """What the cell calls things, and where."""
        return Context(
            self._named(),
            self.found_names(),
            self.assigned,
            self.cell.lines,
            note,
            self.bindings,
        )

    def explain(self, y: str, target: Any, x: str, source: Any) -> Explanation:
        """Why a gradient is None, or along which paths it came about, in the cell's names."""
        names = self.found_names()
        for name, value in self.all_sources():
            names.setdefault(value._id, name)
        bindings = self.bindings.get(x, [])
        return explain(self.observer, target, source, y, x, names, bindings, in_cell=True)

    def last_exit(self) -> str:
        """How a value last left the tape, as the end of a sentence; empty if none did."""
        for event in self.observer._events[::-1]:
            if event.kind == "left":
                name = self.found_names().get(event.number, "a value")
                return f": {name} left the tape through {way(event)}"
        return ""

    def _named(self) -> list[Named]:
        """What has a name in the cell, or is read by it; counters are left out."""
        namespace = self.cell.namespace
        named = {
            name: value for name, value in dict(self.history).items() if not isinstance(value, int)
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
                    found[number] = name + str(version).translate(SUBSCRIPTS)
        return found

    def all_sources(self) -> list[Named]:
        """Everything that was watched, under the names that the user knows."""
        names = self.found_names()
        named = [(name, self.sources[name]) for name in self.watch if name in self.sources]
        sources = {names.get(value._id, name): value for name, value in named}
        taken = {value._id for value in sources.values()}
        for value in self._watched():
            if value._id not in taken:
                name = self._name_of(value) or getattr(value, "name", "unnamed")
                sources[unused(name, sources)] = value
        return list(sources.items())

    def _watched(self) -> list[Any]:
        """The variables that were watched, and what else is known by name.

        What a name held before the cell, if the cell bound it anew without using it, does not count.
        """
        stale = {x._id for name, x in self._given.items() if self.sources.get(name) is not x}
        if stale:
            stale -= {i for record in self.observer._records for i in record[2]}
        values: dict[int, Any] = {x._id: x for x in self.observer.watched_variables()}
        held = [*dict(self.history).values(), *self.cell.namespace.values()]
        for value in held:
            if isinstance(value, Traced) and value._id in self.observer._leaves:
                values.setdefault(value._id, value)
        return [value for number, value in values.items() if number not in stale]

    def _name_of(self, value: Traced) -> str:
        """A name of the notebook for a value: best one that the cell uses."""
        public = [
            name
            for name, held in self.cell.namespace.items()
            if isinstance(held, Traced) and held._id == value._id and not name.startswith("_")
        ]
        used = self.cell.read | self.cell.assigned
        return next((name for name in public if name in used), public[0] if public else "")


def unused(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if it is taken."""
    candidate, copy = name, 1
    while candidate in taken:
        copy += 1
        candidate = f"{name} ({copy})"
    return candidate


def is_number(value: Any) -> bool:
    """Whether a value is a tensor, a number or an array of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, Traced | int | float | complex | np.number | np.bool_)


def watchable(name: str, value: Any) -> Any:
    """A value as the tensor that a tape can watch.

    Raises
    ------
    UsageError
        If it is not made of numbers.
    """
    if isinstance(value, Traced):
        return value
    if _holds_tensors(value):
        raise UsageError(
            f"%%tape cannot watch {name!r} as one, because there are tensors in this {type(value).__name__}: "
            f"name each of them, as in w, b = {name} and %%tape w b"
        )
    try:
        return constant(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise UsageError(
            f"%%tape cannot watch {name!r}, which is a {kind}: a watched variable is a real number, an array or a "
            f"Tensor, such as {name} = 3.0"
        ) from None


def _is_watchable(value: Any) -> bool:
    try:
        watchable("", value)
    except UsageError:
        return False
    return True


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(x, Traced) or _holds_tensors(x) for x in value)
    return False
