"""The contents of boxes: names of constants, calls of layers, and the values that a folded loop carries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent, Record
from tapemagic.engine.scopes import Scope, Shape
from tapemagic.engine.tape.gradient_steps import number_of
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.explain.formatting import clipped, derivative_symbol, label, without_subscript
from tapemagic.explain.lazy_values import has_numbers, token, with_numbers
from tapemagic.report.folding import Block, Part
from tapemagic.report.subject import Role, Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.graph.view import Fold, Plan
from tapemagic.report.tabs.training.series import MAX_SERIES_POINTS, Series, series_of


class ConstantNames:
    """The names and roles of values that are not on the tape.

    - `untracked`: Dict of int to (str, str). The names and roles of sources and targets that are not on the tape, by
      the identity of their arrays.
    """

    def __init__(self, subject: Subject) -> None:
        snapshot, versions = subject.whole, subject.split.versions
        self._layer_inputs = subject.given_to_layers
        both = [*subject.sources, *subject.targets]
        self.untracked: dict[int, tuple[str, Role]] = {
            id(unwrap(x)): (name, subject.roles.get(id_of(x), "watched"))
            for name, x in both
            if id_of(x) not in versions and not snapshot.tracks(id_of(x))
        }
        self._arrays = [
            (name, unwrap(value) if isinstance(value, Traced) else value)
            for name, value in subject.context.named
            if not (isinstance(value, Traced) and snapshot.tracks(id_of(value)))
        ]
        self._seeds = {
            id(array): _seed_name(subject.known_names.get(i, ""), array)
            for array, i in snapshot.origins.seeds
        }

    def of(self, value: Any) -> tuple[str, Role]:
        """The name and the role of a value that is not on the tape."""
        if id(value) in self.untracked:
            return self.untracked[id(value)]
        return self._name(value), "constant"

    def _name(self, value: Any) -> str:
        """Return the name of a constant: that of a seed, of the same array, or of the only equal array; else ''.

        A record holds a copy of an array that the program may change, so only its elements identify it. The same holds
        for an array that a layer has cast to its dtype. Integers, and numbers with several names, have no name.
        """
        if id(value) in self._seeds:
            return self._seeds[id(value)]
        if isinstance(value, int):
            return ""
        same = [name for name, array in self._arrays if array is value]
        if same:
            return same[0] if np.shape(value) or len(same) == 1 else ""
        is_given = id(value) in self._layer_inputs
        equal = {
            id(array): name
            for name, array in reversed(self._arrays)
            if _equal(array, value) or (is_given and _equal_when_cast(array, value))
        }
        return equal.popitem()[1] if len(equal) == 1 else ""


def _seed_name(target: str, seed: Any) -> str:
    """The name dy/dy of the seed of a reverse sweep, if that is 1; empty otherwise."""
    return (
        derivative_symbol(target, target, 1)
        if target and has_numbers(seed) and np.all(seed == 1)
        else ""
    )


def _equal(array: Any, value: Any) -> bool:
    """Return True if two arrays with axes have the same shape, dtype and, where both hold values, elements."""
    shape = np.shape(value)
    if not shape or np.shape(array) != shape or array.dtype != value.dtype:
        return False
    if is_lazy(array) or is_lazy(value):
        # By token, because comparing numbers would compute both arrays.
        return is_lazy(array) and is_lazy(value) and token(array) == token(value)
    return isinstance(value, Absent) or np.array_equal(array, value, equal_nan=True)


def _equal_when_cast(array: Any, value: Any) -> bool:
    """Return True if an array of real numbers has the elements of another one when it is cast to its dtype."""
    if not isinstance(array, np.ndarray) or array.shape != np.shape(value):
        return False
    both_real = array.dtype.kind == value.dtype.kind == "f"
    return both_real and _equal(array.astype(value.dtype), value)


MAX_SHAPES = 3
"""The number of shapes that are written of several inputs or outputs."""
MAX_KIND_LENGTH = 32
"""The most characters of the name of a class."""


@dataclass(frozen=True)
class LayerCall:
    """A call of a layer as text.

    - `name`: The name of the layer, without those of the layers around it.
    - `about`: Its class, and the number of its parameters, if that is known: ``Dense, 32 parameters``.
    - `shapes`: ``(4, 3) → (4, 8)``; of a call that has not returned, the input shapes.
    """

    name: str
    about: str
    shapes: str

    @property
    def title(self) -> str:
        """The layer's name, class and number of parameters."""
        return f"{self.name} ({self.about})"

    def __str__(self) -> str:
        """Return the call in one line: ``dense (Dense, 32 parameters): (4, 3) → (4, 8)``."""
        return f"{self.title}: {self.shapes}" if self.shapes else self.title


