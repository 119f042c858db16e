"""The rows of an evaluation table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.formatting import format_entries, without_subscript
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.nonfinite import is_finite
from tapemagic.report.drawn_records import first_and_last
from tapemagic.report.folding import Block, Part
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.trace.formulas import value_formula
from tapemagic.report.tabs.trace.layout import Line
from tapemagic.report.tabs.trace.notation import bar, symbol_of
from tapemagic.report.tabs.trace.reverse_sweep import (
    MAX_STEPS,
    AdjointStep,
    ReverseSweep,
    adjoint_step,
    equation,
)
from tapemagic.report.tabs.trace.row_formulas import Written, written
from tapemagic.report.tabs.trace.shares import Place, Share
from tapemagic.report.tabs.trace.symbols import Symbols, several, text_of

MAX_INPUTS = 12
"""The number of watched values that have a row."""
MAX_RESULTS = 3
"""The number of results of a layer that are written in its row."""


@dataclass(frozen=True)
class TraceRow:
    """A row of the evaluation table.

    Attributes
    ----------
    kind : {'input', 'operation', 'heading', 'folded'}
        A watched value; an operation; the heading of a call or an iteration; operations that are not shown one by one.
    words : str
        The text of a heading, or of what is folded.
    symbol, formula, latex, numbers, value : str
        Of an operation, its result, its formula as text and as LaTeX, that with numbers put in, and the result's value.
        Of a closed layer, the value is that of its results, with their symbols.
    number : int or None
        The position of the operation in the recording.
    line : int or None
    path : tuple of str
        The headings above it.
    operations : int
        The number of operations that are folded into it.
    reverse : tuple of AdjointStep
        Its steps of the reverse sweep, in their order: to be read from the last row of the table to the first.
    is_finite : bool
        Whether the value is finite.
    step : int or None
        The index of its operation in the graph that the table is laid out for.
    lines : (int, int) or None
        The lines of the cell that it belongs to, in a table that is laid out for a graph.
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
    def told(self) -> str:
        """The words of a row, with the value of what is folded into it, if that is known."""
        return f"{self.words}; {self.value}" if self.value else self.words

    @property
    def equation(self) -> str:
        """The value of a row as an equation; empty for a heading."""
        return equation(self.symbol, self.formula, self.numbers, self.value)


