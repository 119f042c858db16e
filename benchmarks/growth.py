"""How cost grows with the number of parts: ``python -m benchmarks.growth``, which `benchmarks.scaling` runs too.

Each workload has n parts: elements read one by one, arrays that are joined, sources, targets. Its time for each part
has to stay the same as n grows, there and back, and at a middling n is compared with PyTorch's.
"""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tapemagic as tm
from benchmarks.workloads import TORCH
from tapemagic.engine.tape.observer import Observer
from tapemagic.explain.program_text import sources
from tapemagic.report.analysis import analyze
from tapemagic.report.request import ReportRequest

if TORCH:
    import torch

FEW, SOME, MANY = 4_000, 16_000, 64_000
BOUND = 1.5
"""At most so many times the time for each part at `FEW` may be taken at `MANY`."""

Work = Callable[[int], Any]
"""Does n parts, there and back."""

WORKLOADS: dict[str, tuple[Work, Work | None]] = {}
"""What is done n times, with tapemagic and, where it can be, with PyTorch."""


def gradient_of(x: Any, function: Callable[[Any], Any], **options: Any) -> Any:
    """The gradient of a function of a tensor, or of a list of them."""
    with tm.GradientTape(**options) as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def reads(name: str, shape: Callable[[int], Any], read: Callable[[Any, int], Any]) -> None:
    """A loop that adds up what it reads of an array: the same program in both libraries."""

    def total(x: Any, n: int) -> Any:
        y = 0.0
        for i in range(n):
            y = y + read(x, i)
        return y

    def ours(n: int) -> Any:
        return gradient_of(tm.constant(np.ones(shape(n))), lambda x: np.sum(total(x, n)))

    def theirs(n: int) -> Any:
        x = torch.ones(shape(n), dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(total(x, n).sum(), x)

    WORKLOADS[name] = ours, theirs


def joins(name: str, shape: Any, function: Any, torch_function: Any = None) -> None:
    """Many arrays joined by a function of a list of them."""

    def ours(n: int) -> Any:
        return gradient_of(
            [tm.constant(np.ones(shape)) for _ in range(n)], lambda xs: np.sum(function(xs))
        )

    def theirs(n: int) -> Any:
        xs = [torch.ones(shape, dtype=torch.float64, requires_grad=True) for _ in range(n)]
        return torch.autograd.grad(torch_function(xs).sum(), xs)

    WORKLOADS[name] = ours, theirs if torch_function else None


def own(name: str) -> Callable[[Work], Work]:
    """Decorate a workload that PyTorch has nothing to set against."""

    def register(work: Work) -> Work:
        WORKLOADS[name] = work, None
        return work

    return register


reads("x[i]", lambda n: (n,), lambda x, i: x[i])
reads("x[i : i + 2]", lambda n: (n + 2,), lambda x, i: x[i : i + 2])
reads("X[:, j]", lambda n: (3, n), lambda x, j: x[:, j])
reads("x[[i, 0]]", lambda n: (n,), lambda x, i: x[[i, 0]])
if TORCH:
    joins("np.stack of numbers", (), np.stack, torch.stack)
    joins("np.concatenate", (2,), np.concatenate, torch.cat)
    joins("np.hstack", (2,), np.hstack, torch.hstack)
    joins("np.vstack", (2,), np.vstack, torch.vstack)
else:
    joins("np.stack of numbers", (), np.stack)
    joins("np.concatenate", (2,), np.concatenate)
    joins("np.hstack", (2,), np.hstack)
    joins("np.vstack", (2,), np.vstack)
joins("np.block", (2,), np.block)
joins("np.stack of numbers and arrays", (), lambda xs: np.stack([*xs, *np.ones(len(xs))]))


@own("v[i] of a Variable")
def _(n: int) -> Any:
    v = tm.Variable(np.ones(n))
    with tm.GradientTape() as tape:
        y = 0.0
        for i in range(n):
            y = y + v[i]
    return tape.gradient(y, v)


@own("for row in X, squared and summed")
def _(n: int) -> Any:
    return gradient_of(tm.constant(np.ones((n, 3))), lambda x: sum(np.sum(row**2) for row in x))


@own("np.take(x, i)")
def _(n: int) -> Any:
    return gradient_of(tm.constant(np.ones(n)), lambda x: sum(np.take(x, i) for i in range(n)))


@own("the parts of np.split")
def _(n: int) -> Any:
    return gradient_of(
        tm.constant(np.ones(2 * n)), lambda x: sum(np.sum(part) for part in np.split(x, n))
    )


@own("x[i] ** 2, gradient of the gradient")
def _(n: int) -> Any:
    x = tm.constant(np.ones(n))
    with tm.GradientTape() as outer:
        outer.watch(x)
        g = gradient_of(x, lambda x: sum(x[i] ** 2 for i in range(n)))
    return outer.gradient(g, x)


@own("np.stack of numbers, gradient of the gradient")
def _(n: int) -> Any:
    xs = [tm.constant(1.0) for _ in range(n)]
    with tm.GradientTape() as outer:
        outer.watch(xs)
        gs = gradient_of(xs, lambda xs: np.sum(np.stack(xs) ** 2))
    return outer.gradient(gs, xs)


@own("x[i] put together again by np.stack")
def _(n: int) -> Any:
    return gradient_of(
        tm.constant(np.ones(n)), lambda x: np.sum(np.stack([x[i] for i in range(n)]) ** 2)
    )


@own("sources")
def _(n: int) -> Any:
    return gradient_of([tm.constant(1.0) for _ in range(n)], lambda xs: sum(x * x for x in xs))


@own("intermediate results as sources")
def _(n: int) -> Any:
    x = tm.constant(1.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        ys = [x * 2.0 for _ in range(n)]
        z = sum(ys)
    return tape.gradient(z, ys)


@own("targets")
def _(n: int) -> Any:
    return gradient_of(tm.constant(1.0), lambda x: [x * x for _ in range(n)])


@own("watched one by one, and used")
def _(n: int) -> Any:
    xs = [tm.constant(1.0) for _ in range(n)]
    with tm.GradientTape() as tape:
        y = 0.0
        for x in xs:
            tape.watch(x)
            y = y + x * x
    return tape.gradient(y, xs)


@own("Variables read and assigned in a loop")
def _(n: int) -> Any:
    v = tm.Variable(1.0)
    with tm.GradientTape() as tape:
        y = 0.0
        for _ in range(n):
            y = y + v * 2.0
            v.assign(0.5)
    return tape.gradient(y, v)


@own("results that are dropped")
def _(n: int) -> Any:
    def last(x: Any) -> Any:
        for _ in range(n):
            y = x * 2.0 + 1.0
        return y

    return gradient_of(tm.constant(1.0), last)


@own("steps of a chain with a constant of 80 kB")
def _(n: int) -> Any:
    c = tm.constant(np.ones(10_000))

    def chain(x: Any) -> Any:
        for _ in range(n // 10):
            x = np.sum(x * c) / 10_000
        return x

    return gradient_of(tm.constant(1.0), chain)


@own("tapes inside a tape")
def _(n: int) -> Any:
    x = tm.constant(1.0)
    with tm.GradientTape() as outer:
        outer.watch(x)
        y = sum(gradient_of(x, lambda x: x * x) for _ in range(n // 4))
    return outer.gradient(y, x)


@own("stop_gradient in a loop")
def _(n: int) -> Any:
    return gradient_of(tm.constant(1.0), lambda x: sum(x * tm.stop_gradient(x) for _ in range(n)))


@own("gradients at the steps of a loop on one persistent tape")
def _(n: int) -> Any:
    v = tm.Variable(1.0)
    with tm.GradientTape(persistent=True) as tape:
        for _ in range(n // 4):
            y = (v * 2.0 - 1.0) ** 2
            with tape.stop_recording():
                v.assign_sub(0.01 * tape.gradient(y, v))
    return v


@own("operations that explain tells of, a chain")
def _(n: int) -> Any:
    x = tm.Variable(0.5)
    with tm.GradientTape() as tape:
        y = x
        for _ in range(n):
            y = np.sin(y)
    return tape.explain(y, x)


@own("operations that explain tells of, a loop that reads x each time")
def _(n: int) -> Any:
    x = tm.Variable(0.5)
    with tm.GradientTape() as tape:
        y: Any = 1.0
        for _ in range(n // 2):
            y = y * x + 1.0
    return tape.explain(y, x)


@own("operations that explain tells of, a loop of very many paths")
def _(n: int) -> Any:
    x = tm.Variable(0.5)
    with tm.GradientTape() as tape:
        y: Any = x
        for _ in range(n // 3):
            y = 0.5 * (y + np.sin(y))
    return tape.explain(y, x)


@own("operations of a cell, its report")
def _(n: int) -> Any:
    x = tm.Variable(0.5, name="x")
    observer = Observer()
    with observer:
        y = x
        for _ in range(n):
            y = np.sin(y)
    return analyze(observer, ReportRequest([("y", y)], [("x", x)]))


@own("sources of a cell, their report")
def _(n: int) -> Any:
    sources = [(f"v{k}", tm.Variable(1.0)) for k in range(n // 16)]
    observer = Observer()
    with observer:
        y = sum(x * x for _, x in sources)
    return analyze(observer, ReportRequest([("y", y)], sources))


@own("operations of straight-line code, names from which it makes a value")
def _(n: int) -> Any:
    lines = ["v0 = x", *(f"v{k} = np.sin(v{k - 1})" for k in range(1, n // 4))]
    return sources(ast.parse("\n".join(lines)).body, f"v{n // 4 - 1}")


def seconds(work: Work, n: int) -> float:
    """The least processor time of a few runs, without Python's garbage collector, as in timeit."""
    least = float("inf")
    for _ in range(3):
        gc.collect()
        gc.disable()
        start = time.process_time()
        work(n)
        least = min(least, time.process_time() - start)
        gc.enable()
    return least


def main(only: str = "") -> None:
    """Print the table, or the rows with a word in their names."""
    print(
        f"| there and back, µs a part | {FEW:,} | {SOME:,} | {MANY:,} | growth | PyTorch at {SOME:,} |"
    )
    print("|---|" + "--:|" * 5)
    for name, (ours, theirs) in WORKLOADS.items():
        if only not in name:
            continue
        taken = [seconds(ours, n) / n * 1e6 for n in (FEW, SOME, MANY)]
        growth = taken[2] / taken[0]
        cells = [f"{each:.2f}" for each in taken]
        cells.append(f"{growth:.2f}" + " (!)" * (growth > BOUND))
        cells.append(f"{seconds(theirs, SOME) / SOME * 1e6:.2f}" if TORCH and theirs else "–")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
