"""Objects in reach of a function: where each is found, its kind, and the names that it has for others."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodWrapperType,
)
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.object_kinds import (
    WRAPPERS,
    is_instance,
    is_leaf,
    is_user_class,
    is_user_code,
)
from tapemagic.programs.reading import codes_in
from tapemagic.programs.signature import is_data, value_key

SHOWN = frozenset({"__repr__", "__str__"})
"""Methods that are called when objects are shown."""

MAKING = SHOWN | {"__init__", "__new__", "__post_init__", "__del__"}
"""Methods that are called when objects are made or shown, and not when they are used."""

PLAIN = 2
"""The number of classes in the order of inheritance of one that is derived from `object` alone."""

BOUND = (BuiltinFunctionType, MethodWrapperType)
"""The types of built-in functions, and of built-in methods of an object."""

DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)

CALLED = (BuiltinFunctionType, FunctionType, type)
"""The types of functions that may read what is not named in the code that calls them."""

ABSENT = object()
"""Stands for the value of a name that has none."""


@dataclass(slots=True)
class Entry:
    """One object in reach.

    Attributes
    ----------
    path : str
        How the program would write it.
    role : {'leaf', 'object', 'data', 'variable', 'again', 'container', 'code', 'absent'}
        A number, text or the like; an object by identity; an array or tensor; one that was met before under another
        path; a container by its class and length; the code of a function; a name without a value.
    what : object
        A leaf; a weak reference; a weak reference to a function, and its code; or what describes the rest.
    """

    path: str
    role: str
    what: Any


class Place(NamedTuple):
    """The dict, list or cell in which an object is found, and the key.

    Methods that a class of the user's has in the place of those of dict or list are not called: they may do more.
    """

    owner: Any
    key: Any

    def put(self, value: Any) -> None:
        """Put another object there."""
        if isinstance(self.owner, CellType):
            self.owner.cell_contents = value
        else:
            plain_class(self.owner).__setitem__(self.owner, self.key, value)

    def get(self) -> Any:
        """The object that is there now; None if there is none."""
        try:
            if isinstance(self.owner, CellType):
                return self.owner.cell_contents
            return plain_class(self.owner).__getitem__(self.owner, self.key)
        except (LookupError, ValueError):
            return None


def plain_class(x: Any) -> Any:
    """The class of Python's that an object is of: dict, list, tuple or deque; its own, if it is none of these.

    Examples
    --------
    >>> plain_class({}), plain_class(True)
    (<class 'dict'>, <class 'bool'>)
    """
    return next((kind for kind in PLAIN_CLASSES if isinstance(x, kind)), type(x))


INSIDE = Place(None, None)
"""The place of what is in a tuple, which is replaced as a whole."""


DEFAULT = "the default of "
"""The beginning of the path of a parameter's default."""


def defaults_of(f: FunctionType) -> Iterator[tuple[str, str, Any]]:
    """The parameters of a function that have a default, where it is found, and the default.

    Examples
    --------
    >>> list(defaults_of(lambda x, y=1, *, z=2: x))
    [('y', '__defaults__[0]', 1), ('z', "__kwdefaults__['z']", 2)]
    """
    code, defaults = f.__code__, f.__defaults__ or ()
    first = code.co_argcount - len(defaults)
    for k, value in enumerate(defaults):
        yield code.co_varnames[first + k], f"__defaults__[{k}]", value
    for name, value in (f.__kwdefaults__ or {}).items():
        yield name, f"__kwdefaults__[{name!r}]", value


def data_kind(x: Any) -> Any:
    """The class, shape, dtype and layout of an array or tensor in reach."""
    if x is None:
        return object()
    value = x._read()._value if isinstance(x, Tensor) else x
    return type(x), *value_key(value)


class Strong:
    """Stands for a weak reference to an object that has none."""

    __slots__ = ("_held",)

    def __init__(self, held: Any) -> None:
        self._held = held

    def __call__(self) -> Any:
        """The object."""
        return self._held


