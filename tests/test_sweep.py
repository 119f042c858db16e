"""The reverse sweep where it adds up: into arrays of its own, and never into those that others hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm

SIZES = [3, 1000]


def gradients(function: Any, *inputs: Any) -> list[Any]:
    """The gradients of a function of tensors, twice from one tape, which have to agree."""
    tensors = [tm.constant(x) for x in inputs]
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        y = function(*tensors)
    first = tape.gradient(y, tensors)
    kept = [g.numpy() for g in first]
    second = tape.gradient(y, tensors)

    for a, b, c in zip(first, second, kept, strict=True):
        assert np.array_equal(a.numpy(), c)
        assert np.array_equal(b.numpy(), c)
    return kept


@pytest.mark.parametrize("size", SIZES)
def test_a_number_that_meets_arrays_again_and_again(size: int) -> None:
    """Contributions that broadcasting has repeated are summed before they are added."""
    x = np.linspace(1.0, 2.0, size)

    (g,) = gradients(lambda w: np.sum(w * w * x) + np.sum(x * w) + np.sum(w + x), 3.0)

    assert g == pytest.approx(np.sum(x) + 6.0 * np.sum(x) + size)


@pytest.mark.parametrize("size", SIZES)
def test_a_cotangent_that_two_inputs_share(size: int) -> None:
    """A sum hands the same array to both of its inputs; adding to the one leaves the other alone."""
    a, b, w = np.full(size, 2.0), np.full(size, 3.0), np.linspace(1.0, 2.0, size)

    g_a, g_b = gradients(lambda a, b: np.sum(a * a) + np.sum(a * a) + np.sum((a + b) * w), a, b)

    assert np.allclose(4 * a + w, g_a, rtol=1e-15)
    assert np.array_equal(w, g_b)


@pytest.mark.parametrize("size", SIZES)
def test_constants_that_rules_return(size: int) -> None:
    """An array that the user gave as a weight is returned as a gradient, and never written into."""
    weight = tm.constant(np.linspace(1.0, 2.0, size))
    x = tm.constant(np.ones(size))
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x + x + x + x

    g = tape.gradient(y, x, output_gradients=weight)

    assert np.array_equal(4 * weight.numpy(), g.numpy())
    assert np.array_equal(np.linspace(1.0, 2.0, size), weight.numpy())


@pytest.mark.parametrize("size", SIZES)
def test_a_float32_that_meets_float64(size: int) -> None:
    """Contributions are cast before they are added."""
    x = np.linspace(1.0, 2.0, size)

    (g,) = gradients(lambda w: np.sum(x * w) + np.sum(w * w), np.ones(size, np.float32))

    assert g.dtype == np.float32
    assert np.allclose(x + 2.0, g, rtol=1e-6)
