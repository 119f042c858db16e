"""Layout of a recording in rows: which operations are written out, and which stand together in one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tapemagic.explain.formatting import format_lines
from tapemagic.report.folding import Block, Part
from tapemagic.report.tabs.graph.boxes import layer_call

MAX_ITERATIONS = 3
"""The number of iterations up to which all are shown."""


@dataclass(frozen=True)
class Line:
    """A row of a layout.

    Attributes
    ----------
    path : tuple of str
        The headings above it.
    position : int or None
        That of the operation in the recording; None for a heading, and for several parts together.
    words : str
        Of a heading, its text; of what stands together, a description.
    hidden : tuple of Block and int
        The parts that stand together in this row.
    step : int or None
        The index of its operation in the graph that it is laid out for.
    lines : (int, int) or None
        The lines of the cell that it belongs to.
    is_layer : bool
        Whether the parts that stand together are those of a layer.
    """

    path: tuple[str, ...]
    position: int | None = None
    words: str = ""
    hidden: tuple[Part, ...] = ()
    step: int | None = None
    lines: tuple[int, int] | None = None
    is_layer: bool = False

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The positions of its operation, or of those that stand together in this row."""
        return tuple(positions_of(self.hidden)) if self.position is None else (self.position,)


def positions_of(parts: Sequence[Part]) -> Iterator[int]:
    """The positions of the operations of some parts of a recording."""
    for part in parts:
        if isinstance(part, Block):
            yield from part.positions()
        else:
            yield part


def laid_out(block: Block, room: int, open_derivatives: bool) -> list[Line]:
    """The rows for the operations of a block: about as many as there is room for.

    Of a loop the first and the last iteration are shown. Where there is too little room, blocks are closed, and of
    many parts the first and the last are shown. Layers are closed, but for those that hold others.

    Parameters
    ----------
    block : Block
    room : int
    open_derivatives : bool
        Whether the operations of derivatives are shown, too.
    """
    return list(_Layout(open_derivatives).parts(block.parts, room, ()))


class _Layout:
    """A layout of blocks in rows."""

    def __init__(self, open_derivatives: bool) -> None:
        self._open = open_derivatives
        self._rows: dict[Block, int] = {}

    def rows(self, part: Part) -> int:
        """The number of rows of a part that is written out."""
        if isinstance(part, int):
            return 1
        if part not in self._rows:
            self._rows[part] = self._count(part)
        return self._rows[part]

    def _count(self, block: Block) -> int:
        if block.kind == "derivative" and not self._open:
            return 1
        if block.kind == "layer" and not block.holds_layers:
            return 1
        if block.kind == "loop":
            shown = block.parts
            if len(shown) > MAX_ITERATIONS:
                shown = (shown[0], shown[-1])
            return len(shown) + sum(map(self.rows, shown)) + (shown != block.parts)
        heading = block.kind in ("call", "layer", "derivative")
        return heading + sum(map(self.rows, block.parts))

    def parts(self, parts: Sequence[Part], room: int, path: tuple[str, ...]) -> Iterator[Line]:
        """The rows of some parts."""
        if len(parts) > room:
            head = max(1, room // 2)
            tail = max(1, room - head - 1)
            yield from self.parts(parts[:head], head, path)
            yield Line(path, hidden=tuple(parts[head:-tail]), words=counted(parts[head:-tail]))
            yield from self.parts(parts[-tail:], tail, path)
            return
        spare = room - len(parts)
        large = sum(self.rows(part) > 1 for part in parts)
        for part in parts:
            if isinstance(part, int):
                yield Line(path, part)
                continue
            share = 1 + spare // max(1, large)
            large -= self.rows(part) > 1
            lines = list(self.block(part, share, path))
            spare -= len(lines) - 1
            yield from lines

    def block(self, block: Block, room: int, path: tuple[str, ...]) -> Iterator[Line]:
        """The rows of a block; one if there is no room for more."""
        whole = self.rows(block) <= room
        if block.kind == "loop" and (whole or room >= 5):
            yield from self.loop(block, room, path)
        elif self.rows(block) > 1 and (whole or room >= 4) and block.kind != "loop":
            words = title_of(block)
            yield Line(path, words=words)
            yield from self.parts(block.parts, room - 1, (*path, words))
        else:
            end = "" if block.kind in ("loop", "layer") else f": {counted((block,))}"
            is_layer = block.kind == "layer"
            yield Line(path, words=title_of(block) + end, hidden=(block,), is_layer=is_layer)

    def loop(self, block: Block, room: int, path: tuple[str, ...]) -> Iterator[Line]:
        """The rows of a loop: all iterations if they are few, else the first and the last."""
        count = len(block.parts)
        all_shown = count <= MAX_ITERATIONS and self.rows(block) <= room
        numbers = range(count) if all_shown else (0, count - 1)
        spare = room - (0 if all_shown else 1)
        for k in numbers:
            share = max(1, (spare if k else spare - spare // 2) - 1)
            if all_shown:
                share = room
            if k and not all_shown and count > 2:
                hidden = block.parts[1:-1]
                more = len(hidden)
                plural = "s" * (more > 1)
                yield Line(path, words=f"{more:,} more iteration{plural}", hidden=hidden)
            words = f"{format_lines(block.lines)}, iteration {k + 1:,} of {count:,}"
            yield Line(path, words=words)
            iteration = block.parts[k]
            inner = iteration.parts if isinstance(iteration, Block) else (iteration,)
            lines = list(self.parts(inner, share, (*path, words)))
            spare -= len(lines) + 1
            yield from lines


def counted(parts: Sequence[Part]) -> str:
    """The number of operations of some parts."""
    count = sum(1 for _ in positions_of(parts))
    return f"{count:,} operation{'s' * (count != 1)}"


def title_of(block: Block) -> str:
    """The name of a block in words."""
    if block.scope is not None:
        return str(layer_call(block.name, block.scope))
    if block.kind == "call":
        where = f", {format_lines(block.lines)}" if block.lines else ""
        return f"{block.name}(){where}"
    if block.kind == "derivative":
        return f"{ordinal(block.order)} derivative"
    return f"{format_lines(block.lines)}, {len(block.parts):,} iterations"


def ordinal(order: int) -> str:
    """The word for the order of a derivative."""
    return {1: "first", 2: "second", 3: "third"}.get(order, f"{order}th")
