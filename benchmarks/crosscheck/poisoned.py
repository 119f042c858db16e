"""Random programs whose inputs are selected among poisoned values: what isn't selected must not matter.

Each input is computed by a function, such as a logarithm, from an array with more elements. At these, the function or
one of its slopes is infinite or nan, and a selection leaves them out. All derivatives must be those of the same program
without these elements, and 0 for the elements.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.crosscheck.answers import Arrays, plain
from benchmarks.crosscheck.comparison import TOLERANCE, error
from benchmarks.crosscheck.generator import NUMPY
from benchmarks.crosscheck.programs import Program, execute
from tapemagic import GradientTape, constant

Function = Callable[..., Any]


class Poison(NamedTuple):
    """A function, its inverse for the clean elements, and points where a derivative isn't finite."""

    function: Function
    inverse: Function
    points: tuple[float, ...]


POISONS = (
    Poison(np.log, np.exp, (0.0, -1.0)),
    Poison(np.arctanh, np.tanh, (1.0, -1.0, 2.0)),
    Poison(lambda z: np.cbrt(z) + 0.0, lambda p: p**3, (0.0,)),
    Poison(lambda z: z / np.sqrt(np.abs(z)), lambda p: np.sign(p) * p * p, (0.0,)),
    Poison(
        lambda z: np.sign(z) * np.abs(z) ** 1.5, lambda p: np.sign(p) * np.abs(p) ** (2 / 3), (0.0,)
    ),
    Poison(lambda z: np.log(np.exp(z) - 1.0), lambda p: np.log1p(np.exp(p)), (0.0, 800.0)),
)

SELECTIONS: tuple[Function, ...] = (
    lambda v, mask: v[mask],
    lambda v, mask: v[np.flatnonzero(mask)],
    lambda v, mask: np.take(v, np.flatnonzero(mask)),
    lambda v, mask: np.compress(mask, v),
    lambda v, mask: np.delete(v, np.flatnonzero(~mask)),
    lambda v, mask: np.where(mask, v, 7.0)[mask],
    lambda v, mask: np.select([mask], [v * 2.0], 7.0)[mask] / 2.0,
    lambda v, mask: np.where(mask, v, 0.0) @ np.eye(len(mask))[:, mask],
    lambda v, mask: np.concatenate(
        [np.split(v, range(1, len(mask)))[k] for k in np.flatnonzero(mask)]
    ),
)
"""Functions that select the elements of a vector where a mask is true."""


def compare_poisoned(programs: Iterable[Program]) -> int:
    """Compare programs with poisoned inputs and without; print a line of totals; 1 if one was wrong, else 0."""
    total = wrong = skipped = lost = 0
    worst = 0.0
    for program in programs:
        if any(map(np.iscomplexobj, program.points)):
            skipped += 1
            continue
        expected, found, zeros = derivatives(program)
        if not all(np.isfinite(x).all() for x in expected):
            skipped += 1
            continue
        total += 1
        noise = error(expected, found)
        lost += any(np.isnan(x).any() for x in found)
        worst = max(worst, noise if noise <= TOLERANCE else 0.0)
        # Where rounding is amplified, both are equally wrong only if they are computed in the same order.
        if not noise <= 1e-6 or any(np.any(x) for x in zeros):
            wrong += 1
            print(f"seed {program.seed}: WRONG: relative difference {noise:.2g}", flush=True)
    print(
        f"with poisoned inputs: programs {total}, left out {skipped}, nan {lost}, wrong {wrong}, "
        f"worst relative error {worst:.1e}"
    )
    return 1 if wrong else 0


def derivatives(program: Program) -> tuple[Arrays, Arrays, Arrays]:
    """Return the derivatives without poison, those with it at the same elements, and those at the poisoned elements."""
    rng = np.random.default_rng(program.seed)
    expected: Arrays = []
    found: Arrays = []
    clean, poisoned, masks, ways = [], [], [], []
    for point in program.points:
        poison = POISONS[rng.integers(len(POISONS))]
        vector = poison.inverse(np.where(np.abs(point) < 1e-3, 0.1, point).reshape(-1))
        mask = rng.permutation(np.arange(vector.size + rng.integers(1, 4)) < vector.size)
        mixed = rng.choice(poison.points, mask.size)
        mixed[mask] = vector
        select = SELECTIONS[rng.integers(len(SELECTIONS))]
        clean.append(vector)
        poisoned.append(mixed)
        masks.append(mask)
        ways.append((poison.function, select, point.shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = [np.ones(len(x), bool) for x in clean]
        expected = _both_orders(program, clean, whole, ways)
        all_found = _both_orders(program, poisoned, masks, ways)
    found = [x[m] for x, m in zip(all_found, masks * 2, strict=True)]
    return expected, found, [x[~m] for x, m in zip(all_found, masks * 2, strict=True)]


def _both_orders(program: Program, points: Arrays, masks: Arrays, ways: list[Any]) -> Arrays:
    """Gradients of the weighted outputs, and of the gradients of the selected elements, weighted."""
    xs = [constant(x) for x in points]
    with GradientTape() as outer:
        outer.watch(xs)
        with GradientTape() as inner:
            inner.watch(xs)
            inputs = [
                select(function(x), mask).reshape(shape)
                for x, mask, (function, select, shape) in zip(xs, masks, ways, strict=True)
            ]
            ys = execute(program.block, NUMPY, inputs)
        gradients = inner.gradient(ys, xs, list(program.weights), "zero")
        goals = [g[mask] for g, mask in zip(gradients, masks, strict=True)]
    directions = [d.reshape(-1) for d in program.directions]
    second = outer.gradient(goals, xs, directions, "zero")
    return plain([*gradients, *second])
