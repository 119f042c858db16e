"""Recorded operations repeated with another value of a source, by which derivatives can be compared.

What is repeated is what the tape recorded, in double precision. Branches, constants and random numbers stay as they
were, and so does everything through which the tape lets no gradient pass: what is compared is the derivative of the
recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent, Record, is_id
from tapemagic.engine.registry import no_derivative
from tapemagic.engine.tape.base_tape import Contents
from tapemagic.engine.tape.tape import Tape, tape_of
from tapemagic.engine.tensor.tensor import Tensor, wrap
from tapemagic.explain.snapshot import Snapshot

DOUBLE: dict[str, Any] = {"f": np.float64, "c": np.complex128}
SAME = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}
"""The largest relative difference of a repeated result in lower precision."""
SAME_DOUBLE = 1e-9
GONE = "the operations that lead to it are not in the recording"


class ReplayError(Exception):
    """Raised where the recorded operations cannot be repeated; the message says why."""


@dataclass(frozen=True)
class Step:
    """An operation to repeat.

    - `moving`: For each input, whether a gradient passes it to the source.
    - `params`: The parameters that its rules read, for double precision.
    - `function`: The operation, with the parameters for double precision.
    - `is_number`: Whether its only result is a number in double precision.
    - `offsets`: What is added to each result, because of inputs that were not kept.
    """

    record: Record
    moving: tuple[bool, ...]
    params: Mapping[str, Any] | None
    function: Callable[..., Any]
    is_number: bool
    offsets: tuple[Any, ...] = ()

    def results(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The results for other inputs, in double precision and of the shapes that were recorded."""
        y = self.function(*values)
        # Most operations of a long loop compute with numbers, for which the general way takes ten times as long.
        if self.is_number and y.__class__ is np.float64:
            return (y,)
        results = tuple(
            double(np.asarray(part).reshape(old.shape)[()])
            for part, old in zip(several(y), several(self.record.output), strict=True)
        )
        offsets = self.offsets
        return tuple(map(np.add, results, offsets)) if offsets else results


@dataclass(frozen=True)
class Renaming:
    """The results of a call with a custom gradient, each with the result that the operations in it computed."""

    name: str
    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Replay:
    """Some targets, and their derivatives, as functions of the values of sources.

    - `points`: The sources' values by their ids, in double precision. Where a source had other values, those change by
      as much.
    - `targets`: The ids of the targets.
    - `steps`: The operations between sources and targets, oldest first.
    - `tracked`: The ids of the values between them, each with the time since which it is tracked.
    """

    points: Mapping[int, Any]
    targets: Sequence[int]
    steps: Sequence[Step | Renaming]
    tracked: Mapping[int, int]

    @property
    def own_gradients(self) -> list[str]:
        """The names of functions with custom gradients between sources and targets."""
        return list(dict.fromkeys(s.name for s in self.steps if isinstance(s, Renaming)))

    @property
    def operations(self) -> list[Record]:
        """The records that are repeated."""
        return [step.record for step in self.steps if isinstance(step, Step)]

    @cached_property
    def _inside(self) -> Mapping[int, int]:
        """The results of calls with custom gradients, each with the result that the operations in it computed."""
        renamings = (step for step in self.steps if isinstance(step, Renaming))
        return {new: old for step in renamings for new, old in step.pairs}

    @cached_property
    def _fixed(self) -> AbstractSet[int]:
        """The sources that were not computed from other sources: each read of them has the recorded value."""
        return self.points.keys() - {i for record in self.operations for i in record.output_ids}

    def __call__(self, values: Mapping[int, Any]) -> list[Any]:
        """The targets for changed values of some sources."""
        results = self._run(values, None)
        return [results[i] for i in self.targets]

    def tape(self, values: Mapping[int, Any]) -> tuple[Tape, list[Tensor], Mapping[int, Tensor]]:
        """Return a tape of the repeated operations, its targets, and its sources by their ids.

        A call with a custom gradient counts as the operations in it. So the derivatives of this tape are those of the
        function, and not those that the custom gradient promises.
        """
        records: list[Any] = []
        results = self._run(values, records)
        leaves = frozenset(self.points)
        tape = tape_of(Contents(tuple(records), self.tracked, leaves, (), (), (), False, "whole"))
        sources = {i: wrap(x, i) for i, x in {**self.points, **values}.items()}
        targets = [(self._original(i), results[i]) for i in self.targets]
        return tape, [sources[i] if i in sources else wrap(y, i) for i, y in targets], sources

    def _original(self, i: int) -> int:
        """Return the id inside of a call for a result of the call, and any other id unchanged."""
        # A custom gradient may contain another one, whose result is renamed, too.
        while i in self._inside:
            i = self._inside[i]
        return i

    def _run(self, values: Mapping[int, Any], records: list[Any] | None) -> dict[int, Any]:
        """Repeat the operations, and return all results by their ids; append their records to a list, if given."""
        # A variable that was assigned has other values at later reads: they move by the same amount.
        changes = {i: np.asarray(x) - self.points[i] for i, x in values.items()}
        results = {**self.points, **values}
        for step in self.steps:
            if isinstance(step, Renaming):
                results.update((new, results[old]) for new, old in step.pairs)
                continue
            record, inputs = step.record, []
            for x, i, moving in zip(step.record.values, step.record.ids, step.moving, strict=True):
                if not moving:
                    inputs.append(double(x))
                elif i in self._fixed:
                    inputs.append(double(x) + changes[i] if i in changes else double(x))
                else:
                    inputs.append(results[i])
            outputs = step.results(inputs)
            for i, y in zip(several(record.output_id), outputs, strict=True):
                # A source may be computed from another one: then it changes with that one, and on its own.
                results[i] = y + changes[i] if i in changes else y
            if records is not None:
                ids = tuple(map(self._original, record.ids))
                output = outputs if isinstance(record.output_id, tuple) else outputs[0]
                records.append(
                    (record.number, tuple(inputs), ids, step.params, output, record.output_id)
                )
        return results


