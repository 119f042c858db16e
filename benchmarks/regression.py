"""Times the steps of a linear regression on 1,000 points, 10x + 5: ``python -m benchmarks.regression``.

Each step reads two variables, records the mean squared error, takes its gradients, and changes the variables: once by
hand with assign_sub, once by an optimizer. PyTorch and TensorFlow join in where they are installed; not both need be.
All is in single precision.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import tapemagic as tm
from benchmarks import threads
from benchmarks.run import medians
from benchmarks.workloads import TORCH, installed
from tapemagic import nn

TENSORFLOW = installed("tensorflow")
if TORCH:
    import torch
if TENSORFLOW:
    import keras
    import tensorflow as tf

RATE, STEPS = 0.01, 10_000
Step = Callable[[], Any]

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, 1000).astype("float32")
Y = 10 * X + 5 + RNG.normal(0, 0.5, 1000).astype("float32")


def with_numpy() -> Step:
    """NumPy, with the derivatives written by hand."""
    a, b = np.float32(0), np.float32(0)

    def step() -> Any:
        nonlocal a, b
        error = X * a + b - Y
        np.mean(np.square(error))
        a, b = a - RATE * np.mean(2 * error * X), b - RATE * np.mean(2 * error)
        return a, b

    return step


def with_tapemagic(optimizer: Any = None) -> Step:
    """The tape, with assign_sub or an optimizer."""
    a, b = tm.Variable(0.0, dtype="float32"), tm.Variable(0.0, dtype="float32")
    x, y = tm.constant(X), tm.constant(Y)

    def step() -> Any:
        with tm.GradientTape() as tape:
            loss = np.mean(np.square(a * x + b - y))
        da, db = tape.gradient(loss, [a, b])
        if optimizer is None:
            a.assign_sub(RATE * da)
            b.assign_sub(RATE * db)
        else:
            optimizer.apply_gradients([(da, a), (db, b)])
        return a, b

    return step


def with_torch(by_optimizer: bool) -> Step:
    """PyTorch's autograd, with subtraction in place or its optimizer."""
    a, b = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
    x, y = torch.tensor(X), torch.tensor(Y)
    optimizer = torch.optim.SGD([a, b], lr=RATE)

    def by_hand() -> Any:
        da, db = torch.autograd.grad(torch.mean(torch.square(a * x + b - y)), [a, b])
        with torch.no_grad():
            a.sub_(RATE * da)
            b.sub_(RATE * db)
        return a.detach(), b.detach()

    def step() -> Any:
        optimizer.zero_grad()
        torch.mean(torch.square(a * x + b - y)).backward()
        optimizer.step()
        return a.detach(), b.detach()

    return step if by_optimizer else by_hand


def with_tensorflow(optimizer: Any = None) -> Step:
    """TensorFlow, eagerly, with assign_sub or an optimizer of Keras."""
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    x, y = tf.constant(X), tf.constant(Y)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(a * x + b - y))
        da, db = tape.gradient(loss, [a, b])
        if optimizer is None:
            a.assign_sub(RATE * da)
            b.assign_sub(RATE * db)
        else:
            optimizer.apply_gradients([(da, a), (db, b)])
        return a, b

    return step


def by_assignment() -> dict[str, Step]:
    """The steps that change the variables by hand."""
    steps = {"NumPy": with_numpy(), "tapemagic": with_tapemagic()}
    if TORCH:
        steps["PyTorch"] = with_torch(by_optimizer=False)
    if TENSORFLOW:
        steps["TensorFlow"] = with_tensorflow()
    return steps


def by_optimizer() -> dict[str, Step]:
    """The steps that leave the change to an optimizer."""
    steps = {"NumPy": with_numpy(), "tapemagic": with_tapemagic(nn.optimizers.SGD(RATE))}
    if TORCH:
        steps["PyTorch"] = with_torch(by_optimizer=True)
    if TENSORFLOW:
        steps["TensorFlow"] = with_tensorflow(keras.optimizers.SGD(RATE))
    return steps


def agree(steps: dict[str, Step]) -> None:
    """Fail unless all find the same line after fifty steps."""
    for _ in range(50):
        found = {name: [float(value) for value in step()] for name, step in steps.items()}
    for name, line in found.items():
        np.testing.assert_allclose(line, found["NumPy"], rtol=1e-4, err_msg=name)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to time each way")
    threads.add_option(parser)
    options = parser.parse_args()
    threads.limit(options.threads)
    print("| the variables are changed by | library | a step, µs | 10,000 steps, s | × tapemagic |")
    print("|---|---|--:|--:|--:|")
    for way, prepare in (("assignment", by_assignment), ("an optimizer", by_optimizer)):
        steps = prepare()
        agree(steps)
        took = medians(steps, options.seconds)
        for name, time in took.items():
            ratio = time / took["tapemagic"]
            print(
                f"| {way} | {name} | {time:,.1f} | {time * STEPS / 1e6:.2f} | {ratio:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
