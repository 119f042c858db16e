"""The steps through a drawn graph and its trace: forward operation by operation, then in reverse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
from tapemagic.report.folding import Block, Part
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.gradients.derivatives import name_of_sum
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.graph.graph import Value
from tapemagic.report.tabs.graph.loop_variables import Development, size_of
from tapemagic.report.tabs.graph.view import Fold
from tapemagic.report.tabs.lines.find import assigned_ids
from tapemagic.report.tabs.trace.find import (
    MAX_INPUTS,
    DrawnTrace,
    Trace,
    TraceRow,
    ordinal,
    positions_of,
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
        The index of the part of the trace: 0 for the cell's, then those of the derivatives that the report took.
    row : int or None
        The index of its row in that part.
    entry : int or None
        In reverse, the index of its equation in that row.
    step : int or None
        The index of the operation in the graph; None for a watched value.
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
        Those of the operations on the tape that it goes through.
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
    """The steps through a recording, beside its trace.

    Attributes
    ----------
    trace : Trace
        Laid out as the graph is. It has no parts if no operation was recorded.
    steps : tuple of TraceStep
    known : tuple of int
        The values of the graph that are known before the first step: constants, and those without a row.
    """

    trace: Trace
    steps: tuple[TraceStep, ...]
    known: tuple[int, ...] = ()


LONGEST_SENTENCE = 200
"""The number of characters of a sentence."""


def first_that_fits(*sentences: str, before: str = "") -> str:
    """The first of some sentences that is short enough, or else the last one, cut; all begin with the words `before`.

    Examples
    --------
    >>> first_that_fits("v1 = a + b = 3.0", "v1 = 3.0", before="line 2: ")
    'line 2: v1 = a + b = 3.0'
    """
    full = [printable(before + sentence) for sentence in sentences]
    return clipped(
        next((words for words in full if len(words) <= LONGEST_SENTENCE), full[-1]),
        LONGEST_SENTENCE,
    )


def where(row: TraceRow) -> str:
    """The lines of a row, to begin its sentence with; empty if they are not known, or its words tell them."""
    lines = format_lines(row.lines)
    return f"{lines}: " if row.lines and lines not in row.words else ""


def operation_sentence(row: TraceRow, before: str) -> str:
    """The sentence of an operation, forward."""
    formula, numbers = _in_brackets(row.formula), _in_brackets(row.numbers)
    return first_that_fits(
        equation(row.symbol, formula, numbers, row.value),
        equation(row.symbol, formula, row.value),
        equation(row.symbol, row.value),
        before=before + where(row),
    )


def _in_brackets(formula: str) -> str:
    """A formula, in brackets if it is a choice: an equals sign behind it would belong to its last case.

    Examples
    --------
    >>> _in_brackets("x if x > 0, else 0"), _in_brackets("max(0, x)")
    ('(x if x > 0, else 0)', 'max(0, x)')
    """
    depth = 0
    for k, letter in enumerate(formula):
        depth += (letter in "([") - (letter in ")]")
        if not depth and formula.startswith(", else ", k):
            return f"({formula})"
    return formula


def seed_sentence(entry: AdjointStep, symbol: str, goal: str, among: str, before: str) -> str:
    """The sentence for the gradient with which the sweep begins at a target."""
    if goal == symbol:
        words = f"{entry.equation}: the gradient of {symbol} with respect to itself"
    elif goal == f"the sum of {symbol}":
        words = f"{entry.equation}: the gradient of {goal} with respect to {symbol}"
    else:
        words = f"{symbol} is one of the {among}: {entry.symbol} begins with {entry.after}"
    return first_that_fits(words, entry.equation, before=before)


def share_sentence(entry: AdjointStep, symbol: str, shape: tuple[int, ...], before: str) -> str:
    """The sentence for what an operation passes back to one of its inputs; of an unknown array with the shape."""
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
        end = f"{has}: {entry.before} + {entry.added} = {entry.after}"
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
    """A formula without the brackets around the whole of it."""
    depth = 0
    for k, letter in enumerate(formula):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return formula[1:-1] if k and k == len(formula) - 1 else formula
    return formula


def whole_sentence(entry: AdjointStep, symbol: str, goal: str, before: str) -> str:
    """The sentence for the complete gradient of a watched value."""
    if entry.after == "None":
        return first_that_fits(f"no gradient reaches {symbol}: None", before=before)
    return first_that_fits(
        f"the gradient of {goal} with respect to {symbol} is complete: {entry.equation}",
        f"the gradient with respect to {symbol} is complete: {entry.equation}",
        entry.equation,
        before=before,
    )


def derivative_sentence(symbol: str, value: str, goal: str, source: str, before: str) -> str:
    """The sentence for a derivative of the next order, for which a sweep is done."""
    return first_that_fits(
        f"the gradient of {goal} with respect to {source} is complete: {equation(symbol, value)}",
        equation(symbol, value),
        before=before,
    )


def none_of(symbols: Sequence[str], before: str) -> str:
    """The sentence for values that no gradient reaches."""
    return first_that_fits(
        f"no gradient reaches {', '.join(symbols)}: None",
        f"no gradient reaches {len(symbols):,} values: None",
        before=before,
    )


def listed(
    words: str, equations: Sequence[str], most: int = 3, before: str = "", joint: str = ": "
) -> str:
    """The sentence for several values at once: as many of them as there is room for.

    Examples
    --------
    >>> listed("line 4, iteration 2 of 9", ["w = 0.5", "loss = 0.3"])
    'line 4, iteration 2 of 9: w = 0.5, loss = 0.3'
    """
    sentences = []
    for count in range(min(most, len(equations)), 0, -1):
        more = ", …" * (count < len(equations))
        sentences.append(f"{words}{joint}{', '.join(equations[:count])}{more}")
    return first_that_fits(*sentences, words, before=before)


MAX_STEPS_PER_LOOP = 100
"""The largest number of steps through one loop, each way."""


@dataclass(frozen=True)
class IterationRange:
    """Iterations that are one step.

    Attributes
    ----------
    which : str
        The iterations in words.
    first, last : int
        The first iteration, and the last one, counted from 0 in the fold.
    positions : sequence of int
        Those of their operations.
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

    Parameters
    ----------
    subject : Subject
    fold : Fold
    developments : sequence of Development
        The values that the loop carries.
    most : int
        The largest number of steps.
    """

    subject: Subject
    fold: Fold
    developments: Sequence[Development]
    most: int

    @cached_property
    def all(self) -> list[IterationRange]:
        """The steps, in the order of the tape."""
        count = len(self.fold.parts)
        size = -(-count // max(1, min(self.most, MAX_STEPS_PER_LOOP)))
        return [self._turn(k, min(k + size, count) - 1) for k in range(0, count, size)]

    def _turn(self, first: int, last: int) -> IterationRange:
        fold = self.fold
        parts = fold.parts[first : last + 1]
        one, many = fold.first + first, fold.first + last
        which = f"iteration {one:,}" if first == last else f"iterations {one:,}–{many:,}"
        return IterationRange(
            f"{which} of {fold.total:,}",
            first,
            last,
            list(positions_of(parts)),
            _lines_of_parts(parts) or fold.lines,
        )

    def words(self, turn: IterationRange) -> str:
        """The beginning of the sentence of a step forward."""
        return f"{format_lines(self.fold.lines)}, {turn.which}"

    def joint(self, turn: IterationRange) -> str:
        """The words between that beginning and the values, which are those in the last iteration."""
        last = f"in iteration {self.fold.first + turn.last:,} "
        return ": " if turn.first == turn.last else f": {last}"

    def words_back(self, turn: IterationRange, inside: Sequence[str]) -> str:
        """The beginning of the sentence of a step in reverse, with the gradients in its first iteration."""
        words = f"{format_lines(self.fold.lines)}, back through {turn.which}"
        number = f"iteration {self.fold.first + turn.first:,}"
        where = "in it" if turn.first == turn.last else f"in {number}"
        return f"{words}: {where} {', '.join(inside)}" if inside else words

    def values(self, turn: IterationRange) -> list[str]:
        """The values that the last iteration of a step carries, as equations; its last result if none is known."""
        found = []
        for one in self.developments:
            i, value = one.ids[turn.last], one.values[turn.last]
            if i is not None:
                found.append(self._said(self._symbol(one.name, i), value))
        found = list(filter(None, found))
        if found:
            return found
        record = self.subject.records[turn.positions[-1]]
        symbol = self._symbol("", several(record.output_id)[-1])
        return list(filter(None, [self._said(symbol, several(record.output)[-1])]))

    def gradients(self, turn: IterationRange) -> list[str]:
        """The gradients of what is carried in the first iteration of a step, as equations."""
        found = []
        for one in self.developments:
            i = one.ids[turn.first]
            if i is not None and i in self.subject.adjoints:
                symbol = bar(symbol_of(self._symbol(one.name, i))).text
                found.append(self._said(symbol, self.subject.adjoints[i]))
        return list(filter(None, found))

    def _said(self, symbol: str, value: Any) -> str:
        """A short value as an equation, or else the norm of an array; empty if it is not known."""
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
    """The lines of some iterations."""
    known = [part.lines for part in parts if isinstance(part, Block) and part.lines]
    return (min(a for a, _ in known), max(b for _, b in known)) if known else None


MOST_STEPS = 400
"""About the largest number of steps through a graph."""

LEAST_TURNS = 2
"""The number of steps that every loop has, however many others there are."""


MARK = "… "
"""The beginning of the words of rows in which several operations stand together."""


class StepRow(NamedTuple):
    """A row of operations: its index, itself, the index of its step in the graph, and the positions of the records."""

    number: int
    row: TraceRow
    step: int
    positions: Sequence[int]


@dataclass
class StepContext:
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

    def places(self, part: int) -> list[StepRow]:
        """The rows of operations and folds in a part."""
        found = self.trace.parts[part]
        return [
            StepRow(k, found.part.rows[k], line.step, line.positions)
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

    def turns(self, step: int) -> LoopIterations | None:
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
    def _turns(self) -> dict[int, LoopIterations]:
        loops = {
            step: what
            for step, (_, what) in enumerate(self.drawn.plan.items)
            if isinstance(what, Fold) and what.kind == "loop"
        }
        rows = [row for part in self.trace.parts for row in part.part.rows]
        room = MOST_STEPS - sum(1 + len(row.reverse) for row in rows)
        most = max(LEAST_TURNS, room // (2 * len(loops) or 1))
        return {
            step: LoopIterations(self.subject, fold, self.drawn.developments[step], most)
            for step, fold in loops.items()
        }


class ForwardSteps:
    """The steps forward.

    Parameters
    ----------
    walk : StepContext
    """

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
        self._made = {k for step in steps for k in (*step.outputs, *step.assigned)}
        read = {k for step in steps for k in step.inputs}
        rowed = set(self._boxes.values())
        self._start = [
            value.index
            for value in self._graph.values
            if value.index not in self._made | rowed
            and (value.role == "constant" or value.index not in read)
        ]
        self._known = set(self._start)

    def _boxes_of_inputs(self) -> dict[int, int]:
        """The indices in the graph of the watched values by id; integers are not on the tape, but have names."""
        tracked = set(self._index.values())
        values = [x for x in self._graph.values if x.index not in tracked]
        named = {x.name: x.index for x in values if x.name and x.role != "constant"}
        names = self._walk.subject.names
        found = {i: self._index.get(i, named.get(names.get(i, ""))) for i in self._inputs}
        return {i: index for i, index in found.items() if index is not None}

    def start(self) -> tuple[int, ...]:
        """The values of the graph that no step makes known: constants, and those without a row."""
        return tuple(sorted({*self._start, *range(len(self._graph.values))} - self._stepped))

    @property
    def _stepped(self) -> set[int]:
        return self._known - set(self._start)

    def part(self, part: int) -> Iterator[TraceStep]:
        """The steps forward through a part of the trace; parts in their order."""
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
        """The steps for the watched values."""
        for i, row in self._rows.items():
            index = self._boxes.get(i)
            if i in self._later or index in self._made:
                continue
            is_variable = self._walk.subject.roles.get(i) == "variable"
            said = self._walk.trace.parts[0].part.rows[row].equation
            words = first_that_fits(said, before="variable: " if is_variable else "watched: ")
            shown = self._new([] if index is None else [index])
            yield TraceStep("forward", 0, row, None, self._walk.lines(i), words, shown)
        rest = self._inputs[len(self._rows) :]
        if rest:
            row = len(self._rows)
            words = self._walk.trace.parts[0].part.rows[row].words.removeprefix(MARK)
            boxes = [self._boxes[i] for i in rest if i in self._boxes and i not in self._later]
            shown = self._new(k for k in boxes if k not in self._made)
            yield TraceStep("forward", 0, row, None, None, printable(words), shown)

    def _changed(self, i: int, row: int, shown: tuple[int, ...]) -> TraceStep:
        """The step for a variable that has another value now."""
        said = self._walk.trace.parts[0].part.rows[row].equation
        name = without_subscript(self._walk.symbol(i))
        words = first_that_fits(said, before=f"the variable {name} has changed: ")
        return TraceStep("forward", 0, row, None, None, words, shown)

    def _operations(self, part: int, place: StepRow) -> Iterator[TraceStep]:
        """The steps of a row."""
        number, row, step, positions = place
        before = self._walk.before(part)
        drawn = self._graph.steps[step]
        turns = self._walk.turns(step)
        if turns is None:
            made = [self._index[i] for i in self._walk.boxes(positions)]
            if row.kind == "operation":
                words = operation_sentence(row, before)
            else:
                results = [self._graph.values[k] for k in made if k not in self._known]
                said = [f"{self._walk.name(x)} = {x.text}" for x in results]
                start = before + where(row)
                words = listed(row.words.removeprefix(MARK), said, before=start)
            shown = self._new([*drawn.inputs, *made])
            yield TraceStep(
                "forward", part, number, step, row.lines, words, shown, positions=positions
            )
            return
        for k, turn in enumerate(turns.all):
            made = [self._index[i] for i in self._walk.boxes(turn.positions)]
            first, last = k == 0, k == len(turns.all) - 1
            shown = self._new([*drawn.inputs * first, *made, *drawn.assigned * last])
            said, joint = turns.values(turn), turns.joint(turn)
            words = listed(turns.words(turn), said, before=before, joint=joint)
            yield TraceStep(
                "forward", part, number, step, turn.lines, words, shown, positions=turn.positions
            )

    def _new(self, indices: Iterable[int]) -> tuple[int, ...]:
        """Those of some values that were not known yet."""
        found = [k for k in dict.fromkeys(indices) if k not in self._known]
        self._known.update(found)
        return tuple(found)


MOST_INSIDE = 3
"""The number of gradients in the middle of several operations that a sentence tells."""

Texts = dict[int, str]
"""Gradients as text by the indices of the values in the graph."""


class ReverseSteps:
    """The steps in reverse.

    Parameters
    ----------
    walk : StepContext
    """

    def __init__(self, walk: StepContext) -> None:
        self._walk = walk
        self._graph = walk.drawn.graph
        self._index = walk.drawn.values
        self._starts = starts(walk.subject)
        self._filling = PartialAdjoints(walk.drawn, walk.trace.shares, self._starts)
        self._seeded: set[int] = set()
        self._orders = {x.order for x in self._graph.values if x.gradient is not None}
        self._told: set[int] = set()
        levels = walk.subject.levels
        self._levels = {k: levels[i] for i, k in self._index.items() if i in levels}
        self._elsewhere = self._places_elsewhere()

    def part(self, part: int) -> Iterator[TraceStep]:
        """The steps back through a part of the trace; parts in their order."""
        for place in reversed(self._walk.places(part)):
            turns = self._walk.turns(place.step)
            if turns is not None:
                for turn in reversed(turns.all):
                    yield from self._turn(part, place, turn)
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
        """A last step, if some gradient is not complete without it."""
        if texts := self._filling.finish(self._filling.rest()):
            names = [f"{bar(symbol_of(self._name(k))).text} = {text}" for k, text in texts.items()]
            words = listed("the other gradients", names)
            last = len(self._walk.trace.parts) - 1
            yield TraceStep("reverse", last, None, None, None, words, (), tuple(texts.items()))

    def _places_elsewhere(self) -> list[int]:
        """The positions of operations that are not drawn but pass something back to values that are, oldest first."""
        parts = range(len(self._walk.trace.parts))
        rows = {p for k in parts for place in self._walk.places(k) for p in place.positions}
        return sorted(self._filling.arriving.keys() - rows)

    def _beforehand(self, positions: Sequence[int]) -> Texts:
        """The gradients that change before the sweep comes to some operations, through others that are not drawn."""
        texts: Texts = {}
        while self._elsewhere and self._elsewhere[-1] > positions[-1]:
            texts |= self._filling.arrive(self._elsewhere.pop())
        return texts

    def _operation(self, part: int, place: StepRow) -> Iterator[TraceStep]:
        """The steps of an operation: the seeds of its results, and a share for each input."""
        number, row, step, positions = place
        texts = self._beforehand(positions)
        for k, entry in enumerate(row.reverse):
            if entry.kind == "share":
                texts |= self._finished(positions)
                texts |= self._filling.arrive(positions[0], entry.operand)
            elif entry.kind == "seed" and entry.value is not None:
                self._seeded.add(entry.value)
                texts |= self._filling.begin(entry.value)
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
        """The gradients of the results of some operations, where they were not complete yet."""
        return self._filling.finish(self._walk.boxes(positions))

    def _words(self, part: int, place: StepRow, entry: AdjointStep) -> str:
        """The sentence of a step at an operation."""
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
        """The sentence for the gradient with which the sweep begins at a target, or at a derivative of it."""
        goal = self._walk.trace.parts[part].part.goal
        symbol = self._walk.symbol(entry.value) if entry.value is not None else ""
        among = "derivatives" if part else "targets"
        return seed_sentence(entry, symbol, goal, among, self._walk.before(part))

    def _fold(self, part: int, place: StepRow) -> Iterator[TraceStep]:
        """The steps of operations that stand together in one row."""
        yield from self._seeds(part, place, place.positions)
        texts = self._passed(place.positions)
        if not self._is_reached(place.positions):
            return
        words = f"{where(place.row)}back through {place.row.words.removeprefix(MARK)}"
        is_layer = self._graph.steps[place.step].kind == "layer"
        inside = [
            entry.equation
            for entry in place.row.reverse[:MOST_INSIDE]
            if entry.kind == "whole"
            and not (is_layer and self._index.get(entry.value or 0) in texts)
        ]
        if inside:
            words += f": {', '.join(inside)}"
        yield self._together(part, place, place.positions, words, texts, inside, place.row.lines)

    def _turn(self, part: int, place: StepRow, turn: IterationRange) -> Iterator[TraceStep]:
        """The steps of an iteration, or of several."""
        yield from self._seeds(part, place, turn.positions)
        texts = self._passed(turn.positions)
        turns = self._walk.turns(place.step)
        if turns is None or not self._is_reached(turn.positions):
            return
        inside = turns.gradients(turn)
        words = turns.words_back(turn, inside)
        yield self._together(part, place, turn.positions, words, texts, inside, turn.lines)

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
        """A step through several operations; what is said of those `inside` is not said again."""
        said = [self._said(k, text) for k, text in texts.items()]
        changes = [change for change in said if change not in inside]
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
        """The gradients that change while the sweep goes through some operations."""
        texts = self._beforehand(positions)
        for position in reversed(positions):
            if position in self._filling.arriving:
                texts |= self._filling.arrive(position)
        return texts | self._finished(positions)

    def _is_reached(self, positions: Sequence[int]) -> bool:
        """Whether the target depends on a result of some operations."""
        records, adjoints = self._walk.subject.records, self._walk.subject.adjoints
        return any(i in adjoints for p in positions for i in records[p].output_ids)

    def _seeds(self, part: int, place: StepRow, positions: Sequence[int]) -> Iterator[TraceStep]:
        """The steps for the seeds of targets that some operations made, or are the last to read."""
        records = self._walk.subject.records
        for position in reversed(positions):
            _, _, ids, *_, made = records[position]
            for i in (*ids, *(made if isinstance(made, tuple) else (made,))):
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

    def _said(self, k: int, text: str) -> str:
        """The gradient of a value of the graph as it is now, as an equation."""
        symbol = bar(symbol_of(self._name(k))).text
        if text == UNKNOWN:
            return f"a share to {symbol}"
        return f"{symbol} = {text}{'' if self._filling.is_complete(k) else ' so far'}"

    def _name(self, k: int) -> str:
        return self._walk.name(self._graph.values[k])

    def _watched(self) -> Iterator[TraceStep]:
        """The steps for the watched values, whose gradients are complete."""
        part = self._walk.trace.parts[0]
        goal = part.part.goal or "the target"
        for row in range(part.rows_of_inputs - 1, -1, -1):
            i = part.inputs[row]
            for k, entry in enumerate(part.part.rows[row].reverse):
                texts = self._filling.finish([i])
                index = self._index.get(i)
                if index is not None and entry.after == "None":
                    self._told.add(index)
                    texts = self._none([index])
                words = whole_sentence(entry, self._walk.symbol(i), goal, "")
                lines, changed = self._walk.lines(i), tuple(texts.items())
                yield TraceStep("reverse", 0, row, None, lines, words, (), changed, k)

    def _next_derivatives(self, part: int) -> Iterator[TraceStep]:
        """The steps for what the sweep from derivatives is done for: those of the next order."""
        subject, order = self._walk.subject, self._walk.trace.parts[part].part.order
        known = subject.found.gradients
        wanted = [key for key, g in known.items() if key[2] == order + 1 and g is not None]
        for t, s, _ in wanted[:MAX_INPUTS]:
            target, source = subject.targets[t], subject.sources[s]
            of_sum = name_of_sum(target, source, order + 1)
            below = derivative_symbol(target[0], source[0], order)
            goal = f"the sum of {below}" if of_sum else below
            symbol = derivative_symbol(target[0], source[0], order + 1)
            value, before = text_of(unwrap(known[t, s, order + 1])), self._walk.before(part)
            words = derivative_sentence(symbol, value, goal, source[0], before)
            yield TraceStep("reverse", part, None, None, None, words)

    def _nothing(self, part: int) -> Iterator[TraceStep]:
        """The step for the values of a part that no gradient reaches."""
        order = self._walk.trace.parts[part].part.order
        found = [
            value
            for value in self._graph.values
            if value.gradient is None
            and value.role != "constant"
            and value.index not in self._told
            and value.order in self._orders
            and self._levels.get(value.index, 0) == order
        ]
        if found:
            texts = self._none([value.index for value in found])
            words = none_of([*map(self._walk.name, found)], self._walk.before(part))
            yield TraceStep("reverse", part, None, None, None, words, (), tuple(texts.items()))

    def _none(self, indices: Sequence[int]) -> Texts:
        """The text None for values in whose boxes gradients stand."""
        return {k: "None" for k in indices if self._graph.values[k].order in self._orders}


def steps_of(subject: Subject, drawn: DrawnGraph) -> Steps:
    """The steps through a recording, and its trace, laid out as its graph is drawn.

    Parameters
    ----------
    subject : Subject
    drawn : DrawnGraph
    """
    with np.errstate(all="ignore"):
        found = trace_as_drawn(subject, drawn)
        trace = Trace(tuple(one.part for one in found.parts))
        if not trace.parts:
            return Steps(trace, (), tuple(range(len(drawn.graph.values))))
        walk = StepContext(subject, drawn, found)
        forward, reverse = ForwardSteps(walk), ReverseSteps(walk)
        steps: list[TraceStep] = []
        for part in range(len(trace.parts)):
            steps += forward.part(part)
            steps += reverse.part(part)
        steps += reverse.rest()
        return Steps(trace, tuple(steps), forward.start())
