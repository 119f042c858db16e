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


READS: dict[str, Any] = {
    "elements": lambda x: x[0, 0] * x[1, 1] * x[0, 0],
    "rows": lambda x: np.sum(x[0] * x[1] * x[-1]),
    "columns": lambda x: np.sum(x[:, 0] * x[:, 1]),
    "slices": lambda x: np.sum(x[:, 1:] * x[:, :-1]),
    "masks": lambda x: np.sum(x[x.numpy().real > 0.3] ** 2),
    "repeats": lambda x: np.sum(x[[0, 1, 1], [2, 2, 2]] ** 2),
    "arrays around a slice": lambda x: np.sum(x[None][[0, 0], :, [1, 2]] ** 2),
    "take": lambda x: np.take(x, 1) * np.take(x, -2) * np.sum(np.take(x, [1, 1], axis=1)),
    "take_along_axis": lambda x: np.sum(np.take_along_axis(x, np.array([[2], [2]]), 1) ** 2),
    "compress": lambda x: np.sum(np.compress([True, False, True], x, axis=1) ** 2),
    "extract": lambda x: np.sum(np.extract(x.numpy().real > 0.3, x) ** 2),
    "diagonals": lambda x: np.sum(np.diagonal(x) * np.diagonal(x, 1)) * np.diagonal(x, -1)[0],
    "diagonals over outer axes": lambda x: np.sum(np.diagonal(x[:, None, :], 0, 0, 2) ** 2),
    "diag": lambda x: np.sum(np.diag(x, 1) ** 2),
    "loop": lambda x: sum(element**2 for row in x for element in row),
    "read and used whole": lambda x: np.sum(x**2) + x[0, 0] ** 2 + np.sum(x) + x[1, 2] ** 2,
    "part as a source": lambda x: sum((row := x[0])[k] * row[k] for k in range(3)),
    "parts of results": lambda x: sum((y := np.exp(x))[0, k] * y[1, k] for k in range(3)),
    "stacked": lambda x: np.sum(np.stack([x[0], x[1], x[0]]) ** 2),
    "split": lambda x: np.sum(np.split(x, 3, axis=1)[0] * np.split(x, 3, axis=1)[2]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("name", READS)
def test_parts_of_an_array(name: str, dtype: Any) -> None:
    """The gradients of parts meet in the array: first, second derivative and Jacobian agree, however they are found."""
    function = READS[name]
    x = tm.constant(np.linspace(0.1, 0.9, 6).reshape(2, 3).astype(dtype))
    with tm.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tm.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = function(x)
            rows = np.stack([y, 2 * y])
        recorded = tape.gradient(y, x)
        recorded_rows = tape.jacobian(rows, x)
    alone, again = tape.gradient(y, x), tape.gradient(y, x)
    step = 1e-6 * np.cos(np.arange(6)).reshape(2, 3)
    wide = x.numpy().astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    up, down = (function(tm.constant(wide + sign * step)).numpy() for sign in (1, -1))
    tolerance = 1e-6 if dtype is np.float32 else 1e-12

    assert alone.dtype == recorded.dtype == x.dtype
    np.testing.assert_array_equal(again, alone)
    np.testing.assert_allclose(recorded, alone, rtol=tolerance)
    for found in (tape.jacobian(rows, x), recorded_rows):
        np.testing.assert_allclose(found.numpy(), [alone, 2 * alone], rtol=tolerance)
    np.testing.assert_allclose(
        np.sum(np.conjugate(alone.numpy()) * step), (up - down) / 2, rtol=2e-5, atol=1e-12
    )
    hessian = outer.jacobian(recorded, x).numpy()
    in_a_direction = outer.gradient(recorded, x, output_gradients=step).numpy()
    np.testing.assert_allclose(
        np.einsum("ij,ijkl->kl", step, hessian), in_a_direction, rtol=10 * tolerance, atol=1e-12
    )


def test_parts_of_an_intermediate_source() -> None:
    """A result that is read in parts, and is a source itself, gets the sum of the parts' gradients, and so does x."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        z = 3.0 * x
        y = z[0] * z[1] + z[0]

    g_z, g_x = tape.gradient(y, [z, x])

    assert [7.0, 3.0] == g_z.tolist()
    assert [21.0, 9.0] == g_x.tolist()


def test_gradients_of_parts_are_arrays_of_their_own() -> None:
    """A cotangent that goes to several parts is added to each, and never written into."""
    weight = tm.constant([1.0, 2.0])
    a, b = tm.constant([1.0, 1.0, 1.0]), tm.constant([1.0, 1.0])
    with tm.GradientTape() as tape:
        tape.watch([a, b])
        y = a[:2] + b + a[1:]

    g_a, g_b = tape.gradient(y, [a, b], output_gradients=weight)

    assert [1.0, 3.0, 2.0] == g_a.tolist()
    assert [1.0, 2.0] == g_b.tolist() == weight.tolist()


def test_number_of_one_array_read_in_parts() -> None:
    """A number that is read by indexing, again and again, keeps being a number."""
    for nested in (False, True):
        x = tm.constant(3.0)
        with tm.GradientTape() as outer:
            outer.watch(x)
            with tm.GradientTape() as tape:
                tape.watch(x)
                y = x[()] * x[...] + np.sum(x[None]) + np.take(x, [0, 0])[1]
            g = tape.gradient(y, x) if nested else None
        g = g if nested else tape.gradient(y, x)

        assert () == g.shape
        assert 8.0 == g
