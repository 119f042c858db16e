"""Losses on Dask arrays and their gradients: hand-written, on a tape over all data, and on one for each partition.

The data are made anew at each reading, as if they came from a disk: `ROWS` rows of `COLUMNS` numbers a chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.graph_manipulation import clone

import tapemagic as tm

ROWS, COLUMNS, UNITS = 20_000, 256, 64
CHUNK = ROWS * COLUMNS * 8
"""The bytes of a chunk."""

Way = Callable[[Any, Any], Any]
"""Given X and y, the lazy loss and its gradients in the parameters; or both, computed."""


def _rows(block_info: Any = None) -> Any:
    start, stop = block_info[None]["array-location"][0]
    rows = np.arange(start, stop) % 997 / 997 - 0.5
    columns = np.arange(COLUMNS) % 31 / 31
    return rows[:, None] * columns + (columns - 0.5)


def _targets(block_info: Any = None) -> Any:
    start, stop = block_info[None]["array-location"][0]
    return np.arange(start, stop) % 13 / 13


def data(chunks: int, length: int = ROWS) -> tuple[Any, Any]:
    """X and y in `chunks` chunks of `length` rows."""
    rows = (length,) * chunks
    x = da.map_blocks(_rows, chunks=(rows, (COLUMNS,)), dtype=float, meta=np.empty((0, 0)))
    y = da.map_blocks(_targets, chunks=(rows,), dtype=float, meta=np.empty(0))
    return x, y


_random = np.random.default_rng(0)
W = _random.normal(size=COLUMNS) * 0.1
W1 = _random.normal(size=(COLUMNS, UNITS)) * 0.1
W2 = _random.normal(size=UNITS) * 0.1
BIAS, BIASES = 0.5, np.zeros(UNITS)
GAMMA, BETA, EPSILON = np.ones(UNITS), np.zeros(UNITS), 1e-3


def linear(params: Any, x: Any, y: Any) -> Any:
    """The mean squared error of a linear regression."""
    w, b = params
    return np.mean((x @ w + b - y) ** 2)


def linear_by_hand(x: Any, y: Any) -> Any:
    """The gradients of `linear`."""
    e = x @ W + BIAS - y
    g = e * (2 / len(y))
    return (e**2).mean(), x.T @ g, g.sum()


def network(params: Any, x: Any, y: Any) -> Any:
    """The mean squared error of a network with a hidden layer."""
    w1, b1, w2, b2 = params
    return np.mean((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)


def network_by_hand(x: Any, y: Any) -> Any:
    """The gradients of `network`."""
    h = da.tanh(x @ W1 + BIASES)
    e = h @ W2 + BIAS - y
    g = e * (2 / len(y))
    d = g[:, None] * W2 * (1 - h**2)
    return (e**2).mean(), x.T @ d, d.sum(0), h.T @ g, g.sum()


def root(params: Any, x: Any, y: Any) -> Any:
    """The root of the mean squared error of a linear regression."""
    w, b = params
    return np.sqrt(np.mean((x @ w + b - y) ** 2))


def root_by_hand(x: Any, y: Any) -> Any:
    """The gradients of `root`, for which the data are read twice."""
    loss = da.sqrt(((x @ W + BIAS - y) ** 2).mean())
    x, y = clone(x, y)
    g = (x @ W + BIAS - y) / (len(y) * loss)
    return loss, x.T @ g, g.sum()


def normalized(params: Any, x: Any, y: Any) -> Any:
    """The mean squared error of a network whose hidden layer is normalized over all data."""
    w1, gamma, beta, w2, b2 = params
    h = x @ w1
    z = (h - np.mean(h, axis=0)) / np.sqrt(np.var(h, axis=0) + EPSILON)
    return np.mean((np.tanh(z * gamma + beta) @ w2 + b2 - y) ** 2)


def normalized_by_hand(x: Any, y: Any) -> Any:
    """The gradients of `normalized`, for which the data are read three times."""
    n = len(y)
    h = x @ W1
    mean, deviation = h.mean(0), da.sqrt(h.var(0) + EPSILON)

    def there(x: Any, y: Any) -> Any:
        z = (x @ W1 - mean) / deviation
        a = da.tanh(z * GAMMA + BETA)
        e = a @ W2 + BIAS - y
        g = e * (2 / n)
        return z, a, e, g, g[:, None] * W2 * (1 - a**2)

    z, a, e, g, d = there(*clone(x, y))
    beta, gamma = d.sum(0), (d * z).sum(0)
    again, y_again = clone(x, y)
    z, _, _, _, d_again = there(again, y_again)
    dh = (d_again - beta / n - z * (gamma / n)) * (GAMMA / deviation)
    return (e**2).mean(), again.T @ dh, gamma, beta, a.T @ g, g.sum()


class Workload(NamedTuple):
    """A loss, the values of its parameters, its gradient by hand, and how often that reads the data."""

    loss: Callable[[Any, Any, Any], Any]
    values: tuple[Any, ...]
    by_hand: Way
    readings: int

    def on_tape(self, x: Any, y: Any) -> Any:
        """Loss and gradients by a tape over all data, lazy."""
        x, y = tm.constant(x), tm.constant(y)
        params = [tm.Variable(value) for value in self.values]
        with tm.GradientTape() as tape:
            loss = self.loss(params, x, y)
        return loss, *tape.gradient(loss, params)

    def on_partitions(self, x: Any, y: Any) -> Any:
        """Loss and gradients by a tape on each partition, computed."""
        params = [tm.constant(value) for value in self.values]
        loss, gradients = tm.distributed.value_and_grad(self.loss, (x, y))(params)
        return loss, *gradients


WORKLOADS = {
    "linear regression": Workload(linear, (W, BIAS), linear_by_hand, 1),
    "network, 64 units": Workload(network, (W1, BIASES, W2, BIAS), network_by_hand, 1),
    "root of the mean": Workload(root, (W, BIAS), root_by_hand, 2),
    "batch normalization": Workload(normalized, (W1, GAMMA, BETA, W2, BIAS), normalized_by_hand, 3),
}


def ways(name: str) -> dict[str, Way]:
    """What computes the gradients of a loss, by name."""
    workload = WORKLOADS[name]
    found = {"by hand": workload.by_hand, "tape": workload.on_tape}
    if workload.readings == 1:  # a mean over rows
        found["partitions"] = workload.on_partitions
    return found
