"""Showing of the results of magics: those that the notebook would drop, and those of a cell that runs again."""

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
"""The file name of what %timeit and %%timeit run, again and again."""


def shown(result: T, line: str, shell: InteractiveShell) -> T | None:
    """The result of a line magic; if the notebook would drop it, display it, and return None.

    A notebook shows the value of the last line of a cell alone. The result of a magic that stands alone on another
    line, in a loop or in a function is displayed here, unless there is a semicolon behind it.
    """
    if DisplayHook.semicolon_at_end_of_expression(line) or shell.ast_node_interactivity == "none":
        return result
    caller = _user_frame()
    if caller is None or caller.f_code.co_filename == TIMED or not _drops_value(caller):
        return result
    display(result)
    return None


def _user_frame() -> FrameType | None:
    """The innermost frame of the user's program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and origin_of(frame.f_code.co_filename) != "":
        frame = frame.f_back
    return frame


def _drops_value(frame: FrameType) -> bool:
    """Whether a frame drops the value of the call that it is in, which is a statement of its own."""
    steps = dis.get_instructions(frame.f_code)
    following = next((step for step in steps if step.offset > frame.f_lasti), None)
    return following is not None and following.opname == "POP_TOP"


class ShownReports:
    """The reports of each cell, so that those of its last run are closed when it runs again."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._of_cell: dict[str, tuple[object, list[TapeReport]]] = {}

    def begin(self, text: str) -> list[TapeReport]:
        """The reports of the cell that is running; those of an earlier run are closed.

        Parameters
        ----------
        text : str
            The text of the cell, by which it is known if the front end says nothing of it.
        """
        message: dict[str, Any] = getattr(self._shell, "get_parent", dict)() or {}
        cell = message.get("metadata", {}).get("cellId") or message.get("content", {}).get("code")
        run = message.get("header", {}).get("msg_id") or object()
        key = str(cell or text)
        if key not in self._of_cell or self._of_cell[key][0] != run:
            _, earlier = self._of_cell.get(key, (run, []))
            for report in earlier:
                report.close()
            self._of_cell[key] = run, []
        return self._of_cell[key][1]
