"""Jacobians of few nonzero elements: the same numbers as by whole rows, and work in proportion to what they contain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape import batched_sweep as batching
from tapemagic.engine.tape import nonzeros, structured_sweep
from tapemagic.errors import EagerWarning
from tests.test_batching import PROGRAMS, assert_same, recorded, row_by_row

Program = Callable[..., Any]


@pytest.fixture(params=["few terms", "many terms"])
def structured(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No gradient is too dense to name its nonzero elements."""
    monkeypatch.setattr(structured_sweep, "MAX_DENSITY", np.inf)
    monkeypatch.setattr(nonzeros, "MAX_TERMS", 1 if request.param == "few terms" else 1000)


def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but diagonals is passed on without zeros."""
    monkeypatch.setattr(structured_sweep, "MAX_DENSITY", 0)


# -- random programs ------------------------------------------------------------------------------


def elementwise(x: Any, rng: np.random.Generator) -> Any:
    """Some function of each element."""
    return [np.sin, np.tanh, lambda v: v * v, lambda v: -v, lambda v: 1.5 * v + 2][rng.integers(5)](
        x
    )


def part(x: Any, rng: np.random.Generator) -> Any:
    """Some of the elements along the first axis, or all in another order, some perhaps twice."""
    n = len(x)
    ways = [
        lambda: x[1:],
        lambda: x[:-1],
        lambda: x[::-1],
        lambda: x[::2],
        lambda: x[rng.integers(-n, n, n)],
        lambda: x[rng.random(n) < 0.8],
        lambda: np.take(x, rng.permutation(n), axis=0),
        lambda: np.roll(x, 1, axis=0),
        lambda: np.repeat(x, 2, axis=0)[:n],
        lambda: np.pad(np.ravel(x), 1, "reflect"),
        lambda: np.concatenate([x[-1:], x[:1], x]),
        lambda: np.stack([x, elementwise(x, rng)]),
        lambda: np.reshape(x, (1, *x.shape)),
        lambda: np.ravel(x)[:6].reshape(2, -1, order="F") if x.size > 5 else x,
        lambda: x.T,
        lambda: np.sort(x, axis=0),
        lambda: np.diag(np.ravel(x)[:4]),
        lambda: np.split(x, [1])[rng.integers(2)],
        lambda: np.tril(x) if x.ndim > 1 else np.tile(x, 2),
        lambda: np.sum(x, axis=-1) if x.ndim > 1 else x[:, None] * x[:3],
        lambda: tm.scatter_add(np.ravel(x), rng.integers(0, 7, x.size), (7,)),
        lambda: np.where(x > 0, x, 0.5),
        lambda: np.diff(np.ravel(x)),
        lambda: np.ravel(x)[0] * x,
        lambda: np.broadcast_to(x, (2, *x.shape)) if x.ndim < 3 else x,
    ]
    return ways[rng.integers(len(ways))]()


def met(x: Any, y: Any) -> Any:
    """The product and sum of as many elements as both have."""
    a, b = np.ravel(x), np.ravel(y)
    n = min(a.size, b.size)
    return a[:n] * np.sin(b[-n:]) + a[:n]


def random_program(seed: int) -> Program:
    """A program of slices, layouts, sums and elementwise operations."""

    def program(x: Any) -> Any:
        rng = np.random.default_rng(seed)
        values = [x]
        for _ in range(7):
            a, b = (values[-1 - rng.integers(min(3, len(values)))] for _ in range(2))
            kind = rng.integers(5)
            made = part(a, rng) if kind < 3 else elementwise(a, rng) if kind < 4 else met(a, b)
            values.append(made if 0 < made.size < 80 and made.ndim else elementwise(a, rng))
        return values[-1]

    return program


INPUTS: dict[str, Any] = {
    "double": np.random.default_rng(1).normal(size=6),
    "matrix": np.random.default_rng(2).normal(size=(3, 4)),
    "single": np.random.default_rng(3).normal(size=6).astype(np.float32),
    "half": np.random.default_rng(4).normal(size=5).astype(np.float16),
}


def both_ways(
    monkeypatch: pytest.MonkeyPatch, compute: Callable[[], Any]
) -> tuple[np.ndarray, np.ndarray]:
    """A result with and without structure."""
    found = np.asarray(compute())
    by_rows(monkeypatch)
    return found, np.asarray(compute())


def tolerance(dtype: Any) -> float:
    """A few hundred roundings."""
    return 500 * float(np.finfo(dtype).eps)


@pytest.mark.thorough
@pytest.mark.usefixtures("structured")
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same Jacobian, to rounding."""
    x = tm.constant(list(INPUTS.values())[seed % len(INPUTS)])
    program = random_program(seed)
    found, expected = both_ways(monkeypatch, lambda: tm.jacobian(program)(x))

    assert found.dtype == expected.dtype == x.dtype
    scale = 1 + np.abs(expected).max(initial=0)
    np.testing.assert_allclose(found, expected, atol=scale * tolerance(x.dtype))


