"""check_gradients: compare the tape's derivatives of any order with finite differences."""

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

MAX_DIFFERENCE_OF_CALLS = 1e-12
"""The maximum difference between two calls of a function, relative to the largest value."""

Place = tuple[int | None, str]
"""The position and the name of an input, or None and the name of a weight."""


def check_gradients(
    function: Function,
    *inputs: Any,
    order: int = 2,
    tolerance: float = 1e-7,
    seed: int = 0,
    raises: bool = True,
    entrywise: bool = False,
) -> GradientReport:
    """Compare the tape's derivatives of a function with finite differences, in every input.

    Parameters
    ----------
    function : callable
        Called with tensors; returns a tensor, or a nested structure of tensors.
    *inputs : array_like
        Real or complex numbers: the point, around which the function must be smooth. They are converted to
        double precision.
    order : int, optional
        The highest order to check, at least 1. The second order differentiates the gradient, with respect to
        the inputs and to the weights of the outputs (``output_gradients``).
    tolerance : float, optional
        The largest accepted relative error.
    seed : int, optional
        The seed of the random directions and of the random weights of the outputs.
    raises : bool, optional
        Whether a wrong derivative raises an error, or is only reported.
    entrywise : bool, optional
        Whether to check each entry of each input separately, with six calls of the function per entry. A
        random direction misses an entry whose derivative is small compared with the others.

    Returns
    -------
    GradientReport
        The error for each order and input, with the entry where it is largest; printed as text.

    Raises
    ------
    GradientError
        If a derivative differs from finite differences and `raises` is true: the message has the entry, both
        values and the likely cause. Independent of `raises`, if there is nothing to compare: the point or the
        value of the function is nan or infinite, or two calls of the function return different values.
    NotATensorError
        If an input contains something other than real or complex numbers, or the function returns no such numbers.
    FunctionError
        If `function` isn't callable.
    OptionError
        If there are no inputs, `order` or `tolerance` is not a positive number, or `seed` is not a non-negative
        integer.

    Notes
    -----
    In a random direction v and with random weights w, the tape's ``<vjp(w), v>`` is compared with ``<w, Jv>``, where
    Jv is a central finite difference of sixth order, with smaller steps near zero. The inner product is the real part
    of ``sum(conj(a) * b)``, as in the gradients of `GradientTape` for complex inputs. If the two differ, bisection
    finds an entry of the input and a number of the result that are wrong. A function that returns a single real
    number has the weight 1 in higher orders.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.check_gradients(lambda a, b: np.sin(a) / b, [0.5, 1.0], 2.0, order=1)
    check_gradients: 2 derivatives agree with finite differences (tolerance 1e-07)
      order 1 in input 0 (a) of shape (2,): agrees
      order 1 in input 1 (b): agrees
    >>> report = tm.check_gradients(lambda x: np.sum(x**2 * x.numpy()), [3.0, 0.5], raises=False)
    >>> report
    check_gradients: 1 of 1 derivative differs from finite differences
      order 1 in input 0 (x) of shape (2,) at [0]: DIFFERS
        the tape says 18, finite differences 27 (relative error 0.333, tolerance 1e-07)
        .numpy() on line 1 (...) turned this input into a plain number, so the tape's gradient ...
      order 2 isn't checked, because order 1 differs
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
    checks = level.checks(rng, tolerance, entrywise)
    while level.order < order and all(check.error <= tolerance for check in checks):
        level = level.higher(rng)
        checks += level.checks(rng, tolerance, entrywise)
    report = GradientReport(tuple(checks), order, tolerance)
    if raises:
        report.raise_for_errors()
    return report


@dataclass(frozen=True)
class _Level:
    """An order of differentiation: the weighted outputs, with names for inputs and outputs."""

    order: int
    sum: WeightedSum
    inputs: list[Place]
    outputs: list[str]
    weighed: str = ""

    def checks(
        self, rng: np.random.Generator, tolerance: float, entrywise: bool
    ) -> list[DerivativeCheck]:
        """Compare the derivatives with respect to each input."""
        # Random directions: a wrong entry is missed only if its error is orthogonal to the
        # direction, which has probability 0.
        direction = rng.standard_normal(self.sum.point.size) * self.sum.strides
        return [self._check(i, direction, tolerance, entrywise) for i in range(len(self.inputs))]

    def _check(self, i: int, direction: Any, tolerance: float, entrywise: bool) -> DerivativeCheck:
        """Compare the derivative with respect to an input; if it is wrong, find the entry with the largest error."""
        at, x, span = self.sum, self.sum.inputs[i], spans(self.sum.inputs)[i]
        direction = only(direction, *span)
        comparison = at.compare(direction)
        place = (self.order, *self.inputs[i], x.shape)
        check = DerivativeCheck(
            *place, None, "", comparison.tape, comparison.quotient, comparison.error
        )
        agrees = comparison.error <= tolerance
        if x.size == 0 or (agrees and not entrywise):
            return check
        narrow, k, number = locate(at, direction, span, tolerance, entrywise)
        _, index, part = entry_of(at.inputs, k)
        parts = [narrow.compare(narrow.step(k - part + j)) for j in range(entry_size(x))]
        if agrees or parts[part].error > tolerance:
            at, direction, comparison = narrow, narrow.step(k), parts[part]
            units = np.array((1.0, 1.0j)[: len(parts)]) / at.strides[k]
            tape, quotient = (units @ [(p.tape, p.quotient) for p in parts]).tolist()
            output = self._output(number)
            check = DerivativeCheck(*place, index, output, tape, quotient, comparison.error)
        if comparison.error <= tolerance:
            return check
        return replace(check, note=likely_cause(at, i, direction, comparison))

    def _output(self, number: int | None) -> str:
        """Describe a number of the result, or return '' if the result is a single number."""
        if number is None:
            return "the result with random weights"
        k, index, part = entry_of(self.sum.outputs, number)
        if not self.outputs[k]:
            return ""
        is_complex = entry_size(self.sum.outputs[k]) == 2
        side = ("the real part of ", "the imaginary part of ")[part] if is_complex else ""
        return f"{side}{self.outputs[k]}{f' at {list(index)}' if index else ''}{self.weighed}"

    def higher(self, rng: np.random.Generator) -> _Level:
        """Return the next order, which differentiates the gradients, also with respect to the weights."""
        is_number = self.outputs == [""]
        weights = (
            [np.float64(1.0)] if is_number else arrays_like(self.sum.outputs, self.sum.weights)
        )
        function = pullback(self.sum.function, len(self.inputs))
        names = [f"the weight of output {k} at order {self.order}" for k in range(len(weights))]
        return _Level(
            self.order + 1,
            _weighted(function, self.sum.inputs + weights, rng),
            self.inputs + [(None, name) for name in names],
            [f"the derivative of order {self.order} in {label(*place)}" for place in self.inputs],
            "" if is_number else ", with random weights of the outputs",
        )


def _weighted(function: Function, inputs: list[Any], rng: np.random.Generator) -> WeightedSum:
    """Return a function at a point, with random weights for its outputs."""
    outputs = values(function, inputs)
    return WeightedSum(function, inputs, outputs, rng.standard_normal(flat(outputs).size))


def _first(
    function: Function, inputs: list[Any], places: list[Place], rng: np.random.Generator
) -> _Level:
    """Return the first order, if there is something to differentiate.

    Raises GradientError if the value of the function is nan or infinite, or differs in a second call.
    """
    at = _weighted(function, inputs, rng)
    has_several = len(at.outputs) > 1
    names = [f"output {k}" for k in range(len(at.outputs))] if has_several else ["the output"]
    for name, y in zip(names, at.outputs, strict=True):
        _require_finite(y, f"{name} of the function")
    _require_same(names, at.outputs, values(function, inputs))
    is_number = not has_several and at.outputs[0].shape == () and at.outputs[0].dtype.kind == "f"
    return _Level(1, at, places, [""] if is_number else names)


def _check_options(inputs: tuple[Any, ...], order: Any, tolerance: Any, seed: Any) -> None:
    """Raise an error for invalid options."""
    if not inputs:
        raise OptionError(
            "check_gradients needs a point: pass the function's inputs after it, "
            "as in check_gradients(np.sin, 0.5)"
        )
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 1:
        raise OptionError(f"order must be an integer of at least 1, not {order!r}: write order=2")
    if not isinstance(tolerance, float | int | np.number) or not 0 < tolerance < np.inf:
        raise OptionError(
            f"tolerance must be a positive number, not {tolerance!r}: write tolerance=1e-7"
        )
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(f"seed must be a non-negative integer, not {seed!r}: write seed=0")


def _parameters(function: Function, count: int) -> list[str]:
    """Return the names of a function's parameters, one for each input; '' for an input without a parameter."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in positional]
    return (names + [""] * count)[:count]


