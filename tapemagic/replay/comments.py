"""Comments of a program: the user's statements above the lines that come from them."""

from __future__ import annotations

from typing import Any

from tapemagic.replay.layout import WIDTH
from tapemagic.replay.program import Guard, Node, Program, Site, statement_of

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

    def above(self, node: Node, margin: str) -> list[str]:
        """The lines to write above a node, unless the last comment says the same."""
        key = statement_of(node)
        if key == self.said:
            return []
        place, order = key
        gap = [""] if self.said is not None and order != self.said[1] else []
        self.said = key
        if place is None:
            return gap
        file, line, time = place
        back = f"{ORDERS.get(order, f'derivative of order {order}, ')}back through: "
        return gap + self._comment(back if order else "", Site(file, line, 0, time), margin)

    def above_guard(self, guard: Guard, margin: str) -> list[str]:
        """The lines to write above a guard: the statement that branched, and which way the program is."""
        site = guard.site
        if site is None:
            return []
        self.said = (site.file, site.line, site.time), 0
        text = self._statements.get((site.file, site.line), "")
        return self._comment("", site, margin, _way(text, guard.expected))

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

    def above(self, node: Node, margin: str) -> list[str]:  # noqa: ARG002 (as of `Comments`)
        """Nothing stands above a node."""
        self._last = node
        return []

    def above_guard(self, guard: Guard, margin: str) -> list[str]:  # noqa: ARG002 (as of `Comments`)
        """Nothing stands above a guard."""
        if guard.site is not None:
            self.said = (guard.site.file, guard.site.line, guard.site.time), 0
        return []


def _way(statement: str, expected: bool) -> str:
    """A remark on a condition: it is that of a statement, or a part of it, or a check of a function's."""
    words = statement.split()
    whole = words[:1] and words[0] in {"if", "elif", "while", "assert"}
    what = "" if whole else "a check that is "
    if {"and", "or", "not", "if"} & set(words[1:]):
        what = "a part of it is "
    return f"{what}{str(expected).lower()} in this program"
