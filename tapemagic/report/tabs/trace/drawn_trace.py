"""The trace laid out as a graph is drawn: a row for each of its operations, and for each of its folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from tapemagic.explain.formatting import format_lines
from tapemagic.report.folding import Block, Part
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph.boxes import layer_call
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.graph.view import Fold
from tapemagic.report.tabs.trace.layout import Line, counted, laid_out, positions_of, title_of
from tapemagic.report.tabs.trace.shares import Place, Share
from tapemagic.report.tabs.trace.trace import ROOM, TracePart, part_of
from tapemagic.report.tabs.trace.trace_rows import MAX_INPUTS, Table

LEAST_ROOM = 8
"""The number of rows for operations that are one node in the middle of a large graph."""


@dataclass(frozen=True)
class DrawnPart:
    """A part of a trace, with what its rows stand for.

    Attributes
    ----------
    part : TracePart
    inputs : sequence of int
        The ids of all watched values; the first of them have the first rows.
    lines : sequence of Line
        What the last rows were made from.
    """

    part: TracePart
    inputs: Sequence[int]
    lines: Sequence[Line]

    @property
    def rows_of_inputs(self) -> int:
        """The number of watched values that have a row of their own."""
        return min(len(self.inputs), MAX_INPUTS)

    @property
    def first(self) -> int:
        """The index of the first row that is no watched value's."""
        return len(self.part.rows) - len(self.lines)


@dataclass(frozen=True)
class DrawnTrace:
    """A trace that is laid out as a graph is drawn.

    Attributes
    ----------
    parts : sequence of DrawnPart
    shares : mapping
        The shares of the gradients of the values that have boxes, in the order of the reverse sweep, by their ids.
    """

    parts: Sequence[DrawnPart]
    shares: Mapping[int, Mapping[Place, Share]]


def trace_as_drawn(subject: Subject, drawn: DrawnGraph) -> DrawnTrace:
    """The evaluation table of a recording, laid out as its graph is drawn."""
    if not subject.snapshot.has_values:
        return DrawnTrace((), {})
    lines = _Lines(subject, drawn)
    lines.add_all()
    parts: list[DrawnPart] = []
    shares: Mapping[int, Mapping[Place, Share]] = {}
    for order in sorted(lines.found):
        found = lines.found[order]
        table = Table(subject, found, order, () if parts else drawn.values.keys())
        shares = shares if parts else table.shares
        part = part_of(subject, order, table, lines.counts[order])
        parts.append(DrawnPart(part, list(table.inputs), found))
    return DrawnTrace(parts, shares)


class _Lines:
    """The rows of a drawn graph by the orders of derivatives that the report took; 0 for the cell's own operations."""

    def __init__(self, subject: Subject, drawn: DrawnGraph) -> None:
        self.subject = subject
        self.drawn = drawn
        self.found: dict[int, list[Line]] = {}
        self.counts: dict[int, int] = {}
        self.paths: dict[int, list[tuple[int, str]]] = {}

    def add_all(self) -> None:
        """Add the rows of all operations and folds."""
        items = self.drawn.plan.items
        room = max(LEAST_ROOM, ROOM - len(items))
        for step, (frame, what) in enumerate(items):
            if isinstance(what, Fold) and what.kind == "elided":
                for order, parts in groupby(what.parts, self.order_of):
                    path = self.path(frame, order)
                    for line in _opened(list(parts), room, order):
                        self.add(order, self.placed(line, path, step))
                continue
            order = self.order_of(what if isinstance(what, int) else what.parts[0])
            path = self.path(frame, order)
            if isinstance(what, int):
                self.add(order, self.placed(Line((), what), path, step))
            else:
                line = Line(
                    (),
                    words=self.words(what, step),
                    hidden=tuple(what.parts),
                    is_layer=what.kind == "layer",
                )
                self.add(order, self.placed(line, path, step))

    def add(self, order: int, line: Line) -> None:
        """Add a row."""
        self.found.setdefault(order, []).append(line)
        self.counts[order] = self.counts.get(order, 0) + len(line.positions)

    def order_of(self, part: Part) -> int:
        """The order of the derivative, taken by the report, to which a part belongs; 0 for the cell's own."""
        first = next(part.positions()) if isinstance(part, Block) else part
        return self.subject.derivatives.level(first)

    def placed(self, line: Line, path: tuple[str, ...], step: int) -> Line:
        """A row below some headings, with its operation in the graph and its lines of the cell."""
        parts = line.hidden if line.position is None else (line.position,)
        known = [lines for part in parts if (lines := self.lines_of(part))]
        lines = (min(a for a, _ in known), max(b for _, b in known)) if known else None
        return replace(line, path=(*path, *line.path), step=step, lines=lines)

    def lines_of(self, part: Part) -> tuple[int, int] | None:
        """The lines of the cell to which a part belongs."""
        if isinstance(part, Block):
            return part.lines
        line = self.subject.snapshot.origins.sites[part][0]
        return None if line is None else (line, line)

    def path(self, frame: int | None, order: int) -> tuple[str, ...]:
        """The headings above a frame's contents, after adding those that do not stand there yet."""
        around: list[tuple[int, str]] = []
        frames = self.drawn.plan.frames
        while frame is not None:
            if heading := self.heading(frame):
                around.append((frame, heading))
            frame = frames[frame].parent
        around.reverse()
        before = self.paths.get(order, [])
        path = tuple(words for _, words in around)
        for k, (inside, words) in enumerate(around):
            if before[: k + 1] != around[: k + 1]:
                self.add(order, Line(path[:k], words=words, lines=frames[inside].lines))
        self.paths[order] = around
        return path

    def heading(self, frame: int) -> str:
        """The words for a frame; empty for the whole of the cell, or of a derivative that the report took."""
        found = self.drawn.plan.frames[frame]
        if found.kind == "call":
            return title_of(Block("call", (), found.name, lines=found.lines))
        if found.scope is not None:
            return str(layer_call(found.name, found.scope))
        if found.kind == "iteration":
            where = format_lines(found.lines)
            return f"{where}, iteration {found.number:,} of {found.total:,}"
        is_own = found.kind == "derivative" and found.first >= self.subject.operations
        label = self.drawn.graph.frames[frame].label
        return "" if is_own or found.kind == "computation" else label

    def words(self, fold: Fold, step: int) -> str:
        """The description of a fold."""
        name = self.drawn.graph.steps[step].name
        if fold.kind == "loop":
            return name
        if fold.scope is not None:
            return str(layer_call(fold.name, fold.scope))
        if fold.kind == "derivative" and self.order_of(fold.parts[0]):
            return counted(fold.parts)
        if fold.kind == "call":
            name = title_of(Block("call", (), fold.name, lines=fold.lines))
        return f"{name} ({counted(fold.parts)})"


def _opened(parts: Sequence[Part], room: int, order: int) -> list[Line]:
    """The rows of operations that are one node in the middle of a graph."""
    flat = tuple(positions_of(parts)) if order else tuple(parts)
    return laid_out(Block("cell", flat), room, True)
