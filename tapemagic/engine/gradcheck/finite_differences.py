"""Derivatives in one direction, by central difference quotients and by the tape."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np

from tapemagic.engine.laziness import require_computed
from tapemagic.engine.nest import leaves
from tapemagic.engine.registry import Function
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.errors import NotATensorError

STEP = 1e-3
CENTRAL = {1: 0.75, -1: -0.75, 2: -0.15, -2: 0.15, 3: 1 / 60, -3: -1 / 60}
"""Steps k and factors c_k of ``f'(x) = sum(c_k * f(x + k * h)) / h + O(h**6)``: Fornberg, "Generation of
finite difference formulas on arbitrarily spaced grids", Mathematics of Computation 51 (1988), table 1.
"""

TINY = 1e-4
"""A derivative smaller than this, relative to the function's values, is lost in their rounding."""

FEW = 32
"""Bisection ends at this many entries; each of these is tried."""


@dataclass(frozen=True)
class Comparison:
    """A derivative in one direction, by the tape and by a difference quotient.

    Attributes
    ----------
    tape, quotient : float
    error : float
        Their difference relative to the terms of which they are sums; infinite where one is not finite.
    """

    tape: float
    quotient: float
    error: float

    @property
    def gap(self) -> float:
        """The absolute difference, for sorting: largest without a finite quotient, then without a finite tape."""
        if not np.isfinite(self.quotient):
            return np.inf
        return abs(self.tape - self.quotient) if np.isfinite(self.tape) else sys.float_info.max


@dataclass(frozen=True)
class WeightedSum:
    """The inner product ``<w, f(x)>`` of weights w with a function's outputs, at a point x.

    The point, the weights and all directions are flat vectors: the entries of all arrays one after the other, a
    complex one as its real and imaginary part. The inner product is that of these vectors.

    Attributes
    ----------
    function : callable
    inputs, outputs : list of array
        The function's inputs at the point, and the values that it returns there.
    weights : array
        The vector w.
    """

    function: Function
    inputs: list[Any]
    outputs: list[Any]
    weights: Any

    @cached_property
    def point(self) -> Any:
        """The vector x."""
        return flat(self.inputs)

    @cached_property
    def strides(self) -> Any:
        """The vector of step lengths: by an entry's size, and short near zero, where functions may have poles."""
        size = np.concatenate([np.repeat(np.abs(x), entry_size(x)) for x in self.inputs])
        return np.clip(size, 0.01, 1.0) * np.maximum(size, 1.0) ** 0.25

    @cached_property
    def gradient(self) -> Any:
        """The tape's gradient, as a vector."""
        arguments = self.inputs + arrays_like(self.outputs, self.weights)
        return flat(values(pullback(self.function, len(self.inputs)), arguments))

    def at(self, direction: Any) -> Any:
        """The vector f(x + direction)."""
        return flat(values(self.function, arrays_like(self.inputs, self.point + direction)))

    def compare(self, direction: Any) -> Comparison:
        """Compare the tape's ``<gradient, v>`` with ``<w, Jv>``, where Jv is the difference quotient."""
        ys = [self.at(STEP * steps * direction) for steps in CENTRAL]
        with np.errstate(invalid="ignore"):
            slope = sum(c / STEP * y for c, y in zip(CENTRAL.values(), ys, strict=True))
            tape, quotient = _terms(direction, self.gradient), _terms(self.weights, slope)
            sizes = _terms(self.weights, ys[-1])
            scale = max(*(np.abs(x).sum() for x in (tape, quotient)), TINY * np.abs(sizes).sum())
            error = float(np.abs(tape.sum() - quotient.sum()) / scale) if scale else 0.0
        error = error if np.isfinite(error) else np.inf
        return Comparison(float(tape.sum()), float(quotient.sum()), error)

    def step(self, entry: int) -> Any:
        """The direction that changes a single entry of the point."""
        return only(self.strides, entry, entry + 1)

    def total(self, direction: Any) -> float:
        """The number <w, f(x + direction)>."""
        return float(_terms(self.weights, self.at(direction)).sum())

    def reweighted(self, weights: Any) -> Self:
        """The same function and point with other weights."""
        return replace(self, weights=weights)


def pullback(function: Function, count: int) -> Function:
    """The vector-Jacobian product of a function, as a function of its `count` inputs and of the weights."""

    def gradient(*arguments: Any) -> list[Tensor]:
        inputs, weights = list(arguments[:count]), list(arguments[count:])
        with Tape(watch_accessed_variables=False) as tape:
            tape.watch(inputs)
            found = real_or_complex(function(*inputs))
        gradients: list[Tensor] = tape.gradient(found, inputs, weights, "zero")
        return gradients

    return gradient


SMALL_POINT = "check the function on a small part of the data, in memory"
"""The advice where a point, or the value of a function there, is not computed."""


