"""tf.function: programs where there can be some, and the same values in any case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import tf
from tapemagic.errors import EagerWarning


def trained(eagerly: bool) -> Any:
    """The values after some steps of Keras's classes, and the step."""
    tf.config.run_functions_eagerly(eagerly)
    assert tf.config.functions_run_eagerly() is eagerly
    tf.random.set_seed(0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, "relu"), tf.keras.layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(0.01)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_of(y, logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(y, logits)
        return loss

    losses = [step(X, Y) for _ in range(6)]
    values = [*losses, *model.variables, accuracy.result()]
    return [np.asarray(value.numpy()).tobytes() for value in values], step


RNG = np.random.default_rng(0)
X, Y = tf.constant(RNG.normal(size=(8, 2)), tf.float32), RNG.integers(0, 2, 8)


def test_a_step_of_keras_is_a_program_with_the_same_values() -> None:
    """A step of Keras is a program with the same values."""
    values, step = trained(eagerly=True)
    assert not step.programs
    found, step = trained(eagerly=False)
    assert found == values
    assert step.why_eager == ""
    assert len(step.programs) == 1
    text = step.source(X, Y)
    assert "# loss = loss_of(y, logits)" in text  # with its gradient, in one call
    assert "# back through: logits = model(x, training=True)" in text


def test_a_method_has_programs_for_each_object() -> None:
    """A method has programs for each object."""

    class Counter(tf.Module):
        def __init__(self, start: float) -> None:
            super().__init__()
            self.count = tf.Variable(start)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def add(self, x: Any) -> Any:
            self.count.assign_add(x)
            return self.count * 2.0

    a, b = Counter(1.0), Counter(10.0)
    assert [float(a.add(1.0)) for _ in range(4)] == [4.0, 6.0, 8.0, 10.0]
    assert [float(b.add(1.0)) for _ in range(4)] == [22.0, 24.0, 26.0, 28.0]
    assert len(a.add.programs) == len(b.add.programs) == 1


def test_numbers_and_arrays_become_tensors() -> None:
    """Numbers and arrays become tensors."""

    @tf.function
    def halved(x: Any) -> Any:
        assert tf.is_tensor(x)
        return {"half": x / 2, "number": 3}

    for k in range(4):
        found = halved(np.float32([k]))
        assert isinstance(found["half"], tf.Tensor)
        assert found["half"].numpy() == [k / 2]
        assert int(found["number"]) == 3
    assert len(halved.programs) == 1


def test_a_function_that_prints_does_so_when_it_is_traced(capsys: Any) -> None:
    """As in TensorFlow; under tm.function, it stays eager and prints at each call."""

    def told(x: Any) -> Any:
        print("called")  # noqa: T201
        return x + 1.0

    f = tf.function(told)
    assert [float(f(tf.constant(1.0))) for _ in range(3)] == [2.0] * 3
    assert capsys.readouterr().out == "called\n"
    assert len(f.programs) == 1
    strict = tm.function(told)
    with pytest.warns(EagerWarning, match="it prints"):
        assert [float(strict(tf.constant(1.0))) for _ in range(3)] == [2.0] * 3
    assert capsys.readouterr().out == "called\n" * 3


numbering: list[Any] = [
    lambda x: tf.argmax(x, 1),
    lambda x: tf.reduce_mean(tf.cast(tf.argmin(x, 1) == tf.constant([0, 1] * 4, tf.int64), tf.float32)),
    lambda x: tf.one_hot(tf.argmax(x, 1), 2),
    lambda x: (tf.argsort(x), tf.sort(x, direction="DESCENDING")),
    lambda x: (*tf.math.top_k(x, 1), tf.math.in_top_k(tf.argmax(x, 1), x, 1)),
    lambda x: (tf.math.count_nonzero(x > 0, 1), tf.math.zero_fraction(tf.nn.relu(x))),
    lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_a=True) + tf.eye(2)),
]  # fmt: skip


@pytest.mark.parametrize("f", numbering)
def test_what_gives_plain_numbers_is_part_of_a_program(f: Any) -> None:
    """Places, counts and orders are traced, though no tape follows them."""
    g = tf.function(f)
    for k in range(4):
        x = X * (-1.0) ** k + 0.1 * k
        found, wanted = tf.nest.flatten(g(x)), tf.nest.flatten(f(x))
        assert [y.numpy().tobytes() for y in found] == [y.numpy().tobytes() for y in wanted]
        assert [y.dtype for y in found] == [y.dtype for y in wanted]
    assert len(g.programs) == 1, g.why_eager


def test_lists_under_a_signature() -> None:
    """A list of numbers is one tensor where the signature has one, and several where it has a list."""
    vectors = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([None], tf.float32)])
    matrices = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    numbers = [tf.TensorSpec([], tf.float32)] * 2
    sums = tf.function(lambda parts: parts[0] + parts[1], input_signature=[numbers])

    assert vectors([1, 2.5]).numpy().tolist() == [2.0, 5.0]
    assert vectors((1.0,)).numpy().tolist() == [2.0]
    assert matrices([[1.0, 2.0], [3.0, 4.0]]).numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert float(sums([1.0, 2.0])) == 3.0
    with pytest.raises(TypeError, match="another structure than its input_signature"):
        sums([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="another structure than its input_signature"):
        sums(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"has shape \(2,\)"):
        matrices([1.0, 2.0])
