"""A recording, frozen into plain data that is numbered in the order of the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from tapemagic.analysis.formatting import brief, dtype_name, span
from tapemagic.analysis.report.dead_ends import few, worth_drawing
from tapemagic.analysis.snapshot import Snapshot
from tapemagic.engine.recording import Absent, Record
from tapemagic.engine.tape.sweep import sweep
from tapemagic.engine.tensor.tensor import Tensor, wrap

Role = Literal["watched", "variable", "intermediate", "target", "constant"]

MAX_NODES = 60
MANY = 6
"""Of more inputs, or outputs, of one operation only the first and the last are drawn."""


@dataclass(frozen=True)
class Value:
    """A value of the recording: a node of the graph, or a row of the table of variables."""

    index: int
    name: str
    role: Role
    shape: tuple[int, ...]
    dtype: str
    text: str
    gradient: str | None = None
    line: int | None = None
    order: int = 0


@dataclass(frozen=True)
class Step:
    """An operation of the recording, or the gap where several were elided.

    Attributes
    ----------
    inputs, outputs : tuple of int
        The indices of the values between which it stands.
    line : int or None
        The line of the cell that did it.
    order : int
        0 if the user wrote it, k if it belongs to a k-th derivative.
    elided : int
        How many operations stand in this place; 0 for an operation that is drawn.
    hidden : int
        How many of its inputs and outputs are not drawn.
    slopes : tuple of (int, str)
        Where it makes one number of numbers: the indices of those that are on the tape, and its derivative in each.
    """

    index: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: int | None = None
    order: int = 0
    elided: int = 0
    hidden: int = 0
    slopes: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Graph:
    """What was recorded: values and the operations between them, both in the order of the tape."""

    values: tuple[Value, ...]
    steps: tuple[Step, ...]

    @property
    def elided(self) -> int:
        """How many operations are not drawn."""
        return sum(step.elided for step in self.steps)

    @property
    def nodes(self) -> int:
        """How many nodes a picture of it has."""
        return len(self.values) + len(self.steps)


@dataclass(frozen=True)
class Naming:
    """What the user calls things, by the number of the value or by its array; and what is always drawn."""

    names: Mapping[int, str] = field(default_factory=dict)
    roles: Mapping[int, Role] = field(default_factory=dict)
    arrays: Sequence[tuple[str, Any]] = ()
    seeds: Mapping[int, str] = field(default_factory=dict)
    always: Sequence[tuple[str, Any]] = ()

    def of_constant(self, value: Any) -> str:
        """The name of a constant: of a seed, of an array that is the same, or of the only one that is equal.

        A record has a copy of an array that may change, and then one can only tell by what is in it. Whole numbers
        have no name, and neither have others that several names stand for.
        """
        if id(value) in self.seeds:
            return self.seeds[id(value)]
        if isinstance(value, int):
            return ""
        same = [name for name, array in self.arrays if array is value]
        if same:
            return same[0] if np.shape(value) or len(same) == 1 else ""
        equal = {id(array): name for name, array in reversed(self.arrays) if _equal(array, value)}
        return equal.popitem()[1] if len(equal) == 1 else ""


def _equal(array: Any, value: Any) -> bool:
    """Whether two arrays, and not single numbers, have the same shape, dtype and, as far as it is kept, content."""
    shape = np.shape(value)
    if not shape or np.shape(array) != shape or array.dtype != value.dtype:
        return False
    return isinstance(value, Absent) or np.array_equal(array, value, equal_nan=True)


@dataclass(frozen=True)
class Drawn:
    """A graph, and for each of its nodes that is on the tape, the tensor of which it is a picture.

    Attributes
    ----------
    positions : tuple of int
        Those of the records that are drawn.
    """

    graph: Graph
    tensors: Mapping[int, Tensor]
    positions: tuple[int, ...]

    def with_gradients(self, gradients: Mapping[int, Any]) -> Graph:
        """The graph, with the gradients that are known by the numbers of their tensors."""
        values = list(self.graph.values)
        for index, tensor in self.tensors.items():
            if (gradient := gradients.get(tensor._id)) is not None:
                values[index] = replace(values[index], gradient=span(gradient))
        return replace(self.graph, values=tuple(values))


def draw(snapshot: Snapshot, naming: Naming, max_nodes: int = MAX_NODES) -> Drawn:
    """Freeze a recording; one of more than `max_nodes` nodes loses its middle, and says how much."""
    many = max(2, min(MANY, max_nodes // 10))
    positions = worth_drawing(snapshot.records, naming.names, naming.roles, many)
    total = len(positions)
    if 2 * total <= max_nodes:
        drawn = _Freezer(snapshot, naming, many, positions).freeze(total, total, max_nodes)
        if drawn.graph.nodes <= max_nodes:
            return drawn
    half = max(1, min(max_nodes // 4, total // 2))
    while True:
        drawn = _Freezer(snapshot, naming, many, positions).freeze(half, max(half, total - half))
        nodes = drawn.graph.nodes
        if nodes <= max_nodes or half == 1:
            return drawn
        half = max(1, min(half - 1, half * max_nodes // nodes))


class _Freezer:
    """Numbers values as they are met."""

    def __init__(
        self, snapshot: Snapshot, naming: Naming, many: int, positions: Sequence[int]
    ) -> None:
        self.snapshot = snapshot
        self.positions = positions
        self.naming = naming
        self.many = many
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.outputs: list[list[int]] = []
        self.made: list[int] = []
        self.tensors: dict[int, Tensor] = {}
        self.index: dict[int, int] = {}
        self.constants: dict[int | str, int] = {}
        self.maker: dict[int, int] = {}
        self.apart = {
            id(x._value): (name, naming.roles.get(x._id, "watched"))
            for name, x in naming.always
            if not snapshot.tracks(x._id)
        }

    def freeze(self, start: int, stop: int, room: int = 0) -> Drawn:
        """The graph of all steps but those from `start` to `stop`, and, if there is room, what is unconnected."""
        for position in self.positions[:start]:
            self.step(position)
        if start < stop:
            self.gap(start, stop)
        for position in self.positions[stop:]:
            self.step(position)
        for name, tensor in self.naming.always[: max(0, room - len(self.values) - len(self.steps))]:
            self.alone(name, tensor)
        steps = tuple(
            replace(step, outputs=tuple(outputs), hidden=step.hidden + max(0, made - len(outputs)))
            for step, outputs, made in zip(self.steps, self.outputs, self.made, strict=True)
        )
        positions = (*self.positions[:start], *self.positions[stop:])
        return Drawn(Graph(tuple(self.values), steps), self.tensors, positions)

    def alone(self, name: str, tensor: Any) -> None:
        """Add a target or a watched value that no operation has drawn."""
        i = tensor._id if tensor._id > 0 else -id(tensor)
        if i in self.index or (id(tensor._value) in self.apart and name in self.constants):
            return
        role = self.naming.roles.get(tensor._id, "watched")
        index = self.index[i] = len(self.values)
        if self.snapshot.tracks(i):
            self.tensors[index] = wrap(tensor._value, i)
        text, kind = brief(tensor._value), dtype_name(tensor._value)
        self.values.append(Value(index, name, role, tensor.shape, kind, text))

    def gap(self, start: int, stop: int) -> None:
        """One step for those from `start` to `stop`."""
        into: dict[int, None] = {}
        for position in self.positions[start:stop]:
            record = self.snapshot.records[position]
            into.update((self.index[i], None) for i in record[2] if i in self.index)
            self.maker.update((i, len(self.steps)) for i in _numbers(record[-1]))
        name, shown = f"{stop - start:,} more operations", tuple(few(list(into), self.many))
        hidden = len(into) - len(shown)
        self.add(Step(len(self.steps), name, shown, (), elided=stop - start, hidden=hidden))

    def add(self, step: Step, made: int = 0) -> None:
        """Add a step, whose outputs are drawn later, if all are."""
        self.steps.append(step)
        self.outputs.append([])
        self.made.append(made)

    def step(self, position: int) -> None:
        """Add one record, and the values that it is the first to mention."""
        record = Record._make(self.snapshot.records[position])
        line, order = self.snapshot.origins.lines[position], self.snapshot.origins.orders[position]
        given = [(v, i) for v, i in zip(record.values, record.ids, strict=True) if v is not None]
        made = list(zip(_outputs(record), _numbers(record.output_id), strict=True))
        shown = few(given, self.many)
        index = len(self.steps)
        inputs = tuple(self.value(value, i, None, order) for value, i in shown)
        hidden = len(given) - len(shown)
        slopes = tuple(
            (self.index[i], span(slope))
            for i, slope in _slopes(record, self.snapshot.tracked).items()
            if i in self.index
        )
        name = record.name
        self.add(Step(index, name, inputs, (), line, order, 0, hidden, slopes), len(made))
        self.maker.update((i, index) for _, i in made)
        for value, i in few(made, self.many):
            self.value(value, i, line, order)

    def value(self, value: Any, i: int, line: int | None, order: int) -> int:
        """The index of a value, which is added if it is new."""
        tracked = self.snapshot.tracks(i)
        role: Role = "constant"
        if tracked:
            name, role = self.naming.names.get(i, ""), self.naming.roles.get(i, "intermediate")
        elif id(value) in self.apart:
            name, role = self.apart[id(value)]
        else:
            name = self.naming.of_constant(value)
        known = self.index.get(i) if tracked else self.constants.get(name or id(value))
        if known is not None and (tracked or name or np.ndim(value)):
            return known
        index = len(self.values)
        if tracked:
            self.index[i] = index
            self.tensors[index] = wrap(value, i)
            order = self.snapshot.order_of(i)
        else:
            self.constants[name or id(value)] = index
        if i in self.maker:
            self.outputs[self.maker[i]].append(index)
        text, kind = brief(value), dtype_name(value)
        self.values.append(Value(index, name, role, np.shape(value), kind, text, None, line, order))
        return index


def _slopes(record: Record, tracked: Mapping[int, int]) -> dict[int, Any]:
    """The local derivatives of an operation that makes one number, in the numbers that it is made of."""
    output_id = record.output_id
    if isinstance(output_id, tuple) or np.ndim(record.output) or any(map(np.ndim, record.values)):
        return {}
    seed = {output_id: record.output.dtype.type(1)}
    try:
        return sweep([tuple(record)], tracked, seed, set(), False)
    except Exception:  # noqa: BLE001 -- a rule may call anything; the table of gradients tells of it
        return {}


def _outputs(record: Record) -> tuple[Any, ...]:
    return record.output if type(record.output) is tuple else (record.output,)


def _numbers(output_id: Any) -> tuple[int, ...]:
    return output_id if type(output_id) is tuple else (output_id,)
