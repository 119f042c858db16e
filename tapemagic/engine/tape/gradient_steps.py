"""Training steps as an observer sees them: for each gradient of Variables, the loss and the norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent, tick
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable


class GradientStep(NamedTuple):
    """A step of training: a call by which your program takes the gradients of Variables.

    - `targets`: The ids of the targets.
    - `value`: Float, complex or lazy array. The sum of the targets' elements, which is what the call differentiates.
    - `is_sum`: Whether that is a sum of several elements.
    - `line`: The line of the cell.
    - `time`: The time of the call, by the clock that numbers values.
    - `variables`: The sources that are Variables.
    - `values`: Their values at the time of the call: a number unchanged, an array as its Euclidean norm.
    - `versions`: For each variable, the number of changes that the calls have seen so far.
    - `gradients`: Tuple of (float, lazy array or None). The Euclidean norms of the gradients, or lazy gradients
      themselves.
    """

    targets: tuple[int, ...]
    value: Any
    is_sum: bool
    line: int | None
    time: int
    variables: tuple[Variable, ...]
    values: tuple[float, ...]
    versions: tuple[int, ...]
    gradients: tuple[Any, ...]


class GradientSteps:
    """A list of the calls by which a program takes gradients of Variables; only the latest arrays are kept."""

    def __init__(self) -> None:
        self.steps: list[GradientStep] = []
        self._last: dict[int, tuple[Any, float, int]] = {}

    def clear(self) -> None:
        """Forget all calls."""
        self.steps.clear()
        self._last.clear()

    def add(
        self,
        targets: Sequence[Traced],
        sources: Sequence[Traced],
        results: Sequence[Any],
        line: int | None,
    ) -> None:
        """Record a call."""
        # A source may be listed twice: by its id, it counts once.
        by_variable: dict[int, tuple[Variable, Any]] = {}
        for x, g in zip(sources, results, strict=True):
            if isinstance(x, Variable):
                by_variable[x._id] = x, g
        if not by_variable:
            return
        variables: list[Variable] = []
        values: list[float] = []
        versions: list[int] = []
        gradients: list[Any] = []
        for x, g in by_variable.values():
            size = number_of(x._value)
            variables.append(x)
            values.append(size)
            versions.append(self._version(x, size))
            gradients.append(None if g is None else _size_or_lazy(g._value))
        # One tuple for the steps of a loop, which take gradients of the same variables.
        before = self.steps[-1].variables if self.steps else ()
        is_same = len(before) == len(variables) and all(map(is_, before, variables))
        self.steps.append(
            GradientStep(
                # New int objects: the ids themselves would keep the records of the targets on the tape.
                tuple([target._id + 0 for target in targets]),
                _total(targets),
                sum([target._value.size for target in targets]) != 1,
                line,
                tick(),
                before if is_same else tuple(variables),
                tuple(values),
                tuple(versions),
                tuple(gradients),
            )
        )

    def _version(self, variable: Variable, size: float) -> int:
        """Return the number of changes of a variable; an assignment of equal values isn't a change."""
        value = variable._value
        before, last, version = self._last.get(variable._id, (None, size, 0))
        if before is value:
            return version
        # A real number is its size.
        is_equal = size == last and (isinstance(value, float) or np.array_equal(before, value))
        version += before is not None and not is_equal
        self._last[variable._id] = value, size, version
        return version


def _total(targets: Sequence[Traced]) -> Any:
    """Return the sum of the elements of all targets, which is lazy for lazy targets."""
    if len(targets) == 1:
        value = targets[0]._value
        if isinstance(value, float):
            return float(value)
        if not value.ndim and is_lazy(value):
            return value
    totals = [_sum(target._value) for target in targets]
    return totals[0] if len(totals) == 1 else sum(totals)


def _sum(value: Any) -> Any:
    """Return the sum of the elements of an array in double precision."""
    # np.sum takes ten times as long as float, which is all that the usual loss, a number, needs.
    if not value.ndim and not is_lazy(value):
        return complex(value) if value.dtype.kind == "c" else float(value)
    with np.errstate(all="ignore"):
        total = np.sum(value, dtype=np.complex128 if value.dtype.kind == "c" else np.float64)
    return total if is_lazy(total) else total.item()


def _size_or_lazy(value: Any) -> Any:
    if isinstance(value, float):  # also np.float64, the usual gradient of a number
        return abs(float(value))
    return value if is_lazy(value) else size_of(value)


def number_of(value: Any) -> float:
    """Return a real number unchanged, and the Euclidean norm of anything else; nan if that isn't known.

    Examples
    --------
    >>> number_of(-2.0), number_of(3 + 4j), number_of(np.array([3.0, -4.0]))
    (-2.0, 5.0, 5.0)
    """
    if isinstance(value, Absent):
        return math.nan if value.norm is None else value.norm
    return float(value) if is_real(value) else size_of(value)


def is_real(value: Any) -> bool:
    """Return True for a single real number, also one that NumPy made."""
    return isinstance(value, float) or not (np.ndim(value) or np.iscomplexobj(value))


MIN_SQUARES, MAX_SQUARES = 1e-200, 1e200
"""A sum of squares within these limits is accurate: no square has overflowed, or vanished while it mattered."""


def size_of(value: Any) -> float:
    """Return the absolute value of a number or the Euclidean norm of an array; nan or inf only if the value has any.

    Examples
    --------
    >>> size_of(np.array([3.0, -4.0])), size_of(-2.0), size_of(np.array([1e200, 0.0]))
    (5.0, 2.0, 1e+200)
    """
    # Most are numbers, for which setting NumPy's error state would take most of the time.
    if is_real(value):
        return abs(float(value))
    with np.errstate(all="ignore"):
        return _norm(value)


def _norm(value: Any) -> float:
    if not np.ndim(value):
        return float(abs(value))
    flat = np.asarray(value).reshape(-1)
    flat = (np.abs(flat) if flat.dtype.kind == "c" else flat).astype(np.float64, copy=False)
    # A sum of squares is many times faster than a maximum and a scaled norm, and suffices for usual numbers. Without
    # `@`: a library that multiplies on several threads takes longer to wake them up than to add.
    squares = float(np.einsum("i,i->", flat, flat))
    if MIN_SQUARES < squares < MAX_SQUARES:
        return math.sqrt(squares)
    # Scaling by the largest element, as in BLAS nrm2: the squares of the quotients can't overflow.
    largest = float(np.abs(flat).max(initial=0.0))
    if not largest or not math.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(flat / largest))
