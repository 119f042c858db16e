"""Gather NumPy's floating-point warnings of a cell with their lines."""

from __future__ import annotations

import re
import sys
import warnings
from types import FrameType
from typing import Any, Self

from tapemagic.engine.events import Place, origin_of
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.explain.formatting import format_value
from tapemagic.ipython.watchable import is_number
from tapemagic.report.verdict.numeric_warning import NumericWarning
from tapemagic.report.verdict.source_operands import operands_on

MESSAGE = re.compile(r"(divide by zero|overflow|underflow|invalid value) encountered in (.+)")

GRADIENT_METHODS = {"gradient", "jacobian", "batch_jacobian"}
WARNINGS_MODULES = {"warnings", "_py_warnings"}
"""Names of the module `warnings` (Python 3.14 moved its code to ``_py_warnings``)."""


class Unused(RuntimeWarning):
    """Category that no warning has: adding a filter for it makes Python forget which warnings it has shown."""


RESET_FILTER = "default", None, Unused, None, 0
"""A filter for `Unused`, in the form in which `warnings` stores it."""


class FloatingPointWarnings:
    """Collects NumPy's floating-point warnings of a cell, once per line and kind.

    - `filename`: The file name in the code objects of the cell.

    - `gathered`: Dict of (int, str) to NumericWarning. By line and kind.

    The program's filters still decide whether a warning is an error, ignored or shown; only shown warnings are
    gathered. Warnings of other threads, and those that NumPy did not raise, are shown unchanged.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self.gathered: dict[tuple[int, str], NumericWarning] = {}
        # showwarning, not warnings.catch_warnings: that would also undo the filters which the cell sets.
        self._before: Any = warnings.showwarning
        self._own: Any = self._before
        self._is_running = False

    def __enter__(self) -> Self:
        self._before = warnings.showwarning
        self._is_running = True
        self._own = self._show
        warnings.showwarning = self._own
        forget_shown_warnings()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_running = False
        # The cell may have installed its own function meanwhile; then that one stays.
        if warnings.showwarning is self._own:
            warnings.showwarning = self._before
        self._own = self._before

    def _show(self, message: Any, category: Any, filename: str, lineno: int, *rest: Any) -> None:
        """Gather a warning, or show it as the program would."""
        # A function that the program itself installed sees every warning.
        own = getattr(self._before, "__module__", "") not in WARNINGS_MODULES
        gathered = self._is_running and self._gather(sys._getframe(1), message, category, lineno)
        if own or not gathered:
            self._before(message, category, filename, lineno, *rest)

    def _gather(self, frame: FrameType | None, message: Any, category: Any, lineno: int) -> bool:
        """Gather a warning of NumPy about this cell; return False for any other warning."""
        match = MESSAGE.fullmatch(str(message))
        if match is None or not issubclass(category, RuntimeWarning):
            return False
        # Past the frames of `warnings` itself, to the code that warned.
        while frame is not None and frame.f_globals.get("__name__") in WARNINGS_MODULES:
            frame = frame.f_back
        user, cell = self._frames(frame)
        if frame is None or user is None or cell is None:
            return False
        # Python shows a warning once per line of the module that warns: of NumPy's own code, here. Remove its note,
        # because another line of the cell may cause the same warning.
        shown = frame.f_globals.get("__warningregistry__", {})
        shown.pop((str(message), category, lineno), None)
        # NumPy writes "scalar add" for NumPy scalars and "add" for arrays.
        kind, operation = match[1], match[2].removeprefix("scalar ")
        key = cell.f_lineno, f"{kind} {operation}"
        if key not in self.gathered:
            function = user.f_code.co_name if user is not cell else ""
            self.gathered[key] = NumericWarning(
                kind,
                operation,
                cell.f_lineno,
                "" if function.startswith("<") else function,
                _values(operation, user),
                _takes_gradient(frame, user),
            )
        return True

    def _frames(self, frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
        """Return the innermost user frame, and the innermost frame of the cell."""
        user = None
        while frame is not None:
            if user is None and origin_of(frame.f_code.co_filename) == "":
                user = frame
            if frame.f_code.co_filename == self._filename:
                return user, frame
            frame = frame.f_back
        return user, None


def forget_shown_warnings() -> None:
    """Make Python show warnings again that it has shown before, as any new filter does."""
    # filterwarnings raises the version of the filters, which invalidates the registry of shown warnings in every
    # module; changing the list alone would not.
    warnings.filterwarnings("default", category=Unused, append=True)
    if RESET_FILTER in warnings.filters:
        warnings.filters.remove(RESET_FILTER)  # type: ignore[attr-defined]


def _takes_gradient(frame: FrameType | None, user: FrameType) -> bool:
    """Return True if user code was computing a gradient."""
    while frame is not None and frame is not user:
        if frame.f_code.co_name in GRADIENT_METHODS and origin_of(frame.f_code.co_filename) is None:
            return True
        frame = frame.f_back
    return False


def _values(operation: str, user: FrameType) -> str:
    """Format the values of an operation's operands that are names on the line of a frame."""
    place = Place(user.f_code.co_filename, user.f_lineno, "")
    names = {**user.f_globals, **user.f_locals}
    operands = {name: names.get(name) for name in operands_on(place, operation)}
    plain = {name: unwrap(x) if isinstance(x, Traced) else x for name, x in operands.items()}
    return " and ".join(f"{name} is {format_value(x)}" for name, x in plain.items() if is_number(x))
