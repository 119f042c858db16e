"""Programs in the manner of TensorFlow's guide on basic training loops, without Keras."""

from __future__ import annotations

from typing import Any

import numpy as np


def linear_model(tf: Any) -> Any:
    class MyModel(tf.Module):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = tf.Variable(5.0)
            self.b = tf.Variable(0.0)

        def __call__(self, x):
            return self.w * x + self.b

    def loss(target_y, predicted_y):
        return tf.reduce_mean(tf.square(target_y - predicted_y))

    def train(model, x, y, learning_rate):
        with tf.GradientTape() as t:
            current_loss = loss(y, model(x))
        dw, db = t.gradient(current_loss, [model.w, model.b])
        model.w.assign_sub(learning_rate * dw)
        model.b.assign_sub(learning_rate * db)

    x = tf.linspace(-2.0, 2.0, 201)
    x = tf.cast(x, tf.float32)
    noise = np.random.default_rng(0).normal(size=201).astype("float32")
    y = 3.0 * x + 2.0 + 0.1 * noise
    model = MyModel()
    print("Variables:", model.variables)
    losses = []
    for epoch in range(10):
        train(model, x, y, learning_rate=0.1)
        losses.append(loss(y, model(x)))
        print(
            f"Epoch {epoch:2d}: W={model.w.numpy():1.2f} b={model.b.numpy():1.2f}, loss={losses[-1]:2.4f}"
        )
    return [losses, model.w, model.b]


def logistic_regression(tf: Any) -> Any:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2)).astype("float32")
    labels = (x[:, :1] + 2 * x[:, 1:] > 0.3).astype("float32")
    w, b = tf.Variable(tf.zeros((2, 1))), tf.Variable(0.0)
    for _ in range(40):
        with tf.GradientTape() as tape:
            logits = tf.matmul(x, w) + b
            each = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(each)
        for v, g in zip([w, b], tape.gradient(loss, [w, b])):
            v.assign_sub(0.5 * g)
    right = tf.cast(tf.sigmoid(x @ w + b) > 0.5, tf.float32) == labels
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    return [loss, w, b, accuracy]


def two_layers(tf: Any) -> Any:
    rng = np.random.default_rng(2)
    x = tf.constant(rng.normal(size=(30, 4)), tf.float32)
    labels = rng.integers(0, 3, 30)
    first = tf.Variable(rng.normal(size=(4, 8)).astype("float32") / 2)
    bias = tf.Variable(tf.zeros(8))
    second = tf.Variable(rng.normal(size=(8, 3)).astype("float32") / 2)
    variables = [first, bias, second]
    momenta = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
    losses = []

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.tanh(x @ first + bias)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden @ second)
            )
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        for v, m, g in zip(variables, momenta, gradients):
            m.assign(0.9 * m + g)
            v.assign_sub(0.1 * m)
        return loss, norm

    for _ in range(15):
        losses.append(step())
    return [losses, second]


def convolution(tf: Any) -> Any:
    rng = np.random.default_rng(3)
    images = tf.constant(rng.normal(size=(4, 6, 6, 1)), tf.float32)
    kernel = tf.Variable(rng.normal(size=(3, 3, 1, 2)).astype("float32"))
    dense = tf.Variable(rng.normal(size=(8, 2)).astype("float32"))
    with tf.GradientTape() as tape:
        y = tf.nn.relu(tf.nn.conv2d(images, kernel, strides=1, padding="VALID"))
        y = tf.nn.max_pool2d(y, ksize=2, strides=2, padding="VALID")
        y = tf.reshape(y, (4, -1)) @ dense
        loss = tf.reduce_sum(tf.nn.log_softmax(y)[:, 0])
    return [loss, tape.gradient(loss, [kernel, dense])]


def recurrence(tf: Any) -> Any:
    x = tf.reshape(tf.sin(tf.range(12.0)), (4, 3))
    w = tf.Variable(tf.reshape(tf.cos(tf.range(9.0)), (3, 3)) / 2)
    with tf.GradientTape() as tape:
        state = tf.zeros((1, 3))
        states = []
        for row in x:
            state = tf.tanh(state @ w + row)
            states.append(state)
        loss = tf.reduce_sum(tf.concat(states, axis=0) ** 2)
    return [loss, tape.gradient(loss, w)]


def newton_for_a_root(tf: Any) -> Any:
    x = tf.Variable(2.0, dtype=tf.float64)
    for _ in range(6):
        with tf.GradientTape() as tape:
            y = x**3 - 2 * x - 5
        x.assign_sub(y / tape.gradient(y, x))
    return x


def loops_as_functions(tf: Any) -> Any:
    x = tf.Variable(1.1)
    with tf.GradientTape(persistent=True) as tape:
        _, product = tf.while_loop(
            lambda i, y: i < 4, lambda i, y: (i + 1, y * x), (tf.constant(0), tf.constant(1.0))
        )
        chosen = tf.cond(product > 1.0, lambda: product * 2.0, lambda: product)
        sums = tf.scan(lambda a, b: a + b * x, tf.constant([1.0, 2.0, 3.0]))
        squares = tf.map_fn(lambda row: row * row * x, tf.constant([1.0, 2.0]))
    return [
        chosen,
        tape.gradient(chosen, x),
        sums,
        tape.gradient(sums, x),
        squares,
        tape.gradient(squares, x),
    ]
