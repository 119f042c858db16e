"""The rows of the trace: an evaluation table with values forward and adjoints in reverse."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.formatting import (
    derivative_symbol,
    format_entries,
    format_lines,
    format_sum,
)
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.nonfinite import is_finite
from tapemagic.report.drawn_records import first_and_last
from tapemagic.report.folding import Block, Part, positions_of
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.graph.boxes import layer_call
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.graph.view import Fold
from tapemagic.report.tabs.trace.formulas import RowFormula, row_formula, value_formula
from tapemagic.report.tabs.trace.notation import Symbols, bar, several, symbol_of, text_of
from tapemagic.report.tabs.trace.sweep import (
    MAX_ROW_STEPS,
    AdjointStep,
    Place,
    ReverseSweep,
    Share,
    adjoint_step,
    equation,
)

MAX_ITERATIONS = 3
"""The largest number of iterations that are all shown."""


@dataclass(frozen=True)
class Line:
    """A row of a layout.

    - `path`: The headings above it.
    - `position`: The position of its operation in the recording; None for a heading or a folded row.
    - `words`: The text of a heading, or the description of a folded row.
    - `hidden`: Tuple of Block and int. The parts that are folded into this row.
    - `step`: The index of its operation in the graph that it is laid out for.
    - `lines`: (int, int) or None. The lines of the cell that it belongs to.
    - `is_layer`: Whether a layer is folded into this row.
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
        """The positions of its operation, or of the operations that are folded into this row."""
        return positions_of(self.hidden) if self.position is None else (self.position,)


def laid_out(block: Block, room: int, open_derivatives: bool) -> list[Line]:
    """Lay out the operations of a block in about as many rows as there is room for.

    A loop shows its first and last iteration. If there is too little room, blocks are closed, and of many parts only
    the first and the last are shown. Layers are closed, except for layers that contain others.

    - `open_derivatives`: Whether to show the operations of derivatives.
    """
    return list(_Layout(open_derivatives).parts(block.parts, room, ()))


