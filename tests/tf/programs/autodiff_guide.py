"""Programs in the manner of TensorFlow's guide on automatic differentiation, without Keras."""

from __future__ import annotations

from typing import Any

import numpy as np


def a_scalar(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x**2
    print(tape.gradient(y, x).numpy())


def weights_and_a_bias(tf: Any) -> Any:
    w = tf.Variable([[0.5, -1.0], [2.0, 0.1], [0.3, 0.7]], name="w")
    b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
    x = [[1.0, 2.0, 3.0]]
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)
    dw, db = tape.gradient(loss, [w, b])
    parts = tape.gradient(loss, {"w": w, "b": b})
    print(w.shape, dw.shape)
    print(parts["b"])
    return [loss, dw, db, parts["w"]]


def constants_are_not_watched(tf: Any) -> Any:
    x0 = tf.Variable(3.0, name="x0")
    x1 = tf.Variable(3.0, name="x1", trainable=False)
    x2 = tf.Variable(2.0, name="x2") + 1.0
    x3 = tf.constant(3.0, name="x3")
    with tf.GradientTape() as tape:
        y = x0**2 + x1**2 + x2**2 + x3
    for g in tape.gradient(y, [x0, x1, x2, x3]):
        print(g)
    print([v.name for v in tape.watched_variables()])


def an_intermediate_value(tf: Any) -> Any:
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return [tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)]


def several_targets(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y0 = x**2
        y1 = 1 / x
    print(tape.gradient(y0, x).numpy(), tape.gradient(y1, x).numpy())
    return tape.gradient({"y0": y0, "y1": y1}, x)


def a_target_that_is_no_scalar(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * [3.0, 4.0]
    return tape.gradient(y, x)


def element_by_element(tf: Any) -> Any:
    x = tf.linspace(-10.0, 10.0, 201)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.sigmoid(x)
    slope = tape.gradient(y, x)
    return [y, slope, repr(slope[:3])]


def control_flow(tf: Any) -> Any:
    x = tf.constant(1.0)
    v0, v1 = tf.Variable(2.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        if x > 0.0:
            result = v0
        else:
            result = v1**2
    d0, d1 = tape.gradient(result, [v0, v1])
    print(d0, d1, tape.gradient(result, x))


def a_target_not_connected(tf: Any) -> Any:
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = y * y
    print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))


def a_variable_that_became_a_tensor(tf: Any) -> Any:
    x = tf.Variable(2.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = x + 1
        print(type(x).__name__, ":", tape.gradient(y, x))
        x = x + 1


def integers_have_no_gradient(tf: Any) -> Any:
    x = tf.constant(10)
    with tf.GradientTape() as g:
        y = x * x
    print(g.gradient(y, x), y.dtype)


def state_stops_gradients(tf: Any) -> Any:
    x0, x1 = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        x1.assign_add(x0)
        y = x1**2
    print(tape.gradient(y, x0))
    return [x1, x1.assign(1.0)]


def rounding_gives_none(tf: Any) -> Any:
    x = tf.Variable([1.4, 2.6])
    with tf.GradientTape(persistent=True) as tape:
        rounded = tf.round(x)
        floored = tf.floor(x)
        signs = tf.sign(x)
    return [tape.gradient(rounded, x), tape.gradient(floored, x), tape.gradient(signs, x)]


def zeros_where_nothing_is_connected(tf: Any) -> Any:
    x, y = tf.Variable([2.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = y**2
    found = tape.gradient(z, [x, y], unconnected_gradients="zero")
    print(found)


def gradient_descent(tf: Any) -> Any:
    x = tf.Variable(5.0)
    path = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            y = (x - 2.0) ** 2 + tf.sin(x)
        x.assign_sub(0.1 * tape.gradient(y, x))
        path.append(x.numpy())
    return path


def arrays_of_numpy(tf: Any) -> Any:
    a = np.array([1.0, 2.0])
    x = tf.Variable([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        left, right = a * x, x * a
        mixed = np.float64(2.0) * x + np.int64(1)
    return [left, right, mixed, tape.gradient(left, x), tape.gradient(mixed, x)]
