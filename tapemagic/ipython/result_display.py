"""Display results of magics that the notebook would drop, and replace reports of a cell that runs again."""

from __future__ import annotations

import dis
import sys
from types import FrameType
from typing import Any, TypeVar

from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from tapemagic.engine.events import origin_of
from tapemagic.report.bundle import TapeReport

T = TypeVar("T")

TIMED = "<magic-timeit>"
"""File name of code that %timeit and %%timeit run: displaying there would show thousands of results."""


def display_result(result: T, line: str, shell: InteractiveShell) -> T | None:
    """Return the result of a line magic, or display it and return None for results that the notebook would drop.

    A notebook shows only the value of a cell's last line. The result of a magic that is a statement on another line, in
    a loop or in a function is displayed here, unless a semicolon follows it.
    """
    # The user asked for no output at all.
    if DisplayHook.semicolon_at_end_of_expression(line) or shell.ast_node_interactivity == "none":
        return result
    caller = user_frame()
    if caller is None or caller.f_code.co_filename == TIMED or not _drops_value(caller):
        return result
    display(result)
    return None


def user_frame() -> FrameType | None:
    """Return the innermost user frame."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and origin_of(frame.f_code.co_filename) != "":
        frame = frame.f_back
    return frame


def _drops_value(frame: FrameType) -> bool:
    """Return True if a frame discards the value of its current call, because the call is a whole statement."""
    steps = dis.get_instructions(frame.f_code)
    # A bare statement compiles to the call followed by POP_TOP; anything else uses the value.
    following = next((step for step in steps if step.offset > frame.f_lasti), None)
    return following is not None and following.opname == "POP_TOP"


class ShownReports:
    """Keeps the reports of each cell, to close those of its last run when it runs again."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._of_cell: dict[str, tuple[object, list[TapeReport]]] = {}

    def begin(self, text: str) -> list[TapeReport]:
        """Start a run of a cell: close the reports of its earlier run and return the list for its new reports.

        - `text`: The text of the cell, which identifies it if the front end sends no cell id.
        """
        # The shell of ipykernel has get_parent, that of a terminal has not; not every front end sends a cellId.
        message: dict[str, Any] = getattr(self._shell, "get_parent", dict)() or {}
        cell = message.get("metadata", {}).get("cellId") or message.get("content", {}).get("code")
        # One cell may make several reports in one run (a loop with %tape): these must stay open together.
        run = message.get("header", {}).get("msg_id") or object()
        key = str(cell or text)
        if key not in self._of_cell or self._of_cell[key][0] != run:
            _, earlier = self._of_cell.get(key, (run, []))
            for report in earlier:
                report.close()
            self._of_cell[key] = run, []
        return self._of_cell[key][1]
