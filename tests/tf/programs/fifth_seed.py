"""What the fifth seed describes in words: the methods of the tape, and two regressions."""

from __future__ import annotations

from typing import Any

import numpy as np


def cube(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
    print(tape.gradient(y, x).numpy())


def not_trainable(tf: Any) -> Any:
    x = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = x**3
    return tape.gradient(y, x)


def higher_orders(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    return [first, second]


def consumed(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x**3
    print(tape.gradient(y, x).numpy())
    try:
        tape.gradient(y, x)
    except RuntimeError:
        print("RuntimeError")


def twice(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x**3
    print(tape.gradient(y, x).numpy())
    print(tape.gradient(y, x).numpy())


def stop_recording(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x**2
        with tape.stop_recording():
            first = tape.gradient(y, x)
            aside = x * 10.0
        z = y * 3.0 + aside
    return [first, tape.gradient(z, x), [v.name for v in tape.watched_variables()]]


def jacobian_reset_and_watched(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        rows = tape.jacobian(y, x)
        tape.reset()
        tape.watch(x)
        z = x * 3.0
    return [rows, tape.gradient(z, x), tape.gradient(y, x)]


def linear_regression(tf: Any) -> Any:
    """10x + 5, in fewer steps than the seed takes."""
    a, b = tf.Variable(0.25), tf.Variable(-0.5)
    rng = np.random.default_rng(0)
    for _ in range(300):
        x = tf.constant(rng.uniform(-1, 1, 20).astype("float32"))
        y = 10 * x + 5
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.square(a * x + b - y))
        da, db = tape.gradient(error, [a, b])
        a.assign_sub(0.1 * da)
        b.assign_sub(0.1 * db)
    print(f"y ≈ {a.numpy():.3f}x + {b.numpy():.3f}")
    return [a, b]


def polynomial_regression(tf: Any) -> Any:
    coefficients = [tf.Variable(0.0) for _ in range(3)]
    x = tf.linspace(-1.0, 1.0, 21)
    y = 6 * x**2 + 8 * x + 2
    for _ in range(200):
        with tf.GradientTape() as tape:
            a, b, c = coefficients
            error = tf.reduce_mean(tf.abs(a * x**2 + b * x + c - y) ** 2)
        for v, g in zip(coefficients, tape.gradient(error, coefficients)):
            v.assign_sub(0.2 * g)
    return coefficients
