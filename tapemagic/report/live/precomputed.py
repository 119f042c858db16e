"""Precomputed answers, for a page without a kernel: as many as have room."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from tapemagic.report.live.answers import Answers
from tapemagic.report.live.packing import packed, unpacked
from tapemagic.report.tabs.graph.live_graph import View
from tapemagic.report.tabs.graph.show_graph import counted

MAX_VIEWS = 60
"""The most layouts of the graph that are made in advance."""
# In November 2026, a layout took 10 to 15 ms, most of it for Graphviz, and 4 ms more for each 1,000 operations.
LAYOUT = 2_000
"""The work for one layout, in operations of the recording that could be read in this time."""
MAX_WORK = 120_000
"""The work after which no further layout is made: about a second's."""


@dataclass
class Precomputed:
    """The answers to the questions that a reader may ask first.

    - `room`: The most bytes of all answers.

    - `packed`: The answers, by the questions.
    - `left_out`: Descriptions of the omitted parts.
    """

    answers: Answers
    room: int
    packed: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def add_cached(self, cached: Mapping[str, str]) -> None:
        """Add answers from the widget's cache, except for errors."""
        for question, text in cached.items():
            if not _is_error(unpacked(text)):
                self._add(question, text)

    def add_all(self, view: View) -> None:
        """Add what can be asked about a layout: values in full, what opens and closes in it, the check of gradients."""
        keys = [value["key"] for value in view["values"] if value["key"]]
        # Half of the room is for values in full, the other half for layouts.
        missing = self._add_values(keys, self.room // 2)
        if missing:
            self.left_out.append(f"{missing:,} of {len(keys):,} values in full")
        if self._add_answer("check") is None and self.answers.findings.derivatives:
            self.left_out.append("the check by finite differences")
        inside: list[str] = []
        opened, choices = 0, sum(part.choices for part in parts_of(view))
        # A reader waits for the page meanwhile. It counts work, not seconds, so that a page has the same contents on
        # every machine.
        most = max(1, MAX_WORK // (LAYOUT + self.answers.operations))
        for key, number in islice(openings(view), min(MAX_VIEWS, most)):
            answer = self._add_answer(f"view:{json.dumps({key: number}, separators=(',', ':'))}")
            if answer is None:
                break
            opened += 1
            inside += [value["key"] for value in answer.get("values", ()) if value["key"]]
        if opened < choices:
            self.left_out.append(
                f"{choices - opened:,} of {choices:,} ways to open or close a part"
            )
        self._add_values([key for key in dict.fromkeys(inside) if key not in keys], self.room)

    def _add_values(self, keys: list[str], room: int) -> int:
        """Add values in full until `room` is used; return the number of values that are missing."""
        start = self.room
        try:
            answers = self.answers.values(keys)
        except Exception:  # noqa: BLE001 -- the page does without, and says so
            return len(keys)
        return sum(
            not (start - self.room < room and self._add(f"value:{key}", packed(html)))
            for key, html in answers.items()
        )

    def _add_answer(self, question: str) -> Any:
        """Add and return the answer to a question, or None for an error or a lack of room."""
        if question in self.packed:
            # Not None, which would tell the caller that there is no more room.
            return {}
        answer = self.answers.answer(question)
        if _is_error(answer) or not self._add(question, packed(answer)):
            return None
        return answer

    def _add(self, question: str, text: str) -> bool:
        # 8 for the quotation marks of both, a colon, a comma and two spaces, as json.dumps writes them.
        size = len(question) + len(text) + 8
        if size > self.room:
            return False
        if question not in self.packed:
            self.packed[question] = text
            self.room -= size
        return True


def _is_error(answer: Any) -> bool:
    return isinstance(answer, dict) and "error" in answer


class Part(NamedTuple):
    """A part of a layout that can be opened or closed.

    - `near`: The numbers that a reader is likely to choose first.
    - `iterations`: The number of iterations of a loop.
    - `shown`: The iteration that is open.
    """

    key: str
    near: tuple[int, ...]
    iterations: int = 0
    shown: int | None = None

    @property
    def choices(self) -> int:
        """The number of ways to open or close this part."""
        if not self.iterations:
            return len(self.near)
        return self.iterations + (0 in self.near) - (self.shown is not None)

    def numbers(self) -> Iterator[int]:
        """The numbers for it: the near ones, then the first and last iterations alternately."""
        seen = {self.shown}
        total = self.iterations
        ends = (
            k for pair in zip(range(1, total + 1), range(total, 0, -1), strict=True) for k in pair
        )
        for number in chain(self.near, ends):
            if number not in seen:
                seen.add(number)
                yield number


def parts_of(view: View) -> list[Part]:
    """The parts of a layout that can be opened or closed."""
    parts: dict[str, Part] = {}
    for frame in view["frames"]:
        shown, total = frame["iteration"] or (None, 0)
        near = (
            (0,) if shown is None else (0, *(k for k in (shown - 1, shown + 1) if 1 <= k <= total))
        )
        if frame["fold"]:
            parts.setdefault(frame["fold"], Part(frame["fold"], near, total, shown))
    for operation in view["operations"]:
        first, _, total = operation["iterations"] or (1, 1, 0)
        part = parts.get(operation["fold"], Part(operation["fold"], (), total))
        if part.key:
            parts[part.key] = part._replace(near=(first, *part.near))
    return list(parts.values())


def openings(view: View) -> Iterator[tuple[str, int]]:
    """The ways to open or close one part of a layout, each a key and a number: the nearest of each part first."""
    parts = parts_of(view)
    for row in zip_longest(*(part.numbers() for part in parts)):
        yield from ((part.key, n) for part, n in zip(parts, row, strict=True) if n is not None)


def left_out_words(left_out: list[str], folded: int) -> str:
    """Return a paragraph on what a page omits, or '' if it has every answer.

    Examples
    --------
    >>> left_out_words(["3 of 9 values in full"], 0)
    'Omitted to keep this page small and quick to make: 3 of 9 values in full.'
    """
    words = [f"Omitted to keep this page small and quick to make: {', '.join(left_out)}."] * bool(
        left_out
    )
    if folded:
        words.append(
            f"{counted(folded).capitalize()} are folded at first, and open one level deep on this page. To open more, "
            "run the cell in a notebook."
        )
    return " ".join(words)
