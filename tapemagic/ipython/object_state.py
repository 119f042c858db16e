"""Save the mutable state of objects, compare two states, and write a state back."""

from __future__ import annotations

import os
import pickle
import random
import sys
from array import array
from collections import OrderedDict, UserDict, UserList, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from operator import is_
from pathlib import Path
from queue import Queue
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from tapemagic.engine.events import origin_of
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, reset
from tapemagic.ipython.names import globals_read

# Not None, which is a value that a name may have.
MISSING = object()
"""Placeholder for the value of a name that does not exist."""

# OrderedDict before dict, its base: the first class that fits is used.
FILLS: dict[Any, Callable[[Any, Any], Any]] = {
    list: list.extend,
    OrderedDict: OrderedDict.update,
    dict: dict.update,
    set: set.update,
    deque: deque.extend,
    bytearray: bytearray.extend,
}
"""Containers whose items are saved, and the method that fills each of them."""

PLAIN_TYPES = bool | int | float | complex | str | bytes | None
"""Types whose values are compared with ``==``."""

# The type has no public name.
CACHED = type(cache(int))
"""Type of functions decorated with ``functools.lru_cache``."""
ITEMWISE = (list, tuple, deque)

STATEFUL_PACKAGES = ("tapemagic.nn.", "tapemagic.tf.")
"""Packages whose objects are saved like user objects: models, layers, optimizers, metrics."""


@dataclass(frozen=True)
class SavedState:
    """Saved state of an object.

    - `name`: The notebook variable through which the object was found.
    - `content`: A copy that nothing changes.
    - `write_back`: Writes such content into the object.
    - `is_random`: True for the state of a random generator.
    """

    name: str
    content: Any
    write_back: Callable[[Any], Any]
    is_random: bool = False

    def restore(self) -> None:
        """Write the saved content back into the object."""
        with suppress(Exception):  # it may refuse by now, such as a read-only array
            self.write_back(self.content)


def save_state(name: str, value: Any) -> SavedState | None:  # noqa: PLR0912 -- one branch for each type
    """Save the state of an object; return None for objects whose state is not handled here."""
    match value:
        case Variable():
            return SavedState(name, unwrap(value), partial(reset, value))
        case np.ndarray():
            # Into the same array: views of it, in other variables, must see the old numbers again.
            return SavedState(name, value.copy(), partial(np.copyto, value))
        case array():
            return SavedState(name, value[:], partial(value.__setitem__, slice(None)))
        case np.random.BitGenerator():
            # As bytes: the state is a dict with an array that may be the generator's own.
            return SavedState(name, pickle.dumps(value.state), partial(_seed, value), True)
        case np.random.RandomState():
            return _random(name, value.get_state, value.set_state)
        case random.Random():
            return _random(name, value.getstate, value.setstate)
        case CellType():
            return SavedState(name, _cell_contents(value), partial(_fill, value))
        case CACHED():
            # What an lru_cache holds can't be read, so it is emptied: the function computes its results again.
            return SavedState(name, None, lambda _: value.cache_clear())
        case ModuleType():
            return SavedState(name, vars(value).copy(), partial(_bind_in, vars(value)))
        case type():
            return SavedState(name, _attributes(value), partial(_set_attributes, value))
    for kind, fill in FILLS.items():
        if isinstance(value, kind):
            return SavedState(name, kind.copy(value), partial(_refill, value, kind, fill))
    if is_table(value):
        return SavedState(name, value.copy(), partial(_refill_table, value))
    slots = _slots(value)
    return SavedState(name, slots, partial(_set_slots, value)) if slots else None


def global_states() -> Iterator[tuple[Any, SavedState]]:
    """Save process-wide states: the global random generators, ``sys.path`` and the working folder."""
    yield np.random, _random("", np.random.get_state, np.random.set_state)
    yield random, _random("", random.getstate, random.setstate)
    yield sys, SavedState("", sys.path.copy(), partial(sys.path.__setitem__, slice(None)))
    with suppress(OSError):  # the folder was deleted
        yield os, SavedState("", Path.cwd(), os.chdir)