@pytest.mark.thorough
@pytest.mark.usefixtures("structured")
@pytest.mark.parametrize("seed", range(60, 75))
def test_random_programs_to_third_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jacobians of Jacobians of Jacobians."""
    program, x = random_program(seed), INPUTS["double"][:4]
    third = tm.hessian(tm.jacobian(lambda v: program(v)[..., :3]))
    found, expected = both_ways(monkeypatch, lambda: third(x))

    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.usefixtures("structured")
@pytest.mark.parametrize("seed", range(75, 95))
def test_random_programs_of_examples(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jacobians of each example."""
    program, x = random_program(seed), tm.constant(INPUTS["matrix"])

    def compute() -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.ravel(program(x))
            y = tm.scatter_add(y, np.arange(y.size) % 6, (6,)).reshape(3, 2)
        return tape.batch_jacobian(y, x)

    found, expected = both_ways(monkeypatch, compute)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.usefixtures("structured")
@pytest.mark.parametrize("seed", range(95, 105))
def test_random_programs_in_chunks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Structure that ends, and is written out some rows at a time."""
    program, x = random_program(seed), INPUTS["matrix"]

    def ends(v: Any) -> Any:
        return program(np.cumsum(program(v)))

    expected = tm.jacobian(ends)(x)
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", 1)
    np.testing.assert_allclose(tm.jacobian(ends)(x), expected, rtol=1e-12)


@pytest.mark.usefixtures("structured")
@pytest.mark.parametrize(("program", "inputs"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_programs(program: Program, inputs: tuple[Any, ...]) -> None:
    """The programs with which whole rows are tested: the numbers of one gradient a row."""
    tape, y, sources = recorded(program, inputs)
    found = tape.jacobian(y, sources, "zero")

    assert_same(found, row_by_row(tape, y, sources), sources)


# -- work -----------------------------------------------------------------------------------------


def rosenbrock(x: Any) -> Any:
    """The function of Rosenbrock, whose Hessian has three diagonals."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def one_by_one(x: Any) -> Any:
    """The same, element by element."""
    total = 0.0
    for k in range(len(x) - 1):
        total = total + 100.0 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2
    return total


def beam(x: Any) -> Any:
    """A chain with bending: five diagonals."""
    return np.sum(np.diff(x, 2) ** 4) + np.sum(np.cos(np.diff(x)) * x[1:])


def plate(x: Any) -> Any:
    """The energy of a membrane on a square grid."""
    n = int(np.sqrt(x.size))
    u = np.reshape(x, (n, n))
    return np.sum(np.sqrt(1 + (u[1:, 1:] - u[:-1, 1:]) ** 2 + (u[1:, 1:] - u[1:, :-1]) ** 2))


def ring(x: Any) -> Any:
    """A chain that is closed."""
    return np.sum((np.roll(x, 1) - 2 * x + np.roll(x, -1)) ** 2 * np.exp(x))


def slow_hessian(f: Program, x: Any) -> Any:
    """By one gradient a row."""
    with tm.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tm.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return row_by_row(outer, g, [x])[0]