def values(function: Function, inputs: Iterable[Any]) -> list[Any]:
    """The real and complex outputs of a function, as arrays."""
    found = [y._value for y in real_or_complex(function(*map(constant, inputs)))]
    for value in found:
        require_computed(value, "check_gradients", SMALL_POINT)
    return found


def real_or_complex(result: Any) -> list[Traced]:
    """The real and complex tensors that a function returned.

    Raises
    ------
    NotATensorError
        If there are none, or something is among them that is not made of numbers.
    """
    found = [_tensor(y) for y in leaves(result) if y is not None]
    found = [y for y in found if y.dtype.kind in "fc"]
    if found:
        return found
    why = (
        "it has to end in 'return'"
        if result is None
        else "whole numbers and truth values change in steps, and have no derivative"
    )
    raise NotATensorError(
        f"the function returned no real or complex tensor, but {describe(result)}: {why}"
    )


def _tensor(y: Any) -> Traced:
    if isinstance(y, Traced):
        return y
    try:
        return constant(y)
    except (TypeError, ValueError):
        raise NotATensorError(
            f"the function returned {describe(y)}, which is not made of numbers: "
            "return tensors, or lists, tuples or dicts of them"
        ) from None


def _terms(factors: Any, numbers: Any) -> Any:
    """The products of two vectors' entries; a factor of zero makes zero, also of inf and nan."""
    return factors * np.where(factors == 0, 0.0, numbers)


def flat(arrays: list[Any]) -> Any:
    """Arrays as one vector of real numbers."""
    kinds = {1: np.float64, 2: np.complex128}
    parts = [np.ravel(x).astype(kinds[entry_size(x)], copy=False).view(float) for x in arrays]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def arrays_like(models: list[Any], vector: Any) -> list[Any]:
    """The arrays of a vector, with the shapes, dtypes and layouts in memory of the models."""
    arrays = []
    for (start, stop), model in zip(spans(models), models, strict=True):
        part = vector[start:stop].view(complex if entry_size(model) == 2 else float)
        x = part.reshape(model.shape).astype(model.dtype, copy=False)
        if not model.flags.c_contiguous:
            x, numbers = np.empty_like(model), x
            x[...] = numbers
        arrays.append(x[()])
    return arrays


def spans(arrays: list[Any]) -> list[tuple[int, int]]:
    """The slice of each array in the vector of all of them."""
    ends = list(accumulate((x.size * entry_size(x) for x in arrays), initial=0))
    return list(pairwise(ends))


def entry_of(arrays: list[Any], k: int) -> tuple[int, tuple[int, ...], int]:
    """The array, the index in it, and the part (0: real, 1: imaginary) of a number in the vector of all arrays."""
    position, start = next((i, a) for i, (a, b) in enumerate(spans(arrays)) if a <= k < b)
    x = arrays[position]
    entry, part = divmod(k - start, entry_size(x))
    return position, tuple(map(int, np.unravel_index(entry, x.shape))), part


def entry_size(x: Any) -> int:
    """The number of real numbers in an entry of an array: 2 if it is complex, else 1."""
    return 2 if x.dtype.kind == "c" else 1


def only(vector: Any, start: int, stop: int) -> Any:
    """A vector with zeros outside of a span."""
    kept = np.zeros(vector.size)
    kept[start:stop] = vector[start:stop]
    return kept


def locate(
    at: WeightedSum, direction: Any, span: tuple[int, int], tolerance: float, entrywise: bool
) -> tuple[WeightedSum, int, int | None]:
    """Find the entry with the largest error in a span of the point, and the output number where it shows.

    Both by bisection: of the two halves of a vector, the one with the larger difference is kept. With `entrywise`,
    each entry of the span is tried.

    Returns
    -------
    (WeightedSum, int, int or None)
        The sum narrowed to that output number, the entry, and the number; the sum as given and None, if the error
        shows in no single number.
    """

    def gap_of_entries(start: int, stop: int) -> float:
        return at.compare(only(direction, start, stop)).gap

    def gap_of_outputs(start: int, stop: int) -> float:
        return at.reweighted(only(at.weights, start, stop)).compare(at.step(entry)).gap

    entries = range(*(span if entrywise else _bisected(*span, FEW, gap_of_entries)))
    errors = {k: at.compare(at.step(k)).error for k in entries}
    entry = max(errors, key=lambda k: round(errors[k], 6))
    if errors[entry] > tolerance:
        number, stop = _bisected(0, at.weights.size, 1, gap_of_outputs)
        narrow = at.reweighted(only(np.ones(at.weights.size), number, stop))
        if narrow.compare(at.step(entry)).error > tolerance:
            return narrow, entry, number
    return at, entry, None


def _bisected(start: int, stop: int, few: int, gap: Callable[[int, int], float]) -> tuple[int, int]:
    """Halve a span until few are left, each time keeping the half with the larger gap."""
    while stop - start > few:
        middle = (start + stop) // 2
        start, stop = max((start, middle), (middle, stop), key=lambda half: gap(*half))
    return start, stop