def replay_of(snapshot: Snapshot, targets: Sequence[int], points: Mapping[int, Any]) -> Replay:
    """The part of a recording that leads from sources, which are given by id and value, to targets.

    Raises ReplayError if the operations do not give the recorded results when they are repeated.
    """
    steps: list[Step | Renaming] = []
    moved, own = set(points), ""
    computed: dict[int, Any] = {}
    for part in _towards(snapshot, targets):
        if isinstance(part, Renaming):
            own = part.name
            pairs = tuple((new, old) for new, old in part.pairs if old in moved)
            if pairs:
                steps.append(Renaming(part.name, pairs))
                moved.update(new for new, _ in pairs)
                computed.update((new, computed.get(old)) for new, old in pairs)
            continue
        record, passing = part
        moving = tuple(passes and i in moved for i, passes in zip(record.ids, passing, strict=True))
        if not any(moving):
            continue
        if _call(record) is not None:
            raise ReplayError(
                f"{record.name} has a custom gradient, and its operations are not on the tape"
            )
        record, has_offset = _completed(record, moving, computed)
        step = _step(record, moving)
        results = _repeated(step)
        if has_offset:
            results, before = tuple(map(double, several(record.output))), results
            step = replace(step, offsets=tuple(map(np.subtract, results, before)))
        _require_same(record, results)
        steps.append(step)
        moved.update(several(record.output_id))
        computed.update(zip(several(record.output_id), results, strict=True))
    reached = [i for i in targets if i in moved]
    if not reached:
        why = f"{own} has a custom gradient, and its operations have no derivative" if own else GONE
        raise ReplayError(why)
    tracked = {i: snapshot.tracked[i] for i in moved if i in snapshot.tracked}
    return Replay({i: double(x) for i, x in points.items()}, reached, steps, tracked)


def _towards(
    snapshot: Snapshot, targets: Sequence[int]
) -> Iterator[tuple[Record, tuple[bool, ...]] | Renaming]:
    """The operations on which targets depend, oldest first, and to which of their inputs gradients pass."""
    needed, tracked = set(targets), snapshot.tracked
    steps: list[tuple[Record, tuple[bool, ...]] | Renaming] = []
    made_by: dict[int, list[int]] = {}
    passing: dict[tuple[int, int], tuple[bool, ...]] = {}
    # Backwards, so that operations that don't lead to a target are skipped.
    for raw in reversed(snapshot.records):
        output_ids = several(raw[-1])
        if needed.isdisjoint(output_ids):
            continue
        record = Record._make(raw)
        if _call(record) is not None:
            made_by = made_by or _results_by_array(snapshot)
            pairs = _computed_inside(record, made_by)
        else:
            pairs = ()
        if pairs:
            steps.append(Renaming(record.name, pairs))
            needed.update(old for _, old in pairs)
            continue
        kind = (record.number, len(record.ids))
        if kind not in passing:
            passing[kind] = _passing(record)
        first_output = output_ids[0]
        moving = tuple(
            passes and is_id(i) and i in tracked and tracked[i] <= first_output
            for i, passes in zip(record.ids, passing[kind], strict=True)
        )
        steps.append((record, moving))
        needed.update(compress(record.ids, moving))
    return iter(steps[::-1])


def _step(record: Record, moving: tuple[bool, ...]) -> Step:
    """An operation to repeat, in double precision."""
    # A record does not keep the parameters on which no derivative depends, such as `keepdims`, so results are
    # reshaped; a `dtype` would lose precision.
    params, recorded = dict(record.params or {}), record.params
    if params.get("dtype") is not None or record.name == "astype":
        params["dtype"] = DOUBLE[record.output.dtype.kind]
        # Rules accept only the parameters that are recorded.
        recorded = recorded and {name: params[name] for name in recorded}
    function = record.operation.function
    repeat = partial(function, **params) if params else function
    return Step(record, moving, recorded, repeat, record.output.__class__ is np.float64)


