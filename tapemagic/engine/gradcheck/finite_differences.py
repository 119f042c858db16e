"""Derivatives in a direction, by central finite differences and by the tape."""

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

# The sixth-order formula has the truncation error h**6 / 140 times the seventh derivative, 1e-20 of it here, and the
# rounding error 1.8 * 2e-16 / h = 4e-13 of the function values. Both are far below the default tolerance of 1e-7, so
# that any larger difference is a mistake. For smooth functions, h = 6e-3 would balance both errors; but a larger step
# crosses more kinks and leaves more domains.
STEP = 1e-3
CENTRAL = {1: 0.75, -1: -0.75, 2: -0.15, -2: 0.15, 3: 1 / 60, -3: -1 / 60}
"""Steps k and factors c_k of ``f'(x) = sum(c_k * f(x + k * h)) / h + O(h**6)``.

Source: Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids", Mathematics of Computation
51 (1988), table 1.
"""

MIN_SHARE = 1e-4
"""A derivative below this share of the function's values is lost in their rounding errors."""

MAX_TRIED_ENTRIES = 32
"""Bisection stops at this number of entries, and each of these is tried."""


@dataclass(frozen=True)
class Comparison:
    """A derivative in a direction, by the tape and by finite differences.

    - `error`: The difference, relative to the terms of both sums, or inf if one of them is nan or infinite.
    """

    tape: float
    quotient: float
    error: float

    @property
    def gap(self) -> float:
        """The absolute difference, for sorting; nan and inf count as larger than any number."""
        if not np.isfinite(self.quotient):
            return np.inf
        return abs(self.tape - self.quotient) if np.isfinite(self.tape) else sys.float_info.max


@dataclass(frozen=True)
class WeightedSum:
    """The inner product ``<w, f(x)>`` of weights w with a function's outputs, at a point x.

    The point, the weights and all directions are flat vectors: the entries of all arrays one after another, complex
    entries as a real and an imaginary part. The inner product is the one of these vectors.

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
        """The vector x of all inputs."""
        return flat(self.inputs)

    @cached_property
    def strides(self) -> Any:
        """The vector of step lengths: they grow with an entry's size, and are short near zero, where poles may be."""
        size = np.concatenate([np.repeat(np.abs(x), entry_size(x)) for x in self.inputs])
        return np.clip(size, 0.01, 1.0) * np.maximum(size, 1.0) ** 0.25

    @cached_property
    def gradient(self) -> Any:
        """The tape's gradient as a vector."""
        arguments = self.inputs + arrays_like(self.outputs, self.weights)
        return flat(values(pullback(self.function, len(self.inputs)), arguments))

    def at(self, direction: Any) -> Any:
        """Return the vector f(x + direction)."""
        return flat(values(self.function, arrays_like(self.inputs, self.point + direction)))

    def compare(self, direction: Any) -> Comparison:
        """Compare the tape's ``<gradient, v>`` with ``<w, Jv>``, where Jv is the finite difference."""
        ys = [self.at(STEP * steps * direction) for steps in CENTRAL]
        with np.errstate(invalid="ignore"):
            slope = sum(c / STEP * y for c, y in zip(CENTRAL.values(), ys, strict=True))
            tape, quotient = _terms(direction, self.gradient), _terms(self.weights, slope)
            sizes = _terms(self.weights, ys[-1])
            scale = max(
                *(np.abs(x).sum() for x in (tape, quotient)), MIN_SHARE * np.abs(sizes).sum()
            )
            error = float(np.abs(tape.sum() - quotient.sum()) / scale) if scale else 0.0
        error = error if np.isfinite(error) else np.inf
        return Comparison(float(tape.sum()), float(quotient.sum()), error)

    def step(self, entry: int) -> Any:
        """Return the direction that changes a single entry of the point."""
        return only(self.strides, entry, entry + 1)

    def total(self, direction: Any) -> float:
        """Return the number <w, f(x + direction)>."""
        return float(_terms(self.weights, self.at(direction)).sum())

    def reweighted(self, weights: Any) -> Self:
        """Return the sum of this function at this point with other weights."""
        return replace(self, weights=weights)


def pullback(function: Function, count: int) -> Function:
    """Return the vector-Jacobian product of a function, as a function of its `count` inputs and of the weights."""

    def gradient(*arguments: Any) -> list[Tensor]:
        inputs, weights = list(arguments[:count]), list(arguments[count:])
        with Tape(watch_accessed_variables=False) as tape:
            tape.watch(inputs)
            outputs = real_or_complex(function(*inputs))
        gradients: list[Tensor] = tape.gradient(outputs, inputs, weights, "zero")
        return gradients

    return gradient


