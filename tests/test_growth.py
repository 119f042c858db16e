"""The cost of a loop grows as its length does: eightfold for eight times as many parts, and not with their square."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

pytestmark = pytest.mark.thorough

FEW, MANY = 2_000, 16_000


def gradient(function: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of a function of a tensor, or of a list of them."""
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def reading(read: Callable[[Any, int], Any]) -> Callable[[int], Any]:
    """A loop that reads a row of a matrix, or an element of it, again and again."""

    def work(n: int) -> Any:
        x = tm.constant(np.ones((n, 1)))
        return gradient(lambda x: sum(read(x, i) for i in range(n)), x)

    return work


def nested_reading(n: int) -> Any:
    """The gradient of a gradient of elements that are read one by one."""
    x = tm.constant(np.ones(n))
    with tm.GradientTape() as outer:
        outer.watch(x)
        g = gradient(lambda x: sum(x[i] ** 2 for i in range(n)), x)
    return outer.gradient(g, x)


def joining(function: Callable[[Any], Any]) -> Callable[[int], Any]:
    """Many arrays joined."""

    def work(n: int) -> Any:
        return gradient(function, [tm.constant([1.0]) for _ in range(n)])

    return work


def diagonals(n: int) -> Any:
    """All diagonals of a matrix, for n of its elements."""
    x = tm.constant(np.ones((n // 8, 8)))
    return gradient(lambda x: sum(np.sum(np.diagonal(x, k)) for k in range(-n // 8 + 1, 8)), x)


WORKS: dict[str, Callable[[int], Any]] = {
    "x[i]": reading(lambda x, i: x[i]),
    "x[i:j]": reading(lambda x, i: x[i : i + 1]),
    "x[i, 0]": reading(lambda x, i: x[i, 0]),
    "x[[i]]": reading(lambda x, i: x[[i]]),
    "np.take": reading(np.take),
    "gather": reading(tm.gather),
    "diagonal": diagonals,
    "second order": nested_reading,
    "stack": joining(np.stack),
    "concatenate": joining(np.concatenate),
    "hstack": joining(np.hstack),
    "vstack": joining(np.vstack),
    "block": joining(np.block),
    "stacked with arrays": joining(lambda xs: np.stack([*xs, *np.ones((len(xs), 1))])),
    "split": lambda n: gradient(lambda x: np.split(x, n), tm.constant(np.ones(n))),
}


def seconds(work: Callable[[int], Any], n: int) -> float:
    """The processor's time for a run."""
    gc.disable()
    start = time.process_time()
    work(n)
    taken = time.process_time() - start
    gc.enable()
    return taken


@pytest.mark.parametrize("name", WORKS)
def test_linear(name: str) -> None:
    """Eight times as many parts take eight times as long, there and back: 64 times would be their square.

    Of three runs the fastest counts: no further one is needed after one that is fast enough.
    """
    work = WORKS[name]
    few = min(seconds(work, FEW) for _ in range(3))

    assert any(seconds(work, MANY) < 24 * few for _ in range(3))
