"""What a call was given may be changed after it: the gradient stays that of the call."""

from __future__ import annotations

import operator
from array import array
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

GRID = np.arange(1.0, 13.0).reshape(3, 4)
PLACES, COLUMNS = np.array([0, 2, 1]), np.array([1, 1, 3])
MASK = np.array([True, False, True])
WEIGHTS = np.array([1.0, 2.0, 5.0, 7.0])
SQUARE = np.array([[4.0, 1.0], [1.0, 3.0]])

Call = Callable[[Any, Any], Any]

CALLS: dict[str, tuple[Call, Callable[[], Any]]] = {
    "x[i]": (operator.getitem, PLACES.copy),
    "x[[i, i]]": (operator.getitem, lambda: [PLACES.copy(), PLACES.copy()]),
    "x[[i, 0, m]]": (operator.getitem, lambda: [np.array(0), 1, np.array(2)]),
    "x[:, [i, i]]": (operator.getitem, lambda: (slice(None), [PLACES.copy(), PLACES.copy()])),
    "x[[m]]": (lambda x, m: x[:, 0][m], lambda: [MASK.copy()][0]),
    "x[[list of masks]]": (lambda x, m: x[:2, :2][m], lambda: [MASK[:2].copy(), MASK[1:].copy()]),
    "x[i, j]": (operator.getitem, lambda: (PLACES.copy(), COLUMNS.copy())),
    "x[i0:]": (operator.getitem, lambda: slice(np.array(1), None)),
    "x[array]": (operator.getitem, lambda: array("l", [0, 2])),
    "x[deque]": (operator.getitem, lambda: deque([0, 2])),
    "take": (lambda x, i: np.take(x, i, axis=0), lambda: [PLACES.copy(), PLACES.copy()]),
    "take of the flat array": (np.take, lambda: [PLACES.copy(), PLACES.copy()]),
    "take_along_axis": (lambda x, i: np.take_along_axis(x, i, 0), lambda: np.stack([PLACES] * 4, 1)[:1]),
    "compress": (lambda x, m: np.compress(m, x, axis=0), MASK.copy),
    "extract": (lambda x, m: np.extract(m, x), lambda: GRID > 3),
    "where": (lambda x, m: np.where(m, x, 0.0), lambda: [GRID[0] > 1, GRID[1] > 5, GRID[2] > 10]),
    "choose": (lambda x, w: np.choose(w, [x, 3.0 * x]), lambda: np.array([0, 1, 1, 0])),
    "select": (lambda x, c: np.select(c, [x, 3.0 * x]), lambda: [GRID > 8, GRID > 4]),
    "piecewise": (lambda x, c: np.piecewise(x, c, [np.sin, np.cos]), lambda: [GRID > 8, GRID < 4]),
    "insert": (lambda x, i: np.insert(x, i, 2.0 * x[0, 0], axis=0), lambda: [np.array(0), 2]),
    "delete": (lambda x, i: np.delete(x, i, axis=0), lambda: [np.array(0), 1]),
    "pad": (lambda x, w: np.pad(x, w, "edge"), lambda: np.array([[1, 2], [0, 1]])),
    "pad with a list": (lambda x, w: np.pad(x, w, "reflect"), lambda: [np.array([1, 2]), [0, 1]]),
    "repeat": (lambda x, n: np.repeat(x, n, axis=0), lambda: np.array([1, 0, 3])),
    "tile": (np.tile, lambda: np.array([2, 1])),
    "roll": (lambda x, n: np.roll(x, n, axis=(0, 1)), lambda: np.array([1, 2])),
    "split": (lambda x, n: np.split(x, n, axis=1), lambda: np.array([1, 3])),
    "array_split": (lambda x, n: np.array_split(x, n, axis=1)[0], lambda: [np.array(1), 3]),
    "sum over axes": (lambda x, a: np.sum(x, axis=tuple(a)), lambda: np.array([1])),
    "transpose": (np.transpose, lambda: np.array([1, 0])),
    "moveaxis": (lambda x, a: np.moveaxis(x, a, [1, 0]), lambda: [0, 1]),
    "reshape": (np.reshape, lambda: np.array([4, 3])),
    "broadcast_to": (np.broadcast_to, lambda: np.array([2, 3, 4])),
    "sum where": (lambda x, m: np.sum(x * x, where=m), lambda: GRID > 5),
    "average": (lambda x, w: np.average(x, axis=1, weights=w), WEIGHTS.copy),
    "cov": (lambda x, w: np.cov(x, aweights=w), WEIGHTS.copy),
    "bincount": (lambda x, i: np.bincount(i, x[:, 0]), PLACES.copy),
    "interp": (lambda x, p: np.interp(x, p, [1.0, 4.0, 9.0]), lambda: np.array([0.0, 5.0, 20.0])),
    "gradient": (lambda x, s: np.gradient(x, s, axis=1), lambda: np.array([0.0, 1.0, 3.0, 4.0])),
    "quantile": (np.quantile, lambda: [np.array(0.3), 0.6]),
    "convolve": (lambda x, k: np.convolve(x[0], k), WEIGHTS.copy),
    "matmul": (operator.matmul, GRID.T.copy),
    "product with an array": (operator.mul, WEIGHTS.copy),
    "product with a list of arrays": (operator.mul, lambda: [WEIGHTS.copy()] * 3),
    "einsum": (lambda x, k: np.einsum("ij,j->i", x, k), WEIGHTS.copy),
    "einsum with lists": (lambda x, k: np.einsum(x, k[0], x, k[1], [0, 2]), lambda: [[0, 1], [2, 1]]),
    "multi_dot": (lambda x, k: np.linalg.multi_dot([x, *k]), lambda: [GRID.T.copy(), GRID.copy()]),
    "tensordot": (lambda x, a: np.tensordot(x, x, a), lambda: [[1], [1]]),
    "solve": (lambda x, a: np.linalg.solve(a, x[:2, :2]), SQUARE.copy),
    "gather": (tm.gather, lambda: [PLACES.copy(), PLACES.copy()]),
    "gather_nd": (tm.gather_nd, lambda: [np.array([0, 1]), np.array([2, 3])]),
    "segment_sum": (tm.segment_sum, PLACES.copy),
    "scatter_add": (lambda x, i: tm.scatter_add(x, i, (4, 4)), lambda: [np.array([0, 0, 3])]),
    "one_hot labels": (lambda x, y: tm.softmax_cross_entropy(y, x), np.eye(4)[:3].copy),
}  # fmt: skip


def scramble(value: Any) -> None:
    """Write other values of the same kind into everything that can be written into."""
    if isinstance(value, np.ndarray):
        value[...] = ~value if value.dtype == bool else np.zeros_like(value)
    elif isinstance(value, slice):
        scramble(value.start)
    elif isinstance(value, tuple):
        for part in value:
            scramble(part)
    elif isinstance(value, (list, deque, array)):
        for k, part in enumerate(value):
            scramble(part)
            if isinstance(part, int):
                value[k] = 0


def gradients(call: Call, given: Any, change: Callable[[Any], None]) -> list[Any]:
    """First and second derivative of a call on whose argument something is done before the way back."""
    x = tm.constant(GRID / 10)
    with tm.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = call(x**2, given)
        change(given)
        g = tape.gradient(y, x)
    return [g.numpy(), outer.gradient(g, x).numpy(), outer.gradient(y, x).numpy()]


@pytest.mark.parametrize("name", CALLS)
def test_argument_changed_afterwards(name: str) -> None:
    """Writing into an argument, wherever in it an array is, changes nothing that was computed with it."""
    call, make = CALLS[name]
    expected = gradients(call, make(), lambda _: None)

    found = gradients(call, make(), scramble)

    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(b, a)
