"""Names in the code of a function: globals and attributes with their lines, and special operations."""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator
from functools import lru_cache
from string import Formatter
from types import CodeType
from typing import Any, NamedTuple

from tapemagic.programs.program import Site

READS_ANY = frozenset(
    {"getattr", "setattr", "delattr", "hasattr", "vars", "dir", "AttributeError"}
    | {"asdict", "astuple", "attrgetter", "methodcaller", "getmembers", "getattr_static"}
    | {"__dict__", "__getattribute__", "__getstate__", "__setattr__", "__delattr__", "__dir__"}
    | {"__reduce__", "__reduce_ex__", "format", "format_map", "vformat"}
)
"""Names with which code can reach attributes that it does not name."""

MAKES_TEXT = frozenset({"str", "repr", "ascii", "format", "format_map", "__repr__", "__str__"})
"""Names with which code turns objects into text."""

COMPARES = frozenset({"eq", "ne", "contains", "countOf", "indexOf"})
"""Functions of `operator` that compare objects by ``==``."""

JOINS_TEXT = MAKES_TEXT | {"join", "lower", "removeprefix", "replace"}


class Names(NamedTuple):
    """The names in the code of a function, including nested functions.

    Attributes
    ----------
    globals, attributes : frozenset of str
    elsewhere : frozenset of str
        Attributes that are read from something else than ``self``.
    checked : frozenset of str
        Globals that are only used in ``isinstance(x, name)``.
    modules : frozenset of str
        Modules that the code imports itself.
    texts : frozenset of str
        Strings among its constants.
    assigned, read, local : dict of str to int
        The line of the first assignment of a global or attribute, of the first read of one, and of the first read of a
        local variable.
    catches : int
        The line of the first ``except`` or ``finally``; 0 without one.
    asks_type : int
        The line of the first ``type(x)`` of something else than ``self`` or ``cls``; 0 without one.
    reads_any, makes_text, joins_text, compares : bool
        Whether it may read attributes that it does not name, turn objects into text, compose a string, or compare
        objects by ``==``.
    """

    globals: frozenset[str]
    attributes: frozenset[str]
    elsewhere: frozenset[str]
    checked: frozenset[str]
    modules: frozenset[str]
    texts: frozenset[str]
    assigned: dict[str, int]
    read: dict[str, int]
    local: dict[str, int]
    catches: int
    asks_type: int
    reads_any: bool
    makes_text: bool
    joins_text: bool
    compares: bool


@lru_cache(4096)
def names_in(function_code: CodeType) -> Names:
    """Collect the names in a function's code.

    Examples
    --------
    >>> def mean(x):
    ...     return len(x.parts)
    >>> found = names_in(mean.__code__)
    >>> set(found.globals), set(found.attributes)
    ({'len'}, {'parts'})
    """
    by_kind: dict[str, set[str]] = {"global": set(), "attribute": set(), "module": set()}
    elsewhere: set[str] = set()
    used: set[str] = set()
    lines: dict[str, dict[str, int]] = {"assigned": {}, "read": {}, "local": {}}
    flags: dict[str, int] = {}
    for code in codes_in(function_code):
        line = code.co_firstlineno
        earlier: Any = None
        before: Any = None
        instructions = _instructions(code)
        for each, following in zip(instructions, [*instructions[1:], None], strict=True):
            line = _line_of(each) or line
            kind = kind_of(each.opname)
            flag = _flag_of(each, kind, following)
            if flag:
                # PUSH_EXC_INFO has no line (CPython 3.11): the next instruction has that of `except`.
                flags.setdefault(flag, _line_of(following) or line)
            if kind in by_kind:
                by_kind[kind].add(each.argval)
            if kind == "global" and not _is_isinstance(earlier, before, following):
                used.add(each.argval)
            if kind == "attribute" and not _is_self(before):
                elsewhere.add(each.argval)
            if kind:
                name = each.argval
                # From Python 3.13 on, LOAD_FAST_LOAD_FAST reads two variables.
                for each_name in (name,) if isinstance(name, str) else name:
                    lines[_field_of(each.opname, kind)].setdefault(each_name, line)
            earlier, before = before, each
    texts = frozenset(
        text for code in codes_in(function_code) for text in strings_in(code.co_consts)
    )
    names = by_kind["global"] | by_kind["attribute"]
    # A modulo can't be distinguished from formatting, so each "%" counts. By mistake, it only makes the
    # guards visit `__str__` and `__repr__` too.
    shows = "formats" in flags or not MAKES_TEXT.isdisjoint(names) or any("%" in x for x in texts)
    return Names(
        frozenset(by_kind["global"]), frozenset(by_kind["attribute"]), frozenset(elsewhere),
        frozenset(by_kind["global"] - used), frozenset(by_kind["module"]), texts,
        lines["assigned"], lines["read"], lines["local"],
        flags.get("catches", 0), flags.get("type", 0),
        "matches" in flags or not READS_ANY.isdisjoint(names), shows,
        shows or "adds" in flags or not JOINS_TEXT.isdisjoint(names),
        "compares" in flags or not (COMPARES | {"index", "count", "remove"}).isdisjoint(names),
    )  # fmt: skip


