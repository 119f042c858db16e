"""Workloads for `benchmarks.programs`, each written for every library that can run it.

A workload is a function that prepares its data and returns, by library, a function of no arguments that makes one step
or computes one derivative. "tape" is the function as the user wrote it, "program" the same under `tapemagic.function`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

import tapemagic as tm
from benchmarks import network
from benchmarks.formulas import (
    SMALL,
    hessian,
    hessian_by_hand,
    rosenbrock,
    rounds,
    rounds_by_hand,
    third,
)
from tapemagic.programs.function import function

Runs = dict[str, Callable[[], Any]]

TORCH, JAX = (importlib.util.find_spec(name) is not None for name in ("torch", "jax"))
if TORCH:
    import torch
if JAX:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

F4 = np.float32


def ours(f: Callable[..., Any], *args: Any) -> Runs:
    """A function by the tape and as a program."""
    program = function(f)
    return {"tape": lambda: f(*args), "program": lambda: program(*args)}


def theirs(name: str, f: Callable[..., Any], *args: Any) -> Runs:
    """A function of JAX's or PyTorch's; JAX answers before it has computed, so its results are waited for."""
    if name == "jax.jit":
        return {name: lambda: jax.block_until_ready(f(*args))}
    return {name: lambda: f(*args)}


def compiled(f: Callable[..., Any], *args: Any) -> Runs:
    """A function of tensors by torch.compile."""
    return theirs("torch.compile", torch.compile(f), *args)


def two_gradients() -> Runs:
    """d/dx1 and d/dx2 of x1·x2·sin x1."""

    def hand(x1: Any, x2: Any) -> Any:
        product, sine = x1 * x2, np.sin(x1)
        return product * np.cos(x1) + sine * x2, sine * x1

    def gradients(x1: Any, x2: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch([x1, x2])
            y = x1 * x2 * np.sin(x1)
        return tape.gradient(y, [x1, x2])

    one, two = np.float64(1.0), np.float64(2.0)
    runs: Runs = {"numpy": lambda: hand(one, two)}
    runs |= ours(gradients, tm.constant(1.0), tm.constant(2.0))
    if TORCH:
        ts = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (1.0, 2.0)]
        runs["torch"] = lambda: torch.autograd.grad(ts[0] * ts[1] * torch.sin(ts[0]), ts)
        both = torch.func.grad(lambda a, b: a * b * torch.sin(a), (0, 1))
        runs |= compiled(both, *(t.detach() for t in ts))
    if JAX:
        f = jax.jit(jax.grad(lambda a, b: a * b * jnp.sin(a), (0, 1)))
        runs |= theirs("jax.jit", f, *map(jnp.asarray, (one, two)))
    return runs


def small_operations() -> Runs:
    """1,000 operations on 10 numbers: 100 rounds of ten of different kinds, with both x and c watched."""
    start, step = SMALL

    def gradients(x: Any, c: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch([x, c])
            z = rounds(x, c, np)
        return tape.gradient(z, [x, c])

    runs: Runs = {"numpy": lambda: rounds_by_hand(start, step)}
    runs |= ours(gradients, tm.constant(start), tm.constant(step))
    if TORCH:
        tx, tc = (torch.tensor(x, requires_grad=True) for x in (start, step))
        runs["torch"] = lambda: torch.autograd.grad(rounds(tx, tc, torch).sum(), [tx, tc])
        both = torch.func.grad(lambda x, c: rounds(x, c, torch).sum(), (0, 1))
        runs |= compiled(both, tx.detach(), tc.detach())
    if JAX:
        f = jax.jit(jax.grad(lambda x, c: rounds(x, c, jnp).sum(), (0, 1)))
        runs |= theirs("jax.jit", f, jnp.asarray(start), jnp.asarray(step))
    return runs


def third_derivative() -> Runs:
    """The third derivative of sin² at 100 points, by nested tapes; by hand it is the closed form."""
    points = np.linspace(-2 * np.pi, 2 * np.pi, 100)

    def nested(lib: Any, grad: Any) -> Any:
        f = lambda x: lib.square(lib.sin(x))  # noqa: E731
        for _ in range(3):
            f = grad(lambda x, f=f: f(x).sum())
        return f

    runs: Runs = {"numpy": lambda: -4 * np.sin(2 * points)}
    runs |= ours(third, tm.constant(points))
    if TORCH:
        t = torch.tensor(points, requires_grad=True)

        def torch_run() -> Any:
            g = torch.square(torch.sin(t))
            for _ in range(3):
                (g,) = torch.autograd.grad(g.sum(), t, create_graph=True)
            return g

        runs["torch"] = torch_run
        runs |= compiled(nested(torch, torch.func.grad), t.detach())
    if JAX:
        runs |= theirs("jax.jit", jax.jit(nested(jnp, jax.grad)), jnp.asarray(points))
    return runs


def regression() -> Runs:
    """A step of linear regression on 1,000 points in single precision: loss, two gradients, update."""
    rng = np.random.default_rng(0)
    xs = rng.normal(size=1000).astype(F4)
    ys = (3 * xs + 2 + rng.normal(size=1000)).astype(F4)
    rate = 0.01
    state = [F4(0.5), F4(0.1)]

    def hand() -> Any:
        w, b = state
        error = xs * w + b - ys
        np.mean(error**2)
        d_error = 2 / len(xs) * error
        dw, db = np.sum(d_error * xs), np.sum(d_error)
        state[:] = w - rate * dw, b - rate * db
        return state

    w, b = tm.Variable(F4(0.5)), tm.Variable(F4(0.1))

    def step(x: Any, y: Any) -> Any:
        with tm.GradientTape() as tape:
            error = x * w + b - y
            loss = np.mean(error**2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(rate * dw)
        b.assign_sub(rate * db)
        return loss

    runs: Runs = {"numpy": hand}
    runs |= stepped(ours, step, [w, b], tm.constant(xs), tm.constant(ys))
    loss = lambda p, x, y: ((x * p[0] + p[1] - y) ** 2).mean()  # noqa: E731
    return runs | descended(loss, [np.array(0.5, F4), np.array(0.1, F4)], rate, xs, ys)


def mlp() -> Runs:
    """A step of a network 784-128-10 on 128 images in single precision, with gradient descent."""
    images, labels, first = network.data()
    rate, rows = 0.01, np.arange(len(images))
    weights = [np.copy(w) for w in first]

    def hand() -> Any:
        gradients = network.gradients_by_hand(weights, images, labels, rows)
        for w, gradient in zip(weights, gradients, strict=True):
            np.multiply(gradient, rate, out=gradient)
            np.subtract(w, gradient, out=w)
        return weights

    w1, b1, w2, b2 = variables = [tm.Variable(w) for w in first]

    def step(x: Any, y: Any) -> Any:
        with tm.GradientTape() as tape:
            logits = tm.relu(x @ w1 + b1) @ w2 + b2
            loss = np.mean(tm.sparse_softmax_cross_entropy(y, logits))
        dw1, db1, dw2, db2 = tape.gradient(loss, [w1, b1, w2, b2])
        w1.assign_sub(rate * dw1)
        b1.assign_sub(rate * db1)
        w2.assign_sub(rate * dw2)
        b2.assign_sub(rate * db2)
        return loss

    runs: Runs = {"numpy": hand}
    runs |= stepped(ours, step, variables, tm.constant(images), tm.constant(labels))

    def torch_loss(p: Any, x: Any, y: Any) -> Any:
        logits = torch.relu(x @ p[0] + p[1]) @ p[2] + p[3]
        return torch.nn.functional.cross_entropy(logits, y)

    def jax_loss(p: Any, x: Any, y: Any) -> Any:
        logits = jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3]
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])

    return runs | descended(torch_loss, first, rate, images, labels, jax_loss)


def stepped(
    make: Callable[..., Runs], step: Callable[..., Any], variables: list[Any], *args: Any
) -> Runs:
    """Steps by the tape and as a program, which take turns with the same Variables from where each one stands."""
    runs = make(step, *args)
    for name, run in runs.items():
        runs[name] = _with_values(run, [np.copy(v.numpy())[()] for v in variables], variables)
    return runs


class _with_values:  # noqa: N801 (a function with state)
    """A step that has values of its own for the Variables which several steps share: put there once a turn."""

    def __init__(self, run: Callable[[], Any], values: list[Any], variables: list[Any]) -> None:
        self.run, self.values, self.variables = run, values, variables

    def begin(self) -> None:
        """Put the values in their place."""
        for v, value in zip(self.variables, self.values, strict=True):
            v.assign(value)

    def end(self) -> list[Any]:
        """Keep the values for the next turn."""
        self.values = [v.numpy() for v in self.variables]
        return self.values

    def __call__(self) -> list[Any]:
        self.begin()
        self.run()
        return self.end()


def descended(
    loss: Callable[..., Any],
    first: list[Any],
    rate: float,
    x: Any,
    y: Any,
    jax_loss: Callable[..., Any] | None = None,
) -> Runs:
    """A step of gradient descent in PyTorch, eager and compiled, and in JAX."""
    runs: Runs = {}
    if TORCH:
        tx, ty = torch.tensor(x), torch.tensor(y)
        parameters = [torch.tensor(p, requires_grad=True) for p in first]

        def eager() -> Any:
            gradients = torch.autograd.grad(loss(parameters, tx, ty), parameters)
            with torch.no_grad():
                for p, g in zip(parameters, gradients, strict=True):
                    p.sub_(g, alpha=rate)
            return parameters

        def step(p: Any, x: Any, y: Any) -> Any:
            gradients, value = torch.func.grad_and_value(loss)(p, x, y)
            return [w - rate * g for w, g in zip(p, gradients, strict=True)], value

        runs["torch"] = eager
        runs["torch.compile"] = _kept(torch.compile(step), [torch.tensor(p) for p in first], tx, ty)
    if JAX:
        value_and_grad = jax.value_and_grad(jax_loss or loss)

        @jax.jit
        def jax_step(p: Any, x: Any, y: Any) -> Any:
            value, gradients = value_and_grad(p, x, y)
            return [w - rate * g for w, g in zip(p, gradients, strict=True)], value

        waited = lambda *args: jax.block_until_ready(jax_step(*args))  # noqa: E731
        runs["jax.jit"] = _kept(
            waited, list(map(jnp.asarray, first)), jnp.asarray(x), jnp.asarray(y)
        )
    return runs


def _kept(step: Callable[..., Any], parameters: Any, x: Any, y: Any) -> Callable[[], Any]:
    state = [parameters]

    def run() -> Any:
        state[0], _ = step(state[0], x, y)
        return state[0]

    return run


def hessian_of_rosenbrock(size: int) -> Runs:
    """The Hessian of Rosenbrock's function; by hand it is the closed form, written into zeros."""
    start = np.linspace(0.5, 1.5, size)

    runs: Runs = {"numpy": lambda: hessian_by_hand(start)}
    runs |= ours(hessian, tm.constant(start))
    if TORCH:
        t = torch.tensor(start)
        way = torch.autograd.functional.hessian
        runs["torch"] = lambda: way(rosenbrock, t, vectorize=True)
        runs["torch.func"] = lambda: torch.func.hessian(rosenbrock)(t)
        runs |= compiled(torch.func.hessian(rosenbrock), t)
    if JAX:
        runs |= theirs("jax.jit", jax.jit(jax.hessian(rosenbrock)), jnp.asarray(start))
    return runs


