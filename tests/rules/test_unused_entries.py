"""Entries that no selection uses: their gradients are exactly 0, also where the next slope is infinite or nan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.report.derivatives import differentiate

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Function = Callable[[Any], Any]

USED = np.array([False, True, True, True, True])
BELOW = np.where(USED, 0.0, 100.0)
ROWS = np.arange(1.0, 11.0).reshape(5, 2)
WHICH = USED.astype(int)

POISONS: dict[str, tuple[Function, float, list[float]]] = {
    "log": (np.log, 0.0, [1.5, 0.7, 2.5, 1.1]),
    "log of -1": (lambda x: np.log(x) + np.sqrt(x), -1.0, [1.5, 0.7, 2.5, 1.1]),
    "sqrt": (np.sqrt, 0.0, [1.5, 0.7, 2.5, 1.1]),
    "root of a root": (lambda x: np.sqrt(np.sqrt(x) * x), 0.0, [1.5, 0.7, 2.5, 1.1]),
    "x ** 1.5": (lambda x: x**1.5, 0.0, [1.5, 0.7, 2.5, 1.1]),
    "x log x": (lambda x: x * np.log(x), 0.0, [1.5, 0.7, 2.5, 1.1]),
    "cbrt": (np.cbrt, 0.0, [1.5, 0.7, 2.5, 1.1]),
    "1 / x": (lambda x: 1 / x, 0.0, [1.5, 0.7, 2.5, 1.1]),
    "sin(x) / x": (lambda x: np.sin(x) / x, 0.0, [1.5, 0.7, 2.5, 1.1]),
    "arccos at its end": (np.arccos, 1.0, [0.5, 0.3, -0.5, 0.1]),
    "arccos outside": (np.arccos, 2.0, [0.5, 0.3, -0.5, 0.1]),
    "arctanh": (np.arctanh, 1.0, [0.5, 0.3, -0.5, 0.1]),
    "norm": (lambda x: np.linalg.norm(x[:, None] * [3.0, 4.0], axis=1), 0.0, [1.5, 0.7, 2.5, 1.1]),
    "std": (lambda x: np.std(x[:, None] * [3.0, 4.0, 6.0], axis=1), 0.0, [1.5, 0.7, 2.5, 1.1]),
    "overflow": (lambda x: np.exp(np.exp(x)), 50.0, [0.5, 0.3, -0.5, 0.1]),
}
"""Functions of the elements, a point where a slope of some order isn't finite, and four harmless points."""

