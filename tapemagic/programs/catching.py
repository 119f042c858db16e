"""Errors that symbols cause and the traced function catches: it goes on in a way that it takes in no other call."""

from __future__ import annotations

import ast
import dis
import functools
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import BuiltinMethodType, CodeType, ModuleType
from typing import Any

from tapemagic.engine.events import origin_of
from tapemagic.programs.calls import is_raised_by_the_user, raises, running, way_of_error
from tapemagic.programs.object_kinds import is_instance, is_leaf
from tapemagic.programs.program import Site
from tapemagic.programs.reading import codes_in
from tapemagic.programs.symbol import Symbol, has_symbol, held
from tapemagic.programs.trace import Trace

OF_SYMBOLS = (AttributeError, BufferError, NotImplementedError, TypeError, ValueError)
"""The errors of code that can do nothing with what stands for an array while a function is traced."""

HANDLING = frozenset({"suppress", "ExitStack"})
"""The names of what catches errors in a ``with``."""

PUSH, WITH = dis.opmap["PUSH_EXC_INFO"], dis.opmap["WITH_EXCEPT_START"]

COMPUTING = frozenset(x.__code__.co_filename for x in (Trace.call, Symbol.__len__))
"""The files in which the values of symbols are computed with."""

DIRECT = (len, iter, list, tuple)
"""The functions that ask for no more than one of the methods of a symbol."""

NESTING = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
"""Expressions inside of another one of which the value is not known, beside calls and comprehensions."""

