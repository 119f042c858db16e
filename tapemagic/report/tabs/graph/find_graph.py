"""The graph of a report: its first layout, the layouts that a reader opens, and keys of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.tensor.tensor import has_id, id_of, unwrap
from tapemagic.explain.nonfinite import NonFinite
from tapemagic.report.drawn_records import first_and_last
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph.drawn_graph import Drawer, DrawnGraph
from tapemagic.report.tabs.graph.graph import Graph
from tapemagic.report.tabs.trace.formulas import row_formula
from tapemagic.report.tabs.trace.notation import Symbols
from tapemagic.report.tabs.trace.steps import Steps, steps_of
from tapemagic.report.verdict.nonfinite_origins import nonfinite_origins


@dataclass(frozen=True)
class GraphView:
    """A layout of a recording: the graph, with the trace and the steps laid out to match.

    - `opened`: The parts that a reader opened or closed, by their keys.
    - `formulas`: The formula of each value of the graph: ``x1 · x2``, or '' if no single operation computed it.
    - `keys`: The keys of the values of the graph, by which `Details` knows them, or '' for others.
    """

    opened: Mapping[str, int]
    graph: Graph
    steps: Steps
    formulas: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class GraphFindings:
    """The contents of the tab Graph.

    - `view`: The layout that is shown at first.
    - `drawn_operations`: The number of the cell's operations that it shows, those in folds included.
    - `changed`: Tuple of (str, int). The variables that changed during the recording, with the number of their values
      that were read.
    """

    view: GraphView
    drawn_operations: int = 0
    changed: tuple[tuple[str, int], ...] = ()


def find(subject: Subject) -> GraphFindings:
    """Find the layout of the graph that is shown at first."""
    versions = subject.split.versions
    return GraphFindings(
        subject.shared(first_layout).view,
        sum(
            position < subject.operations for position in subject.shared(drawer_of).draw().positions
        ),
        tuple((subject.known_names.get(i, ""), len(numbers)) for i, numbers in versions.items()),
    )


@dataclass(frozen=True, eq=False)
class Layout:
    """A layout of the graph, and its values with their keys."""

    view: GraphView
    keyed: Sequence[Keyed]


def drawer_of(subject: Subject) -> Drawer:
    """Return the drawer of all layouts of a recording."""
    return Drawer(subject, subject.request.max_nodes, subject.request.iteration)


def first_layout(subject: Subject) -> Layout:
    """Return the layout that is shown at first."""
    return layout_of(subject, {})


def layout_of(subject: Subject, opened: Mapping[str, int]) -> Layout:
    """Return the layout in which some parts are open or closed, by their keys, unlike at first.

    Raises ValueError if something in `opened` isn't a key, or isn't an integer.
    """
    drawn = subject.shared(drawer_of).draw(opened)
    keyed = keyed_values(subject, drawn, subject.shared(KeyMaker))
    return Layout(view_of(subject, drawn, subject.shared(nonfinite_origins), keyed, opened), keyed)


@dataclass(frozen=True, eq=False)
class Keyed:
    """A value with a key.

    - `number`: Its id, if it is on the tape.
    - `value`: The array of a constant; that of a value on the tape is in the recording.
    - `name`: Its name or symbol, or '' for a constant without one.
    """

    key: str
    number: int | None
    value: Any
    name: str


class Constant(NamedTuple):
    """A constant of a graph: its name, its value, and the record and the place in it where the graph has it from.

    An array may be the input of a layer, and in no record.
    """

    name: str
    value: Any
    position: int
    slot: int


class KeyMaker:
    """The keys of values: the position of a record and the number of the result, or the number of a watched value."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    @cached_property
    def _watched(self) -> Mapping[int, int]:
        return {i: k for k, i in enumerate(sorted(self._subject.snapshot.leaves))}

    @cached_property
    def _unconnected(self) -> Mapping[int, int]:
        """The numbers of sources and targets, by the ids of values that are in no record."""
        both = [x for _, x in (*self._subject.sources, *self._subject.targets)]
        # Reversed, so that the first number of a value that is both a source and a target counts.
        return {id_of(x) if has_id(x) else -id(x): k for k, x in reversed(list(enumerate(both)))}

    def of(self, number: int) -> str:
        """Return the key of a value on the tape, or of a source or target, by its id."""
        if number in self._watched:
            return f"w{self._watched[number]}"
        if place := self._subject.place(number):
            return f"{place[0]}.{place[1]}"
        return f"a{self._unconnected[number]}" if number in self._unconnected else ""

    def of_constants(self, constants: Mapping[int, Constant]) -> dict[int, str]:
        """The keys of constants by their indices in a graph.

        One with a name has that; a number belongs to the operation that reads it, and an array to the first that does.
        """
        keys = {k: f"n:{constant.name}" for k, constant in constants.items() if constant.name}
        arrays: dict[int, int] = {}
        for k, constant in constants.items():
            if not constant.name and np.ndim(constant.value):
                arrays[id(constant.value)] = k
            elif not constant.name:
                keys[k] = f"c{constant.position}.{constant.slot}"
        for position, record in enumerate(self._subject.snapshot.records):
            # Few arrays have no name, so the search usually ends long before the last record.
            if not arrays:
                break
            for slot, value in enumerate(record[1]):
                if id(value) in arrays:
                    keys[arrays.pop(id(value))] = f"c{position}.{slot}"
        return keys


