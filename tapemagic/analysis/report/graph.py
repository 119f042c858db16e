"""The graph of a recording as frozen data: values and operations, numbered in the order of the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tapemagic.analysis.formatting import dtype_name, format_entries, format_value
from tapemagic.analysis.report.dead_ends import drawn_positions, first_and_last
from tapemagic.analysis.report.subject import Role
from tapemagic.analysis.report.summary import summarise
from tapemagic.analysis.snapshot import Snapshot
from tapemagic.engine.recording import Absent, Record
from tapemagic.engine.tape.sweep import sweep
from tapemagic.engine.tensor.tensor import Tensor, has_id, id_of, unwrap, wrap

MAX_NODES = 60
MAX_INPUTS = 6
"""The number of inputs, or outputs, drawn of one operation."""


@dataclass(frozen=True)
class Value:
    """A value of a recording: a node of the graph, or a row of the table of variables."""

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
    """An operation of a recording, or a place-holder for several that are not drawn.

    Attributes
    ----------
    inputs, outputs : tuple of int
        The indices of its values in the graph.
    line : int or None
        The line of the cell.
    order : int
        0 for an operation of the program, k for one of a k-th derivative.
    elided : int
        The number of operations folded into this node; 0 for an operation itself.
    hidden : int
        The number of its inputs and outputs that are not drawn.
    slopes : tuple of (int, str)
        The local derivatives of an operation on single numbers, by the indices of its tracked inputs.
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
    """The values of a recording and the operations between them, both in the order of the tape."""

    values: tuple[Value, ...]
    steps: tuple[Step, ...]

    @property
    def elided(self) -> int:
        """The number of operations that are not drawn."""
        return sum(step.elided for step in self.steps)

    @property
    def nodes(self) -> int:
        """The number of nodes of its picture."""
        return len(self.values) + len(self.steps)


