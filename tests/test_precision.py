"""Long sums of gradients in half and single precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

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
