"""Views of a recording: which of its loops, calls, layers and derivatives are open, and what is drawn then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf
from typing import Literal, NamedTuple, TypeAlias

from tapemagic.engine.scopes import Scope
from tapemagic.explain.program_text import Statement
from tapemagic.report.folding import Block, Part, positions_of

FrameKind = Literal[
    "computation", "derivative", "call", "layer", "iteration", "statement", "elided"
]
Statements = Literal["open", "operands", "closed"]
FoldKind = Literal["loop", "call", "layer", "derivative", "statement", "elided"]

FEW_ITERATIONS, FEW_OPERATIONS = 4, 16
"""The most iterations, and operations in all of them, of a loop that is drawn whole."""


@dataclass(frozen=True)
class FoldPolicy:
    """A choice of what is open.

    - `loops`: {'short', 'one', 'none'}. How many iterations are drawn: all of short loops and one of others; of all
      one; none.
    - `calls`: The depth down to which calls of functions are open.
    - `layers`: The depth down to which layers that hold layers are open; others are closed.
    - `derivatives`: Whether the reverse sweeps of the cell itself are open.
    - `order`: The highest order of the report's own derivatives that is open.
    - `statements`: {'open', 'operands', 'closed'}. Whether the operations of each operand of a statement are one node,
      or those of the entire statement.
    """

    loops: Literal["short", "one", "none"] = "short"
    calls: float = inf
    derivatives: bool = True
    order: float = inf
    layers: int = 1
    statements: Statements = "open"


CLOSED = FoldPolicy("none", 0, False, 0, 0)
"""The most closed view."""
FOLD_POLICIES = (
    FoldPolicy(),
    FoldPolicy("one"),
    FoldPolicy("one", derivatives=False),
    FoldPolicy("one", derivatives=False, order=1),
    FoldPolicy("one", derivatives=False, order=0),
    FoldPolicy("one", 1, False, 0),
    FoldPolicy("one", 0, False, 0),
    CLOSED,
)
"""Views from the most open to the most closed."""
LAYER_FOLD_POLICIES = (
    FoldPolicy(derivatives=False),
    FoldPolicy("one", derivatives=False),
    FoldPolicy("one", derivatives=False, order=1),
    FoldPolicy("one", derivatives=False, order=0),
    FoldPolicy("one", 1, False, 0),
    FoldPolicy("one", 1, False, 0, 0),
    FoldPolicy("one", 0, False, 0, 0),
    CLOSED,
)
"""Fold policies for recordings with layers, which leave no room for the operations of reverse sweeps."""


@dataclass(frozen=True)
class Frame:
    """A frame around operations that belong together.

    Attributes
    ----------
    kind : {'computation', 'derivative', 'call', 'layer', 'iteration', 'statement', 'elided'}
    parent : int or None
        The index of the frame around it.
    name : str
        The name of a function or layer, or the formula of a statement.
    order : int
        The order of a derivative.
    number, total : int
        The number of an iteration, counted from 1, and of all iterations. Of elided operations, `total` is their
        number.
    lines : (int, int) or None
    first : int
        The position of the first operation of a derivative.
    key : str
        That of the part it shows, or '' for the computation.
    scope : Scope or None
        The call of a layer.
    """

    kind: FrameKind
    parent: int | None = None
    name: str = ""
    order: int = 0
    number: int = 0
    total: int = 0
    lines: tuple[int, int] | None = None
    first: int = 0
    key: str = ""
    scope: Scope | None = None


class Fold(NamedTuple):
    """Operations that are drawn as one node.

    Attributes
    ----------
    kind : {'loop', 'call', 'layer', 'derivative', 'statement', 'elided'}
    parts : sequence of int and Block
        The operations, or the iterations of a loop.
    first, last, total : int
        The numbers of the first and the last iteration of a loop here, and of all its iterations. Those that the
        recording has let go count.
    key : str
        The key of the part that it represents, whole or in part.
    scope : Scope or None
        The call of a layer.
    """

    kind: FoldKind
    parts: Sequence[Part]
    name: str = ""
    order: int = 0
    lines: tuple[int, int] | None = None
    first: int = 1
    last: int = 0
    total: int = 0
    key: str = ""
    scope: Scope | None = None

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of its operations, in the order of the tape."""
        return positions_of(self.parts)


class Item(NamedTuple):
    """An operation or a fold, with the index of the frame that it is in."""

    frame: int | None
    what: int | Fold