@dataclass(frozen=True)
class GraphLabels:
    """Names and roles of values, by id or by array, and the values that are drawn in any case."""

    names: Mapping[int, str] = field(default_factory=dict)
    roles: Mapping[int, Role] = field(default_factory=dict)
    arrays: Sequence[tuple[str, Any]] = ()
    seeds: Mapping[int, str] = field(default_factory=dict)
    always_drawn: Sequence[tuple[str, Any]] = ()

    def of_constant(self, value: Any) -> str:
        """The name of a constant: that of a seed, of the same array, or of the only equal one; else empty.

        A record holds a copy of an array that the program may change, which can be known by its elements alone.
        Integers, and numbers with several names, have no name.
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
    """Whether two arrays with axes have the same shape, dtype and, where both hold values, elements."""
    shape = np.shape(value)
    if not shape or np.shape(array) != shape or array.dtype != value.dtype:
        return False
    return isinstance(value, Absent) or np.array_equal(array, value, equal_nan=True)


@dataclass(frozen=True)
class RecordedGraph:
    """A graph with the tensors of those of its nodes that are on the tape.

    Attributes
    ----------
    positions : tuple of int
        The positions of the records that are drawn.
    """

    graph: Graph
    tensors: Mapping[int, Tensor]
    positions: tuple[int, ...]

    def with_gradients(self, gradients: Mapping[int, Any]) -> Graph:
        """The graph with gradients in its nodes, given by the ids of the tensors."""
        values = list(self.graph.values)
        for index, tensor in self.tensors.items():
            if (gradient := gradients.get(id_of(tensor))) is not None:
                values[index] = replace(values[index], gradient=summarise(gradient).entries)
        return replace(self.graph, values=tuple(values))


def draw(snapshot: Snapshot, naming: GraphLabels, max_nodes: int = MAX_NODES) -> RecordedGraph:
    """The graph of a recording; of one with more than `max_nodes` nodes, the first and last operations."""
    max_inputs = max(2, min(MAX_INPUTS, max_nodes // 10))
    positions = drawn_positions(snapshot.records, naming.names, naming.roles, max_inputs)
    builder = partial(_GraphBuilder, snapshot, naming, max_inputs, positions)
    total = len(positions)
    if 2 * total <= max_nodes:
        drawn = builder().build(total, total, max_nodes)
        if drawn.graph.nodes <= max_nodes:
            return drawn
    half = max(1, min(max_nodes // 4, total // 2))
    while True:
        drawn = builder().build(half, max(half, total - half))
        nodes = drawn.graph.nodes
        if nodes <= max_nodes or half == 1:
            return drawn
        half = max(1, min(half - 1, half * max_nodes // nodes))


class _GraphBuilder:
    """A builder of graphs, which numbers values in the order of the tape."""

    def __init__(
        self, snapshot: Snapshot, naming: GraphLabels, max_inputs: int, positions: Sequence[int]
    ) -> None:
        self.snapshot = snapshot
        self.positions = positions
        self.naming = naming
        self.max_inputs = max_inputs
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.outputs: list[list[int]] = []
        self.made: list[int] = []
        self.tensors: dict[int, Tensor] = {}
        self.index: dict[int, int] = {}
        self.constants: dict[int | str, int] = {}
        self.producer: dict[int, int] = {}
        self.untracked = {
            id(unwrap(x)): (name, naming.roles.get(id_of(x), "watched"))
            for name, x in naming.always_drawn
            if not snapshot.tracks(id_of(x))
        }

    def build(self, start: int, stop: int, room: int = 0) -> RecordedGraph:
        """The graph without the operations from `start` to `stop`; with unconnected values up to `room` nodes."""
        for position in self.positions[:start]:
            self.add_record(position)
        if start < stop:
            self.add_elided(start, stop)
        for position in self.positions[stop:]:
            self.add_record(position)
        room = max(0, room - len(self.values) - len(self.steps))
        for name, tensor in self.naming.always_drawn[:room]:
            self.add_unconnected(name, tensor)
        steps = tuple(
            replace(step, outputs=tuple(outputs), hidden=step.hidden + max(0, made - len(outputs)))
            for step, outputs, made in zip(self.steps, self.outputs, self.made, strict=True)
        )
        positions = (*self.positions[:start], *self.positions[stop:])
        return RecordedGraph(Graph(tuple(self.values), steps), self.tensors, positions)

    def add_unconnected(self, name: str, tensor: Any) -> None:
        """Add a target or watched value that belongs to no drawn operation."""
        i = id_of(tensor) if has_id(tensor) else -id(tensor)
        if i in self.index or (id(unwrap(tensor)) in self.untracked and name in self.constants):
            return
        role = self.naming.roles.get(id_of(tensor), "watched")
        index = self.index[i] = len(self.values)
        if self.snapshot.tracks(i):
            self.tensors[index] = wrap(unwrap(tensor), i)
        text, kind = format_value(unwrap(tensor)), dtype_name(unwrap(tensor))
        self.values.append(Value(index, name, role, tensor.shape, kind, text))

    def add_elided(self, start: int, stop: int) -> None:
        """Add one place-holder for the operations from `start` to `stop`."""
        into: dict[int, None] = {}
        for position in self.positions[start:stop]:
            record = self.snapshot.records[position]
            into.update((self.index[i], None) for i in record[2] if i in self.index)
            self.producer.update((i, len(self.steps)) for i in _numbers(record[-1]))
        name = f"{stop - start:,} more operations"
        shown = tuple(first_and_last(list(into), self.max_inputs))
        hidden = len(into) - len(shown)
        self.add(Step(len(self.steps), name, shown, (), elided=stop - start, hidden=hidden))

    def add(self, step: Step, made: int = 0) -> None:
        """Add a step; its outputs become known when they are drawn."""
        self.steps.append(step)
        self.outputs.append([])
        self.made.append(made)

    def add_record(self, position: int) -> None:
        """Add the operation of one record, and its values that are not in the graph yet."""
        record = Record._make(self.snapshot.records[position])
        origins = self.snapshot.origins
        line, order = origins.sites[position][0], origins.orders[position]
        given = [(v, i) for v, i in zip(record.values, record.ids, strict=True) if v is not None]
        made = list(zip(_outputs(record), _numbers(record.output_id), strict=True))
        shown = first_and_last(given, self.max_inputs)
        index = len(self.steps)
        inputs = tuple(self.index_of(value, i, None, order) for value, i in shown)
        hidden = len(given) - len(shown)
        slopes = tuple(
            (self.index[i], format_entries(slope))
            for i, slope in _slopes(record, self.snapshot.tracked).items()
            if i in self.index
        )
        name = record.name
        self.add(Step(index, name, inputs, (), line, order, 0, hidden, slopes), len(made))
        self.producer.update((i, index) for _, i in made)
        for value, i in first_and_last(made, self.max_inputs):
            self.index_of(value, i, line, order)

    def index_of(self, value: Any, i: int, line: int | None, order: int) -> int:
        """The index of a value in the graph, to which it is added if it is new."""
        tracked = self.snapshot.tracks(i)
        role: Role = "constant"
        if tracked:
            name, role = self.naming.names.get(i, ""), self.naming.roles.get(i, "intermediate")
        elif id(value) in self.untracked:
            name, role = self.untracked[id(value)]
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
        if i in self.producer:
            self.outputs[self.producer[i]].append(index)
        text, kind = format_value(value), dtype_name(value)
        self.values.append(Value(index, name, role, np.shape(value), kind, text, None, line, order))
        return index


def _slopes(record: Record, tracked: Mapping[int, int]) -> dict[int, Any]:
    """The local derivatives of an operation on single numbers, by the ids of its inputs; empty for others."""
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
