"""Save and restore the state that a cell starts from: its names, and the objects it may change in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np

from tapemagic.engine.runtime import registered_states
from tapemagic.engine.tensor.variable import Variable
from tapemagic.ipython.object_state import (
    MISSING,
    PLAIN_TYPES,
    SavedState,
    global_states,
    is_equal,
    is_own,
    is_own_module,
    parts,
    save_state,
)


class Limits(NamedTuple):
    """The maximum number of objects that are searched, and of bytes of arrays that are copied."""

    objects: int
    bytes: int


LIMITS = Limits(100_000, 2**28)
"""The limits for a state that a cell's line asks for."""

IMMUTABLE_TYPES = {
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    np.float64,
    np.float32,
    np.int64,
}
"""Common immutable types, skipped before anything else because there may be very many."""


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names that were rebound, with their earlier values (MISSING for new names).

    Examples
    --------
    >>> changed({"a": 1, "b": 2}, {"a": 1, "b": 3})
    {'b': 2}
    """
    names = {**before, **after}
    return {
        name: before.get(name, MISSING)
        for name in names
        if before.get(name, MISSING) is not after.get(name, MISSING)
    }


def bind(namespace: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Bind names to values; delete names whose value is MISSING.

    Examples
    --------
    >>> held = {"a": 1, "b": 2}
    >>> bind(held, {"a": 3, "b": MISSING})
    >>> held
    {'a': 3}
    """
    for name, value in values.items():
        if value is MISSING:
            namespace.pop(name, None)
        else:
            namespace[name] = value


class Contents:
    """Snapshot of the contents of mutable objects, so that they can be restored.

    Saved are: the items of lists, dicts, sets and deques, recursively; the entries of arrays; the values of Variables;
    pandas tables; the attributes of user objects, user classes and user modules, and of models, layers and optimizers;
    and the states of random generators (NumPy's, Python's and those of layers). User functions are searched for the
    names that they read. Files, iterators and objects of other libraries are not saved.

    - `namespace`: The notebook's.
    - `names`: The names to start the search at.
    - `like`: Earlier contents; equal states are shared with it instead of stored twice.
    - `also`: Contents whose objects are saved as well, as they are now.

    - `is_complete`: Whether everything was searched, and every array copied.

    Examples
    --------
    >>> held = {"losses": [1.0]}
    >>> contents = Contents(held, ["losses"])
    >>> held["losses"].append(2.0)
    >>> contents.restore()
    >>> held
    {'losses': [1.0]}
    """

    def __init__(
        self,
        namespace: dict[str, Any],
        names: Iterable[str],
        like: Contents | None = None,
        limits: Limits = LIMITS,
        also: Contents | None = None,
    ) -> None:
        self._max_bytes = limits.bytes
        self._main = namespace.get("__name__", "__main__")
        self._shared_states: dict[int, SavedState] = {} if like is None else like._states
        self._bytes = 0
        self._states: dict[int, SavedState] = {id(owner): item for owner, item in global_states()}
        self._objects: dict[int, Any] = {
            id(namespace): namespace
        }  # keeps the objects alive, so that no id is reused
        waiting = deque(("", state) for state in registered_states())
        waiting += [(name, namespace.get(name)) for name in sorted(names)]
        if also is not None:
            waiting += [("", x) for key, x in also._objects.items() if key in also._states]
        # Breadth first: where the limit is reached, what lies deepest is lost, and not whole variables.
        for _ in range(limits.objects):
            if not waiting:
                break
            name, value = waiting.popleft()
            waiting += [(name, part) for part in self._save(name, value)]
        self.is_complete = not waiting and self._bytes <= limits.bytes
        # The earlier contents are only compared with; keeping them would keep every older copy alive.
        self._shared_states = {}

    @property
    def objects(self) -> Iterable[Any]:
        """The objects that were found, also those whose contents are not saved."""
        return self._objects.values()

    def restore(self) -> None:
        """Write the saved contents back into all objects."""
        for item in [*self._states.values()]:
            item.restore()

    def restore_random(self, before: Contents) -> None:
        """Restore the random generators whose states differ from those in earlier contents."""
        for key in self._changed_since(before):
            if self._states[key].is_random:
                self._states[key].restore()

    def adopt(self, before: Contents, after: Contents) -> set[str]:
        """Adopt the contents of objects that changed between two snapshots; return the variables that reach these.

        Random generators keep their saved states.
        """
        names = set()
        for key in after._changed_since(before):
            item = after._states[key]
            if key in self._states and not item.is_random:
                names.add(item.name)
            if key not in self._states or not item.is_random:
                self._states[key] = item
                self._objects[key] = after._objects.get(key)
        return names - {""}

    def _changed_since(self, before: Contents) -> list[int]:
        """Return the ids of objects whose contents differ from earlier ones, or that are new."""
        earlier = before._states
        return [
            key
            for key, item in self._states.items()
            if key not in earlier or not is_equal(earlier[key].content, item.content)
        ]

    def _save(self, name: str, value: Any) -> list[Any]:
        """Save the contents of an object; return the objects inside it that may have contents themselves."""
        if id(value) in self._objects or type(value) in IMMUTABLE_TYPES:
            return []
        self._objects[id(value)] = value
        with suppress(Exception):  # a user class may raise anything
            if self._claim_copy(value):
                item = save_state(name, value)
                if item is not None:
                    self._states[id(value)] = self._shared(id(value), item)
            return [part for part in parts(value, self._main) if type(part) not in IMMUTABLE_TYPES]
        return []

    def _shared(self, key: int, item: SavedState) -> SavedState:
        """Return the earlier state of an object if it is equal, so that it is stored once."""
        earlier = self._shared_states.get(key)
        return earlier if earlier is not None and is_equal(earlier.content, item.content) else item

    def _claim_copy(self, value: Any) -> bool:
        """Return True if an object's contents are saved; count the bytes of arrays against the limit."""
        match value:
            case Variable():
                return True
            case np.ndarray():
                self._bytes += value.nbytes
                # A read-only array can't have changed.
                return value.flags.writeable and self._bytes <= self._max_bytes
            case type():
                return is_own(value, self._main)
            case ModuleType():
                return is_own_module(value.__name__, self._main) and value.__name__ != self._main
        return True


