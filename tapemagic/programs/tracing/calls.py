"""The user call that stopped a trace, read from the running code: its name, and what to write instead."""

from __future__ import annotations

import ast
import dis
import sys
from itertools import islice
from typing import Any

import numpy as np

from tapemagic.engine.events import is_generated, origin_of, source_lines
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.programs.program import Site
from tapemagic.programs.reasons import COMPUTE_BEFORE, SHAPE

OF_MATH = "write NumPy's functions instead of math's, such as np.sin(x) instead of math.sin(x)"
ARRAYS_AT_ONCE = "write it with NumPy functions of whole arrays, such as np.where instead of if"
OF_ARRAYS = "code that works only with NumPy's own arrays"
STACK = "make one of its parts with np.stack"
NUMPY = "call NumPy's functions on the tensor itself"

MATH = "math", "cmath"
CONVERTING = frozenset({"float", "int", "complex", "asarray", "asanyarray", "__float__", "__int__"})
"""Functions that only convert: the reason names the conversion."""

SIZED = frozenset({"arange", "zeros", "ones", "empty", "eye", "identity", "tri", "linspace"})
"""Functions that make arrays of a size."""

INSTEAD = {
    **dict.fromkeys(("vectorize", "frompyfunc", "nditer", "ndenumerate"), ARRAYS_AT_ONCE),
    "as_strided": "write np.lib.stride_tricks.sliding_window_view(x, n), or an index of integers",
    "fromiter": STACK,
    "memoryview": COMPUTE_BEFORE,
    "full": "write x + np.zeros(shape)",
    "range": "write a while loop on the tensor, or pass a Python number",
}
"""The advice for a function that needs plain numbers, by its name."""

READING = frozenset({"getattr", "hasattr"})
"""The functions that read an attribute by a string."""

WRITING = frozenset({"STORE_SUBSCR", "STORE_SLICE"})
"""The operations of ``x[i] = y`` and, from Python 3.12 on, of ``x[a:b] = y``."""


def user_frame(own: int = 1) -> Any:
    """Return the running frame of user code, skipping the last `own` frames."""
    frame: Any = sys._getframe(own)
    while frame is not None and (
        origin_of(frame.f_code.co_filename) != "" or is_generated(frame.f_code)
    ):
        frame = frame.f_back
    return frame


def way_out(how: str) -> str:
    """Name a conversion, or the user call or assignment that caused it, and what to write instead.

    - `how`: The conversion, such as ``float()`` or ``np.asarray``.

    Returns
    -------
    str
        `how` itself if user code made the conversion, or the cause is unknown.
    """
    frame = user_frame()
    if frame is None:
        return how
    operation, expression = running(frame)
    if operation in WRITING:
        return "x[i] = ..."
    if isinstance(expression, ast.Subscript) and how == "int()":
        return _indexed(expression, frame) or how
    if operation.startswith("FORMAT") or _is_text(expression):
        return "format()"
    if not isinstance(expression, ast.Call):
        return how
    function = ast.unparse(_function(expression))
    if function.rpartition(".")[2] in CONVERTING or ":" in function:
        return how
    return called_with(expression, frame, how)


def text_or(how: str) -> str:
    """Name the expression of user code that turns a value into text, or `how`."""
    frame = user_frame()
    if frame is None:
        return how
    operation, expression = running(frame)
    if operation.startswith("FORMAT") or _is_text(expression):
        return "format()"
    match expression:
        case ast.Call(ast.Name("str" | "repr" | "format" | "ascii" as name)):
            return f"{name}()"
    return how


def called_with(expression: ast.Call, frame: Any, how: str = "") -> str:
    """Describe a call that needs more than the tensor itself, and what to write instead."""
    called = _function(expression)
    function = ast.unparse(called)
    name = function.rpartition(".")[2]
    if ":" in function:
        return f"{OF_ARRAYS}: {COMPUTE_BEFORE}"
    if _is_of_math(called, frame):
        return f"{function}(): {OF_MATH}"
    if name in SIZED or (name == "full" and how == "int()"):
        return f"{function}() {SHAPE[0]}: {SHAPE[1]}"
    if name in INSTEAD:
        return f"{function}(): {INSTEAD[name]}"
    if function.endswith(f"ndarray.{name}"):
        return f"{function}(): write np.{name}(x)"
    if expression.args and _is_list(expression.args[0], frame):
        return f"{function}() of a list: {STACK}"
    home = getattr(value_of(called, frame), "__module__", None) or ""
    return f"{function}(): {COMPUTE_BEFORE if home.partition('.')[0] == 'numpy' else NUMPY}"


def _function(expression: ast.Call) -> ast.expr:
    """Return the function of a call; for ``np.vectorize(f)(x)`` it is ``np.vectorize``."""
    called = expression.func
    while isinstance(called, ast.Call):
        called = called.func
    return called


def _is_text(expression: ast.expr | None) -> bool:
    """Return True if an expression is ``"..." % x`` or ``"...".format(x)``."""
    match expression:
        case ast.BinOp(ast.Constant(str()), ast.Mod()):
            return True
        case ast.Call(ast.Attribute(_, "format")) | ast.JoinedStr() | ast.FormattedValue():
            return True
    return False


