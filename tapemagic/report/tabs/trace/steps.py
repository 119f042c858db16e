"""The steps through a graph and its trace: forward, operation by operation, then in reverse."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np

from tapemagic.engine.recording import Absent
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.explain.formatting import (
    clipped,
    derivative_symbol,
    format_lines,
    format_number,
    format_size,
    printable,
    without_subscript,
)
from tapemagic.explain.lazy_values import is_pending
from tapemagic.report.derivatives import name_of_sum
from tapemagic.report.folding import Block, Part, positions_of
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.graph.boxes import Development, size_of
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.graph.graph import Value
from tapemagic.report.tabs.graph.view import Fold
from tapemagic.report.tabs.lines.find_lines import assigned_ids
from tapemagic.report.tabs.trace.find_trace import (
    MAX_INPUTS,
    DrawnTrace,
    Trace,
    TraceRow,
    ordinal,
    trace_as_drawn,
)
from tapemagic.report.tabs.trace.formulas import repeats
from tapemagic.report.tabs.trace.notation import bar, brief, several, symbol_of, text_of
from tapemagic.report.tabs.trace.sweep import (
    UNKNOWN,
    AdjointStep,
    PartialAdjoints,
    adjoint_step,
    equation,
    starts,
)


@dataclass(frozen=True)
class TraceStep:
    """A step through a recording.

    Attributes
    ----------
    way : {'forward', 'reverse'}
    part : int
        The index of the part of the trace: 0 is the cell, the others are derivatives of the report.
    row : int or None
        The index of its row in that part.
    entry : int or None
        In reverse, the index of its equation in that row.
    step : int or None
        The index of the operation in the graph, or None for a watched value.
    lines : (int, int) or None
        The lines of the cell that belong to it.
    words : str
        The sentence of this step.
    shown : tuple of int
        The values of the graph, by their indices, that are known from this step on.
    gradients : tuple of (int, str)
        The values of the graph with the texts of their gradients from this step on: sums that are not complete yet,
        an ellipsis where those are not known, and in the end `Value.gradient`.
    positions : sequence of int
        The positions of the operations on the tape that it goes through.
    """

    way: Literal["forward", "reverse"]
    part: int
    row: int | None
    step: int | None
    lines: tuple[int, int] | None
    words: str
    shown: tuple[int, ...] = ()
    gradients: tuple[tuple[int, str], ...] = ()
    entry: int | None = None
    positions: Sequence[int] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Steps:
    """The steps through a recording, with its trace.

    - `trace`: Laid out as the graph is. It has no parts if no operation was recorded.
    - `filled_from_start`: The values of the graph that are known before the first step: constants, and those without a
      row.
    """

    trace: Trace
    steps: tuple[TraceStep, ...]
    filled_from_start: tuple[int, ...] = ()


MAX_SENTENCE_LENGTH = 200
"""The number of characters of a sentence."""


def first_that_fits(*sentences: str, before: str = "") -> str:
    """Return the first sentence that is short enough, or cut the last one; all begin with the words `before`.

    Examples
    --------
    >>> first_that_fits("v1 = a + b = 3.0", "v1 = 3.0", before="line 2: ")
    'line 2: v1 = a + b = 3.0'
    """
    full = [printable(before + sentence) for sentence in sentences]
    return clipped(
        next((words for words in full if len(words) <= MAX_SENTENCE_LENGTH), full[-1]),
        MAX_SENTENCE_LENGTH,
    )


def where(row: TraceRow) -> str:
    """Return the lines of a row as the start of a sentence, unless its words contain the lines."""
    lines = format_lines(row.lines)
    return f"{lines}: " if row.lines and lines not in row.words else ""


def operation_sentence(row: TraceRow, before: str) -> str:
    """Describe an operation of the forward pass."""
    formula, numbers = _in_brackets(row.formula), _in_brackets(row.numbers)
    # The formula with numbers goes first if the sentence is too long, then the formula.
    return first_that_fits(
        equation(row.symbol, formula, numbers, row.value),
        equation(row.symbol, formula, row.value),
        equation(row.symbol, row.value),
        before=before + where(row),
    )


def _in_brackets(formula: str) -> str:
    """Put a formula with cases in brackets: an equals sign after it would belong to the last case.

    Examples
    --------
    >>> _in_brackets("x if x > 0, else 0"), _in_brackets("max(0, x)")
    ('(x if x > 0, else 0)', 'max(0, x)')
    """
    # Cases inside of other brackets need none.
    depth = 0
    for k, letter in enumerate(formula):
        depth += (letter in "([") - (letter in ")]")
        if not depth and formula.startswith(", else ", k):
            return f"({formula})"
    return formula


def seed_sentence(entry: AdjointStep, symbol: str, goal: str, among: str, before: str) -> str:
    """Describe the gradient of a target with which the reverse sweep begins."""
    # For a single scalar target, the seed is dy/dy = 1.
    if goal == symbol:
        words = f"{entry.equation}: the gradient of {symbol} with respect to itself"
    elif goal == f"the sum of {symbol}":
        words = f"{entry.equation}: the gradient of {goal} with respect to {symbol}"
    else:
        words = f"{symbol} is one of the {among}: {entry.symbol} begins with {entry.after}"
    return first_that_fits(words, entry.equation, before=before)


def share_sentence(entry: AdjointStep, symbol: str, shape: tuple[int, ...], before: str) -> str:
    """Describe the share that an operation passes back to an input; for an unknown array, with its shape."""
    # An array isn't written out, so its shape says what is passed back.
    size = f"; shape {format_size(shape)}" if shape and not (entry.added or entry.after) else ""
    if entry.before is None:
        formula, numbers = _in_brackets(entry.formula), _in_brackets(entry.numbers)
        return first_that_fits(
            equation(entry.symbol, formula, numbers, entry.after) + size,
            equation(entry.symbol, formula, entry.after),
            equation(entry.symbol, entry.after),
            before=before,
        )
    has = f"added to what {symbol} has"
    if entry.before and entry.added and entry.after:
        end = f"{has}: {equation(f'{entry.before} + {entry.added}', entry.after)}"
    elif entry.after:
        end = f"{has}; {'in all' if entry.is_last else 'so far'} {entry.symbol} = {entry.after}"
    else:
        end = has + size
    formula, numbers = (_in_brackets(_without_brackets(x)) for x in (entry.formula, entry.numbers))
    added = _without_brackets(entry.added)
    return first_that_fits(
        f"{equation(formula, numbers, added)}, {end}",
        f"{equation(formula, added)}, {end}",
        end,
        before=before,
    )


def _without_brackets(formula: str) -> str:
    """Remove the outer brackets of a formula."""
    depth = 0
    for k, letter in enumerate(formula):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return formula[1:-1] if k and k == len(formula) - 1 else formula
    return formula


def whole_sentence(entry: AdjointStep, symbol: str, goal: str, before: str) -> str:
    """Describe the complete gradient of a watched value."""
    if entry.after == "None":
        return first_that_fits(f"no gradient reaches {symbol}: None", before=before)
    return first_that_fits(
        f"the gradient of {goal} with respect to {symbol} is complete: {entry.equation}",
        f"the gradient with respect to {symbol} is complete: {entry.equation}",
        entry.equation,
        before=before,
    )


def derivative_sentence(symbol: str, value: str, goal: str, source: str, before: str) -> str:
    """Describe a derivative of the next order, the result of a sweep."""
    return first_that_fits(
        f"the gradient of {goal} with respect to {source} is complete: {equation(symbol, value)}",
        equation(symbol, value),
        before=before,
    )


def none_of(symbols: Sequence[str], before: str) -> str:
    """Describe values that no gradient reaches."""
    return first_that_fits(
        f"no gradient reaches {', '.join(symbols)}: None",
        f"no gradient reaches {len(symbols):,} values: None",
        before=before,
    )


def listed(
    words: str, equations: Sequence[str], max_steps: int = 3, before: str = "", joint: str = ": "
) -> str:
    """Describe several values in one sentence: as many as there is room for.

    Examples
    --------
    >>> listed("line 4, iteration 2 of 9", ["w = 0.5", "loss = 0.3"])
    'line 4, iteration 2 of 9: w = 0.5, loss = 0.3'
    """
    sentences = []
    for count in range(min(max_steps, len(equations)), 0, -1):
        more = ", …" * (count < len(equations))
        sentences.append(f"{words}{joint}{', '.join(equations[:count])}{more}")
    return first_that_fits(*sentences, words, before=before)


MAX_STEPS_PER_LOOP = 100
"""The largest number of steps through one loop in each direction."""


@dataclass(frozen=True)
class IterationRange:
    """Successive iterations that are one step.

    Attributes
    ----------
    which : str
        The iterations as text.
    first, last : int
        The first iteration, and the last one, counted from 0 in the fold.
    positions : sequence of int
        The positions of their operations.
    lines : (int, int) or None
    """

    which: str
    first: int
    last: int
    positions: Sequence[int]
    lines: tuple[int, int] | None


@dataclass
class LoopIterations:
    """The steps through the iterations of a folded loop.

    - `developments`: The values that the loop carries.
    - `max_steps`: The largest number of steps.
    """

    subject: Subject
    fold: Fold
    developments: Sequence[Development]
    max_steps: int

    @cached_property
    def _numbers(self) -> Sequence[int]:
        """The numbers of the iterations that are kept."""
        fold = self.fold
        skipped = [part.skipped if isinstance(part, Block) else 0 for part in fold.parts]
        return [fold.first - 1 + k for k in accumulate(1 + count for count in skipped)]

    @cached_property
    def all(self) -> list[IterationRange]:
        """The steps in the order of the tape."""
        count = len(self.fold.parts)
        # A block of iterations is one step, rounded up so that there are never more steps than allowed.
        size = -(-count // max(1, min(self.max_steps, MAX_STEPS_PER_LOOP)))
        return [self._block(k, min(k + size, count) - 1) for k in range(0, count, size)]

    def _block(self, first: int, last: int) -> IterationRange:
        fold = self.fold
        parts = fold.parts[first : last + 1]
        start, end = self._numbers[first], self._numbers[last]
        which = f"iteration {start:,}" if first == last else f"iterations {start:,}–{end:,}"
        return IterationRange(
            f"{which} of {fold.total:,}",
            first,
            last,
            positions_of(parts),
            _lines_of_parts(parts) or fold.lines,
        )

    def words(self, block: IterationRange) -> str:
        """Return the start of the sentence of a forward step."""
        return f"{format_lines(self.fold.lines)}, {block.which}"

    def joint(self, block: IterationRange) -> str:
        """Return the words between the start of that sentence and the values, which are from the last iteration."""
        last = f"in iteration {self._numbers[block.last]:,} "
        return ": " if block.first == block.last else f": {last}"

    def words_back(self, block: IterationRange, inside: Sequence[str]) -> str:
        """Return the start of the sentence of a reverse step, with the gradients in its first iteration."""
        words = f"{format_lines(self.fold.lines)}, back through {block.which}"
        number = f"iteration {self._numbers[block.first]:,}"
        where = "in it" if block.first == block.last else f"in {number}"
        return f"{words}: {where} {', '.join(inside)}" if inside else words

    def values(self, block: IterationRange) -> list[str]:
        """Return the loop variables after the last iteration of a step as equations, or else its last result."""
        equations = []
        for variable in self.developments:
            i, value = variable.ids[block.last], variable.values[block.last]
            if i is not None:
                equations.append(self._equation(self._symbol(variable.name, i), value))
        equations = list(filter(None, equations))
        if equations:
            return equations
        record = self.subject.records[block.positions[-1]]
        symbol = self._symbol("", several(record.output_id)[-1])
        return list(filter(None, [self._equation(symbol, several(record.output)[-1])]))

    def gradients(self, block: IterationRange) -> list[str]:
        """Return the gradients of the loop variables in the first iteration of a step as equations."""
        equations = []
        for variable in self.developments:
            i = variable.ids[block.first]
            if i is not None and i in self.subject.adjoints:
                symbol = bar(symbol_of(self._symbol(variable.name, i))).text
                equations.append(self._equation(symbol, self.subject.adjoints[i]))
        return list(filter(None, equations))

    def _equation(self, symbol: str, value: Any) -> str:
        """Write a short value or the norm of an array as an equation; '' without a value."""
        # The tape drops values that no rule reads (Absent), and a report computes no Dask arrays.
        if value is None or is_pending(value) or isinstance(value, Absent):
            return ""
        if short := brief(value) or ("" if np.shape(value) else text_of(value)):
            return f"{symbol} = {short}"
        if isinstance(value, Summary) and value.norm is None:
            return ""
        return f"norm of {symbol} = {format_number(size_of(self.subject.norms, value))}"

    def _symbol(self, name: str, i: int) -> str:
        return symbol_of(name or self.subject.symbols.get(i, "?")).text


def _lines_of_parts(parts: Sequence[Part]) -> tuple[int, int] | None:
    """Return the first and last line of iterations."""
    ranges = [part.lines for part in parts if isinstance(part, Block) and part.lines]
    return (min(a for a, _ in ranges), max(b for _, b in ranges)) if ranges else None


MAX_STEPS = 400
"""About the largest number of steps through a graph."""

MIN_LOOP_STEPS = 2
"""The least number of steps of each loop in a recording with many."""


MARK = "… "
"""The first characters of the words of a folded row."""


class StepRow(NamedTuple):
    """A row with operations: its index, the index of its node in the graph, and the positions of its records."""

    number: int
    row: TraceRow
    step: int
    positions: Sequence[int]


@dataclass
class StepContext:
    """A graph and its trace, with everything that forward and reverse steps share."""

    subject: Subject
    drawn: DrawnGraph
    trace: DrawnTrace

    def before(self, part: int) -> str:
        """Return the words with which the sentences of a part begin."""
        title = self.trace.parts[part].part.title
        return f"{title.lower()}: " if title else ""

    def places(self, part: int) -> list[StepRow]:
        """Return the rows of operations and folds in a part."""
        drawn = self.trace.parts[part]
        return [
            StepRow(k, drawn.part.rows[k], line.step, line.positions)
            for k, line in enumerate(drawn.lines, drawn.first)
            if line.step is not None
        ]

    def boxes(self, positions: Sequence[int]) -> list[int]:
        """Return the ids of the results of operations that have boxes."""
        # Few operations have boxes, and a fold may contain very many operations.
        return [i for p, _, i in self._boxed if _contains(positions, p)]

    @cached_property
    def _boxed(self) -> list[tuple[int, int, int]]:
        """The position, number and id of each result that has a box, in the order of the tape."""
        places = ((self.subject.place(i), i) for i in self.drawn.values)
        return sorted((*place, i) for place, i in places if place is not None)

    def name(self, value: Value) -> str:
        """Return the symbol of a value of the graph."""
        return symbol_of(value.name or value.symbol or value.text).text

    def symbol(self, i: int) -> str:
        """Return the symbol of a value on the tape."""
        return symbol_of(self.subject.symbols.get(i, "?")).text

    def iterations(self, step: int) -> LoopIterations | None:
        """Return the steps through a folded loop, or None for another operation."""
        return self._iterations.get(step)

    def lines(self, i: int) -> tuple[int, int] | None:
        """Return the line that assigned a watched value, as first and last line."""
        line = self._assigned.get((without_subscript(self.subject.symbols.get(i, "")), i))
        return None if line is None else (line, line)

    @cached_property
    def _assigned(self) -> dict[tuple[str, int], int]:
        # A loop may bind a name a hundred thousand times, and the report knows few of those values.
        known = self.subject.symbols
        assigned = assigned_ids(self.subject.context)
        return {(name, i): line for line, name, i in assigned if i in known}

    @cached_property
    def _iterations(self) -> dict[int, LoopIterations]:
        loops = {
            step: what
            for step, (_, what) in enumerate(self.drawn.plan.items)
            if isinstance(what, Fold) and what.kind == "loop"
        }
        rows = [row for part in self.trace.parts for row in part.part.rows]
        # Rows outside of loops always have steps; loops share the rest, half of it in each direction.
        room = MAX_STEPS - sum(1 + len(row.reverse) for row in rows)
        max_steps = max(MIN_LOOP_STEPS, room // (2 * len(loops) or 1))
        return {
            step: LoopIterations(self.subject, fold, self.drawn.developments[step], max_steps)
            for step, fold in loops.items()
        }


def _contains(positions: Sequence[int], position: int) -> bool:
    """Return True if a position is one of some positions, which rise."""
    k = bisect_left(positions, position)
    return k < len(positions) and positions[k] == position


class ForwardSteps:
    """Yields the forward steps."""

    def __init__(self, walk: StepContext) -> None:
        self._walk = walk
        self._graph = walk.drawn.graph
        self._index = walk.drawn.values
        versions = walk.subject.split.versions.values()
        self._later = {i for numbers in versions for i in numbers[1:]}
        self._inputs = walk.trace.parts[0].inputs
        self._boxes = self._boxes_of_inputs()
        shown = self._inputs[: walk.trace.parts[0].rows_of_inputs]
        self._rows = {i: k for k, i in enumerate(shown)}
        steps = self._graph.steps
        self._results = {k for step in steps for k in (*step.outputs, *step.assigned)}
        read = {k for step in steps for k in step.inputs}
        rowed = set(self._boxes.values())
        self._start = [
            value.index
            for value in self._graph.values
            # Constants without a row never get a step, so they are filled from the start.
            if value.index not in self._results | rowed
            and (value.role == "constant" or value.index not in read)
        ]
        self._filled = set(self._start)

    def _boxes_of_inputs(self) -> dict[int, int]:
        """Return the boxes of the watched values, by id."""
        # Integers aren't on the tape, so their boxes are boxes by name.
        tracked = set(self._index.values())
        values = [x for x in self._graph.values if x.index not in tracked]
        named = {x.name: x.index for x in values if x.name and x.role != "constant"}
        names = self._walk.subject.names
        boxes = {i: self._index.get(i, named.get(names.get(i, ""))) for i in self._inputs}
        return {i: index for i, index in boxes.items() if index is not None}

    def start(self) -> tuple[int, ...]:
        """Return the boxes that are filled before the first step: constants, and values without a row."""
        return tuple(sorted({*self._start, *range(len(self._graph.values))} - self._stepped))

    @property
    def _stepped(self) -> set[int]:
        return self._filled - set(self._start)

    def part(self, part: int) -> Iterator[TraceStep]:
        """Yield the forward steps of a part of the trace; call it for all parts in order."""
        if not part:
            yield from self._watched()
        for place in self._walk.places(part):
            inputs = self._graph.steps[place.step].inputs
            for i, row in self._rows.items():
                is_read = i in self._later and self._boxes.get(i) in inputs
                if is_read and (shown := self._new([self._boxes[i]])):
                    yield self._changed(i, row, shown)
            yield from self._operations(part, place)

    def _watched(self) -> Iterator[TraceStep]:
        """Yield the steps of the watched values."""
        for i, row in self._rows.items():
            index = self._boxes.get(i)
            # A variable that changed has its step where its new value is first read.
            if i in self._later or index in self._results:
                continue
            is_variable = self._walk.subject.roles.get(i) == "variable"
            row_words = self._walk.trace.parts[0].part.rows[row].equation
            words = first_that_fits(row_words, before="variable: " if is_variable else "watched: ")
            shown = self._new([] if index is None else [index])
            yield TraceStep("forward", 0, row, None, self._walk.lines(i), words, shown)
        rest = self._inputs[len(self._rows) :]
        if rest:
            row = len(self._rows)
            words = self._walk.trace.parts[0].part.rows[row].words.removeprefix(MARK)
            boxes = [self._boxes[i] for i in rest if i in self._boxes and i not in self._later]
            shown = self._new(k for k in boxes if k not in self._results)
            yield TraceStep("forward", 0, row, None, None, printable(words), shown)

    def _changed(self, i: int, row: int, shown: tuple[int, ...]) -> TraceStep:
        """Return the step of a variable that has a new value."""
        row_words = self._walk.trace.parts[0].part.rows[row].equation
        name = without_subscript(self._walk.symbol(i))
        words = first_that_fits(row_words, before=f"the variable {name} has changed: ")
        return TraceStep("forward", 0, row, None, None, words, shown)

    def _operations(self, part: int, place: StepRow) -> Iterator[TraceStep]:
        """Yield the steps of a row."""
        number, row, step, positions = place
        before = self._walk.before(part)
        drawn = self._graph.steps[step]
        iterations = self._walk.iterations(step)
        if iterations is None:
            results = [self._index[i] for i in self._walk.boxes(positions)]
            if row.kind == "operation":
                words = operation_sentence(row, before)
            else:
                values = [self._graph.values[k] for k in results if k not in self._filled]
                equations = [f"{self._walk.name(x)} = {x.text}" for x in values]
                start = before + where(row)
                words = listed(row.words.removeprefix(MARK), equations, before=start)
            shown = self._new([*drawn.inputs, *results])
            yield TraceStep(
                "forward", part, number, step, row.lines, words, shown, positions=positions
            )
            return
        for k, block in enumerate(iterations.all):
            results = [self._index[i] for i in self._walk.boxes(block.positions)]
            first, last = k == 0, k == len(iterations.all) - 1
            shown = self._new([*drawn.inputs * first, *results, *drawn.assigned * last])
            equations, joint = iterations.values(block), iterations.joint(block)
            words = listed(iterations.words(block), equations, before=before, joint=joint)
            yield TraceStep(
                "forward", part, number, step, block.lines, words, shown, positions=block.positions
            )

    def _new(self, indices: Iterable[int]) -> tuple[int, ...]:
        """Select the boxes that weren't filled yet, and mark them as filled."""
        new = [k for k in dict.fromkeys(indices) if k not in self._filled]
        self._filled.update(new)
        return tuple(new)


