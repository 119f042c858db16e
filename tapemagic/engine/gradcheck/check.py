"""check_gradients: compare the tape's derivatives of any order with difference quotients."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tapemagic.engine.gradcheck.cause import likely_cause
from tapemagic.engine.gradcheck.finite_differences import (
    SMALL_POINT,
    WeightedSum,
    arrays_like,
    entry_of,
    entry_size,
    flat,
    locate,
    only,
    pullback,
    spans,
    values,
)
from tapemagic.engine.gradcheck.report import DerivativeCheck, GradientReport, label
from tapemagic.engine.laziness import require_computed
from tapemagic.engine.registry import Function
from tapemagic.engine.tensor.coercion import private_array
from tapemagic.engine.tensor.messages import describe, require_function
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import GradientError, NotATensorError, OptionError

SAME = 1e-12
"""The largest difference of two calls of the same function, relative to the largest value."""

Place = tuple[int | None, str]
"""The position and the name of an input; None and the name of a weight."""


def check_gradients(
    function: Function,
    *inputs: Any,
    order: int = 2,
    tolerance: float = 1e-7,
    seed: int = 0,
    raises: bool = True,
    entrywise: bool = False,
) -> GradientReport:
    """Compare the tape's derivatives of a function with difference quotients, in every input.

    Parameters
    ----------
    function : callable
        Called with tensors; returns a tensor, or a nested structure of several.
    *inputs : array_like
        Real or complex numbers: the point, around which the function has to be smooth. They are
        converted to double precision.
    order : int, optional
        The highest order to check, 1 or more. The second order differentiates the gradient itself,
        in the inputs and in the weights of the outputs (``output_gradients``).
    tolerance : float, optional
        The largest relative error that is accepted.
    seed : int, optional
        The seed of the random directions of differentiation, and of the outputs' random weights.
    raises : bool, optional
        Whether to raise an error for a wrong derivative, or only to report it.
    entrywise : bool, optional
        Whether to check each entry of each input by itself, with six calls of the function for
        each. A random direction misses an entry whose derivative is small beside the others'.

    Returns
    -------
    GradientReport
        For each order and input the error, and the entry where it is largest; as text when printed.

    Raises
    ------
    GradientError
        If a derivative differs from its difference quotient, and `raises`: the message names the
        entry, both values, and the likely cause. Whatever `raises` is, also if there is nothing to
        compare: the point or the function's value there is not finite, or two calls of the function
        give different values.
    NotATensorError
        If an input is not made of real or complex numbers, or the function returns none.
    FunctionError
        If `function` cannot be called.
    OptionError
        If there are no inputs, `order` or `tolerance` is not a positive number, or `seed` is not a
        whole number.

    Notes
    -----
    In a random direction v, with random weights w, the tape's ``<vjp(w), v>`` is compared with
    ``<w, Jv>``, where Jv is a central difference quotient of sixth order, with smaller steps near
    zero. The inner product is the real part of ``sum(conj(a) * b)``, as in the gradients that
    `GradientTape` gives for complex inputs. Where the two differ, bisection finds an entry of the
    input, and a number of the result, that is wrong. A function that returns one real number has
    the weight 1 in higher orders.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.check_gradients(lambda a, b: np.sin(a) / b, [0.5, 1.0], 2.0, order=1)
    check_gradients: 2 derivatives agree with difference quotients (tolerance 1e-07)
      order 1 in input 0 (a) of shape (2,): agrees
      order 1 in input 1 (b): agrees
    >>> report = tm.check_gradients(lambda x: np.sum(x**2 * x.numpy()), [3.0, 0.5], raises=False)
    >>> report
    check_gradients: 1 of 1 derivative differs from the difference quotient
      order 1 in input 0 (x) of shape (2,) at [0]: DIFFERS
        the tape says 18, the difference quotient 27 (relative error 0.333, tolerance 1e-07)
        .numpy() on line 1 (...) turned this input into a plain value, so the tape's number may lack ...
      order 2 is not checked, since order 1 differs
    >>> report.ok, report.derivatives[0].index
    (False, (0,))
    >>> tm.check_gradients(lambda x: np.sin(x.numpy()), 0.5)
    Traceback (most recent call last):
        ...
    tapemagic.errors.GradientError: derivative of order 1 in input 0 (x): the tape says 0, ...
    """
    require_function(function)
    _check_options(inputs, order, tolerance, seed)
    places: list[Place] = list(enumerate(_parameters(function, len(inputs))))
    points = [_point(x, label(*place)) for x, place in zip(inputs, places, strict=True)]
    rng = np.random.default_rng(seed)
    level = _first(function, points, places, rng)
    found = level.checks(rng, tolerance, entrywise)
    while level.order < order and all(check.error <= tolerance for check in found):
        level = level.higher(rng)
        found += level.checks(rng, tolerance, entrywise)
    report = GradientReport(tuple(found), order, tolerance)
    if raises:
        report.raise_for_errors()
    return report


@dataclass(frozen=True)
class _Level:
    """One order of differentiation: the weighted outputs, and what the inputs and outputs are called."""

    order: int
    sum: WeightedSum
    inputs: list[Place]
    outputs: list[str]
    weighed: str = ""

    def checks(
        self, rng: np.random.Generator, tolerance: float, entrywise: bool
    ) -> list[DerivativeCheck]:
        """Compare the derivatives in each input."""
        direction = rng.standard_normal(self.sum.point.size) * self.sum.strides
        return [self._check(i, direction, tolerance, entrywise) for i in range(len(self.inputs))]

    def _check(self, i: int, direction: Any, tolerance: float, entrywise: bool) -> DerivativeCheck:
        """Compare the derivative in one input; where it is wrong, locate the entry."""
        at, x, span = self.sum, self.sum.inputs[i], spans(self.sum.inputs)[i]
        direction = only(direction, *span)
        found = at.compare(direction)
        place = (self.order, *self.inputs[i], x.shape)
        check = DerivativeCheck(*place, None, "", found.tape, found.quotient, found.error)
        agrees = found.error <= tolerance
        if x.size == 0 or (agrees and not entrywise):
            return check
        narrow, k, number = locate(at, direction, span, tolerance, entrywise)
        _, index, part = entry_of(at.inputs, k)
        parts = [narrow.compare(narrow.step(k - part + j)) for j in range(entry_size(x))]
        if agrees or parts[part].error > tolerance:
            at, direction, found = narrow, narrow.step(k), parts[part]
            units = np.array((1.0, 1.0j)[: len(parts)]) / at.strides[k]
            tape, quotient = (units @ [(p.tape, p.quotient) for p in parts]).tolist()
            output = self._output(number)
            check = DerivativeCheck(*place, index, output, tape, quotient, found.error)
        if found.error <= tolerance:
            return check
        return replace(check, note=likely_cause(at, i, direction, found))

    def _output(self, number: int | None) -> str:
        """A number of the result in words; empty if it is the only one."""
        if number is None:
            return "the result, weighed at random"
        k, index, part = entry_of(self.sum.outputs, number)
        if not self.outputs[k]:
            return ""
        is_complex = entry_size(self.sum.outputs[k]) == 2
        side = ("the real part of ", "the imaginary part of ")[part] if is_complex else ""
        return f"{side}{self.outputs[k]}{f' at {list(index)}' if index else ''}{self.weighed}"

    def higher(self, rng: np.random.Generator) -> _Level:
        """The next order: this one's gradients are differentiated, in the weights as well."""
        one = self.outputs == [""]
        weights = [np.float64(1.0)] if one else arrays_like(self.sum.outputs, self.sum.weights)
        function = pullback(self.sum.function, len(self.inputs))
        names = [f"the weight of output {k} at order {self.order}" for k in range(len(weights))]
        return _Level(
            self.order + 1,
            _weighted(function, self.sum.inputs + weights, rng),
            self.inputs + [(None, name) for name in names],
            [f"the derivative of order {self.order} in {label(*place)}" for place in self.inputs],
            "" if one else ", the outputs weighed at random",
        )