def _bell(x: Any, lib: Any) -> Any:
    return x * lib.exp(-x * x)


def _rational(x: Any, lib: Any) -> Any:  # noqa: ARG001 (of the same form as the others)
    square = x * x
    return (x + 3.0) / (1.0 + square) - square / (2.0 + square)


def _wave(x: Any, lib: Any) -> Any:
    return lib.sin(x) * lib.exp(-x * x)


def _bell_by_hand(x: Any) -> Any:
    square = x * x
    return np.exp(-square) * (1 - 2 * square)


def _rational_by_hand(x: Any) -> Any:
    square = x * x
    one, two = 1 + square, 2 + square
    return 1 / one - 2 * x * (x + 3) / (one * one) - 4 * x / (two * two)


def _wave_by_hand(x: Any) -> Any:
    return np.exp(-x * x) * (np.cos(x) - 2 * x * np.sin(x))


LARGE = {"bell": (_bell, _bell_by_hand), "rational": (_rational, _rational_by_hand)}
LARGE["wave"] = _wave, _wave_by_hand


def large(name: str) -> Runs:
    """The derivative of an elementwise function at a million points."""
    f, hand = LARGE[name]
    points = np.linspace(-3, 3, 10**6)

    def slope(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = f(x, np)
        return tape.gradient(y, x)

    runs: Runs = {"numpy": lambda: hand(points)}
    runs |= ours(slope, tm.constant(points))
    if TORCH:
        t = torch.tensor(points, requires_grad=True)
        runs["torch"] = lambda: torch.autograd.grad(f(t, torch).sum(), t)
        runs |= compiled(torch.func.grad(lambda x: f(x, torch).sum()), t.detach())
    if JAX:
        slope_of = jax.jit(jax.grad(lambda x: f(x, jnp).sum()))
        runs |= theirs("jax.jit", slope_of, jnp.asarray(points))
    return runs
