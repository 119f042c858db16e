"""Entries of guards: the kind and the storage place of each object that a function reads."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.code_names import codes_in
from tapemagic.programs.object_kinds import WRAPPERS, is_instance, is_leaf, is_user_class
from tapemagic.programs.signature import is_data, value_key

ARRAYS = (Tensor, np.ndarray)
DATA = (Variable, *ARRAYS)
KEPT = (*ARRAYS, tuple)
PLAIN_CLASSES = (dict, list, tuple)

DEFAULT = "the default of "
"""The beginning of the path of a parameter's default."""


@dataclass(slots=True)
class Entry:
    """A guarded object.

    - `path`: The expression that reads the object in the function's code.
    - `role`: {'leaf', 'object', 'data', 'variable', 'again', 'container', 'code', 'absent'}. A number, string or the
      like; an object by identity; an array or tensor; one that was found before under another path; a container by its
      class and length; the code of a function; a name without a value.
    - `what`: A leaf; a weak reference; a weak reference to a function, and its code; or what describes the rest.
    """

    path: str
    role: str
    what: Any


class Location(NamedTuple):
    """A dict, list or cell that stores an object, and its key.

    Methods that a user class overrides are not called: they may do more than store.
    """

    owner: Any
    key: Any

    def store(self, value: Any) -> None:
        """Store another object."""
        if isinstance(self.owner, CellType):
            self.owner.cell_contents = value
        else:
            plain_class(self.owner).__setitem__(self.owner, self.key, value)

    def get(self) -> Any:
        """Return the object that is stored there, or None if it is gone."""
        try:
            if isinstance(self.owner, CellType):
                return self.owner.cell_contents
            return plain_class(self.owner).__getitem__(self.owner, self.key)
        except (LookupError, ValueError):
            return None


INSIDE = Location(None, None)
"""The place of an object in a tuple, which is replaced with the tuple."""


CHECKED = Location(None, 0)
"""The place of a class that code only uses in ``isinstance``."""


def plain_class(x: Any) -> Any:
    """The built-in class of a dict, list or tuple; the own class of anything else.

    Examples
    --------
    >>> plain_class({}), plain_class(True)
    (<class 'dict'>, <class 'bool'>)
    """
    return next((kind for kind in PLAIN_CLASSES if isinstance(x, kind)), type(x))


class StrongReference:
    """A callable reference to an object that allows no weak references."""

    __slots__ = ("_object",)

    def __init__(self, x: Any) -> None:
        self._object = x

    def __call__(self) -> Any:
        """Return the object."""
        return self._object


def reference(x: Any) -> Any:
    """Return a weak reference to an object, or a strong one if necessary."""
    try:
        return weakref.ref(x)
    except TypeError:
        return StrongReference(x)


def defaults_of(f: FunctionType) -> Iterator[tuple[str, str, Any]]:
    """Yield the parameters with defaults, the expression of each default, and its value.

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
    """Return the class, shape, dtype and layout of an array or tensor."""
    if x is None:
        return object()
    value = x._read()._value if isinstance(x, Tensor) else x
    return type(x), *value_key(value)


def why_unsupported_array(x: Any) -> str:
    """Return the reason why a program cannot read an array, or ''."""
    if not is_data(x):
        return f"an array of the class {type(x).__name__}: write np.asarray(x)"
    return "an array of objects: use a dtype of numbers" if x.dtype.hasobject else ""


def is_special(name: str, value: Any) -> bool:
    """Return True if an attribute of a class is a method that Python calls automatically.

    Examples
    --------
    >>> is_special("__add__", lambda x, y: y), is_special("__module__", "text"), is_special("add", min)
    (True, False, False)
    """
    if not name.startswith("__"):
        return False
    # Operators and built-in functions look these methods up, so no code names them.
    return isinstance(value, WRAPPERS) or (callable(value) and not is_leaf(value))


def contents(x: Any) -> bytes:
    """Return the shape, dtype and numbers of an array as bytes, for a comparison."""
    # As bytes, because == takes 0.0 for -0.0, and never finds nan equal to nan.
    numbers: bytes = x.tobytes()
    return f"{x.shape} {x.dtype.str} ".encode() + numbers


def has_data(x: Any) -> bool:
    """Return True if a tuple contains arrays or tensors."""
    return any(isinstance(part, ARRAYS) or (type(part) is tuple and has_data(part)) for part in x)


def has_objects(value: Any) -> bool:
    """Return True for a variable, an object with attributes, and a container of such."""
    if isinstance(value, Variable):
        return True
    if isinstance(value, list | tuple):
        # A list of many numbers would be searched at each walk, hence the limit.
        return any(map(has_objects, value[:100]))
    if isinstance(value, dict):
        return any(map(has_objects, list(value.values())[:100]))
    return not is_leaf(value) and not isinstance(value, Tensor) and is_instance(value)


def library_names(kind: type) -> frozenset[str]:
    """Return the attribute names in the methods that libraries define for a class."""
    return names_of_bases(
        tuple(base for base in kind.__mro__ if base is not object and not is_user_class(base))
    )


@lru_cache(1024)
def names_of_bases(bases: tuple[type, ...]) -> frozenset[str]:
    """Return the attribute names in the methods of some classes."""
    names: set[str] = set()
    for base in bases:
        for value in list(vars(base).values()):
            inner = getattr(value, "fget", None) or getattr(value, "__func__", None) or value
            if isinstance(inner, FunctionType):
                names.update(*(code.co_names for code in codes_in(inner.__code__)))
    return frozenset(names)


def slots_of(kind: type) -> Iterator[str]:
    """Yield the attribute names of a class's slots, with private names mangled."""
    slots = vars(kind).get("__slots__", ())
    for name in (slots,) if isinstance(slots, str) else tuple(slots):
        if name not in {"__weakref__", "__dict__"}:
            # Python stores a private name of class A, such as __x, as _A__x.
            private = name.startswith("__") and not name.endswith("__")
            yield f"_{kind.__name__.lstrip('_')}{name}" if private else name


def is_empty(cell: CellType) -> bool:
    """Return True if a variable of an enclosing function has no value yet."""
    try:
        # Only the read matters: it raises ValueError for an empty cell.
        return cell.cell_contents is cell
    except ValueError:
        return True