MADE = (*NESTING, ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@contextmanager
def errors_noted(codes: Iterable[CodeType]) -> Iterator[list[tuple[str, Site | None]]]:
    """The errors that symbols may have caused, and that came to a line of the user's which may catch them.

    Each is noted by its call, with what to write instead, and the line. A debugger sees nothing of the block, if some
    of the code catches errors at all.

    Parameters
    ----------
    codes : iterable of code
        That of the functions of the user's which may run inside of the block.
    """
    found: list[tuple[str, Site | None]] = []
    if not any(map(catches, codes)):
        yield found
        return
    known: list[Any] = []

    def enters(frame: Any, event: str, _: Any) -> Any:
        if event != "call" or not handles(frame.f_code):
            return None
        frame.f_trace_lines = False
        return happens

    def happens(_: Any, event: str, what: Any) -> Any:
        if event == "exception" and not any(x is what[1] for x in known):
            known.append(what[1])
            if is_of_symbols(*what[1:]):
                found.append(way_of_error(what[2]))
        return happens

    before = sys.gettrace()
    sys.settrace(enters)
    try:
        yield found
    finally:
        sys.settrace(before)
        known.clear()


@lru_cache(4096)
def catches(code: CodeType) -> bool:
    """Whether code, or that of the functions inside of it, may catch errors.

    Examples
    --------
    >>> def f(x):
    ...     try:
    ...         return int(x)
    ...     except ValueError:
    ...         return 0
    >>> catches(f.__code__), catches((lambda x: int(x)).__code__)
    (True, False)
    """
    for each in codes_in(code):
        if each.co_name == "__exit__" or not HANDLING.isdisjoint(each.co_names):
            return True
        operations = each.co_code[::2]
        for k, operation in enumerate(operations):
            if operation == PUSH and operations[k + 1] != WITH:
                return True
    return False


@lru_cache(4096)
def handles(code: CodeType) -> bool:
    """Whether code is the user's, and errors may end in it: in a ``try``, or by what is left in a ``with``."""
    return bool(code.co_exceptiontable) and origin_of(code.co_filename) == ""


def is_unlike_own(error: Exception, trace: Trace) -> bool:
    """Whether an error that left a traced function may be none that it raises without a trace."""
    if error is trace.raised or is_raised_by_the_user(error) or is_of_values(error.__traceback__):
        return False
    return isinstance(error, OF_SYMBOLS) or is_of_symbols(error, error.__traceback__)


def is_of_symbols(error: BaseException, traceback: Any) -> bool:
    """Whether an error may be raised only because a symbol stands for an array.

    It is not if the user raises it, if NumPy does for the true values, or if the line that failed reads no symbol.
    """
    if not isinstance(error, OF_SYMBOLS) and type(error).__module__ == "builtins":
        return False
    frames: list[Any] = []
    users, each = -1, traceback
    while each is not None:
        if origin_of(each.tb_frame.f_code.co_filename) == "":
            users = len(frames)
        frames.append(each)
        each = each.tb_next
    if users < 0:
        return True
    below = [x.tb_frame.f_code for x in frames[users + 1 :]]
    if Trace.call.__code__ in below or is_of_values(traceback):
        return False
    origin = origin_of(frames[-1].tb_frame.f_code.co_filename)
    if raises(frames[-1]) and origin in ("", None):
        return False
    return origin is None or _reads_a_symbol(frames[users])


def is_of_values(traceback: Any) -> bool:
    """Whether a symbol or a trace met an error, which the values themselves raise."""
    above = traceback
    while traceback.tb_next is not None:
        above, traceback = traceback, traceback.tb_next
    code = traceback.tb_frame.f_code
    if code.co_filename not in COMPUTING:
        return False
    symbol, name = traceback.tb_frame.f_locals.get("self"), code.co_name
    if type(symbol) is not Symbol or not name.startswith("__"):
        return True
    if name == "__getattr__":  # a symbol lacks what only C code asks for
        return not raises(traceback)
    return hasattr(type(held(symbol)), name) or _is_direct(above)


def _is_direct(traceback: Any) -> bool:
    """Whether a frame asks for just what a symbol has and its value has not, such as a length."""
    match running(traceback.tb_frame, traceback.tb_lasti)[1]:
        case ast.Call(ast.Name(name)):
            return _looked_up(ast.Name(name), traceback.tb_frame) in DIRECT
    return False


def _reads_a_symbol(traceback: Any) -> bool:
    """Whether what failed in a frame of the user's may read a symbol."""
    frame = traceback.tb_frame
    operation, expression = running(frame, traceback.tb_lasti)
    if operation.startswith("UNPACK") or "ATTR" in operation or "METHOD" in operation:
        return False  # a symbol takes part in it by methods of its own
    return expression is None or any(map(functools.partial(_may_bear, frame), _read_by(expression)))


def _read_by(expression: ast.expr) -> Iterator[ast.expr]:
    """The names, attributes and calls whose values an expression computes with."""
    if isinstance(expression, ast.Name | ast.Attribute):
        yield expression
        return
    for part in ast.iter_child_nodes(expression):
        if isinstance(part, MADE):
            yield part
        elif isinstance(part, ast.keyword):
            yield from (part.value,) if isinstance(part.value, MADE) else _read_by(part.value)
        elif isinstance(part, ast.expr):
            yield from _read_by(part)


def _may_bear(frame: Any, expression: ast.expr) -> bool:
    """Whether the value of a name, or of an attribute, may hold a symbol."""
    try:
        value = _looked_up(expression, frame)
    except (LookupError, TypeError):
        return True
    if isinstance(value, BuiltinMethodType):
        value = value.__self__
    if has_symbol(value) or isinstance(value, functools.partial):
        return True
    known = isinstance(value, list | tuple | dict) or callable(value)
    return not (known or is_leaf(value) or is_instance(value))


def _looked_up(expression: ast.expr, frame: Any) -> Any:
    """The value of a name, or of an attribute that an object or a module stores itself."""
    match expression:
        case ast.Name(name):
            for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
                if name in scope:
                    return scope[name]
        case ast.Attribute(owner, name):
            holder = _looked_up(owner, frame)
            if isinstance(holder, ModuleType) or (
                isinstance(holder, type) and name in vars(holder)
            ):
                return vars(holder)[name]
            if is_instance(holder):
                return vars(holder)[name]
            if isinstance(holder, str | list | dict):
                return holder
    raise LookupError