def keyed_values(subject: Subject, drawn: DrawnGraph, keys: KeyMaker) -> list[Keyed]:
    """The values of a drawn graph, in its order, with their keys."""
    numbers = {index: i for i, index in drawn.values.items()}
    values, graph = drawn.graph.values, drawn.graph
    constants = {k: Constant(values[k].name, x, -1, -1) for k, x in drawn.constants.items()}
    for step, (_, what) in zip(graph.steps, drawn.plan.items, strict=True):
        if isinstance(what, int):
            operands = [x for x in enumerate(subject.records[what].values) if x[1] is not None]
            shown = first_and_last(operands, len(step.inputs))
            for index, (slot, value) in zip(step.inputs, shown, strict=True):
                if index not in numbers:
                    constants.setdefault(index, Constant(values[index].name, value, what, slot))
    constant_keys = keys.of_constants(constants)
    array_of = {
        i: unwrap(x) for _, x in (*subject.sources, *subject.targets) for i in (_number(x),)
    }
    keyed = []
    for index, value in enumerate(values):
        number, name = numbers.get(index), value.name or value.symbol
        if number is None:
            array = constants[index].value if index in constants else None
            keyed.append(Keyed(constant_keys.get(index, ""), None, array, name))
        else:
            is_tracked = subject.snapshot.tracks(number)
            array = None if is_tracked else array_of.get(number)
            keyed.append(Keyed(keys.of(number), number if is_tracked else None, array, name))
    return keyed


def _number(value: Any) -> int:
    """The id of a source or target; without one, its number in a graph."""
    # Negative, so that it can't be the id of a value on the tape.
    return id_of(value) if has_id(value) else -id(value)


def view_of(
    subject: Subject,
    drawn: DrawnGraph,
    nonfinite: Iterable[NonFinite],
    keyed: Iterable[Keyed],
    opened: Mapping[str, int],
) -> GraphView:
    """The layout of a recording as its graph is drawn."""
    return GraphView(
        dict(opened),
        drawn.marked(nonfinite, subject.records),
        steps_of(subject, drawn),
        _formulas(subject, drawn),
        tuple(value.key for value in keyed),
    )


def _formulas(subject: Subject, drawn: DrawnGraph) -> tuple[str, ...]:
    """Return the formulas of the values of a graph, like those of the trace."""
    symbols = Symbols(subject)
    formulas = [""] * len(drawn.graph.values)
    with np.errstate(all="ignore"):
        for _, what in drawn.plan.items:
            if isinstance(what, int):
                operation = row_formula(subject, symbols, what)
                ids = operation.record.output_ids
                for k, i in enumerate(ids):
                    if i in drawn.values:
                        which = f", result {k + 1} of {len(ids)}" if len(ids) > 1 else ""
                        formulas[drawn.values[i]] = operation.formula.text + which
    return tuple(formulas)