class _Layout:
    """Lays out blocks in rows."""

    def __init__(self, open_derivatives: bool) -> None:
        self._open = open_derivatives
        self._rows: dict[Block, int] = {}

    def rows(self, part: Part) -> int:
        """Return the number of rows of a part that isn't folded."""
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
        """Yield the rows of parts."""
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
            # Each part has one row; large blocks share the rest equally.
            share = 1 + spare // max(1, large)
            large -= self.rows(part) > 1
            lines = list(self.block(part, share, path))
            spare -= len(lines) - 1
            yield from lines

    def block(self, block: Block, room: int, path: tuple[str, ...]) -> Iterator[Line]:
        """Yield the rows of a block, or a single folded row without room for more."""
        fits = self.rows(block) <= room
        # A loop takes two headings, two iterations and a row for those between.
        if block.kind == "loop" and (fits or room >= 5):
            yield from self.loop(block, room, path)
        elif self.rows(block) > 1 and (fits or room >= 4) and block.kind != "loop":
            words = title_of(block)
            yield Line(path, words=words)
            yield from self.parts(block.parts, room - 1, (*path, words))
        else:
            end = "" if block.kind in ("loop", "layer") else f": {counted((block,))}"
            is_layer = block.kind == "layer"
            yield Line(path, words=title_of(block) + end, hidden=(block,), is_layer=is_layer)

    def loop(self, block: Block, room: int, path: tuple[str, ...]) -> Iterator[Line]:
        """Yield the rows of a loop: all iterations if they are few, otherwise the first and the last."""
        count = len(block.parts)
        all_shown = count <= MAX_ITERATIONS and self.rows(block) <= room
        numbers = range(count) if all_shown else (0, count - 1)
        spare = room - (0 if all_shown else 1)
        for k in numbers:
            # The first iteration gets half of the rows, the last one what is left; a heading takes one.
            share = max(1, (spare if k else spare - spare // 2) - 1)
            if all_shown:
                share = room
            if k and not all_shown and count > 2:
                hidden = block.parts[1:-1]
                more = block.total - 2
                plural = "s" * (more > 1)
                yield Line(path, words=f"{more:,} more iteration{plural}", hidden=hidden)
            words = (
                f"{format_lines(block.lines)}, iteration {block.numbers[k]:,} of {block.total:,}"
            )
            yield Line(path, words=words)
            iteration = block.parts[k]
            inner = iteration.parts if isinstance(iteration, Block) else (iteration,)
            lines = list(self.parts(inner, share, (*path, words)))
            spare -= len(lines) + 1
            yield from lines


def counted(parts: Sequence[Part]) -> str:
    """Return the number of operations in parts, as text."""
    count = len(positions_of(parts))
    return f"{count:,} operation{'s' * (count != 1)}"


def title_of(block: Block) -> str:
    """Return the title of a block."""
    if block.scope is not None:
        return str(layer_call(block.name, block.scope))
    if block.kind == "call":
        where = f", {format_lines(block.lines)}" if block.lines else ""
        return f"{block.name}(){where}"
    if block.kind == "derivative":
        return f"{ordinal(block.order)} derivative"
    return f"{format_lines(block.lines)}, {block.total:,} iterations"


def ordinal(order: int) -> str:
    """Return an ordinal number, such as 'second'."""
    return {1: "first", 2: "second", 3: "third"}.get(order, f"{order}th")


MAX_INPUTS = 12
"""The number of watched values that have a row."""
MAX_LAYER_RESULTS = 3
"""The number of results of a layer that its row shows."""


@dataclass(frozen=True)
class TraceRow:
    """A row of the evaluation table.

    - `kind`: {'input', 'operation', 'heading', 'folded'}. A watched value; an operation; the heading of a call or an
      iteration; operations that are not shown one by one.
    - `words`: The text of a heading or a folded row.
    - `symbol`, `formula`, `latex`, `numbers`, `value`: The result of an operation, its formula as text, as LaTeX and
      with numbers, and the value of the result. The value of a closed layer lists its results with their symbols.
    - `number`: The position of the operation in the recording.
    - `path`: The headings above it.
    - `operations`: The number of operations that are folded into it.
    - `reverse`: Its steps of the reverse sweep, in their order: to be read from the last row of the table to the first.
    - `is_finite`: Whether the value is finite.
    - `step`: The index of its operation in the graph that the table is laid out for.
    - `lines`: (int, int) or None. The lines of the cell that it belongs to, in a table that is laid out for a graph.
    """

    kind: Literal["input", "operation", "heading", "folded"]
    words: str = ""
    symbol: str = ""
    formula: str = ""
    latex: str = ""
    numbers: str = ""
    value: str = ""
    number: int | None = None
    line: int | None = None
    path: tuple[str, ...] = ()
    operations: int = 0
    reverse: tuple[AdjointStep, ...] = ()
    is_finite: bool = True
    step: int | None = None
    lines: tuple[int, int] | None = None

    @property
    def description(self) -> str:
        """The words of a row, and the value of a folded one if it has any."""
        return f"{self.words}; {self.value}" if self.value else self.words

    @property
    def equation(self) -> str:
        """The row as an equation, or '' for a heading."""
        return equation(self.symbol, self.formula, self.numbers, self.value)


class Table:
    """The rows of an evaluation table.

    - `lines`: The rows to show.
    - `boxes`: The ids of values with boxes in the graph: watched ones get rows, and the shares of all are computed.
    """

    def __init__(
        self, subject: Subject, lines: Sequence[Line], order: int, boxes: Collection[int] = ()
    ) -> None:
        self._subject = subject
        self._lines = lines
        self._order = order
        self._boxes = boxes
        self._symbols = Symbols(subject)
        self._shown = [line.position for line in lines if line.position is not None]
        self._of_layers = {i: x for line in lines for i, x in self._results(line).items()}
        ids = [*self.inputs, *self._of_layers, *boxes]
        self._reverse = ReverseSweep(subject, self._shown, ids)

    @property
    def shares(self) -> Mapping[int, Mapping[Place, Share]]:
        """The shares of the adjoints in this table, by the ids of their values, in the order of the sweep."""
        return self._reverse.shares

    @cached_property
    def inputs(self) -> dict[int, Any]:
        """The watched values that the operations of this table read, by id, and sources that no operation read."""
        # The derivatives of the report read only values that the table of the cell shows.
        if self._order:
            return {}
        records = self._subject.records
        computed = {i for position in self._shown for i in several(records[position].output_id)}
        leaves = self._subject.snapshot.leaves - computed
        boxes = leaves & set(self._boxes)
        read: dict[int, Any] = {}
        for line in self._lines:
            candidates = boxes if line.position is None else leaves
            for position in line.positions if candidates else ():
                _, values, ids, _, _, _ = records[position]
                if not candidates.isdisjoint(ids):
                    for value, i in zip(values, ids, strict=True):
                        if i in candidates:
                            read.setdefault(i, value)
        watched: dict[int, Any] = {}
        sources = [(id_of(x), unwrap(x)) for _, x in self._subject.sources]
        for i, value in sources:
            if i in read or i not in self._subject.split.versions:
                watched[i] = read.get(i, value)
        return watched | read

    def rows(self) -> Iterator[TraceRow]:
        """Yield the rows in the order of the tape."""
        for k, (i, value) in enumerate(self.inputs.items()):
            if k < MAX_INPUTS:
                yield self._input(i, value)
        more = len(self.inputs) - MAX_INPUTS
        if more > 0:
            yield TraceRow("folded", f"… {more:,} more watched value{'s' * (more > 1)}")
        for line in self._lines:
            if line.position is not None:
                yield self._operation(line.position, line)
            elif line.hidden:
                yield self._folded(line)
            else:
                yield TraceRow("heading", line.words, path=line.path, lines=line.lines)

    def _input(self, i: int, value: Any) -> TraceRow:
        symbol, adjoint = self._symbols.of(value, i), self._subject.adjoints.get(i)
        # Integers have no gradient, not even None.
        is_float = getattr(value, "dtype", np.dtype(int)).kind in "fc"
        has_adjoint = adjoint is not None or (
            # The gradient that a training step took isn't one of this table's, but it isn't None either.
            self._subject.targets and is_float and self._subject.step_gradients.get(i) is None
        )
        return TraceRow(
            "input",
            symbol=symbol.text,
            latex=symbol.latex,
            value=text_of(value),
            reverse=(adjoint_step(symbol, i, adjoint),) if has_adjoint else (),
            is_finite=is_finite(value),
        )

    def _operation(self, position: int, line: Line) -> TraceRow:
        formula = row_formula(self._subject, self._symbols, position)
        # The row is the same in all tables of a report, except for these four fields.
        row = self._subject.once(("row", position), lambda: self._written(formula))
        reverse = tuple(self._reverse.steps(formula))
        return replace(row, path=line.path, reverse=reverse, step=line.step, lines=line.lines)

    def _written(self, row: RowFormula) -> TraceRow:
        """Write the row of an operation, without the fields that differ between tables."""
        results = several(row.record.output)
        return TraceRow(
            "operation",
            symbol=", ".join(x.text for x in row.results),
            formula=row.formula.text,
            latex=f"{', '.join(x.latex for x in row.results)} = {row.formula.latex}",
            numbers=value_formula(row.record, row.numbers).text if row.numbers else "",
            value="; ".join(map(text_of, results)),
            number=row.position,
            line=self._subject.snapshot.origins.sites[row.position][0],
            is_finite=all(map(is_finite, results)),
        )

    def _folded(self, line: Line) -> TraceRow:
        positions, values = line.positions, self._results(line)
        steps = [
            adjoint_step(self._symbols.of(value, i), i, begun, "seed")
            for i, value in values.items()
            if (begun := self._reverse.seed(i)) is not None
        ]
        steps += [
            adjoint_step(self._symbols.of(value, i), i, self._subject.adjoints[i])
            for i, value in self._reverse.finished_in(set(positions), self._of_layers).items()
        ]
        words = f"… {line.words}"
        if developed := self._developed(line.hidden):
            words += f": {developed}"
        results = first_and_last(list(values.items()), MAX_LAYER_RESULTS)
        return TraceRow(
            "folded",
            words,
            value="; ".join(f"{self._symbols.of(x, i).text} = {text_of(x)}" for i, x in results),
            path=line.path,
            operations=len(positions),
            reverse=tuple(steps[:MAX_ROW_STEPS]),
            is_finite=all(is_finite(x) for _, x in results),
            step=line.step,
            lines=line.lines,
        )

    def _results(self, line: Line) -> dict[int, Any]:
        """Return the results of a closed layer by id: values with names, and values that other operations read."""
        if not line.is_layer:
            return {}
        snapshot, records = self._subject.snapshot, self._subject.records
        computed = {
            i: value
            for position in line.positions
            for i, value in zip(
                records[position].output_ids, records[position].outputs, strict=True
            )
        }
        return {
            i: value
            for i, value in computed.items()
            if i in self._subject.names
            # Operations of a derivative read values inside the layer, which don't become its results by that.
            or any(
                k not in computed and not snapshot.order_of(k) for k in snapshot.readers.get(i, ())
            )
        }

    def _developed(self, parts: Sequence[Part]) -> str:
        """Describe the range of the target over the iterations of a loop, or of their last results."""
        blocks = [part for part in parts if isinstance(part, Block) and part.kind == "iteration"]
        # A single value has no range, and a row may fold more than iterations.
        if len(blocks) < 2 or len(blocks) != len(parts):
            return ""
        records = self._subject.records
        last = self._last_targets(blocks) or [records[block.positions[-1]] for block in blocks]
        outputs = [record.output for record in last]
        if len({record.number for record in last}) > 1 or not all(map(_is_real_number, outputs)):
            return ""
        names = set(map(self._stem, last))
        name = names.pop() if len(names) == 1 else ""
        kept = (
            f" in the {len(blocks):,} iterations that are kept"
            if any(x.skipped for x in blocks)
            else ""
        )
        adjoints = self._adjoint_range(last, name)
        return f"{name or 'the last result of each'} {_range_of(outputs)}{kept}{adjoints}"

    def _last_targets(self, iterations: Sequence[Block]) -> list[Record]:
        """Return the last result of each iteration that has the name of a target; no results if one has none."""
        goals = {name for name, _ in self._subject.targets}
        last: list[Record] = []
        for block in iterations:
            for position in reversed(block.positions):
                record = self._subject.records[position]
                if self._stem(record) in goals:
                    last.append(record)
                    break
            else:
                return []
        return last

    def _stem(self, record: Record) -> str:
        """Return the name of a result without the subscript that counts its values."""
        output_id = record.output_id
        first = output_id[0] if isinstance(output_id, tuple) else output_id
        return self._subject.stems.get(first, "")

    def _adjoint_range(self, results: Sequence[Record], name: str) -> str:
        adjoints = [self._subject.adjoints.get(several(record.output_id)[0]) for record in results]
        if any(g is None or isinstance(g, Summary) or not has_numbers(g) for g in adjoints):
            return ""
        symbol = bar(symbol_of(name)).text if name else "its adjoint"
        return f"; {symbol} {_range_of(adjoints)}"


def _is_real_number(y: Any) -> bool:
    """Return True if a result is a real number that is known."""
    if y.__class__ is np.float64:
        return True
    return bool(
        not isinstance(y, tuple) and has_numbers(y) and not np.shape(y) and y.dtype.kind == "f"
    )


def _range_of(values: Sequence[Any]) -> str:
    """Describe the range of numbers."""
    array = np.array(values)
    # min and max of an array with nan are nan.
    numbers = array[~np.isnan(array)]
    missing = array.size - numbers.size
    if not numbers.size:
        return "always nan"
    low, high = format_entries(numbers.min()), format_entries(numbers.max())
    words = f"always {low}" if low == high else f"between {low} and {high}"
    return f"{words}, {missing:,} times nan" if missing else words


ROOM = 60
"""The number of rows for the operations of the cell."""

ROOM_OF_DERIVATIVE = 24
"""The number of rows for a derivative of the report (not of the cell)."""

MAX_WITH_OPEN_DERIVATIVES = 40
"""The largest number of operations of a cell whose own derivatives are shown."""


@dataclass(frozen=True)
class TracePart:
    """The rows of the cell, or of the derivatives of one order that the report computed.

    - `order`: 0 for the cell's.
    - `title`: Empty for the cell's.
    - `goal`: The value whose gradients the adjoints are, or '' without adjoints.
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


def find(subject: Subject) -> Trace | None:
    """Return the evaluation table of a recording, or None without operations."""
    positions = subject.positions
    if not positions or not subject.snapshot.has_values:
        return None
    groups: dict[int, list[int]] = {}
    for position in positions:
        groups.setdefault(subject.derivatives.level(position), []).append(position)
    return Trace(tuple(_part(subject, order, groups[order]) for order in sorted(groups)))


def _part(subject: Subject, order: int, positions: Sequence[int]) -> TracePart:
    # Derivatives repeat the operations of the cell in other forms, so they get less room.
    room = ROOM_OF_DERIVATIVE if order else ROOM
    parts: tuple[Part, ...] = tuple(positions)
    if not order:
        parts = tuple(
            part for part in subject.tree.parts if _first_position(part) < subject.operations
        )
    lines = laid_out(Block("cell", parts), room, len(positions) <= MAX_WITH_OPEN_DERIVATIVES)
    return part_of(subject, order, Table(subject, lines, order), len(positions))


def part_of(subject: Subject, order: int, table: Table, operations: int) -> TracePart:
    """Return the rows of a table with their title."""
    title = f"{ordinal(order).capitalize()} derivative" if order else ""
    return TracePart(order, title, goal_of(subject, order), tuple(table.rows()), operations)


def _first_position(part: Part) -> int:
    """Return the position of the first operation of a part."""
    return part.positions[0] if isinstance(part, Block) else part


def goal_of(subject: Subject, order: int) -> str:
    """Name the target of the adjoints."""
    named = [
        (derivative_symbol(subject.targets[t][0], subject.sources[s][0], level), g)
        for (t, s, level), g in subject.derivatives.gradients.items()
        if level == order < subject.order and g is not None
    ]
    goals = [(name, x) for name, x in named or subject.targets if subject.snapshot.tracks(id_of(x))]
    if order and not named:
        return ""
    return format_sum([name for name, _ in goals], any(x.size != 1 for _, x in goals))


MIN_ROOM = 8
"""The least number of rows for the operations that the node in the middle of a large graph contains."""


@dataclass(frozen=True)
class DrawnPart:
    """A part of a trace, with the values and operations of its rows.

    - `inputs`: The ids of all watched values; the first of them have the first rows.
    - `lines`: The layout of the last rows.
    """

    part: TracePart
    inputs: Sequence[int]
    lines: Sequence[Line]

    @property
    def rows_of_inputs(self) -> int:
        """The number of watched values with a row."""
        return min(len(self.inputs), MAX_INPUTS)

    @property
    def first(self) -> int:
        """The index of the first row after the watched values."""
        return len(self.part.rows) - len(self.lines)


@dataclass(frozen=True)
class DrawnTrace:
    """A trace with the same folds as a graph.

    - `shares`: The shares of the gradients of values with boxes, by the ids of the values, in the order of the reverse
      sweep.
    """

    parts: Sequence[DrawnPart]
    shares: Mapping[int, Mapping[Place, Share]]


def trace_as_drawn(subject: Subject, drawn: DrawnGraph) -> DrawnTrace:
    """Return the evaluation table of a recording with the same folds as its graph."""
    if not subject.snapshot.has_values:
        return DrawnTrace((), {})
    lines = _DrawnLines(subject, drawn)
    lines.add_all()
    parts: list[DrawnPart] = []
    shares: Mapping[int, Mapping[Place, Share]] = {}
    for order in sorted(lines.by_order):
        layout = lines.by_order[order]
        table = Table(subject, layout, order, () if parts else drawn.values.keys())
        shares = shares if parts else table.shares
        part = part_of(subject, order, table, lines.counts[order])
        parts.append(DrawnPart(part, list(table.inputs), layout))
    return DrawnTrace(parts, shares)


class _DrawnLines:
    """The rows of a graph, by the order of the derivatives of the report; 0 means the operations of the cell."""

    def __init__(self, subject: Subject, drawn: DrawnGraph) -> None:
        self.subject = subject
        self.drawn = drawn
        self.by_order: dict[int, list[Line]] = {}
        self.counts: dict[int, int] = {}
        self.paths: dict[int, list[tuple[int, str]]] = {}

    def add_all(self) -> None:
        """Add the rows of all operations and folds."""
        items = self.drawn.plan.items
        # Every node of the graph has a row, so the node in the middle may open into the rest.
        room = max(MIN_ROOM, ROOM - len(items))
        for step, (frame, what) in enumerate(items):
            if isinstance(what, Fold) and what.kind == "elided":
                for order, parts in groupby(what.parts, self.order_of):
                    path = self.path(frame, order)
                    for line in _opened(list(parts), room, order):
                        self.add(order, self.placed(line, path, step))
                continue
            order = self.order_of(what if isinstance(what, int) else what.parts[0])
            path = self.path(frame, order)
            if isinstance(what, int) or what.kind == "statement":
                # The table has room for the operations of a statement that is one box of the picture.
                for position in [what] if isinstance(what, int) else what.positions:
                    self.add(order, self.placed(Line((), position), path, step))
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
        self.by_order.setdefault(order, []).append(line)
        self.counts[order] = self.counts.get(order, 0) + len(line.positions)

    def order_of(self, part: Part) -> int:
        """Return the order of the derivative of the report to which a part belongs; 0 means the cell."""
        return self.subject.derivatives.level(_first_position(part))

    def placed(self, line: Line, path: tuple[str, ...], step: int) -> Line:
        """Place a row below headings, with its operation in the graph and its lines of the cell."""
        parts = line.hidden if line.position is None else (line.position,)
        ranges = [lines for part in parts if (lines := self.lines_of(part))]
        lines = (min(a for a, _ in ranges), max(b for _, b in ranges)) if ranges else None
        return replace(line, path=(*path, *line.path), step=step, lines=lines)

    def lines_of(self, part: Part) -> tuple[int, int] | None:
        """Return the lines of the cell to which a part belongs."""
        if isinstance(part, Block):
            return part.lines
        line = self.subject.snapshot.origins.sites[part][0]
        return None if line is None else (line, line)

    def path(self, frame: int | None, order: int) -> tuple[str, ...]:
        """Return the headings above the content of a frame, after adding rows for missing headings."""
        around: list[tuple[int, str]] = []
        frames = self.drawn.plan.frames
        while frame is not None:
            if heading := self.heading(frame):
                around.append((frame, heading))
            frame = frames[frame].parent
        around.reverse()
        # The operations of a frame need not be adjacent on the tape: its heading is repeated after another frame.
        before = self.paths.get(order, [])
        path = tuple(words for _, words in around)
        for k, (inside, words) in enumerate(around):
            if before[: k + 1] != around[: k + 1]:
                self.add(order, Line(path[:k], words=words, lines=frames[inside].lines))
        self.paths[order] = around
        return path

    def heading(self, frame: int) -> str:
        """Return the heading of a frame, or '' for the entire cell or a derivative of the report."""
        framed = self.drawn.plan.frames[frame]
        if framed.kind == "call":
            return title_of(Block("call", (), framed.name, lines=framed.lines))
        if framed.scope is not None:
            return str(layer_call(framed.name, framed.scope))
        if framed.kind == "iteration":
            where = format_lines(framed.lines)
            return f"{where}, iteration {framed.number:,} of {framed.total:,}"
        is_own = framed.kind == "derivative" and framed.first >= self.subject.operations
        label = self.drawn.graph.frames[frame].label
        # The title of the table names the derivative, and the cell needs no heading.
        return "" if is_own or framed.kind in ("computation", "statement") else label

    def words(self, fold: Fold, step: int) -> str:
        """Describe a fold."""
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
    """Lay out the operations that the node in the middle of a graph contains."""
    # As in the table of a derivative (see `_part`), its operations aren't grouped in blocks.
    flat = tuple(positions_of(parts)) if order else tuple(parts)
    return laid_out(Block("cell", flat), room, True)
