"""The walk through a drawn graph and its trace: what the ways forward and in reverse have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tapemagic.explain.formatting import without_subscript
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.graph.graph import Value
from tapemagic.report.tabs.graph.view import Fold
from tapemagic.report.tabs.lines.find import assigned_ids
from tapemagic.report.tabs.trace.drawn_trace import DrawnTrace
from tapemagic.report.tabs.trace.loop_iterations import Turns
from tapemagic.report.tabs.trace.notation import symbol_of
from tapemagic.report.tabs.trace.trace_rows import TraceRow

MOST_STEPS = 400
"""About the largest number of steps through a graph."""

LEAST_TURNS = 2
"""The number of steps that every loop has, however many others there are."""


MARK = "… "
"""The beginning of the words of rows in which several operations stand together."""


class Place(NamedTuple):
    """A row of operations: its index, itself, the index of its step in the graph, and the positions of the records."""

    number: int
    row: TraceRow
    step: int
    positions: Sequence[int]


@dataclass
class Walk:
    """A drawn graph and its trace.

    Parameters
    ----------
    subject : Subject
    drawn : DrawnGraph
    trace : DrawnTrace
    """

    subject: Subject
    drawn: DrawnGraph
    trace: DrawnTrace

    def before(self, part: int) -> str:
        """The words with which the sentences of a part begin."""
        title = self.trace.parts[part].part.title
        return f"{title.lower()}: " if title else ""

    def places(self, part: int) -> list[Place]:
        """The rows of operations and folds in a part."""
        found = self.trace.parts[part]
        return [
            Place(k, found.part.rows[k], line.step, line.positions)
            for k, line in enumerate(found.lines, found.first)
            if line.step is not None
        ]

    def boxes(self, positions: Iterable[int]) -> list[int]:
        """The ids of the results of some operations that have boxes."""
        records, index = self.subject.records, self.drawn.values
        return [i for p in positions for i in records[p].output_ids if i in index]

    def name(self, value: Value) -> str:
        """The symbol of a value of the graph."""
        return symbol_of(value.name or value.symbol or value.text).text

    def symbol(self, i: int) -> str:
        """The symbol of a value on the tape."""
        return symbol_of(self.subject.symbols.get(i, "?")).text

    def turns(self, step: int) -> Turns | None:
        """The steps through the iterations of a folded loop; None for another operation."""
        return self._turns.get(step)

    def lines(self, i: int) -> tuple[int, int] | None:
        """The line that gave a watched value its name, as the first and the last one; None if none did."""
        line = self._assigned.get((without_subscript(self.subject.symbols.get(i, "")), i))
        return None if line is None else (line, line)

    @cached_property
    def _assigned(self) -> dict[tuple[str, int], int]:
        return {(name, i): line for line, name, i in assigned_ids(self.subject.context)}

    @cached_property
    def _turns(self) -> dict[int, Turns]:
        loops = {
            step: what
            for step, (_, what) in enumerate(self.drawn.plan.items)
            if isinstance(what, Fold) and what.kind == "loop"
        }
        rows = [row for part in self.trace.parts for row in part.part.rows]
        room = MOST_STEPS - sum(1 + len(row.reverse) for row in rows)
        most = max(LEAST_TURNS, room // (2 * len(loops) or 1))
        return {
            step: Turns(self.subject, fold, self.drawn.developments[step], most)
            for step, fold in loops.items()
        }