SELECTIONS: dict[str, tuple[Function, Function]] = {
    "index": (lambda v: v[1:], lambda v: v),
    "single index": (lambda v: v[2] * v[-1], lambda v: v[1] * v[-1]),
    "mask": (lambda v: v[USED], lambda v: v),
    "list": (lambda v: v[[1, 2, 2]], lambda v: v[[0, 1, 1]]),
    "take": (lambda v: np.take(v, [1, 3]), lambda v: v[[0, 2]]),
    "take_along_axis": (lambda v: np.take_along_axis(v, np.array([4, 2]), 0), lambda v: v[[3, 1]]),
    "compress": (lambda v: np.compress(USED, v), lambda v: v),
    "extract": (lambda v: np.extract(USED, v), lambda v: v),
    "delete": (lambda v: np.delete(v, 0), lambda v: v),
    "where": (lambda v: np.where(USED, v, 3.0), lambda v: np.append(3.0, v)),
    "where, by products": (lambda v: np.where(USED, v * v, 3.0), lambda v: np.append(3.0, v * v)),
    "where, summed before": (
        lambda v: np.where(USED[:, None], v[:, None] * ROWS, 0.0),
        lambda v: np.concatenate([np.zeros((1, 2)), v[:, None] * ROWS[1:]]),
    ),
    "select": (lambda v: np.select([USED], [v], 3.0), lambda v: np.append(3.0, v)),
    "choose": (lambda v: np.choose(WHICH, [np.ones(5), v]), lambda v: np.append(1.0, v)),
    "piecewise": (
        lambda v: np.piecewise(v, [USED], [lambda p: p * p, 0.0]),
        lambda v: np.append(0.0, v * v),
    ),
    "split": (lambda v: np.split(v, [1])[1], lambda v: v),
    "pad": (lambda v: np.pad(v[1:], 2), lambda v: np.pad(v, 2)),
    "diff": (lambda v: np.diff(v)[1:], np.diff),
    "cumsum": (lambda v: np.cumsum(v[::-1])[:-1], lambda v: np.cumsum(v[::-1])),
    "cumprod": (lambda v: np.cumprod(v[::-1])[:-1], lambda v: np.cumprod(v[::-1])),
    "flip": (lambda v: np.roll(np.flip(v), 2)[[0, 2]], lambda v: v[[0, 3]][::-1][[1, 0]][[0, 1]]),
    "triu": (lambda v: np.triu(v * np.ones((2, 5)), 1)[:, 1:], lambda v: np.triu(v * np.ones((2, 4)))),
    "diagonal": (
        lambda v: np.diagonal(v[:, None] * np.ones((5, 4)), -1),
        lambda v: v,
    ),
    "sum, where": (lambda v: np.sum(v, where=USED), np.sum),
    "mean, where": (lambda v: np.mean(v, where=USED), np.mean),
    "prod of a part": (lambda v: np.prod(v[2:]), lambda v: np.prod(v[1:])),
    "max, where": (lambda v: np.max(v, where=USED, initial=-99.0), np.max),
    "trapezoid": (lambda v: np.trapezoid(v[1:]), np.trapezoid),
    "einsum": (lambda v: np.einsum("i,ij->j", v[1:], ROWS[1:]), lambda v: v @ ROWS[1:]),
    "matmul": (lambda v: v[1:] @ ROWS[1:], lambda v: v @ ROWS[1:]),
    "matmul, then an index": (
        lambda v: (np.where(USED, v, 0.0)[:, None] * ROWS)[1:] @ np.ones(2),
        lambda v: (v[:, None] * ROWS[1:]) @ np.ones(2),
    ),
    "softmax": (lambda v: tm.softmax(v[1:]), tm.softmax),
    "interp": (
        lambda v: np.interp([1.5, 3.25], np.arange(5.0), v),
        lambda v: np.interp([1.5, 3.25], np.arange(1.0, 5.0), v),
    ),
    "gather": (lambda v: tm.gather(v, [1, 4]), lambda v: v[[0, 3]]),
    "convolve": (lambda v: np.convolve(v[1:], [1.0, 2.0]), lambda v: np.convolve(v, [1.0, 2.0])),
    "complex": (lambda v: np.real(v[1:] * (1 + 2j)), lambda v: v),
    "stack": (lambda v: np.stack([v, 2 * v])[:, 1:], lambda v: np.stack([v, 2 * v])),
    "broadcast": (
        lambda v: np.where(USED, v, v[1]) + v[1],
        lambda v: np.append(v[0], v) + v[0],
    ),
}
"""Functions that don't use the first of five elements, and the same functions of the other four."""

BY_VALUE: dict[str, tuple[Function, Function]] = {
    "times truth values": (lambda v: v * USED, lambda v: np.append(0.0, v)),
    "relu": (lambda v: tm.relu(v + 9.0 - BELOW), lambda v: np.append(0.0, v + 9.0)),
    "relu6": (lambda v: tm.relu6(v + 3.0 - BELOW), lambda v: np.append(0.0, tm.relu6(v + 3.0))),
    "maximum": (lambda v: np.maximum(v - BELOW, -30.0), lambda v: np.append(-30.0, v)),
    "minimum": (lambda v: np.minimum(v + BELOW, 30.0), lambda v: np.append(30.0, v)),
    "fmax": (lambda v: np.fmax(v - BELOW, -30.0), lambda v: np.append(-30.0, v)),
    "clip": (lambda v: np.clip(v - BELOW, -30.0, 30.0), lambda v: np.append(-30.0, v)),
    "max": (lambda v: np.max(v - BELOW), np.max),
    "min": (lambda v: np.min(v + BELOW), np.min),
    "sort": (lambda v: np.sort(v - BELOW)[1:], np.sort),
    "partition": (lambda v: np.sort(np.partition(v - BELOW, 2)[1:]), np.sort),
    "median": (lambda v: np.median(v - BELOW), lambda v: np.sort(v)[1]),
    "quantile": (lambda v: np.quantile(v - BELOW, 0.9), lambda v: np.sort(v)[2:] @ [0.4, 0.6]),
    "max_pool": (
        lambda v: tm.max_pool1d((v - BELOW)[1:5].reshape(1, 4, 1), 2),
        lambda v: tm.max_pool1d(v.reshape(1, 4, 1), 2),
    ),
}
"""Functions that leave the first element out because of its value, which must be finite."""

