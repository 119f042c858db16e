"""Changes in objects: the contents that can change, how two are compared, and how they are given back."""

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

MISSING = object()
"""Stands for the value of a name that does not exist."""

FILLS: dict[Any, Callable[[Any, Any], Any]] = {
    list: list.extend,
    OrderedDict: OrderedDict.update,
    dict: dict.update,
    set: set.update,
    deque: deque.extend,
    bytearray: bytearray.extend,
}
"""The containers whose items are kept, and how they are filled."""

PLAIN = bool | int | float | complex | str | bytes | None
"""Values that are compared by themselves."""

CACHED = type(cache(int))
"""The type of functions behind ``functools.lru_cache``."""
ITEMWISE = (list, tuple, deque)

COURSE = ("tapemagic.nn.", "tapemagic.tf.")
"""The packages whose objects are kept as those of the user are: models, layers, optimizers, metrics."""


@dataclass(frozen=True)
class Kept:
    """The contents of an object.

    Attributes
    ----------
    name : str
        The name in the notebook from which the object was found.
    content : object
        A copy, which nobody changes.
    give : callable
        Gives the object such contents.
    is_random : bool
        Whether it is the state of a random generator.
    """

    name: str
    content: Any
    give: Callable[[Any], Any]
    is_random: bool = False

    def restore(self) -> None:
        """Give the object back what it had."""
        with suppress(Exception):  # it has become another one, such as a locked array
            self.give(self.content)


def kept(name: str, value: Any) -> Kept | None:  # noqa: PLR0912 -- one branch for each type
    """The contents of an object; None if nothing can be in it that is known here."""
    match value:
        case Variable():
            return Kept(name, unwrap(value), partial(reset, value))
        case np.ndarray():
            return Kept(name, value.copy(), partial(np.copyto, value))
        case array():
            return Kept(name, value[:], partial(value.__setitem__, slice(None)))
        case np.random.BitGenerator():
            return Kept(name, pickle.dumps(value.state), partial(_seed, value), True)
        case np.random.RandomState():
            return _random(name, value.get_state, value.set_state)
        case random.Random():
            return _random(name, value.getstate, value.setstate)
        case CellType():
            return Kept(name, _inside(value), partial(_fill, value))
        case CACHED():
            return Kept(name, None, lambda _: value.cache_clear())
        case ModuleType():
            return Kept(name, vars(value).copy(), partial(_bind_in, vars(value)))
        case type():
            return Kept(name, _attributes(value), partial(_set_attributes, value))
    for kind, fill in FILLS.items():
        if isinstance(value, kind):
            return Kept(name, kind.copy(value), partial(_refill, value, kind, fill))
    if is_table(value):
        return Kept(name, value.copy(), partial(_refill_table, value))
    slots = _slots(value)
    return Kept(name, slots, partial(_set_slots, value)) if slots else None


def settings() -> Iterator[tuple[Any, Kept]]:
    """States that belong to no name of the notebook: generators of NumPy and Python, and paths."""
    yield np.random, _random("", np.random.get_state, np.random.set_state)
    yield random, _random("", random.getstate, random.setstate)
    yield sys, Kept("", sys.path.copy(), partial(sys.path.__setitem__, slice(None)))
    with suppress(OSError):  # the folder was deleted
        yield os, Kept("", Path.cwd(), os.chdir)