def _weighted(function: Function, inputs: list[Any], rng: np.random.Generator) -> WeightedSum:
    """A function at a point, with random weights for its outputs."""
    outputs = values(function, inputs)
    return WeightedSum(function, inputs, outputs, rng.standard_normal(flat(outputs).size))


def _first(
    function: Function, inputs: list[Any], places: list[Place], rng: np.random.Generator
) -> _Level:
    """The first order, if there is something to differentiate.

    Raises
    ------
    GradientError
        If the function's value is not finite, or not the same in a second call.
    """
    at = _weighted(function, inputs, rng)
    several = len(at.outputs) > 1
    names = [f"output {k}" for k in range(len(at.outputs))] if several else ["the output"]
    for name, y in zip(names, at.outputs, strict=True):
        _require_finite(y, f"{name} of the function")
    _require_same(names, at.outputs, values(function, inputs))
    is_number = not several and at.outputs[0].shape == () and at.outputs[0].dtype.kind == "f"
    return _Level(1, at, places, [""] if is_number else names)


def _check_options(inputs: tuple[Any, ...], order: Any, tolerance: Any, seed: Any) -> None:
    """Raise an error for options that make no sense."""
    if not inputs:
        raise OptionError(
            "check_gradients needs a point: give the function's inputs behind it, "
            "as in check_gradients(np.sin, 0.5)"
        )
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 1:
        raise OptionError(f"order is a whole number from 1 on, not {order!r}: write order=2")
    if not isinstance(tolerance, float | int | np.number) or not 0 < tolerance < np.inf:
        raise OptionError(
            f"tolerance is a positive number, not {tolerance!r}: write tolerance=1e-7"
        )
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(f"seed is a whole number from 0 on, not {seed!r}: write seed=0")


