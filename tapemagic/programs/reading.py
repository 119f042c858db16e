"""The names that the code of a function reads and assigns: global ones, and attributes."""

from __future__ import annotations

import dis
import itertools
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from tapemagic.programs.program import Site

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
    found: dict[str, set[str]] = {"global": set(), "attribute": set(), "module": set()}
    lines: dict[str, dict[str, int]] = {"assigned": {}, "read": {}, "local": {}}
    for each in codes_in(code):
        for (kind, field, _, _), name, line in named(each):
            if kind in found:
                found[kind].add(name)
            lines[field].setdefault(name, line)
    names, attributes, modules = map(frozenset, found.values())
    return Names(names, attributes, modules, **lines)


@lru_cache(4096)
def asks_for_types(code: CodeType) -> bool:
    """Whether code calls ``type(x)`` of more than ``self`` or ``cls``, which are no arrays.

    Examples
    --------
    >>> asks_for_types((lambda x: type(x)).__code__), asks_for_types((lambda self: type(self)).__code__)
    (True, False)
    """
    if "type" not in names_in(code).globals:
        return False
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


class Operation(NamedTuple):
    """An operation of Python's machine that has a name.

    Attributes
    ----------
    kind : {'global', 'attribute', 'module', 'local', 'enclosing'}
    field : {'assigned', 'read', 'local'}
        That of `Names` to which its line belongs.
    shift : int
        The number of lowest bits of its argument that are flags; above them is the index of the name.
    of_two : tuple of int
        Of an operation on two variables, the indices of which have 4 bits each, where those that it reads begin.
    """

    kind: str
    field: str
    shift: int
    of_two: tuple[int, ...]


def _operation(name: str) -> Operation | None:
    """An operation by its name in Python's documentation; None if it has no name, or none that counts."""
    if name == "IMPORT_NAME":
        kind = "module"
    elif name.endswith(("_GLOBAL", "_GLOBALS", "_NAME")):
        kind = "global"
    elif "ATTR" in name or "METHOD" in name or name == "IMPORT_FROM":
        kind = "attribute"
    elif "LOAD_FAST" in name and not name.endswith("_AND_CLEAR"):  # as a comprehension begins
        kind = "local"
    elif "DEREF" in name:
        kind = "enclosing"
    else:
        return None
    field = "local" if kind == "local" else "read"
    if kind != "local" and name.startswith(("STORE", "DELETE")):
        field = "assigned"
    first, *second = re.findall("(LOAD|STORE)_FAST", name) or [""]
    of_two = ((4,) if first == "LOAD" else ()) + ((0,) if second == ["LOAD"] else ())
    return Operation(kind, field, FLAGS.get(name, 0), of_two if second else ())


FLAGS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": int(sys.version_info >= (3, 12)), "LOAD_SUPER_ATTR": 2}
"""The number of flags beside the index of a name."""

OPERATIONS = {
    number: found
    for number in (*dis.hasname, *dis.haslocal, *dis.hasfree)
    if (found := _operation(dis.opname[number])) is not None
}
"""The operations with names, by their numbers; `dis.get_instructions` takes ten times as long to tell them."""


def named(code: CodeType) -> Iterator[tuple[Operation, str, int]]:
    """The operations of a piece of code that have a name, with their lines."""
    names, variables, units = code.co_names, variables_of(code), code.co_code
    cells = frozenset((*code.co_cellvars, *code.co_freevars))  # LOAD_FAST of one makes a closure
    find, first = OPERATIONS.get, code.co_firstlineno
    for start, end, line in code.co_lines():
        for k in range(start, end, 2):
            operation = find(units[k])
            if operation is None:
                continue
            kind, _, shift, of_two = operation
            index, before = units[k + 1], k - 2
            while before >= 0 and units[before] == dis.EXTENDED_ARG:
                index |= units[before + 1] << 4 * (k - before)
                before -= 2
            held = variables if kind in VARIABLES else names
            for place in [index >> each & 15 for each in of_two] or [index >> shift]:
                name = held[place]
                if not (kind == "local" and name in cells):
                    yield operation, name, line or first


VARIABLES = frozenset({"local", "enclosing"})
"""The kinds of operations whose names are those of variables of a function, or around it."""


def variables_of(code: CodeType) -> tuple[str, ...]:
    """The variables of a function, and those around it, in the order in which its operations count them."""
    own = code.co_varnames
    return *own, *(x for x in code.co_cellvars if x not in own), *code.co_freevars


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A piece of code, and those of the functions and classes that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)
