"""The way forward through a trace: watched values, then operation by operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tapemagic.explain.formatting import printable, without_subscript
from tapemagic.report.tabs.trace import sentences
from tapemagic.report.tabs.trace.step_context import MARK, Place, Walk
from tapemagic.report.tabs.trace.trace_step import TraceStep


class ForwardWay:
    """The steps forward.

    Parameters
    ----------
    walk : Walk
    """

    def __init__(self, walk: Walk) -> None:
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
            words = sentences.first_that_fits(
                said, before="variable: " if is_variable else "watched: "
            )
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
        words = sentences.first_that_fits(said, before=f"the variable {name} has changed: ")
        return TraceStep("forward", 0, row, None, None, words, shown)

    def _operations(self, part: int, place: Place) -> Iterator[TraceStep]:
        """The steps of a row."""
        number, row, step, positions = place
        before = self._walk.before(part)
        drawn = self._graph.steps[step]
        turns = self._walk.turns(step)
        if turns is None:
            made = [self._index[i] for i in self._walk.boxes(positions)]
            if row.kind == "operation":
                words = sentences.operation(row, before)
            else:
                results = [self._graph.values[k] for k in made if k not in self._known]
                said = [f"{self._walk.name(x)} = {x.text}" for x in results]
                start = before + sentences.where(row)
                words = sentences.listed(row.words.removeprefix(MARK), said, before=start)
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
            words = sentences.listed(turns.words(turn), said, before=before, joint=joint)
            yield TraceStep(
                "forward", part, number, step, turn.lines, words, shown, positions=turn.positions
            )

    def _new(self, indices: Iterable[int]) -> tuple[int, ...]:
        """Those of some values that were not known yet."""
        found = [k for k in dict.fromkeys(indices) if k not in self._known]
        self._known.update(found)
        return tuple(found)
