"""Kinds of objects that a function can read: values that never change, and objects whose changes can be seen."""

from __future__ import annotations

import builtins
import datetime as dt
import decimal
import enum
import fractions
import functools
import operator
import pathlib
import random
import re
import sys
import threading
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterable
from importlib.machinery import EXTENSION_SUFFIXES
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
    NotImplementedType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from tapemagic.engine.events import origin_of

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)

# The type of its field, `_tuplegetter`, has no public name.
Named = namedtuple("Named", "field")  # noqa: PYI024 (only the type of its field counts)

NUMBERS = (int, float, complex, bool, str, bytes)

# Without float and complex: 0.0 == -0.0, but 1 / x differs.
INTERCHANGEABLE_TYPES = frozenset({int, bool, str, bytes, NoneType})
"""Types whose equal values can replace each other."""

IMMUTABLE_TYPES = (
    *(NoneType, EllipsisType, NotImplementedType, range, slice, frozenset, np.generic, np.dtype),
    *(enum.Enum, fractions.Fraction, decimal.Decimal, dt.date, dt.time),
    *(dt.timedelta, dt.tzinfo, re.Pattern, pathlib.PurePath),
)
"""The types of values that never change, besides numbers and strings."""

WRAPPERS = (staticmethod, classmethod, property, functools.partial, functools.cached_property)

IDENTITY_TYPES = (
    *(type, ModuleType, BuiltinFunctionType, np.ufunc, type(np.mean), CodeType),
    *(GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType),
    *(MethodWrapperType, WrapperDescriptorType, type(np._NoValue), type(Named.field)),
    *(operator.itemgetter, operator.attrgetter, operator.methodcaller),
    *(type(threading.Lock()), type(threading.RLock()), *WRAPPERS),
)
"""The types of objects that are compared by identity."""

LEAVES = (*IMMUTABLE_TYPES, *IDENTITY_TYPES)

CONTAINERS = (list, tuple, dict)

STATELESS_BASES = (
    *(object, list, tuple, dict, OrderedDict, defaultdict, BaseException, Exception, *NUMBERS),
    SimpleNamespace,
)
"""Base classes whose only state is their contents and attributes."""


def is_leaf(x: Any) -> bool:
    """Return True for a value that never changes, and for an object that is compared by identity.

    Examples
    --------
    >>> is_leaf(1.5), is_leaf([1.5])
    (True, False)
    """
    kind: Any = type(x)
    # A symbol has the class of its value only in `__class__`.
    return is_leaf_class(kind) or (x.__class__ is not kind and isinstance(x, LEAVES))


@functools.lru_cache(4096)
def is_leaf_class(kind: type) -> bool:
    """Return True if the objects of a class are leaves; cached, because some abstract classes are slow to ask."""
    return kind in NUMBERS or kind is object or issubclass(kind, LEAVES)


def has_parts(x: Any) -> bool:
    """Return True for a user class or module, and for a partial function: their attributes may change.

    Examples
    --------
    >>> has_parts(functools.partial(print)), has_parts(np), has_parts(float)
    (True, False, False)
    """
    if isinstance(x, type):
        return is_user_class(x)
    return is_user_module(x) if isinstance(x, ModuleType) else isinstance(x, WRAPPERS)


def same_leaf(a: Any, b: Any) -> bool:
    """Return True if two leaves are the same object, or equal numbers or strings of one type.

    Examples
    --------
    >>> same_leaf(1, True), same_leaf(0.0, -0.0), same_leaf(float("nan"), float("nan"))
    (False, False, True)
    >>> same_leaf(frozenset({1}), frozenset({1.0})), same_leaf(frozenset({1}), frozenset({1}))
    (False, True)
    >>> same_leaf(slice(0, 2), slice(0, 2)), same_leaf(slice(np.ones(2)), slice(np.ones(2)))
    (True, False)
    """
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, IDENTITY_TYPES):
        return False
    if isinstance(a, float | complex | np.inexact):
        return repr(a) == repr(b)  # == takes -0.0 for 0.0, and tells nan from nan
    if isinstance(a, slice):
        return all(map(same_leaf, (a.start, a.stop, a.step), (b.start, b.stop, b.step)))
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same_leaf, a, b))
    if type(a) in NUMBERS or isinstance(a, IMMUTABLE_TYPES):
        return bool(exact_key(a) == exact_key(b))
    return False


def exact_key(x: Any) -> tuple[Any, ...]:
    """Convert a value to a form whose comparison distinguishes types and the signs of zeros.

    Examples
    --------
    >>> exact_key((1, 0.0)) == exact_key((True, 0.0)), exact_key((1, 0.0)) == exact_key((1, -0.0))
    (False, False)
    >>> exact_key(frozenset({2, 1})) == exact_key(frozenset({1, 2.0}))
    False
    """
    if isinstance(x, float | complex | np.inexact | range):
        return type(x), repr(x)
    if isinstance(x, tuple):
        return type(x), *map(exact_key, x)
    if isinstance(x, slice):
        return type(x), exact_key(x.start), exact_key(x.stop), exact_key(x.step)
    if isinstance(x, frozenset):
        return type(x), frozenset(map(exact_key, x))
    return type(x), x


