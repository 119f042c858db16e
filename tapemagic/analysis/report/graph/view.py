"""Views of a recording: which of its loops, calls and derivatives are open, and what is drawn then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from typing import Literal, NamedTuple

from tapemagic.analysis.report.folding import Block, Part

FrameKind = Literal["computation", "derivative", "call", "iteration"]
FoldKind = Literal["loop", "call", "derivative", "elided"]

FEW_ITERATIONS, FEW_OPERATIONS = 4, 16
"""The most iterations, and operations in all of them, of a loop that is drawn whole."""


@dataclass(frozen=True)
class View:
    """A choice of what is open.

    Attributes
    ----------
    loops : {'short', 'one', 'none'}
        Of short loops all iterations are drawn and of others one; of all one; none.
    calls : float
        The depth down to which calls of functions are open.
    derivatives : bool
        Whether the reverse sweeps of the cell itself are open.
    order : float
        The highest order of the report's own derivatives that is open.
    """

    loops: Literal["short", "one", "none"] = "short"
    calls: float = inf
    derivatives: bool = True
    order: float = inf


VIEWS = (
    View(),
    View("one"),
    View("one", derivatives=False),
    View("one", derivatives=False, order=1),
    View("one", derivatives=False, order=0),
    View("one", 1, False, 0),
    View("one", 0, False, 0),
    View("none", 0, False, 0),
)
"""Views from the most open to the most closed."""


@dataclass(frozen=True)
class Frame:
    """A frame around operations that belong together.

    Attributes
    ----------
    kind : {'computation', 'derivative', 'call', 'iteration'}
    parent : int or None
        The index of the frame around it.
    name : str
        Of a call, the name of the function.
    order : int
        Of a derivative, its order.
    number, total : int
        Of an iteration, its number, from 1 on, and the number of all iterations.
    lines : (int, int) or None
    first : int
        Of a derivative, the position of its first operation.
    """

    kind: FrameKind
    parent: int | None = None
    name: str = ""
    order: int = 0
    number: int = 0
    total: int = 0
    lines: tuple[int, int] | None = None
    first: int = 0


class Fold(NamedTuple):
    """Operations that are drawn as one node.

    Attributes
    ----------
    kind : {'loop', 'call', 'derivative', 'elided'}
    parts : sequence of int and Block
        Of a loop, its iterations.
    first, total : int
        Of a loop, the number of its first iteration here, and of all its iterations.
    """

    kind: FoldKind
    parts: Sequence[Part]
    name: str = ""
    order: int = 0
    lines: tuple[int, int] | None = None
    first: int = 1
    total: int = 0

    def positions(self) -> Iterator[int]:
        """The positions of its operations, in the order of the tape."""
        return Block("cell", tuple(self.parts)).positions()


class Item(NamedTuple):
    """An operation or a fold, with the index of the frame that it is in."""

    frame: int | None
    what: int | Fold


@dataclass(frozen=True)
class Plan:
    """The operations and folds to draw, in the order of the tape, and the frames around them."""

    items: Sequence[Item]
    frames: Sequence[Frame]

    def without_middle(self, ends: int) -> Plan:
        """The same with all but the first and the last items as one fold."""
        items = self.items
        middle = items[ends : len(items) - ends]
        if len(middle) < 2:
            return self
        parts: list[Part] = []
        for _, what in middle:
            parts += [what] if isinstance(what, int) else what.parts
        fold = Item(None, Fold("elided", parts))
        return replace(self, items=[*items[:ends], fold, *items[len(items) - ends :]])


class NoRoomError(Exception):
    """More operations and folds than there is room for."""


class _Planner:
    def __init__(self, view: View, operations: int, iteration: int | None, room: float) -> None:
        self.view = view
        self.room = room
        self.operations = operations
        self.iteration = iteration
        self.items: list[Item] = []
        self.frames: list[Frame] = []

    def add(self, parts: Iterable[Part], frame: int | None, depth: int = 0) -> None:
        """Add the parts of an open block.

        Raises
        ------
        NoRoomError
        """
        for part in parts:
            if len(self.items) > self.room:
                raise NoRoomError
            if isinstance(part, int):
                self.items.append(Item(frame, part))
            elif part.kind == "loop":
                self.add_loop(part, frame, depth)
            elif part.kind == "call":
                if depth < self.view.calls:
                    inside = Frame("call", frame, part.name, lines=part.lines)
                    self.add(part.parts, self.open(inside), depth + 1)
                else:
                    fold = Fold("call", part.parts, part.name, lines=part.lines)
                    self.items.append(Item(frame, fold))
            else:
                self.add_derivative(part, frame)

    def open(self, frame: Frame) -> int:
        self.frames.append(frame)
        return len(self.frames) - 1

    def add_derivative(self, block: Block, frame: int | None) -> None:
        first = next(block.positions())
        is_own = first >= self.operations
        is_open = block.order <= self.view.order if is_own else self.view.derivatives
        if is_open:
            inside = Frame("derivative", frame, order=block.order, lines=block.lines, first=first)
            self.add(block.parts, self.open(inside))
        else:
            fold = Fold("derivative", block.parts, order=block.order, lines=block.lines)
            self.items.append(Item(frame, fold))

    def add_loop(self, block: Block, frame: int | None, depth: int) -> None:
        iterations = [part for part in block.parts if isinstance(part, Block)]
        total = len(iterations)
        outermost = self.iteration if frame is None or not self.in_iteration(frame) else None
        if outermost is None and self.view.loops == "short" and _is_short(block):
            chosen = range(1, total + 1)
        elif self.view.loops == "none" and outermost is None:
            chosen = range(0)
        else:
            number = min(max(outermost or total, 1), total)
            chosen = range(number, number + 1)
        start = 1
        for number in chosen:
            self.add_fold(block, start, number, frame)
            inside = Frame("iteration", frame, number=number, total=total, lines=block.lines)
            self.add(iterations[number - 1].parts, self.open(inside), depth)
            start = number + 1
        self.add_fold(block, start, total + 1, frame)

    def in_iteration(self, frame: int) -> bool:
        inside: int | None = frame
        while inside is not None:
            if self.frames[inside].kind == "iteration":
                return True
            inside = self.frames[inside].parent
        return False

    def add_fold(self, block: Block, start: int, stop: int, frame: int | None) -> None:
        """Add the iterations of a loop from one to another as a fold, if there are any."""
        if start < stop:
            parts = block.parts[start - 1 : stop - 1]
            fold = Fold("loop", parts, lines=block.lines, first=start, total=len(block.parts))
            self.items.append(Item(frame, fold))


def _is_short(loop: Block) -> bool:
    if len(loop.parts) > FEW_ITERATIONS:
        return False
    return sum(1 for _ in islice(loop.positions(), FEW_OPERATIONS + 1)) <= FEW_OPERATIONS


def plan(
    cell: Block, view: View, operations: int, iteration: int | None = None, room: float = inf
) -> Plan:
    """The operations and folds that a view of a recording draws.

    Parameters
    ----------
    cell : Block
        The recording as a tree.
    view : View
    operations : int
        The number of operations that the cell itself recorded; those behind them are of the report's own derivatives.
    iteration : int, optional
        The number of the iteration that is drawn of outermost loops, from 1 on; the last if left out.
    room : float, optional
        The largest number of operations and folds.

    Returns
    -------
    Plan

    Raises
    ------
    NoRoomError
        If there are more.
    """
    planner = _Planner(view, operations, iteration, room)
    own = [part for part in cell.parts if isinstance(part, Block) and _is_own(part, operations)]
    top = None
    if any(part.order <= view.order for part in own):
        top = planner.open(Frame("computation"))
    planner.add((part for part in cell.parts if not _is_own(part, operations)), top)
    planner.add(own, None)
    if len(planner.items) > room:
        raise NoRoomError
    return Plan(planner.items, planner.frames)


def _is_own(part: Part, operations: int) -> bool:
    """Whether a part belongs to a derivative that the report took itself."""
    first = part if isinstance(part, int) else next(part.positions(), 0)
    return first >= operations


def most_iterations(cell: Block) -> int:
    """The number of iterations of the outermost loop with the most of them; 0 if there is no loop."""
    most, stack = 0, [*cell.parts]
    while stack:
        part = stack.pop()
        if isinstance(part, Block):
            if part.kind == "loop":
                most = max(most, len(part.parts))
            else:
                stack += part.parts
    return most