GAPS: dict[str, tuple[Function, Function]] = {
    "nansum": (np.nansum, np.sum),
    "nanmean": (np.nanmean, np.mean),
    "nanmax": (np.nanmax, np.max),
    "nanmedian": (np.nanmedian, np.median),
    "nanprod": (np.nanprod, np.prod),
    "nan_to_num": (np.nan_to_num, lambda v: np.append(0.0, v)),
    "fmin": (lambda v: np.fmin(v, 30.0), lambda v: np.append(30.0, v)),
}
"""Functions that leave nan out."""


def check(inner: Function, poison: float, safe: list[float], whole: Function, cut: Function) -> None:
    """Compare derivatives of a program with those of the program without the unused element."""
    x, rest = np.array([poison, *safe]), np.array(safe)
    f, g = (lambda v: whole(inner(v))), (lambda v: cut(inner(v)))
    # The rule of cumprod multiplies parts of the gradient, of which an outer tape doesn't know where they are unused.
    orders = (tm.jacobian, first) if whole is SELECTIONS["cumprod"][0] else (tm.jacobian, first, second)
    for order in orders:
        found, expected = order(f)(x), order(g)(rest)
        assert not np.any(found[..., 0])
        actual = found[..., 1:] if order is not second else found[1:, 1:]
        np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-11)
        assert order is not second or not np.any(found[0])


def first(f: Function) -> Function:
    """The gradient of a sum of squares."""
    return tm.grad(lambda v: np.sum(f(v) ** 2))


def second(f: Function) -> Function:
    """The second derivative of a sum of squares."""
    return tm.hessian(lambda v: np.sum(f(v) ** 2))


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("poison", POISONS)
def test_selections(poison: str, selection: str) -> None:
    """By an index, a mask or a condition."""
    check(*POISONS[poison], *SELECTIONS[selection])


with np.errstate(all="ignore"):
    FINITE = [name for name, (f, at, _) in POISONS.items() if np.isfinite(f(np.array([at]))).all()]
"""The poisons whose value is finite. Another value would be chosen, or its product with 0 is nan."""


@pytest.mark.parametrize("selection", BY_VALUE)
@pytest.mark.parametrize("poison", FINITE)
def test_selections_by_values(poison: str, selection: str) -> None:
    """By the flat side of a function, or by an order."""
    check(*POISONS[poison], *BY_VALUE[selection])


@pytest.mark.parametrize("selection", GAPS)
@pytest.mark.parametrize("poison", ["log of -1", "arccos outside", "sin(x) / x"])
def test_selections_of_what_is_not_nan(poison: str, selection: str) -> None:
    """By functions that ignore nan."""
    check(*POISONS[poison], *GAPS[selection])


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: np.sqrt(x) ** 2, 0.0, np.nan),
        (lambda x: np.sqrt(x) * 0.0, 0.0, np.nan),
        (lambda x: np.sqrt(x) * 0, 0.0, np.nan),
        (lambda x: np.abs(np.sqrt(x)), 0.0, np.nan),
        (np.log, 0.0, np.inf),
        (lambda x: np.where(x >= 0, np.sqrt(x), 0.0), 0.0, np.inf),
        (lambda x: np.where(x > 0, 0.0, np.sqrt(x) * x), 0.0, np.nan),
        (lambda x: np.max(np.sqrt(x) * [1.0, 2.0]), 0.0, np.inf),
        (lambda x: np.sum(np.sqrt(x) @ [[0.0, 1.0], [1.0, 0.0]] * [0.0, 1.0]), [0.0, 0.0], [np.inf, np.nan]),
        (lambda x: np.prod(np.sqrt(x)), [0.0, 0.0], [np.nan, np.nan]),
        (lambda x: np.arccos(x)[:2], [2.0, 1.0, 0.0], [np.nan, -np.inf, 0.0]),
    ],
)
def test_numbers_stay_as_they_are(f: Function, x: Any, expected: Any) -> None:
    """A zero that is a number isn't structural, and an infinity that is true stays."""
    found = tm.grad(lambda v: np.sum(f(v)))(tm.constant(x))

    np.testing.assert_array_equal(found, expected)


