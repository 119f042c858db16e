"""The state from which a cell starts: its names, and the contents of the objects that it may change in place."""

from __future__ import annotations

import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import CellType, FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, reset
from tapemagic.ipython.names import globals_read

MOST_OBJECTS = 100_000
"""The number of objects that are searched."""

MOST_BYTES = 2**28
"""The bytes of arrays that are copied."""

MISSING = object()
"""Stands for the value of a name that does not exist."""

PLAIN = {bool, int, float, complex, str, bytes, type(None), np.float64, np.float32, np.int64}
"""Types of objects that nothing can change, and that are often many."""

FILLS: dict[Any, Callable[[Any, Any], Any]] = {
    list: list.extend,
    OrderedDict: OrderedDict.update,
    dict: dict.update,
    set: set.update,
    deque: deque.extend,
    bytearray: bytearray.extend,
}
"""The containers whose items are kept, and how they are filled."""

Restore = Callable[[], Any]


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
    Variables; the attributes of objects whose classes the notebook defines; and the states of random generators, those
    of NumPy and of Python among them. Functions of the notebook are searched for the names that they read. Files,
    iterators and the objects of other libraries are not kept.

    Parameters
    ----------
    namespace : dict of str to object
        The notebook's.
    names : iterable of str
        The names with whose values to begin.

    Examples
    --------
    >>> held = {"losses": [1.0]}
    >>> contents = Contents(held, ["losses"])
    >>> held["losses"].append(2.0)
    >>> contents.restore()
    >>> held
    {'losses': [1.0]}
    """

    def __init__(self, namespace: dict[str, Any], names: Iterable[str]) -> None:
        self._namespace = namespace
        self._bytes = 0
        self._seen = {id(namespace)}
        self._waiting = deque(namespace.get(name) for name in sorted(names))
        self._restores: list[Restore] = [
            partial(np.random.set_state, np.random.get_state()),  # noqa: NPY002 -- the user's
            partial(random.setstate, random.getstate()),
        ]
        self._held: list[Any] = []  # so that no id is used twice
        for _ in range(MOST_OBJECTS):
            if not self._waiting:
                break
            self._keep(self._waiting.popleft())
        del self._seen, self._waiting, self._held

    def restore(self) -> None:
        """Give the objects back what they had."""
        for restore in self._restores:
            with suppress(
                Exception
            ):  # an object that has become another one, such as a locked array
                restore()

    def _keep(self, value: Any) -> None:
        """Keep the contents of an object, and search what is in it."""
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        self._held.append(value)
        with suppress(Exception):  # a class of the user's own may raise anything
            restore = self._restore_of(value)
            if restore is not None:
                self._restores.append(restore)
            self._waiting += [part for part in self._parts(value) if type(part) not in PLAIN]

    def _restore_of(self, value: Any) -> Restore | None:
        """The function that gives an object back what is in it now; None if nothing can be in it."""
        match value:
            case Variable():
                return partial(reset, value, unwrap(value))
            case np.ndarray() if value.flags.writeable:
                self._bytes += value.nbytes
                return (
                    partial(np.copyto, value, value.copy()) if self._bytes <= MOST_BYTES else None
                )
            case np.random.Generator():
                return partial(setattr, value.bit_generator, "state", value.bit_generator.state)
            case np.random.RandomState():
                return partial(value.set_state, value.get_state())
            case random.Random():
                return partial(value.setstate, value.getstate())
            case CellType():
                return partial(_fill, value, _inside(value))
        for kind, fill in FILLS.items():
            if isinstance(value, kind):
                return partial(_refill, value, kind, fill, kind.copy(value))
        return None

    def _parts(self, value: Any) -> Iterator[Any]:
        """The objects in an object, and those that a function of the notebook reads."""
        match value:
            case dict():
                yield from dict.values(value)
            case list() | tuple() | set() | frozenset() | deque():
                if not {*map(type, value)} <= PLAIN:
                    yield from value
            case np.ndarray() if value.dtype == object:
                yield from value.flat
            case CellType():
                yield _inside(value)
            case MethodType():
                yield from (value.__self__, value.__func__)
            case FunctionType() if value.__globals__ is self._namespace:
                read = sorted(globals_read(value.__code__))
                yield from (self._namespace.get(name) for name in read)
                yield from value.__closure__ or ()
                yield from (value.__defaults__, value.__kwdefaults__, value.__dict__)
            case type() if self._is_own(value):
                yield from value.__mro__[1:-1]
                yield from vars(value).values()
            case property():
                yield from (value.fget, value.fset)
            case staticmethod() | classmethod():
                yield value.__func__
        if self._is_own(type(value)) or isinstance(value, SimpleNamespace):
            yield type(value)
            yield getattr(value, "__dict__", None)

    def _is_own(self, kind: type) -> bool:
        """Whether the notebook defines a class."""
        return bool(kind.__module__ == self._namespace.get("__name__", "__main__"))


def _refill(value: Any, kind: Any, fill: Callable[[Any, Any], Any], items: Any) -> None:
    """Give a container its items by the methods of a standard class: those of a subclass may do more."""
    kind.clear(value)
    fill(value, items)


def _inside(cell: CellType) -> Any:
    """The object that a function's cell refers to; MISSING for an empty cell."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _fill(cell: CellType, content: Any) -> None:
    if content is not MISSING:
        cell.cell_contents = content