def _indexed(expression: ast.Subscript, frame: Any) -> str:
    """Describe the index into a list, tuple or array, and what to write instead, or return ''."""
    value = value_of(expression.value, frame)
    if isinstance(expression.value, ast.List | ast.Tuple) or isinstance(value, list | tuple):
        what, place = "a list", "a place that is computed"
    elif isinstance(expression.value, ast.Call) or isinstance(value, np.ndarray):
        what = "an array" if isinstance(value, np.ndarray) else "a list or an array"
        place = "places that are computed"
    else:
        return ""
    text = ast.unparse(expression)
    if ":" in text:
        return f"{what} at places that are computed: {COMPUTE_BEFORE}"
    table, index = ast.unparse(expression.value), ast.unparse(expression.slice)
    make = "np.stack" if _holds_arrays(expression.value, value) else "tm.constant"
    return f"{text}, {what} at {place}: write {make}({table})[{index}]"


def _holds_arrays(expression: ast.expr, value: Any) -> bool:
    """Return True if a list or tuple may contain arrays or tensors."""
    if isinstance(expression, ast.List | ast.Tuple):
        return not all(isinstance(x, ast.Constant | ast.UnaryOp) for x in expression.elts)
    parts = value if isinstance(value, list | tuple) else ()
    return any(isinstance(x, np.ndarray | Traced) for x in parts)


def is_raised_by_the_user(error: BaseException) -> bool:
    """Return True if user code raises an error by ``raise`` or ``assert``."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or origin_of(traceback.tb_frame.f_code.co_filename) != "":
        return False
    return raises(traceback)


def raises(traceback: Any) -> bool:
    """Return True if the frame of a traceback raises the error itself, by ``raise`` or ``assert``."""
    operation = traceback.tb_frame.f_code.co_code[traceback.tb_lasti]
    # The end of an `except` or `finally` block raises the error again by RERAISE.
    return dis.opname[operation] in {"RAISE_VARARGS", "RERAISE"}


def way_of_error(traceback: Any) -> tuple[str, Site | None]:
    """Describe the user call that raised an error in a trace, with its line and what to write instead."""
    user_traceback = None
    while traceback is not None:
        if origin_of(traceback.tb_frame.f_code.co_filename) == "":
            user_traceback = traceback
        traceback = traceback.tb_next
    if user_traceback is None:
        return f"{OF_ARRAYS}: {COMPUTE_BEFORE}", None
    site = Site(user_traceback.tb_frame.f_code.co_filename, user_traceback.tb_lineno)
    called = running(user_traceback.tb_frame, user_traceback.tb_lasti)[1]
    if not isinstance(called, ast.Call):
        return f"{OF_ARRAYS}: {COMPUTE_BEFORE}", site
    return called_with(called, user_traceback.tb_frame), site


def reads_an_attribute(frame: Any) -> bool:
    """Return True if the line of user code itself reads an attribute, rather than NumPy inside a call."""
    if origin_of(frame.f_code.co_filename) != "":
        return False
    operation, expression = running(frame)
    if isinstance(expression, ast.Call):
        return isinstance(expression.func, ast.Name) and expression.func.id in READING
    return "ATTR" in operation or "METHOD" in operation


def running(frame: Any, last_instruction: int | None = None) -> tuple[str, ast.expr | None]:
    """Return the name of the instruction that a frame runs, and its expression, or None without source.

    - `last_instruction`: The offset at which an error left the frame, instead of the current one.
    """
    code = frame.f_code
    last_instruction = frame.f_lasti if last_instruction is None else last_instruction
    # Instructions are units of two bytes, and co_positions has an item for each.
    place = last_instruction // 2
    operation = dis.opname[code.co_code[last_instruction]]
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
        # In brackets, because an expression may continue on the next line.
        return operation, ast.parse(b"(" + b"".join(text) + b")", mode="eval").body
    except SyntaxError:
        return operation, None


def _is_of_math(function: ast.expr, frame: Any) -> bool:
    """Return True if a function belongs to the module math or cmath."""
    match function:
        case ast.Attribute(ast.Name(module)):
            return getattr(_value(module, frame), "__name__", "") in MATH
        case ast.Name(name):
            return getattr(_value(name, frame), "__module__", "") in MATH
    return False


def _is_list(argument: ast.expr, frame: Any) -> bool:
    """Return True if an argument is a list or tuple."""
    if isinstance(argument, ast.Name):
        return isinstance(_value(argument.id, frame), list | tuple)
    return isinstance(argument, ast.List | ast.Tuple | ast.ListComp)


def value_of(expression: ast.expr, frame: Any) -> Any:
    """Return the value of a constant, a name or an attribute, or None for any other expression."""
    match expression:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return _value(name, frame)
        case ast.Attribute(owner, name):
            return getattr(value_of(owner, frame), name, None)
    return None


def _value(name: str, frame: Any) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))
