"""The ways along which a target depends on a source, and the product of the local derivatives along each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapemagic.analysis.values import dimensions, number
from tapemagic.engine.recording import Record
from tapemagic.engine.tape import GradientTape

SHOWN = 12
"""How many paths are written out."""


@dataclass(frozen=True)
class Step:
    """One operation of a path.

    Attributes
    ----------
    operation : str
    result : str
        What the result is called; empty if it has no name.
    slope : str
        The local derivative: a number, or the shape of a matrix.
    value : float or None
        The number, if it is one.
    """

    operation: str
    result: str
    slope: str
    value: float | None


@dataclass(frozen=True)
class Path:
    """One way from a source to a target."""

    source: str
    steps: tuple[Step, ...]

    @property
    def product(self) -> float | None:
        """The product of the local derivatives, if all of them are numbers."""
        values = [step.value for step in self.steps]
        if any(value is None for value in values):
            return None
        return float(np.prod([value for value in values if value is not None]))

    def __str__(self) -> str:
        made = (f"{s.operation} = {s.result}" if s.result else s.operation for s in self.steps)
        way = [self.source, *made]
        slopes = " · ".join(step.slope for step in reversed(self.steps)) or "1"
        total = "" if self.product is None else f" = {number(self.product)}"
        return f"{' → '.join(way)}:  {slopes}{total}"


def paths(
    tape: GradientTape, target: Any, source: Any, names: Mapping[int, str]
) -> tuple[tuple[Path, ...], int]:
    """The ways from a source to a target, the shortest names first; and how many there are.

    Parameters
    ----------
    tape : GradientTape
        With its records.
    target, source : Tensor or Variable
    names : mapping of int to str
        What to call values, by their numbers.

    Returns
    -------
    (tuple of Path, int)
        At most `SHOWN` of them, in the order of the tape.
    """
    start, goal = source._id, target._id
    ways: defaultdict[int, int] = defaultdict(int, {start: 1})
    edges: defaultdict[int, list[tuple[int, Record, int]]] = defaultdict(list)
    for plain in tape._records:
        record = Record._make(plain)
        outputs = record.output_id if isinstance(record.output_id, tuple) else (record.output_id,)
        rules = record.operation.rules_for(len(record.ids))
        for position, i in enumerate(record.ids):
            if ways[i] and i in tape._tracked and rules[position] is not None:
                if start in outputs:
                    continue
                for out in outputs:
                    ways[out] += ways[i]
                    edges[out].append((i, record, position))
    found: list[Path] = []
    stack: list[tuple[int, tuple[Step, ...]]] = [(goal, ())]
    while stack and len(found) < SHOWN:
        made, steps = stack.pop()
        if made == start:
            found.append(Path(names.get(start, "?"), steps))
            continue
        for i, record, position in reversed(edges[made]):
            stack.append((i, (_step(record, position, made, names), *steps)))
    return tuple(found), ways[goal]


def _step(record: Record, position: int, made: int, names: Mapping[int, str]) -> Step:
    slope, value = _slope(record, position)
    return Step(record.name, names.get(made, ""), slope, value)


def _size(x: Any) -> str:
    return dimensions(np.shape(x)) if np.ndim(x) else "1"


def _slope(record: Record, position: int) -> tuple[str, float | None]:
    """An operation's derivative in one of its inputs: a number, or its shape."""
    x, y = record.values[position], record.output
    if isinstance(y, tuple):
        return f"[{_size(x)}]", None
    if np.ndim(x) or np.ndim(y):
        return f"[{_size(y)} by {_size(x)}]", None
    rule: Any = record.operation.rules_for(len(record.ids))[position]
    slope = rule(y.dtype.type(1), y, *record.values, **(record.params or {}))
    text = number(np.asarray(slope)[()])
    real = np.ndim(slope) == 0 and np.isrealobj(slope)
    return text, float(slope) if real else None
