"""A program as users write it: `make types` checks it with mypy and pyright, and no type may be Any."""

from collections.abc import Callable
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import tapemagic as tm
from tapemagic.nn.symbolic import SymbolicTensor

x = tm.Variable([1.0, 2.0])
c = tm.constant(3.0)
matrix = tm.Variable(np.eye(2))
array = np.ones(2)

# Operators, on both sides.
assert_type(x * 2, tm.Tensor)
assert_type(2.0 / x, tm.Tensor)
assert_type(x + [1.0, 2.0], tm.Tensor)
assert_type(x - array, tm.Tensor)
assert_type(x @ x, tm.Tensor)
assert_type(np.float64(2.0) * x, tm.Tensor)
assert_type(-(x**2), tm.Tensor)
assert_type(abs(c) % 2, tm.Tensor)
assert_type(x > 0, NDArray[np.bool_])
assert_type(x == 1, NDArray[np.bool_])
assert_type(divmod(c, 2), tuple[tm.Tensor, tm.Tensor])

# Parts, methods and properties.
assert_type(c[None], tm.Tensor)
assert_type(x.T, tm.Tensor)
assert_type(x.sum(), tm.Tensor)
assert_type(x.argsort(), NDArray[np.intp])
assert_type(x.mean(axis=0, keepdims=True), tm.Tensor)
assert_type(x.reshape(2, 1).astype("float32").max(0), tm.Tensor)
assert_type([part * 2 for part in x], list[tm.Tensor])
assert_type(x.shape, tuple[int, ...])
assert_type(x.dtype.itemsize, int)
assert_type(x.numpy().tolist() is None, bool)
assert_type(float(c), float)
assert_type(x.assign_sub([0.1, 0.1]), tm.Tensor | None)

# NumPy's stubs say that its functions return arrays; `tm.constant` returns a tensor unchanged.
s: NDArray[np.float64] = np.sin(x)
assert_type(x * np.sin(x), tm.Tensor)
assert_type(tm.constant(np.sin(x)), tm.Tensor)

# Functions of this package.
assert_type(tm.relu(x), tm.Tensor)
assert_type(tm.softmax(x, axis=0), tm.Tensor)
assert_type(tm.logsumexp(c), tm.Tensor)
assert_type(tm.stop_gradient(x), tm.Tensor)


@tm.custom_gradient
def cube(v: tm.Tensor, factor: float = 1.0) -> tuple[tm.Tensor, Callable[[tm.Tensor], tm.Tensor]]:
    """The third power, with a gradient of its own."""
    return factor * v**3, lambda upstream: 3 * factor * upstream * v**2


cube_of: Callable[[tm.Tensor], object] = cube

# Tapes.
with tm.GradientTape(persistent=True) as tape:
    tape.watch(c)
    y = x * np.sin(x) * c
    total = np.sum(y)
    rows = matrix * matrix
assert_type(tape, tm.GradientTape)
assert_type(tape.gradient(y, x), tm.Tensor | None)
assert_type(tape.gradient(total, c), tm.Tensor | None)
assert_type(tape.gradient(s, s), tm.Tensor | None)
assert_type(tape.gradient(y, [x, x]), list[tm.Tensor | None])
assert_type(tape.gradient(y, (x, x)), tuple[tm.Tensor | None, ...])
assert_type(tape.gradient(y, {"x": x}), dict[str, tm.Tensor | None])
assert_type(tape.gradient(y, x, unconnected_gradients="zero"), tm.Tensor)
assert_type(
    tape.gradient(y, [x], unconnected_gradients=tm.UnconnectedGradients.ZERO), list[tm.Tensor]
)
assert_type(tape.jacobian(y, x), tm.Tensor | None)
assert_type(tape.batch_jacobian(rows, matrix), tm.Tensor)


# Derivatives of functions: arrays for arrays, tensors for tensors.
def rosenbrock(v: NDArray[np.float64]) -> np.float64:
    """The banana-shaped valley."""
    return np.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2)


