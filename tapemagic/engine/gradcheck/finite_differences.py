"""Derivatives in one direction: by difference quotients, and by the tape."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from tapemagic.engine.events import Event
from tapemagic.engine.nest import describe, leaves
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.errors import NotATensorError

STEP = 1e-3
CENTRAL = {1: 0.75, -1: -0.75, 2: -0.15, -2: 0.15, 3: 1 / 60, -3: -1 / 60}
"""The central difference quotient of sixth order: steps, and the factors of the values there."""

TINY = 1e-4
"""Derivatives this much smaller than the function's values are lost in a quotient's rounding."""

Function = Callable[..., Any]


@dataclass(frozen=True)
class Comparison:
    """A derivative in one direction, by the tape and by a difference quotient.

    Attributes
    ----------
    tape, quotient : float
        Of the outputs, times their weights, added up.
    error : float
        Their difference, relative to what they are sums of; infinite where there is none.
    """

    tape: float
    quotient: float
    error: float

    @property
    def gap(self) -> float:
        """How far the two are apart; the most where the quotient is not finite, then the tape."""
        if not np.isfinite(self.quotient):
            return np.inf
        return abs(self.tape - self.quotient) if np.isfinite(self.tape) else sys.float_info.max


@dataclass(frozen=True)
class Spot:
    """A function, a point, and weights with which its outputs are added up."""

    function: Function
    points: list[Any]
    weights: list[Any]

    @cached_property
    def gradients(self) -> list[Any]:
        """What the tape says in every input."""
        gradient = pullback(self.function, len(self.points))
        return [g._value for g in gradient(*map(constant, self.points + self.weights))]

    def compare(self, position: int, direction: Any) -> Comparison:
        """The derivative in a direction of one of the inputs.

        With weights w, the tape's ``<vjp(w), v>`` is compared with ``<w, Jv>``.
        """
        ys = [self.values(position, steps * direction) for steps in CENTRAL]
        with np.errstate(invalid="ignore"):
            slopes = [_slope(several) for several in zip(*ys, strict=True)]
            ours = terms([direction], [self.gradients[position]])
            theirs = terms(self.weights, slopes)
        error = relative(ours, theirs, terms(self.weights, ys[-1]))
        return Comparison(float(ours.sum()), float(theirs.sum()), error)

    def values(self, position: int, steps: Any) -> list[Any]:
        """The outputs, where one of the inputs is so many steps away."""
        moved = list(self.points)
        moved[position] = moved[position] + STEP * steps
        return outputs(self.function, moved)

    def exits(self, position: int) -> list[Event]:
        """Where values computed from one of the inputs left the tape, and may have come back as constants."""
        points = list(map(constant, self.points))
        with Tape(watch_accessed_variables=False) as tape:
            tape.watch(points[position])
            found = tensors(self.function(*points))
        last = max(y._id for y in found) if all(y._id > 0 for y in found) else sys.maxsize
        if last < sys.maxsize:
            last = max((i for i in _with_constants(tape) if i <= last), default=0)
        return [event for event in tape._events if event.kind == "exit" and event.time < last]

    def total(self, position: int, steps: Any) -> float:
        """The same times their weights, added up."""
        return float(terms(self.weights, self.values(position, steps)).sum())

    def only(self, start: int, stop: int) -> Self:
        """The same with all weights zero but some, counted through all outputs."""
        return replace(self, weights=only(self.weights, start, stop))


def _with_constants(tape: Tape) -> Iterator[int]:
    """The numbers of the results in which something was used that the tape does not know."""
    for record in tape.records:
        if any(i <= 0 for i in record.ids):
            yield np.min(record.output_id)


def outputs(function: Function, points: list[Any]) -> list[Any]:
    """The values of the function's real and complex outputs."""
    return [y._value for y in tensors(function(*map(constant, points)))]


def tensors(result: Any) -> list[Traced]:
    """The real and complex outputs of a function.

    Raises
    ------
    NotATensorError
        If there are none, or something is among them that is not made of numbers.
    """
    found = [as_tensor(y) for y in leaves(result) if y is not None]
    found = [y for y in found if y.dtype.kind in "fc"]
    if not found:
        raise NotATensorError(_without_derivative(result))
    return found


def as_tensor(y: Any) -> Traced:
    """An output as a tensor, if it is made of numbers."""
    if isinstance(y, Traced):
        return y
    try:
        return constant(y)
    except (TypeError, ValueError):
        raise NotATensorError(
            f"the function returned {describe(y)}, which is not made of numbers: "
            "return tensors, or lists, tuples or dicts of them"
        ) from None


def _without_derivative(result: Any) -> str:
    said = f"the function returned no real or complex tensor, but {describe(result)}"
    if result is None:
        return f"{said}: it has to end in 'return'"
    return f"{said}: whole numbers and truth values change in steps, and have no derivative"


def pullback(function: Function, count: int) -> Function:
    """The gradient of a function, as a function of its `count` inputs and its outputs' weights."""

    def gradient(*arguments: Any) -> list[Tensor]:
        inputs, weights = list(arguments[:count]), list(arguments[count:])
        with Tape(watch_accessed_variables=False) as tape:
            tape.watch(inputs)
            found = tensors(function(*inputs))
        gradients: list[Tensor] = tape.gradient(found, inputs, weights, "zero")
        return gradients

    return gradient


def _slope(values: tuple[Any, ...]) -> Any:
    """The difference quotient of an output, of which the values at the steps are given."""
    return sum(factor / STEP * y for factor, y in zip(CENTRAL.values(), values, strict=True))


def relative(ours: Any, theirs: Any, sizes: Any) -> float:
    """The difference of two sums, relative to their terms; `sizes` are those of the values between."""
    scale = max(np.abs(ours).sum(), np.abs(theirs).sum(), TINY * np.abs(sizes).sum())
    error = float(np.abs(ours.sum() - theirs.sum()) / scale) if scale else 0.0
    return error if np.isfinite(error) else np.inf


def stride(size: Any) -> Any:
    """The stride at numbers of this size: short near zero, where functions may have poles."""
    return np.clip(size, 0.01, 1.0) * np.maximum(size, 1.0) ** 0.25


def random(like: Any, rng: np.random.Generator) -> Any:
    """Normally distributed numbers of an array's shape, kind, and layout in memory."""
    numbers = np.empty_like(like)
    numbers[...] = rng.standard_normal(numbers.shape)
    if numbers.dtype.kind == "c":
        numbers.imag = rng.standard_normal(numbers.shape)
    return numbers[()]


def only(arrays: list[Any], start: int, stop: int) -> list[Any]:
    """Arrays of which all entries are zero but some, counted through all of them."""
    kept = []
    for x in arrays:
        y = np.zeros_like(x)
        inside = slice(max(start, 0), max(stop, 0))
        y.flat[inside] = np.ravel(x)[inside]
        kept.append(y[()])
        start, stop = start - x.size, stop - x.size
    return kept


def terms(factors: list[Any], values: list[Any]) -> Any:
    """The terms of the real inner product of two lists of arrays; zeros make zeros, also of inf."""
    products = [
        np.real(np.conjugate(factor) * np.where(factor == 0, 0.0, value))
        for factor, value in zip(factors, values, strict=True)
    ]
    return np.concatenate(list(map(np.ravel, products)))
