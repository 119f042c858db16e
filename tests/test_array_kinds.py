"""Beside tensors: arrays that compute otherwise, and arguments about which NumPy does not ask tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import ImmutableError, UnsupportedArgumentError
from tests.conformance.programs import encode, raised_by

MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]])


def gradient_of(function: Any, point: Any = MATRIX) -> Any:
    """The gradient of a function of one tensor."""
    x = tm.constant(point)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return encode(tape.gradient(y, x))


# -- other kinds of arrays -------------------------------------------------------------------------

MASKED = np.ma.array(MATRIX, mask=[[False, True], [False, False]])
KINDS = {
    "matrix": (MATRIX.view(np.matrix), "np.asarray(m), and @"),
    "masked": (MASKED, "ma.filled(0.0)"),
    "another": (MATRIX.view(type("Own", (np.ndarray,), {})), "np.asarray(x)"),
}
BESIDE: list[Any] = [
    lambda t, m: t * m,
    lambda t, m: t @ m,
    lambda t, m: t**m,
    lambda t, m: t % m,
    lambda t, m: t < m,
    lambda t, m: t == m,
    np.multiply,
    lambda t, m: np.multiply(m, t),
    np.maximum,
    np.dot,
    lambda t, m: np.dot(m, t),
    lambda t, m: np.where(m > 0, t, 0.0),
    lambda t, m: np.concatenate([t, m]),
    lambda t, m: np.average(t, weights=m),
    lambda t, m: np.cov(t, aweights=m[0]),
    np.isclose,
    lambda t, m: np.mean(t - m),
    lambda t, m: np.einsum("ij,ij", t, m),
    np.linalg.solve,
    lambda _t, m: tm.constant(m),
    lambda _t, m: tm.Variable(m),
    lambda t, m: tm.Variable(t).assign(m),
]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("make", [tm.constant, tm.Variable])
@pytest.mark.parametrize("call", BESIDE)
def test_other_kinds_of_arrays(name: str, make: Any, call: Any) -> None:
    """Matrices and masked arrays, which compute otherwise than arrays, are refused beside tensors."""
    other, advice = KINDS[name]
    error = raised_by(lambda: call(make(MATRIX), other))

    assert isinstance(error, UnsupportedArgumentError)
    assert advice in str(error)


def test_matrices_on_the_left() -> None:
    """The operators of np.matrix, and of other kinds, are not asked either."""
    t, m, own = tm.constant(MATRIX), KINDS["matrix"][0], KINDS["another"][0]
    errors = [raised_by(lambda: m * t), raised_by(lambda: m + t), raised_by(lambda: m @ t)]
    errors += [raised_by(lambda: own * t), raised_by(lambda: own > t)]

    assert all(isinstance(error, UnsupportedArgumentError) for error in errors)


def test_memory_maps_are_arrays(tmp_path: Any) -> None:
    """An array in a file computes as any array does."""
    file = np.memmap(tmp_path / "file", dtype=float, shape=(2, 2), mode="w+")
    file[:] = MATRIX

    assert gradient_of(lambda x: file * x + x * file) == (2 * MATRIX).tolist()
    assert gradient_of(lambda x: np.dot(x, file)) == [[3.0, 7.0], [3.0, 7.0]]
    assert tm.constant(file).tolist() == MATRIX.tolist()


# -- tensors in arguments that NumPy does not ask about ---------------------------------------------

ROW = np.array([1.0, 2.0, 4.0])
BEHIND: dict[str, Any] = {
    "full_like": np.full_like,
    "nan_to_num": lambda a, t: np.nan_to_num(a, nan=t),
    "unwrap": lambda a, t: np.unwrap(a, period=t),
    "nanvar": lambda a, t: np.nanvar(a, mean=t),
    "nanstd": lambda a, t: np.nanstd(a, mean=t),
    "var": lambda a, t: a.var(mean=t),
    "std": lambda a, t: a.std(mean=t),
    "histogram": lambda a, t: np.histogram(a, 2, range=(0.0, t))[1],
}
if np.lib.NumpyVersion(np.__version__) < "2.4.0":  # there NumPy converts the mean to an array first
    del BEHIND["var"], BEHIND["std"]


@pytest.mark.parametrize("name", BEHIND)
def test_a_tensor_behind_an_array(name: str) -> None:
    """The error says that the first argument has to be a tensor; with one, there is a gradient."""
    t, gaps = tm.constant(0.5), np.array([1.0, np.nan, 4.0])
    with tm.GradientTape() as tape:
        tape.watch(t)
        error = raised_by(lambda: BEHIND[name](ROW if name == "histogram" else gaps, t))

    assert isinstance(error, UnsupportedArgumentError)
    assert str(error).startswith(f"NumPy's {name} only looks for tensors in its first argument")
    assert "tapemagic.constant(" in str(error)
    assert gradient_of(lambda t: BEHIND[name](tm.constant(ROW), t), 0.5) is not None


def test_writing_of_the_user_is_another_matter() -> None:
    """Where NumPy calls a function of the user, it is the user who writes."""

    def write(row: Any) -> Any:
        row[0] = 1.0
        return row

    error = raised_by(lambda: np.apply_along_axis(write, 0, tm.constant(MATRIX)))

    assert isinstance(error, ImmutableError)
    assert "np.where" in str(error)