class CellStart:
    """The state that the runs of a cell start from: before its first run, plus later changes by other cells.

    - `names`: The names that the cell reads or assigns.

    - `changed_since`: The names whose values other cells have changed since the first run.
    - `contents`: The contents of the objects that the cell uses.
    """

    def __init__(
        self, namespace: dict[str, Any], names: Iterable[str], limits: Limits = LIMITS
    ) -> None:
        self._namespace = namespace
        self._names = sorted(names)
        self.contents = Contents(namespace, self._names, limits=limits)
        self._before: dict[str, Any] = namespace.copy()
        self._originals: dict[str, Any] = {}
        self._state_left: NotebookState | None = None
        self.changed_since: set[str] = set()

    def undo(self) -> None:
        """Undo a first run that was refused."""
        bind(self._namespace, changed(self._before, self._namespace))
        self.contents.restore()

    def ran(self, but: str = "") -> None:
        """Record which names the first run changed, except one."""
        self._originals = changed(self._before, self._namespace)
        self._originals.pop(but, None)
        # The namespace's old values may be freed.
        self._before = {}

    def rewind(self) -> None:
        """Give the notebook this state again."""
        bind(self._namespace, self._originals)
        self.contents.restore()

    def note_end(self) -> None:
        """Note what a run of the cell leaves, so that later changes by other cells are seen."""
        state = NotebookState(self._namespace, self._names, self._originals, self.contents)
        self._state_left = state.without_unused_names()

    def adopt(self) -> NotebookState:
        """Adopt what other cells changed since the last run; return the current state of the notebook."""
        before = self._state_left
        state = NotebookState(
            self._namespace, self._names, self._originals, before.contents if before else None
        )
        if before is not None:
            for name in changed(before.bound, state.bound):
                self._originals.pop(name, None)
                if not _equal(before.bound.get(name), state.bound.get(name)):
                    self.changed_since.add(name)
            self.changed_since |= self.contents.adopt(before.contents, state.contents)
        return state

    def ran_later(self, state: NotebookState) -> None:
        """Record which names a later run changed; random generators that other cells used continue where they were."""
        for name, value in changed(state.names, self._namespace).items():
            # setdefault: the value before the first run counts, not that before a later one.
            self._originals.setdefault(name, value)
        if self._state_left is not None:
            state.contents.restore_random(self._state_left.contents)
        self.note_end()

    def restore(self, state: NotebookState) -> None:
        """Restore the notebook after a run that failed."""
        bind(self._namespace, changed(state.names, self._namespace))
        state.contents.restore()
        self._state_left = state.without_unused_names()


class NotebookState:
    """Names of the notebook, and contents of the objects that a cell uses, at one moment.

    - `names`: The names that the cell reads or assigns.
    - `originals`: The names that its runs change.

    - `names`: All names; empty after `without_unused_names`.
    - `bound`: The names that the cell reads, assigns or changes; MISSING for those that do not exist.
    """

    def __init__(
        self,
        namespace: dict[str, Any],
        names: Iterable[str],
        originals: Mapping[str, Any],
        like: Contents | None,
    ) -> None:
        self.names = namespace.copy()
        self.bound = {name: namespace.get(name, MISSING) for name in {*names, *originals}}
        self.contents = Contents(namespace, names, like)

    def without_unused_names(self) -> Self:
        """Drop the names that the cell does not use, so that their values can be freed; return this state."""
        self.names = {}
        return self


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, PLAIN_TYPES) and bool(a == b)
