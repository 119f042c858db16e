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
from tapemagic.errors import ShapeError, UnsupportedArgumentError
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


@pytest.mark.thorough
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


def places() -> Any:
    """Whole numbers that are not computed, which are no tensor: NumPy's functions reach them with all their options."""
    return np.argmax(lazy(np.stack([X, -X, X % 5]), (1, 2, 4)), axis=0)


WHOLE = np.argmax(np.stack([X, -X, X % 5]), axis=0)

OPTIONS = {
    "ends of differences": lambda x: np.diff(x, prepend=-3, append=2.5),
    "slopes": lambda x: np.gradient(x, axis=1),
    "slopes along both axes": lambda x: np.gradient(x, 2.0, [0.0, 1, 3, 4], edge_order=2),
    "weights along an axis": lambda x: np.average(x, axis=0, weights=np.arange(6), returned=True),
    "an average without weights": lambda x: np.average(x, axis=0, returned=True, keepdims=True),
    "a median in place": lambda x: np.median(x.astype(float), axis=1, overwrite_input=True),
    "numbers for nan, in place": lambda x: np.nan_to_num(x.astype(float), copy=False),
    "a product in another dtype": lambda x: np.matmul(x.astype("i1") + 99, x.T + 99, dtype="i8"),
    "inner products of bytes": lambda x: np.vecdot(x.astype("u1") + 99, x.astype("u1") + 99),
    "an einsum of bytes": lambda x: np.einsum("ij->j", x.astype("u1") + 99),
    "a first number of a maximum": lambda x: np.maximum.reduce(x, axis=None, initial=7),
    "a masked reduction": lambda x: np.hypot.reduce(x, axis=1, where=X > 3),
    "weights of a quantile": lambda x: np.quantile(x, 0.4, 1, method="inverted_cdf", weights=X + 1),
    "a geometric series": lambda x: np.geomspace(1, x + 1, 3),
    "variances of too few numbers": lambda x: np.nanvar(x.astype(float), axis=0, ddof=9),
}
NUMPY = np.lib.NumpyVersion(np.__version__)
if NUMPY >= "2.4.0":
    OPTIONS["widths for an axis"] = lambda x: np.pad(x, {1: (1, 2)}, mode="edge")


@pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in OPTIONS.items()])
def test_options(f: Any) -> None:
    """None is lost on the way to the chunks."""
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        expected, found = f(WHOLE), f(places())
        computed = dask.compute(found, scheduler="synchronous")[0]
    for one, right in zip(np.atleast_1d(computed), np.atleast_1d(expected), strict=True):
        assert one.dtype == right.dtype
        np.testing.assert_allclose(one, right, rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: np.argmax(x, axis=(0, 1)), TypeError),
        (lambda x: np.cumsum(x, axis=(0,)), TypeError),
        (lambda x: np.add.accumulate(x, axis=None), ValueError),
        (lambda x: np.max(x, axis=0, where=X > 3), ValueError),
        (lambda x: np.std(x, axis=0, ddof=1, correction=1), ValueError),
        (lambda x: np.linalg.norm(x, "fro", axis=0), ValueError),
        (lambda x: np.linalg.norm(x, 3), ValueError),
        (lambda x: np.linalg.norm(x, "bad", axis=0), ValueError),
        (lambda x: np.nanmean(x, axis=0, dtype=int), TypeError),
        (lambda x: np.average(x, weights=[1, 2, 3]), TypeError),
        (lambda x: np.average(x, 0, np.zeros(6)).compute(), ZeroDivisionError),
        (lambda x: np.einsum("ij->j", x, dtype="f4"), TypeError),
        (lambda x: np.matmul(x, x.T, dtype="f4", casting="safe"), TypeError),
        (lambda x: np.vecdot(x, x[:, :1]), ValueError),
        (lambda x: np.compress([[1, 0], [0, 1]], x, axis=0), ValueError),
        (lambda x: np.take(x, [0], axis=0, mode="bad"), ValueError),
        (lambda x: np.tile(x, -1), ValueError),
        (lambda x: np.ravel(x, order="Z"), ValueError),
        (lambda x: np.reshape(x, -1, order="K"), ValueError),
        (lambda x: np.copy(x, order="Z"), ValueError),
        (lambda x: np.pad(x, 1, mode="edge", constant_values=2), ValueError),
        pytest.param(
            lambda x: np.full_like(x, 300, dtype="u1"),
            OverflowError,
            marks=pytest.mark.skipif(NUMPY < "2.1.0", reason="it takes what is left of 300"),
        ),
        (lambda x: x.astype("i4", casting="safe"), TypeError),
        (lambda x: np.split(x, 4), ValueError),
    ],
)
def test_wrong_options(f: Any, error: Any) -> None:
    """They are refused where NumPy refuses them, of tensors and of what is none."""
    for x in (lazy(chunks=(2, 3)), lazy(chunks=(2, 3))._value):
        with pytest.raises((error, UnsupportedArgumentError, ShapeError)):
            f(x)
    with pytest.raises(error):
        f(X)


@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd])
def test_a_mean_and_a_mask_in_memory(f: Any) -> None:
    """Options that are arrays have their own shapes in NumPy's trial of them."""
    numbers = np.random.default_rng(0).normal(size=(5, 3))
    options: dict[str, Any] = {"axis": 0, "where": numbers > -1, "mean": np.full((1, 3), 0.3)}
    found = f(lazy(numbers, ((2, 1, 2), (2, 1))), **options).compute(scheduler="synchronous")
    np.testing.assert_allclose(found, f(numbers, **options))