SMALL_POINT = "check the function on a small part of the data, in memory"
"""Advice if a point, or the value of a function, isn't computed."""


def values(function: Function, inputs: Iterable[Any]) -> list[Any]:
    """Return the real and complex outputs of a function, as arrays."""
    outputs = [y._value for y in real_or_complex(function(*map(constant, inputs)))]
    for value in outputs:
        require_computed(value, "check_gradients", SMALL_POINT)
    return outputs


def real_or_complex(result: Any) -> list[Traced]:
    """Return the real and complex tensors that a function returned.

    Raises NotATensorError if there are none, or the function returned something other than numbers.
    """
    tensors = [_tensor(y) for y in leaves(result) if y is not None]
    tensors = [y for y in tensors if y.dtype.kind in "fc"]
    if tensors:
        return tensors
    why = "end it with 'return'" if result is None else "integers and bools have no derivative"
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
            f"the function returned {describe(y)}, not numbers: "
            "return tensors, or lists, tuples or dicts of them"
        ) from None


def _terms(factors: Any, numbers: Any) -> Any:
    """Return the products of two vectors' entries; a factor of zero gives zero, also for inf and nan."""
    # Entries that don't contribute may be nan or inf, for example where the direction is 0.
    return factors * np.where(factors == 0, 0.0, numbers)


def flat(arrays: list[Any]) -> Any:
    """Join arrays to a single vector of real numbers."""
    kinds = {1: np.float64, 2: np.complex128}
    parts = [np.ravel(x).astype(kinds[entry_size(x)], copy=False).view(float) for x in arrays]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def arrays_like(models: list[Any], vector: Any) -> list[Any]:
    """Split a vector into arrays with the shapes, dtypes and memory layouts of `models`."""
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
    """Return the slice of each array in the vector of all arrays."""
    ends = list(accumulate((x.size * entry_size(x) for x in arrays), initial=0))
    return list(pairwise(ends))


def entry_of(arrays: list[Any], k: int) -> tuple[int, tuple[int, ...], int]:
    """Return the array, the index and the part (0: real, 1: imaginary) of a number in the vector of all arrays."""
    position, start = next((i, a) for i, (a, b) in enumerate(spans(arrays)) if a <= k < b)
    x = arrays[position]
    entry, part = divmod(k - start, entry_size(x))
    return position, tuple(map(int, np.unravel_index(entry, x.shape))), part


def entry_size(x: Any) -> int:
    """Return the number of real numbers in an entry of an array: 2 if it is complex, else 1."""
    return 2 if x.dtype.kind == "c" else 1


def only(vector: Any, start: int, stop: int) -> Any:
    """Return a vector with zeros outside of a span."""
    kept = np.zeros(vector.size)
    kept[start:stop] = vector[start:stop]
    return kept


def locate(
    at: WeightedSum, direction: Any, span: tuple[int, int], tolerance: float, entrywise: bool
) -> tuple[WeightedSum, int, int | None]:
    """Find the entry with the largest error in a span of the point, and the output number in which the error appears.

    Both are found by bisection, which keeps the half with the larger difference. With `entrywise`, each entry of the
    span is tried.

    Returns (WeightedSum, int, int or None): the sum reduced to that output number, the entry, and the number; or `at`
    and None, if the error appears in no single number.
    """

    def gap_of_entries(start: int, stop: int) -> float:
        return at.compare(only(direction, start, stop)).gap

    def gap_of_outputs(start: int, stop: int) -> float:
        return at.reweighted(only(at.weights, start, stop)).compare(at.step(entry)).gap

    entries = range(*(span if entrywise else _bisected(*span, MAX_TRIED_ENTRIES, gap_of_entries)))
    errors = {k: at.compare(at.step(k)).error for k in entries}
    # Errors that differ only by rounding count as equal, so the first entry is reported on every machine.
    entry = max(errors, key=lambda k: round(errors[k], 6))
    if errors[entry] > tolerance:
        number, stop = _bisected(0, at.weights.size, 1, gap_of_outputs)
        narrow = at.reweighted(only(np.ones(at.weights.size), number, stop))
        if narrow.compare(at.step(entry)).error > tolerance:
            return narrow, entry, number
    return at, entry, None


def _bisected(
    start: int, stop: int, count: int, gap: Callable[[int, int], float]
) -> tuple[int, int]:
    """Halve a span until at most `count` entries are left, keeping the half with the larger gap."""
    while stop - start > count:
        middle = (start + stop) // 2
        start, stop = max((start, middle), (middle, stop), key=lambda half: gap(*half))
    return start, stop
