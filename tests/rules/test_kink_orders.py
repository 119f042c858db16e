"""Derivatives of order one to three at every kink: those of one branch, or nan above the first order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special as sp

import tapemagic as tm
from tapemagic import tf
from tapemagic.engine.registry import NO_SLOPE, NUMBERED
from tapemagic.explain.snapshot import snapshot_of
from tapemagic.report.verdict.kinks import EXTREMES, KINKS

Function = Callable[..., Any]
INF = np.inf


def derivatives(f: Function, x: Any, highest: int = 3) -> list[np.ndarray]:
    """Return the derivatives of orders 1 up to the highest, each with the axes of x once more."""
    variable = tm.Variable(x)

    def order(k: int) -> Any:
        if k == 0:
            return f(variable)
        with tm.GradientTape() as tape:
            below = order(k - 1)
        # A derivative that depends on x no longer is None.
        return tape.jacobian(below, variable, unconnected_gradients="zero")

    with np.errstate(all="ignore"):
        return [np.asarray(order(k)) for k in range(1, highest + 1)]


def complex_of(v: Any) -> Any:
    """The complex number with the parts v[0] and v[1]."""
    return v[0] + 1j * v[1]


class Case(NamedTuple):
    """A function at a kink, and where one of its branches is: None for a slope that no branch has."""

    name: str
    f: Function
    x: Any
    branch: Any = None


CASES = [
    Case("absolute", np.abs, 0.0, 0.1),
    Case("absolute", lambda v: np.abs(complex_of(v)), [0.0, 0.0]),
    Case("fabs", np.fabs, 0.0, 0.1),
    Case("copysign", lambda x: np.copysign(x, 2.0), 0.0, 0.1),
    Case("sign", np.sign, 0.0, 0.1),
    Case("sign", lambda v: np.real(np.sign(complex_of(v))), [0.0, 0.0]),
    Case("heaviside", lambda x: np.heaviside(x, 0.5), 0.0, 0.1),
    Case("relu", tm.relu, 0.0, -0.1),
    Case("relu6", tm.relu6, 6.0, 6.1),
    Case("hard_sigmoid", tm.hard_sigmoid, -3.0, -3.1),
    Case("leaky_relu", tm.leaky_relu, 0.0, -0.1),
    Case("elu", tm.elu, 0.0, -1e-12),
    Case("elu", lambda x: tm.elu(x, 0.5), 0.0, -1e-12),
    Case("selu", tm.selu, 0.0, 0.1),
    Case("maximum", lambda x: np.maximum(x, 1.0), 1.0, 1.1),
    Case("minimum", lambda x: np.minimum(x, 1.0), 1.0, 0.9),
    Case("fmax", lambda x: np.fmax(x, 1.0), 1.0, 1.1),
    Case("fmin", lambda x: np.fmin(x, 1.0), 1.0, 0.9),
    Case("clip", lambda x: np.clip(x, -1.0, 1.0), 1.0, 0.9),
    Case("max", np.max, [2.0, 2.0], [2.0, 1.0]),
    Case("amax", np.amax, [2.0, 2.0], [2.0, 1.0]),
    Case("nanmax", np.nanmax, [2.0, 2.0], [2.0, 1.0]),
    Case("min", np.min, [2.0, 2.0], [2.0, 3.0]),
    Case("amin", np.amin, [2.0, 2.0], [2.0, 3.0]),
    Case("nanmin", np.nanmin, [2.0, 2.0], [2.0, 3.0]),
    Case("arctan2", lambda v: np.arctan2(v[0], v[1]), [0.0, 0.0]),
    Case("angle", lambda v: np.angle(complex_of(v)), [0.0, 0.0]),
    Case("hypot", lambda v: np.hypot(v[0], v[1]), [0.0, 0.0]),
    *[
        Case("norm", lambda v, order=order: np.linalg.norm(v, order), [0.0, 0.0])
        for order in (None, 1, 1.5, 2, 2.5, 3, 4, 0.5, -1, -2, INF, -INF)
    ],
    *[
        Case("norm", lambda a, order=order: np.linalg.norm(a, order), np.zeros((2, 2)))
        for order in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)
    ],
    Case("norm", np.linalg.norm, np.zeros(1)),
    Case("norm", lambda v: np.linalg.norm(v[:2] + 1j * v[2:]), np.zeros(4)),
    Case("norm", lambda v: np.linalg.norm(v[:2] + 1j * v[2:], 1), np.zeros(4)),
    Case("vector_norm", np.linalg.vector_norm, [0.0, 0.0]),
    Case("vector_norm", lambda v: np.linalg.vector_norm(v, ord=3), [0.0, 0.0]),
    Case("matrix_norm", np.linalg.matrix_norm, np.zeros((2, 2))),
    Case("matrix_norm", lambda a: np.linalg.matrix_norm(a, ord="nuc"), np.zeros((2, 2))),
    Case("svdvals", lambda a: np.sum(np.linalg.svdvals(a)), np.zeros((1, 2))),
    Case("std", np.std, [2.0, 2.0]),
    # Rounding makes this standard deviation positive.
    Case("std", np.std, [0.1, 0.1, 0.1]),
    Case("std", lambda x: np.std(x, mean=np.float64(2.0)), [2.0, 2.0]),
    Case("nanstd", np.nanstd, [2.0, 2.0]),
    Case("power", lambda v: v[0] ** v[1], [0.0, 0.0]),
    Case("float_power", lambda v: np.float_power(v[0], v[1]), [0.0, 0.0]),
    Case("logaddexp", lambda v: np.logaddexp(v[0], v[1]), [-INF, -INF]),
    Case("logaddexp2", lambda v: np.logaddexp2(v[0], v[1]), [INF, INF]),
    Case("logsumexp", tm.logsumexp, [-INF, -INF]),
    Case("logsumexp", tm.logsumexp, [INF, INF]),
    Case("pseudo_huber", lambda v: sp.pseudo_huber(v[0], v[1]), [0.0, 0.0]),
    Case("xlogy", lambda v: sp.xlogy(v[0], v[1]), [0.0, 0.0]),
    Case("rel_entr", lambda v: sp.rel_entr(v[0], v[1]), [0.0, 0.0]),
    Case("kl_div", lambda v: sp.kl_div(v[0], v[1]), [0.0, 0.0]),
    Case("xlog1py", lambda v: sp.xlog1py(v[0], v[1]), [0.0, -1.0]),
]  # fmt: skip


BRANCHES = [
    Case("sort", lambda v: np.sort(v)[0], [2.0, 2.0], [2.0, 2.5]),
    Case("median", np.median, [2.0, 2.0, 1.0], [2.0, 2.5, 1.0]),
    Case("nanmedian", np.nanmedian, [2.0, 2.0, 1.0], [2.0, 2.5, 1.0]),
    Case("ptp", np.ptp, [2.0, 2.0], [2.0, 2.5]),
    Case("quantile", lambda v: np.quantile(v, 0.5), [2.0, 2.0, 1.0], [2.0, 2.5, 1.0]),
    Case("remainder", lambda x: np.remainder(x, 2.0), 4.0, 4.1),
    Case("fmod", lambda x: np.fmod(x, 2.0), 4.0, 4.1),
    Case("where", lambda x: np.where(x > 0, x**3, x**2), 0.0, -1e-12),
    Case("nan_to_num", np.nan_to_num, INF, 0.1),
    Case("interp", lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 3.0, 4.0]), 1.0, 1.1),
    Case("unwrap", lambda v: np.unwrap(v)[1], [0.0, np.pi], [0.0, 3.0]),
    Case("top_k", lambda v: tm.top_k(v, 1)[0][0], [2.0, 2.0], [2.0, 1.0]),
    Case("max_pool1d", lambda v: tm.max_pool1d(v[None, :, None], 2)[0, 0, 0], [2.0, 2.0], [2.0, 1.0]),
    Case("huber", lambda x: sp.huber(1.0, x), 1.0, 0.9),
]  # fmt: skip
"""Rules with branches whose slopes reports don't explain."""

