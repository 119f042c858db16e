"""Comments of a program: above a group of lines, the statement of user code that they compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.program import Guard, Node, Program, Site, statement_of
from tapemagic.programs.text.formatting import WIDTH

ALLOCATIONS = frozenset({np.empty, np.empty_like, list})
"""Functions that allocate the arrays and lists that a loop writes into."""

ORDERS = {1: "", 2: "second derivative, ", 3: "third derivative, "}


class Comments:
    """The comments above the lines of a program.

    - `statement`: The statement in the last comment, in the form of `statement_of`. If it is None, the next line gets a
      comment.
    """

    def __init__(self, program: Program) -> None:
        self.statement: Any = None
        self._statements: dict[Any, str] = program.notes.get("statements", {})
        self._times: dict[Any, int] = program.notes.get("times", {})

    def above(self, node: Node, margin: str, line: str = "") -> list[str]:
        """Return the comment above a node's line: no lines if the last comment or the line itself says the same."""
        key = statement_of(node)
        if key == self.statement or node.function in ALLOCATIONS:
            return []
        place, order = key
        gap = [""] if self.statement is not None and order != self.statement[1] else []
        self.statement = key
        if place is None:
            return gap
        file, number, time = place
        # A line of a custom gradient is the statement itself, although the sweep computes it.
        own = node.back is not None and node.back.own
        comment = self._comment("" if own else _back(order), Site(file, number, 0, time), margin)
        says_it = comment == [f"{margin}# {self._spaced(file, number, line)}"]
        return gap if says_it else gap + comment

    def above_guard(self, guard: Guard, margin: str) -> list[str]:
        """Return the comment above a guard: the statement that branched, and its value in this program."""
        before, self.statement = self.statement, statement_of_guard(guard)
        place, order = self.statement
        if place is None:
            return []
        site = Site(place[0], place[1], 0, place[2])
        gap = [""] if before is not None and order != before[1] else []
        text = self._statements.get((site.file, site.line), "")
        return gap + self._comment(_back(order), site, margin, _remark(text, guard.expected, order))

    def _spaced(self, file: str, number: int, line: str) -> str:
        """Return the user's statement if a line of the program differs from it only in blanks, else ''."""
        text = self._statements.get((file, number), "")
        return text if text.replace(" ", "") == line.replace(" ", "") else ""

    def _comment(self, before: str, site: Site, margin: str, after: str = "") -> list[str]:
        """Return a comment with the user's statement, its run ("2 of 3"), and text before and after the statement."""
        text = self._statements.get((site.file, site.line), "")
        if not text:
            return []
        times = self._times.get((site.file, site.line), 1)
        notes = [f"{site.time} of {times}"] * (times > 1) + [after] * bool(after)
        end = f" ({', '.join(notes)})" if notes else ""
        room = WIDTH - len(margin) - len(before) - len(end) - 2
        if len(text) > room:
            text = f"{text[: room - 4].rstrip()} ..."
        return [f"{margin}# {before}{text}{end}"]


class NoComments:
    """Replacement for `Comments` in the program that runs, which has no comments."""

    # `above` is called for every node. The statement of a node is only computed when `statement` is read.

    def __init__(self) -> None:
        self._statement: Any = None
        self._last: Node | None = None

    @property
    def statement(self) -> Any:
        """The statement of the last node, in the form of `statement_of`."""
        if self._last is not None:
            self._statement, self._last = statement_of(self._last), None
        return self._statement

    @statement.setter
    def statement(self, statement: Any) -> None:
        self._statement, self._last = statement, None

    def above(self, node: Node, margin: str, line: str = "") -> list[str]:  # noqa: ARG002 (the signature of `Comments`)
        """Return no comment for a node."""
        self._last = node
        return []

    def above_guard(self, guard: Guard, margin: str) -> list[str]:  # noqa: ARG002 (the signature of `Comments`)
        """Return no comment for a guard."""
        self.statement = statement_of_guard(guard)
        return []


def _back(order: int) -> str:
    """Return the words before a statement whose derivative follows, or '' for the statement itself."""
    return f"{ORDERS.get(order, f'derivative of order {order}, ')}back through: " if order else ""


def statement_of_guard(guard: Guard) -> tuple[tuple[str, int, int] | None, int]:
    """Return the user's statement that branched, or whose derivative did, in the form of `statement_of`."""
    site = guard.site
    if guard.condition.back is not None:
        return statement_of(guard.condition)
    return None if site is None else (site.file, site.line, site.time), 0


def _remark(statement: str, expected: bool, order: int) -> str:
    """Return a remark on a condition: the condition of a statement, a part of it, or a check inside a function."""
    words = statement.split()
    is_condition = not order and words[:1] and words[0] in {"if", "elif", "while", "assert"}
    what = "" if is_condition else "a check that is "
    if not order and {"and", "or", "not", "if"} & set(words[1:]):
        what = "a part of it is "
    return f"{what}{str(expected).lower()} in this program"