def test_a_number_that_was_broadcast() -> None:
    """What a condition leaves out isn't added to its gradient."""
    x = np.array([0.0, 2.0, 4.0])
    with tm.GradientTape() as tape:
        a = tape_watch(tape, 3.0)
        y = np.where(x > 0, a / x, 0.0)

    assert tape.gradient(y, a) == 0.75


def tape_watch(tape: tm.GradientTape, value: Any) -> tm.Tensor:
    """Watch a new constant."""
    x = tm.constant(value)
    tape.watch(x)
    return x


def test_contractions_with_nan() -> None:
    """A nan of a matrix reaches only the sums to which it belongs."""
    weights = np.array([[1.0, np.nan], [2.0, np.inf], [3.0, 4.0]])
    for multiply in (
        lambda x: x @ weights,
        lambda x: np.einsum("i,ij->j", x, weights),
        lambda x: np.tensordot(x, weights, 1),
    ):
        slope = tm.grad(lambda x, multiply=multiply: np.sum(multiply(x)[:1]))
        np.testing.assert_array_equal(slope([1.0, 1.0, 1.0]), [1.0, 2.0, 3.0])
        both = tm.grad(lambda x, multiply=multiply: np.sum(multiply(x)))
        np.testing.assert_array_equal(both([1.0, 1.0, 1.0]), [np.nan, np.inf, 7.0])


def test_rows_of_a_jacobian() -> None:
    """A row that doesn't depend on an element has 0 there, in the dense part as well."""
    mixing = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x = tm.constant([0.0, 1.0, 4.0])
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        root = np.sqrt(x)
        y = np.where([True, False], mixing @ root, root[1:])

    expected = [[np.inf, 1.0, 0.75], [0.0, 0.0, 0.25]]
    np.testing.assert_array_equal(tape.jacobian(y, x), expected)


def test_several_targets_and_sources() -> None:
    """A value that one target uses is used; one that none uses isn't."""
    x, z = tm.Variable([0.0, 1.0]), tm.Variable([0.0, 4.0])
    with tm.GradientTape(persistent=True) as tape:
        logs, roots = np.log(x), np.sqrt(z)
        a, b = logs[1] * 2, roots[1:] + logs[1:]

    for found, expected in zip(tape.gradient([a, b], [x, z]), ([0.0, 3.0], [0.0, 0.25]), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(tape.gradient([a, logs], x), [np.inf, 3.0])
    np.testing.assert_array_equal(tape.gradient(a, logs), [0.0, 2.0])
    weighted = tape.gradient(b, [x, z], output_gradients=[5.0])[1]
    np.testing.assert_array_equal(weighted, [0.0, 1.25])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype: str) -> None:
    """The gradient keeps its dtype."""
    x = tm.constant(np.array([0.0, 1.0, 4.0], dtype))
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(np.log(x)[1:]) + np.sum(np.log(x)[2:]) + np.sum(np.log(x)[1:2])
    g = tape.gradient(y, x)

    assert g.dtype == dtype
    np.testing.assert_array_equal(g, [0.0, 2.0, 0.5])


def test_functions_with_their_own_gradients() -> None:
    """Nothing is known about them: only what needs none of their results is unused."""
    calls = []

    @tm.custom_gradient
    def log(x: Any) -> Any:
        def pullback(g: Any) -> Any:
            calls.append(g)
            return g / x

        return np.log(x), pullback

    assert np.isnan(tm.grad(lambda x: np.sum(log(x)[1:]))([0.0, 1.0])[0])
    assert len(calls) == 2  # the usual sweep and the careful one
    found = tm.grad(lambda x: np.sum(np.where(False, log(x), 1.0)) + np.sum(x))([0.0, 1.0])
    np.testing.assert_array_equal(found, [1.0, 1.0])


def test_a_tape_that_records_its_own_gradient() -> None:
    """Derivatives of any order on one persistent tape."""
    x = tm.Variable([0.0, 1.0, 4.0])
    with tm.GradientTape(persistent=True) as tape:
        y = np.sum(np.where(x > 0, x**2.5, 0.0))
        slope = tape.gradient(y, x)
        curve = tape.gradient(slope, x)

    np.testing.assert_allclose(curve, [0.0, 3.75, 7.5])
    np.testing.assert_allclose(tape.gradient(curve, x), [0.0, 1.875, 0.9375])


