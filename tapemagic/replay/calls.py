"""The call of the user's in which a value left a trace, from the code that runs: by which name, and what to write."""

from __future__ import annotations

import ast
import dis
import sys
from itertools import islice
from typing import Any

from tapemagic.engine.events import origin_of, source_lines

OF_MATH = "write NumPy's functions in place of those of math, such as np.sin(x) for math.sin(x)"
STACK = "make one of its parts with np.stack"
NUMPY = "call NumPy's functions on the tensor itself"

MATH = "math", "cmath"
CONVERTING = frozenset({"float", "int", "complex", "asarray", "asanyarray", "__float__", "__int__"})
"""The functions that convert, and nothing more: the conversion is named by itself."""

WRITING = frozenset({"STORE_SUBSCR", "STORE_SLICE"})
"""The operations of ``x[i] = y`` and, from Python 3.12 on, of ``x[a:b] = y``."""


def user_frame(own: int = 1) -> Any:
    """The frame of the user's that runs, below at least so many of this package; None if there is none."""
    frame: Any = sys._getframe(own)
    while frame is not None and origin_of(frame.f_code.co_filename) != "":
        frame = frame.f_back
    return frame


def way_out(how: str) -> str:
    """A conversion of a value, or the call or assignment of the user's that made it, with what to write instead.

    Parameters
    ----------
    how : str
        The conversion, such as ``float()`` or ``np.asarray``.

    Returns
    -------
    str
        The same if the user wrote it, or nothing else can be told.
    """
    frame = user_frame()
    if frame is None:
        return how
    operation, expression = running(frame)
    if operation in WRITING:
        return "x[i] = ..."
    if not isinstance(expression, ast.Call):
        return how
    called = expression.func
    while isinstance(called, ast.Call):  # as in np.vectorize(f)(x)
        called = called.func
    function = ast.unparse(called)
    if function.rpartition(".")[2] in CONVERTING or ":" in function:
        return how
    if _is_of_math(called, frame):
        return f"{function}(): {OF_MATH}"
    if expression.args and _is_list(expression.args[0], frame):
        return f"{function}() of a list: {STACK}"
    return f"{function}(): {NUMPY}"


def running(frame: Any) -> tuple[str, ast.expr | None]:
    """The name of the operation that a frame runs, and its expression; None where that cannot be read."""
    code, place = frame.f_code, frame.f_lasti // 2
    operation = dis.opname[code.co_code[frame.f_lasti]]
    line, last, start, end = next(islice(code.co_positions(), place, None), (None,) * 4)
    if line is None or last is None or start is None or end is None:
        return operation, None
    lines = source_lines(code.co_filename, frame.f_globals)[line - 1 : last]
    if len(lines) != last - line + 1:
        return operation, None
    text = [x.encode() for x in lines]  # columns are counted in bytes
    text[-1] = text[-1][:end]
    text[0] = text[0][start:]
    try:
        return operation, ast.parse(b"(" + b"".join(text) + b")", mode="eval").body
    except SyntaxError:
        return operation, None


def _is_of_math(function: ast.expr, frame: Any) -> bool:
    """Whether a function is one of the modules math and cmath."""
    match function:
        case ast.Attribute(ast.Name(module)):
            return getattr(_value(module, frame), "__name__", "") in MATH
        case ast.Name(name):
            return getattr(_value(name, frame), "__module__", "") in MATH
    return False


def _is_list(given: ast.expr, frame: Any) -> bool:
    """Whether an argument is a list or tuple."""
    if isinstance(given, ast.Name):
        return isinstance(_value(given.id, frame), list | tuple)
    return isinstance(given, ast.List | ast.Tuple | ast.ListComp)


def _value(name: str, frame: Any) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))
