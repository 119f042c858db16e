"""The function that a driver is: its code, its parameters, and what its names stand for."""

from __future__ import annotations

import inspect
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

from tapemagic.replay.signature import LEAF, Call

FREE = ("function", "miss")
"""The free variables of the code of a driver."""


@lru_cache(256)
def code_of(parameters: str, body: str) -> CodeType:
    """The code of a driver: other ways through a function mostly have the same one."""
    text = f"def made({', '.join(FREE)}):\n    def driver({parameters}):\n        {body}\n"
    whole = compile(text, "<tapemagic driver>", "exec")
    (made,) = (x for x in whole.co_consts if isinstance(x, CodeType))
    (code,) = (x for x in made.co_consts if isinstance(x, CodeType))
    return code


def driver(code: CodeType, namespace: dict[str, Any], function: Any, miss: Any) -> Any:
    """A driver.

    Parameters
    ----------
    code : code
        That of `Driver.code`.
    namespace : dict of str to object
    function : callable
        The user's: it is called under a tape, and inside of another trace.
    miss : callable
        What is returned if the program does not hold: called with the arguments, a tuple and a dict, and a `Miss`.
    """
    cells = {"function": CellType(function), "miss": CellType(miss)}
    made = FunctionType(code, namespace, closure=tuple(cells[name] for name in code.co_freevars))
    if type(function) is FunctionType:
        made.__name__, made.__qualname__ = function.__name__, function.__qualname__
    return made


PLAIN_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""The flags of code that takes any number of arguments."""


def parameters(function: Any, call: Call) -> tuple[str, ...] | None:
    """The parameters of a function that takes what a call gave by position, and no more; None for any other."""
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
    """The number of leaves of lists, tuples and dicts."""
    if structure == LEAF:
        return 1
    return sum(map(count_of, structure[1 + (structure[0] is dict) :]))


def is_plain(structure: Any) -> bool:
    """Whether nested structures are lists, tuples, and dicts with keys of text or whole numbers."""
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
