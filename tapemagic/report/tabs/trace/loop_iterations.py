"""Turns: the iterations of a folded loop, or blocks of them, as steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent
from tapemagic.explain.formatting import format_lines, format_number
from tapemagic.explain.lazy_values import is_pending
from tapemagic.report.folding import Block, Part
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.graph.boxes import Development, size_of
from tapemagic.report.tabs.graph.view import Fold
from tapemagic.report.tabs.trace.layout import positions_of
from tapemagic.report.tabs.trace.notation import bar, symbol_of
from tapemagic.report.tabs.trace.symbols import brief, several, text_of

MOST = 100
"""The largest number of steps through one loop, each way."""


@dataclass(frozen=True)
class Turn:
    """Iterations that are one step.

    Attributes
    ----------
    which : str
        The iterations in words.
    first, last : int
        The first iteration, and the last one, counted from 0 in the fold.
    positions : sequence of int
        Those of their operations.
    lines : (int, int) or None
    """

    which: str
    first: int
    last: int
    positions: Sequence[int]
    lines: tuple[int, int] | None


@dataclass
class Turns:
    """The steps through the iterations of a folded loop.

    Parameters
    ----------
    subject : Subject
    fold : Fold
    developments : sequence of Development
        The values that the loop carries.
    most : int
        The largest number of steps.
    """

    subject: Subject
    fold: Fold
    developments: Sequence[Development]
    most: int

    @cached_property
    def all(self) -> list[Turn]:
        """The steps, in the order of the tape."""
        count = len(self.fold.parts)
        size = -(-count // max(1, min(self.most, MOST)))
        return [self._turn(k, min(k + size, count) - 1) for k in range(0, count, size)]

    def _turn(self, first: int, last: int) -> Turn:
        fold = self.fold
        parts = fold.parts[first : last + 1]
        one, many = fold.first + first, fold.first + last
        which = f"iteration {one:,}" if first == last else f"iterations {one:,}–{many:,}"
        return Turn(
            f"{which} of {fold.total:,}",
            first,
            last,
            list(positions_of(parts)),
            _lines(parts) or fold.lines,
        )

    def words(self, turn: Turn) -> str:
        """The beginning of the sentence of a step forward."""
        return f"{format_lines(self.fold.lines)}, {turn.which}"

    def joint(self, turn: Turn) -> str:
        """The words between that beginning and the values, which are those in the last iteration."""
        last = f"in iteration {self.fold.first + turn.last:,} "
        return ": " if turn.first == turn.last else f": {last}"

    def words_back(self, turn: Turn, inside: Sequence[str]) -> str:
        """The beginning of the sentence of a step in reverse, with the gradients in its first iteration."""
        words = f"{format_lines(self.fold.lines)}, back through {turn.which}"
        number = f"iteration {self.fold.first + turn.first:,}"
        where = "in it" if turn.first == turn.last else f"in {number}"
        return f"{words}: {where} {', '.join(inside)}" if inside else words

    def values(self, turn: Turn) -> list[str]:
        """The values that the last iteration of a step carries, as equations; its last result if none is known."""
        found = []
        for one in self.developments:
            i, value = one.ids[turn.last], one.values[turn.last]
            if i is not None:
                found.append(self._said(self._symbol(one.name, i), value))
        found = list(filter(None, found))
        if found:
            return found
        record = self.subject.records[turn.positions[-1]]
        symbol = self._symbol("", several(record.output_id)[-1])
        return list(filter(None, [self._said(symbol, several(record.output)[-1])]))

    def gradients(self, turn: Turn) -> list[str]:
        """The gradients of what is carried in the first iteration of a step, as equations."""
        found = []
        for one in self.developments:
            i = one.ids[turn.first]
            if i is not None and i in self.subject.adjoints:
                symbol = bar(symbol_of(self._symbol(one.name, i))).text
                found.append(self._said(symbol, self.subject.adjoints[i]))
        return list(filter(None, found))

    def _said(self, symbol: str, value: Any) -> str:
        """A short value as an equation, or else the norm of an array; empty if it is not known."""
        if value is None or is_pending(value) or isinstance(value, Absent):
            return ""
        if short := brief(value) or ("" if np.shape(value) else text_of(value)):
            return f"{symbol} = {short}"
        if isinstance(value, Summary) and value.norm is None:
            return ""
        return f"norm of {symbol} = {format_number(size_of(self.subject.norms, value))}"

    def _symbol(self, name: str, i: int) -> str:
        return symbol_of(name or self.subject.symbols.get(i, "?")).text


def _lines(parts: Sequence[Part]) -> tuple[int, int] | None:
    """The lines of some iterations."""
    known = [part.lines for part in parts if isinstance(part, Block) and part.lines]
    return (min(a for a, _ in known), max(b for _, b in known)) if known else None