EXACT = [
    ("sinc", np.sinc, 0.0, [0.0, -(np.pi**2) / 3, 0.0]),
    ("power", lambda x: x**2, 0.0, [0.0, 2.0, 0.0]),
    ("power", lambda x: x**3.0, 0.0, [0.0, 0.0, 6.0]),
    ("power", lambda x: x**0.0, 0.0, [0.0, 0.0, 0.0]),
    ("absolute", lambda x: np.abs(x) ** 3, 0.0, [0.0, 0.0, 0.0]),
    ("var", lambda x: np.var(np.stack([x, 1 + 0 * x])), 1.0, [0.0, 0.5, 0.0]),
    ("prod", lambda x: np.prod(np.stack([x, x, 3 + x])), 0.0, [0.0, 6.0, 6.0]),
    ("cumprod", lambda x: np.cumprod(np.stack([x, x, 3 + x]))[-1], 0.0, [0.0, 6.0, 6.0]),
    ("det", lambda x: np.linalg.det(np.eye(3) * x), 0.0, [0.0, 0.0, 6.0]),
    ("logaddexp", lambda x: np.logaddexp(x, -INF), 1.0, [1.0, 0.0, 0.0]),
    ("logsumexp", lambda x: tm.logsumexp(np.stack([x, -INF + 0 * x])), 1.0, [1.0, 0.0, 0.0]),
    ("pseudo_huber", lambda x: sp.pseudo_huber(1.0, x), 0.0, [0.0, 1.0, 0.0]),
    ("exprel", sp.exprel, 0.0, [1 / 2, 1 / 3, 1 / 4]),
    ("sici", lambda x: sp.sici(x)[0], 0.0, [1.0, 0.0, -1 / 3]),
]  # fmt: skip
"""Functions with derivatives at points where a formula divides 0 by 0, and their derivatives of orders 1 to 3."""