def _parameters(function: Function, count: int) -> list[str]:
    """The names of a function's parameters, one for each input; empty where an input has none."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    alone = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in alone]
    return (names + [""] * count)[:count]


def _point(value: Any, name: str) -> Any:
    """An input as an array, or NumPy number, in double precision.

    Raises
    ------
    NotATensorError
        If it is neither real nor complex.
    GradientError
        If it is not finite.
    """
    require_computed(unwrap(value), "check_gradients", SMALL_POINT)
    try:
        x = private_array(value)
    except (TypeError, ValueError):
        raise NotATensorError(
            f"{name} has to be made of real or complex numbers, not {describe(value)}: "
            "give each array as an input of its own"
        ) from None
    if x.dtype.kind not in "fc":
        raise NotATensorError(
            f"{name} has to be made of real or complex numbers, not {describe(value)}: "
            "whole numbers have no gradient, so write 3.0 for 3, or keep them out of the inputs"
        )
    _require_finite(x, name)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _require_finite(x: Any, name: str) -> None:
    """Raise an error if a value is not finite."""
    for index in np.argwhere(~np.isfinite(x))[:1]:
        raise GradientError(
            f"{_entry(name, index)} is {x[tuple(index)]}: there is no derivative to compare, "
            "so choose a point where all is finite"
        )


def _require_same(names: list[str], values: list[Any], again: list[Any]) -> None:
    """Raise an error if two calls of the function gave different values."""
    advice = "seed random numbers inside of the function, and keep nothing from call to call"
    shapes, shapes_again = ([y.shape for y in ys] for ys in (values, again))
    if shapes != shapes_again:
        raise GradientError(
            f"called twice at one point, the function returned shapes {shapes}, then {shapes_again}: "
            f"{advice}"
        )
    for name, y, z in zip(names, values, again, strict=True):
        same = np.abs(y - z) <= SAME * np.max(np.abs(y), initial=0.0)
        for index in np.argwhere(~same)[:1]:
            first, second = (value[tuple(index)] for value in (y, z))
            raise GradientError(
                f"called twice at one point, the function returned {first:.6g}, then {second:.6g} "
                f"({_entry(name, index)}): {advice}"
            )


def _entry(name: str, index: Any) -> str:
    """An entry of an array in words."""
    return f"{name} at {index.tolist()}" if len(index) else name