def same(one: Any, other: Any) -> bool:
    """Whether two contents are equal: arrays by their bytes, and containers by the identity of their items.

    Examples
    --------
    >>> same(np.array([np.nan]), np.array([np.nan])), same([1], [2])
    (True, False)
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if is_lazy(one):
        return False
    if isinstance(one, np.ndarray):
        return _same_entries(np.asarray(one), np.asarray(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and same([*one.values()], [*other.values()])
    if isinstance(one, ITEMWISE):
        return len(one) == len(other) and (
            all(map(is_, one, other)) or all(map(_same_item, one, other))
        )
    if is_table(one):
        return bool(one.equals(other))
    return bool(one == other) if isinstance(one, PLAIN | set | array | bytearray) else False


def _same_item(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, PLAIN) and type(one) is type(other) and one == other)


def _same_entries(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.hasobject:
        return same([*one.flat], [*other.flat]) if one.dtype == object else False
    first, second = (np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (one, other))
    return np.array_equal(first, second)


def is_table(value: Any) -> bool:
    """Whether a value is a DataFrame or Series of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def parts(value: Any, main: str) -> Iterator[Any]:  # noqa: PLR0912 -- one branch for each type
    """The objects in an object, and those that a function of the user's reads.

    Parameters
    ----------
    value : object
    main : str
        The name of the notebook's module.
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
            yield _inside(value)
        case MethodType():
            yield from (value.__self__, value.__func__)
        case BuiltinMethodType() if not isinstance(value.__self__, ModuleType):
            yield value.__self__
        case partial():
            yield from (value.func, value.args, value.keywords)
        case CACHED():
            yield value.__wrapped__
        case FunctionType() if origin_of(value.__code__.co_filename) == "":
            known = value.__globals__
            yield from (known.get(name) for name in sorted(globals_read(value.__code__)))
            yield from value.__closure__ or ()
            yield from (value.__defaults__, value.__kwdefaults__, value.__dict__)
        case FunctionType():
            yield from map(_inside, value.__closure__ or ())
        case ModuleType() if is_own_module(value.__name__, main):
            yield from vars(value).copy().values()
        case type() if is_own(value, main):
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
            yield object.__getattribute__(value, "__dict__")


def has_attributes_kept(kind: type, main: str) -> bool:
    """Whether the attributes of the objects of a class are kept: the user's, models, optimizers and such."""
    return (
        is_own(kind, main)
        or kind.__module__.startswith(COURSE)
        or issubclass(kind, SimpleNamespace)
    )


def is_own(kind: type, main: str) -> bool:
    """Whether the user defines a class, in the notebook or in a file beside it."""
    return is_own_module(kind.__module__, main)


def is_own_module(name: str, main: str) -> bool:
    """Whether a module is the notebook, or a file of the user's."""
    return name == main or _is_own_file(getattr(sys.modules.get(name), "__file__", None))


@cache
def _is_own_file(file: str | None) -> bool:
    return bool(file) and origin_of(str(file)) == ""


def _random(name: str, state: Callable[[], Any], give: Callable[[Any], Any]) -> Kept:
    return Kept(name, pickle.dumps(state()), lambda content: give(pickle.loads(content)), True)  # noqa: S301


def _seed(generator: Any, content: bytes) -> None:
    generator.state = pickle.loads(content)  # noqa: S301 -- made here


def _refill(value: Any, kind: Any, fill: Callable[[Any, Any], Any], items: Any) -> None:
    """Give a container its items by the methods of a standard class: those of a subclass may do more."""
    kind.clear(value)
    fill(value, items)


def _refill_table(value: Any, content: Any) -> None:
    vars(value).clear()
    vars(value).update(vars(content.copy()))


def _bind_in(held: dict[str, Any], content: dict[str, Any]) -> None:
    for name in held.keys() - content.keys():
        del held[name]
    held.update(content)


def _attributes(kind: type) -> dict[str, Any]:
    return {name: value for name, value in vars(kind).items() if not _is_special(name)}


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _set_attributes(kind: type, content: dict[str, Any]) -> None:
    now = _attributes(kind)
    for name in now.keys() - content.keys():
        type.__delattr__(kind, name)
    for name, value in content.items():
        if now.get(name, MISSING) is not value:
            type.__setattr__(kind, name, value)


def _slots(value: Any) -> dict[str, Any]:
    """The values of the slots of an object, MISSING for empty ones."""
    found = {}
    for kind in type(value).__mro__[:-1]:
        if "__slots__" not in vars(kind):
            continue
        for name, member in vars(kind).items():
            if type(member).__name__ == "member_descriptor":
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    found[name] = MISSING
    return found


def _set_slots(value: Any, content: dict[str, Any]) -> None:
    for name, held in content.items():
        if held is not MISSING:
            object.__setattr__(value, name, held)
        elif hasattr(value, name):
            object.__delattr__(value, name)


def _inside(cell: CellType) -> Any:
    """The object that a function's cell refers to."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _fill(cell: CellType, content: Any) -> None:
    if content is not MISSING:
        cell.cell_contents = content