def layer_call(name: str, scope: Scope) -> LayerCall:
    """A call of a layer as text.

    - `name`: The name of the layer, without those of the layers around it.

    Examples
    --------
    >>> scope = Scope("sequential/dense", "Dense")
    >>> scope.inputs, scope.outputs, scope.parameters = ((4, 3),), ((4, 8),), 32
    >>> str(layer_call("dense", scope))
    'dense (Dense, 32 parameters): (4, 3) → (4, 8)'
    """
    about = clipped(label(scope.kind), MAX_KIND_LENGTH)
    if scope.parameters is not None:
        about += f", {scope.parameters:,} parameter{'s' * (scope.parameters != 1)}"
    ends = filter(None, map(_listed, (scope.inputs, scope.outputs)))
    return LayerCall(label(name), about, " → ".join(ends))


def _listed(shapes: Sequence[Shape]) -> str:
    shown = [str(shape) for shape in shapes[:MAX_SHAPES]]
    return ", ".join([*shown, *["…"] * (len(shapes) > MAX_SHAPES)])


def inner_variables(subject: Subject, planned: Plan) -> set[int]:
    """Return the ids of the variables that the boxes of layers hide.

    No operation with its own oval reads them, and no layer with a box received them. Of one that changed, it is
    the id under which all its values are known.
    """
    folds = [what for _, what in planned.items if isinstance(what, Fold)]
    layers = [block for fold in folds for block in _layers_in(fold)]
    if not layers:
        return set()
    # A variable is in a box or not: all its versions count as one.
    variable_of = {new: i for i, values in subject.split.versions.items() for new in values}
    records, roles = subject.records, subject.roles

    def read(position: int) -> set[int]:
        return {variable_of.get(i, i) for i in records[position].ids if roles.get(i) == "variable"}

    inner: set[int] = set().union(*(read(p) for block in layers for p in block.positions))
    for _, what in planned.items:
        if isinstance(what, int):
            # A variable that an operation outside of layers reads has a box, and the layer an arrow from it.
            inner -= read(what)
        elif what.scope is not None:
            inner.difference_update(i for i, _ in what.scope.arguments)
    return inner


def _layers_in(fold: Fold) -> Iterator[Block | Fold]:
    """Yield the outermost layers in a fold, or the fold if it is a layer."""
    if fold.scope is not None:
        yield fold
        return
    stack = list(fold.parts)
    while stack:
        part = stack.pop()
        if isinstance(part, Block):
            if part.scope is not None:
                yield part
            elif part.holds_layers:
                stack += part.parts


MAX_CARRIED = 3
"""The most values of one loop whose series are kept."""


@dataclass(frozen=True)
class LoopVariable:
    """A value that a loop carries, over its iterations: numbers, or norms of arrays.

    - `name`: Empty for a value without a name.
    - `values`: One number for each iteration; nan where nothing is known.
    - `gradients`: One number for each gradient; None without gradients.
    - `is_norm`: Whether the value is an array, and the numbers are norms.
    """

    name: str
    values: Series
    gradients: Series | None = None
    is_norm: bool = False


@dataclass(frozen=True)
class Development:
    """A value that a loop carries, in each iteration.

    Attributes
    ----------
    name : str
        Empty for a value without a name.
    values : sequence
        Arrays, or what is kept of them, or None if unknown.
    ids : sequence of int or None
    """

    name: str
    values: Sequence[Any]
    ids: Sequence[int | None]


def carried(subject: Subject, developed: Sequence[Development]) -> tuple[LoopVariable, ...]:
    """The series of the values that a folded loop carries."""
    return tuple(_series(variable, subject) for variable in developed)


def developments(subject: Subject, fold: Fold) -> list[Development]:
    """The values that a folded loop carries: variables first, then results that are used later.

    Of iterations with fewer or more operations than the last one, only results with a name are found. Of too many
    values, those that are targets stay.
    """
    iterations = [_positions(part) for part in fold.parts]
    candidates = [*_variables(subject, iterations), *_results(subject, iterations)]
    goals = {name for name, _ in subject.targets}
    kept = sorted(range(len(candidates)), key=lambda k: candidates[k].name not in goals)[
        :MAX_CARRIED
    ]
    return [candidates[k] for k in sorted(kept)]


def _positions(part: Part) -> Sequence[int]:
    return (part,) if isinstance(part, int) else part.positions


def _results(subject: Subject, iterations: Sequence[Sequence[int]]) -> list[Development]:
    """Return the results that later iterations, or operations after the loop, use; for each name the last."""
    if len(iterations) < 2:
        return []
    last, records = iterations[-1], subject.records
    slots = {slot: _stem(subject, records[last[slot]]) for slot in _used(subject, iterations)}
    ends = {name: slot for slot, name in slots.items()}
    developed = []
    for slot, name in slots.items():
        # A name that is assigned twice in an iteration carries its last value to the next.
        if name and ends[name] != slot:
            continue
        if rows := _rows(subject, iterations, slot):
            ids = [row.output_ids[0] for row in rows]
            developed.append(Development(name, [row.output for row in rows], ids))
    goals = {name for name, _ in subject.targets}
    return sorted(developed, key=lambda variable: (variable.name not in goals, not variable.name))


