"""Functions whose programs are written, run and compared: what lessons do, and what is hard to write down."""

# ruff: noqa: D103 (what they do is all there is to say)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapemagic as tm

A = np.array
w = tm.Variable(A([[0.5, -0.1], [0.2, 0.3]]), name="w")
b = tm.Variable(A([0.1, 0.2]), name="b")
xs = tm.constant(np.arange(6.0).reshape(3, 2))
large = tm.constant(np.linspace(0, 1, 60).reshape(30, 2))


def slope(x1, x2):
    with tm.GradientTape() as tape:
        tape.watch([x1, x2])
        y = x1 * x2 * np.sin(x1)
    return tape.gradient(y, [x1, x2])


def regression(x, y, rate):
    with tm.GradientTape() as tape:
        error = x @ w + b - y
        loss = np.mean(error**2)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(rate * dw)
    b.assign_sub(rate * db)
    return loss


def softmax_by_hand(x, targets):
    with tm.GradientTape() as tape:
        h = np.tanh(x @ w + b)
        z = h - np.max(h, axis=1, keepdims=True)
        e = np.exp(z)
        p = e / np.sum(e, axis=1, keepdims=True)
        loss = -np.mean(np.sum(targets * np.log(p), axis=1))
    return loss, tape.gradient(loss, [w, b])


def third(x):
    with tm.GradientTape() as t3:
        t3.watch(x)
        with tm.GradientTape() as t2:
            t2.watch(x)
            with tm.GradientTape() as t1:
                t1.watch(x)
                y = np.square(np.sin(x))
            g = t1.gradient(y, x)
        h = t2.gradient(g, x)
    return t3.gradient(h, x)


@tm.custom_gradient
def limited(x):
    return x * 1.5, lambda g: np.clip(g, -1.0, 1.0)


def custom(x):
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(limited(x) ** 3)
    return y, tape.gradient(y, x)


def loop(x):
    with tm.GradientTape() as tape:
        h = x
        for _ in range(3):
            h = np.tanh(h @ w)
        loss = np.sum(h)
    return {"slope": tape.gradient(loss, w), "loss": loss}


def branch(x):
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(np.sqrt(x)) if np.sum(x) > 0 else np.sum(x * x)
        while y > 5:
            y = y / 2
    return tape.gradient(y, x)


def structure(params, batch):
    with tm.GradientTape() as tape:
        tape.watch(params)
        loss = np.mean((batch[0] @ params["w"] + params["b"] - batch[1]) ** 2)
    return tape.gradient(loss, params)


def own_functions(x):
    with tm.GradientTape() as tape:
        tape.watch(x)
        p = tm.softmax(x)
        y = np.sum(np.einsum("ij,kj->ik", p, p))
    return tape.gradient(y, x), x[1:, None, 0], x[..., ::-1][-1]


def eigen(a):
    with tm.GradientTape() as tape:
        tape.watch(a)
        values, vectors = np.linalg.eigh(a)
        y = np.sum(values**2) + vectors[0, 0]
    return tape.gradient(y, a)


def many_names(np_, sum, lambda_, *, l):  # noqa: A002, E741 (hostile names are the point)
    t = np_ * sum
    t_2 = t + lambda_
    d_t = np.exp(l) - t_2
    _ = d_t * 2
    return t, _, [d_t, None, "text", 3]


def half(x):
    y = x * np.float16(0.1) + 1
    return y**2, np.where(x > 0.25, y, np.float16(0)), -y


def powers(x, s):
    return x**0.5, x**-1, x**3, s**2, s**-1.5, (-s) ** 2, 2.0**s, x**s


def complex_numbers(z, c):
    return z * c, c * c, c**2, z / 2j, np.abs(z), np.conj(z) - 1e-300


def whole(n, m):
    return n * 3 - m, n // 2, n % 2, m + 1, -m, n**2, ~n, m > 2


def fills(x):
    return x + A([1.0, 2.0]), np.ones(2) * x[0], np.zeros(2), A([[np.nan, -0.0]]) + x, large * x


def long_line(*parts):
    return np.concatenate([part * 2 for part in parts], axis=0), np.stack(parts)


kernel = tm.Variable(np.cos(np.arange(8, dtype="float32")).reshape(2, 4), name="kernel")


def one_layer(x):
    with tm.GradientTape() as tape:
        loss = np.mean(tm.relu(x @ kernel) ** 2)
    return loss, tape.gradient(loss, kernel)


c = tm.constant
CASES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (slope, (c(1.5), c(2.0)), {}),
    (regression, (xs, c(np.ones((3, 2))), c(0.1)), {}),
    (softmax_by_hand, (xs, c(np.eye(2)[[0, 1, 0]])), {}),
    (third, (c([0.3, -0.2]),), {}),
    (custom, (c([0.1, 2.0]),), {}),
    (loop, (xs,), {}),
    (branch, (c([9.0, 25.0]),), {}),
    (structure, ({"w": c([1.0, 2.0]), "b": c(0.5)}, (xs, c([1.0, 2.0, 3.0]))), {}),
    (own_functions, (xs,), {}),
    (eigen, (c([[2.0, 1.0], [1.0, 5.0]]),), {}),
    (many_names, (c(2.0), c([1.0, 3.0]), c(0.25)), {"l": c(1.0)}),
    (half, (c(A([0.1, 0.3], "f2")),), {}),
    (powers, (c([0.7, 1.9]), c(1.7)), {}),
    (complex_numbers, (c([1 + 2j, -0.3j]), c(0.3 - 0.7j)), {}),
    (whole, (c([5, -7]), c(4)), {}),
    (fills, (c([0.5, 2.0]),), {}),
    (long_line, tuple(c(np.full(2, float(k))) for k in range(40)), {}),
    (one_layer, (c(np.ones((3, 2), "float32")),), {}),
]