class Table:
    """The rows of an evaluation table.

    Parameters
    ----------
    subject : Subject
    lines : sequence of Line
        What is shown.
    order : int
    boxes : collection of int, optional
        The ids of other values to show: of these, those that are watched have rows, and the shares of all are kept.
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
        found = map(self._results, lines)
        self._of_layers = {i: value for results in found for i, value in results.items()}
        others = [*self.inputs, *self._of_layers, *boxes]
        self._reverse = ReverseSweep(subject, self._shown, others)

    @property
    def shares(self) -> Mapping[int, Mapping[Place, Share]]:
        """The shares of the adjoints that are shown, by the ids of their values, in the order of the sweep."""
        return self._reverse.shares

    @cached_property
    def inputs(self) -> dict[int, Any]:
        """The watched values that the shown operations read, by id, and sources that no operation read."""
        if self._order:
            return {}
        records = self._subject.records
        made = {i for position in self._shown for i in several(records[position].output_id)}
        leaves = self._subject.snapshot.leaves - made
        boxes = leaves & set(self._boxes)
        read: dict[int, Any] = {}
        for line in self._lines:
            wanted = boxes if line.position is None else leaves
            for position in line.positions if wanted else ():
                record = records[position]
                if not wanted.isdisjoint(record.ids):
                    for value, i in zip(record.values, record.ids, strict=True):
                        if i in wanted:
                            read.setdefault(i, value)
        found: dict[int, Any] = {}
        sources = [(id_of(x), unwrap(x)) for _, x in self._subject.sources]
        for i, value in sources:
            if i in read or i not in self._subject.split.versions:
                found[i] = read.get(i, value)
        return found | read

    def rows(self) -> Iterator[TraceRow]:
        """The rows, in the order of the tape."""
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
        is_float = getattr(value, "dtype", np.dtype(int)).kind in "fc"
        told = adjoint is not None or (self._subject.targets and is_float)
        return TraceRow(
            "input",
            symbol=symbol.text,
            latex=symbol.latex,
            value=text_of(value),
            reverse=(adjoint_step(symbol, i, adjoint),) if told else (),
            is_finite=is_finite(value),
        )

    def _operation(self, position: int, line: Line) -> TraceRow:
        found = written(self._subject, self._symbols, position)
        row = self._subject.once(("row", position), lambda: self._written(found))
        reverse = tuple(self._reverse.steps(found))
        return replace(row, path=line.path, reverse=reverse, step=line.step, lines=line.lines)

    def _written(self, found: Written) -> TraceRow:
        """The row of an operation, without its place in this table and its steps in reverse."""
        results = several(found.record.output)
        return TraceRow(
            "operation",
            symbol=", ".join(x.text for x in found.made),
            formula=found.formula.text,
            latex=f"{', '.join(x.latex for x in found.made)} = {found.formula.latex}",
            numbers=value_formula(found.record, found.numbers).text if found.numbers else "",
            value="; ".join(map(text_of, results)),
            number=found.position,
            line=self._subject.snapshot.origins.sites[found.position][0],
            is_finite=all(map(is_finite, results)),
        )

    def _folded(self, line: Line) -> TraceRow:
        positions, found = line.positions, self._results(line)
        steps = [
            adjoint_step(self._symbols.of(value, i), i, begun, "seed")
            for i, value in found.items()
            if (begun := self._reverse.seed(i)) is not None
        ]
        steps += [
            adjoint_step(self._symbols.of(value, i), i, self._subject.adjoints[i])
            for i, value in self._reverse.finished_in(set(positions), self._of_layers).items()
        ]
        words = f"… {line.words}"
        if developed := self._developed(line.hidden):
            words += f": {developed}"
        results = first_and_last(list(found.items()), MAX_RESULTS)
        return TraceRow(
            "folded",
            words,
            value="; ".join(f"{self._symbols.of(x, i).text} = {text_of(x)}" for i, x in results),
            path=line.path,
            operations=len(positions),
            reverse=tuple(steps[:MAX_STEPS]),
            is_finite=all(is_finite(x) for _, x in results),
            step=line.step,
            lines=line.lines,
        )

    def _results(self, line: Line) -> dict[int, Any]:
        """The results of a closed layer, by id: what others read of what it computed, or the program has a name for."""
        if not line.is_layer:
            return {}
        snapshot, records = self._subject.snapshot, self._subject.records
        made = {
            i: value
            for position in line.positions
            for i, value in zip(
                records[position].output_ids, records[position].outputs, strict=True
            )
        }
        return {
            i: value
            for i, value in made.items()
            if i in self._subject.names
            or any(k not in made and not snapshot.order_of(k) for k in snapshot.readers.get(i, ()))
        }

    def _developed(self, parts: Sequence[Part]) -> str:
        """The range of the target in the iterations of a loop, or else of their last results, if these are numbers."""
        blocks = [part for part in parts if isinstance(part, Block) and part.kind == "iteration"]
        if len(blocks) < 2 or len(blocks) != len(parts):
            return ""
        records = self._subject.records
        goals = {name for name, _ in self._subject.targets}
        results = [[records[position] for position in block.positions()] for block in blocks]
        found = [[record for record in made if self._stem(record) in goals] for made in results]
        made = [made[-1] for made in (found if all(found) else results)]
        outputs = [record.output for record in made]
        if len({record[0] for record in made}) > 1 or any(
            isinstance(y, tuple) or not has_numbers(y) or np.shape(y) or y.dtype.kind != "f"
            for y in outputs
        ):
            return ""
        names = set(map(self._stem, made))
        name = names.pop() if len(names) == 1 else ""
        return f"{name or 'the last result of each'} {_range(outputs)}{self._adjoint_range(made, name)}"

    def _stem(self, record: Record) -> str:
        """The name of a result, without the number of its value."""
        return without_subscript(self._subject.names.get(several(record.output_id)[0], ""))

    def _adjoint_range(self, made: Sequence[Record], name: str) -> str:
        adjoints = [self._subject.adjoints.get(several(record.output_id)[0]) for record in made]
        if any(g is None or isinstance(g, Summary) or not has_numbers(g) for g in adjoints):
            return ""
        symbol = bar(symbol_of(name)).text if name else "its adjoint"
        return f"; {symbol} {_range(adjoints)}"


def _range(values: Sequence[Any]) -> str:
    """The range of some numbers in words."""
    known = np.array(values)
    numbers = known[~np.isnan(known)]
    missing = known.size - numbers.size
    if not numbers.size:
        return "always nan"
    low, high = format_entries(numbers.min()), format_entries(numbers.max())
    words = f"always {low}" if low == high else f"between {low} and {high}"
    return f"{words}, {missing:,} times nan" if missing else words
