"""GradientStep: the numbers of one call by which a program takes the gradients of Variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable


class GradientStep(NamedTuple):
    """The numbers of one call by which a program takes the gradients of Variables.

    Attributes
    ----------
    targets : tuple of int
        The ids of the targets.
    value : float, complex or lazy array
        The sum of their elements, which is what is differentiated.
    is_sum : bool
        Whether these are several elements.
    line : int or None
        The line of the cell.
    records : int
        The number of the tape's records behind the call.
    variables : tuple of Variable
        The sources that are Variables.
    values : tuple of float
        The values of these when the call was made: numbers as they are, of arrays the Euclidean norms.
    versions : tuple of int
        For each, the number of changes that the calls have seen so far.
    gradients : tuple of (float, lazy array or None)
        The Euclidean norms of the gradients, or those that are not computed themselves.
    """

    targets: tuple[int, ...]
    value: Any
    is_sum: bool
    line: int | None
    records: int
    variables: tuple[Variable, ...]
    values: tuple[float, ...]
    versions: tuple[int, ...]
    gradients: tuple[Any, ...]


class GradientSteps:
    """Every call by which a program takes the gradients of Variables; it keeps numbers, and no arrays but the last.

    Attributes
    ----------
    steps : list of GradientStep
    """

    def __init__(self) -> None:
        self.steps: list[GradientStep] = []
        self._last: dict[int, tuple[Any, float, int]] = {}

    def clear(self) -> None:
        """Forget all calls."""
        self.steps.clear()
        self._last.clear()

    @np.errstate(all="ignore")
    def add(
        self,
        targets: Sequence[Traced],
        sources: Sequence[Traced],
        results: Sequence[Any],
        line: int | None,
        records: int,
    ) -> None:
        """Add a call."""
        pairs = zip(sources, results, strict=True)
        taken = {x._id: (x, g) for x, g in pairs if isinstance(x, Variable)}.values()
        if not taken:
            return
        values = tuple(number_of(x._value) for x, _ in taken)
        self.steps.append(
            GradientStep(
                tuple(target._id for target in targets),
                _total(targets),
                sum(target.size for target in targets) != 1,
                line,
                records,
                tuple(x for x, _ in taken),
                values,
                tuple(self._version(x, size) for (x, _), size in zip(taken, values, strict=True)),
                tuple(None if g is None else _size_or_lazy(g._value) for _, g in taken),
            )
        )

    def _version(self, variable: Variable, size: float) -> int:
        """The number of changes of a variable; every assignment makes a new array, if not of other values."""
        value = variable._value
        before, last, version = self._last.get(variable._id, (value, size, 0))
        if before is not value and (size != last or not np.array_equal(before, value)):
            version += 1
        self._last[variable._id] = value, size, version
        return version


def _total(targets: Sequence[Traced]) -> Any:
    """The sum of the elements of some targets; a lazy array if one of them is."""
    if len(targets) == 1 and not targets[0]._value.ndim and is_lazy(targets[0]._value):
        return targets[0]._value
    totals: list[Any] = [np.sum(target._value, dtype=_wide(target)) for target in targets]
    return sum(x if is_lazy(x) else x.item() for x in totals)


def _size_or_lazy(value: Any) -> Any:
    return value if is_lazy(value) else size_of(value)


def _wide(target: Traced) -> type:
    return np.complex128 if target.dtype.kind == "c" else np.float64


def number_of(value: Any) -> float:
    """A real number as it is, and the norm of anything else.

    Examples
    --------
    >>> number_of(-2.0), number_of(3 + 4j), number_of(np.array([3.0, -4.0]))
    (-2.0, 5.0, 5.0)
    """
    return size_of(value) if np.ndim(value) or np.iscomplexobj(value) else float(value)


LEAST, MOST = 1e-200, 1e200
"""The sums of squares between which none of them has overflowed or vanished."""


@np.errstate(all="ignore")
def size_of(value: Any) -> float:
    """The size of a number, or the Euclidean norm of an array; nan or infinite only if the value holds such.

    Examples
    --------
    >>> size_of(np.array([3.0, -4.0])), size_of(-2.0), size_of(np.array([1e200, 0.0]))
    (5.0, 2.0, 1e+200)
    """
    if not np.ndim(value):
        return float(abs(value))
    flat = np.asarray(value).reshape(-1)
    flat = (np.abs(flat) if flat.dtype.kind == "c" else flat).astype(np.float64, copy=False)
    squares = float(flat @ flat)
    if LEAST < squares < MOST:
        return math.sqrt(squares)
    largest = float(np.abs(flat).max(initial=0.0))
    if not largest or not math.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(flat / largest))
