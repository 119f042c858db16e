"""The trace: an evaluation table of the values forward and the adjoints in reverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tapemagic.analysis.formatting import (
    SHOWN,
    derivative_symbol,
    format_entries,
    format_value,
    without_subscript,
)
from tapemagic.analysis.nonfinite import is_finite
from tapemagic.analysis.report.constants import ConstantNames
from tapemagic.analysis.report.contributions import NOTHING, Place, Share, passed_on, shares, starts
from tapemagic.analysis.report.folding import Block, Part
from tapemagic.analysis.report.formulas import adjoint_formula, is_known, value_formula
from tapemagic.analysis.report.layout import Line, laid_out, ordinal
from tapemagic.analysis.report.notation import CHOICE, Piece, Symbol, bar, escaped, symbol_of
from tapemagic.analysis.report.subject import Subject
from tapemagic.analysis.report.summary import Summary, summarise
from tapemagic.engine.recording import Absent, Record, silence
from tapemagic.engine.tensor.tensor import id_of, unwrap

ROOM = 60
"""The number of rows for the operations of the cell."""

ROOM_OF_DERIVATIVE = 24
"""The number of rows for the operations of a derivative that the report took."""

FEW = 40
"""The number of operations up to which those of derivatives in the cell are shown."""

MAX_INPUTS = 12
"""The number of watched values that have a row."""

MAX_STEPS = 6
"""The number of steps in one row."""

MAX_NUMBERS = 3
"""The number of inputs up to which an operation is written with numbers put in."""

SHORT = 24
"""The number of characters of a value that stands in a formula."""


@dataclass(frozen=True)
class AdjointStep:
    """A step of the reverse sweep: what an operation adds to the adjoint of one of its inputs.

    Attributes
    ----------
    symbol : str
        The adjoint: x̄1.
    formula, latex : str
        What is added, without what was there before.
    numbers : str
        The formula with numbers put in; empty where they are not known, or are arrays.
    added : str
        What is added, as a value; empty if it is not known.
    before : str or None
        The value of the adjoint before; empty if it is not known; None if this is the first step.
    after : str
        The value of the adjoint with it; empty if it is not known.
    is_finite : bool
        Whether the adjoint is finite with it.
    """

    symbol: str
    formula: str
    latex: str
    numbers: str = ""
    added: str = ""
    before: str | None = None
    after: str = ""
    is_finite: bool = True


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
    orders = subject.snapshot.origins.orders
    groups: dict[int, list[int]] = {}
    for position in positions:
        order = 0 if position < subject.operations else orders[position]
        groups.setdefault(order, []).append(position)
    return Trace(tuple(_part(subject, order, groups[order]) for order in sorted(groups)))


def _part(subject: Subject, order: int, positions: Sequence[int]) -> TracePart:
    room = ROOM_OF_DERIVATIVE if order else ROOM
    parts: tuple[Part, ...] = tuple(positions)
    if not order:
        parts = tuple(part for part in subject.tree.parts if _first(part) < subject.operations)
    lines = laid_out(Block("cell", parts), room, len(positions) <= FEW)
    rows = tuple(_Table(subject, lines, order).rows())
    title = f"{ordinal(order).capitalize()} derivative" if order else ""
    return TracePart(order, title, _goal(subject, order), rows, len(positions))


def _first(part: Part) -> int:
    """The position of the first operation of a part."""
    return next(part.positions()) if isinstance(part, Block) else part


def _goal(subject: Subject, order: int) -> str:
    """The words for what the adjoints are the gradients of."""
    keys = [key for key, g in subject.found.gradients.items() if key[2] == order and g is not None]
    if order >= subject.order:
        return ""
    named = (
        [
            (
                derivative_symbol(subject.targets[t][0], subject.sources[s][0], order),
                subject.found.gradients[t, s, order],
            )
            for t, s, _ in keys
        ]
        if order
        else list(subject.targets)
    )
    tracked = [(name, x) for name, x in named if subject.snapshot.tracks(id_of(x))]
    names = " + ".join(name for name, _ in tracked)
    if len(tracked) > 1 or any(x.size != 1 for _, x in tracked):
        return f"the sum of {names.replace(' + ', ', ')}"
    return names


class _Table:
    """The rows of an evaluation table.

    Parameters
    ----------
    subject : Subject
    lines : sequence of Line
        What is shown.
    order : int
    """

    def __init__(self, subject: Subject, lines: Sequence[Line], order: int) -> None:
        self._subject = subject
        self._lines = lines
        self._order = order
        self._labels = ConstantNames(subject)
        self._constant_names: dict[int, str] = {}

    @cached_property
    def _shown(self) -> list[int]:
        return [line.position for line in self._lines if line.position is not None]

    @cached_property
    def _inputs(self) -> dict[int, Any]:
        """The watched values that the shown operations read, by id, and sources that no operation read."""
        snapshot = self._subject.snapshot
        made = {i for record in snapshot.records for i in _several(record[-1])}
        found: dict[int, Any] = {}
        if self._order:
            return found
        sources = [(id_of(x), unwrap(x)) for _, x in self._subject.sources]
        read: dict[int, Any] = {}
        for position in self._shown:
            record = self._subject.records[position]
            for value, i in zip(record.values, record.ids, strict=True):
                if i not in made and snapshot.tracks(i):
                    read.setdefault(i, value)
        for i, value in sources:
            if i in read or i not in self._subject.split.versions:
                found[i] = read.get(i, value)
        return found | read

    @cached_property
    def _shares(self) -> dict[int, dict[Place, Share]]:
        wanted = set(self._inputs)
        for position in self._shown:
            record = self._subject.records[position]
            wanted.update(_several(record.output_id))
            wanted.update(record.ids[:MAX_STEPS])
        return shares(self._subject, wanted & self._subject.adjoints.keys(), set(self._shown))

    @cached_property
    def _starts(self) -> Mapping[int, Any]:
        return starts(self._subject)

    def rows(self) -> Iterable[TraceRow]:
        """The rows, in the order of the tape."""
        for k, (i, value) in enumerate(self._inputs.items()):
            if k < MAX_INPUTS:
                yield self._input(i, value)
        if more := len(self._inputs) - MAX_INPUTS:
            if more > 0:
                yield TraceRow("folded", f"… {more:,} more watched value{'s' * (more > 1)}")
        for line in self._lines:
            if line.position is not None:
                yield self._operation(line)
            elif line.hidden:
                yield self._folded(line)
            else:
                yield TraceRow("heading", line.words, path=line.path)

    def _input(self, i: int, value: Any) -> TraceRow:
        symbol = self._symbol(value, i)
        adjoint = self._subject.adjoints.get(i)
        reverse: tuple[AdjointStep, ...] = ()
        if adjoint is not None:
            reverse = (self._final(symbol, adjoint),)
        elif self._subject.targets and getattr(value, "dtype", np.dtype(int)).kind in "fc":
            reverse = (AdjointStep(bar(symbol).text, "", bar(symbol).latex, after="None"),)
        return TraceRow(
            "input",
            symbol=symbol.text,
            latex=symbol.latex,
            value=_text(value),
            reverse=reverse,
            is_finite=is_finite(value),
        )

    @staticmethod
    def _final(symbol: Symbol, adjoint: Any) -> AdjointStep:
        """An adjoint to which nothing is added any more."""
        name = bar(symbol)
        return AdjointStep(
            name.text, "", name.latex, after=_text(adjoint), is_finite=_finite(adjoint)
        )

    def _operation(self, line: Line) -> TraceRow:
        position = line.position or 0
        record = self._subject.records[position]
        values = [(x, i) for x, i in zip(record.values, record.ids, strict=True)]
        inputs = [self._symbol(x, i) for x, i in values]
        formula = value_formula(record, inputs)
        numbers = _numbers(record.values)
        results = _several(record.output)
        made = [
            self._symbol(x, i) for x, i in zip(results, _several(record.output_id), strict=True)
        ]
        return TraceRow(
            "operation",
            symbol=", ".join(x.text for x in made),
            formula=formula.text,
            latex=f"{', '.join(x.latex for x in made)} = {formula.latex}",
            numbers=_different(value_formula(record, numbers).text, formula.text)
            if numbers
            else "",
            value="; ".join(map(_text, results)),
            number=position,
            line=self._subject.snapshot.origins.sites[position][0],
            path=line.path,
            reverse=tuple(self._steps(position, record, inputs, made, numbers)),
            is_finite=all(map(is_finite, results)),
        )

    def _steps(
        self,
        position: int,
        record: Record,
        inputs: Sequence[Symbol],
        made: Sequence[Symbol],
        numbers: Sequence[Symbol],
    ) -> Iterable[AdjointStep]:
        """The steps of the reverse sweep at an operation: the seeds of its results, and a share for each input."""
        for symbol, i in zip(made, _several(record.output_id), strict=True):
            if i in self._starts:
                yield self._final(symbol, self._starts[i])
        count = 0
        for k, i in enumerate(record.ids):
            share = self._shares.get(i, {}).get((position, k))
            if share is None:
                continue
            count += 1
            if count <= MAX_STEPS:
                yield self._step(record, k, share, inputs, made, numbers)
        reached = self._reached(record)
        if reached > MAX_STEPS >= count:
            yield AdjointStep(f"… {reached - count:,} more inputs", "", "")

    def _reached(self, record: Record) -> int:
        """The number of inputs of an operation that have adjoints, if it passes on anything."""
        known = self._subject.adjoints
        reached = not known.keys().isdisjoint(_several(record.output_id))
        return sum(i in known for i in record.ids) if reached else 0

    def _step(
        self,
        record: Record,
        k: int,
        share: Share,
        inputs: Sequence[Symbol],
        made: Sequence[Symbol],
        numbers: Sequence[Symbol],
    ) -> AdjointStep:
        formula, put_in = self._formulas(record, k, inputs, made, numbers)
        name = bar(inputs[k])
        before = None if share.is_first else _brief(share.before)
        latex = f"{name.latex} = {'' if share.is_first else f'{name.latex} + '}{formula.latex}"
        if not share.is_first and formula.binding < 3:
            formula = Piece(f"({formula.text})", formula.latex, 5)
        if not share.is_first and put_in and put_in.binding < 3:
            put_in = Piece(f"({put_in.text})", put_in.latex, 5)
        return AdjointStep(
            name.text,
            formula.text,
            latex,
            put_in.text if put_in else "",
            "" if share.value is None else _text(share.value),
            before,
            "" if share.after is None else _text(share.after),
            share.after is None or _finite(share.after),
        )

    def _formulas(
        self,
        record: Record,
        k: int,
        inputs: Sequence[Symbol],
        made: Sequence[Symbol],
        numbers: Sequence[Symbol],
    ) -> tuple[Piece, Piece | None]:
        """The formula of a share, and that with numbers put in."""
        adjoints = self._subject.adjoints
        if not _is_chain(record):
            return _through(bar(made[0]), record.name), None
        if len(made) == 1 and not isinstance(record.output, tuple):
            [y] = made
            piece = adjoint_formula(record, k, inputs, y, bar(y))
            g = adjoints.get(record.output_id)
            known = numbers and g is not None and not np.shape(g)
            if piece:
                put_in = None
                if known:
                    put_in = adjoint_formula(record, k, numbers, _number(record.output), _number(g))
                return piece, put_in
            slope = self._slope(record, k) if known else ""
            put = Piece(f"{_bracketed(_text(g))} · {_bracketed(slope)}", "", 3) if slope else None
            return _chain(bar(y), y, inputs[k]), put
        reached = [
            _chain(bar(y), y, inputs[k])
            for y, i in zip(made, _several(record.output_id), strict=True)
            if i in adjoints
        ]
        shown = reached[:3]
        text = " + ".join(x.text for x in shown) + " + …" * (len(reached) > 3)
        latex = "+".join(x.latex for x in shown) + r"+\dots" * (len(reached) > 3)
        return Piece(text, latex, 1 if len(reached) > 1 else 3), None

    @staticmethod
    def _slope(record: Record, k: int) -> str:
        """The local derivative of an operation on real numbers, as text; empty if it is not known."""
        if "call" in (record.params or {}) or record.output.dtype.kind != "f":
            return ""
        with silence(), np.errstate(all="ignore"):
            slope = passed_on(record, k, record.output.dtype.type(1))
        return "" if slope is None or slope is NOTHING else _text(slope)

    def _folded(self, line: Line) -> TraceRow:
        positions = list(line.positions())
        steps = [
            self._final(self._symbol(value, i), self._subject.adjoints[i])
            for i, value in self._finished_in(set(positions)).items()
        ]
        words = f"… {line.words}"
        if developed := self._developed(line.hidden):
            words += f": {developed}"
        return TraceRow(
            "folded",
            words,
            path=line.path,
            operations=len(positions),
            reverse=tuple(steps[:MAX_STEPS]),
        )

    def _finished_in(self, positions: set[int]) -> dict[int, Any]:
        """The results of shown operations whose adjoints are complete only with a share of a hidden one."""
        found: dict[int, Any] = {}
        for position in self._shown:
            record = self._subject.records[position]
            results = zip(_several(record.output), _several(record.output_id), strict=True)
            for value, i in results:
                last = next(
                    (place for place, s in self._shares.get(i, {}).items() if s.is_last), None
                )
                if last and last[0] in positions:
                    found[i] = value
        return found

    def _developed(self, parts: Sequence[Part]) -> str:
        """The range of the last value of each iteration of a loop, where that is a number."""
        blocks = [part for part in parts if isinstance(part, Block) and part.kind == "iteration"]
        if len(blocks) < 2 or len(blocks) != len(parts):
            return ""
        records = self._subject.records
        last = [list(block.positions())[-1] for block in blocks]
        made = [records[position] for position in last]
        outputs = [record.output for record in made]
        if len({record[0] for record in made}) > 1 or any(
            isinstance(y, (tuple, Absent)) or np.shape(y) or y.dtype.kind != "f" for y in outputs
        ):
            return ""
        names = {without_subscript(self._subject.names.get(r.output_id, "")) for r in made}
        name = names.pop() if len(names) == 1 else ""
        return (
            f"{name or 'the last value of each'} {_range(outputs)}{self._adjoint_range(made, name)}"
        )

    def _adjoint_range(self, made: Sequence[Record], name: str) -> str:
        adjoints = [self._subject.adjoints.get(record.output_id) for record in made]
        if any(g is None or isinstance(g, Summary) for g in adjoints):
            return ""
        symbol = bar(symbol_of(name)).text if name else "its adjoint"
        return f"; {symbol} {_range(adjoints)}"

    def _symbol(self, value: Any, i: int) -> Symbol:
        """The symbol of a value: its name, or a number, or what is known of it."""
        if self._subject.snapshot.tracks(i):
            return symbol_of(self._subject.symbols.get(i, "?"))
        if value is None:
            return Symbol("None", r"\text{None}")
        key = id(value)
        if key not in self._constant_names:
            self._constant_names[key] = self._labels.of(value)[0]
        if name := self._constant_names[key]:
            return symbol_of(name)
        return _number(value)


def _several(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def _text(value: Any) -> str:
    return summarise(value).text


def _finite(value: Any) -> bool:
    """Whether a gradient is finite; of a summary, what its text says."""
    if isinstance(value, Summary):
        return not any(word in value.text for word in ("nan", "inf"))
    return is_finite(value)


def _brief(value: Any) -> str:
    """A value that is short enough to stand in a sum; empty otherwise."""
    if value is None or isinstance(value, Summary) or np.size(value) > SHOWN:
        return ""
    text = _text(value)
    return text if len(text) <= SHORT else ""


def _number(value: Any) -> Symbol:
    """What stands for a value without a name: a number, the elements of a small array, or the shape."""
    text = format_value(value)
    if len(text) > SHORT and np.shape(value):
        text = f"[{'×'.join(map(str, np.shape(value)))} array]"
    return Symbol(text, escaped(text) if not np.shape(value) else rf"\text{{{escaped(text)}}}")


def _numbers(values: Sequence[Any]) -> list[Symbol]:
    """The values as symbols, if all are numbers; else nothing."""
    if len(values) > MAX_NUMBERS or any(
        x is None or isinstance(x, Absent) or np.shape(x) for x in values
    ):
        return []
    return [_number(x) for x in values]


def _different(text: str, other: str) -> str:
    return "" if text == other else text


def _bracketed(number: str) -> str:
    return f"({number})" if number.startswith("-") or "j" in number else number


def _chain(g: Symbol, y: Symbol, x: Symbol) -> Piece:
    """The chain rule, for an operation without a formula."""
    names = [
        part.text if part.text.replace("_", "a").isalnum() else f"({part.text})" for part in (y, x)
    ]
    latex = rf"{g.latex} \cdot \frac{{\partial {y.latex}}}{{\partial {x.latex}}}"
    return Piece(f"{g.text} · ∂{names[0]}/∂{names[1]}", latex, 3)


def _is_chain(record: Record) -> bool:
    """Whether an operation passes on its true derivative with respect to real numbers."""
    values = (*record.values, *_several(record.output))
    return is_known(record) and not any(
        getattr(x, "dtype", np.dtype(float)).kind == "c" for x in values
    )


def _through(g: Symbol, name: str) -> Piece:
    """An adjoint that goes through an operation with a rule of its own."""
    return Piece(f"{g.text} through {name}", rf"{g.latex}\text{{ through {escaped(name)}}}", CHOICE)


def _range(values: Sequence[Any]) -> str:
    """The range of some numbers in words."""
    known = np.array(values)
    if known.size > 6:
        return format_entries(known)
    return f"{format_entries(known.min())} to {format_entries(known.max())}"
