"""Attributes that code reads without naming them: by text, by functions that read any attribute, as text."""

from __future__ import annotations

import builtins
import dataclasses
import dis
import importlib
import inspect
import operator
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from string import Formatter
from types import CodeType
from typing import Any, cast

from tapemagic.programs.reading import ANYTHING, DYNAMIC, UNSEEN, Names, codes_in

ANY = "reads any attribute"
TEXT = "reads attributes that are named by text"
MAKES = "makes objects of a class that it does not name"
CATCHES = "catches the error for an attribute that is not there"

READERS = frozenset({"__getattribute__", "__getstate__", "__reduce__", "__reduce_ex__", "__dir__"})
"""Methods of all objects that read any attribute."""

BY_TEXT = frozenset({"format", "format_map", "vformat", "__setattr__", "__delattr__"})
"""Methods that are given names of attributes as text."""

SHOWING = frozenset({"str", "repr", "ascii", "format", "format_map", "__repr__", "__str__"})
"""Functions and methods that make text of an object."""

WAYS = {
    **dict.fromkeys((*DYNAMIC, "AttributeError"), ANY),
    **dict.fromkeys(("Exception", "BaseException"), CATCHES),
    "type": MAKES,
}
"""The ways on which code reads by built-in functions and errors that it names."""

WAYS_OF_ATTRIBUTES = {
    **dict.fromkeys((*READERS, "__dict__"), ANY),
    **dict.fromkeys(BY_TEXT, TEXT),
    "__class__": MAKES,
}
"""The ways on which code reads by attributes that it names."""

READING = frozenset(
    map(
        id,
        (
            *(getattr(builtins, name) for name in DYNAMIC),
            *(operator.attrgetter, operator.methodcaller, dataclasses.asdict, dataclasses.astuple),
            *(inspect.getmembers, inspect.getattr_static),
        ),
    )
)
"""The identities of functions that read attributes which code does not name, whatever they are called there."""

NOT_SEEN = {
    **{id(getattr(builtins, name)): name for name in UNSEEN if hasattr(builtins, name)},
    id(importlib.import_module): "import_module",
    id(sys._getframe): "sys._getframe",
}
"""The names of functions with which code reads what cannot be watched, by their identities."""

HIDING = {
    **dict.fromkeys(("__globals__", "f_globals", "f_locals", "f_builtins"), ANYTHING),
    "__subclasses__": "which finds classes that it does not name: write their names",
}
"""Attributes by which code reads what cannot be watched, and the words about it."""

FORMATTING = bytes(
    number
    for name, number in dis.opmap.items()
    if name in {"FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC"}
)
BARE_EXCEPT = bytes([dis.opmap["PUSH_EXC_INFO"], dis.opmap["POP_TOP"]])


def ways_of(code: CodeType, found: Names, scope: Any) -> Iterator[str]:
    """The ways on which code reads what it does not name.

    Parameters
    ----------
    code : code
    found : Names
        Those in the code.
    scope : dict
        The global names, which may hide built-in functions.

    Examples
    --------
    >>> from tapemagic.programs.reading import names_in
    >>> f = (lambda x: type(x).__getattribute__(x, "k")).__code__
    >>> sorted(ways_of(f, names_in(f), {}))
    ['makes objects of a class that it does not name', 'reads any attribute']
    """
    for name in found.globals:
        if name in WAYS and name not in scope:
            yield WAYS[name]
    generated = code.co_filename == "<string>"  # the comparisons of dataclasses make no objects
    for name in found.attributes & WAYS_OF_ATTRIBUTES.keys():
        if not (generated and name == "__class__"):
            yield WAYS_OF_ATTRIBUTES[name]
    if catches_all(code):
        yield CATCHES


@lru_cache(4096)
def catches_all(code: CodeType) -> bool:
    """Whether code has an ``except`` that names no error."""
    return any(x.co_exceptiontable and BARE_EXCEPT in x.co_code[::2] for x in codes_in(code))


@lru_cache(4096)
def shows(code: CodeType) -> bool:
    """Whether code may make text of an object: by a function, in an f-string, or by the operator ``%``.

    Examples
    --------
    >>> shows((lambda x: f"{x}").__code__), shows((lambda x: x % 2).__code__)
    (True, False)
    """
    for each in codes_in(code):
        if not SHOWING.isdisjoint(each.co_names):
            return True
        if any(operation in FORMATTING for operation in each.co_code[::2]):
            return True
        if any(type(x) is str and "%" in x for x in each.co_consts):
            return True
    return False


@lru_cache(4096)
def names_by_text(code: CodeType) -> frozenset[str]:
    """The names in the texts among the constants of code.

    Examples
    --------
    >>> sorted(names_by_text((lambda f, x: [f(x, name) for name in ("a", "b.c")]).__code__))
    ['a', 'b', 'c']
    """
    return frozenset(
        name
        for each in codes_in(code)
        for text in texts_in(each.co_consts)
        for name in names_in_text(text)
    )


def texts_in(constants: Iterable[Any]) -> Iterator[str]:
    """The texts among constants, and in tuples and sets of these."""
    for x in constants:
        if type(x) is str:
            yield x
        elif type(x) in (tuple, frozenset):
            yield from texts_in(x)


def names_in_text(text: str) -> Iterator[str]:
    """The names of attributes in a text: dotted names, or those in the fields of a format.

    Examples
    --------
    >>> list(names_in_text("model.rate")), list(names_in_text("{0.rate:{1.width}}")), list(names_in_text("The rate."))
    (['model', 'rate'], ['rate', 'width'], [])
    """
    if "{" in text:
        yield from _names_in_format(text)
        return
    parts = text.split(".")
    if all(map(str.isidentifier, parts)):
        yield from parts


def _names_in_format(text: str) -> Iterator[str]:
    try:
        fields = list(Formatter().parse(text))
    except ValueError:
        return
    for _, field, width, _ in fields:
        for part in (field or "").split(".")[1:]:
            yield part.partition("[")[0]
        if width:
            yield from _names_in_format(width)


def names_in_caller(x: Any) -> tuple[frozenset[str], tuple[Any, ...]]:
    """The names of attributes in an `attrgetter`, or in a `methodcaller`; and the arguments of the latter.

    Examples
    --------
    >>> sorted(names_in_caller(operator.attrgetter("a.b", "c"))[0])
    ['a', 'b', 'c']
    >>> names_in_caller(operator.methodcaller("scaled", 2.0, by=3.0))
    (frozenset({'scaled'}), (2.0, 3.0))
    """
    make, given = cast(tuple[Any, tuple[Any, ...]], x.__reduce__())
    if isinstance(x, operator.attrgetter):
        return frozenset(name for text in given for name in text.split(".")), ()
    named: dict[str, Any] = getattr(make, "keywords", {})
    before: tuple[Any, ...] = getattr(make, "args", ())
    name, *rest = before + given
    return frozenset({name}), (*rest, *named.values())