@dataclass(frozen=True)
class Plan:
    """The operations and folds to draw, in the order of the tape, with the frames around."""

    items: Sequence[Item]
    frames: Sequence[Frame]


@dataclass(frozen=True)
class FoldOverrides:
    """Exceptions from a fold policy: the parts that a reader opened or closed.

    - `by_key`: By the key of a part: 0 if it is closed, 1 if it is open; of a loop, the number of the iteration that is
      open.
    - `ends`: The number of parts that are drawn at the beginning and at the end of the recording, with those between
      them as one fold, or None if all are drawn.
    - `inside`: The most operations and folds of a part that is opened, as long as nothing in it is, for it to be drawn
      whole.
    - `max_items`: The number of operations and folds in the picture from which nothing more is opened.

    Notes
    -----
    A key is the path of indices that leads to a part in the tree of the recording: ``"3.0.2"`` is in iteration 1 of the
    loop ``"3"``. The iterations of a loop have no keys. The key of the middle of a part ends with ``~``,
    and that of the middle of this middle with ``~~``.
    """

    by_key: Mapping[str, int] = field(default_factory=dict)
    ends: int | None = None
    inside: int = 30
    max_items: float = inf

    @property
    def ends_inside(self) -> int:
        """The number of parts that are drawn at the beginning and at the end of one that is not drawn whole."""
        return max(2, self.inside // 5)


class NoRoomError(Exception):
    """More operations and folds than there is room for."""


StatementOf: TypeAlias = "Callable[[Part, bool], Statement | None]"
"""Returns the statement to which an operation belongs, or the operand in it; None for other parts."""
Numbered: TypeAlias = Sequence[tuple[int, Part]]
"""Parts of a block, each with its index there."""


class _Planner:
    def __init__(
        self,
        view: FoldPolicy,
        operations: int,
        iteration: int | None,
        room: float,
        statement_of: StatementOf,
        openings: FoldOverrides | None = None,
    ) -> None:
        self.view = view
        self.room = room
        self.operations = operations
        self.iteration = iteration
        self.statement_of = statement_of
        self.openings = openings or FoldOverrides()
        self.items: list[Item] = []
        self.frames: list[Frame] = []

    def requested(self, key: str) -> int | None:
        """Return what a reader requested for a part, 0 for closed; None without a request, or if there is no room."""
        number = self.openings.by_key.get(key)
        # Closing is always possible; opening stops as soon as the picture has too much.
        return None if number and len(self.items) > self.openings.max_items else number

    def add(
        self, parts: Iterable[tuple[int, Part]], frame: int | None, depth: int = 0, within: str = ""
    ) -> None:
        """Add the parts of an open block, whose keys begin with `within`.

        Raises
        ------
        NoRoomError
        """
        if self.view.statements != "open":
            parts = self.without_statements(parts, frame, within)
        for index, part in parts:
            if len(self.items) > self.room:
                raise NoRoomError
            if isinstance(part, int):
                self.items.append(Item(frame, part))
                continue
            key = f"{within}{index}"
            if part.kind == "loop":
                self.add_loop(part, frame, depth, key)
            elif part.kind == "call":
                self.add_call(part, frame, depth, key)
            elif part.kind == "layer":
                self.add_layer(part, frame, depth, key)
            else:
                self.add_derivative(part, frame, key)

    def without_statements(
        self, parts: Iterable[tuple[int, Part]], frame: int | None, within: str
    ) -> Iterator[tuple[int, Part]]:
        """Add each group of operations that belong to one statement, and yield the other parts where they come."""
        operands = self.view.statements == "operands"
        for statement, group in groupby(parts, lambda pair: self.statement_of(pair[1], operands)):
            if statement is None:
                yield from group
                continue
            members = list(group)
            if len(members) == 1:
                yield members[0]
                continue
            key, positions = f"{within}{members[0][0]}", [part for _, part in members]
            if self.requested(key):
                inside = self.open(Frame("statement", frame, statement.formula, key=key))
                self.items += [Item(inside, p) for p in positions]  # type: ignore[arg-type]
            else:
                fold = Fold("statement", positions, statement.formula, key=key)
                self.items.append(Item(frame, fold))

    def open(self, frame: Frame) -> int:
        self.frames.append(frame)
        return len(self.frames) - 1

    def add_call(self, block: Block, frame: int | None, depth: int, key: str) -> None:
        requested = self.requested(key)
        if depth < self.view.calls if requested is None else requested:
            inside = self.open(Frame("call", frame, block.name, lines=block.lines, key=key))
            self.add_open(block, inside, depth + 1, key, requested is not None)
        else:
            fold = Fold("call", block.parts, block.name, lines=block.lines, key=key)
            self.items.append(Item(frame, fold))

    def add_layer(self, block: Block, frame: int | None, depth: int, key: str) -> None:
        requested = self.requested(key)
        name, lines, scope = block.name, block.lines, block.scope
        is_open = block.holds_layers and self.frames_around(frame, "layer") < self.view.layers
        if is_open if requested is None else requested:
            inside = self.open(Frame("layer", frame, name, lines=lines, key=key, scope=scope))
            self.add_open(block, inside, depth, key, requested is not None)
        else:
            fold = Fold("layer", block.parts, name, lines=lines, key=key, scope=scope)
            self.items.append(Item(frame, fold))

    def add_derivative(self, block: Block, frame: int | None, key: str) -> None:
        if self.is_open(block, key):
            first = block.positions[0]
            inside = self.open(
                Frame(
                    "derivative", frame, order=block.order, lines=block.lines, first=first, key=key
                )
            )
            self.add_open(block, inside, 0, key, self.requested(key) is not None)
        else:
            fold = Fold("derivative", block.parts, order=block.order, lines=block.lines, key=key)
            self.items.append(Item(frame, fold))

    def is_open(self, derivative: Block, key: str) -> bool:
        """Return True if a reverse sweep is open."""
        requested = self.requested(key)
        if requested is not None:
            return requested > 0
        if _is_own(derivative, self.operations):
            return derivative.order <= self.view.order
        return self.view.derivatives

    def add_loop(self, block: Block, frame: int | None, depth: int, key: str) -> None:
        iterations = [part for part in block.parts if isinstance(part, Block)]
        count, requested = len(iterations), self.requested(key)
        numbers, total = block.numbers, block.total
        # The option --iteration is about outermost loops: an inner loop may have fewer iterations.
        outermost = self.iteration if frame is None or not self.in_iteration(frame) else None
        if requested is not None:
            number = _kept(numbers, requested)
            chosen = range(number, number + 1) if requested else range(0)
        elif outermost is None and self.view.loops == "short" and _is_short(block):
            chosen = range(1, count + 1)
        elif self.view.loops == "none" and outermost is None:
            chosen = range(0)
        else:
            number = _kept(numbers, outermost or total)
            chosen = range(number, number + 1)
        is_limited = requested is not None or (
            outermost is not None and self.openings.ends is not None
        )
        start = 1
        for number in chosen:
            self.add_fold(block, start, number, frame, key)
            inside = self.open(
                Frame(
                    "iteration",
                    frame,
                    number=numbers[number - 1],
                    total=total,
                    lines=block.lines,
                    key=key,
                )
            )
            within = f"{key}.{number - 1}"
            self.add_open(iterations[number - 1], inside, depth, within, is_limited)
            start = number + 1
        self.add_fold(block, start, count + 1, frame, key)

    def in_iteration(self, frame: int) -> bool:
        return self.frames_around(frame, "iteration") > 0

    def frames_around(self, inside: int | None, kind: FrameKind) -> int:
        """The number of frames of a kind around what is in a frame."""
        count = 0
        while inside is not None:
            count += self.frames[inside].kind == kind
            inside = self.frames[inside].parent
        return count

    def add_fold(self, block: Block, start: int, stop: int, frame: int | None, key: str) -> None:
        """Add the iterations of a loop from one to another as a fold, unless there are no such iterations."""
        if start < stop:
            parts, numbers, total = block.parts[start - 1 : stop - 1], block.numbers, block.total
            first = numbers[start - 2] + 1 if start > 1 else 1
            last = numbers[stop - 1] - 1 if stop <= len(numbers) else total
            fold = Fold(
                "loop", parts, lines=block.lines, first=first, last=last, total=total, key=key
            )
            self.items.append(Item(frame, fold))

    def add_open(self, block: Block, frame: int, depth: int, key: str, is_limited: bool) -> None:
        """Add the parts of a block; if they are limited, and too many, folded, and without those in the middle."""
        parts, within = list(enumerate(block.parts)), f"{key}."
        if not is_limited or self.fits(parts, frame, depth):
            self.add(parts, frame, depth, within)
            return
        # Everything inside is closed, or opening one large part would draw far more than was requested.
        view, iteration = self.view, self.iteration
        self.view = replace(CLOSED, statements=view.statements)
        self.iteration = None
        self.add_ends(parts, self.openings.ends_inside, frame, depth, within, key)
        self.view, self.iteration = view, iteration

    def fits(self, parts: Numbered, frame: int, depth: int) -> bool:
        """Return True if the parts of an opened block have room, with everything in them folded."""
        iteration = None if self.in_iteration(frame) else self.iteration
        layers = max(0, self.view.layers - self.frames_around(frame, "layer"))
        view = replace(self.view, layers=layers)
        alone = _Planner(view, self.operations, iteration, self.openings.inside, self.statement_of)
        try:
            alone.add(parts, None, depth)
        except NoRoomError:
            return False
        return len(alone.items) <= self.openings.inside

    def add_ends(
        self, parts: Numbered, ends: int, frame: int | None, depth: int, within: str, key: str
    ) -> None:
        """Add the first and the last parts of a block, and those between them as one fold, unless it is open."""
        middle = parts[ends : len(parts) - ends]
        # A fold of one part takes as much room as the part.
        if len(middle) < 2:
            self.add(parts, frame, depth, within)
            return
        self.add(parts[:ends], frame, depth, within)
        fold = Fold("elided", [part for _, part in middle], key=f"{key}~")
        if self.requested(fold.key):
            count = len(fold.positions)
            inside = self.open(Frame("elided", frame, total=count, key=fold.key))
            fits = len(middle) <= self.openings.inside
            inner = len(middle) if fits else self.openings.ends_inside
            self.add_ends(middle, inner, inside, depth, within, fold.key)
        else:
            self.items.append(Item(frame, fold))
        self.add(parts[len(parts) - ends :], frame, depth, within)


def _kept(numbers: Sequence[int], number: int) -> int:
    """Return the place of an iteration among those that are kept, or that of the next one that is; both from 1."""
    return min(bisect_left(numbers, number), len(numbers) - 1) + 1


def _is_short(loop: Block) -> bool:
    if loop.total > FEW_ITERATIONS:
        return False
    return len(loop.positions) <= FEW_OPERATIONS


def plan(
    cell: Block,
    view: FoldPolicy,
    operations: int,
    iteration: int | None = None,
    room: float = inf,
    openings: FoldOverrides | None = None,
    statement_of: StatementOf = lambda _part, _operands: None,
) -> Plan:
    """The operations and folds that a view of a recording draws.

    - `cell`: The recording as a tree.
    - `operations`: The number of operations that the cell itself recorded; later ones belong to the report's own
      derivatives.
    - `iteration`: The number of the iteration that is drawn of outermost loops, counted from 1; by default the last.
    - `room`: The largest number of operations and folds.
    - `openings`: The parts that a reader opened or closed.
    - `statement_of`: Returns the statements of operations, for views that fold them.

    Raises NoRoomError if there are more.
    """
    planner = _Planner(view, operations, iteration, room, statement_of, openings)
    parts = cell.parts
    # The derivatives of the report itself are the last parts of the tape.
    first = len(
        parts
    )  # of the parts, which are in the order of the tape, the first of a derivative of the report
    while first and _is_own(parts[first - 1], operations):
        first -= 1
    if planner.openings.ends is not None:
        planner.add_ends(list(enumerate(parts)), planner.openings.ends, None, 0, "", "")
    else:
        own = list(enumerate(parts[first:], first))
        top = None
        blocks = [(str(k), part) for k, part in own if isinstance(part, Block)]
        if any(planner.is_open(part, key) for key, part in blocks):
            top = planner.open(Frame("computation"))
        planner.add(enumerate(parts[:first]), top)
        planner.add(own, None)
    if len(planner.items) > room:
        raise NoRoomError
    return Plan(planner.items, planner.frames)


def _is_own(part: Part, operations: int) -> bool:
    """Return True if a part belongs to a derivative that the report took itself."""
    first = part if isinstance(part, int) else next(iter(part.positions), 0)
    return first >= operations


def kept_iterations(cell: Block) -> tuple[int, set[int]]:
    """Return the number of iterations of the outermost loop with the most, or 0, and the numbers of those kept."""
    largest, kept, stack = 0, set[int](), [*cell.parts]
    while stack:
        part = stack.pop()
        if isinstance(part, Block):
            if part.kind == "loop":
                largest = max(largest, part.total)
                kept.update(part.numbers)
            else:
                stack += part.parts
    return largest, kept
