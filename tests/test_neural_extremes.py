"""The functions of neural networks at infinities, and for very large and very small numbers."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from tapemagic import GradientTape, constant
from tapemagic import function as tm_function
from tapemagic.engine.operations.activations import elu, gelu, leaky_relu, relu, relu6, selu, silu
from tapemagic.engine.operations.common import where_mask
from tapemagic.engine.operations.errorfunction import BLOCK_SIZE, erf, erfc
from tapemagic.engine.operations.exponentials import log_softmax, logsumexp, softmax
from tapemagic.engine.operations.logistic import (
    hard_sigmoid,
    log_sigmoid,
    sigmoid,
    softplus,
    softsign,
)
from tapemagic.engine.operations.losses import sigmoid_cross_entropy, softmax_cross_entropy
from tapemagic.engine.operations.norms import clip_by_global_norm, clip_by_norm, l2_normalize
from tapemagic.engine.operations.sparse_losses import sparse_softmax_cross_entropy
from tapemagic.engine.recording import Record

INF, NAN = np.inf, np.nan
RNG = np.random.default_rng


ENDS = [-INF, -1e3, 1e3, INF, NAN]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (relu, [0, 0, 1e3, INF]),
        (relu6, [0, 0, 6, 6]),
        (leaky_relu, [-INF, -200, 1e3, INF]),
        (elu, [-1, -1, 1e3, INF]),
        (selu, [-1.7580993408473766, -1.7580993408473766, 1050.7009873554805, INF]),
        (gelu, [0, 0, 1e3, INF]),
        (lambda x: gelu(x, approximate=True), [0, 0, 1e3, INF]),
        (silu, [0, 0, 1e3, INF]),
        (sigmoid, [0, 0, 1, 1]),
        (log_sigmoid, [-INF, -1e3, 0, 0]),
        (softplus, [0, 0, 1e3, INF]),
        (softsign, [-1, -1000 / 1001, 1000 / 1001, 1]),
        (hard_sigmoid, [0, 0, 1, 1]),
        (erf, [-1, -1, 1, 1]),
        (erfc, [2, 2, 0, 0]),
    ],
)
def test_ends(function: Any, expected: list[float]) -> None:
    """Limits at infinity, no warning on the way, and NaN stays NaN."""
    for dtype in (np.float64, np.float32):
        y = function(np.array(ENDS, dtype))
        np.testing.assert_allclose(y, np.array([*expected, NAN], dtype), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 0.3, 1.0, 2.0, 6.0])
def test_error_functions(scale: float) -> None:
    """erf and erfc have a relative error of a few units in the last place, as the C library's."""
    x = RNG(0).normal(size=BLOCK_SIZE + 1000) * scale

    np.testing.assert_allclose(erf(x), [math.erf(one) for one in x], rtol=1.5e-15)
    np.testing.assert_allclose(erfc(x), [math.erfc(one) for one in x], rtol=1.5e-15, atol=1e-307)


def test_error_functions_where_their_pieces_meet() -> None:
    """At the ends of the intervals, on both sides; signs of zero; the smallest numbers."""
    ends = [0.46875, 4.0, 6.0, 26.5, 40.0, 1e300]
    x = np.array([y for end in ends for y in (np.nextafter(end, 0), end, np.nextafter(end, INF))])

    for sign in (1, -1):
        np.testing.assert_allclose(erf(sign * x), [math.erf(sign * y) for y in x], rtol=1.5e-15)
        np.testing.assert_allclose(erfc(sign * x), [math.erfc(sign * y) for y in x], rtol=1.5e-15)
    assert [False, True] == np.signbit(erf([0.0, -0.0])).tolist()
    assert math.erf(5e-324) == erf(5e-324)


