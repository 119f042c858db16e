"""Tensors and variables: no operation gives back a plain tensor or array where TensorFlow gives a tensor."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import packaging.version
import pytest

import tapemagic as tm
from tapemagic import tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])
V = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")


RESULTS = {
    "operators": lambda x: [x + 1, 1 - x, x * x, x / 2, x**2, -x, abs(x), x @ x, x % 2, x // 2, +x, 2**x],
    "comparisons": lambda x: [x > 1, x == V, x != 2, x <= V],
    "indices": lambda x: [x[0], x[0, 1], x[:, 0], x[..., None], x[x > 1], x[[1, 0]], next(iter(x)), list(x)],
    "methods": lambda x: [x.sum(), x.T, x.reshape(4), x.mean(0), x.astype(np.float64), x.argmax(), x.max(), x.copy()],
    "ufuncs": lambda x: [
        np.sin(x),
        np.add(x, 1),
        np.ones(2) * x,
        np.ones((2, 2)) @ x,
        np.greater(x, 1),
        np.add.reduce(x),
    ],
    "functions": lambda x: [
        np.sum(x),
        np.stack([x, x]),
        np.where(x > 1, x, 0),
        np.split(x, 2),
        np.argmax(x),
        np.linalg.svd(x),
    ],
    "others": lambda x: [round(x), divmod(x, 2), np.modf(x), np.real(x), x.real, sum(x), np.round(x), np.sort(x)],
}  # fmt: skip


def leaves(value: Any) -> list[Any]:
    """The parts of nested lists and tuples."""
    return [y for x in value for y in leaves(x)] if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("x", [X, V], ids=["tensor", "variable"])
@pytest.mark.parametrize("results", RESULTS.values(), ids=RESULTS)
def test_results_are_tensors_of_tensorflow(results: Any, x: Any) -> None:
    """Their type is called EagerTensor, as a notebook prints it."""
    found = leaves(results(x))

    assert {"EagerTensor"} == {type(y).__name__ for y in found}
    assert all(isinstance(y, tf.Tensor) or type(y).__name__ == "EagerTensor" for y in found)


def test_gradients_are_tensors_of_tensorflow_on_any_tape() -> None:
    """The tape of %%tape is not tf.GradientTape: a gradient has the class of its source's results."""
    with tm.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(V**2)
    found = [
        tape.gradient(y, V),
        tape.jacobian(y, V),
        tape.gradient(y, tf.constant(1.0), unconnected_gradients="zero"),
        tape.gradient(y, V, output_gradients=tf.constant(2.0)),
    ]

    assert {"EagerTensor"} == {type(g).__name__ for g in found}


def test_second_derivatives_are_tensors_of_tensorflow() -> None:
    """Also where an outer tape records the inner one's gradient."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(V**3)
        g = inner.gradient(y, V, output_gradients=tf.constant(1.0))
    hessian = outer.jacobian(g, V)

    assert "EagerTensor" == type(g).__name__ == type(hessian).__name__
    np.testing.assert_allclose(np.diag(6 * V.numpy().ravel()), hessian.numpy().reshape(4, 4))


def test_one_gradient_of_two_sources() -> None:
    """That of a sum is the same for both: an outer tape counts it twice."""
    a, b = tf.Variable(0.7), tf.Variable(0.4)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(a + b)
        by_a, by_b = inner.gradient(y, [a, b])
        z = by_a * by_a + by_b * by_b
    found = outer.gradient(z, [a, b])

    np.testing.assert_allclose([-2 * np.sin(2.2)] * 2, found, rtol=1e-5)


def test_numpy_stays_on_the_tape() -> None:
    """The difference from TensorFlow that is on purpose."""
    with tf.GradientTape() as tape:
        y = np.mean(np.sin(V))

    np.testing.assert_allclose(np.cos(V.numpy()) / 4, tape.gradient(y, V).numpy(), rtol=1e-6)


@pytest.mark.parametrize("x", [X, V, tf.constant(1 + 2j), tf.constant([True])])
def test_copies_are_of_the_same_kind(x: Any) -> None:
    """By copy and by pickle."""
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):  # noqa: S301 (its own)
        assert type(twin) is type(x)
        assert repr(twin) == repr(x)


def test_a_copied_variable_is_a_variable_of_its_own() -> None:
    """And has the same name."""
    twin = copy.deepcopy(V)
    twin.assign_add(tf.ones((2, 2)))

    assert ("v:0", 1.0) == (twin.name, V.numpy()[0, 0])


def test_assignments_can_be_chained() -> None:
    """What assign returns is the variable's new value, and can be assigned to."""
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v.assign_add(2.0).assign_sub(0.5) * 3.0

    assert (2.5, 3.0) == (v.numpy(), tape.gradient(y, v).numpy())
    assert "<tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=4.0>" == repr(v.assign(4))


def test_dtypes_stand_where_numpy_takes_one() -> None:
    """Also in its functions, and in comparisons with its own."""
    assert np.zeros(2, tf.float32).dtype == tf.float32 == np.float32 == X.dtype
    assert tf.float32 != "int32" != tf.float64
    assert tf.as_dtype("float64") is tf.float64 is tf.constant(np.ones(1)).dtype
    assert {tf.float32: 1}[X.dtype] == 1
    assert (tf.int8.min, tf.int8.max, tf.float16.limits[1]) == (-128, 127, np.finfo(np.float16).max)
    assert tf.complex64.real_dtype == tf.float32
    assert X.astype(tf.float64).dtype == tf.float64


def test_versions_parse() -> None:
    """As TensorFlow's and Keras's, which they follow, and they tell that this is neither."""
    for version, other in ((tf.__version__, "2.21.0"), (tf.keras.__version__, "3.15.0")):
        parsed = packaging.version.parse(version)
        assert parsed.public == other
        assert packaging.version.parse(other) <= parsed
        assert "tapemagic" in str(parsed.local)
    assert tf.version.VERSION == tf.__version__


def test_shapes() -> None:
    """They equal tuples and lists, and are accepted where these are, but are none."""
    shape = X.shape
    assert (2, 2) == shape == [2, 2]
    assert "TensorShape([2, 2])" == repr(shape)
    assert "(2, 2)" == str(shape)
    assert not isinstance(shape, tuple)
    assert hash(shape) == hash((2, 2))
    assert isinstance(shape[:1], tf.TensorShape)
    assert (2, 2, 3) == shape + [3] == (2,) + shape[1:] + (3,)  # noqa: RUF005
    assert tf.TensorShape([None, 2]).is_compatible_with(shape)
    assert tf.TensorShape([None]).num_elements() is None
    assert np.zeros(shape).shape == tf.zeros(shape).shape == tuple(shape)
