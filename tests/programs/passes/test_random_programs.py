"""Passes change no bit: random programs with and without them, on data meant to show any difference."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic.programs.passes import (
    constant_folding,
    factors,
    identities,
    reductions,
    rewritten,
    scalar_operands,
    shape_rules,
    simplified,
)
from tapemagic.programs.passes.purity import without_dead_code
from tapemagic.programs.program import Program
from tests.programs.passes.small_programs import calls, interpreted, same_bits, traced
from tests.shares import each

PASSES: dict[str, Callable[[Program], Program]] = {
    "dead code": without_dead_code,
    "common subexpressions": lambda program: rewritten(program, {}, merge=True),
    "constant folding": lambda program: rewritten(program, constant_folding.RULES),
    "identities": lambda program: rewritten(program, identities.RULES),
    "factors": lambda program: rewritten(program, factors.RULES),
    "reductions": lambda program: rewritten(program, reductions.RULES),
    "shapes": lambda program: rewritten(program, shape_rules.RULES),
    "literals": lambda program: rewritten(program, scalar_operands.RULES),
    "all": simplified,
}

DTYPES = ["f8", "f8", "f8", "f4", "f4", "f2", "i8", "?", "c16"]
SHAPES = [(), (), (3,), (17,), (1, 17), (3, 17), (3, 17), (3, 1), (17, 3), (0, 3), (12, 24)]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 4.0, 3.0, 0.1, 1e-3, -2.0, 0, 1, 2, -1, np.inf, np.nan]
FACTORS = [3.0, 2.0, 4.0, 0.1, -1.0, 0.5, -2, 1e3, 1e-3, 1e200]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310, -3e-308, 1.7e308, -9e307, 1e-45]
SPECIAL += [3e38, 2e-38, 6e4, 6e-8, 1.0, -1.0, 0.5, 2.0]

UNARY = [np.negative, np.negative, np.sin, np.cos, np.tanh, np.exp, np.square, np.absolute]
UNARY += [np.positive, np.conjugate, np.real, np.sqrt, np.transpose, np.copy, np.ones_like]
UNARY += [np.zeros_like, np.ravel, lambda x: x[()], lambda x: x[::-1] if x.ndim else x]
UNARY += [lambda x: x.astype(x.dtype), lambda x: x.reshape(x.shape), lambda x: x.reshape(-1)]
UNARY += [lambda x: np.power(x, 2.0), lambda x: np.power(x, 1.0), lambda x: np.copy(x)[()]]
UNARY += [lambda x: np.broadcast_to(x, (3, 17)), lambda x: x[..., :3] if x.ndim else x]
UNARY += [lambda x: np.swapaxes(x, 0, -1) if x.ndim else x, np.isfinite]
BINARY = [np.add, np.subtract, np.multiply, np.multiply, np.divide, operator.matmul, np.maximum]
BINARY += [np.add, np.subtract, np.multiply, np.less, lambda x, y: np.where(x > y, x, y)]
BINARY += [lambda x, y: np.where(x > y, y, 0)]
ARITHMETIC = [np.negative, np.sin, np.cos, np.tanh, np.square]
LAYOUT = [np.copy, np.positive, np.transpose, lambda x: x * 1.0, lambda x: x[::-1] if x.ndim else x]
LAYOUT += [lambda x: np.ravel(x, "F"), lambda x: np.copy(x, "F"), lambda x: np.copy(x, order="C")]
LAYOUT += [lambda x: np.reshape(x, x.shape[::-1], order="F"), lambda x: x.astype(x.dtype, "F")]
LAYOUT += [lambda x: x.reshape(x.shape), lambda x: x.reshape(-1), lambda x: x[..., ::2]]
LAYOUT += [lambda x: x.astype(x.dtype), lambda x: np.swapaxes(x, 0, -1) if x.ndim else x]
REDUCTIONS = [np.sum, np.mean, np.max, np.prod, np.add.reduce, lambda x, **k: x.sum(**k)]
REDUCTIONS += [lambda x, **k: x.mean(**k)]


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Draw a number, or an array in some memory layout, with some special numbers."""
    made = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3)
    if rng.random() < 0.6:
        made = np.where(rng.random(shape) < 0.5, rng.choice(SPECIAL, shape), made)
    if dtype in {"i8", "?"}:
        made = rng.integers(-3, 4, shape)
    x = np.asarray(made).astype(dtype)
    if x.ndim == 2 and rng.random() < 0.3:
        x = np.asfortranarray(x)
    if x.ndim and rng.random() < 0.2:
        x = np.repeat(x, 2, -1)[..., ::2]
    return x if x.ndim or rng.random() < 0.3 else x[()]


