"""Jacobians and Hessians: times every library in one process, and prints ratios: ``python -m benchmarks.matrices``.

Of PyTorch's ways (torch.func, and torch.autograd.functional, with and without vectorize) the fastest counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tapemagic as tm
from benchmarks import threads
from benchmarks.formulas import hessian, hessian_by_hand, rosenbrock
from benchmarks.run import agree, medians
from benchmarks.workloads import AUTOGRAD, TORCH, Runs, installed

TENSORFLOW = installed("tensorflow")
if TENSORFLOW:
    import tensorflow as tf
if TORCH:
    import torch
    from torch.autograd.functional import hessian as torch_hessian
    from torch.autograd.functional import jacobian as torch_jacobian
if AUTOGRAD:
    import autograd
    import autograd.numpy as anp


def hessian_of_rosenbrock(size: int) -> Runs:
    """The Hessian of Rosenbrock's function."""
    start = np.linspace(0.5, 1.5, size)
    x = tm.constant(start)

    runs: Runs = {"numpy": lambda: hessian_by_hand(start), "tapemagic": partial(hessian, x)}
    if TORCH:
        t = torch.tensor(start)
        runs["torch.func"] = partial(torch.func.hessian(rosenbrock), t)
        runs["torch"] = partial(torch_hessian, rosenbrock, t, vectorize=True)
    if AUTOGRAD and size <= 100:
        runs["autograd"] = partial(autograd.hessian(rosenbrock), start)
    if TENSORFLOW and size <= 100:
        v = tf.Variable(start)

        def tensorflow_run() -> Any:
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    y = tf.reduce_sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2)
                g = inner.gradient(y, v)
            return outer.jacobian(g, v)

        runs["tensorflow"] = tensorflow_run
    return runs


def dense_kernel() -> Runs:
    """The Jacobian of a layer of 10 units with relu, on a batch of 7×5, with respect to its kernel."""
    rng = np.random.default_rng(0)
    batch, weights, bias = rng.normal(size=(7, 5)), rng.normal(size=(5, 10)), rng.normal(size=10)
    x, w, b = tm.constant(batch), tm.Variable(weights), tm.Variable(bias)

    def ours() -> Any:
        with tm.GradientTape() as tape:
            y = tm.relu(x @ w + b)
        return tape.jacobian(y, w)

    def hand() -> Any:
        slope = batch @ weights + bias > 0
        return np.einsum("nk,ni,kj->nkij", slope, batch, np.eye(10))

    runs: Runs = {"numpy": hand, "tapemagic": ours}
    if TORCH:
        tx, tw, tb = map(torch.tensor, (batch, weights, bias))
        layer = lambda w: torch.relu(tx @ w + tb)  # noqa: E731
        runs |= torch_ways(layer, tw)
    if AUTOGRAD:
        jacobian = autograd.jacobian(lambda w: anp.maximum(anp.dot(batch, w) + bias, 0))
        runs["autograd"] = partial(jacobian, weights)
    if TENSORFLOW:
        fx, fw, fb = tf.constant(batch), tf.Variable(weights), tf.Variable(bias)

        def tensorflow_run() -> Any:
            with tf.GradientTape() as tape:
                y = tf.nn.relu(fx @ fw + fb)
            return tape.jacobian(y, fw)

        runs["tensorflow"] = tensorflow_run
    return runs


def elementwise() -> Runs:
    """The Jacobian of sin(x)·exp(-x²) at 1,000 points."""
    points = np.linspace(-3, 3, 1000)
    x = tm.constant(points)

    def formula(x: Any, lib: Any) -> Any:
        return lib.sin(x) * lib.exp(-x * x)

    def ours() -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = formula(x, np)
        return tape.jacobian(y, x)

    def hand() -> Any:
        return np.diag((np.cos(points) - 2 * points * np.sin(points)) * np.exp(-points * points))

    runs: Runs = {"numpy": hand, "tapemagic": ours}
    if TORCH:
        runs |= torch_ways(partial(formula, lib=torch), torch.tensor(points))
    if TENSORFLOW:
        v = tf.Variable(points)

        def tensorflow_run() -> Any:
            with tf.GradientTape() as tape:
                y = formula(v, tf)
            return tape.jacobian(y, v)

        runs["tensorflow"] = tensorflow_run
    return runs


def torch_ways(function: Callable[..., Any], x: Any) -> Runs:
    """PyTorch's ways to a Jacobian, but for the one that walks row by row in Python."""
    return {
        "torch.func": partial(torch.func.jacrev(function), x),
        "torch": partial(torch_jacobian, function, x, vectorize=True),
    }


WORKLOADS: dict[str, tuple[Callable[[], Runs], dict[str, float]]] = {
    "Hessian of Rosenbrock, 50": (
        partial(hessian_of_rosenbrock, 50),
        {"torch.func": 8, "autograd": 25},
    ),
    "Hessian of Rosenbrock, 500": (partial(hessian_of_rosenbrock, 500), {"torch.func": 1}),
    "Jacobian of Dense(10) in its kernel": (dense_kernel, {"PyTorch": 3, "tensorflow": 20}),
    "Jacobian elementwise, 1,000 points": (elementwise, {"PyTorch": 3, "tensorflow": 20}),
}
"""The workloads, and how many times faster than others they are to be."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="how long to time each workload"
    )
    threads.add_option(parser)
    options = parser.parse_args()
    threads.limit(options.threads)
    libraries = ("numpy", "tapemagic", "torch.func", "torch", "autograd", "tensorflow")
    print("| workload | " + " | ".join(libraries) + " | times faster than |")
    print("|---|" + "--:|" * len(libraries) + "---|")
    for name, (prepare, bounds) in WORKLOADS.items():
        runs = prepare()
        agree(runs)
        took = medians(runs, options.seconds)
        ways = [took[way] for way in ("torch.func", "torch") if way in took]
        if ways:
            took["PyTorch"] = min(ways)
        cells = [f"{took[library]:,.1f}" if library in took else "–" for library in libraries]
        faster = [
            f"{other} {took[other] / took['tapemagic']:.1f} (≥ {bound})"
            for other, bound in bounds.items()
            if other in took
        ]
        print(f"| {name} | " + " | ".join(cells) + f" | {', '.join(faster)} |", flush=True)


if __name__ == "__main__":
    main()
