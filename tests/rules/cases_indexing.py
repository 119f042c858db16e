"""Cases of indexing, choosing, sorting and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.scatter import Scattered, add_at_places, add_scattered, scatter_add, sum_of_scattered
from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.tensor import getitem
from tapemagic.errors import ImmutableError, UnsupportedArgumentError
from tests.rules.harness import Case, case, normal, plain, positive, refused, special

A = np.array
ROW = normal(5)
GRID = normal(4, 5)
CUBE = normal(3, 4, 5)
COMPLEX = normal(3, 4) + 1j * normal(3, 4, seed=1)
MIXED = A([0.3, -1.2, 2.5, 0.9, -0.1, 1.7])
MIXED_GRID = normal(3, 5, seed=4)
PICKED = A([2, 0, 1, 0])


def read(x: Any, index: Any, label: str) -> Case:
    """A case of ``x[index]``."""
    return case(getitem, lambda t: t[index], x, label=label)


def added(values: Any, index: Any, shape: tuple[int, ...], label: str) -> Case:
    """A case of `scatter_add`."""
    return case(scatter_add, lambda g: scatter_add(g, index, shape), values, label=label)


def at_places(*values: Any, places: Any, label: str) -> Case:
    """A case of `add_at_places`."""
    params = {"places": places, "shape": (3, 3)}
    entry = operation(add_at_places)
    return case(add_at_places, lambda *x: apply(entry, x, params), *values, label=label)


GETITEM = [
    read(ROW, 2, "int"),
    read(ROW, np.int32(-1), "numpy int"),
    read(ROW, slice(1, 4), "slice"),
    read(ROW, slice(None, None, -2), "negative stride"),
    read(ROW, slice(3, 3), "empty slice"),
    read(ROW, None, "new axis"),
    read(ROW, ..., "ellipsis"),
    read(ROW, (), "empty tuple"),
    read(ROW, [0, 2, 2], "list with a repeat"),
    read(ROW, [], "empty list"),
    read(ROW, A([], int), "empty array"),
    read(ROW, A(3), "array of one number"),
    read(ROW, range(3), "range"),
    read(ROW, A([[0, -1], [-5, 4]]), "array of two axes, with negative repeats"),
    read(ROW, A([True, False, True, True, False]), "mask"),
    read(ROW, np.zeros(5, bool), "mask without a truth"),
    read(ROW, [True, False, False, True, False], "mask as a list"),
    read(ROW, True, "True"),
    read(ROW, A(False), "False"),
    read(normal(), (), "of a number, empty tuple"),
    read(normal(), ..., "of a number, ellipsis"),
    read(normal(), (None, None), "of a number, new axes"),
    read(normal(), True, "of a number, True"),
    read(normal(0), slice(None), "of nothing"),
    read(normal(0, 3), (slice(None), [0, 0, 1]), "of nothing, along the other axis"),
    read(GRID, 1, "row"),
    read(GRID, (slice(None), -2), "column"),
    read(GRID, (3, 4), "element"),
    read(GRID, (..., 1), "ellipsis, then int"),
    read(GRID, (slice(None, None, 2), slice(4, 0, -3)), "two slices"),
    read(GRID, (slice(1, None), None, 2), "slice, new axis, int"),
    read(GRID, [1, 1, 3], "rows with a repeat"),
    read(GRID, (slice(None), [0, 0, 2]), "columns with a repeat"),
    read(GRID, ([0, 1, 1], [4, 2, 2]), "pairs with a repeat"),
    read(GRID, np.ix_([0, 3], [1, 1, 2]), "open grid"),
    read(GRID, normal(4, 5, seed=3) > 0, "mask of both axes"),
    read(GRID, A([True, False, True, True]), "mask of rows"),
    read(GRID, (slice(None), A([True, False, True, True, False])), "mask of columns"),
    read(GRID, (A([True, False, True, True]), 2), "mask and int"),
    read(GRID, (A([True, False, True, False]), [2, 2]), "mask and list"),
    read(GRID, (0, [1, 1]), "int and list"),
    read(GRID, ([2, 2], None, 1), "list, new axis, int"),
    read(GRID, ((0, 2), (1, 1)), "tuples"),
    read(GRID, (True, slice(None), [1, 1]), "True, slice, list"),
    read(CUBE, ([0, 2, 2], slice(None), [1, 0, 0]), "two lists around a slice"),
    read(CUBE, (0, slice(1, 3), [1, 1]), "int and list around a slice"),
    read(CUBE, (slice(None), [0, 1], [1, 1]), "slice, two lists"),
    read(CUBE, ([0, 1], ..., [1, 1]), "two lists around an ellipsis"),
    read(CUBE, ([[0], [1]], None, [1, 1], slice(0, 2)), "two lists around a new axis"),
    read(CUBE, (1, slice(None), 2), "two ints around a slice"),
    read(CUBE, (normal(3, 4, seed=2) > 0, [2]), "mask of two axes and list"),
    read(CUBE, (slice(None), normal(4, 5, seed=2) > 0), "mask of the last two axes"),
    read(CUBE, (..., [1, 1], slice(None, None, -1)), "ellipsis, list, slice"),
    read(normal(0, 3, 2), ([], slice(None), []), "empty lists around a slice"),
    read(COMPLEX, (slice(None), [1, 1]), "complex"),
]

SCATTER_ADD = [
    added(normal(3), [0, 2, 2], (4,), "repeat"),
    added(normal(3), slice(0, 3), (4,), "slice"),
    added(normal(), 2, (4,), "int"),
    added(normal(), (), (), "into a number"),
    added(normal(), [1, 1, 3], (4,), "one number at several places"),
    added(normal(3, 1), [0, 2, 2], (4, 5), "broadcast along rows"),
    added(normal(2, 4), (slice(None), [0, 2, 2, 0]), (2, 4), "columns"),
    added(normal(3, 4), ([0, 2, 2], slice(None), [1, 0, 0]), (3, 4, 5), "around a slice"),
    added(normal(2), A([True, False, True]), (3,), "mask"),
    added(normal(0), [], (3,), "nothing"),
    added(COMPLEX, [1, 1, 0], (2, 4), "complex"),
    case(
        add_scattered,
        lambda a, b: sum_of_scattered([Scattered(a, [1, 1, 0], (2,)), Scattered(b, 1, (2,))]),
        normal(3),
        normal(seed=1),
        label="two parts",
    ),
    at_places(normal(3), normal(2, seed=1), places=(slice(0, 9, 4), slice(1, 9, 4)), label="bands"),
    at_places(normal(3), normal(2, seed=1), places=(A([5, 0, 1]), slice(1, 3)), label="shared"),
]

# fmt: off
TAKE = [
    case(np.take, lambda x: np.take(x, 3), ROW, label="int"),
    case(np.take, lambda x: np.take(x, [0, 2, 2, -1]), ROW, label="list with repeats"),
    case(np.take, lambda x: np.take(x, (1, 1)), ROW, label="tuple"),
    case(np.take, lambda x: np.take(x, A([[0, 19], [7, 7]])), GRID, label="of all elements"),
    case(np.take, lambda x: np.take(x, 0), normal(), label="of a number"),
    case(np.take, lambda x: np.take(x, A([], int)), ROW, label="nothing"),
    case(np.take, lambda x: np.take(x, A([], int), mode="wrap"), normal(0), label="of nothing"),
    case(np.take, lambda x: np.take(x, A([], int), mode="clip"), normal(2, 0), label="of an empty grid"),
    case(np.compress, lambda x: np.compress([], x), normal(2, 0), label="of an empty grid"),
    case(np.extract, lambda x: np.extract(A([[], []], bool), x), normal(2, 0), label="of an empty grid"),
    case(np.take, lambda x: np.take(x, []), ROW, label="empty list"),
    case(np.take, lambda x: x.take([], axis=0), GRID, label="empty list, method"),
    case(np.take, lambda x: np.take(x, True) * x[0], ROW, label="True"),
    case(np.take, lambda x: np.take(x, [True, False, False]), ROW, label="truths for 1 and 0"),
    case(np.take, lambda x: np.take(x, A([[True], [False]]), axis=1, mode="wrap"), GRID,
         label="truths along an axis, wrap"),
    case(np.take, lambda x: np.take(x, range(1, 3)), ROW, label="range"),
    case(np.take, lambda x: np.take(x, 2, axis=0), GRID, label="row"),
    case(np.take, lambda x: np.take(x, [1, 1, 0], axis=1), GRID, label="columns"),
    case(np.take, lambda x: np.take(x, A([[1, 1], [0, 2]]), axis=-2), CUBE, label="middle axis"),
    case(np.take, lambda x: x.take([1, 1], 0), CUBE, label="method"),
    case(np.take, lambda x: np.take(x, [-7, 5, 9, 0], mode="wrap"), ROW, label="wrap"),
    case(np.take, lambda x: np.take(x, [-7, 5, 9, 0], mode="clip"), ROW, label="clip"),
    case(np.take, lambda x: np.take(x, [-9, 11], 1, None, "wrap"), GRID,
         label="wrap along an axis"),
    case(np.take, lambda x: np.take(x, [-9, 11], axis=1, mode="clip"), GRID,
         label="clip along an axis"),
    case(np.take, lambda x: np.take(x, [2, 2], axis=0), COMPLEX, label="complex"),
    case(np.take_along_axis, lambda x: np.take_along_axis(x, A([[0], [4], [4], [-1]]), 1), GRID),
    case(np.take_along_axis,
         lambda x: np.take_along_axis(x, A([[3, 3, 0, 1, 2], [3, 0, 0, 1, 1]]), 0), GRID,
         label="repeats"),
    case(np.take_along_axis, lambda x: np.take_along_axis(x, A([[[1], [1], [0]]]), axis=-2), CUBE,
         label="broadcast indices"),
    case(np.take_along_axis, lambda x: np.take_along_axis(x, A([[0, 2], [1, 1], [2, 2]]), axis=1),
         normal(1, 3), label="broadcast array"),
    case(np.take_along_axis, lambda x: np.take_along_axis(x, A([0, 7, 7]), axis=None), GRID,
         label="of all elements"),
    case(np.take_along_axis, lambda x: np.take_along_axis(x, np.argsort(x, axis=-1), axis=-1),
         MIXED_GRID, label="argsort"),
    case(np.compress, lambda x: np.compress([True, False, True], x), ROW, label="short condition"),
    case(np.compress, lambda x: np.compress(x > 0, x), ROW, label="own condition"),
    case(np.compress, lambda x: np.compress([0, 1, 1, 0, 1], x, axis=1), GRID, label="columns"),
    case(np.compress, lambda x: np.compress(A([False, True, True]), x, axis=-2), CUBE,
         label="middle axis"),
    case(np.compress, lambda x: np.compress([False] * 4, x, 0), GRID, label="nothing"),
    case(np.compress, lambda x: x.compress([1, 0, 1], axis=0), GRID, label="method"),
    case(np.extract, lambda x: np.extract(x > 0, x), GRID, label="own condition"),
    case(np.extract, lambda x: np.extract([True, False, True, True, False], x), ROW, label="list"),
    case(np.extract, lambda x: np.extract(x > 9, x), GRID, label="nothing"),
]

CHOOSE = [
    case(np.choose, lambda x, y, z: np.choose(PICKED, [x, y, z]), normal(4), normal(4, seed=1),
         normal(4, seed=2)),
    case(np.choose, lambda x, y, z: np.choose(PICKED, (x, y, z)), normal(3, 1), normal(),
         normal(4, seed=2), label="broadcast"),
    case(np.choose, lambda x, y: np.choose([[1], [0]], [x, y]), normal(3), normal(3, seed=1),
         label="broadcast index"),
    case(np.choose, lambda x, y: np.choose(1, [x, y]), normal(3), normal(3, seed=1),
         label="one number"),
    case(np.choose, lambda x: np.choose(PICKED[:3], x), normal(3, 3), label="rows of one array"),
    case(np.choose, lambda x: np.choose([0, 1], [x, 5.0]), normal(2), label="constant option"),
    case(np.choose, lambda x, y: np.choose([-1, 4, 3, 0], [x, y], mode="wrap"), normal(4),
         normal(4, seed=1), label="wrap"),
    case(np.choose, lambda x, y: np.choose([-1, 4, 3, 0], [x, y], None, "clip"), normal(4),
         normal(4, seed=1), label="clip"),
    case(np.choose, lambda x: np.choose([1, 0], [x, [1.0, 2.0]]), normal(2) + 1j, label="complex"),
    case(np.select, lambda x: np.select([x > 1, x > 0], [x**2, np.sin(x)]), MIXED,
         label="no default"),
    case(np.select, lambda x, d: np.select([x > 1, x > 0], [x**2, 3.0], d * x), MIXED, normal(6),
         label="default"),
    case(np.select, lambda x, y,
         d: np.select([[True, False, False], [True, True, False]], [x, y], default=d), normal(2, 3),
         normal(3, seed=1), normal(), label="broadcast"),
    case(np.select, lambda x, y: np.select([x > y, x < y], (x, y), default=0.5), normal(),
         normal(seed=1), label="numbers"),
    case(np.select, lambda x, y: np.select([[True, False], [True, True]], [[x, y], x]), normal(),
         normal(seed=1), label="list of numbers"),
]

SORT = [
    case(np.sort, np.sort, MIXED),
    case(np.sort, np.sort, MIXED_GRID, label="rows"),
    case(np.sort, lambda x: np.sort(x, 0), MIXED_GRID, label="columns"),
    case(np.sort, lambda x: np.sort(x, axis=-2), CUBE, label="middle axis"),
    case(np.sort, lambda x: np.sort(x, axis=None), MIXED_GRID, label="all elements"),
    case(np.sort, lambda x: np.sort(x, kind="mergesort"), MIXED, label="kind"),
    case(np.sort, lambda x: np.sort(x, stable=True), MIXED, label="stable"),
    case(np.sort, np.sort, normal(0), label="nothing"),
    case(np.sort, lambda x: np.sort(x, axis=0), COMPLEX, label="complex"),
    case(np.sort, lambda x: np.sort(x**3)[::-1] * x, MIXED, label="in a formula"),
    case(np.sort_complex, np.sort_complex, MIXED),
    case(np.sort_complex, np.sort_complex, MIXED_GRID, label="rows"),
    case(np.sort_complex, np.sort_complex, COMPLEX, label="complex"),
    case(np.partition, lambda x: np.partition(x, 3), MIXED),
    case(np.partition, lambda x: np.partition(x, (1, 3)), MIXED_GRID, label="two places"),
    case(np.partition, lambda x: np.partition(x, -2, axis=0), MIXED_GRID, label="columns"),
    case(np.partition, lambda x: np.partition(x, 7, axis=None), MIXED_GRID, label="all elements"),
    case(np.partition, lambda x: np.partition(x, 2, kind="introselect"), MIXED, label="kind"),
    case(np.partition, lambda x: np.partition(x, 150), 0.1 * np.argsort(normal(300)), label="long"),
]

DIAGONALS = [
    case(np.diag, np.diag, ROW, label="matrix"),
    case(np.diag, lambda v: np.diag(v, 2), normal(3), label="matrix, above"),
    case(np.diag, lambda v: np.diag(v, k=-1), normal(3), label="matrix, below"),
    case(np.diag, np.diag, normal(0), label="matrix of nothing"),
    case(np.diag, np.diag, normal(3, 3), label="vector"),
    case(np.diag, lambda v: np.diag(v, 1), normal(3, 5), label="vector, above, wide"),
    case(np.diag, lambda v: np.diag(v, 3), normal(3, 5), label="vector, cut short"),
    case(np.diag, lambda v: np.diag(v, -2), normal(5, 3), label="vector, below, tall"),
    case(np.diag, lambda v: np.diag(v, -1), normal(3, 5), label="vector, below, wide"),
    case(np.diag, lambda v: np.diag(v, 2), normal(5, 3), label="vector, above, tall"),
    case(np.diag, np.diag, COMPLEX, label="vector, complex"),
    case(np.diagonal, np.diagonal, normal(3, 4)),
    case(np.diagonal, lambda x: x.diagonal(-1), normal(4, 3), label="method"),
    case(np.diagonal, lambda x: np.diagonal(x, 1), CUBE, label="three axes"),
    case(np.diagonal, lambda x: np.diagonal(x, 1, 2, 0), CUBE, label="axes backwards"),
    case(np.diagonal, lambda x: np.diagonal(x, offset=-1, axis1=-1, axis2=-2), CUBE,
         label="negative axes"),
    case(np.diagonal, lambda x: np.diagonal(x, 3), normal(2, 3), label="beyond the matrix"),
    case(np.diagflat, np.diagflat, normal(2, 2)),
    case(np.diagflat, lambda v: np.diagflat(v, -2), normal(3), label="below"),
    case(np.diagflat, lambda v: np.diagflat(v, k=1), normal(), label="of a number"),
    case(np.trace, np.trace, normal(3, 3)),
    case(np.trace, lambda x: np.trace(x, 1), normal(3, 5), label="above"),
    case(np.trace, lambda x: x.trace(offset=-2), normal(5, 3), label="method"),
    case(np.trace, np.trace, CUBE, label="three axes"),
    case(np.trace, lambda x: np.trace(x, axis1=2, axis2=1), CUBE, label="last axes"),
    case(np.trace, lambda x: np.trace(x, -1, -3, -1), CUBE, label="outer axes"),
    case(np.trace, lambda x: np.trace(x, 9), normal(3, 3), label="beyond the matrix"),
    case(np.trace, np.trace, COMPLEX, label="complex"),
    case(np.tril, np.tril, normal(3, 4)),
    case(np.tril, lambda m: np.tril(m, 1), CUBE, label="above"),
    case(np.tril, lambda m: np.tril(m, k=-1), normal(4, 3), label="below"),
    case(np.tril, np.tril, normal(3), label="vector"),
    case(np.triu, np.triu, normal(3, 4)),
    case(np.triu, lambda m: np.triu(m, 1), CUBE, label="above"),
    case(np.triu, lambda m: np.triu(m, k=-1), COMPLEX, label="below, complex"),
    case(np.triu, np.triu, normal(3), label="vector"),
]

PARTS = A([-1.3, 0.4, 2.1, -0.2])
PIECES = [
    case(np.piecewise, lambda x: np.piecewise(x, [x < 0, x > 1], [np.sin, np.exp]), PARTS),
    case(np.piecewise, lambda x: np.piecewise(x, [x < 0], [np.sin, np.exp]), PARTS, label="else"),
    case(np.piecewise, lambda x: np.piecewise(x, x < 0, [np.sin, 2]), PARTS, label="one condition"),
    case(np.piecewise, lambda x, y: np.piecewise(x, [x < 0, x > 1], [lambda v: v * y, y, 3.0]), PARTS,
         normal(), label="numbers"),
    case(np.piecewise, lambda x: np.piecewise(x, [x < 0, x < 1], [np.sin, np.exp]), PARTS,
         label="the last one counts"),
    case(np.piecewise, lambda x: np.piecewise(x, [x < -9, x > -9], [np.sin, np.exp]), PARTS,
         label="nowhere"),
    case(np.piecewise, lambda x: np.piecewise(x, [x < 0], [lambda _: -1.0, lambda v: v]), PARTS,
         label="a function that gives a number"),
    case(np.piecewise, lambda x: np.piecewise(x, [x < 0], [lambda v: [1.0, v[0]], np.sin]), PARTS,
         label="a function that gives a list"),
    case(np.piecewise, lambda x, y: np.piecewise(x, [x < 0], [y, lambda v: v * v]), PARTS, normal(2),
         label="array for the places where it holds"),
    case(np.piecewise, lambda x: np.piecewise(x, [x > 0], [A([10.0, 20.0]), np.sin]), A([[1.0, -1], [2, -2]]),
         label="array, 2-d"),
    case(np.piecewise, lambda x, y: np.piecewise(x, [x[:, 0] > 0], [y, np.sin]), A([[1.0, -1], [-2, 2]]), normal(2),
         label="condition on rows"),
    case(np.piecewise, lambda x: np.piecewise(x, x > 0, [np.sin, np.exp]), normal(), label="0-d"),
    case(np.piecewise, lambda x: np.piecewise(x, [x > 0, x < 0], [np.sin, np.exp]), normal(),
         label="0-d, two conditions"),
    case(np.piecewise, lambda x: np.piecewise(x, [x > 0], [lambda v, a, b: a * v**b, 1.0], 3.0, b=2),
         normal(2, 3), label="arguments"),
    case(np.piecewise, lambda z: np.piecewise(z, [np.abs(z) > 1], [np.sin, lambda v: v * v]), COMPLEX,
         label="complex"),
]

BINCOUNT = [
    case(np.bincount, lambda w: np.bincount([0, 2, 2, 1], w), normal(4)),
    case(np.bincount, lambda w: np.bincount(A([3, 0, 3]), weights=w, minlength=6), normal(3),
         label="minlength"),
    case(np.bincount, lambda w: np.bincount([True, False, True], w), normal(3), label="truths"),
]

CASES = [*GETITEM, *SCATTER_ADD, *TAKE, *CHOOSE, *PIECES, *SORT, *DIAGONALS, *BINCOUNT]


WEIGHTS = A([1.0, 10.0, 100.0])
INF = A([[1.0, np.inf], [-np.inf, 2.0]])

SPECIAL = [
    # Equal elements keep their order, as in tf.sort.
    special(np.sort, lambda x: WEIGHTS * np.sort(x), [A([2.0, 1.0, 2.0])], [A([10.0, 1.0, 100.0])],
            "tie"),
    special(np.sort, lambda x: WEIGHTS * np.sort(x, axis=None), [A([[7.0], [7.0], [7.0]])],
            [WEIGHTS[:, None]], "all equal"),
    special(np.sort, None, [np.zeros((2, 0))], [np.zeros((2, 0))], "empty"),
    special(np.sort, lambda x: WEIGHTS * np.sort(x), [A([np.nan, 1.0, -np.inf])],
            [A([100.0, 10.0, 1.0])], "nan"),
    special(np.partition, lambda x: WEIGHTS * np.partition(x, 1), [A([3.0, 3.0, 3.0])], [WEIGHTS],
            "all equal"),
    special(np.partition, lambda x: np.partition(x, 1)[0], [A([3.0, 2.0, 1.0], np.float32)],
            [A([0.0, 0.0, 1.0])], "float32"),
    special(getitem, lambda x: x[[0, 2, 2]], [A([1.0, 2.0, 3.0], np.float32)], [A([1.0, 0.0, 2.0])],
            "float32"),
    special(getitem, lambda x: x[x > 5], [WEIGHTS[:2]], [A([0.0, 1.0])], "own mask"),
    special(getitem, lambda x: x[x > 500], [WEIGHTS], [np.zeros(3)], "own mask without a truth"),
    special(getitem, lambda x, i: x[i], [WEIGHTS, A([1, 1])], [A([0.0, 2.0, 0.0]), None],
            "tensor as index"),
    special(getitem, lambda x, i, j: x[i, j:], [np.ones((2, 3)), A(1), A(1)],
            [A([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), None, None], "tensors inside an index"),
    special(getitem, lambda x: x[1], [A([1, 2, 3])], [None], "whole numbers"),
    special(np.take, lambda x, i: np.take(x, i, mode="wrap"), [WEIGHTS, A([4, -2])],
            [A([0.0, 2.0, 0.0]), None], "tensor as index"),
    special(np.take, None, [A([10.0, 20.0, 30.0]), A([True, False])],
            [A([1.0, 1.0, 0.0]), None], "tensor of truths as index"),
    special(np.take, lambda x: np.take(x, True), [A([10.0, 20.0, 30.0])], [A([0.0, 1.0, 0.0])],
            "True"),
    special(np.take_along_axis, lambda x, i: np.take_along_axis(x, i, 0), [WEIGHTS, A([1, 1])],
            [A([0.0, 2.0, 0.0]), None], "tensor as index"),
    special(np.compress, None, [A([True, False, True]), WEIGHTS],
            [None, A([1.0, 0.0, 1.0])], "tensor as condition"),
    special(np.choose, lambda i, x, y: np.choose(i, [x, y]), [A([0, 1, 1]), WEIGHTS, WEIGHTS],
            [None, A([1.0, 0.0, 0.0]), A([0.0, 1.0, 1.0])], "tensor as index"),
    special(np.choose, lambda x, y: np.choose([0, 1], [x * [1.0, np.inf], y]),
            [np.ones(2), np.ones(2)], [A([1.0, 0.0]), A([0.0, 1.0])],
            "inf where it was not chosen", warns=True),
    # The first true condition counts, whatever the later ones say.
    special(np.select, lambda x, y: np.select([x > 0, x > -5], [x, y], x),
            [A([1.0, -1.0, -9.0]), np.ones(3)], [A([1.0, 0.0, 1.0]), A([0.0, 1.0, 0.0])],
            "first true condition"),
    special(np.select, lambda x: np.select([x > 0], [x]), [A([1.0, -1.0], np.float32)],
            [A([1.0, 0.0])], "float32"),
    special(np.diag, lambda x: np.diag(x, 5), [np.ones((2, 2))], [np.zeros((2, 2))],
            "beyond the matrix"),
    special(np.trace, np.trace, [np.ones((2, 2), np.float32)], [np.eye(2)], "float32"),
    special(np.trace, lambda x: np.trace(x) * np.inf, [np.ones((2, 2))],
            [A([[np.inf, 0.0], [0.0, np.inf]])], "inf"),
    special(np.triu, lambda x: np.triu(x, 1), [INF], [A([[0.0, 1.0], [0.0, 0.0]])], "inf"),
    special(np.tril, lambda x: np.tril(x, -1), [INF], [A([[0.0, 0.0], [1.0, 0.0]])], "inf"),
    special(np.bincount, None, [A([1, 1, 0]), WEIGHTS],
            [None, np.ones(3)], "tensor as bins"),
    special(np.bincount, lambda w: np.bincount([], w, 2), [np.zeros(0)], [None], "nothing"),
]

SORTED = A([1.0, 2.0, 2.0, 4.0])
WHOLE = A([3, 1, 1, 0])

PLAIN = [
    plain(np.argsort, np.argsort, GRID),
    plain(np.argsort, lambda x: x.argsort(axis=0, kind="stable"), GRID, label="method"),
    plain(np.argpartition, lambda x: np.argpartition(x, 2), ROW),
    plain(np.lexsort, lambda x, y: np.lexsort((x, y)), ROW, normal(5, seed=1)),
    plain(np.nonzero, np.nonzero, GRID),
    plain(np.nonzero, lambda x: x.nonzero(), GRID > 0, label="method"),
    plain(np.flatnonzero, np.flatnonzero, GRID),
    plain(np.argwhere, np.argwhere, GRID),
    plain(np.searchsorted, np.searchsorted, SORTED, A([0.5, 2.0, 9.0])),
    plain(np.searchsorted, lambda a: a.searchsorted(2.0, side="right"), SORTED, label="method"),
    plain(np.digitize, lambda x: np.digitize(x, [-1.0, 0.0, 1.0]), GRID),
    plain(np.isin, np.isin, GRID, ROW),
    plain(np.unravel_index, lambda i: np.unravel_index(i, (2, 2)), WHOLE),
    plain(np.ravel_multi_index, lambda i, j: np.ravel_multi_index((i, j), (4, 4)), WHOLE,
          WHOLE[::-1]),
    plain(np.ix_, np.ix_, WHOLE, WHOLE),
    plain(np.tril_indices_from, np.tril_indices_from, GRID),
    plain(np.triu_indices_from, lambda x: np.triu_indices_from(x, k=1), GRID),
    plain(np.diag_indices_from, np.diag_indices_from, normal(3, 3)),
]

if hasattr(np, "in1d"):  # before NumPy 2.4
    PLAIN.append(plain(np.in1d, np.in1d, GRID, ROW))  # noqa: NPY201

WRITES = "writes into an array"
MASK = A([True, False, True, True, False])

REFUSED = [
    refused(np.put, lambda x: np.put(x, [0], [1.0]), [ROW], ImmutableError, WRITES),
    refused(np.put, lambda v: np.put(np.zeros(5), [0], v), [normal(1)], ImmutableError, WRITES,
            "of a tensor"),
    refused(np.place, lambda x: np.place(x, MASK, [1.0]), [ROW], ImmutableError, WRITES),
    refused(np.putmask, lambda x: np.putmask(x, MASK, 1.0), [ROW], ImmutableError, WRITES),
    refused(np.copyto, lambda x: np.copyto(np.zeros(5), x), [ROW], ImmutableError, WRITES),
    refused(np.fill_diagonal, lambda x: np.fill_diagonal(x, 1.0), [GRID], ImmutableError, WRITES),
    refused(np.put_along_axis, lambda x: np.put_along_axis(x, A([[0]] * 4), 1.0, 1), [GRID],
            ImmutableError, WRITES),
    refused(np.take, lambda x: np.take(x, 0, out=np.zeros(())), [ROW], ImmutableError, "out"),
    refused(np.choose, lambda x: np.choose(PICKED, [x, x, x], out=np.zeros(4)), [normal(4)],
            ImmutableError, "out"),
    refused(np.choose, lambda x: np.choose(PICKED, [x, x, x], np.zeros(4)), [normal(4)],
            ImmutableError, "out"),
    refused(np.choose, lambda x: np.choose([2], [x, x]), [normal(1)], ValueError, "invalid entry"),
    refused(np.piecewise, lambda x: np.piecewise(x, [x > -9], [A([1.0, 2.0]), 0]), [PARTS], ValueError, "broadcast"),
    refused(np.piecewise, lambda x: np.piecewise(x, [x > 0], [1, 2, 3]), [ROW], ValueError,
            "1 condition"),
    refused(np.select, lambda x: np.select([x > 0], [x, x]), [ROW], ValueError, "same length"),
    refused(np.select, lambda x: np.select([x], [x]), [ROW], TypeError, "bool"),
    refused(np.sort, lambda x: np.sort(x, order="a"), [ROW], UnsupportedArgumentError, "order"),
    refused(getitem, lambda x: x[5], [ROW], IndexError, "out of bounds"),
    refused(getitem, lambda x: x[[0, 7]], [ROW], IndexError, "out of bounds"),
    refused(getitem, lambda x: x[0, 0], [ROW], IndexError, "too many indices"),
    refused(getitem, lambda x: x[x], [positive(5)], IndexError, "integer"),
    refused(getitem, lambda x: x[MASK[:3]], [ROW], IndexError, "boolean index"),
    refused(np.take, lambda x: np.take(x, 5), [ROW], IndexError, "out of bounds"),
    refused(np.take, lambda x: np.take(x, A(1.0)), [ROW], TypeError, "Cannot cast"),
    refused(np.take, lambda x: np.take(x, x), [ROW], UnsupportedArgumentError, "indices"),
]
# fmt: on