def _point(value: Any, name: str) -> Any:
    """Convert an input to an array, or NumPy number, in double precision.

    Raises NotATensorError if it is neither real nor complex. Raises GradientError if it is nan or infinite.
    """
    require_computed(unwrap(value), "check_gradients", SMALL_POINT)
    try:
        x = private_array(value)
    except (TypeError, ValueError):
        raise NotATensorError(
            f"{name} must contain real or complex numbers, not {describe(value)}: "
            "pass each array as a separate input"
        ) from None
    if x.dtype.kind not in "fc":
        raise NotATensorError(
            f"{name} must contain real or complex numbers, not {describe(value)}: "
            "integers have no gradient, so write 3.0 for 3, or don't pass them as inputs"
        )
    _require_finite(x, name)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _require_finite(x: Any, name: str) -> None:
    """Raise an error if a value is nan or infinite."""
    for index in np.argwhere(~np.isfinite(x))[:1]:
        raise GradientError(
            f"{_entry(name, index)} is {x[tuple(index)]}, so there is no derivative to compare: "
            "choose a point where everything is finite"
        )


def _require_same(names: list[str], values: list[Any], again: list[Any]) -> None:
    """Raise an error if two calls of the function returned different values."""
    advice = "seed random numbers inside of the function, and keep nothing from call to call"
    shapes, shapes_again = ([y.shape for y in ys] for ys in (values, again))
    if shapes != shapes_again:
        raise GradientError(
            f"called twice at one point, the function returned shapes {shapes}, then {shapes_again}: "
            f"{advice}"
        )
    for name, y, z in zip(names, values, again, strict=True):
        same = np.abs(y - z) <= MAX_DIFFERENCE_OF_CALLS * np.max(np.abs(y), initial=0.0)
        for index in np.argwhere(~same)[:1]:
            first, second = (value[tuple(index)] for value in (y, z))
            raise GradientError(
                f"called twice at one point, the function returned {first:.6g}, then {second:.6g} "
                f"({_entry(name, index)}): {advice}"
            )


def _entry(name: str, index: Any) -> str:
    """Describe an entry of an array."""
    return f"{name} at {index.tolist()}" if len(index) else name