def _line_of(instruction: Any) -> int | None:
    positions = getattr(instruction, "positions", None)
    return positions and positions.lineno


def _field_of(operation: str, kind: str) -> str:
    """Return the field of `Names` that stores the line of an instruction."""
    if kind == "local":
        return "local"
    return "assigned" if operation.startswith(("STORE", "DELETE")) else "read"


def _flag_of(each: Any, kind: str, following: Any) -> str:
    """Return the special effect of an instruction, such as 'catches', or ''."""
    operation = each.opname
    if operation == "PUSH_EXC_INFO":
        # A `with` has a handler as well, which calls `__exit__`, and only for that.
        return "" if following.opname == "WITH_EXCEPT_START" else "catches"
    if operation == "MATCH_CLASS":  # the attributes that it reads are constants
        return "matches"
    if operation.startswith("FORMAT_"):
        return "formats"
    if operation == "CONTAINS_OP" or (operation == "COMPARE_OP" and each.argval in {"==", "!="}):
        return "compares"
    if operation == "BINARY_OP" and each.argrepr in {"+", "+=", "%", "%="}:
        return "adds"
    is_type = kind == "global" and each.argval == "type"
    return "type" if is_type and not _is_self(following) else ""


def _instructions(code: CodeType) -> list[dis.Instruction]:
    """Return the instructions of one piece of code, without the ones that only prepare a call."""
    # PUSH_NULL and PRECALL separate a function from its arguments (CPython 3.11), which are compared as
    # neighbors.
    return [x for x in dis.get_instructions(code) if x.opname not in {"PUSH_NULL", "PRECALL"}]


def _is_isinstance(function: Any, argument: Any, call: Any) -> bool:
    """Return True if instructions load ``isinstance`` and one more value, and call it with the next."""
    is_function = function is not None and function.argval == "isinstance"
    return is_function and argument.opname.startswith("LOAD_") and call.opname.startswith("CALL")


def _is_self(instruction: Any) -> bool:
    """Return True if an instruction loads ``self`` or ``cls``, which can't be an array."""
    name = None if instruction is None else instruction.argval
    return (name[-1:] if isinstance(name, tuple) else (name,)) in {("self",), ("cls",)}


@lru_cache(512)
def kind_of(operation: str) -> str:
    """Return the kind of an instruction's name, or ''."""
    if operation == "IMPORT_NAME":
        return "module"
    if operation.endswith(("_GLOBAL", "_GLOBALS", "_NAME")):
        return "global"
    # ATTR as the end: SET_FUNCTION_ATTRIBUTE of Python 3.13 has a number, and no name.
    if operation.endswith("_ATTR") or "METHOD" in operation or operation == "IMPORT_FROM":
        return "attribute"
    # LOAD_FAST_AND_CLEAR is the beginning of an inlined comprehension (PEP 709): it reads no user variable.
    if "LOAD_FAST" in operation and not operation.endswith("_AND_CLEAR"):
        return "local"
    return "enclosing" if "DEREF" in operation else ""


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a piece of code, and the code of the functions and classes that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def strings_in(constants: Iterable[Any]) -> Iterator[str]:
    """Yield the strings among constants, and in tuples and sets of constants."""
    for x in constants:
        if type(x) is str:
            yield x
        elif type(x) in (tuple, frozenset):
            yield from strings_in(x)


def names_in_string(text: str) -> Iterator[str]:
    """Yield the attribute names in a string: dotted names, or names in the fields of a format.

    Examples
    --------
    >>> [*names_in_string("model.rate")], [*names_in_string("{0.rate:{1.width}}")], [*names_in_string("The rate.")]
    (['model', 'rate'], ['rate', 'width'], [])
    """
    if "{" not in text:
        parts = text.split(".")
        if all(map(str.isidentifier, parts)):
            yield from parts
        return
    try:
        fields = list(Formatter().parse(text))
    except ValueError:
        return
    for _, name, width, _ in fields:
        for part in (name or "").split(".")[1:]:
            yield part.partition("[")[0]
        if width:
            yield from names_in_string(width)


def site_of_return(function: Any) -> Site | None:
    """Return the line on which a function returns, or None for several lines or a built-in function.

    Examples
    --------
    >>> site_of_return(lambda: 1).line == (lambda: 1).__code__.co_firstlineno
    True
    >>> site_of_return(len)
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    lines = {
        each.positions.lineno
        for each in dis.get_instructions(code)
        if each.opname in ("RETURN_VALUE", "RETURN_CONST") and each.positions is not None
    }
    line = lines.pop()
    return Site(code.co_filename, line) if line and not lines else None


def site_of_parameter(function: Any, name: str) -> Site | None:
    """Return the line on which a function first reads one of its parameters, if any.

    Examples
    --------
    >>> site_of_parameter(lambda x: x, "x").line == (lambda x: x).__code__.co_firstlineno
    True
    """
    code = getattr(function, "__code__", None)
    if code is None or name not in (local := names_in(code).local):
        return None
    return Site(code.co_filename, local[name])