@pytest.mark.parametrize(("name", "f", "x", "expected"), EXACT)
def test_where_there_is_a_derivative_it_is_right(name: str, f: Function, x: float, expected: list[float]) -> None:
    """No rule gives up a derivative that exists."""
    actual = [float(d) for d in derivatives(f, np.float64(x))]
    assert actual == pytest.approx(expected, rel=1e-9, abs=1e-9), name


def name_of(case: Any) -> str | None:
    """The name of a case in the names of tests."""
    return case.name if isinstance(case, Case) else None


def test_each_kink_of_the_table_has_a_case() -> None:
    """A kink that is added to the table is tested in every order."""
    assert {case.name for case in CASES} == KINKS.keys() | EXTREMES


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_table_says_the_kind(case: Case) -> None:
    """The kind that the verdict reads is the one that the rules obey."""
    kink = KINKS.get(case.name)
    if kink is None:
        assert case.branch is not None
    elif case.branch is not None:
        assert kink.kind == "branch"
    else:
        assert "first order" in (kink.kind, kink.complex_kind)


@pytest.mark.parametrize("case", [case for case in [*CASES, *BRANCHES] if case.branch is not None], ids=name_of)
def test_every_order_is_that_of_one_branch(case: Case) -> None:
    """Higher derivatives are those of one branch, and finite for functions of the result, too."""
    at = derivatives(case.f, np.asarray(case.x))
    near = derivatives(case.f, np.asarray(case.branch))
    for actual, expected in zip(at[1:], near[1:], strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)
    for actual in derivatives(lambda x: np.sin(case.f(x)) + case.f(x) ** 2, np.asarray(case.x)):
        assert np.isfinite(actual).all()


@pytest.mark.parametrize("case", [case for case in CASES if case.branch is None], ids=name_of)
@pytest.mark.parametrize("outer", [lambda y: y, np.square, np.sin], ids=["itself", "square", "sin"])
def test_a_slope_that_no_branch_has_is_for_the_first_order_only(case: Case, outer: Function) -> None:
    """The first derivative is finite, and all higher ones are nan, whatever the function of the result."""
    first, *higher = derivatives(lambda x: outer(case.f(x)), np.asarray(case.x))
    if np.isfinite(case.x).all():
        assert np.isfinite(first).all()
    for actual in higher:
        assert np.isnan(actual).any()
        # Some entries don't depend on the kink, such as the second derivative of 0**y.
        assert np.isin(actual[~np.isnan(actual)], [0, INF, -INF]).all()


def assert_right_or_nan(actual: Any, expected: Any, unknown: Any) -> None:
    """Compare with the truth, except for the entries that must be nan unless they are true."""
    actual, expected = np.asarray(actual), np.broadcast_to(expected, np.shape(actual))
    nan = np.isnan(actual)
    assert not (nan & ~np.broadcast_to(unknown, actual.shape)).any()
    np.testing.assert_allclose(actual[~nan], expected[~nan], rtol=1e-12, atol=1e-12)


def hessian_of(f: Function, x: Any) -> Any:
    """The second derivative as a matrix."""
    return derivatives(f, x, 2)[1].reshape(np.size(x), np.size(x))


ROWS = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, -2.0], [0.5, 0.0], [2.0, 2.0], [-1.0, 3.0]])


