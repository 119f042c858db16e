"""What looks like bad input and is none: NaN and infinity, empty arrays, and what NumPy itself refuses."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.recording import live
from tests.bad_array_cases import NUMPY_REFUSES
from tests.conformance.programs import raised_by

INF, NAN = np.inf, np.nan

VALUES = {"x": [0.5, 1.0, 2.0], "m": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "s": 2.0}


def each(table: dict[str, Any]) -> Any:
    """One test for each row."""
    return pytest.mark.parametrize("case", table.values(), ids=table.keys())


# -- what NumPy refuses -----------------------------------------------------------------------------


@each(NUMPY_REFUSES)
@pytest.mark.parametrize("make", [tm.constant, tm.Variable])
def test_numpy_refuses(case: Callable[[Any], Any], make: Any) -> None:
    """NumPy's error comes through unchanged, and the tape goes on."""
    arrays = SimpleNamespace(**{name: np.array(value)[()] for name, value in VALUES.items()})
    arrays.s = np.array(2.0)
    tensors = SimpleNamespace(**{name: make(value) for name, value in VALUES.items()})
    expected = raised_by(lambda: case(arrays))

    with tm.GradientTape() as tape:
        tape.watch(vars(tensors))
        y = tensors.x * tensors.s
        error = raised_by(lambda: case(tensors))
        z = y * 3.0

    assert type(error) is type(expected)
    assert str(error) == str(expected)
    assert live() == ()
    assert [g.tolist() for g in tape.gradient(z, [tensors.x, tensors.s])] == [[6.0] * 3, 10.5]


