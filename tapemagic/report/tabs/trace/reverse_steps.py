"""The way back through a trace: from the targets to the watched values, with the gradients as they fill in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.explain.formatting import derivative_symbol
from tapemagic.report.derivatives import name_of_sum
from tapemagic.report.tabs.trace import sentences
from tapemagic.report.tabs.trace.formulas import repeats
from tapemagic.report.tabs.trace.layout import ordinal
from tapemagic.report.tabs.trace.loop_iterations import Turn
from tapemagic.report.tabs.trace.notation import bar, symbol_of
from tapemagic.report.tabs.trace.partial_adjoints import UNKNOWN, FillingIn
from tapemagic.report.tabs.trace.reverse_sweep import AdjointStep, adjoint_step
from tapemagic.report.tabs.trace.shares import starts
from tapemagic.report.tabs.trace.step_context import MARK, Place, Walk
from tapemagic.report.tabs.trace.symbols import text_of
from tapemagic.report.tabs.trace.trace_rows import MAX_INPUTS
from tapemagic.report.tabs.trace.trace_step import TraceStep

MOST_INSIDE = 3
"""The number of gradients in the middle of several operations that a sentence tells."""

Texts = dict[int, str]
"""Gradients as text by the indices of the values in the graph."""


class ReverseWay:
    """The steps in reverse.

    Parameters
    ----------
    walk : Walk
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._graph = walk.drawn.graph
        self._index = walk.drawn.values
        self._starts = starts(walk.subject)
        self._filling = FillingIn(walk.drawn, walk.trace.shares, self._starts)
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
            words = sentences.listed("the other gradients", names)
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

    def _operation(self, part: int, place: Place) -> Iterator[TraceStep]:
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

    def _words(self, part: int, place: Place, entry: AdjointStep) -> str:
        """The sentence of a step at an operation."""
        before = self._walk.before(part)
        record = self._walk.subject.records[place.positions[0]]
        if entry.value is None:
            words = f"{record.name} passes back to{entry.symbol.removeprefix('…')}"
            return sentences.first_that_fits(words, before=before)
        symbol = self._walk.symbol(entry.value)
        if entry.kind == "seed":
            return self._words_of_seed(part, entry)
        operand = entry.operand or 0
        shape = np.shape(record.values[operand])
        again = record.ids.count(entry.value) > 1
        which = f", its {ordinal(operand + 1)} input" if again else ""
        each = "each element of " if repeats(record, operand) else ""
        start = f"{before}{record.name} passes back to {each}{symbol}{which}: "
        return sentences.share(entry, symbol, shape, start)

    def _words_of_seed(self, part: int, entry: AdjointStep) -> str:
        """The sentence for the gradient with which the sweep begins at a target, or at a derivative of it."""
        goal = self._walk.trace.parts[part].part.goal
        symbol = self._walk.symbol(entry.value) if entry.value is not None else ""
        among = "derivatives" if part else "targets"
        return sentences.seed(entry, symbol, goal, among, self._walk.before(part))

    def _fold(self, part: int, place: Place) -> Iterator[TraceStep]:
        """The steps of operations that stand together in one row."""
        yield from self._seeds(part, place, place.positions)
        texts = self._passed(place.positions)
        if not self._is_reached(place.positions):
            return
        words = f"{sentences.where(place.row)}back through {place.row.words.removeprefix(MARK)}"
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

    def _turn(self, part: int, place: Place, turn: Turn) -> Iterator[TraceStep]:
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
        place: Place,
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
        sentence = sentences.listed(words, changes, before=before, joint=joint)
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

    def _seeds(self, part: int, place: Place, positions: Sequence[int]) -> Iterator[TraceStep]:
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
                words = sentences.whole(entry, self._walk.symbol(i), goal, "")
                lines, changed = self._walk.lines(i), tuple(texts.items())
                yield TraceStep("reverse", 0, row, None, lines, words, (), changed, k)

    def _next_derivatives(self, part: int) -> Iterator[TraceStep]:
        """The steps for what the sweep from derivatives is done for: those of the next order."""
        subject, order = self._walk.subject, self._walk.trace.parts[part].part.order
        known = subject.derivatives.gradients
        wanted = [key for key, g in known.items() if key[2] == order + 1 and g is not None]
        for t, s, _ in wanted[:MAX_INPUTS]:
            target, source = subject.targets[t], subject.sources[s]
            of_sum = name_of_sum(target, source, order + 1)
            below = derivative_symbol(target[0], source[0], order)
            goal = f"the sum of {below}" if of_sum else below
            symbol = derivative_symbol(target[0], source[0], order + 1)
            value, before = text_of(unwrap(known[t, s, order + 1])), self._walk.before(part)
            words = sentences.derivative(symbol, value, goal, source[0], before)
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
            words = sentences.none_of([*map(self._walk.name, found)], self._walk.before(part))
            yield TraceStep("reverse", part, None, None, None, words, (), tuple(texts.items()))

    def _none(self, indices: Sequence[int]) -> Texts:
        """The text None for values in whose boxes gradients stand."""
        return {k: "None" for k in indices if self._graph.values[k].order in self._orders}
