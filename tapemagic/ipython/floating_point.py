"""NumPy's floating-point warnings of a cell, gathered with the lines of the cell."""

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

TAKING = {"gradient", "jacobian", "batch_jacobian"}
STANDARD = {"warnings", "_py_warnings"}
"""The names of Python's own module of warnings."""


class Unused(RuntimeWarning):
    """A category without warnings: a filter for it makes Python forget which warnings it has shown."""


FORGET = "default", None, Unused, None, 0
"""The filter, as `warnings` keeps it."""


class FloatingPointWarnings:
    """NumPy's floating-point warnings of a cell, once for each line and kind.

    Parameters
    ----------
    filename : str
        The file name in the code objects of the cell.

    Attributes
    ----------
    found : dict of (int, str) to NumericWarning
        By line and kind.

    Notes
    -----
    The filters of the program decide, as ever, whether a warning is an error, is ignored or is shown; what would be
    shown is gathered. All others are shown as they are: those of other threads, and those that are not NumPy's.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self.found: dict[tuple[int, str], NumericWarning] = {}
        self._before: Any = warnings.showwarning
        self._own: Any = self._before
        self._is_running = False

    def __enter__(self) -> Self:
        self._before = warnings.showwarning
        self._is_running = True
        self._own = self._show
        warnings.showwarning = self._own
        forget_shown()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_running = False
        if warnings.showwarning is self._own:
            warnings.showwarning = self._before
        self._own = self._before

    def _show(self, message: Any, category: Any, filename: str, lineno: int, *rest: Any) -> None:
        """Gather a warning, or show it as the program does."""
        own = getattr(self._before, "__module__", "") not in STANDARD
        gathered = self._is_running and self._gather(sys._getframe(1), message, category, lineno)
        if own or not gathered:
            self._before(message, category, filename, lineno, *rest)

    def _gather(self, frame: FrameType | None, message: Any, category: Any, lineno: int) -> bool:
        """Gather a warning; False if it is none of NumPy's about this cell."""
        match = MESSAGE.fullmatch(str(message))
        if match is None or not issubclass(category, RuntimeWarning):
            return False
        while frame is not None and frame.f_globals.get("__name__") in STANDARD:
            frame = frame.f_back
        user, cell = self._frames(frame)
        if frame is None or user is None or cell is None:
            return False
        shown = frame.f_globals.get("__warningregistry__", {})
        shown.pop((str(message), category, lineno), None)  # another line may warn of the same
        kind, operation = match[1], match[2].removeprefix("scalar ")
        key = cell.f_lineno, f"{kind} {operation}"
        if key not in self.found:
            function = user.f_code.co_name if user is not cell else ""
            self.found[key] = NumericWarning(
                kind,
                operation,
                cell.f_lineno,
                "" if function.startswith("<") else function,
                _values(operation, user),
                _takes_gradient(frame, user),
            )
        return True

    def _frames(self, frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
        """The innermost frame of the user's program, and the innermost one of the cell."""
        user = None
        while frame is not None:
            if user is None and origin_of(frame.f_code.co_filename) == "":
                user = frame
            if frame.f_code.co_filename == self._filename:
                return user, frame
            frame = frame.f_back
        return user, None


def forget_shown() -> None:
    """Make Python show warnings anew that it has shown before, as a new filter does."""
    warnings.filterwarnings("default", category=Unused, append=True)
    if FORGET in warnings.filters:
        warnings.filters.remove(FORGET)  # type: ignore[attr-defined]


def _takes_gradient(frame: FrameType | None, user: FrameType) -> bool:
    """Whether a line of the program was taking a gradient."""
    while frame is not None and frame is not user:
        if frame.f_code.co_name in TAKING and origin_of(frame.f_code.co_filename) is None:
            return True
        frame = frame.f_back
    return False


def _values(operation: str, user: FrameType) -> str:
    """The operands of an operation that are names on the line of a frame, with their values."""
    place = Place(user.f_code.co_filename, user.f_lineno, "")
    names = {**user.f_globals, **user.f_locals}
    held = {name: names.get(name) for name in operands_on(place, operation)}
    plain = {name: unwrap(x) if isinstance(x, Traced) else x for name, x in held.items()}
    return " and ".join(f"{name} is {format_value(x)}" for name, x in plain.items() if is_number(x))