MAX_INSIDE = 3
"""The number of gradients inside a fold that a sentence shows."""

Texts = dict[int, str]
"""Gradients as text, by the indices of boxes."""


class ReverseSteps:
    """Yields the reverse steps."""

    def __init__(self, walk: StepContext) -> None:
        self._walk = walk
        self._graph = walk.drawn.graph
        self._index = walk.drawn.values
        self._starts = starts(walk.subject)
        self._filling = PartialAdjoints(walk.drawn, walk.trace.shares, self._starts)
        self._seeded: set[int] = set()
        self._orders = {x.order for x in self._graph.values if x.gradient is not None}
        self._without_gradient: set[int] = set()
        levels = walk.subject.levels
        self._levels = {k: levels[i] for i, k in self._index.items() if i in levels}
        self._elsewhere = self._places_elsewhere()

    def part(self, part: int) -> Iterator[TraceStep]:
        """Yield the reverse steps of a part of the trace; call it for all parts in order."""
        for place in reversed(self._walk.places(part)):
            iterations = self._walk.iterations(place.step)
            if iterations is not None:
                for block in reversed(iterations.all):
                    yield from self._block(part, place, block)
            elif place.row.kind == "operation":
                yield from self._operation(part, place)
            else:
                yield from self._fold(part, place)
        if part:
            yield from self._next_derivatives(part)
        else:
            yield from self._watched()
        yield from self._nothing(part)

    def rest(self) -> Iterator[TraceStep]:
        """Yield a last step if a gradient is still incomplete."""
        if texts := self._filling.finish(self._filling.rest()):
            names = [f"{bar(symbol_of(self._name(k))).text} = {text}" for k, text in texts.items()]
            words = listed("the other gradients", names)
            last = len(self._walk.trace.parts) - 1
            yield TraceStep("reverse", last, None, None, None, words, (), tuple(texts.items()))

    def _places_elsewhere(self) -> list[int]:
        """Return the positions of hidden operations that pass a share back to a box, oldest first."""
        parts = range(len(self._walk.trace.parts))
        rows = {p for k in parts for place in self._walk.places(k) for p in place.positions}
        return sorted(self._filling.arriving.keys() - rows)

    def _beforehand(self, positions: Sequence[int]) -> Texts:
        """Return the gradients that hidden operations change before the sweep reaches `positions`."""
        texts: Texts = {}
        # The sweep meets operations in descending order, also those that aren't drawn.
        while self._elsewhere and self._elsewhere[-1] > positions[-1]:
            texts |= self._filling.arrive(self._elsewhere.pop())
        return texts

    def _operation(self, part: int, place: StepRow) -> Iterator[TraceStep]:
        """Yield the steps of an operation: the seeds of its results, and a share for each input."""
        number, row, step, positions = place
        texts = self._beforehand(positions)
        for k, entry in enumerate(row.reverse):
            if entry.kind == "share":
                texts |= self._finished(positions)
                texts |= self._filling.arrive(positions[0], entry.operand)
            elif entry.kind == "seed" and entry.value is not None:
                self._seeded.add(entry.value)
                texts |= self._filling.begin(entry.value)
            # The last step of a row also takes the shares of inputs that the row doesn't list.
            if k == len(row.reverse) - 1:
                texts |= self._finished(positions)
                texts |= self._filling.arrive(positions[0])
            words = self._words(part, place, entry)
            changed = tuple(texts.items())
            yield TraceStep(
                "reverse", part, number, step, row.lines, words, (), changed, k, positions
            )
            texts = {}

    def _finished(self, positions: Sequence[int]) -> Texts:
        """Complete the gradients of the results of operations."""
        return self._filling.finish(self._walk.boxes(positions))

    def _words(self, part: int, place: StepRow, entry: AdjointStep) -> str:
        """Return the sentence of a step at an operation."""
        before = self._walk.before(part)
        record = self._walk.subject.records[place.positions[0]]
        if entry.value is None:
            words = f"{record.name} passes back to{entry.symbol.removeprefix('…')}"
            return first_that_fits(words, before=before)
        symbol = self._walk.symbol(entry.value)
        if entry.kind == "seed":
            return self._words_of_seed(part, entry)
        operand = entry.operand or 0
        shape = np.shape(record.values[operand])
        again = record.ids.count(entry.value) > 1
        which = f", its {ordinal(operand + 1)} input" if again else ""
        each = "each element of " if repeats(record, operand) else ""
        start = f"{before}{record.name} passes back to {each}{symbol}{which}: "
        return share_sentence(entry, symbol, shape, start)

    def _words_of_seed(self, part: int, entry: AdjointStep) -> str:
        """Return the sentence for the gradient with which a sweep begins."""
        goal = self._walk.trace.parts[part].part.goal
        symbol = self._walk.symbol(entry.value) if entry.value is not None else ""
        among = "derivatives" if part else "targets"
        return seed_sentence(entry, symbol, goal, among, self._walk.before(part))

    def _fold(self, part: int, place: StepRow) -> Iterator[TraceStep]:
        """Yield the steps of a folded row."""
        # A target may be computed inside a fold: its seed comes before the step through the fold.
        yield from self._seeds(part, place, place.positions)
        texts = self._passed(place.positions)
        if not self._is_reached(place.positions):
            return
        words = f"{where(place.row)}back through {place.row.words.removeprefix(MARK)}"
        is_layer = self._graph.steps[place.step].kind == "layer"
        inside = [
            entry.equation
            for entry in place.row.reverse[:MAX_INSIDE]
            if entry.kind == "whole"
            and not (is_layer and self._index.get(entry.value or 0) in texts)
        ]
        if inside:
            words += f": {', '.join(inside)}"
        yield self._together(part, place, place.positions, words, texts, inside, place.row.lines)

    def _block(self, part: int, place: StepRow, block: IterationRange) -> Iterator[TraceStep]:
        """Yield the steps of iterations."""
        yield from self._seeds(part, place, block.positions)
        texts = self._passed(block.positions)
        iterations = self._walk.iterations(place.step)
        if iterations is None or not self._is_reached(block.positions):
            return
        inside = iterations.gradients(block)
        words = iterations.words_back(block, inside)
        yield self._together(part, place, block.positions, words, texts, inside, block.lines)

    def _together(
        self,
        part: int,
        place: StepRow,
        positions: Sequence[int],
        words: str,
        texts: Texts,
        inside: Sequence[str],
        lines: tuple[int, int] | None,
    ) -> TraceStep:
        """Return a step through several operations, without changes that `inside` already lists."""
        equations = [self._equation(k, text) for k, text in texts.items()]
        changes = [change for change in equations if change not in inside]
        before, joint = self._walk.before(part), "; " if inside else ": "
        sentence = listed(words, changes, before=before, joint=joint)
        return TraceStep(
            "reverse",
            part,
            place.number,
            place.step,
            lines,
            sentence,
            gradients=tuple(texts.items()),
            positions=positions,
        )

    def _passed(self, positions: Sequence[int]) -> Texts:
        """Return the gradients that change while the sweep goes through operations."""
        texts = self._beforehand(positions)
        for position in reversed(positions):
            if position in self._filling.arriving:
                texts |= self._filling.arrive(position)
        return texts | self._finished(positions)

    def _is_reached(self, positions: Sequence[int]) -> bool:
        """Return True if the target depends on a result of operations."""
        records, adjoints = self._walk.subject.records, self._walk.subject.adjoints
        return any(i in adjoints for p in positions for i in records[p].output_ids)

    def _seeds(self, part: int, place: StepRow, positions: Sequence[int]) -> Iterator[TraceStep]:
        """Yield the steps for the seeds of targets that operations compute, or are the last to read."""
        records = self._walk.subject.records
        if all(i in self._seeded for i in self._starts if i in self._index):
            return
        for position in reversed(positions):
            _, _, ids, *_, results = records[position]
            for i in (*ids, *(results if isinstance(results, tuple) else (results,))):
                if i in self._starts and i in self._index and i not in self._seeded:
                    self._seeded.add(i)
                    symbol = symbol_of(self._walk.symbol(i))
                    entry = adjoint_step(symbol, i, self._starts[i], "seed")
                    words = self._words_of_seed(part, entry)
                    changed = tuple(self._filling.begin(i).items())
                    lines = place.row.lines
                    yield TraceStep(
                        "reverse", part, place.number, place.step, lines, words, (), changed
                    )

    def _equation(self, k: int, text: str) -> str:
        """Return the current gradient of a box as an equation."""
        symbol = bar(symbol_of(self._name(k))).text
        # The sum of large arrays isn't computed before it is complete.
        if text == UNKNOWN:
            return f"a share to {symbol}"
        return f"{symbol} = {text}{'' if self._filling.is_complete(k) else ' so far'}"

    def _name(self, k: int) -> str:
        return self._walk.name(self._graph.values[k])

    def _watched(self) -> Iterator[TraceStep]:
        """Yield the steps for the complete gradients of the watched values."""
        part = self._walk.trace.parts[0]
        goal = part.part.goal or "the target"
        for row in range(part.rows_of_inputs - 1, -1, -1):
            i = part.inputs[row]
            for k, entry in enumerate(part.part.rows[row].reverse):
                texts = self._filling.finish([i])
                index = self._index.get(i)
                if index is not None and entry.after == "None":
                    self._without_gradient.add(index)
                    texts = self._none([index])
                words = whole_sentence(entry, self._walk.symbol(i), goal, "")
                lines, changed = self._walk.lines(i), tuple(texts.items())
                yield TraceStep("reverse", 0, row, None, lines, words, (), changed, k)

    def _next_derivatives(self, part: int) -> Iterator[TraceStep]:
        """Yield the steps for the results of a sweep from derivatives: derivatives of the next order."""
        subject, order = self._walk.subject, self._walk.trace.parts[part].part.order
        gradients = subject.derivatives.gradients
        keys = [key for key, g in gradients.items() if key[2] == order + 1 and g is not None]
        for t, s, _ in keys[:MAX_INPUTS]:
            target, source = subject.targets[t], subject.sources[s]
            is_of_sum = name_of_sum(target, source, order + 1)
            below = derivative_symbol(target[0], source[0], order)
            goal = f"the sum of {below}" if is_of_sum else below
            symbol = derivative_symbol(target[0], source[0], order + 1)
            value, before = text_of(unwrap(gradients[t, s, order + 1])), self._walk.before(part)
            words = derivative_sentence(symbol, value, goal, source[0], before)
            yield TraceStep("reverse", part, None, None, None, words)

    def _nothing(self, part: int) -> Iterator[TraceStep]:
        """Yield the step for the values of a part that no gradient reaches."""
        order = self._walk.trace.parts[part].part.order
        values = [
            value
            for value in self._graph.values
            if value.shown_gradient is None
            and value.role != "constant"
            and value.index not in self._without_gradient
            and value.order in self._orders
            and self._levels.get(value.index, 0) == order
        ]
        if values:
            texts = self._none([value.index for value in values])
            words = none_of([*map(self._walk.name, values)], self._walk.before(part))
            yield TraceStep("reverse", part, None, None, None, words, (), tuple(texts.items()))

    def _none(self, indices: Sequence[int]) -> Texts:
        """Return the text None for all boxes that show gradients."""
        return {k: "None" for k in indices if self._graph.values[k].order in self._orders}


def steps_of(subject: Subject, drawn: DrawnGraph) -> Steps:
    """Return the steps through a recording and its trace, with the same folds as its graph."""
    # The formulas repeat operations of the cell, whose warnings the user has seen.
    with np.errstate(all="ignore"):
        drawn_trace = trace_as_drawn(subject, drawn)
        trace = Trace(tuple(x.part for x in drawn_trace.parts))
        if not trace.parts:
            return Steps(trace, (), tuple(range(len(drawn.graph.values))))
        walk = StepContext(subject, drawn, drawn_trace)
        forward, reverse = ForwardSteps(walk), ReverseSteps(walk)
        steps: list[TraceStep] = []
        # The derivatives of an order are new operations, with values forward and adjoints in reverse.
        for part in range(len(trace.parts)):
            steps += forward.part(part)
            steps += reverse.part(part)
        steps += reverse.rest()
        return Steps(trace, tuple(steps), forward.start())