def _used(subject: Subject, iterations: Sequence[Sequence[int]]) -> list[int]:
    """The places, within an iteration with as many operations as the last, of results that are used later."""
    records, raw, count = subject.records, subject.snapshot.records, len(iterations[-1])
    slots: dict[int, tuple[int, int]] = {}
    for k, positions in enumerate(iterations):
        if len(positions) == count:
            for slot, p in enumerate(positions):
                number = raw[p][-1]
                if isinstance(number, int):
                    slots[number] = (k, slot)
    used: set[int] = set()
    for k, positions in enumerate(iterations):
        for p in positions:
            for i in raw[p][2]:
                made = slots.get(i)
                if made is not None and made[0] != k:
                    used.add(made[1])
    for slot, p in enumerate(iterations[-1]):
        result_id = records[p].output_id
        if result_id in subject.roles or (
            result_id in subject.names and not np.ndim(records[p].output)
        ):
            used.add(slot)
    return sorted(used)


def _stem(subject: Subject, record: Record) -> str:
    """Return the name of a result without its subscript, or '' if it has no name."""
    return subject.stems.get(record.output_id, "")  # type: ignore[arg-type]


def _rows(subject: Subject, iterations: Sequence[Sequence[int]], slot: int) -> list[Record]:
    """The operation of each iteration that does what one of the last iteration does; none if one is unclear.

    It is in the same place, if the iterations have equally many operations, or else it has a result of the same name.
    """
    records, last = subject.records, iterations[-1]
    model = records[last[slot]]
    name = _stem(subject, model)
    rows: list[Record] = []
    for positions in iterations:
        if len(positions) == len(last):
            same = records[positions[slot]]
            if same.number == model.number and _stem(subject, same) == name:
                rows.append(same)
                continue
        newest_first = (records[p] for p in reversed(positions) if name)
        found = next((record for record in newest_first if _stem(subject, record) == name), None)
        if found is None:
            return []
        rows.append(found)
    return rows


def _variables(subject: Subject, iterations: Sequence[Sequence[int]]) -> list[Development]:
    """The variables that changed from iteration to iteration."""
    versions = subject.split.versions
    if not versions:
        return []
    variable_of = {new: i for i, numbers in versions.items() for new in numbers}
    points: dict[int, dict[int, tuple[Any, int]]] = {}
    for k, positions in enumerate(iterations):
        for p in positions:
            record = subject.records[p]
            for value, i in zip(record.values, record.ids, strict=True):
                if i in variable_of:
                    points.setdefault(variable_of[i], {}).setdefault(k, (value, i))
    developed = []
    for i, point_of in points.items():
        if len(point_of) < 2:
            continue
        read = [point_of.get(k) for k in range(len(iterations))]
        values = [None if point is None else point[0] for point in read]
        ids = [None if point is None else point[1] for point in read]
        name = without_subscript(subject.known_names.get(i, ""))
        developed.append(Development(name, values, ids))
    return developed


def _series(development: Development, subject: Subject) -> LoopVariable:
    name, values = development.name, development.values
    sizes = series_of(name, list(map(partial(size_of, subject.norms), values)))
    return LoopVariable(name, sizes, _gradients(development, subject), any(map(np.ndim, values)))


def _gradients(development: Development, subject: Subject) -> Series | None:
    """Return the gradients of a value that a loop carries, where they are known; None without any."""
    ids, adjoints, of_step = development.ids, subject.adjoints, subject.step_gradients
    # The gradient of the loss of a step is 1 in each step.
    if any(map(of_step.is_goal, ids)):
        return None
    asked: Iterable[int] = range(len(ids))
    if subject.training_calls and len(ids) > MAX_SERIES_POINTS:
        # Each gradient of a step takes a sweep, so a long training has as many as the curve has points.
        asked = np.linspace(0, len(ids) - 1, MAX_SERIES_POINTS).round().astype(int).tolist()
    sizes: dict[int, float] = {}
    for k in asked:
        i = ids[k]
        gradient = None if i is None else adjoints.get(i)
        if gradient is None and i is not None:
            gradient = of_step.get(i)
        if gradient is not None:
            sizes[k] = size_of(subject.norms, gradient)
    if not sizes:
        return None
    places = list(sizes)
    series = series_of("gradient", list(sizes.values()))
    steps = tuple(places[step - 1] + 1 for step in series.steps)
    return replace(series, steps=steps, count=len(ids))


def size_of(norms: dict[int, float], value: Any) -> float:
    """A real number, or the norm of anything else; nan for what is not known."""
    if isinstance(value, np.float64):
        return float(value)
    value = with_numbers(value)
    if isinstance(value, Absent) and value.norm is not None:
        return value.norm
    if value is None or not has_numbers(value):
        return math.nan
    if isinstance(value, Summary):
        return size_of(norms, value.norm)
    if not isinstance(value, np.ndarray):
        return number_of(value)
    # By identity: the subject keeps these arrays, so no id is used again for another one.
    if id(value) not in norms:
        norms[id(value)] = number_of(value)
    return norms[id(value)]