def constant(rng: np.random.Generator) -> Any:
    """Draw a Python number, a NumPy scalar, or an array that repeats a number."""
    number = NUMBERS[rng.integers(len(NUMBERS))]
    chance = rng.random()
    if chance < 0.5:
        return number
    dtype = ["f8", "f8", "f4", "f2"][rng.integers(4)]
    if chance < 0.7:
        return np.dtype(dtype).type(number)
    shape = SHAPES[rng.integers(len(SHAPES))]
    return np.full(shape, number, dtype, "F" if rng.random() < 0.2 else "C")


def random_function(seed: int) -> Callable[..., Any]:
    """A function of arrays, which makes some of the calls that the rules are about; those that fail are passed over."""

    def function(*given: Any) -> list[Any]:
        rng = np.random.default_rng(seed)
        values = list(given)
        for _ in range(rng.integers(3, 25)):
            new = _step(rng, values, FAMILIES[seed % 3])
            if new is not None:
                values.append(new)
        made = values[len(given) :]
        kept = [x for x in made if rng.random() < 0.3]
        return [*kept, *made[-2:]]

    return function


FAMILIES = (UNARY, BINARY), (ARITHMETIC, [np.add, np.multiply, np.subtract]), (LAYOUT, [np.add])
"""Functions of one argument and of two: all, those that factors are about, those that memory layout is about."""


def _step(rng: np.random.Generator, values: list[Any], family: Any) -> Any:
    pick = lambda: values[-1 - int(rng.integers(len(values)) * rng.random())]  # noqa: E731
    x, y, other, chance = pick(), pick(), constant(rng), rng.random()
    if family[0] is ARITHMETIC:
        other, inner = (FACTORS[k] for k in rng.integers(len(FACTORS), size=2))
        if chance < 0.2:
            return np.multiply(other, np.multiply(inner, x))
    unary, binary, reduce = (some[rng.integers(len(some))] for some in (*family, REDUCTIONS))
    axis = [None, None, 0, -1][rng.integers(4)]
    keepdims = bool(rng.random() < 0.2)
    try:
        if chance < 0.3:
            return unary(x)
        if chance < 0.55:
            return binary(x, y)
        if chance < 0.75:
            return binary(x, other)
        if chance < 0.85:
            return np.add(np.negative(x), y) if chance < 0.8 else np.multiply(2.0, x)
        if chance < 0.93:
            return binary(other, x)
        return reduce(x, axis=axis, keepdims=keepdims)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def differences(seed: int) -> list[str]:
    """The passes after which a random program gives something else, as sentences."""
    rng = np.random.default_rng((seed, 1))
    kinds = [
        (SHAPES[rng.integers(len(SHAPES))], DTYPES[rng.integers(len(DTYPES))]) for _ in range(3)
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = [draw(rng, *kind) for kind in kinds]
        program = traced(random_function(seed), *given)
        cases = [given, *([_other(rng, x) for x in given] for _ in range(3))]
        wanted = [interpreted(program, data) for data in cases]
        copies = [[np.copy(x) for x in result] for result in wanted]
        found = []
        for name, make in PASSES.items():
            made = make(program)
            for data, right, copy in zip(cases, wanted, copies, strict=True):
                results = interpreted(made, data)
                if not all(map(same_bits, results, right)):
                    found.append(f"{seed}: {name}: {calls_of(made)} for {calls_of(program)}")
                    break
                assert all(map(same_bits, copy, [np.copy(x) for x in right]))
        return found


def _other(rng: np.random.Generator, x: Any) -> Any:
    """Other data of the same kind, perhaps in another layout."""
    made = draw(rng, x.shape, x.dtype.char)
    return np.asarray(made) if isinstance(x, np.ndarray) else np.asarray(made)[()]


def calls_of(program: Program) -> str:
    """Return a program as one line, or its length."""
    try:
        return "; ".join(calls(program))
    except (IndexError, AttributeError):
        return f"{len(program.body)} calls"


@pytest.mark.thorough
def test_random_programs_stay_the_same_to_the_bit() -> None:
    """Each pass, and all passes together, keep every bit."""
    assert [] == [each for seed in range(60) for each in differences(seed)]


@pytest.mark.thorough
def test_many_random_programs_stay_the_same_to_the_bit() -> None:
    """Each pass keeps every bit of a thousand programs, or of a third of them."""
    assert [] == [found for seed in range(60, 1000, each(1)) for found in differences(seed)]
