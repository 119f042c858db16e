"""The names that the code of a function reads and assigns: global ones, and attributes."""

from __future__ import annotations

import dis
import itertools
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from tapemagic.replay.program import Site

DYNAMIC = frozenset({"getattr", "setattr", "delattr", "hasattr", "vars", "dir"})
"""Built-in functions with which code reaches attributes that it does not name."""

ANYTHING = "with which it may read anything: write the names themselves"
UNSEEN = {
    **dict.fromkeys(
        ("eval", "exec", "globals", "locals", "__import__", "import_module", "get_ipython"),
        ANYTHING,
    ),
    "id": "which is another number for each object: give what tells them apart as an argument",
}
"""Functions with which code reaches what it does not name, or the identity of objects, and the words about it."""


class Names(NamedTuple):
    """The names in a piece of code, and in the functions inside of it.

    Attributes
    ----------
    globals, attributes : frozenset of str
        Those that are read, and those that are assigned.
    modules : frozenset of str
        The modules that it imports itself.
    assigned : dict of str to int
        The line of the first assignment of a global name, of a variable of an enclosing function, or of an attribute.
    read : dict of str to int
        The line on which a name is first read.
    local : dict of str to int
        The line on which a parameter, or another variable of its own, is first read.
    """

    globals: frozenset[str]
    attributes: frozenset[str]
    modules: frozenset[str]
    assigned: dict[str, int]
    read: dict[str, int]
    local: dict[str, int]


@lru_cache(4096)
def names_in(code: CodeType) -> Names:
    """The names in a function's code.

    Examples
    --------
    >>> def mean(x):
    ...     return len(x.parts)
    >>> found = names_in(mean.__code__)
    >>> set(found.globals), set(found.attributes)
    ({'len'}, {'parts'})
    """
    found: tuple[set[str], set[str], set[str]] = set(), set(), set()
    assigned: dict[str, int] = {}
    read: dict[str, int] = {}
    local: dict[str, int] = {}
    for each in codes_in(code):
        for operation, name, line in _named(each):
            if operation == "IMPORT_NAME":
                found[2].add(name)
            elif operation.endswith(("_GLOBAL", "_NAME")):
                found[0].add(name)
            elif "ATTR" in operation or "METHOD" in operation or operation == "IMPORT_FROM":
                found[1].add(name)
            elif operation.startswith("LOAD_FAST"):
                local.setdefault(name, line)
                continue
            elif "DEREF" not in operation:
                continue
            lines = assigned if operation.startswith(("STORE", "DELETE")) else read
            lines.setdefault(name, line)
    names, attributes, modules = map(frozenset, found)
    return Names(names, attributes, modules, assigned, read, local)


@lru_cache(4096)
def asks_for_types(code: CodeType) -> bool:
    """Whether code calls ``type(x)`` of more than ``self`` or ``cls``, which are no arrays.

    Examples
    --------
    >>> asks_for_types((lambda x: type(x)).__code__), asks_for_types((lambda self: type(self)).__code__)
    (True, False)
    """
    for each in codes_in(code):
        found = [x for x in dis.get_instructions(each) if x.opname not in {"PUSH_NULL", "CACHE"}]
        for instruction, following in itertools.pairwise(found):
            is_type = instruction.argval == "type" and instruction.opname.startswith("LOAD_")
            if is_type and following.argval not in {"self", "cls"}:
                return True
    return False


def returned_on(function: Any) -> Site | None:
    """The line on which a function returns its result; None if there are several, or no code of Python's.

    Examples
    --------
    >>> returned_on(lambda: 1).line == (lambda: 1).__code__.co_firstlineno
    True
    >>> returned_on(len)
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    found = {
        each.positions.lineno
        for each in dis.get_instructions(code)
        if each.opname in ("RETURN_VALUE", "RETURN_CONST") and each.positions is not None
    }
    line = found.pop()
    return Site(code.co_filename, line) if line and not found else None


def read_on(function: Any, name: str) -> Site | None:
    """The line on which a function first reads one of its parameters.

    Examples
    --------
    >>> read_on(lambda x: x, "x").line == (lambda x: x).__code__.co_firstlineno
    True
    """
    code = getattr(function, "__code__", None)
    if code is None or name not in (local := names_in(code).local):
        return None
    return Site(code.co_filename, local[name])


def _named(code: CodeType) -> Iterator[tuple[str, str, int]]:
    """The operations of a piece of code that have a name, with their lines."""
    for each in dis.get_instructions(code):
        several = each.argval if type(each.argval) is tuple else (each.argval,)
        for name in several:  # from Python 3.13 on, two variables may be read at once
            if type(name) is str:
                line = each.positions.lineno if each.positions is not None else None
                yield each.opname, name, line or code.co_firstlineno


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A piece of code, and those of the functions and classes that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)
