"""A recording, frozen into plain data that is numbered in the order of the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from tapemagic.analysis.observer import Observer
from tapemagic.analysis.values import brief
from tapemagic.engine.recording import Record

Role = Literal["watched", "variable", "intermediate", "target", "constant"]

MAX_NODES = 60


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
    """An operation of the recording, or several that were elided."""

    index: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: int | None = None
    order: int = 0
    elided: int = 0


@dataclass(frozen=True)
class Graph:
    """What was recorded: values and the operations between them, both in the order of the tape."""

    values: tuple[Value, ...]
    steps: tuple[Step, ...]

    @property
    def elided(self) -> int:
        """How many operations are not drawn."""
        return sum(step.elided for step in self.steps)


@dataclass(frozen=True)
class Naming:
    """What the user calls things, by the number of the value or by the identity of its array."""

    names: Mapping[int, str] = field(default_factory=dict)
    roles: Mapping[int, Role] = field(default_factory=dict)
    gradients: Mapping[int, Any] = field(default_factory=dict)
    arrays: Sequence[tuple[str, Any]] = ()

    def of_constant(self, value: Any) -> str:
        """The name of a constant array, where the cell reads one that is the same."""
        for name, array in self.arrays:
            if array is value:
                return name
        for name, array in self.arrays:
            if np.ndim(value) and np.shape(array) == np.shape(value) and np.array_equal(array, value):
                return name
        return ""


def graph(observer: Observer, naming: Naming, max_nodes: int = MAX_NODES) -> Graph:
    """Freeze a recording; one of more than `max_nodes` nodes loses its middle, and says how much."""
    total = len(observer._records)
    half = min(total, max_nodes) // 2 + 1
    while True:
        if 2 * half >= total:
            chosen, cut = range(total), total
        else:
            chosen, cut = [*range(half), *range(total - half, total)], half
        frozen = _Freezer(observer, naming).freeze(chosen, cut, total - len(chosen))
        if len(frozen.values) + len(frozen.steps) <= max_nodes or half <= 1:
            return frozen
        half = max(1, min(half, len(chosen) // 2) - 1)


class _Freezer:
    """Numbers values as they are met."""

    def __init__(self, observer: Observer, naming: Naming) -> None:
        self.observer = observer
        self.naming = naming
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.index: dict[int, int] = {}
        self.constants: dict[int, int] = {}

    def freeze(self, chosen: Sequence[int], cut: int, elided: int) -> Graph:
        """The graph of the records at the positions `chosen`, with a gap of `elided` ones at `cut`."""
        if not elided:
            for position in chosen:
                self.step(position)
            return Graph(tuple(self.values), tuple(self.steps))
        for position in chosen[:cut]:
            self.step(position)
        into, out = self.across(cut, cut + elided)
        gap = len(self.steps)
        self.steps.append(Step(gap, f"{elided:,} more operations", into, (), elided=elided))
        outputs = tuple(self.made_in_gap(i) for i in out)
        self.steps[gap] = replace(self.steps[gap], outputs=outputs)
        for position in chosen[cut:]:
            self.step(position)
        return Graph(tuple(self.values), tuple(self.steps))

    def across(self, start: int, stop: int) -> tuple[tuple[int, ...], list[tuple[int, Any]]]:
        """What the elided records read of the values drawn before, and what later ones read of theirs."""
        into: dict[int, None] = {}
        made: set[int] = set()
        records = self.observer._records
        for record in records[start:stop]:
            into.update((self.index[i], None) for i in record[2] if i in self.index)
            made.update(_numbers(record[-1]))
        later: dict[int, Any] = {}
        for record in records[stop:]:
            later.update((i, v) for v, i in zip(record[1], record[2], strict=True) if i in made)
        return tuple(into), list(later.items())

    def made_in_gap(self, numbered: tuple[int, Any]) -> int:
        return self.value(numbered[1], numbered[0], None, 0)

    def step(self, position: int) -> None:
        """Add one record, and the values that it is the first to mention."""
        record = Record._make(self.observer._records[position])
        line, order = self.observer.lines[position], self.observer.orders[position]
        inputs = tuple(
            self.value(value, i, None, order if i <= 0 else 0)
            for value, i in zip(record.values, record.ids, strict=True)
            if value is not None
        )
        made = record.output if type(record.output) is tuple else (record.output,)
        outputs = tuple(
            self.value(value, i, line, order)
            for value, i in zip(made, _numbers(record.output_id), strict=True)
        )
        name = record.operation.name
        self.steps.append(Step(len(self.steps), name, inputs, outputs, line, order))

    def value(self, value: Any, i: int, line: int | None, order: int) -> int:
        """The index of a value, which is added if it is new."""
        known = self.index.get(i) if i > 0 else self.constants.get(id(value))
        if known is not None and (i > 0 or np.ndim(value)):
            return known
        index = len(self.values)
        if i > 0:
            self.index[i] = index
        else:
            self.constants[id(value)] = index
        naming = self.naming
        role: Role = naming.roles.get(i, "intermediate") if i > 0 else "constant"
        name = naming.names.get(i, "") if i > 0 else naming.of_constant(value)
        gradient = naming.gradients.get(i)
        self.values.append(
            Value(
                index,
                name,
                role,
                np.shape(value),
                str(getattr(value, "dtype", type(value).__name__)),
                brief(value),
                None if gradient is None else brief(gradient),
                line,
                order,
            )
        )
        return index


def _numbers(output_id: Any) -> tuple[int, ...]:
    return output_id if type(output_id) is tuple else (output_id,)
