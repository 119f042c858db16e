"""SEMANTICS section 9: Tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tests.conformance.programs import agrees, differs, encode, raised_by, raises, recorded, refused


@agrees
def test_conversions(tf: Any) -> Any:
    """f'{t:.2f}', float, int, bool work."""
    t = tf.constant(2.5)
    return [
        f"{t:.2f}",
        float(t),
        int(t),
        bool(t),
        bool(tf.constant(0.0)),
        bool(tf.constant([1.0]) > 0.5),
    ]


@refused(ValueError)
def test_truth_of_a_vector(tf: Any) -> Any:
    """bool: scalar only, else ValueError."""
    return bool(tf.constant([1.0, 2.0]))


@refused(TypeError)
def test_float_of_a_vector(tf: Any) -> Any:
    """float: scalar only."""
    return float(tf.constant([1.0, 2.0]))


@agrees
def test_iteration(tf: Any) -> Any:
    """iteration and unpacking work, and are differentiable."""
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b, c = x
        y = a * b * b
        z = [element * element for element in x]
    return [y, c, tape.gradient(y, x), tape.gradient(z, x)]


@refused(TypeError)
def test_iteration_over_a_number(tf: Any) -> Any:
    """iteration: not over a number."""
    return list(tf.constant(1.0))


@agrees
def test_builtins(tf: Any) -> Any:
    """sum/max builtins work, and are differentiable."""
    x = tf.constant([1.0, 3.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        total, largest, smallest = sum(x * x), max(x), min(x)
    return [[y, tape.gradient(y, x)] for y in (total, largest, smallest)]


@agrees
def test_mask(tf: Any) -> Any:
    """bool-mask indexing works, and is differentiable."""
    x = tf.constant([1.0, 3.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[x > 1.5]
        z = y * y
    return [z, tape.gradient(z, x)]


@differs(
    tensorflow=raises("AttributeError"),
    tapemagic=[[[1.0, 0.0], [2.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], [[2.0, 4.0], [6.0, 8.0]]],
)
def test_array_methods(tf: Any) -> Any:
    """`.T/.sum()/.reshape()` are there and differentiable (missing in TensorFlow)."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    weight = np.array([[1.0, 2.0], [0.0, 0.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [x.T * weight, x.sum(), (x * x).reshape(4)]
    return [tape.gradient(y, x) for y in results]


@differs(tensorflow=raises("InvalidArgumentError"), tapemagic=[1.0, 0.0, 2.0])
def test_list_index(tf: Any) -> Any:
    """list fancy indexing works (missing in TensorFlow)."""
    tape, x, y = recorded(tf, lambda x: x[[0, 2, 2]], tf.constant([1.0, 2.0, 3.0]))
    return tape.gradient(y, x)


@differs(tensorflow=raises("AttributeError"), tapemagic=[0.5403023059, -0.4161468365])
def test_numpy_function(tf: Any) -> Any:
    """np.sin(tensor) stays on the tape (a plain array in TensorFlow, which is no target)."""
    tape, x, y = recorded(tf, np.sin, tf.constant([1.0, 2.0]))
    return tape.gradient(y, x)


@agrees
def test_array_on_the_left(tf: Any) -> Any:
    """ndarray on the left (a*x, a@x) is recorded."""
    x, a = tf.constant([1.0, 2.0]), np.array([3.0, 4.0])
    column, matrix = tf.constant([[1.0], [2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, column])
        results = [a * x, a + x, a - x, a / x, a**x, np.float64(2.0) * x, 2 * x, 2.0 - x]
        product = matrix @ column
    return [[[y, tape.gradient(y, x)] for y in results], tape.gradient(product, column)]


def test_result_is_a_tensor() -> None:
    """ndarray on the left: the result is a Tensor, not an array of objects."""
    x = tm.constant([1.0, 2.0])
    results = [np.ones(2) * x, np.ones((2, 2)) @ x, np.float64(1.0) - x, np.ones(2) ** x]

    assert [type(y) for y in results] == [tm.Tensor] * 4
    assert encode(results[1]) == [3.0, 3.0]


def test_strangers_are_refused() -> None:
    """Operands that hold no numbers give a TypeError, from both sides."""
    x = tm.constant([1.0, 2.0])
    errors = [
        raised_by(lambda: x + "word"),
        raised_by(lambda: object() * x),
        raised_by(lambda: x @ None),
    ]

    assert all(isinstance(error, TypeError) for error in errors)
