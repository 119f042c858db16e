"""Times a training step of a dense network with Adam, in one process: ``python -m benchmarks.training_step``.

The network is 784-128-10 with relu and softmax cross-entropy, on batches of 128 images, in single precision. The same
step is written for hand-written NumPy, the bare tape with our Adam, tapemagic.nn, and PyTorch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tapemagic as tm
from benchmarks import threads
from benchmarks.network import data, gradients_by_hand
from benchmarks.run import medians
from tapemagic import nn

Step = Callable[[], Any]
BOUNDS = {"× NumPy": 1.4, "× the bare tape": 1.05, "× PyTorch": 1.0}


def by_hand() -> Step:
    """NumPy, with the derivatives written by hand, and Adam in place."""
    images, labels, weights = data()
    rows = np.arange(len(images))
    kept = [
        (np.zeros_like(w), np.zeros_like(w), np.empty_like(w), np.empty_like(w)) for w in weights
    ]
    steps = 0

    def step() -> list[Any]:
        nonlocal steps
        gradients = gradients_by_hand(weights, images, labels, rows)
        steps += 1
        alpha = np.float32(0.001 * np.sqrt(1 - 0.999**steps) / (1 - 0.9**steps))
        for w, gradient, (m, v, part, change) in zip(weights, gradients, kept, strict=True):
            adam(w, gradient, m, v, part, change, alpha)
        return weights

    return step


def adam(w: Any, g: Any, m: Any, v: Any, part: Any, change: Any, alpha: Any) -> None:
    """A step of Adam in place."""
    m *= 0.9
    np.multiply(g, 0.1, out=part)
    m += part
    v *= 0.999
    np.square(g, out=part)
    part *= 0.001
    v += part
    np.sqrt(v, out=part)
    part += 1e-7
    np.multiply(m, alpha, out=change)
    change /= part
    w -= change


def on_the_tape() -> Step:
    """The bare tape, with our Adam."""
    images, labels, weights = data()
    x = tm.constant(images)
    variables = [tm.Variable(w) for w in weights]
    optimizer = nn.optimizers.Adam()

    def step() -> list[Any]:
        w1, b1, w2, b2 = variables
        with tm.GradientTape() as tape:
            logits = tm.relu(x @ w1 + b1) @ w2 + b2
            loss = np.mean(tm.sparse_softmax_cross_entropy(labels, logits))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return [*variables]

    return step


def with_layers() -> Step:
    """Layers, a loss and an optimizer of tapemagic.nn."""
    images, labels, weights = data()
    x = tm.constant(images)
    model = nn.Sequential([nn.Dense(128, activation="relu"), nn.Dense(10)])
    model(x)
    model.set_weights(weights)
    variables = model.trainable_variables
    loss_of = nn.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = nn.optimizers.Adam()

    def step() -> list[Any]:
        with tm.GradientTape() as tape:
            loss = loss_of(labels, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return [*variables]

    return step


def as_a_program() -> Step:
    """The step of layers, a loss and an optimizer under tm.function."""
    return tm.function(with_layers())  # type: ignore[no-any-return]


def with_pytorch() -> Step:
    """PyTorch's layers, loss and Adam."""
    images, labels, weights = data()
    x, y = torch.tensor(images), torch.tensor(labels)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    with torch.no_grad():
        for parameter, w in zip(model.parameters(), weights, strict=True):
            parameter.copy_(torch.tensor(w.T))
    optimizer = torch.optim.Adam(model.parameters(), eps=1e-7)

    def step() -> list[Any]:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return [parameter.detach().numpy().T for parameter in model.parameters()]

    return step


STEPS = {
    "NumPy": by_hand,
    "the bare tape": on_the_tape,
    "tapemagic.nn": with_layers,
    "tm.function": as_a_program,
    "PyTorch": with_pytorch,
}


def agree(steps: dict[str, Step]) -> None:
    """Fail unless the weights move alike in ten steps; PyTorch adds epsilon elsewhere, so that some differ a little."""
    for _ in range(10):
        found = {name: [np.array(w) for w in step()] for name, step in steps.items()}
    for name, weights in found.items():
        for ours, right, first in zip(weights, found["NumPy"], data()[2], strict=True):
            apart = np.mean(np.abs(ours - right)) / np.mean(np.abs(right - first))
            assert apart < 0.1, f"{name} is {apart:.1%} of the way from NumPy"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to time")
    threads.add_option(parser)
    options = parser.parse_args()
    threads.limit(options.threads)
    steps = {name: prepare() for name, prepare in STEPS.items()}
    agree(steps)
    took = medians(steps, options.seconds)
    print("| " + " | ".join(f"{name}, µs" for name in took) + " | " + " | ".join(BOUNDS) + " |")
    print("|" + "--:|" * (len(took) + len(BOUNDS)))
    ratios = [
        f"{took['tapemagic.nn'] / took[bound[2:]]:.2f} (≤ {most})" for bound, most in BOUNDS.items()
    ]
    print("| " + " | ".join([*(f"{time:,.0f}" for time in took.values()), *ratios]) + " |")


if __name__ == "__main__":
    main()