@pytest.mark.parametrize("f", [rosenbrock, one_by_one, beam, plate, ring])
def test_banded_hessians(f: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of functions of neighbours: no whole row is ever computed, and work grows as the number of elements does."""
    work: list[int] = []
    rule, sweep = structured_sweep.gradients_by_rules, batching.sweep

    def counted(operation: Any, wanted: Any, arguments: Any, params: Any) -> Any:
        found = rule(operation, wanted, arguments, params)
        work[-1] += sum(dx.size for _, dx in found)
        return found

    def in_rows(*args: Any) -> Any:
        assert len(args) < 6, "whole rows"
        return sweep(*args)

    monkeypatch.setattr(structured_sweep, "gradients_by_rules", counted)
    monkeypatch.setattr(batching, "sweep", in_rows)
    for n in (64, 256):
        work.append(0)
        x = tm.constant(np.linspace(-1.0, 1.0, n) ** 2)
        found = tm.hessian(f)(x)
        if n == 64:
            np.testing.assert_allclose(found, slow_hessian(f, x), rtol=1e-12, atol=1e-12)

    assert 0 < work[1] < 5 * work[0]


@pytest.mark.parametrize("accumulated", [np.cumprod, np.cumsum])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(
    ("shape", "other"),
    [
        ((1, 3, 3, 1), (3, 1, 3)),
        ((3, 1, 3), (1, 3, 3, 1)),
        ((9, 1), (1, 3)),
        ((3, 1, 3), (3, 1)),
        ((3, 3, 1), (3,)),
        ((1, 3, 3), (3, 3, 3)),
    ],
)
def test_operands_that_broadcast(
    shape: tuple[int, ...],
    other: tuple[int, ...],
    axis: int,
    accumulated: Program,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nonzero elements may need all elements of a smaller operand, in their order and not in its shape."""
    rng = np.random.default_rng(0)
    b, weights = rng.normal(size=other), rng.normal(size=np.broadcast_shapes(shape, other))

    def f(x: Any) -> Any:
        a = np.reshape(accumulated(x, axis=axis) + 1.0, shape)
        return np.sum(weights * (np.cos(a * b) + a / (2 + b * b)))

    x = rng.normal(size=(3, 3))
    hessian = tm.hessian(f)(x)

    by_rows(monkeypatch)
    np.testing.assert_allclose(hessian, tm.hessian(f)(x), 1e-12, 1e-12)


def test_zeros_are_exact() -> None:
    """A zero that is not named stays zero where a slope is infinite, as beside a diagonal."""
    x = tm.constant(np.concatenate([[0.0], np.arange(1.0, 40.0)]))

    with np.errstate(divide="ignore"):
        without, among = (tm.jacobian(lambda v, k=k: np.sqrt(v)[k:])(x) for k in (1, 0))

    assert np.count_nonzero(~np.isfinite(without)) == 0
    assert np.count_nonzero(~np.isfinite(among)) == 1


# -- programs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [rosenbrock, one_by_one, beam, ring])
def test_hessians_are_programs(f: Program) -> None:
    """Traced, a banded Hessian is written out in one call, and has the numbers of the tape."""
    slow = tm.hessian(f)
    fast = tm.function(slow)
    points = [tm.constant(np.linspace(-1.0, k, 30)) for k in range(1, 5)]

    for x in points:
        np.testing.assert_array_equal(fast(x), slow(x))
    assert fast.why_eager == ""
    assert fast.source(points[0]).count("add_at_places(") == 1


def test_places_that_depend_on_data() -> None:
    """A program cannot have the zeros of places that are others in the next call: it runs without one, and says so."""
    slow = tm.jacobian(lambda v: np.sort(np.sqrt(v)))
    fast = tm.function(slow)
    points = [np.random.default_rng(seed).permutation(20.0 * np.arange(20)) for seed in range(3)]

    with np.errstate(divide="ignore"):
        with pytest.warns(EagerWarning, match="a Jacobian through indices that are computed"):
            fast(tm.constant(points[0]))
        for x in map(tm.constant, points):
            np.testing.assert_array_equal(fast(x), slow(x))
            assert not np.isnan(fast(x)).any()