def test_an_inner_gradient_that_is_finite() -> None:
    """The outer one knows its unused entries, in every order, and for gradients that a product weights."""
    x = tm.constant([0.0, 1.0, 4.0])

    def f(v: Any) -> Any:
        return np.sum(np.where(v > 0, v**3.5, 0.0))

    def slope(v: Any) -> Any:
        return np.sum(tm.grad(f)(v) * [2.0, 1.0, 1.0])

    for k, coefficient in ((1.5, 3.5 * 2.5), (0.5, 3.5 * 2.5 * 1.5), (-0.5, 3.5 * 2.5 * 1.5 * 0.5)):
        slope = tm.grad(slope)
        expected = [0.0, coefficient, coefficient * 4.0**k]
        np.testing.assert_allclose(slope(x), expected)
        slope = lambda v, slope=slope: np.sum(slope(v))  # noqa: E731


@pytest.mark.parametrize("f", [np.log, np.sqrt, lambda x: x**1.5, lambda x: 1 / x])
def test_programs_equal_the_tape(f: Function) -> None:
    """A program has a check, and another program for gradients with unused nan."""

    def derivatives(x: Any) -> Any:
        with tm.GradientTape() as outer:
            outer.watch(x)
            with tm.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = np.where(x > 0, f(x), 0.0) + f(x + 1.0)[::-1]
            slope = tape.gradient(y, x)
        return slope, outer.gradient(slope, x)

    program = tm.function(derivatives)
    for x in ([1.0, 2.0], [3.0, 2.0], [0.0, 2.0], [2.0, 0.0], [0.0, 0.0], [np.nan, 1.0], [1.0, 2.0]) * 2:
        for found, expected in zip(program(tm.constant(x)), derivatives(tm.constant(x)), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert not program.why_eager
    assert len(program.programs) <= 4


def test_programs_without_selections_check_nothing() -> None:
    """Nor do those whose selections come last on the way back, so that nothing multiplies their zeros."""

    def slope(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = x[0] * np.sin(x[1]) + np.sum(np.log(x))
        return tape.gradient(y, x)

    program = tm.function(slope)
    for x in ([1.0, 2.0], [3.0, 2.0], [np.nan, 2.0], [0.0, 1.0]):
        np.testing.assert_array_equal(program(tm.constant(x)), slope(tm.constant(x)))
    assert len(program.programs) == 1


def test_the_source_of_a_tape() -> None:
    """It has the selections, if the recorded gradient needs them, and no check of its own."""
    x = tm.Variable([0.0, 4.0], name="x")
    with tm.GradientTape(persistent=True) as tape:
        y = np.sum(np.where(x > 0, np.log(x), 0.0))
    space: dict[str, Any] = {}
    source = str(tape.source(y, x))
    exec(source, space)  # noqa: S102

    assert "holds_nan" not in source
    np.testing.assert_array_equal(space["y_and_gradients"](np.array([0.0, 4.0]))[1], [0.0, 0.25])


def test_derivatives_of_a_report() -> None:
    """An observer notes sweeps only while the report differentiates; the table knows which derivatives lost a nan."""
    x = tm.constant([0.0, 1.0, 4.0])
    with Observer() as tape:
        tape.watch(x)
        y = np.sum(np.where(x > 0, x**2.5, 0.0))
        with tm.GradientTape() as own:
            own.watch(x)
            z = np.sum(np.where(x > 0, np.log(x), 0.0))
        own.gradient(z, x)
        assert not tape._nested_sweeps
    table = differentiate(tape, [("y", y), ("z", z)], [("x", x)], 3)

    np.testing.assert_allclose(table.gradients[0, 0, 3], [0.0, 1.875, 0.9375])
    np.testing.assert_allclose(table.gradients[1, 0, 3], [0.0, 2.0, 2 / 64])
    assert table.spared == {(0, 0, 3), (1, 0, 1), (1, 0, 2), (1, 0, 3)}
    assert not tape._nested_sweeps


def test_programs_of_many_sources() -> None:
    """The checks come in the same order at each call."""

    def slopes(*xs: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(xs)
            y = np.sum(np.where([False, True], np.log(sum(x * x for x in xs)), 0.0))
        return tape.gradient(y, list(xs))

    program = tm.function(slopes)
    for k in range(4):
        program(*[tm.constant([float(k), 1.0 + i]) for i in range(9)])
    assert not program.why_eager
