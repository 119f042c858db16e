"""Programs with functions that have gradients of their own."""

from __future__ import annotations

from typing import Any


def log1pexp(tf: Any) -> Any:
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    out = []
    for value in (0.0, 1.0, 100.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = log1pexp(x)
        out.append(tape.gradient(y, x))
    print(out[1])
    return out


def two_arguments(tf: Any) -> Any:
    @tf.custom_gradient
    def bar(x, y):
        def grad(upstream):
            dz_dx = y
            dz_dy = x
            return upstream * dz_dx, upstream * dz_dy

        return x * y, grad

    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        c = bar(a, b)
    print(type(c).__name__)
    return [c, tape.gradient(c, a), tape.gradient(c, b)]


def second_order(tf: Any) -> Any:
    @tf.custom_gradient
    def cube(x):
        def grad(dy):
            return dy * 3 * x * x

        return x * x * x, grad

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = cube(x)
        g = inner.gradient(y, x)
    return [g, outer.gradient(g, x)]


def with_variables(tf: Any) -> Any:
    weights = tf.Variable([1.0, 2.0], name="weights")

    @tf.custom_gradient
    def linear(x):
        def grad(dy, variables=None):
            return dy * weights, [tf.ones_like(v) * 10.0 for v in variables]

        return tf.reduce_sum(x * weights), grad

    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = linear(x)
    return tape.gradient(y, [x, weights])


def straight_through(tf: Any) -> Any:
    x = tf.Variable([0.2, 0.7, 1.6])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(3.0 * tf.grad_pass_through(tf.round)(x))
    return tape.gradient(y, x)


def recomputed(tf: Any) -> Any:
    w = tf.Variable(0.5)

    @tf.recompute_grad
    def block(x):
        return tf.tanh(x * w) ** 2

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(block(x))
    return tape.gradient(y, [x, w])


def methods(tf: Any) -> Any:
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @tf.custom_gradient
        def __call__(self, x):
            return x, lambda dy: dy * self.factor

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = Scaled(5.0)(x)
    return tape.gradient(y, x)


def stop_gradient(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * tf.stop_gradient(x**2)
    return tape.gradient(y, x)


def no_gradient_for_one(tf: Any) -> Any:
    @tf.custom_gradient
    def first(x, y):
        return x + y, lambda dy: (dy, None)

    x, y = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = first(x, y)
    return tape.gradient(z, [x, y])
