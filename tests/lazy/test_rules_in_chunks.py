"""Rules that need numbers, run in each chunk; lookups at a lazy index; and what is said where something is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import NotComputedError, UnsupportedArgumentError
from tests.lazy.lazy_cases import compare, raising

RNG = np.random.default_rng(0)
MATRICES = RNG.normal(size=(4, 3, 3))
INDEX = RNG.integers(0, 5, size=(6, 2))


def lazy(x: Any, *chunks: Any) -> Any:
    """A tensor with a Dask array."""
    return tm.constant(da.from_array(x, chunks=chunks[0] if len(chunks) == 1 else chunks or -1))


def derivatives(f: Callable[[Any], Any], x: Any, order: int) -> Any:
    """The gradient of a loss of f, and that of its squared gradient, and so on."""
    with tm.GradientTape() as tape:
        tape.watch(x)
        if order == 1:
            z = f(x)
            # Unlike abs(z)**2, this has a second derivative where z is 0, as below the diagonal of qr.
            y = np.sum(np.real(z * np.conj(z)))
        else:
            y = np.sum(derivatives(f, x, order - 1) ** 2)
    return tape.gradient(y, x)


def check(f: Callable[[Any], Any], x: Any, pieces: Any, order: int) -> None:
    """Equal to NumPy's derivatives, and not computed before."""
    with dask.config.set(scheduler=raising):
        found = derivatives(f, pieces, order)
    numbers = found.compute(scheduler="synchronous").numpy()
    expected = derivatives(f, x, order).numpy()
    compare(numbers / np.max(np.abs(expected)), expected / np.max(np.abs(expected)), 1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_determinants(order: int) -> None:
    """A rule that chooses a way by the numbers, to any order."""
    check(np.linalg.det, tm.constant(MATRICES), lazy(MATRICES, 3, 3, 3), order)


def test_complex_decompositions() -> None:
    """Several results, gradients of complex numbers, and both orders."""
    x = MATRICES + 1j * MATRICES[::-1]
    for f in (lambda a: np.linalg.qr(a)[1], lambda a: np.linalg.svd(a)[1]):
        check(f, tm.constant(x), lazy(x, 1, 3, 3), 2)


def test_sums_over_chunks() -> None:
    """The gradient of what all chunks share."""
    fractions = tm.Variable([0.2, 0.7])
    x = lazy(MATRICES, 2, 3, 3)
    with tm.GradientTape() as tape:
        y = np.sum(np.quantile(x, fractions, axis=-1) ** 2)
    with tm.GradientTape() as plain:
        z = np.sum(np.quantile(MATRICES, fractions, axis=-1) ** 2)
    (found,) = dask.compute(tape.gradient(y, fractions), scheduler="synchronous")
    np.testing.assert_allclose(found, plain.gradient(z, fractions))


@pytest.mark.parametrize("rows", [lambda t, i: t[i], lambda t, i: np.take(t, i, axis=0)])
@pytest.mark.parametrize("order", [1, 2])
def test_lookups_in_a_table(rows: Any, order: int) -> None:
    """Parameters in memory at an index that is not computed, with the gradients of all chunks added up."""
    table, index = tm.Variable(RNG.normal(size=(5, 3))), lazy(INDEX, 2, 2)
    with dask.config.set(scheduler=raising):
        found = derivatives(lambda t: rows(t, index) ** 2, table, order)
    expected = derivatives(lambda t: rows(t, INDEX) ** 2, table, order)
    np.testing.assert_allclose(found.compute(scheduler="synchronous"), expected)


def test_a_lookup_beyond_the_table() -> None:
    """NumPy's error, when it is computed."""
    y = tm.Variable(np.ones((5, 3)))[lazy(INDEX + 3, 2, 2)]
    with pytest.raises(IndexError, match="out of bounds"):
        y.compute(scheduler="synchronous")


def test_running_products() -> None:
    """Along an axis in one chunk one call for each chunk, and refused along any other."""
    x = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
    check(lambda a: np.cumprod(a, axis=1), tm.constant(x), lazy(x, 1, 4), 2)

    with pytest.raises(UnsupportedArgumentError, match=r"np\.cumprod.*: its rule needs axis 1 of"):
        check(lambda a: np.cumprod(a, axis=1), tm.constant(x), lazy(x, 1, 2), 1)


def test_a_refused_gradient_says_what_and_where() -> None:
    """The operation, the line that recorded it, and the way out."""
    x = tm.constant(da.ones((4, 0), chunks=(2, 0)))
    with tm.GradientTape() as tape:
        tape.watch(x)
        r = np.linalg.qr(x)[1]
    with pytest.raises(
        UnsupportedArgumentError,
        match=r"np\.linalg\.qr, recorded on line \d+ \(r = np\.linalg\.qr\(x\)\[1\]\), .*rechunk\(\{0: -1\}\)",
    ):
        tape.gradient(r, x)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (np.fft.fftn, r"^np\.fft\.fftn needs axis 1 .*rechunk"),
        (np.linalg.svdvals, r"^np\.linalg\.svdvals needs axis 0"),
        (np.trim_zeros, r"^how many elements np\.trim_zeros gives"),
        (lambda x: x[x > 0], r"np\.where\(mask, x, 0\)"),
        (np.linalg.eigvals, r"eigvals\(np\.astype\(x, complex\)\)"),
        (np.emath.sqrt, r"np\.emath\.sqrt\(np\.astype\(x, complex\)\)"),
        (np.real_if_close, r"np\.real\(x\)"),
    ],
)
def test_functions_are_named_as_they_were_called(f: Any, text: str) -> None:
    """Not by what they call in turn."""
    with pytest.raises(UnsupportedArgumentError, match=text):
        f(lazy(np.eye(4) if f is not np.trim_zeros else np.ones(4), 2))


def test_no_bool_that_nobody_wrote() -> None:
    """A function that looks at numbers is named, and not its ``if``."""
    x = lazy(np.ones((3, 4)))
    with pytest.raises(
        NotComputedError, match=r"^np\.cov needs numbers.*distributed\.value_and_grad"
    ):
        np.cov(x, aweights=x[0])
    with pytest.raises(NotComputedError, match=r"^np\.poly, which gives real or complex"):
        np.poly(x[0])
    with pytest.raises(NotComputedError, match=r"^if, or bool\(\)"):
        bool(x[0, 0] > 0)


def test_complex_numbers_of_real_eigenvalue_problems() -> None:
    """Complex matrices have complex eigenvalues, whatever their numbers."""
    found = np.linalg.eigvals(np.astype(lazy(MATRICES, 2, 3, 3), complex))
    assert found.compute(scheduler="synchronous").dtype == found.dtype == np.complex128


def test_jacobians_of_many_tasks() -> None:
    """The number is told before the scheduler sees it."""
    x = lazy(np.ones((128, 32)), 8, 1)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(np.sin(x) * x**2, axis=0)
    with pytest.raises(
        UnsupportedArgumentError, match=r"about 200,704 tasks, and the limit is 100,000"
    ):
        tape.jacobian(y, x)
