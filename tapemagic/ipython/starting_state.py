"""The state from which a cell starts: its names, and the contents of the objects that it may change in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, Self

import numpy as np

from tapemagic.engine.runtime import global_states
from tapemagic.engine.tensor.variable import Variable
from tapemagic.ipython.object_state import (
    MISSING,
    PLAIN,
    Kept,
    is_own,
    is_own_module,
    kept,
    parts,
    same,
    settings,
)

MOST_OBJECTS = 100_000
"""The number of objects that are searched."""

MOST_BYTES = 2**28
"""The bytes of arrays that are copied."""

NUMBERS = {bool, int, float, complex, str, bytes, type(None), np.float64, np.float32, np.int64}
"""Types of objects that nothing can change, and that are often many."""


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The names whose values are others now, with those that they had before; MISSING for new names.

    Examples
    --------
    >>> changed({"a": 1, "b": 2}, {"a": 1, "b": 3})
    {'b': 2}
    """
    names = {**before, **now}
    return {
        name: before.get(name, MISSING)
        for name in names
        if before.get(name, MISSING) is not now.get(name, MISSING)
    }


def bind(namespace: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Give names their values; delete those whose value is MISSING.

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
    """The contents of objects at the time when this is made, so that they can be given back.

    Kept are the items of lists, dicts, sets and deques, and of those in them; the entries of arrays; the values of
    Variables; tables of pandas; the attributes of objects, classes and modules that the user defines, and those of
    models, layers and optimizers; and the states of random generators, those of NumPy, of Python and of layers among
    them. Functions of the user are searched for the names that
    they read. Files, iterators and the objects of other libraries are not kept.

    Parameters
    ----------
    namespace : dict of str to object
        The notebook's.
    names : iterable of str
        The names with whose values to begin.
    like : Contents, optional
        Earlier contents: those that are equal are not stored twice.

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
        self, namespace: dict[str, Any], names: Iterable[str], like: Contents | None = None
    ) -> None:
        self._main = namespace.get("__name__", "__main__")
        self._like: dict[int, Kept] = {} if like is None else like._kept
        self._bytes = 0
        self._kept: dict[int, Kept] = {id(owner): item for owner, item in settings()}
        self._held: dict[int, Any] = {id(namespace): namespace}  # so that no id is used twice
        waiting = deque(("", state) for state in global_states())
        waiting += [(name, namespace.get(name)) for name in sorted(names)]
        for _ in range(MOST_OBJECTS):
            if not waiting:
                break
            name, value = waiting.popleft()
            waiting += [(name, part) for part in self._keep(name, value)]
        self._like = {}

    def restore(self) -> None:
        """Give the objects back what they had."""
        for item in [*self._kept.values()]:
            item.restore()

    def restore_random(self, before: Contents) -> None:
        """Give those random generators their states back that had others in earlier contents."""
        for key in self._changed_since(before):
            if self._kept[key].is_random:
                self._kept[key].restore()

    def take_over(self, before: Contents, now: Contents) -> set[str]:
        """Hold what objects have now, if they were given it between two times; the names behind which they are.

        Random generators are left as they are.
        """
        names = set()
        for key in now._changed_since(before):
            item = now._kept[key]
            if key in self._kept and not item.is_random:
                names.add(item.name)
            if key not in self._kept or not item.is_random:
                self._kept[key] = item
                self._held[key] = now._held.get(key)
        return names - {""}

    def _changed_since(self, before: Contents) -> list[int]:
        """The ids of objects that have other contents than in earlier ones, or are not in those."""
        known = before._kept
        return [
            key
            for key, item in self._kept.items()
            if key not in known or not same(known[key].content, item.content)
        ]

    def _keep(self, name: str, value: Any) -> list[Any]:
        """Keep the contents of an object; what is in it and may have contents."""
        if id(value) in self._held or type(value) in NUMBERS:
            return []
        self._held[id(value)] = value
        with suppress(Exception):  # a class of the user's own may raise anything
            if self._can_change(value):
                item = kept(name, value)
                if item is not None:
                    self._kept[id(value)] = self._shared(id(value), item)
            return [part for part in parts(value, self._main) if type(part) not in NUMBERS]
        return []

    def _shared(self, key: int, item: Kept) -> Kept:
        """The earlier contents of an object if they are equal."""
        known = self._like.get(key)
        return known if known is not None and same(known.content, item.content) else item

    def _can_change(self, value: Any) -> bool:
        """Whether the contents of an object are kept."""
        match value:
            case Variable():
                return True
            case np.ndarray():
                self._bytes += value.nbytes
                return value.flags.writeable and self._bytes <= MOST_BYTES
            case type():
                return is_own(value, self._main)
            case ModuleType():
                return is_own_module(value.__name__, self._main) and value.__name__ != self._main
        return True


class Start:
    """The state from which the runs of a cell start: that before its first run, and what other cells changed since.

    Parameters
    ----------
    namespace : dict of str to object
    names : iterable of str
        Those that the cell reads or assigns.

    Attributes
    ----------
    changed_since : set of str
        The names whose values other cells changed since the first run.
    """

    def __init__(self, namespace: dict[str, Any], names: Iterable[str]) -> None:
        self._namespace = namespace
        self._names = sorted(names)
        self._contents = Contents(namespace, self._names)
        self._before: dict[str, Any] = namespace.copy()
        self._originals: dict[str, Any] = {}
        self._left: Left | None = None
        self.changed_since: set[str] = set()

    def undo(self) -> None:
        """Put everything back that a first run changed which does not count."""
        bind(self._namespace, changed(self._before, self._namespace))
        self._contents.restore()

    def ran(self) -> None:
        """Note which names the first run changed."""
        self._originals = changed(self._before, self._namespace)
        self._before = {}

    def begin_again(self) -> None:
        """Give the notebook this state."""
        bind(self._namespace, self._originals)
        self._contents.restore()

    def leave(self) -> None:
        """Note what a run of the cell leaves, so that later changes by other cells are seen."""
        now = Left(self._namespace, self._names, self._originals, self._contents)
        self._left = now.as_left()

    def take_over(self) -> Left:
        """Let later runs begin with what other cells have changed since the last one; all that there is now."""
        before = self._left
        now = Left(
            self._namespace, self._names, self._originals, before.contents if before else None
        )
        if before is not None:
            for name in changed(before.bound, now.bound):
                self._originals.pop(name, None)
                if not _equal(before.bound.get(name), now.bound.get(name)):
                    self.changed_since.add(name)
            self.changed_since |= self._contents.take_over(before.contents, now.contents)
        return now

    def ran_again(self, now: Left) -> None:
        """Note which names a later run changed; random generators that other cells used go on where they were."""
        for name, value in changed(now.names, self._namespace).items():
            self._originals.setdefault(name, value)
        if self._left is not None:
            now.contents.restore_random(self._left.contents)
        self.leave()

    def give_back(self, now: Left) -> None:
        """Give the notebook what there was before a run that failed."""
        bind(self._namespace, changed(now.names, self._namespace))
        now.contents.restore()
        self._left = now.as_left()


class Left:
    """The names of the notebook, and the contents of the objects that a cell uses, at one time.

    Parameters
    ----------
    namespace : dict of str to object
    names : sequence of str
        Those that the cell reads or assigns.
    originals : mapping
        The names that its runs change.
    like : Contents or None

    Attributes
    ----------
    names : dict of str to object
        All names; empty after `as_left`.
    bound : dict of str to object
        The names that the cell reads, assigns or changes; MISSING for those that do not exist.
    contents : Contents
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

    def as_left(self) -> Self:
        """Itself without the names that the cell does not use, whose values need not stay."""
        self.names = {}
        return self


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and isinstance(one, PLAIN) and bool(one == other)
