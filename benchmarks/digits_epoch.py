"""Times an epoch of a convolutional network on scikit-learn's digits: ``python -m benchmarks.digits_epoch``.

Two convolutions, pooling and two dense layers, with Adam, on batches of 64 images of 8 × 8 in single precision, in
one process; the same with tapemagic.nn and with PyTorch, which keeps channels before height and width, its default.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import tapemagic as tm
from benchmarks import threads
from benchmarks.run import medians
from tapemagic import nn

Epoch = Callable[[], Any]
BATCH = 64
BOUND = 2.0
"""At most so many times PyTorch's time."""


def batches() -> Iterator[tuple[Any, Any]]:
    """The training set in one order, with an axis for the channel."""
    (images, labels), _ = nn.datasets.digits(normalize=True)
    for first in range(0, len(images), BATCH):
        part = slice(first, first + BATCH)
        yield images[part, ..., None], labels[part].astype(np.int64)


def layers() -> nn.Sequential:
    """The network of tapemagic.nn, with weights from a seed."""
    nn.set_random_seed(0)
    model = nn.Sequential(
        [
            nn.Conv2D(16, 3, padding="same", activation="relu"),
            nn.Conv2D(32, 3, padding="same", activation="relu"),
            nn.MaxPooling2D(),
            nn.Flatten(),
            nn.Dense(64, activation="relu"),
            nn.Dense(10),
        ]
    )
    model.build((None, 8, 8, 1))
    return model


def with_layers() -> Epoch:
    """Layers, a loss and an optimizer of tapemagic.nn."""
    model = layers()
    variables = model.trainable_variables
    loss_of = nn.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = nn.optimizers.Adam()
    data = list(batches())

    def epoch() -> float:
        for x, y in data:
            with tm.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return float(loss)

    return epoch


def with_pytorch() -> Epoch:
    """PyTorch's layers, loss and Adam, from the same weights."""
    parts = torch.nn
    model = parts.Sequential(
        parts.Conv2d(1, 16, 3, padding=1),
        parts.ReLU(),
        parts.Conv2d(16, 32, 3, padding=1),
        parts.ReLU(),
        parts.MaxPool2d(2),
        parts.Flatten(),
        parts.Linear(512, 64),
        parts.ReLU(),
        parts.Linear(64, 10),
    )
    with torch.no_grad():
        for parameter, weight in zip(model.parameters(), layers().get_weights(), strict=True):
            parameter.copy_(torch.tensor(_theirs(weight)))
    optimizer = torch.optim.Adam(model.parameters(), eps=1e-7)
    data = [
        (torch.tensor(np.ascontiguousarray(np.moveaxis(x, -1, 1))), torch.tensor(y))
        for x, y in batches()
    ]

    def epoch() -> float:
        for x, y in data:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return float(loss.detach())

    return epoch


def _theirs(weight: Any) -> Any:
    """A weight in PyTorch's order of axes and, after flattening, of channels."""
    if weight.ndim == 4:
        return weight.transpose(3, 2, 0, 1).copy()
    if weight.shape == (512, 64):
        weight = weight.reshape(4, 4, 32, 64).transpose(2, 0, 1, 3).reshape(512, 64)
    return weight.T.copy()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to time")
    threads.add_option(parser)
    options = parser.parse_args()
    threads.limit(options.threads)
    epochs = {"tapemagic.nn": with_layers(), "PyTorch": with_pytorch()}
    losses = [[epoch() for _ in range(3)] for epoch in epochs.values()]
    np.testing.assert_allclose(*losses, rtol=0.02)
    took = medians(epochs, options.seconds)
    ours, theirs = took["tapemagic.nn"] / 1e3, took["PyTorch"] / 1e3
    print("| tapemagic.nn, ms | PyTorch, ms | × PyTorch |\n|--:|--:|--:|")
    print(f"| {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} (≤ {BOUND}) |")


if __name__ == "__main__":
    main()
