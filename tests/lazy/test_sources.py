"""Sources as Dask has them: cut with empty chunks, sliced, put together; what is read again, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.laziness import gates
from tests.lazy.lazy_cases import raising

N = 12
NUMBERS = np.linspace(0.5, 2.0, 3 * N).reshape(N, 3)

SOURCES = {
    "slice": lambda x: x[1:],
    "steps": lambda x: x[::2],
    "rechunk": lambda x: x.rechunk((1, 3)),
    "chosen": lambda x: x[[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]],
    "reshape": lambda x: x.reshape(3 * N),
    "product": lambda x: x @ np.ones((3, 2)),
    "concatenate": lambda x: da.concatenate([x, x[:3]]),
}


@pytest.fixture(autouse=True)
def no_gate() -> Iterator[None]:
    """Other tests run without a gate."""
    yield
    gates.clear()


class Readings:
    """How often each piece of a file was read; it is no dict, which Dask may copy."""

    def __init__(self) -> None:
        self.times: Counter[int] = Counter()

    def __dask_tokenize__(self) -> Any:
        return id(self)


def read(readings: Readings, k: int) -> Any:
    """A piece of a file, and a note that it was read."""
    readings.times[k] += 1
    return NUMBERS[2 * k : 2 * k + 2]


def file(readings: Readings) -> Any:
    """An array of the pieces of a file."""
    reading = dask.delayed(read, pure=False, traverse=False)
    pieces = [reading(readings, k) for k in range(N // 2)]
    return da.concatenate([da.from_delayed(piece, (2, 3), float) for piece in pieces])


def gradient(x: Any) -> list[Any]:
    """A loss in which each element meets the mean and the spread of all, and its gradient."""
    x = tm.constant(x)
    with tm.GradientTape() as tape:
        tape.watch(x)
        loss = np.sum(np.tanh((x - np.mean(x, axis=0)) / np.std(x, axis=0)) * np.sin(x))
    return [loss, tape.gradient(loss, x)]


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_of_many_layers_is_read_again(name: str) -> None:
    """Once for each of the sums, one after the other, that a result depends on; Dask's clone would not."""
    readings = Readings()
    x = SOURCES[name](file(readings))
    with dask.config.set(scheduler=raising):
        loss, slope = gradient(x)
    found = dask.compute(loss, slope, scheduler="sync")
    assert max(readings.times.values()) > 1
    for a, b in zip(found, gradient(SOURCES[name](da.from_array(NUMBERS)).compute()), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10)


@pytest.mark.parametrize("cut", [((1, 3, 0), (0, 1)), ((0, 4), (1, 0)), ((2, 0, 2), (1,))])
def test_empty_chunks_are_dropped(cut: Any) -> None:
    """Dask repeats axes of one place, and reverses and repeats arrays, wrongly where a chunk is empty."""
    numbers = np.array([[0.5], [2.0], [1.5], [3.0]])

    def derivatives(x: Any) -> list[Any]:
        x = tm.constant(x)
        w = tm.Variable(1.5)
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.arctan2(x, w) + np.cumsum(x[::-1], axis=0) + np.repeat(x, 2, axis=0)[::2]
            loss = np.prod(x) + np.sum(y * y)
        return [y, *tape.gradient(loss, [w, x])]

    with dask.config.set(scheduler=raising):
        lazy = derivatives(da.from_array(numbers, chunks=cut))
    for a, b in zip(dask.compute(*lazy, scheduler="sync"), derivatives(numbers), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10)


def test_arrays_without_elements_are_reduced_however_they_are_cut() -> None:
    """There is nothing to keep in memory."""
    for shape, cut in (((4, 0), ((1, 3), (0, 0))), ((0,), ((0, 0),))):
        x = tm.constant(da.zeros(shape, chunks=cut))
        np.testing.assert_array_equal(
            np.sum(x, axis=0).compute(scheduler="sync"), np.zeros(shape[1:])
        )
        np.testing.assert_array_equal(np.tril(x).shape, np.tril(np.zeros(shape)).shape)


def test_slices_out_of_bounds_are_those_of_numpy() -> None:
    """Dask reads slices that begin before the first element backwards as if they began at it."""
    for n in range(4):
        numbers = np.arange(float(n))
        x = tm.constant(da.from_array(numbers, chunks=2))
        for index in (
            slice(-5, None, -1),
            slice(-5, 0, -3),
            slice(9, -9, -2),
            slice(-9, 9, 2),
            slice(2, 1),
        ):
            np.testing.assert_array_equal(x[index].compute(scheduler="sync"), numbers[index])


def test_one_number_in_another_shape_is_broadcast_along_cut_axes() -> None:
    """Dask fuses a layer that adds axes to a number wrongly with those that broadcast it."""
    numbers = np.arange(24.0).reshape(4, 6)

    def together(x: Any) -> Any:
        x = tm.constant(x)
        total = np.reshape(np.sum(np.sin(x)), (1, 1))
        return np.sum(x * total + np.cos(total), axis=0)

    lazy = together(da.from_array(numbers, chunks=(2, 3)))
    np.testing.assert_allclose(lazy.compute(scheduler="sync"), together(numbers), rtol=1e-12)
