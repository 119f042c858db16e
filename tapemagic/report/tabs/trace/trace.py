"""The trace: an evaluation table of the values forward and the adjoints in reverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.formatting import derivative_symbol
from tapemagic.report.folding import Block, Part
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.trace.layout import laid_out, ordinal
from tapemagic.report.tabs.trace.trace_rows import Table, TraceRow

ROOM = 60
"""The number of rows for the operations of the cell."""

ROOM_OF_DERIVATIVE = 24
"""The number of rows for the operations of a derivative that the report took."""

FEW = 40
"""The number of operations up to which those of derivatives in the cell are shown."""


@dataclass(frozen=True)
class TracePart:
    """The operations of the cell, or those of the derivatives of some order that the report took.

    Attributes
    ----------
    order : int
        0 for the cell's.
    title : str
        Empty for the cell's.
    goal : str
        What the adjoints are the gradients of; empty if there are none.
    rows : tuple of TraceRow
    operations : int
    """

    order: int
    title: str
    goal: str
    rows: tuple[TraceRow, ...]
    operations: int


@dataclass(frozen=True)
class Trace:
    """The evaluation table of a recording."""

    parts: tuple[TracePart, ...]


def trace_of(subject: Subject) -> Trace | None:
    """The evaluation table of a recording; None if there is no operation to show."""
    positions = subject.positions
    if not positions or not subject.snapshot.has_values:
        return None
    groups: dict[int, list[int]] = {}
    for position in positions:
        groups.setdefault(subject.derivatives.level(position), []).append(position)
    return Trace(tuple(_part(subject, order, groups[order]) for order in sorted(groups)))


def _part(subject: Subject, order: int, positions: Sequence[int]) -> TracePart:
    room = ROOM_OF_DERIVATIVE if order else ROOM
    parts: tuple[Part, ...] = tuple(positions)
    if not order:
        parts = tuple(part for part in subject.tree.parts if _first(part) < subject.operations)
    lines = laid_out(Block("cell", parts), room, len(positions) <= FEW)
    return part_of(subject, order, Table(subject, lines, order), len(positions))


def part_of(subject: Subject, order: int, table: Table, operations: int) -> TracePart:
    """The rows of a table with the words for them."""
    title = f"{ordinal(order).capitalize()} derivative" if order else ""
    return TracePart(order, title, goal_of(subject, order), tuple(table.rows()), operations)


def _first(part: Part) -> int:
    """The position of the first operation of a part."""
    return next(part.positions()) if isinstance(part, Block) else part


def goal_of(subject: Subject, order: int) -> str:
    """The words for what the adjoints are the gradients of."""
    named = [
        (derivative_symbol(subject.targets[t][0], subject.sources[s][0], level), g)
        for (t, s, level), g in subject.derivatives.gradients.items()
        if level == order < subject.order and g is not None
    ]
    goals = [(name, x) for name, x in named or subject.targets if subject.snapshot.tracks(id_of(x))]
    if order and not named:
        return ""
    names = ", ".join(name for name, _ in goals)
    is_sum = len(goals) > 1 or any(x.size != 1 for _, x in goals)
    return f"the sum of {names}" if is_sum else names