class Keys(tuple[Any, ...]):
    """The keys of a dict in their order, which equal only keys of the same types.

    Examples
    --------
    >>> Keys({1: "a"}) == Keys({1: "b"}), Keys({1: "a"}) == Keys({True: "a"})
    (True, False)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keys) and [*map(exact_key, self)] == [*map(exact_key, other)]

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def keys_of(x: Iterable[Any]) -> tuple[Any, ...]:
    """Return the keys of a dict, as a plain tuple if all are strings."""
    keys = tuple(x)
    return keys if all(type(key) is str for key in keys) else Keys(keys)


def keys_changed_code(x: str, keys: tuple[Any, ...], constant: Callable[[Any], str]) -> str:
    """Return a condition that is true if the keys of a dict, or their order, have changed.

    Examples
    --------
    >>> keys_changed_code("d", keys_of({"a": 1}), repr), keys_changed_code("d", keys_of({1.0: 1}), repr)
    ("[*d] != ['a']", 'q_Keys(d) != (1.0,)')
    """
    kinds = [*map(type, keys)]
    if not INTERCHANGEABLE_TYPES.issuperset(kinds):
        return f"q_Keys({x}) != {constant(keys)}"
    differs = f"[*{x}] != {constant(list(keys))}"
    return differs if {*kinds} <= {str} else f"{differs} or [*map(type, {x})] != {constant(kinds)}"


def is_container(x: Any) -> bool:
    """Return True for a list, tuple or dict."""
    return isinstance(x, CONTAINERS)


def is_instance(x: Any) -> bool:
    """Return True for an object whose class is written in Python, and whose state is its attributes."""
    kind: Any = type(x)
    return has_only_python_state(kind)


@functools.lru_cache(4096)
def has_only_python_state(kind: type) -> bool:
    """Return True if no class in the hierarchy is written in C, where state could be hidden.

    Examples
    --------
    >>> has_only_python_state(fractions.Fraction), has_only_python_state(type(iter([])))
    (True, False)
    """
    if any(is_made_in_c(base) for base in kind.__mro__ if base not in STATELESS_BASES):
        return False
    return kind is SimpleNamespace or kind not in STATELESS_BASES


def is_made_in_c(kind: type) -> bool:
    """Return True if a class is written in C: then it defines methods that aren't Python functions."""
    # A Python class may borrow such a method (`__hash__ = object.__hash__`): its `__objclass__` is the owner.
    return any(
        isinstance(x, WrapperDescriptorType | MethodDescriptorType) and x.__objclass__ is kind
        for x in vars(kind).values()
    )


def unwatched(kind: type) -> frozenset[str]:
    """Return the attributes that no result depends on: the ``__tape_unwatched__`` of a class."""
    return getattr(kind, "__tape_unwatched__", frozenset())


def is_user_code(code: CodeType) -> bool:
    """Return True for code in a user file or a notebook cell."""
    return origin_of(code.co_filename) == ""


def may_run_user_code(x: Any) -> bool:
    """Return True if calling `x` may run user code or change an object, which a trace would not see.

    Examples
    --------
    >>> may_run_user_code(lambda x: x), may_run_user_code([].append)
    (True, True)
    >>> may_run_user_code(np.sin), may_run_user_code(functools.partial(np.sum, axis=0))
    (False, False)
    """
    if isinstance(x, functools.partial):
        return may_run_user_code(x.func) or not all(map(is_leaf, (*x.args, *x.keywords.values())))
    # A method of an object, such as [].append, may change the object.
    if isinstance(x, MethodType | BuiltinFunctionType):
        return not (x.__self__ is None or isinstance(x.__self__, ModuleType))
    if isinstance(x, np.ufunc):
        return is_made_by_frompyfunc(x)
    if isinstance(x, FunctionType):
        return is_user_code(x.__code__)
    return callable(x) and is_user_class(type(x))


def is_made_by_frompyfunc(ufunc: Any) -> bool:
    """Return True if a ufunc calls a Python function for each element.

    Examples
    --------
    >>> is_made_by_frompyfunc(np.frompyfunc(lambda x: x, 1, 1)), is_made_by_frompyfunc(np.sin)
    (True, False)
    """
    return bool(ufunc.__name__.endswith(" (vectorized)"))  # the only mark that NumPy leaves


def is_user_class(kind: type) -> bool:
    """Return True for a class in a user file or a notebook cell."""
    module = sys.modules.get(kind.__module__)
    if kind.__module__ == "builtins":  # exec without a `__name__` also makes such classes
        return not is_made_in_c(kind) and getattr(builtins, kind.__name__, None) is not kind
    return module is None or is_user_module(module)


# An extension module in a user folder has no Python code whose names could be followed.
IN_C = tuple(EXTENSION_SUFFIXES)

ACCESS = (
    *("__getitem__", "__setitem__", "__iter__", "__len__", "get"),
    *("items", "keys", "update", "values"),
)
"""The methods that read and change lists, tuples and dicts."""


@functools.lru_cache(4096)
def overridden_method(kind: type) -> str:
    """Return the name of a method of list or dict that a user class overrides, or ''.

    The items that such an object stores may differ from those that it returns.

    Examples
    --------
    >>> overridden_method(dict)
    ''
    """
    if not issubclass(kind, dict | list | tuple):
        return ""
    own = [base for base in kind.__mro__ if is_user_class(base)]
    return next((name for name in ACCESS if any(name in vars(base) for base in own)), "")


def is_user_module(module: Any) -> bool:
    """Return True for a user file, a folder of these, the notebook itself, and a module made by code."""
    file = getattr(module, "__file__", None)
    if file is None:
        # Modules made by types.ModuleType have no spec; a folder without __init__.py has a path but no
        # file.
        has_no_spec = getattr(module, "__spec__", None) is None
        return has_no_spec or module.__name__ == "__main__" or hasattr(module, "__path__")
    return origin_of(file) == "" and not file.endswith(IN_C)
