"""Gradients on long tapes, where the sweep ends as soon as nothing is left to pass on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

pytestmark = pytest.mark.thorough

MANY = 1500


@tm.custom_gradient
def doubled_and_tripled(x: Any) -> Any:
    """Two results with one rule."""
    return [2 * x, 3 * x], lambda two, three: 2 * two + 3 * three


def parts(x: Any) -> Any:
    """The second half of an array of four, by np.split."""
    return np.split(x, 2)[1]


SEVERAL: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "first half": (lambda x: np.split(x, 2)[0], [1, 1, 0, 0]),
    "second half": (parts, [0, 0, 1, 1]),
    "unstack": (lambda x: np.split(x, 4)[3][0], [0, 0, 0, 1]),
    "meshgrid": (lambda x: np.meshgrid(x, x[:1])[1], [4, 0, 0, 0]),
    "custom": (lambda x: doubled_and_tripled(x)[1], [3, 3, 3, 3]),
    "svd": (lambda x: np.linalg.svd(np.diag(x))[1][0], [0, 0, 0, 1]),
}


def lengthened(x: Any, count: int = MANY) -> Any:
    """`x` again, after many operations."""
    for _ in range(count):
        x = x * 1.0
    return x


@pytest.mark.parametrize("after", [0, 1, 63, 64, 1023, 1024, MANY])
@pytest.mark.parametrize("name", SEVERAL)
def test_targets_among_several_results(name: str, after: int) -> None:
    """A gradient begins at any of an operation's several results, wherever it stands on a long tape."""
    function, expected = SEVERAL[name]
    x = tm.Variable([1.0, 2.0, 3.0, 4.0])
    with tm.GradientTape(persistent=True) as tape:
        z = lengthened(x)
        y = function(z)
        lengthened(z, after)
    np.testing.assert_allclose(tape.gradient(y, x), expected)
    np.testing.assert_allclose(tape.gradient([y, y], x), 2 * np.array(expected))


@pytest.mark.parametrize("between", [62, 63, 64, 65, 190, 191, 192, MANY])
def test_several_results_in_between(between: int) -> None:
    """A gradient that waits for the last of several results alone is passed on."""
    x = tm.Variable([1.0, 2.0, 3.0, 4.0])
    with tm.GradientTape(persistent=True) as tape:
        z = lengthened(x)
        half = parts(z)
        y = lengthened(np.sum(half * half), between)
    np.testing.assert_allclose(tape.gradient(y, [x, half])[0], [0, 0, 6, 8])
    np.testing.assert_allclose(tape.gradient(y, [x, half])[1], [6, 8])


def test_an_operation_without_results() -> None:
    """An operation with no result at all leaves a long tape as it is."""
    x, none = tm.Variable(2.0), tm.Variable(np.zeros((0, 3)))
    with tm.GradientTape(persistent=True) as tape:
        y = lengthened(x * x)
        for _ in range(3):
            np.broadcast_arrays(*none)
            getattr(np, "unstack", list)(none)
    assert tape.gradient(y, x).numpy() == 4


def test_threads_that_append_out_of_order() -> None:
    """Records of two threads in one context, the older one appended last, lose no gradient."""
    x = tm.Variable(3.0)
    with tm.GradientTape(persistent=True) as tape:
        start = lengthened(x)
        first, second = start * 2.0, start * 5.0
        tape._records[-1], tape._records[-2] = tape._records[-2], tape._records[-1]
        y = lengthened(first, 62) + lengthened(second, 62)
    assert tape.gradient(first, x).numpy() == 2
    assert tape.gradient(second, x).numpy() == 5
    assert tape.gradient([first, second], x).numpy() == 7
    assert tape.gradient(y, [x, first, second])[0].numpy() == 7


def test_many_sources_of_a_long_tape() -> None:
    """The cost for each of many sources does not grow with their number."""

    def costs(count: int) -> Iterator[float]:
        sources = [tm.Variable(1.0) for _ in range(count)]
        with tm.GradientTape(persistent=True) as tape:
            y = sum(sources[1:], sources[0] * 1.0)
        for _ in range(3):
            begin = process_time()
            tape.gradient(y, sources)
            yield (process_time() - begin) / count

    few = min(costs(4_000))
    assert any(cost < 2.5 * few for cost in costs(128_000))  # the fastest of three, or a fast one
