"""The cells of the first seed as they stand, without the one that needs Keras."""

from __future__ import annotations

from typing import Any

import numpy as np


def gradient_tapes(tf: Any) -> Any:
    w = tf.Variable(tf.random.normal((3, 2)), name="w")
    b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
    x = [[1.0, 2.0, 3.0]]

    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)

    [dl_dw, dl_db] = tape.gradient(loss, [w, b])

    # The gradient w.r.t. each source has the shape of the source:
    print(w.shape)
    print(dl_dw.shape)
    return [dl_db.shape, w.name, b]


def controlling_what_the_tape_watches(tf: Any) -> Any:
    # You can list the variables being watched by the tape using the GradientTape.watched_variables method:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**2
    # dy = 2x * dx
    dy_dx = tape.gradient(y, x)
    print(dy_dx.numpy())

    # A trainable variable
    x0 = tf.Variable(3.0, name="x0")
    # Not trainable
    x1 = tf.Variable(3.0, name="x1", trainable=False)
    # Not a Variable: A variable + tensor returns a tensor.
    x2 = tf.Variable(2.0, name="x2") + 1.0
    # Not a variable
    x3 = tf.constant(3.0, name="x3")

    with tf.GradientTape() as tape:
        y = (x0**2) + (x1**2) + (x2**2)

    grad = tape.gradient(y, [x0, x1, x2, x3])

    for g in grad:
        print(g)
    print([var.name for var in tape.watched_variables()])
    return grad


def watching_one_of_two(tf: Any) -> Any:
    x0 = tf.Variable(0.0)
    x1 = tf.Variable(10.0)

    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x1)
        y0 = tf.math.sin(x0)
        y1 = tf.nn.softplus(x1)
        y = y0 + y1
        ys = tf.reduce_sum(y)
    # Since GradientTape.watch was not called on x0, no gradient is computed with respect to it:
    # dy = 2x * dx
    grad = tape.gradient(ys, {"x0": x0, "x1": x1})

    print("dy/dx0:", grad["x0"])
    print("dy/dx1:", grad["x1"].numpy())
    return grad


def intermediate_results(tf: Any) -> Any:
    x = tf.constant(3.0)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y

    # Use the tape to compute the gradient of z with respect to the
    # intermediate value y.
    # dz_dx = 2 * y, where y = x ** 2
    print(tape.gradient(z, y).numpy())


def persistent(tf: Any) -> Any:
    x = tf.constant([1, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y

    print(tape.gradient(z, x).numpy())  # 108.0 (4 * x**3 at x = 3)
    print(tape.gradient(y, x).numpy())  # 6.0 (2 * x)


def none_of_an_unconnected_target(tf: Any) -> Any:
    # When a target is not connected to a source you will get a gradient of None.
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)

    with tf.GradientTape() as tape:
        z = y * y
    print(tape.gradient(z, x))


def a_variable_replaced_with_a_tensor(tf: Any) -> Any:
    x = tf.Variable(2.0)

    for epoch in range(2):
        with tf.GradientTape() as tape:
            y = x + 1

        print(type(x).__name__, ":", tape.gradient(y, x))
        x = x + 1  # This should be `x.assign_add(1)`


def calculations_outside_of_tensorflow(tf: Any) -> Any:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)

    with tf.GradientTape() as tape:
        x2 = x**2

        # This step is calculated with NumPy
        y = np.mean(x2, axis=0)

        # Like most ops, reduce_mean will cast the NumPy array to a constant tensor
        # using `tf.convert_to_tensor`.
        y = tf.reduce_mean(y, axis=0)

    print(tape.gradient(y, x))


def through_an_integer(tf: Any) -> Any:
    # The x0 variable has an `int` dtype.
    x = tf.Variable([[2, 2], [2, 2]])

    with tf.GradientTape() as tape:
        # The path to x1 is blocked by the `int` dtype here.
        y = tf.cast(x, tf.float32)
        y = tf.reduce_sum(x)

    print(tape.gradient(y, x))
