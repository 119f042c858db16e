"""Read where a cell failed: the line, its names and its operands."""

from __future__ import annotations

import ast
import builtins
from collections import ChainMap
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from tapemagic.engine.events import CELL_FILE, Place, origin_of
from tapemagic.engine.tracebacks import is_user, walk
from tapemagic.explain.formatting import printable
from tapemagic.ipython.none_gradient import why_none_at
from tapemagic.ipython.session import Session
from tapemagic.report.failure.find_failure import Failure, StopSite, failure_of, message_of

COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


def read_failure(error: BaseException, session: Session) -> Failure:
    """Describe the line at which a cell stopped, with the shapes of its operands and what does not fit."""
    try:
        return failure_of(_stop(error, session))
    except Exception:  # noqa: BLE001 -- user objects may do anything: then only the error itself is described
        line = _line_in(error.__traceback__, session.cell.filename)
        return Failure(line, type(error).__name__, printable(message_of(error).partition("\n")[0]))


def _line_in(trace: TracebackType | None, filename: str) -> int | None:
    """Return the top-level line of the cell that failed, or that called the failing code."""
    lines = [t.tb_lineno for t in walk(trace) if t.tb_frame.f_code.co_filename == filename]
    return lines[0] if lines else None


def _stop(error: BaseException, session: Session) -> StopSite:
    """Find the innermost user line that failed, with its names."""
    filename = session.cell.filename
    own = [part for part in walk(error.__traceback__) if is_user(part)]
    if not own:
        return StopSite(error)
    trace = own[-1]
    frame, code = trace.tb_frame, trace.tb_frame.f_code
    place = Place(code.co_filename, trace.tb_lineno, "")
    # In the order in which Python looks names up; a copy of the locals, because f_locals may be a live view (PEP 667).
    names = ChainMap(dict(frame.f_locals), frame.f_globals, vars(builtins))
    # co_positions has an entry for every two bytes of code.
    span = next(islice(code.co_positions(), trace.tb_lasti // 2, None), None)
    called = trace.tb_next.tb_frame if trace.tb_next else None

    def why_none(node: ast.expr) -> str:
        return why_none_at(place, node, names, session)

    return StopSite(
        error,
        _line_in(error.__traceback__, filename),
        place,
        span if span and None not in span else None,  # type: ignore[arg-type]
        names,
        _where(frame, filename),
        _arguments(called) if called else (),
        code.co_name in COMPREHENSIONS,
        why_none,
    )


def _where(frame: FrameType, filename: str) -> str:
    """Describe where a line is, if not at the top level of the cell: "in f", "of helpers.py"."""
    code = frame.f_code
    # The qualified name of a nested function is "f.<locals>.g", where only f is a name that you can find.
    name = code.co_qualname.partition(".<locals>")[0]
    function = f"in {name}" if name.isidentifier() or name.replace(".", "").isidentifier() else ""
    if code.co_filename == filename:
        return function
    if CELL_FILE.search(code.co_filename) or code.co_filename.startswith("<"):
        return f"of the cell that defines {name}" if function else "of another cell"
    return f"of {Path(code.co_filename).name}{', ' * bool(function)}{function}"


def _arguments(called: FrameType) -> Sequence[Any]:
    """Return the arguments of the failing tapemagic operation, in the order of the expression."""
    code, values = called.f_code, called.f_locals
    if origin_of(code.co_filename) is not None:
        return ()
    match code.co_name:
        # By the names of the engine's functions and of their parameters: rename both together.
        case "_array_ufunc" if values.get("method") == "__call__":
            return tuple(values["inputs"])
        case "_array_function":
            return tuple(values["args"])
        case "forward" | "_item":
            operands = [values[name] for name in code.co_varnames[: code.co_argcount]]
            # Python calls y.__radd__(x) for x + y, so the operands arrive in reverse.
            return operands[::-1] if "reflected" in code.co_qualname else operands
    return ()