@pytest.mark.parametrize("kept", [True, False])
def test_a_mask_of_one_number(kept: bool) -> None:
    """A single number is indexed like NumPy's array without axes."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y = x[np.array(kept)]
        z = np.sum(y * y)

    assert y.tolist() == np.array(2.0)[np.array(kept)].tolist()
    assert float(tape.gradient(z, x)) == (4.0 if kept else 0.0)


# -- NaN and infinity -------------------------------------------------------------------------------

Function = Callable[[Any], Any]

NON_FINITE: dict[str, tuple[Function, list[float], list[float]]] = {
    "a product": (lambda x: x * x, [NAN, INF, -INF, 2.0], [NAN, INF, -INF, 4.0]),
    "a product with infinity": (lambda x: x * INF, [0.0, 1.0, -1.0], [INF, INF, INF]),
    "a product with NaN": (lambda x: x * NAN, [0.0, INF], [NAN, NAN]),
    "a quotient by zero": (lambda x: 1.0 / x, [0.0, -2.0, INF], [-INF, -0.25, -0.0]),
    "a logarithm": (np.log, [0.0, -1.0, INF, NAN], [INF, -1.0, 0.0, NAN]),
    "a root": (np.sqrt, [0.0, -1.0, INF], [INF, NAN, 0.0]),
    "an exponential": (np.exp, [1000.0, -INF, INF, NAN], [INF, 0.0, INF, NAN]),
    "a sine": (np.sin, [INF, NAN], [NAN, NAN]),
    "a hyperbolic tangent": (np.tanh, [INF, -INF, NAN], [0.0, 0.0, NAN]),
    "a difference": (lambda x: x - INF, [INF, 1.0], [1.0, 1.0]),
    "a sum": (np.sum, [INF, -INF, 1.0], [1.0, 1.0, 1.0]),
    "a mean": (np.mean, [NAN, 1.0], [0.5, 0.5]),
    "the larger of two": (lambda x: np.maximum(x, 0.0), [INF, -INF, 2.0], [1.0, 0.0, 1.0]),
    "the largest": (np.max, [INF, 1.0], [1.0, 0.0]),
    "a choice": (lambda x: np.where(x > 0.0, x, 0.0), [NAN, INF, -INF], [0.0, 1.0, 0.0]),
    "a part": (lambda x: x[1:] * 2.0, [NAN, INF, 1.0], [0.0, 2.0, 2.0]),
    "a relu": (tm.relu, [INF, -INF, 2.0], [1.0, 0.0, 1.0]),
    "a sigmoid": (tm.sigmoid, [INF, -INF], [0.0, 0.0]),
    "a softplus": (tm.softplus, [INF, -INF], [1.0, 0.0]),
    "a softmax": (tm.softmax, [INF, 0.0], [0.0, 0.0]),
}


@each(NON_FINITE)
def test_non_finite(case: tuple[Function, list[float], list[float]]) -> None:
    """NaN and infinity are values like others: the value is NumPy's, the gradient the formula's, and nobody raises."""
    function, point, expected = case
    x = tm.Variable(point)
    with np.errstate(all="ignore"):
        with tm.GradientTape(persistent=True) as tape:
            y = function(x)
        value = function(np.array(point))
        gradients = [tape.gradient(y, x) for _ in range(2)]

    np.testing.assert_array_equal(y, value)
    for gradient in gradients:
        np.testing.assert_array_equal(gradient, expected)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_non_finite_weights(value: float) -> None:
    """Output gradients may be what they want."""
    x = tm.Variable([1.0, 2.0])
    with tm.GradientTape() as tape:
        y = 3.0 * x

    np.testing.assert_array_equal(tape.gradient(y, x, [value, 1.0]), [3.0 * value, 3.0])


@pytest.mark.parametrize("value", [NAN, INF])
def test_non_finite_variables(value: float) -> None:
    """A variable takes what is no number any more; that is how divergence shows."""
    v = tm.Variable([1.0, 2.0])

    v.assign([value, 1.0])
    v.assign_sub([1.0, 1.0])

    np.testing.assert_array_equal(v, [value, 0.0])


def test_non_finite_jacobian() -> None:
    """A NaN stays in its own place of a Jacobian."""
    x = tm.Variable([NAN, 2.0])
    with tm.GradientTape() as tape:
        y = x * x

    np.testing.assert_array_equal(tape.jacobian(y, x), [[NAN, 0.0], [0.0, 4.0]])


# -- empty arrays, and axes of length zero ----------------------------------------------------------

NO_ROWS: dict[str, Function] = {
    "a product": lambda x: x * x,
    "a sum with a row": lambda x: x + np.ones((1, 3)),
    "a matrix product": lambda x: x @ np.ones((3, 2)),
    "a product over nothing": lambda x: x.T @ x,
    "einsum": lambda x: np.einsum("ij,ij->j", x, x),
    "tensordot": lambda x: np.tensordot(x, x, axes=([0], [0])),
    "a sum": np.sum,
    "a sum along nothing": lambda x: np.sum(x, axis=0),
    "a product of all": np.prod,
    "a mean": lambda x: np.mean(x, axis=1),
    "a deviation": lambda x: np.std(x, axis=1),
    "the largest": lambda x: np.max(x, axis=1),
    "a median": lambda x: np.median(x, axis=1),
    "a running sum": lambda x: np.cumsum(x, axis=0),
    "a running product": lambda x: np.cumprod(x, axis=1),
    "a norm": np.linalg.norm,
    "norms": lambda x: np.linalg.norm(x, axis=1),
    "sorted": np.sort,
    "clipped": lambda x: np.clip(x, 0.0, 1.0),
    "chosen": lambda x: np.where(x > 0.0, x, 0.0),
    "a column": lambda x: x[:, 1],
    "under a mask": lambda x: x[x > 0.0],
    "at indices": lambda x: x[np.zeros(0, int)],
    "reshaped": lambda x: x.reshape(3, 0),
    "transposed": lambda x: x.T,
    "stacked": lambda x: np.stack([x, x]),
    "with a row below": lambda x: np.concatenate([x, np.ones((1, 3))]),
    "in parts": lambda x: np.split(x, 3, axis=1)[1],
    "repeated": lambda x: np.repeat(x, 2, axis=0),
    "tiled": lambda x: np.tile(x, (2, 2)),
    "padded": lambda x: np.pad(x, 1),
    "rolled": lambda x: np.roll(x, 1),
    "differences": lambda x: np.diff(x, axis=1),
    "a Fourier transform": lambda x: np.real(np.fft.fft(x, axis=1)),
    "a softmax": tm.softmax,
    "a logarithm of sums": lambda x: tm.logsumexp(x, axis=1),
    "a cross-entropy": lambda x: tm.softmax_cross_entropy(x, x),
    "normalized": tm.layer_norm,
    "shortened": lambda x: tm.clip_by_norm(x, 1.0),
    "gathered": lambda x: tm.gather(x, [0, 2], axis=1),
    "added up in segments": lambda x: tm.segment_sum(x, np.zeros(0, int), 2),
    "the two largest": lambda x: tm.top_k(x, 2).values,
    "dropped out": lambda x: tm.dropout(x, 0.5, np.random.default_rng(0)),
}


@each(NO_ROWS)
@pytest.mark.parametrize("persistent", [False, True])
def test_no_rows(case: Function, persistent: bool) -> None:
    """An array of no rows has a gradient of no rows, and Jacobians of the shape that they always have."""
    x = tm.Variable(np.zeros((0, 3)))
    value = case(np.zeros((0, 3)))

    def asked(method: str) -> Any:
        with tm.GradientTape(persistent) as tape:
            y = case(x)
        assert y.shape == value.shape
        np.testing.assert_array_equal(y, value)
        return getattr(tape, method)(y, x)

    assert asked("gradient").shape == (0, 3)
    assert asked("jacobian").shape == (*value.shape, 0, 3)
    if value.ndim >= 2 and value.shape[0] == 0:
        assert asked("batch_jacobian").shape == (0, *value.shape[1:], 3)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty_everywhere(shape: tuple[int, ...]) -> None:
    """Any axis may be the empty one, at any order."""
    x = tm.Variable(np.zeros(shape))
    with tm.GradientTape(persistent=True) as outer:
        with tm.GradientTape(persistent=True) as tape:
            y = np.sum(x * x)
        gradient = tape.gradient(y, x)

    assert gradient.shape == shape
    assert outer.jacobian(gradient, x).shape == shape + shape
    assert tm.hessian(lambda x: np.sum(x**3))(x).shape == shape + shape
    assert tm.hvp(lambda x: np.sum(x**3))(x, np.zeros(shape)).shape == shape
    assert tm.jvp(np.sin, (x,), (np.zeros(shape),))[1].shape == shape
    assert tm.check_gradients(np.sin, np.zeros(shape)).ok


@pytest.mark.parametrize(
    ("target", "source", "expected"),
    [
        ((0, 3), (0, 2), (0, 3, 2)),
        ((2, 0), (2, 3), (2, 0, 3)),
        ((2, 3), (2, 0), (2, 3, 0)),
        ((0, 0), (0, 0), (0, 0, 0)),
    ],
)
def test_empty_batches(target: Any, source: Any, expected: Any) -> None:
    """The Jacobians of no example, of no outputs, and of no inputs."""
    x = tm.Variable(np.ones(source))
    with tm.GradientTape() as tape:
        y = x @ np.ones((source[1], target[1]))

    assert tape.batch_jacobian(y, x).shape == expected


def test_empty_inner_axis() -> None:
    """A product over no terms is zeros, and has a gradient in both factors."""
    a, b = tm.Variable(np.zeros((2, 0))), tm.Variable(np.zeros((0, 3)))
    with tm.GradientTape(persistent=True) as tape:
        y = a @ b

    assert y.tolist() == [[0.0] * 3] * 2
    assert [g.shape for g in tape.gradient(y, [a, b])] == [(2, 0), (0, 3)]
    assert [g.shape for g in tape.jacobian(y, [a, b])] == [(2, 3, 2, 0), (2, 3, 0, 3)]


@np.errstate(all="ignore")
def test_the_mean_of_nothing() -> None:
    """It is NaN with NumPy's warning, and its gradient empty."""
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        value, gradient = tm.value_and_grad(np.mean)(np.zeros((0, 3)))

    assert np.isnan(value)
    assert gradient.shape == (0, 3)


def test_no_numbers_at_all() -> None:
    """No targets, no sources and no variables are no mistake."""
    x = tm.Variable(3.0)
    with tm.GradientTape(persistent=True) as tape:
        y = x * x

    assert tape.gradient([], x) is None
    assert tape.gradient([], {"x": x}, [], "zero") == {"x": 0.0}
    assert tape.gradient(y, []) == []
    assert tape.gradient(y, {}) == {}
    assert tape.jacobian(y, ()) == ()
    assert tm.constant([]).shape == (0,)
    assert tm.Variable([[]]).assign(np.zeros((1, 0))).shape == (1, 0)
    assert tape.gradient(y, x) == 6.0


def test_empty_custom_gradient() -> None:
    """A rule of one's own is not asked for no rows, and its gradients of nothing are checked like others."""
    asked = []

    @tm.custom_gradient
    def doubled(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            asked.append(upstream.shape)
            return 2.0 * upstream

        return 2.0 * x, grad

    x = tm.Variable(np.zeros((0, 3)))
    with tm.GradientTape(persistent=True) as tape:
        y = doubled(x)

    assert tape.gradient(y, x).shape == (0, 3)
    assert tape.jacobian(y, x).shape == (0, 3, 0, 3)
    assert asked == [(0, 3)]