def _passing(record: Record) -> tuple[bool, ...]:
    """Return, for each input of an operation, True if it has a derivative with respect to this input."""
    operation, count = record.operation, len(record.ids)
    # An operation may have more inputs than rules: it passes no gradient to the others.
    rules = (operation.rules or (operation.joint_rule,) * count) + (None,) * count
    return tuple(rule not in (None, no_derivative) for rule in rules[:count])


def _call(record: Record) -> Any:
    """Return the call of a function with a custom gradient, or None for another record."""
    return (record.params or {}).get("call")


def _results_by_array(snapshot: Snapshot) -> dict[int, list[int]]:
    """The ids of results by the identity of their arrays."""
    results: dict[int, list[int]] = {}
    for record in map(Record._make, snapshot.records):
        for y, i in zip(several(record.output), several(record.output_id), strict=True):
            results.setdefault(id(y), []).append(i)
    return results


def _computed_inside(record: Record, made_by: dict[int, list[int]]) -> tuple[tuple[int, int], ...]:
    """The ids of the results of a call, each with that of the same array computed inside, if all are known."""
    pairs = []
    start, pairs_in = _call(record).start_time, zip(record.values, record.ids, strict=True)
    inputs = {id(x): i for x, i in pairs_in if is_id(i)}
    for y, new in zip(several(record.output), several(record.output_id), strict=True):
        # Ids rise in time, so those after the start of the call and before its results were made inside it.
        inside = [i for i in made_by[id(y)] if start < i < several(record.output_id)[0]]
        if not inside and id(y) not in inputs:
            return ()
        pairs.append((new, inside[-1] if inside else inputs[id(y)]))
    return tuple(pairs)


def _completed(
    record: Record, moving: tuple[bool, ...], computed: Mapping[int, Any]
) -> tuple[Record, bool]:
    """Return a record with all its inputs: what the tape did not keep is computed again, or replaced by zeros.

    The second value is True if zeros replace an input, so that the results need an offset.

    Raises ReplayError if neither is possible.
    """
    missing = [k for k, x in enumerate(record.values) if isinstance(x, Absent)]
    if not missing:
        return record, False
    has_offset = False
    values, unread = list(record.values), record.operation.unread(moving)
    for k in missing:
        x, again = values[k], computed.get(record.ids[k])
        if moving[k] and again is not None:
            values[k] = again
        # Where neither the input nor the result is read, the local derivatives don't depend on the input: it only adds
        # something to the result, as the labels do in `prediction - labels`. So the result with zeros is off by a
        # constant, the offset.
        elif not moving[k] and {k, -1} <= {*unread} and not _has_absent(record.output):
            values[k], has_offset = np.zeros(x.shape, x.dtype), True
        else:
            raise ReplayError(f"the tape did not keep all inputs and results of {record.name}")
    return record._replace(values=tuple(values)), has_offset


def _has_absent(output: Any) -> bool:
    return any(isinstance(y, Absent) for y in several(output))


def _repeated(step: Step) -> tuple[Any, ...]:
    """Return the results of an operation for its recorded inputs.

    Raises ReplayError if it fails.
    """
    record = step.record
    try:
        return step.results(list(map(double, record.values)))
    except TypeError:
        raise ReplayError(f"the tape doesn't store all parameters of {record.name}") from None
    except Exception as error:  # noqa: BLE001 -- an operation may be any function
        problem = f"{type(error).__name__}: {error}"
        raise ReplayError(f"repeating {record.name} failed with {problem}") from None


def _require_same(record: Record, results: Sequence[Any]) -> None:
    """Raise an error unless an operation gave the recorded results again."""
    for y, old in zip(results, several(record.output), strict=True):
        # The comparison with tolerances takes ten times as long, and double precision rarely needs it.
        if isinstance(old, Absent) or (y == old).all():
            continue
        rtol = SAME.get(str(old.dtype), SAME_DOUBLE)
        largest = np.max(np.abs(old), initial=0.0, where=np.isfinite(old))
        # Also relative to the largest entry: entries near zero carry its rounding error.
        if not np.allclose(y, double(old), rtol, rtol * largest, equal_nan=True):
            raise ReplayError(f"{record.name} returned a different result when it was repeated")


def several(value: Any) -> tuple[Any, ...]:
    """Return a tuple unchanged, and wrap anything else in a tuple."""
    return value if type(value) is tuple else (value,)


def double(x: Any) -> Any:
    """Convert a real or complex value to double precision; return other values unchanged."""
    if x.__class__ is np.float64:
        return x
    kind = DOUBLE.get(getattr(getattr(x, "dtype", None), "kind", ""))
    return x if kind is None or x.dtype == kind else x.astype(kind)
