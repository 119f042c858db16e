"""Functions that several benchmarks compute, and their derivatives by tapes and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm

SMALL = np.linspace(0.1, 0.9, 10), np.linspace(0.5, 0.8, 10)
"""The x and c of `rounds`."""


def rounds(x: Any, c: Any, lib: Any) -> Any:
    """100 rounds of ten operations."""
    z = x
    for _ in range(100):
        a = z * c
        b = lib.sin(a)
        d = b * b
        e = d + x
        f = lib.exp(-e)
        g = f / e
        h = g - c
        z = lib.tanh(h)
    return z


def rounds_by_hand(x: Any, c: Any) -> Any:
    """The gradients of `rounds`."""
    z, kept = x, []
    for _ in range(100):
        a = z * c
        b = np.sin(a)
        e = b * b + x
        f = np.exp(-e)
        g = f / e
        t = np.tanh(g - c)
        kept.append((z, a, b, e, f, g, t))
        z = t
    gz, gx, gc = np.ones(10), np.zeros(10), np.zeros(10)
    for z, a, b, e, f, g, t in reversed(kept):
        gh = gz * (1 - t * t)
        gc = gc - gh
        ge = -gh * g / e - gh / e * f
        gx = gx + ge
        ga = 2 * ge * b * np.cos(a)
        gc = gc + ga * z
        gz = ga * c
    return gx + gz, gc


def third(x: Any) -> Any:
    """The third derivative of sin², by nested tapes."""
    with tm.GradientTape() as outer:
        outer.watch(x)
        with tm.GradientTape() as middle:
            middle.watch(x)
            with tm.GradientTape() as inner:
                inner.watch(x)
                y = np.square(np.sin(x))
            first = inner.gradient(y, x)
        second = middle.gradient(first, x)
    return outer.gradient(second, x)


def rosenbrock(x: Any) -> Any:
    """The sum over i of 100 (x[i+1] - x[i]²)² + (1 - x[i])²."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def hessian_by_hand(x: Any) -> Any:
    """The Hessian of Rosenbrock's function: its closed form, written into zeros."""
    middle = np.full(len(x), 200.0)
    middle[0] = 0
    middle[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    beside = -400 * x[:-1]
    return np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1)


def hessian(x: Any) -> Any:
    """The Hessian of Rosenbrock's function, by nested tapes."""
    with tm.GradientTape() as outer:
        outer.watch(x)
        with tm.GradientTape() as inner:
            inner.watch(x)
            y = rosenbrock(x)
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)
