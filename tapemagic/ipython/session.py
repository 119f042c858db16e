"""One run of a %%tape cell: the tapes that listen, and what the cell calls things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from IPython.core.error import UsageError

from tapemagic.analysis.observer import Observer
from tapemagic.engine.sweep import Gradients
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Traced, constant
from tapemagic.engine.variable import Variable
from tapemagic.ipython.runcell import Cell

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
NUMBERS = (int, float, complex, np.ndarray, np.number, np.bool_)


class CellTape(GradientTape):
    """The user's tape in a %%tape cell, with an observer that hears what it hears.

    The observer outlives a gradient of this tape, so that showing a report never consumes the tape, and a
    gradient never empties the report.
    """

    def __init__(self, observer: Observer, persistent: bool, watch_accessed_variables: bool) -> None:
        super().__init__(persistent, watch_accessed_variables)
        self._observer = observer
        self._warned = True

    def _track(self, x: Traced) -> None:
        super()._track(x)
        self._observer._track(x)
        if isinstance(x, Variable):
            self._observer._variables.setdefault(x._id, x)

    def reset(self) -> None:
        """Forget all records, and everything that was watched, and go on recording."""
        super().reset()
        if self._observer._recording:
            self._observer.reset()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block; results computed in it are constants for this tape."""
        with super().stop_recording(), self._observer.paused():
            yield

    def _walk(self, *args: Any) -> Gradients:
        if self._persistent:
            return super()._walk(*args)
        with self._observer.paused():
            return super()._walk(*args)


class Session:
    """Listens to a cell while it runs, and remembers what it calls its values."""

    def __init__(self, cell: Cell, watch: Sequence[str], persistent: bool, auto_watch: bool) -> None:
        self.cell = cell
        self.watch = list(watch)
        self.observer = Observer(cell.line, auto_watch)
        self.tape = CellTape(self.observer, persistent, auto_watch)
        self.history: list[tuple[str, Any]] = []
        self.sources: dict[str, Any] = {}

    def __enter__(self) -> Session:
        self.observer.__enter__()
        self.tape.__enter__()
        namespace = self.cell.shell.user_ns
        for name in self.watch:
            if name in namespace:
                namespace[name] = self.named(name, namespace[name])
        return self

    def __exit__(self, *error: Any) -> None:
        self.tape.__exit__(None, None, None)
        self.observer.__exit__(None, None, None)

    def named(self, name: str, value: Any) -> Any:
        """Hear that a name is assigned; the tensor that it shall be bound to, if it is to be watched."""
        if name in self.watch and not (isinstance(value, Traced) and value._id in self.observer._tracked):
            value = watchable(name, value)
            if self.observer._recording:
                self.tape._track(value)
            self.sources[name] = value
        if isinstance(value, (Traced, *NUMBERS)):
            self.history.append((name, value))
        return value

    def found_names(self) -> dict[int, str]:
        """The names of values, by their numbers; earlier values of a name that changed get a subscript."""
        versions: dict[str, dict[int, None]] = {}
        for name, value in self.history:
            if isinstance(value, Traced) and value._id:
                versions.setdefault(name, {})[value._id] = None
        found: dict[int, str] = {}
        for name, numbers in versions.items():
            *earlier, latest = numbers
            for version, number in enumerate(earlier, 1):
                found.setdefault(number, name + str(version).translate(SUBSCRIPTS))
            found.setdefault(latest, name)
        return found

    def all_sources(self) -> list[tuple[str, Any]]:
        """Everything that was watched, under the names that the user knows."""
        sources = dict(self.sources)
        taken = {value._id for value in sources.values()}
        namespace = self.cell.shell.user_ns
        named = {value._id: name for name, value in self.history if isinstance(value, Traced)}
        public = ((n, v) for n, v in namespace.items() if not n.startswith("_") and isinstance(v, Traced))
        named |= {value._id: name for name, value in public if value._id}
        values = {variable._id: variable for variable in self.observer.watched_variables()}
        held = [value for _, value in self.history] + list(namespace.values())
        values |= {v._id: v for v in held if isinstance(v, Traced) and v._id in self.observer._leaves}
        for number, value in values.items():
            if number not in taken:
                name = named.get(number) or getattr(value, "name", "")
                sources[_unused(name, sources)] = value
        return list(sources.items())


def _unused(name: str, taken: Any) -> str:
    unused, copy = name, 1
    while unused in taken:
        copy += 1
        unused = f"{name} ({copy})"
    return unused


def watchable(name: str, value: Any) -> Any:
    """A value as the tensor that a tape can watch.

    Raises
    ------
    UsageError
        If it is not made of numbers.
    """
    if isinstance(value, Traced):
        return value
    try:
        return constant(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise UsageError(
            f"%%tape cannot watch {name!r}, which is a {kind}: a watched variable is a real number, an array or a "
            f"Tensor, such as {name} = 3.0"
        ) from None
