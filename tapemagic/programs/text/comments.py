"""Comments of a program: the user's statements above the lines that come from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.program import Guard, Node, Program, Site, statement_of
from tapemagic.programs.text.formatting import WIDTH

ALLOCATIONS = frozenset({np.empty, np.empty_like, list})
"""Functions that make what a loop writes into."""

ORDERS = {1: "", 2: "second derivative, ", 3: "third derivative, "}


class Comments:
    """The comments above the lines of a program.

    Attributes
    ----------
    said : object
        What the last comment says, in the form of `statement_of`; None if the next line needs one in any case.
    """

    def __init__(self, program: Program) -> None:
        self.said: Any = None
        self._statements: dict[Any, str] = program.notes.get("statements", {})
        self._times: dict[Any, int] = program.notes.get("times", {})

    def above(self, node: Node, margin: str, line: str = "") -> list[str]:
        """The lines to write above a node's line, unless the last comment, or the line itself, says the same."""
        key = statement_of(node)
        if key == self.said or node.function in ALLOCATIONS:
            return []
        place, order = key
        gap = [""] if self.said is not None and order != self.said[1] else []
        self.said = key
        if place is None:
            return gap
        file, number, time = place
        own = node.back is not None and node.back.own
        comment = self._comment("" if own else _back(order), Site(file, number, 0, time), margin)
        says_it = comment == [f"{margin}# {self._spaced(file, number, line)}"]
        return gap if says_it else gap + comment

    def above_guard(self, guard: Guard, margin: str) -> list[str]:
        """The lines to write above a guard: the statement that branched, and which way the program is."""
        before, self.said = self.said, statement_of_guard(guard)
        place, order = self.said
        if place is None:
            return []
        site = Site(place[0], place[1], 0, place[2])
        gap = [""] if before is not None and order != before[1] else []
        text = self._statements.get((site.file, site.line), "")
        return gap + self._comment(_back(order), site, margin, _way(text, guard.expected, order))

    def _spaced(self, file: str, number: int, line: str) -> str:
        """A line of the program with the blanks of the user's statement, if there is no other difference."""
        text = self._statements.get((file, number), "")
        return text if text.replace(" ", "") == line.replace(" ", "") else ""

    def _comment(self, before: str, site: Site, margin: str, after: str = "") -> list[str]:
        """The user's statement, which time of several it is, and something before and after it."""
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
    """Stands for the comments of a program where these are not written."""

    def __init__(self) -> None:
        self._said: Any = None
        self._last: Node | None = None

    @property
    def said(self) -> Any:
        """The statement of the last node, in the form of `statement_of`."""
        if self._last is not None:
            self._said, self._last = statement_of(self._last), None
        return self._said

    @said.setter
    def said(self, said: Any) -> None:
        self._said, self._last = said, None

    def above(self, node: Node, margin: str, line: str = "") -> list[str]:  # noqa: ARG002 (as of `Comments`)
        """Nothing stands above a node."""
        self._last = node
        return []

    def above_guard(self, guard: Guard, margin: str) -> list[str]:  # noqa: ARG002 (as of `Comments`)
        """Nothing stands above a guard."""
        self.said = statement_of_guard(guard)
        return []


def _back(order: int) -> str:
    """The words before a statement whose derivative follows; none for the statement itself."""
    return f"{ORDERS.get(order, f'derivative of order {order}, ')}back through: " if order else ""


def statement_of_guard(guard: Guard) -> tuple[tuple[str, int, int] | None, int]:
    """The user's statement that branched, or whose derivative did, in the form of `statement_of`."""
    site = guard.site
    if guard.condition.back is not None:
        return statement_of(guard.condition)
    return None if site is None else (site.file, site.line, site.time), 0


def _way(statement: str, expected: bool, order: int) -> str:
    """A remark on a condition: it is that of a statement, or a part of it, or a check of a function's."""
    words = statement.split()
    whole = not order and words[:1] and words[0] in {"if", "elif", "while", "assert"}
    what = "" if whole else "a check that is "
    if not order and {"and", "or", "not", "if"} & set(words[1:]):
        what = "a part of it is "
    return f"{what}{str(expected).lower()} in this program"
