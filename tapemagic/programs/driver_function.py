"""The text, code, parameters and namespace of a driver function."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from tapemagic.programs.signature import LEAF, Call

FREE = ("q_function", "q_miss")
"""The free variables of the code of a driver."""


LONGEST = 2000
"""The maximum length of a condition in characters; longer ones are not merged."""


def lines_of(
    parameters: str, passed: str, arguments: str, parts: Sequence[tuple[str, Sequence[str]]]
) -> tuple[list[str], list[int]]:
    """The lines of a function that makes a driver, and the numbers of those with which its parts begin.

    - `parameters`, `passed`, `arguments`: The parameters; how they are passed on to the traced function; and as a tuple
      and a dict.
    - `parts`: Sequence of (str, sequence of str). For each part the name of the `Miss` for which its checks leave the
      loop, empty for a part without checks, and its lines.
    """
    # A failed check leaves the loop, which runs again only if another thread assigned a Variable meanwhile. Both
    # `break` and `try` cost nothing while all checks pass (Python 3.11). A nested function has free variables, so one
    # code object serves several functions.
    lines = [
        f"def made({', '.join(FREE)}):",
        f"    def driver({parameters}):",
        f"        if q_open_blocks and q_is_followed(): return q_function({passed})",
        "        try:",
        "            while True:",
    ]
    starts = []
    for missed, part in parts:
        starts.append(len(lines) + 1)
        written = _leaving(part, missed) if missed else part
        lines += [f"                {line}" for line in written]
    lines += [
        "        except Exception:",
        "            q_missed = q_miss_from_error(q_parts)",
        f"        return q_miss({arguments}, q_missed)",
    ]
    return lines, starts


def _leaving(checks: Sequence[str], missed: str) -> list[str]:
    """Let checks note the reason before they leave the loop."""
    end = f": q_missed = {missed}; break"
    return [
        f"{line.removesuffix(': break')}{end}" if _check(line)[0] else line
        for line in merged(checks)
    ]


def code_of(lines: Sequence[str], file: str) -> CodeType:
    """Compile the text of a driver under a file name."""
    module = compile("\n".join(lines), file, "exec", dont_inherit=True)
    (maker,) = (x for x in module.co_consts if isinstance(x, CodeType))
    (code,) = (x for x in maker.co_consts if isinstance(x, CodeType))
    return code


def merged(lines: Sequence[str]) -> list[str]:
    """Merge checks into fewer statements, which compile and run in less time.

    Examples
    --------
    >>> merged(["if kwargs: break", "x, = args", "a = x._value", "if a is b: break", "if c: break"])
    ['if kwargs: break', 'x, = args', 'if (a := x._value) is b or c: break']
    """
    fewer: list[str] = []
    for line in lines:
        condition, end = _check(line)
        if condition and fewer:
            name, equals, value = fewer[-1].partition(" = ")
            rest = condition.removeprefix(name)
            if equals and name.isidentifier() and rest != condition and rest[:1] in {" ", "."}:
                fewer.pop()
                condition = f"({name} := {value}){rest}"
            before, same = _check(fewer[-1]) if fewer else ("", "")
            if before and same == end and len(before) < LONGEST:
                fewer.pop()
                condition = f"{before} or {condition}"
        fewer.append(f"if {condition}: {end}" if condition else line)
    return fewer


def _check(line: str) -> tuple[str, str]:
    """Split a check on one line into its condition and its action, both '' for any other line."""
    condition, colon, end = line.rpartition(": ")
    return (condition[3:], end) if colon and line.startswith("if ") else ("", "")


def driver(code: CodeType, namespace: dict[str, Any], function: Any, miss: Any) -> Any:
    """Create a driver function from its code.

    - `code`: The result of `Driver.code`.
    - `function`: The traced function, which is called under a tape and inside another trace.
    - `miss`: Called if the program does not match: with the arguments as a tuple and a dict, and a `Miss`.
    """
    cells = dict(zip(FREE, (CellType(function), CellType(miss)), strict=True))
    replay = FunctionType(code, namespace, closure=tuple(cells[name] for name in code.co_freevars))
    if type(function) is FunctionType:
        replay.__name__, replay.__qualname__ = function.__name__, function.__qualname__
    return replay


PLAIN_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""The flags of code that takes any number of arguments."""


def parameters(function: Any, call: Call) -> tuple[str, ...] | None:
    """Return the parameter names of a function that takes exactly the positional arguments of a call."""
    if type(function) is not FunctionType or function.__defaults__ or function.__kwdefaults__:
        return None
    code, structure = function.__code__, call.structure
    if code.co_flags & PLAIN_FLAGS or code.co_kwonlyargcount or code.co_posonlyargcount:
        return None
    if not is_plain(structure) or isinstance(structure[0], tuple):
        return None
    count = code.co_argcount
    return code.co_varnames[:count] if len(structure) - 1 == count else None


def count_of(structure: Any) -> int:
    """Count the leaves of nested lists, tuples and dicts."""
    if structure == LEAF:
        return 1
    return sum(map(count_of, structure[1 + (structure[0] is dict) :]))


def is_plain(structure: Any) -> bool:
    """Return True if nested structures are lists, tuples, and dicts with string or integer keys."""
    if structure == LEAF:
        return True
    if isinstance(structure[0], tuple):
        return all(map(is_plain, structure))
    kind = structure[0]
    if kind is dict:
        return all(type(key) in (str, int) for key in structure[1]) and all(
            map(is_plain, structure[2:])
        )
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return (kind is list or kind is tuple or named) and all(map(is_plain, structure[1:]))