def test_small_digits_are_kept() -> None:
    """Far out on the negative side, values are small and still right."""
    x = np.array([-5.0, -20.0])

    np.testing.assert_allclose(gelu(x), [5 * -2.866515718791939e-07, 20 * -2.753624118606233e-89])
    np.testing.assert_allclose(sigmoid(x), np.exp(x) / (1 + np.exp(x)), rtol=1e-15)
    np.testing.assert_allclose(softplus(x), np.log1p(np.exp(x)), rtol=1e-15)
    np.testing.assert_allclose(log_sigmoid(-x), -np.log1p(np.exp(x)), rtol=1e-15)
    np.testing.assert_allclose(log_softmax([0.0, -40.0])[0], -np.exp(-40.0), atol=1e-17)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1e3, 1e3], [0.5, 0.5]), ([1e3, -1e3], [1, 0]), ([INF, 0.0], [1, 0]),
        ([INF, INF, -INF], [0.5, 0.5, 0]), ([-INF, -INF], [0.5, 0.5]), ([-INF, 3.0], [0, 1]),
        ([NAN, 3.0], [NAN, NAN]), ([1e308, -1e308], [1, 0]), ([], []),
    ],
)  # fmt: skip
def test_shares_of_extremes(x: list[float], expected: list[float]) -> None:
    """Equal infinities are level; softmax, its logarithm and logsumexp agree."""
    with np.errstate(divide="ignore"):
        logarithms = np.log(expected)

    np.testing.assert_array_equal(softmax(x), expected)
    if np.isfinite(x).all():
        np.testing.assert_array_equal(log_softmax(x)[: len(x) // 2], logarithms[: len(x) // 2])
    else:
        np.testing.assert_allclose(log_softmax(x), logarithms)


def test_logsumexp_of_extremes() -> None:
    """Finite where the true value is; -inf of nothing."""
    assert math.log(2) - 1e3 == pytest.approx(logsumexp([-1e3, -1e3]), rel=1e-15)
    assert [-INF, INF, INF] == logsumexp([[-INF, -INF], [INF, 1.0], [INF, -INF]], 1).tolist()
    assert -INF == logsumexp([])
    assert [[-INF], [-INF]] == logsumexp(np.zeros((2, 0)), axis=-1, keepdims=True).tolist()
    assert np.isnan(logsumexp([NAN, 1.0]))


def test_losses_of_extremes() -> None:
    """The limits of the losses where logits are infinite; NaN stays NaN."""
    assert math.log(2) == softmax_cross_entropy([1.0, 0.0, 0.0], [0.0, 0.0, -INF])
    assert INF == softmax_cross_entropy([0.5, 0.5], [0.0, -INF])
    assert [0.0, INF] == sparse_softmax_cross_entropy([0, 1], [[INF, 0.0]] * 2).tolist()
    assert [0.0, INF, 1e3, INF] == sigmoid_cross_entropy(
        [1.0, 0.0, 1.0, 0.5], [INF, INF, -1e3, INF]
    ).tolist()
    for labels, logits in (([0.0, 1.0], [NAN, 0.0]), ([NAN, 1.0], [0.0, 0.0])):
        assert np.isnan(softmax_cross_entropy(labels, logits))
        assert [True, False] == np.isnan(sigmoid_cross_entropy(labels, logits)).tolist()


def test_differences_of_the_largest_numbers() -> None:
    """They overflow without a warning, in few classes and in many, and where the largest logit is as small."""
    for kind, classes in product((np.float32, np.float64), (3, 40)):
        largest = np.finfo(kind).max
        for top in (largest, kind(1e19), kind(1.0), -largest):
            logits = np.full((200, classes), -largest, kind)
            logits[:, 1] = top
            right = (
                [math.log(classes)] * 2 if top == -largest else [0.0, float(top) + float(largest)]
            )
            found = sparse_softmax_cross_entropy(np.arange(200) % 2, logits)
            with np.errstate(over="ignore"):
                np.testing.assert_allclose(found[[1, 0]], np.array(right).astype(kind), rtol=1e-6)


@pytest.mark.parametrize("size", [1000, 1024, 5000])
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f4"])
def test_large_arrays_are_computed_as_small_ones(kind: str, size: int) -> None:
    """Whichever is the quicker way, zeros keep their sign, and arrays their order in memory."""
    x = RNG(0).choice(np.array([0.0, -0.0, 1.5, -2.0, INF, -INF, NAN, 1e-7], kind), (size // 2, 2))
    for each in (x, np.asfortranarray(x), x[::2], x[::-1], x.reshape(-1)):
        mask = each > 0
        for found, right in (
            (relu(each), np.array([relu(one) for one in each.ravel()]).reshape(each.shape)),
            (where_mask(each, mask), np.where(mask, each, 0)),
            (where_mask(each, mask.T.copy().T), np.where(mask, each, 0)),
        ):
            np.testing.assert_array_equal(found, right)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(right))
        found, right = relu(each), np.maximum(each, 0)
        assert (found.dtype, found.strides) == (right.dtype, right.strides)


def test_gradients_through_large_masks() -> None:
    """Where a large relu lets nothing through, an infinite gradient does not get through, either."""
    x = constant(np.tile([-1.0, 4.0], 4000))
    for function in (relu, relu6, leaky_relu):
        with GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        g = tape.gradient(y, x, output_gradients=constant(np.tile([INF, 2.0], 4000)))
        left = INF if function is leaky_relu else 0.0
        assert [left, 2.0] == g.numpy()[:2].tolist()


def test_lengths_of_extremes() -> None:
    """Squares of large and small numbers neither overflow nor vanish."""
    np.testing.assert_allclose(l2_normalize([3e200, 4e200]), [0.6, 0.8])
    np.testing.assert_allclose(l2_normalize([[3e200, 4e200], [3e-4, 4e-4]], 1), [[0.6, 0.8]] * 2)
    np.testing.assert_allclose(l2_normalize([3e-200, 4e-200]), [3e-194, 4e-194])
    np.testing.assert_allclose(clip_by_norm([3e200, 4e200], 1.0), [0.6, 0.8])
    np.testing.assert_allclose(clip_by_norm([3e-200, 4e-200], 1e-200), [0.6e-200, 0.8e-200])
    assert [3e-200, 4e-200] == clip_by_norm([3e-200, 4e-200], 1e200).tolist()
    for scale in (1e200, 1e-200):
        (clipped,), norm = clip_by_global_norm([[3 * scale, 4 * scale]], scale)
        np.testing.assert_allclose(clipped, [0.6 * scale, 0.8 * scale])
        assert 5 * scale == pytest.approx(norm, abs=0)


def powers(x: Any) -> tuple[Any, Any]:
    """The logistic functions of x and -x, by exponentials of negative numbers."""
    small = np.exp(-np.abs(x))
    near, far = 1 / (1 + small), small / (1 + small)
    return np.where(x > 0, near, far), np.where(x > 0, far, near)


def logistic_slopes(x: Any) -> list[Any]:
    """The first three derivatives of the logistic function, without cancellation."""
    p, q = powers(x)
    return [p * q, p * q * (q - p), p * q * ((q - p) ** 2 - 2 * p * q)]


def silu_slopes(x: Any) -> list[Any]:
    """By the product rule."""
    p, q = powers(x)
    first, second, third = logistic_slopes(x)
    return [p * (1 + x * q), 2 * first + x * second, 3 * second + x * third]


def loss_slopes(x: Any) -> list[Any]:
    """Of the cross-entropy of a logit whose label is 1."""
    return [-powers(x)[1], *logistic_slopes(x)[:2]]


TAILS = {
    "sigmoid": (sigmoid, logistic_slopes),
    "silu": (silu, silu_slopes),
    "softplus": (softplus, lambda x: [powers(x)[0], *logistic_slopes(x)[:2]]),
    "log_sigmoid": (log_sigmoid, lambda x: [powers(x)[1], *(-y for y in logistic_slopes(x)[:2])]),
    "cross-entropy, 1": (lambda x: sigmoid_cross_entropy(np.ones(x.shape, x.dtype)[()], x), loss_slopes),
    "cross-entropy, 0": (
        lambda x: sigmoid_cross_entropy(np.zeros(x.shape, x.dtype)[()], x),
        lambda x: [powers(x)[0], *logistic_slopes(x)[:2]],
    ),
}  # fmt: skip
FAR = np.array([-700.0, -90, -40, -20, -9, -1, 0, 0.5, 4, 8, 9, 14, 17, 20, 37, 40, 90, 350, 700])


def nth(function: Any, order: int, x: Any) -> Any:
    """A derivative, by nested tapes."""
    if order == 0:
        return function(x)
    with GradientTape() as tape:
        tape.watch(x)
        y = nth(function, order - 1, x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 2e-9), (np.float32, 2e-3)])
def test_tails_keep_their_digits(name: str, dtype: Any, rtol: float) -> None:
    """Slopes that are numbers of the dtype aren't rounded to 0: arrays, numbers, and all orders up to three."""
    function, slopes = TAILS[name]
    x = FAR.astype(dtype)
    for order, slope in enumerate(slopes(FAR), 1):
        # Numbers that single precision can't represent, or only with few digits, count as 0.
        right = np.where(np.abs(slope) < 1e3 * np.finfo(dtype).tiny, 0, slope)
        atol = 1e4 * np.finfo(dtype).tiny
        found = nth(function, order, constant(x)).numpy()
        assert found.dtype == dtype
        np.testing.assert_allclose(found, right, rtol=rtol, atol=atol)
        numbers = [float(nth(function, order, constant(one))) for one in x]
        np.testing.assert_allclose(numbers, right, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", ["sigmoid", "cross-entropy, 1"])
def test_tails_in_other_ways(name: str) -> None:
    """Jacobians, programs and written sources compute the same numbers; nan stays where it is."""
    function, slopes = TAILS[name]
    slope = slopes(FAR)[0]

    with GradientTape(persistent=True) as tape:
        x = constant(FAR)
        tape.watch(x)
        y = function(x)
    eager = tape.gradient(y, x).numpy()
    np.testing.assert_allclose(eager, slope, rtol=2e-9)
    np.testing.assert_array_equal(np.diag(tape.jacobian(y, x)), eager)
    program: dict[str, Any] = {}
    exec(tape.source(y, x), program)  # noqa: S102
    derivative = next(name for name in program if "_and_" in name)
    np.testing.assert_array_equal(program[derivative](FAR)[1], eager)

    traced = tm_function(lambda x: nth(function, 1, x))
    calls = [traced(constant(FAR)).numpy() for _ in range(4)]
    assert not traced.why_eager
    for found in calls:
        np.testing.assert_array_equal(found, eager)

    with_nan = np.where(FAR == 0, NAN, FAR)
    expected = np.where(FAR == 0, NAN, eager)
    np.testing.assert_array_equal(nth(function, 1, constant(with_nan)), expected)
    assert nth(function, 1, constant(np.zeros((0, 2)))).shape == (0, 2)


def test_slope_of_a_power_of_two_that_overflows() -> None:
    """log(2) * 2**x is a number up to x = 1024.5, but 2**x only below 1024."""
    with np.errstate(over="ignore"):
        for x in (constant(1024.2), constant([3.0, 1024.2])):
            found = np.atleast_1d(nth(np.exp2, 1, x).numpy())
            np.testing.assert_allclose(found[-1], 2.0**1023.2 * (2 * math.log(2)))
            assert np.isfinite(nth(np.exp2, 2, x).numpy()).all()


def test_tapes_keep_no_operand_without_digits_to_restore() -> None:
    """A tape keeps the operand of a sigmoid only if some result is close to 1."""
    for top, is_kept in ((2.0, False), (50.0, True)):
        x = constant(np.append(np.linspace(-2, 2, 100_000), top))
        with GradientTape() as tape:
            tape.watch(x)
            y = sigmoid(x * 1.0)
            y = y + np.zeros(200_000)[: y.size]
        (record,) = (r for r in map(Record._make, tape._records) if r.name == "sigmoid")
        assert isinstance(record.values[0], np.ndarray) is is_kept
        assert np.isfinite(tape.gradient(y, x).numpy()).all()