assert_type(tm.grad(rosenbrock)(array), NDArray[np.float64])
assert_type(tm.grad(rosenbrock)(tm.constant(array)), tm.Tensor)
assert_type(tm.grad(lambda v: v * v)(2.0), np.float64)
assert_type(tm.grad(tm.grad(lambda v: v * v * v))(2.0), np.float64)
assert_type(tm.value_and_grad(rosenbrock)(tm.constant(array)), tuple[tm.Tensor, tm.Tensor])
assert_type(tm.jacobian(rosenbrock)(array), NDArray[np.float64])
assert_type(tm.hessian(rosenbrock)(array), NDArray[np.float64])
assert_type(tm.hvp(rosenbrock)(array, array), NDArray[np.float64])


# Programs keep the signature of the function.
@tm.function
def scaled(v: tm.Tensor, factor: float = 2.0) -> tm.Tensor:
    """Scale a tensor."""
    return v * factor


@tm.function(max_programs=2)
def first(v: tm.Tensor) -> tm.Tensor:
    """Take an element."""
    return v[0]


class Line:
    """A straight line."""

    def __init__(self) -> None:
        self.slope = tm.Variable(1.0)

    @tm.function
    def at(self, v: tm.Tensor) -> tm.Tensor:
        """Compute the height."""
        return self.slope * v


plain: Callable[[tm.Tensor, float], tm.Tensor] = scaled
assert_type(scaled(c, factor=3.0), tm.Tensor)
assert_type(first(c[None]), tm.Tensor)
assert_type(Line().at(c), tm.Tensor)
assert_type(scaled.why_eager, str)

# Networks.
model = tm.nn.Sequential([tm.nn.Dense(3, activation="relu"), tm.nn.Dense(1)])
model.compile("adam", tm.nn.losses.MeanSquaredError(), metrics=["mae"])
history = model.fit(np.ones((8, 2)), np.ones((8, 1)), epochs=1, verbose=0)
assert_type(history, tm.nn.callbacks.History)
assert_type(tm.nn.Dense(3), tm.nn.Dense)
assert_type(tm.nn.Dense(3)(tm.nn.Input((2,))), SymbolicTensor)
assert_type(tm.nn.Dense(3)(np.ones((1, 2))), tm.Tensor)
assert_type(model(np.ones((1, 2))), tm.Tensor)
assert_type(model.trainable_variables, list[tm.Variable])


class Twice(tm.nn.Model):
    """A model with parameters of other names than those of its base class."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = tm.nn.Dense(2)

    def call(self, x: tm.Tensor, training: bool = False) -> tm.Tensor:
        """Compute the output."""
        return self.dense(self.dense(x)) if training else self.dense(x)


class Scale(tm.nn.Layer):
    """A layer with a weight."""

    def build(self, input_shape: tuple[int, ...]) -> None:
        """Create the weight."""
        self.factor = self.add_weight(shape=input_shape[-1:], initializer="ones", name="factor")

    def call(self, inputs: tm.Tensor) -> tm.Tensor:
        """Compute the output."""
        return self.factor * inputs


assert_type(Twice()(np.ones((1, 2))), tm.Tensor)
assert_type(Scale()(np.ones((1, 2))), tm.Tensor)
optimizer = tm.nn.optimizers.Adam(0.1)
with tm.GradientTape() as tape:
    loss = tm.nn.losses.mean_squared_error(np.ones((8, 1)), model(np.ones((8, 2))))
gradients = tape.gradient(loss, model.trainable_variables)
assert_type(gradients, list[tm.Tensor | None])
assert_type(loss, tm.Tensor)
assert_type(tm.nn.losses.MeanSquaredError()(array, array), tm.Tensor)
assert_type(tm.nn.losses.binary_crossentropy(array, array), tm.Tensor)
optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

# TensorFlow's names.
tf = tm.tf
w = tf.Variable([1.0, 2.0])
assert_type(tf.math.sin(w), tf.Tensor)
assert_type(tf.constant(1.0) * w, tf.Tensor)
assert_type(w > 0, tf.Tensor)
assert_type(tf.reduce_sum(w * w), tf.Tensor)
assert_type(tf.split(w, 2)[0] is None, bool)
assert_type(tf.keras.layers.Dense(2), tf.keras.layers.Dense)
assert_type(tf.keras.optimizers.SGD(0.1), tf.keras.optimizers.SGD)
assert_type(tf.keras.Sequential([]), tf.keras.Sequential)
with tf.GradientTape() as tape:
    square = w * w
assert_type(tape.gradient(square, w), tf.Tensor | None)
