"""The workloads, each written once for every library that can run it.

A workload is a function that prepares its data and returns, for each library, a function of no arguments
that gives the gradients as NumPy arrays or numbers. Parameters are made once, outside of what is timed, in
every library; what is timed is the forward computation and the gradients.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tapemagic as tm
from benchmarks.formulas import SMALL, rounds, rounds_by_hand, third

Runs = dict[str, Callable[[], Any]]


def installed(module: str) -> bool:
    """Whether a library can be compared with."""
    return importlib.util.find_spec(module) is not None


TORCH, AUTOGRAD, MYGRAD = map(installed, ("torch", "autograd", "mygrad"))
if TORCH:
    import torch
if AUTOGRAD:
    import autograd
    import autograd.numpy as anp
if MYGRAD:
    import mygrad as mg


def leaf(value: Any) -> Any:
    """A PyTorch parameter in double precision."""
    return torch.tensor(np.asarray(value), dtype=torch.float64, requires_grad=True)


def two_gradients() -> Runs:
    """d/dx1 and d/dx2 of x1·x2·sin x1, numbers."""
    one, two = np.array(1.0), np.array(2.0)

    def hand() -> Any:
        product, sine = one * two, np.sin(one)
        g = np.ones_like(product * sine)
        g_product, g_sine = g * sine, g * product
        return g_product * two + g_sine * np.cos(one), g_product * one

    x1, x2 = tm.constant(1.0), tm.constant(2.0)

    def ours() -> Any:
        with tm.GradientTape() as tape:
            tape.watch([x1, x2])
            y = x1 * x2 * np.sin(x1)
        return tape.gradient(y, [x1, x2])

    runs: Runs = {"numpy": hand, "tapemagic": ours}
    if TORCH:
        t1, t2 = leaf(1.0), leaf(2.0)
        runs["torch"] = lambda: torch.autograd.grad(t1 * t2 * torch.sin(t1), [t1, t2])
    if AUTOGRAD:
        both = autograd.grad(lambda a, b: a * b * anp.sin(a), (0, 1))
        runs["autograd"] = lambda: both(1.0, 2.0)
    if MYGRAD:

        def mygrad_run() -> Any:
            a, b = mg.tensor(1.0), mg.tensor(2.0)
            (a * b * mg.sin(a)).backward()
            return a.grad, b.grad

        runs["mygrad"] = mygrad_run
    return runs


def small_operations() -> Runs:
    """1,000 operations on 10 numbers: 100 rounds of ten of different kinds, with both x and c watched."""
    start, step = SMALL
    x, c = tm.constant(start), tm.constant(step)

    def ours() -> Any:
        with tm.GradientTape() as tape:
            tape.watch([x, c])
            z = rounds(x, c, np)
        return tape.gradient(z, [x, c])

    runs: Runs = {"numpy": lambda: rounds_by_hand(start, step), "tapemagic": ours}
    if TORCH:
        tx, tc = leaf(start), leaf(step)
        runs["torch"] = lambda: torch.autograd.grad(rounds(tx, tc, torch).sum(), [tx, tc])
    if AUTOGRAD:
        both = autograd.grad(lambda x, c: anp.sum(rounds(x, c, anp)), (0, 1))
        runs["autograd"] = lambda: both(start, step)
    if MYGRAD:

        def mygrad_run() -> Any:
            mx, mc = mg.tensor(start), mg.tensor(step)
            rounds(mx, mc, mg).sum().backward()
            return mx.grad, mc.grad

        runs["mygrad"] = mygrad_run
    return runs


def third_derivative() -> Runs:
    """The third derivative of sin² at 100 points, by nested tapes."""
    points = np.linspace(-2 * np.pi, 2 * np.pi, 100)
    x = tm.constant(points)

    runs: Runs = {"numpy": lambda: -4 * np.sin(2 * points), "tapemagic": partial(third, x)}
    if TORCH:
        t = leaf(points)

        def torch_run() -> Any:
            g = torch.square(torch.sin(t))
            for _ in range(3):
                (g,) = torch.autograd.grad(g.sum(), t, create_graph=True)
            return g

        runs["torch"] = torch_run
    if AUTOGRAD:
        f = lambda x: anp.square(anp.sin(x))  # noqa: E731
        for _ in range(3):
            f = autograd.elementwise_grad(f)
        runs["autograd"] = lambda: f(points)
    return runs


def linear_regression() -> Runs:
    """One step of linear regression on 1,000 points: mean square error, gradients of slope and intercept."""
    rng = np.random.default_rng(0)
    xs = rng.normal(size=1000)
    ys = 3 * xs + 2 + rng.normal(size=1000)

    def loss(w: Any, b: Any, x: Any, y: Any, lib: Any) -> Any:
        return lib.mean((x * w + b - y) ** 2)

    def hand() -> Any:
        w, b = np.float64(0.5), np.float64(0.1)
        error = xs * w + b - ys
        np.mean(error**2)
        return np.mean(2 * error * xs), np.mean(2 * error)

    w, b, cx, cy = tm.Variable(0.5), tm.Variable(0.1), tm.constant(xs), tm.constant(ys)

    def ours() -> Any:
        with tm.GradientTape() as tape:
            value = loss(w, b, cx, cy, np)
        return tape.gradient(value, [w, b])

    runs: Runs = {"numpy": hand, "tapemagic": ours}
    if TORCH:
        tw, tb, tx, ty = leaf(0.5), leaf(0.1), torch.tensor(xs), torch.tensor(ys)
        runs["torch"] = lambda: torch.autograd.grad(loss(tw, tb, tx, ty, torch), [tw, tb])
    if AUTOGRAD:
        both = autograd.grad(lambda w, b: loss(w, b, xs, ys, anp), (0, 1))
        runs["autograd"] = lambda: both(0.5, 0.1)
    if MYGRAD:

        def mygrad_run() -> Any:
            mw, mb = mg.tensor(0.5), mg.tensor(0.1)
            loss(mw, mb, xs, ys, mg).backward()
            return mw.grad, mb.grad

        runs["mygrad"] = mygrad_run
    return runs


def mlp() -> Runs:  # noqa: PLR0915 (one workload, five libraries)
    """One step of a network 784-128-10 on 128 images: relu, softmax cross-entropy, gradients of all weights."""
    rng = np.random.default_rng(1)
    images = rng.random((128, 784))
    labels = np.eye(10)[rng.integers(0, 10, 128)]
    weights = [
        rng.normal(size=(784, 128)) * 0.05,
        np.zeros(128),
        rng.normal(size=(128, 10)) * 0.05,
        np.zeros(10),
    ]

    def hand() -> Any:
        w1, b1, w2, b2 = weights
        before = images @ w1 + b1
        hidden = np.maximum(before, 0.0)
        logits = hidden @ w2 + b2
        shifted = logits - np.max(logits, axis=1, keepdims=True)
        exps = np.exp(shifted)
        total = np.sum(exps, axis=1, keepdims=True)
        -np.mean(np.sum(labels * (shifted - np.log(total)), axis=1))
        g = (exps / total - labels) / len(images)
        g_hidden = (g @ w2.T) * (before > 0)
        return images.T @ g_hidden, np.sum(g_hidden, axis=0), hidden.T @ g, np.sum(g, axis=0)

    variables = [tm.Variable(w) for w in weights]
    x, y = tm.constant(images), tm.constant(labels)

    def ours() -> Any:
        w1, b1, w2, b2 = variables
        with tm.GradientTape() as tape:
            hidden = np.maximum(x @ w1 + b1, 0.0)
            logits = hidden @ w2 + b2
            shifted = logits - np.max(logits.numpy(), axis=1, keepdims=True)
            normal = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
            loss = -np.mean(np.sum(y * (shifted - normal), axis=1))
        return tape.gradient(loss, variables)

    runs: Runs = {"numpy": hand, "tapemagic": ours}
    if TORCH:
        parameters = [leaf(w) for w in weights]
        tx, ty = torch.tensor(images), torch.tensor(labels)

        def torch_run() -> Any:
            w1, b1, w2, b2 = parameters
            logits = torch.relu(tx @ w1 + b1) @ w2 + b2
            loss = torch.nn.functional.cross_entropy(logits, ty)
            return torch.autograd.grad(loss, parameters)

        runs["torch"] = torch_run
    if AUTOGRAD:

        def autograd_loss(w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
            logits = anp.maximum(anp.dot(images, w1) + b1, 0.0) @ w2 + b2
            shifted = logits - anp.max(logits, axis=1, keepdims=True)
            normal = anp.log(anp.sum(anp.exp(shifted), axis=1, keepdims=True))
            return -anp.mean(anp.sum(labels * (shifted - normal), axis=1))

        every = autograd.grad(autograd_loss, (0, 1, 2, 3))
        runs["autograd"] = lambda: every(*weights)
    if MYGRAD:
        from mygrad.nnet.activations import relu
        from mygrad.nnet.losses import softmax_crossentropy

        classes = labels.argmax(axis=1)

        def mygrad_run() -> Any:
            w1, b1, w2, b2 = parameters = [mg.tensor(w) for w in weights]
            logits = relu(mg.matmul(images, w1) + b1) @ w2 + b2
            softmax_crossentropy(logits, classes).backward()
            return [p.grad for p in parameters]

        runs["mygrad"] = mygrad_run
    return runs


def million_points() -> Runs:
    """The derivative of sin(x)·exp(-x²) at a million points."""
    points = np.linspace(-3, 3, 10**6)

    def hand() -> Any:
        sine, bell = np.sin(points), np.exp(-(points * points))
        product = sine * bell
        return np.cos(points) * bell - 2 * points * product

    x = tm.constant(points)

    def ours() -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sin(x) * np.exp(-(x * x))
        return tape.gradient(y, x)

    runs: Runs = {"numpy": hand, "tapemagic": ours}
    if TORCH:
        t = leaf(points)
        runs["torch"] = lambda: torch.autograd.grad((torch.sin(t) * torch.exp(-(t * t))).sum(), t)
    if AUTOGRAD:
        slope = autograd.elementwise_grad(lambda x: anp.sin(x) * anp.exp(-(x * x)))
        runs["autograd"] = lambda: slope(points)
    if MYGRAD:

        def mygrad_run() -> Any:
            m = mg.tensor(points)
            (mg.sin(m) * mg.exp(-(m * m))).sum().backward()
            return m.grad

        runs["mygrad"] = mygrad_run
    return runs


WORKLOADS: dict[str, Callable[[], Runs]] = {
    "two gradients of x1·x2·sin x1": two_gradients,
    "1,000 small operations": small_operations,
    "third derivative of sin², 100 points": third_derivative,
    "linear regression step, 1,000 points": linear_regression,
    "MLP 784-128-10 step, batch 128": mlp,
    "sin(x)·exp(-x²), 10⁶ points": million_points,
}