def reference(x: Any) -> Any:
    """A weak reference; one that is not, to an object that cannot have one."""
    try:
        return weakref.ref(x)
    except TypeError:
        return Strong(x)


def odd_array(x: Any) -> str:
    """The reason why changes of an array could not be seen, or a program cannot read it; empty if there is none."""
    if not is_data(x):
        return f"an array of the class {type(x).__name__}: make it np.asarray(x)"
    return "an array of objects: hold numbers in it" if x.dtype.hasobject else ""


def is_put_there(name: str, value: Any) -> bool:
    """Whether a name of a library's module is data that may change, or a function of the user's."""
    if isinstance(value, FunctionType):
        return is_user_code(value.__code__)
    return isinstance(value, CHANGING) and not name.startswith("__") and name not in CONSTANTS


def is_special(name: str, value: Any) -> bool:
    """Whether something in a class is a method that Python calls by itself.

    Examples
    --------
    >>> is_special("__add__", lambda x, y: y), is_special("__module__", "text"), is_special("add", min)
    (True, False, False)
    """
    if not name.startswith("__"):
        return False
    return isinstance(value, WRAPPERS) or (callable(value) and not is_leaf(value))


PLAIN_CLASSES = (dict, list, tuple, deque)

DATA = (Variable, Tensor, np.ndarray)

ARRAYS = (Tensor, np.ndarray)

KEPT = (*ARRAYS, tuple)

CHANGING = (str, int, float, complex, list, dict, Tensor, Variable)
"""The classes of data in libraries' modules that may change."""

CONSTANTS = frozenset({"e", "pi", "tau", "inf", "nan", "euler_gamma", "modules"})
"""The names in libraries' modules of data that stay what they are."""


def contents(x: Any) -> bytes:
    """The shape, dtype and numbers of an array as bytes, for a comparison."""
    numbers: bytes = x.tobytes()
    return f"{x.shape} {x.dtype.str} ".encode() + numbers


def has_data(x: Any) -> bool:
    """Whether a tuple holds arrays or tensors."""
    return any(isinstance(part, ARRAYS) or (type(part) is tuple and has_data(part)) for part in x)


def holds_objects(value: Any) -> bool:
    """Whether a value is a variable or an object with attributes, or a container of such."""
    if isinstance(value, Variable):
        return True
    if isinstance(value, list | tuple):
        return any(map(holds_objects, value[:100]))
    if isinstance(value, dict):
        return any(map(holds_objects, list(value.values())[:100]))
    return not is_leaf(value) and not isinstance(value, Tensor) and is_instance(value)


def library_names(kind: type) -> frozenset[str]:
    """The names of attributes that the methods of a class read, as far as it is a library's; some are other names."""
    return names_of_bases(
        tuple(base for base in kind.__mro__ if base is not object and not is_user_class(base))
    )


@lru_cache(1024)
def names_of_bases(bases: tuple[type, ...]) -> frozenset[str]:
    """The names in the code of some of a library's classes."""
    return frozenset().union(*map(names_of_methods, bases))


@lru_cache(1024)
def names_of_methods(kind: type) -> frozenset[str]:
    """The names in the code of a library's class, without its bases."""
    found: set[str] = set()
    for value in list(vars(kind).values()):
        inner = getattr(value, "fget", None) or getattr(value, "__func__", None) or value
        if isinstance(inner, FunctionType):
            for code in codes_in(inner.__code__):
                found.update(code.co_names)
    return frozenset(found)


def slots_of(kind: type) -> Iterator[str]:
    """The names of a class's slots that hold values."""
    slots = vars(kind).get("__slots__", ())
    for name in (slots,) if isinstance(slots, str) else tuple(slots):
        if name not in {"__weakref__", "__dict__"}:
            private = name.startswith("__") and not name.endswith("__")
            yield f"_{kind.__name__.lstrip('_')}{name}" if private else name


def is_empty(cell: CellType) -> bool:
    """Whether a variable of an enclosing function has no value yet."""
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True
