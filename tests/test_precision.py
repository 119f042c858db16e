"""Long sums of gradients in half and single precision, and gradients whose sum must be 0."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn

NARROW = [np.float16, np.float32, np.complex64]


def gradient(function: Callable[[Any], Any], x: Any, nested: bool = False) -> Any:
    """The gradient of a function of one tensor, alone or while another tape records it."""
    x = tm.constant(x)
    with tm.GradientTape() as outer:
        outer.watch(x)
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        if nested:
            g = tape.gradient(y, x)
    g = g if nested else tape.gradient(y, x)
    assert g.dtype == x.dtype
    return g.numpy()


@pytest.mark.thorough
@pytest.mark.parametrize("nested", [False, True])
def test_broadcast_over_many_rows(nested: bool) -> None:
    """The gradient of a bias that is added to 17 million rows is their number: one by one, ones end at 2**24."""
    found = gradient(lambda b: np.broadcast_to(b, (17_000_000, 2)), np.zeros(2, np.float32), nested)

    assert [17_000_000.0] * 2 == found.tolist()


def test_broadcast_from_an_axis_of_length_one() -> None:
    """A column in half precision that meets 5,000 others gets the sum of all their gradients."""
    ones = np.ones((2, 5_000), np.float16)

    found = gradient(lambda c: np.sum(ones * c, dtype=np.float16), np.ones((2, 1), np.float16))

    assert [[5_000.0], [5_000.0]] == found.tolist()


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_many_uses(shape: tuple[int, ...], dtype: Any, nested: bool) -> None:
    """A value that is used 2,500 times gets all 2,500 gradients: 2,048 + 1 is 2,048 in half precision."""
    tenth = dtype(0.1)

    def uses(x: Any) -> Any:
        return [x * tenth for _ in range(2_500)]

    expected = dtype(2_500 * np.real(tenth).astype(np.float64))
    assert np.all(expected == gradient(uses, np.ones(shape, dtype), nested))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("dtype", NARROW)
def test_many_reads(dtype: Any, nested: bool) -> None:
    """An element that is read 2,500 times, one by one or by one index, gets all the gradients."""
    found = gradient(lambda x: [x[0] for _ in range(2_500)], np.ones(2, dtype), nested)
    at_once = gradient(lambda x: x[np.zeros(2_500, int)], np.ones(2, dtype), nested)
    mixed = gradient(lambda x: [x, *(x[0] for _ in range(2_401)), x * 2], np.ones(2, dtype), nested)

    assert [dtype(2_500), 0] == found.tolist() == at_once.tolist()
    assert [dtype(2_404), 3] == mixed.tolist()


def test_cumsum() -> None:
    """The first of many numbers that are summed up is in all of the sums."""
    found = gradient(np.cumsum, np.ones(5_000, np.float16))

    assert np.arange(5_000, 0, -1).astype(np.float16).tolist() == found.tolist()


def test_repeats_and_tiles() -> None:
    """What is repeated gets the sum of the gradients of all its copies."""
    x = np.ones(2, np.float16)

    assert [5_000.0, 5_000.0] == gradient(lambda x: np.repeat(x, 5_000), x).tolist()
    assert [5_000.0, 5_000.0] == gradient(lambda x: np.tile(x, 5_000), x).tolist()
    assert [5_000.0, 5_000.0] == gradient(lambda x: np.meshgrid(x, np.ones(5_000))[0], x).tolist()


# -- gradients whose sum must be 0: adding a number to all elements doesn't change the result ---------

RNG = np.random.default_rng(0)
CLOSE = 2.38 + 1e-10 * RNG.normal(size=(3, 40))
WEIGHTS = RNG.normal(size=(3, 40))
LABELS = np.array([0, 0, 0])
SURE = np.eye(40)[LABELS] * 30
"""Added to logits, it makes the first class almost certain: its slope is about -1e-12."""

INVARIANT: dict[str, Callable[[Any], Any]] = {
    "var": lambda x: np.var(x, axis=1),
    "var of all": np.var,
    "var of some": lambda x: np.var(x, axis=1, where=WEIGHTS > -1),
    "std": lambda x: np.std(x, axis=1, ddof=1),
    "nanvar": lambda x: np.nanvar(x, axis=1),
    "nanstd": lambda x: np.nanstd(x, axis=1),
    "cov": lambda x: np.cov(x) * WEIGHTS[:, :3],
    "weighted cov": lambda x: np.cov(x, aweights=np.arange(1, 41)) * WEIGHTS[:, :3],
    "corrcoef": lambda x: np.corrcoef(x) * WEIGHTS[:, :3],
    "mean subtracted": lambda x: (x - np.mean(x, axis=1, keepdims=True)) ** 3,
    "layer_norm": lambda x: tm.layer_norm(x, epsilon=0.0) * WEIGHTS,
    "LayerNormalization": lambda x: (
        nn.layers.LayerNormalization(epsilon=0.0, dtype="float64")(x) * WEIGHTS
    ),
    "BatchNormalization": lambda x: (
        nn.layers.BatchNormalization(axis=0, epsilon=0.0, dtype="float64")(x, training=True)
        * WEIGHTS
    ),
    "moments": lambda x: (
        tm.batch_norm(x, np.mean(x, 1, keepdims=True), np.var(x, 1, keepdims=True), epsilon=0.0)
        * WEIGHTS
    ),
    "quantiles": lambda x: np.quantile(x, 0.7, axis=1) - np.quantile(x, 0.2, axis=1),
    "median": lambda x: np.median(x, axis=1) - np.mean(x, axis=1),
    "ptp": lambda x: np.ptp(x, axis=1),
    "diff": lambda x: np.diff(x) * WEIGHTS[:, 1:],
    "gradient": lambda x: np.gradient(x, axis=1) * WEIGHTS,
    "softmax of close weights": lambda x: tm.softmax(x) * (1 + 1e-10 * WEIGHTS),
    "sure softmax": lambda x: tm.softmax(x + SURE) * WEIGHTS,
    "sure log_softmax": lambda x: tm.log_softmax(x + SURE)[:, 0],
    "sure cross-entropy": lambda x: tm.softmax_cross_entropy(SURE / 30, x + SURE),
    "sure sparse": lambda x: tm.sparse_softmax_cross_entropy(LABELS, x + SURE),
}


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("name", INVARIANT)
def test_sum_of_zero(name: str, nested: bool) -> None:
    """The elements of the gradient add up to 0 in each row, also where the elements are close or a class is sure."""
    found = gradient(INVARIANT[name], CLOSE.copy(), nested)
    axis = None if name == "var of all" else 1

    assert np.all(np.abs(found.sum(axis)) <= 1e-14 * np.abs(found).sum(axis))
    assert np.all(np.any(found, axis))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("name", ["var", "nanvar", "std", "nanstd", "average"])
def test_deviations_of_close_values(name: str, nested: bool) -> None:
    """Gradients that are multiples of the deviations are precise for values that differ only in the last digits."""
    values = [Fraction(float(v)) for v in CLOSE[0]]
    mean = sum(values) / len(values)
    deviations = np.array([float(v - mean) for v in values])
    if name == "average":
        function: Any = lambda w: np.average(CLOSE[0], weights=w)  # noqa: E731 (as in the table)
        found = gradient(function, np.ones(40), nested)
    else:
        found = gradient(getattr(np, name), CLOSE[0].copy(), nested)
    factor = {"v": 2, "s": 1 / np.sqrt(np.mean(deviations**2)), "a": 1}[name.removeprefix("nan")[0]]

    # The standard deviation itself is NumPy's, with the square of the mean's relative error.
    tolerance = 1e-10 if "std" in name else 1e-15
    expected = factor * deviations / 40
    assert np.max(np.abs(found - expected)) <= tolerance * np.max(np.abs(expected))


@pytest.mark.parametrize("name", ["sure log_softmax", "sure cross-entropy", "sure sparse"])
def test_slope_of_a_sure_class(name: str) -> None:
    """Where a class has nearly all of the probability, its slope is minus the sum of the others' probabilities."""
    sign = 1 if name == "sure log_softmax" else -1
    others = np.exp(CLOSE[:, 1:] - CLOSE[:, :1] - 30).sum(axis=1)

    found = gradient(INVARIANT[name], CLOSE.copy())

    assert np.allclose(found[:, 0], sign * others, rtol=1e-11, atol=0)