@pytest.mark.parametrize(
    ("norm", "x", "truth"),
    [
        (lambda a: np.linalg.norm(a, axis=1), ROWS, 2 * np.eye(12)),
        (lambda a: np.linalg.norm(a, axis=0), ROWS.T.copy(), 2 * np.eye(12)),
        (lambda a: np.linalg.norm(a[:, None], axis=(1, 2)), ROWS, 2 * np.eye(12)),
        (lambda a: np.hypot(a[:, 0], a[:, 1]), ROWS, 2 * np.eye(12)),
        (lambda a: np.abs(a[:, 0] + 1j * a[:, 1]), ROWS, 2 * np.eye(12)),
        (lambda a: np.std(a, axis=1), ROWS, np.kron(np.eye(6), [[0.5, -0.5], [-0.5, 0.5]])),
    ],
)
def test_only_entries_of_the_row_at_the_kink_are_nan(norm: Function, x: Any, truth: Any) -> None:
    """The Hessian of a sum over rows is right in all rows except for the one that is 0."""
    axis = 1 if x.shape == ROWS.shape else 0
    at_kink = np.ravel(np.broadcast_to(np.expand_dims(norm(x) == 0, axis), x.shape))
    unknown = at_kink[:, None] & at_kink
    actual = hessian_of(lambda a: np.sum(norm(a) ** 2), x)
    assert np.isnan(actual).any()
    assert_right_or_nan(actual, truth, unknown)


def test_a_gradient_along_a_direction_is_nan_only_in_the_row() -> None:
    """A Hessian-vector product without a Jacobian is right in the rows with a derivative."""
    x = tm.Variable(ROWS)
    direction = np.arange(1.0, 13).reshape(6, 2)
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            y = np.sum(np.linalg.norm(x, axis=1) ** 2)
        product = np.sum(inner.gradient(y, x) * direction)
    actual = outer.gradient(product, x)
    assert_right_or_nan(actual, 2 * direction, (ROWS == 0).all(axis=1, keepdims=True))
    assert np.isnan(actual[1]).all()


A = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 2.0]])


@pytest.mark.parametrize(
    ("f", "x", "truth"),
    [
        (lambda v: np.linalg.norm(v) ** 2, np.zeros(2), 2 * np.eye(2)),
        (lambda v: np.sum((A @ v) ** 2) / 2 + 0.1 * np.linalg.norm(v) ** 2, np.zeros(2), A.T @ A + 0.2 * np.eye(2)),
        (lambda v: np.linalg.norm(A @ v - A @ np.array([1.0, 2.0])) ** 2, np.array([1.0, 2.0]), 2 * A.T @ A),
        (lambda v: np.linalg.norm(v**2), np.zeros(2), np.inf),
        (lambda v: np.hypot(v[0], v[1]) ** 2, np.zeros(2), 2 * np.eye(2)),
        (lambda v: np.linalg.norm(v.reshape(2, 2), "nuc"), np.array([1.0, 0, 0, 0]), np.inf),
        (lambda v: np.sum(np.linalg.svdvals(v.reshape(2, 2)) ** 2), np.array([1.0, 0, 0, 0]), 2 * np.eye(4)),
        (lambda v: tm.clip_by_global_norm([v], 1.0)[1] ** 2, np.zeros(2), 2 * np.eye(2)),
        (lambda v: tf.norm(v) ** 2, np.zeros(2), 2 * np.eye(2)),
        (lambda v: tf.math.reduce_std(v) ** 2, np.ones(2), [[0.5, -0.5], [-0.5, 0.5]]),
        (lambda v: tf.math.reduce_euclidean_norm(v) ** 2, np.zeros(2), 2 * np.eye(2)),
    ],
)
def test_a_second_derivative_is_never_another_number(f: Function, x: Any, truth: Any) -> None:
    """Where the truth needs what the first derivative has forgotten, the second one is nan."""
    actual = hessian_of(f, x)
    assert np.isnan(actual).any()
    assert_right_or_nan(actual, truth, True)