def is_equal(a: Any, b: Any) -> bool:
    """Return True if two contents are equal: arrays by bytes, containers by the identity of their items.

    Examples
    --------
    >>> is_equal(np.array([np.nan]), np.array([np.nan])), is_equal([1], [2])
    (True, False)
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if is_lazy(a):
        return False
    if isinstance(a, np.ndarray):
        return _has_equal_entries(np.asarray(a), np.asarray(b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and is_equal([*a.values()], [*b.values()])
    if isinstance(a, ITEMWISE):
        return len(a) == len(b) and (all(map(is_, a, b)) or all(map(_is_equal_item, a, b)))
    if is_table(a):
        return bool(a.equals(b))
    return bool(a == b) if isinstance(a, PLAIN_TYPES | set | array | bytearray) else False


def _is_equal_item(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, PLAIN_TYPES) and type(a) is type(b) and a == b)


def _has_equal_entries(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    # Bytes of an object array are addresses; of a structured one with objects they cannot be compared at all.
    if a.dtype.hasobject:
        return is_equal([*a.flat], [*b.flat]) if a.dtype == object else False
    # As bytes, so that nan equals itself and -0.0 differs from 0.0.
    first, second = (np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (a, b))
    return np.array_equal(first, second)


def is_table(value: Any) -> bool:
    """Return True for a pandas DataFrame or Series."""
    # Only if pandas is loaded: importing it takes seconds, and without it no value is a table.
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def parts(value: Any, main: str) -> Iterator[Any]:  # noqa: PLR0912 -- one branch for each type
    """Yield the objects inside an object, and the globals that a user function reads.

    - `main`: The name of the notebook's module.
    """
    match value:
        case dict():
            yield from dict.values(value)
        case list() | tuple() | set() | frozenset() | deque():
            yield from value
        case UserDict() | UserList():
            yield value.data
        case Queue():
            yield value.queue
        case np.ndarray() if value.dtype == object:
            yield from value.flat
        case np.random.Generator():
            yield value.bit_generator
        case CellType():
            yield _cell_contents(value)
        case MethodType():
            yield from (value.__self__, value.__func__)
        case BuiltinMethodType() if not isinstance(value.__self__, ModuleType):
            yield value.__self__
        case partial():
            yield from (value.func, value.args, value.keywords)
        case CACHED():
            yield value.__wrapped__
        case FunctionType() if origin_of(value.__code__.co_filename) == "":
            yield from (
                value.__globals__.get(name) for name in sorted(globals_read(value.__code__))
            )
            yield from value.__closure__ or ()
            yield from (value.__defaults__, value.__kwdefaults__, value.__dict__)
        case FunctionType():
            yield from map(_cell_contents, value.__closure__ or ())
        case ModuleType() if is_own_module(value.__name__, main):
            yield from vars(value).copy().values()
        case type() if is_own(value, main):
            # Without the class itself and without object.
            yield from value.__mro__[1:-1]
            yield from vars(value).copy().values()
        case property():
            yield from (value.fget, value.fset)
        case staticmethod() | classmethod():
            yield value.__func__
    if has_attributes_kept(type(value), main):
        yield type(value)
        yield from _slots(value).values()
        with suppress(AttributeError):
            # Past a __getattribute__ of the class, which may compute or raise.
            yield object.__getattribute__(value, "__dict__")


def has_attributes_kept(kind: type, main: str) -> bool:
    """Return True if the attributes of a class's objects are saved: user classes, models, optimizers, ..."""
    return (
        is_own(kind, main)
        or kind.__module__.startswith(STATEFUL_PACKAGES)
        or issubclass(kind, SimpleNamespace)
    )


def is_own(kind: type, main: str) -> bool:
    """Return True for a class that the notebook, or a user file, defines."""
    return is_own_module(kind.__module__, main)


def is_own_module(name: str, main: str) -> bool:
    """Return True for the notebook's module, or one in a user file."""
    return name == main or _is_own_file(getattr(sys.modules.get(name), "__file__", None))


@cache
def _is_own_file(file: str | None) -> bool:
    return bool(file) and origin_of(str(file)) == ""


def _random(name: str, state: Callable[[], Any], write_back: Callable[[Any], Any]) -> SavedState:
    # Pickled, because a state holds an array that later draws overwrite.
    def restore(content: bytes) -> None:
        write_back(pickle.loads(content))  # noqa: S301 -- made here

    return SavedState(name, pickle.dumps(state()), restore, True)


def _seed(generator: Any, content: bytes) -> None:
    generator.state = pickle.loads(content)  # noqa: S301 -- made here


def _refill(value: Any, kind: Any, fill: Callable[[Any, Any], Any], items: Any) -> None:
    """Refill a container with the methods of its standard class, which a subclass may override."""
    kind.clear(value)
    fill(value, items)


def _refill_table(value: Any, content: Any) -> None:
    vars(value).clear()
    vars(value).update(vars(content.copy()))


def _bind_in(namespace: dict[str, Any], content: dict[str, Any]) -> None:
    for name in namespace.keys() - content.keys():
        del namespace[name]
    namespace.update(content)


def _attributes(kind: type) -> dict[str, Any]:
    return {name: value for name, value in vars(kind).items() if not _is_special(name)}


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _set_attributes(kind: type, content: dict[str, Any]) -> None:
    current = _attributes(kind)
    for name in current.keys() - content.keys():
        # Past a metaclass that forbids or observes changes, such as that of an Enum.
        type.__delattr__(kind, name)
    for name, value in content.items():
        if current.get(name, MISSING) is not value:
            type.__setattr__(kind, name, value)


def _slots(value: Any) -> dict[str, Any]:
    """Return the values of an object's slots, MISSING for empty slots."""
    slots = {}
    for kind in type(value).__mro__[:-1]:
        if "__slots__" not in vars(kind):
            continue
        for name, member in vars(kind).items():
            if type(member).__name__ == "member_descriptor":
                try:
                    slots[name] = member.__get__(value)
                except AttributeError:
                    slots[name] = MISSING
    return slots


def _set_slots(value: Any, content: dict[str, Any]) -> None:
    for name, slot in content.items():
        if slot is not MISSING:
            object.__setattr__(value, name, slot)
        elif hasattr(value, name):
            object.__delattr__(value, name)


def _cell_contents(cell: CellType) -> Any:
    """Return the object in a closure cell, MISSING if the cell is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _fill(cell: CellType, content: Any) -> None:
    if content is not MISSING:
        cell.cell_contents = content
