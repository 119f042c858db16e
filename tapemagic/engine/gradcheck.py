"""Comparing the tape's derivatives with difference quotients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.constants import constant
from tapemagic.engine.structure import describe, leaves
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Tensor, Traced
from tapemagic.engine.values import own
from tapemagic.errors import GradientError, NotATensorError

STEP = 1e-3
CENTRAL = ((1, 0.75), (-1, -0.75), (2, -0.15), (-2, 0.15), (3, 1 / 60), (-3, -1 / 60))
"""The central difference quotient of sixth order: steps, and the factors of the values there."""

TINY = 1e-4
"""Derivatives this much smaller than the function's values are lost in a quotient's rounding."""

Function = Callable[..., Any]


class GradientReport(NamedTuple):
    """What `check_gradients` found.

    Attributes
    ----------
    errors : tuple of float
        The largest relative error of the first derivatives, of the second ones, and so on.
    """

    errors: tuple[float, ...]


def check_gradients(
    function: Function, *inputs: Any, order: int = 2, tolerance: float = 1e-7, seed: int = 0
) -> GradientReport:
    """Compare the tape's derivatives of a function with difference quotients, in every input.

    Parameters
    ----------
    function : callable
        Called with tensors; returns a tensor, or a nested structure of several.
    *inputs : array_like
        Real or complex numbers, around which the function has to be smooth. Computed with in
        double precision.
    order : int, optional
        Up to which order. The second one differentiates the gradient itself, in the inputs and in
        the ``output_gradients`` that it was computed with.
    tolerance : float, optional
        The relative error to put up with.
    seed : int, optional
        Of the random directions in which derivatives are taken, and of the random weights of the
        outputs.

    Returns
    -------
    GradientReport
        The largest error of each order.

    Raises
    ------
    GradientError
        If a derivative differs from its difference quotient; the message says which, and both
        values.
    NotATensorError
        If an input is neither real nor complex, or the function returns nothing that is.

    Notes
    -----
    In a random direction v, with random weights w, the tape's ``<vjp(w), v>`` is compared with
    ``<w, Jv>``, where Jv is a central difference quotient of sixth order; where inputs are small,
    so are the steps. The inner product is the real part of ``sum(conj(a) * b)``, so that
    gradients in complex inputs are those which `GradientTape` gives.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> report = tm.check_gradients(lambda a, b: np.sin(a) / b, [0.5, 1.0], 2.0)
    >>> max(report.errors) < 1e-7
    True
    >>> tm.check_gradients(lambda x: np.sin(x.numpy()), 0.5)
    Traceback (most recent call last):
        ...
    tapemagic.errors.GradientError: derivative of order 1 in input 0, of shape (): ...
    """
    points = [_point(x, i) for i, x in enumerate(inputs)]
    names = [f"input {i}" for i in range(len(points))]
    rng = np.random.default_rng(seed)
    errors = []
    for level in range(1, order + 1):
        weights = [_random(y, rng) for y in _outputs(function, points)]
        error = 0.0
        for i, name in enumerate(names):
            place = f"derivative of order {level} in {name}, of shape {points[i].shape}"
            error = max(error, _compare(function, points, weights, i, rng, tolerance, place))
        errors.append(error)
        names += [f"the weight of output {i} at order {level}" for i in range(len(weights))]
        function = _pullback(function, len(points))
        points = points + weights
    return GradientReport(tuple(errors))


def _point(value: Any, position: int) -> Any:
    """An input as an array, or NumPy number, in double precision."""
    x = own(value)
    if x.dtype.kind not in "fc":
        raise NotATensorError(
            f"input {position} has to be made of real or complex numbers, not {describe(value)}: "
            "whole numbers have no gradient, so write 3.0 for 3, or keep them out of the inputs"
        )
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _outputs(function: Function, points: list[Any]) -> list[Any]:
    """The values of the function's real and complex outputs."""
    return [y._value for y in _tensors(function(*map(constant, points)))]


def _tensors(result: Any) -> list[Traced]:
    """The real and complex outputs of a function."""
    found = [y if isinstance(y, Traced) else constant(y) for y in leaves(result) if y is not None]
    found = [y for y in found if y.dtype.kind in "fc"]
    if not found:
        raise NotATensorError(
            f"the function returned no real or complex tensor, but {describe(result)}"
        )
    return found


def _pullback(function: Function, count: int) -> Function:
    """The gradient of a function, as a function of its `count` inputs and its outputs' weights."""

    def gradient(*arguments: Any) -> list[Tensor]:
        inputs, weights = list(arguments[:count]), list(arguments[count:])
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(inputs)
            outputs = _tensors(function(*inputs))
        found: list[Tensor] = tape.gradient(outputs, inputs, weights, "zero")
        return found

    return gradient


def _compare(
    function: Function,
    points: list[Any],
    weights: list[Any],
    position: int,
    rng: np.random.Generator,
    tolerance: float,
    place: str,
) -> float:
    """The relative error of the derivative in one input, in a random direction."""
    x = points[position]
    direction = _random(x, rng) * _stride(np.abs(x))
    gradient = _pullback(function, len(points))(*map(constant, points + weights))[position]
    quotient = [0.0] * len(weights)
    for steps, factor in CENTRAL:
        moved = [*points[:position], x + steps * STEP * direction, *points[position + 1 :]]
        values = _outputs(function, moved)
        quotient = [q + factor / STEP * y for q, y in zip(quotient, values, strict=True)]
    ours, theirs = _terms([gradient._value], [direction]), _terms(weights, quotient)
    return _error(ours, theirs, _terms(weights, values), tolerance, place)


def _stride(size: Any) -> Any:
    """The stride at numbers of this size: short near zero, where functions may have poles."""
    return np.clip(size, 0.01, 1.0) * np.maximum(size, 1.0) ** 0.25


def _error(ours: Any, theirs: Any, sizes: Any, tolerance: float, place: str) -> float:
    """The difference of two sums, relative to their terms."""
    scale = max(np.abs(ours).sum(), np.abs(theirs).sum(), TINY * np.abs(sizes).sum())
    error = float(np.abs(ours.sum() - theirs.sum()) / scale) if scale else 0.0
    if not error <= tolerance:
        raise GradientError(
            f"{place}: in a random direction the tape says {ours.sum():.10g}, "
            f"the difference quotient {theirs.sum():.10g} "
            f"(relative error {error:.2g}, tolerance {tolerance:.2g})"
        )
    return error


def _random(like: Any, rng: np.random.Generator) -> Any:
    """Normally distributed numbers of an array's shape, kind, and layout in memory."""
    numbers = np.empty_like(like)
    numbers[...] = rng.standard_normal(numbers.shape)
    if numbers.dtype.kind == "c":
        numbers.imag = rng.standard_normal(numbers.shape)
    return numbers[()]


def _terms(a: list[Any], b: list[Any]) -> Any:
    """The terms of the real inner product of two lists of arrays."""
    products = [np.real(np.conjugate(x) * y) for x, y in zip(a, b, strict=True)]
    return np.concatenate(list(map(np.ravel, products)))