@pytest.mark.parametrize("x", [[0.0, 2.0], [0.0, 1.0], [-1.5, 2.0], [0.0, 3.0], [2.0, 0.5]])
def test_powers_of_which_the_exponent_is_tracked(x: list[float]) -> None:
    """The Hessian in base and exponent is right, or nan where the base has no logarithm."""
    base, exponent = x
    log = np.log(base) if base > 0 else -np.inf if base == 0 else np.nan
    with np.errstate(all="ignore"):
        mixed = 0.0 if base == 0 and exponent > 1 else base ** (exponent - 1) * (1 + exponent * log)
        twice = 0.0 if base == 0 else base**exponent * log**2
    factor = exponent * (exponent - 1)
    truth = [[factor * base ** (exponent - 2) if factor else 0, mixed], [mixed, twice]]
    actual = hessian_of(lambda v: v[0] ** v[1], np.array(x))
    assert actual[0, 0] == pytest.approx(truth[0][0])
    for entry in ((0, 1), (1, 0), (1, 1)):
        value = truth[entry[0]][entry[1]]
        assert np.isnan(actual[entry]) or actual[entry] == pytest.approx(value)
    if base > 0:
        assert np.isfinite(actual).all()


@pytest.mark.parametrize("order", [1.5, 2.5, 3, 4])
def test_elements_of_0_in_a_vector_that_is_not_0(order: float) -> None:
    """|x|**p at 0 has p - 1 derivatives; the next is infinite or, for odd integers p, that of abs."""
    second, third = derivatives(lambda v: np.linalg.norm(v, order), np.array([0.0, 1.0]))[1:]
    assert np.isnan(second[0, 0]) if order < 2 else second[0, 0] == 0
    assert np.isnan(third[0, 0, 0]) if order in (1.5, 2.5) else third[0, 0, 0] == 0


@pytest.mark.parametrize(
    ("deviation", "x"),
    [
        (np.std, [2.0]),
        (lambda v: np.std(v, where=np.array([True, False])), [2.0, 3.0]),
        (np.nanstd, [2.0, np.nan]),
        (lambda v: np.sum(np.std(v[:, None], axis=1)), [2.0, 3.0]),
    ],
)
def test_the_deviation_of_one_value_is_0_in_every_order(deviation: Function, x: list[float]) -> None:
    """A single value is its own mean, so no kink is there."""
    for actual in derivatives(lambda v: deviation(v) ** 2 + deviation(v), np.array(x)):
        assert not actual.any()


def squared_norms(x: Any) -> Any:
    """Sums of squares, by three functions that are not differentiable at 0."""
    rows = np.linalg.norm(x, axis=1) ** 2
    return np.sum(rows + np.hypot(x[:, 0], x[:, 1]) ** 2 + np.std(x, axis=1) ** 2)


def product_of(x: Any, direction: Any) -> Any:
    """A Hessian-vector product by nested tapes."""
    with tm.GradientTape() as outer:
        outer.watch(x)
        with tm.GradientTape() as inner:
            inner.watch(x)
            y = squared_norms(x)
        product = np.sum(inner.gradient(y, x) * direction)
    return outer.gradient(product, x)


def test_programs_find_kinks_that_the_traced_call_did_not_have() -> None:
    """A compiled program gives nan at the same elements, whatever numbers it was traced with."""
    program = tm.function(product_of)
    smooth = np.where(ROWS == 0, 1.5, ROWS)
    direction = np.ones((6, 2))
    for x in (smooth, smooth, ROWS, smooth):
        actual = program(tm.constant(x), tm.constant(direction))
        np.testing.assert_allclose(actual, product_of(tm.constant(x), direction), rtol=1e-12)
    assert not program.why_eager
    assert np.isnan(program(tm.constant(ROWS), tm.constant(direction))[1]).all()


def test_dask_arrays_find_kinks_in_their_chunks() -> None:
    """The chunks of a Dask array give the same numbers and nan."""
    da = pytest.importorskip("dask.array")
    direction = np.arange(1.0, 13).reshape(6, 2)
    expected = product_of(tm.constant(ROWS), direction)
    actual = product_of(tm.constant(da.from_array(ROWS, chunks=(2, 2))), direction)
    np.testing.assert_allclose(actual.compute(), expected, rtol=1e-12)


def test_nothing_is_recorded_where_no_kink_is() -> None:
    """Away from kinks, second derivatives have no further operations."""

    def operations(x: Any) -> list[str]:
        variable = tm.Variable(x)
        with tm.GradientTape(persistent=True) as outer:
            with tm.GradientTape() as inner:
                y = np.linalg.norm(variable)
            inner.gradient(y, variable)
        return [NUMBERED[record[0]].name for record in snapshot_of(outer).records]

    assert NO_SLOPE not in operations([3.0, 4.0])
    assert NO_SLOPE in operations([0.0, 0.0])
