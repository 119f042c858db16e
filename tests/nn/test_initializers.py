"""Initializers and regularizers beyond what is compared with Keras: seeds, shapes, dtypes and bad input."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.errors import (
    DtypeError,
    NotNumbersError,
    OptionError,
    ShapeError,
    UnsupportedArgumentError,
)
from tapemagic.nn import initializers, regularizers

RANDOM = [
    name for name in initializers.__all__ if name not in {"Constant", "Identity", "Initializer", "Ones", "Zeros", "get"}
]  # fmt: skip


@pytest.mark.parametrize("name", RANDOM)
def test_seeds(name: str) -> None:
    """A whole number gives the same numbers at each call; a generator goes on; None is the global generator."""
    kind = getattr(initializers, name)

    fixed = kind(seed=1)
    assert np.array_equal(fixed((4, 3)), fixed((4, 3)))
    pickled = pickle.loads(pickle.dumps(fixed))  # noqa: S301 (our own)
    assert np.array_equal(fixed((4, 3)), pickled((4, 3)))
    going = kind(seed=np.random.default_rng(1))
    assert np.array_equal(fixed((4, 3)), going((4, 3)))
    assert not np.array_equal(fixed((4, 3)), going((4, 3)))
    nn.set_random_seed(1)
    assert np.array_equal(fixed((4, 3)), kind()((4, 3)))
    assert not np.array_equal(fixed((4, 3)), kind()((4, 3)))


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes_and_shapes(name: str, dtype: str) -> None:
    """Numbers have the dtype, also of shapes without elements and with one axis, or none."""
    for shape in ((0, 3), (3, 0), (2, 3, 4, 5), *(() if name == "Orthogonal" else ((5,), ()))):
        found = getattr(initializers, name)()(shape, dtype)

        assert (shape, dtype) == (found.shape, found.dtype)


def test_default_dtype() -> None:
    """Without a dtype it is that of `nn.config.floatx`."""
    nn.config.set_floatx("float64")
    try:
        assert initializers.Zeros()((2,)).dtype == "float64"
    finally:
        nn.config.set_floatx("float32")


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 2, 4)])
def test_orthogonal_in_double_precision(shape: tuple[int, ...]) -> None:
    """The columns, or rows, are orthonormal to rounding."""
    q = initializers.Orthogonal(seed=1)(shape, "float64").reshape(-1, shape[-1])
    q = q if len(q) >= shape[-1] else q.T

    np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-14)


def test_names_and_arrays() -> None:
    """Names in both spellings, classes, objects, functions and arrays are initializers."""
    for name in ("he_normal", "HeNormal", initializers.HeNormal, initializers.HeNormal()):
        assert isinstance(initializers.get(name), initializers.HeNormal)
    layer = nn.layers.Dense(
        2,
        kernel_initializer=tm.constant([[1.0, 2.0]]),
        bias_initializer=lambda shape, dtype: np.full(shape, 3, dtype),
    )
    layer.build((None, 1))
    assert [[[1, 2]], [3, 3]] == [w.tolist() for w in layer.get_weights()]
    assert initializers.get(None) is regularizers.get(None) is None


@pytest.mark.parametrize(
    "regularizer",
    [
        regularizers.L1(0.5),
        regularizers.L2(0.5),
        regularizers.L1L2(0.1, 0.2),
        regularizers.OrthogonalRegularizer(0.5),
        regularizers.OrthogonalRegularizer(0.5, "columns"),
    ],
)
def test_penalties(regularizer: Any) -> None:
    """Derivatives are right to second order, and the dtype is that of the variable."""
    x = np.random.default_rng(0).normal(size=(4, 3))

    tm.check_gradients(regularizer, x)
    for dtype in ("float16", "float32", "float64"):
        assert regularizer(x.astype(dtype)).dtype == dtype


def test_one_row_is_orthogonal() -> None:
    """Without pairs of rows there is no penalty, and rows of 0 are orthogonal to all."""
    assert regularizers.OrthogonalRegularizer()([[1.0, 2.0]]) == 0
    assert regularizers.OrthogonalRegularizer()([[1.0, 2.0], [0.0, 0.0]]) == 0


BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "unknown length": (lambda: initializers.Zeros()((None, 2)), ShapeError, r"not \(None, 2\)"),  # type: ignore[arg-type]
    "negative length": (lambda: initializers.HeNormal()((-1, 2)), ShapeError, r"not \(-1, 2\)"),
    "text": (lambda: initializers.Ones()("ab"), ShapeError, "not 'ab'"),  # type: ignore[arg-type]
    "unknown dtype": (lambda: initializers.Zeros()((1,), "foo"), DtypeError, "foo"),
    "whole random numbers": (lambda: initializers.RandomNormal()((1,), "int32"), DtypeError, "int32"),
    "fraction": (lambda: initializers.Constant(1.5)((1,), "int32"), DtypeError, "1.5"),
    "constant": (lambda: initializers.Constant([1, 2, 3])((2,)), ShapeError, r"shape \(3,\) doesn't fit"),
    "no constant": (lambda: initializers.Constant(None), NotNumbersError, "None"),
    "identity": (lambda: initializers.Identity()((3,)), ShapeError, r"\(3,\)"),
    "orthogonal": (lambda: initializers.Orthogonal()((3,)), ShapeError, r"\(3,\)"),
    "array of another shape": (
        lambda: nn.layers.Dense(2, kernel_initializer=np.ones((3, 3))).build((None, 3)),
        ShapeError,
        r"returned the shape \(3, 3\)",
    ),
    "seed": (lambda: initializers.RandomNormal(seed=1.5), OptionError, "not 1.5"),
    "width": (lambda: initializers.TruncatedNormal(stddev=-1), OptionError, "stddev .* not -1"),
    "limits": (lambda: initializers.RandomUniform(1, 0), OptionError, "minval=1 and maxval=0"),
    "scale": (lambda: initializers.VarianceScaling(0), OptionError, "not 0"),
    "mode": (lambda: initializers.VarianceScaling(mode="in"), OptionError, "'fan_in'.* not 'in'"),
    "distribution": (lambda: initializers.VarianceScaling(distribution="flat"), OptionError, "not 'flat'"),
    "axes": (
        lambda: initializers.GlorotUniform(input_axes=(5,), output_axes=(0,))((2, 3)),
        np.exceptions.AxisError,
        "axis 5",
    ),
    "unknown name": (lambda: initializers.get("glorot_unifrom"), OptionError, "did you mean 'glorot_uniform'"),
    "negative factor": (lambda: regularizers.L2(-1), OptionError, "l2 .* not -1"),
    "infinite factor": (lambda: regularizers.L1(np.inf), OptionError, "l1 .* not inf"),
    "mode of vectors": (lambda: regularizers.OrthogonalRegularizer(mode="all"), OptionError, "'rows' or 'columns'"),
    "no matrix": (lambda: regularizers.OrthogonalRegularizer()(np.ones(2)), ShapeError, r"\(2,\)"),
    "complex": (lambda: regularizers.L2()(np.ones(2) * 1j), UnsupportedArgumentError, "real numbers"),
    "unknown regularizer": (lambda: regularizers.get("l11"), OptionError, "did you mean 'l1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str) -> None:
    """What is wrong is said with its value, and what to write instead."""
    call, error, words = BAD[case]

    with pytest.raises(error, match=words):
        call()
