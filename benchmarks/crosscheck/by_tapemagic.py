"""A program differentiated by tapemagic: the same derivatives on several ways."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.crosscheck.answers import LARGEST_HESSIAN, Answers, Arrays, plain, small
from benchmarks.crosscheck.generator import NUMPY
from benchmarks.crosscheck.programs import Function, Library, Program, execute, middles, trace
from tapemagic import GradientTape, Tensor, Variable, constant, hvp, jvp


def tapemagic(program: Program, library: Library = NUMPY) -> Answers:
    """Values and derivatives by gradient tapes; the same ones on several ways."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, again = _first_order(program, library)
        found["tangents"] = plain(_tangents(program, library))
        found["second"], again["gradients, nested"] = _second_order(program, library)
        if _real(program):
            again["second, of a product"] = _by_product(program)
        if _real(program) and sum(point.size for point in program.points) <= LARGEST_HESSIAN:
            again["second"] = _by_hessian(program)
            if len(program.weights) == 1 and small(program):
                again["second, of a Jacobian"] = _by_jacobian(program)
    return Answers(found, again, sorted({str(one.message) for one in caught}))


class Noisy(dict[str, Function]):
    """The operations with every result moved by about its rounding: what that changes is what rounding may change.

    Parameters
    ----------
    size : float
        How far, relative to the result.
    seed : int
    """

    def __init__(self, size: float, seed: int) -> None:
        super().__init__()
        self._size, self._rng = size, np.random.default_rng(seed)

    def __missing__(self, name: str) -> Function:
        function = NUMPY.functions[name]

        def noisy(*args: Any, **params: Any) -> Any:
            y = function(*args, **params)
            return y if isinstance(y, tuple) else y * self._factor(y.shape)

        return noisy

    def _factor(self, shape: tuple[int, ...]) -> Any:
        return 1.0 + self._size * self._rng.normal(size=shape)


def _sources(program: Program) -> list[Any]:
    """The inputs as variables in every second program, else as constants."""
    make = Variable if program.seed % 2 else constant
    return [make(point) for point in program.points]


def _real(program: Program) -> bool:
    return not any(map(np.iscomplexobj, (*program.points, *program.weights)))


def _first_order(program: Program, library: Library) -> tuple[dict[str, Arrays], dict[str, Arrays]]:
    """Values, gradients and Jacobians, and the gradients of a tape that can be used once."""
    xs = _sources(program)
    weights = list(program.weights)
    with GradientTape(persistent=True) as tape, GradientTape() as once:
        for one in (tape, once):
            one.watch(xs)
        values = trace(program.block, library, xs)
    ys = [values[k] for k in program.block.outputs]
    between = [values[k] for k in middles(program.block)]
    tracked = [y if isinstance(y, Tensor) else constant(y) for y in between]
    found = {
        "values": plain(ys),
        "gradients": plain(tape.gradient(ys, xs, weights, "zero")),
        "middles": plain(tape.gradient(ys, [*tracked, *xs], weights, "zero")),
    }
    again = {"gradients, once": plain(once.gradient(ys, xs, weights, "zero"))}
    if small(program):
        found["jacobians"] = plain(tape.jacobian(ys[0], xs, "zero"))
    return found, again


def _second_order(program: Program, library: Library) -> tuple[Arrays, Arrays]:
    """The gradients of the gradients; and these, which went through tensors."""
    xs = _sources(program)
    with GradientTape() as outer:
        outer.watch(xs)
        gradients = _gradients(program, xs, library)
    second = outer.gradient(gradients, xs, list(program.directions), "zero")
    return plain(second), plain(gradients)


def _gradients(program: Program, xs: list[Any], library: Library = NUMPY) -> list[Any]:
    with GradientTape() as inner:
        inner.watch(xs)
        ys = execute(program.block, library, xs)
    found: list[Any] = inner.gradient(ys, xs, list(program.weights), "zero")
    return found


def _tangents(program: Program, library: Library) -> list[Any]:
    """The derivatives of the outputs in the program's directions."""

    def function(*xs: Any) -> list[Any]:
        return execute(program.block, library, xs)

    found: list[Any] = jvp(function, program.points, program.directions)[1]
    return found


def _by_product(program: Program) -> Arrays:
    """The second order as the product of Hessian and directions."""

    def function(*xs: Any) -> Any:
        ys = execute(program.block, NUMPY, xs)
        return sum(np.sum(y * w) for y, w in zip(ys, program.weights, strict=True))

    every = tuple(range(len(program.points)))
    return plain(hvp(function, argnums=every)(*program.points, program.directions))


def _by_hessian(program: Program) -> Arrays:
    """The second order from whole Hessians: rows of the Jacobian of each gradient, weighed."""
    xs = _sources(program)
    with GradientTape(persistent=True) as outer:
        outer.watch(xs)
        gradients = _gradients(program, xs)
    total = [np.zeros(x.shape) for x in xs]
    for g, v in zip(gradients, program.directions, strict=True):
        rows = plain(outer.jacobian(g, xs, "zero"))
        total = [t + np.tensordot(v, row, v.ndim) for t, row in zip(total, rows, strict=True)]
    return total


def _by_jacobian(program: Program) -> Arrays:
    """The second order of a Jacobian that was weighed on the tape."""
    xs = _sources(program)
    [weight] = program.weights
    with GradientTape() as outer:
        outer.watch(xs)
        with GradientTape() as inner:
            inner.watch(xs)
            [y] = execute(program.block, NUMPY, xs)
        jacobians = inner.jacobian(y, xs, "zero")
        gradients = [np.tensordot(weight, rows, weight.ndim) for rows in jacobians]
    return plain(outer.gradient(gradients, xs, list(program.directions), "zero"))
