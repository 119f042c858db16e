"""Recorded operations repeated with another value of a source, by which gradients can be compared.

What is repeated is what the tape recorded, in double precision. Branches, constants and random numbers stay as they
were, and so does everything through which the tape lets no gradient pass: what is compared is the derivative of the
recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent, Record, is_id
from tapemagic.engine.registry import no_derivative
from tapemagic.explain.snapshot import Snapshot

DOUBLE: dict[str, Any] = {"f": np.float64, "c": np.complex128}
SAME = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}
"""The largest relative difference of a repeated result in lower precision."""
SAME_DOUBLE = 1e-9


class ReplayError(Exception):
    """Raised where the recorded operations cannot be repeated; the message says why."""


@dataclass(frozen=True)
class Step:
    """An operation to repeat.

    - `moving`: For each input, whether a gradient passes it to the source.
    - `function`: The operation, with the parameters for double precision.
    - `is_number`: Whether its only result is a number in double precision.
    """

    record: Record
    moving: tuple[bool, ...]
    function: Callable[..., Any]
    is_number: bool

    def results(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The results for other inputs, in double precision and of the shapes that were recorded."""
        y = self.function(*values)
        # Most operations of a long loop compute with numbers, for which the general way takes ten times as long.
        if self.is_number and y.__class__ is np.float64:
            return (y,)
        shapes = map(np.shape, several(self.record.output))
        return tuple(
            double(np.asarray(part).reshape(shape)[()])
            for part, shape in zip(several(y), shapes, strict=True)
        )


@dataclass(frozen=True)
class Renaming:
    """The results of a call with a custom gradient, each with the result that the operations in it computed."""

    name: str
    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Replay:
    """A target as a function of the value of one source.

    - `source`, `target`: Their ids.
    - `point`: The source's value, in double precision. Where it had other values, those change by as much.
    - `steps`: The operations between source and target, oldest first.
    """

    source: int
    target: int
    point: Any
    steps: Sequence[Step | Renaming]

    @property
    def own_gradients(self) -> list[str]:
        """The names of functions with custom gradients between source and target."""
        return list(dict.fromkeys(s.name for s in self.steps if isinstance(s, Renaming)))

    @property
    def operations(self) -> list[Record]:
        """The records that are repeated."""
        return [step.record for step in self.steps if isinstance(step, Step)]

    def __call__(self, value: Any) -> Any:
        """The target for a value of the source."""
        # A variable that was assigned has other values at later reads: they move by the same amount.
        change = np.asarray(value) - self.point
        source, results = self.source, {self.source: self.point + change}
        for step in self.steps:
            if isinstance(step, Renaming):
                results.update((new, results[old]) for new, old in step.pairs)
                continue
            record = step.record
            inputs = zip(record.values, record.ids, step.moving, strict=True)
            values = [
                double(x) if not moving else double(x) + change if i == source else results[i]
                for x, i, moving in inputs
            ]
            results.update(zip(several(record.output_id), step.results(values), strict=True))
        return results[self.target]


def replay_of(snapshot: Snapshot, target: int, source: int, point: Any) -> Replay:
    """The part of a recording that leads from a source to a target, both given by their ids.

    Raises ReplayError if the operations do not give the recorded results when they are repeated.
    """
    steps: list[Step | Renaming] = []
    moved, own = {source}, ""
    for part in _towards(snapshot, target):
        if isinstance(part, Renaming):
            own = part.name
            pairs = tuple((new, old) for new, old in part.pairs if old in moved)
            if pairs:
                steps.append(Renaming(part.name, pairs))
                moved.update(new for new, _ in pairs)
            continue
        record, passing = part
        moving = tuple(passes and i in moved for i, passes in zip(record.ids, passing, strict=True))
        if not any(moving):
            continue
        if _call(record) is not None:
            raise ReplayError(
                f"{record.name} has a custom gradient, and its operations are not on the tape"
            )
        if any(isinstance(x, Absent) for x in (*record.values, *several(record.output))):
            raise ReplayError(f"the tape did not keep all inputs and results of {record.name}")
        step = _step(record, moving)
        _require_same(step)
        steps.append(step)
        moved.update(several(record.output_id))
    if target not in moved:
        raise ReplayError(f"{own} has a custom gradient, and its operations have no derivative")
    return Replay(source, target, double(point), steps)


def _towards(
    snapshot: Snapshot, target: int
) -> Iterator[tuple[Record, tuple[bool, ...]] | Renaming]:
    """The operations on which a target depends, oldest first, and to which of their inputs gradients pass."""
    needed, tracked = {target}, snapshot.tracked
    steps: list[tuple[Record, tuple[bool, ...]] | Renaming] = []
    made_by: dict[int, list[int]] = {}
    passing: dict[tuple[int, int], tuple[bool, ...]] = {}
    # Backwards, so that operations that don't lead to the target are skipped.
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
    params = dict(record.params or {})
    if params.get("dtype") is not None or record.name == "astype":
        params["dtype"] = DOUBLE[record.output.dtype.kind]
    function = record.operation.function
    repeat = partial(function, **params) if params else function
    return Step(record, moving, repeat, record.output.__class__ is np.float64)


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


def _require_same(step: Step) -> None:
    """Raise an error unless an operation gives the recorded results again."""
    record = step.record
    try:
        results = step.results(list(map(double, record.values)))
    except TypeError:
        raise ReplayError(f"the tape doesn't store all parameters of {record.name}") from None
    except Exception as error:  # noqa: BLE001 -- an operation may be any function
        problem = f"{type(error).__name__}: {error}"
        raise ReplayError(f"repeating {record.name} failed with {problem}") from None
    for y, old in zip(results, several(record.output), strict=True):
        # The comparison with tolerances takes ten times as long, and double precision rarely needs it.
        if (y == old).all():
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
