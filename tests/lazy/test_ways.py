"""What the rule table cannot show: names in graphs, chunks, arrays in memory, and what a box holds."""

from __future__ import annotations

import warnings
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.operations.primitive import primitive
from tapemagic.errors import UnsupportedArgumentError
from tests.lazy.lazy_cases import raising

X = np.arange(24.0).reshape(6, 4)


def lazy(x: Any = X, chunks: Any = (2, 4)) -> Any:
    """An array in pieces."""
    return tm.constant(da.from_array(x, chunks=chunks))


def test_a_number_is_not_the_place_of_an_array() -> None:
    """Dask tells apart np.where(True, x, 0) and np.where(True, 0, x)."""
    x = lazy()
    here, there = np.where(True, x, 0), np.where(True, 0, x)
    a, b = dask.compute(here, there, scheduler="synchronous")
    assert np.array_equal(a.numpy(), X)
    assert not np.any(b.numpy())


def test_reshaped_in_two_ways() -> None:
    """One array reshaped by Dask in large chunks, and by a tensor in small ones, in one graph."""
    x = da.from_array(np.arange(64.0).reshape(2, 32), chunks=(2, 1))
    flat = tm.constant(x).reshape(-1)
    both = dask.compute(flat, x.reshape(-1), scheduler="synchronous")
    for y in both:
        assert np.array_equal(np.asarray(y), np.arange(64.0))


def test_new_axes_are_cut_like_the_others() -> None:
    """The gradient of a sum over many rows is no array of one chunk."""
    x = lazy(np.ones((1000, 4)), (10, 4))
    with dask.config.set(scheduler=raising), tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x)
    assert tape.gradient(y, x).chunks == x.chunks


def test_repeated_numbers_do_not_become_whole_arrays() -> None:
    """A zero-stride view beside a lazy array stays one chunk's worth of numbers in the graph."""
    n = 1_000_000
    x = tm.constant(da.zeros((n, 8), chunks=(10_000, 8)))
    y = x + np.broadcast_to(np.arange(8.0), (n, 8))
    held = [
        part.nbytes
        for task in dict(y.__dask_graph__()).values()
        for part in getattr(task, "args", ())
        if isinstance(part, np.ndarray)
    ]
    assert max(held, default=0) <= 8 * 8
    assert y[0].compute().numpy().tolist() == list(range(8))


def test_large_arrays_in_memory_are_cut_like_their_partner() -> None:
    """Each task has its own part of the array."""
    values = np.ones((10_000, 8))
    y = tm.constant(da.zeros((10_000, 8), chunks=(100, 8))) * values
    assert y.chunks[0] == (100,) * 100


def test_addition_in_place_makes_a_new_value() -> None:
    """Whoever holds the one before keeps it."""
    x = lazy()
    before = x
    x += 1
    assert np.array_equal(before.compute(scheduler="synchronous").numpy(), X)
    assert np.array_equal(x.compute(scheduler="synchronous").numpy(), X + 1)


def test_masks_in_memory() -> None:
    """They say how many elements there are; lazy ones do not."""
    x, mask = lazy(), X[:, 0] > 8
    assert np.array_equal(x[mask].compute(scheduler="synchronous").numpy(), X[mask])
    with pytest.raises(UnsupportedArgumentError, match=r"np\.where"):
        x[x[:, 0] > 8]


@pytest.mark.parametrize("f", [np.var, np.std])
def test_numbers_in_memory_beside_a_lazy_option(f: Any) -> None:
    """The array may be in memory, and what is given for it not."""
    mean = da.from_array(np.array([1.0]), chunks=1)
    mask = da.from_array(X > 3, chunks=(2, 4))
    found = f([1.0, 2.0], mean=tm.constant(mean)), f(X, where=tm.constant(mask))
    computed = dask.compute(*found, scheduler="synchronous")
    expected = f([1.0, 2.0], mean=np.array([1.0])), f(X, where=X > 3)
    for one, right in zip(computed, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), right)


def test_functions_of_others_are_not_tried_out() -> None:
    """They might do anything with numbers of no meaning."""
    called = []

    @primitive
    def halves(x: Any) -> Any:
        called.append(x)
        return x / 2

    with pytest.raises(UnsupportedArgumentError, match=r"distributed\.map_blocks"):
        halves(lazy(X, -1))
    assert not called


def test_ties_of_argmax_across_chunks() -> None:
    """The first in NumPy's order, not in that of the chunks."""
    x = np.zeros((4, 4))
    x[0, 3] = x[2, 0] = 1
    (y,) = dask.compute(np.argmax(lazy(x, (2, 2))), scheduler="synchronous")
    assert int(y) == 3


def test_a_row_wise_function_along_a_cut_axis() -> None:
    """The error has the rechunk to write."""
    with pytest.raises(UnsupportedArgumentError, match=r"x\.rechunk\(\{0: -1\}\)"):
        np.sort(lazy(), axis=0)


TOTALS = [np.cumsum, np.cumprod, np.add.accumulate, np.nancumsum, np.sum, np.prod, np.mean, np.var]


@pytest.mark.parametrize("kind", ["f4", "c16", "i4"])
@pytest.mark.parametrize("dtype", [None, "f4", "f8", "c16", "i8"])
@pytest.mark.parametrize("f", TOTALS)
def test_the_dtype_of_totals(f: Any, dtype: Any, kind: str) -> None:
    """Sums in another precision, and of truncated numbers, across chunks of ragged lengths."""
    numbers = np.random.default_rng(0).normal(size=(5, 3)).astype(kind) * 3
    with warnings.catch_warnings(action="ignore"):
        for axis in (0, 1):
            x = lazy(numbers, ((2, 1, 2), (2, 1)))
            if f is np.var and dtype == "i8":
                with pytest.raises(UnsupportedArgumentError, match="leave the dtype out"):
                    f(x, axis=axis, dtype=dtype)
                continue
            expected, found = f(numbers, axis=axis, dtype=dtype), f(x, axis=axis, dtype=dtype)
            computed = found.compute(scheduler="synchronous").numpy()
            assert found.dtype == computed.dtype == expected.dtype
            np.testing.assert_allclose(computed, expected, 1e-4, 1e-5)
