"""Cases of the functions that lay out, join, split, repeat and pad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic import Tensor, Variable, constant
from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.variable import identity
from tapemagic.errors import DtypeError, ImmutableError, ShapeError, UnsupportedArgumentError
from tests.rules.checks import silence
from tests.rules.harness import case, normal, plain, refused, special

A, B, C = normal(2, 3), normal(2, 3, seed=1), normal(2, 3, 4)
X, Y, NUMBER = normal(3), normal(3, seed=1), normal()
EMPTY, HOLLOW = normal(0), normal(2, 0, 3)
PLANE = normal(2, 3) + 1j * normal(2, 3, seed=1)


def on(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """The call of a function on one array, with further arguments."""
    return lambda x: function(x, *args, **kwargs)


def of_list(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """The call of a function on the list of several arrays, with further arguments."""
    return lambda *xs: function(list(xs), *args, **kwargs)


def by_axis(widths: dict[int, Any], pairs: Any) -> Callable[..., Any]:
    """Padding a tensor by a dict; bare arrays, since older NumPys know no dict, by pairs."""
    return lambda x: np.pad(x, widths if isinstance(x, Tensor) else pairs)


def read(x: Any) -> Any:
    """What reading a variable does to its value."""
    return apply(operation(identity), (x,), {}) if isinstance(x, Tensor) else x


# -- the same elements ----------------------------------------------------------------------------

LAYOUTS = [
    *(case(identity, read, x) for x in (NUMBER, A)),
    *(case(np.copy, None, x) for x in (NUMBER, A, EMPTY)),
    case(np.copy, on(np.copy, order="F"), A),
    *(case(np.astype, on(np.astype, np.float64), x) for x in (A, EMPTY)),
    case(np.astype, on(np.astype, np.complex128, copy=False), A, label="to complex"),
    case(np.astype, on(np.astype, np.complex128), PLANE, label="complex"),
    case(np.reshape, on(np.reshape, (3, 2)), A),
    case(np.reshape, on(np.reshape, [-1, 2, 1]), A),
    case(np.reshape, on(np.reshape, -1), C),
    case(np.reshape, on(np.reshape, (1, 1)), NUMBER),
    case(np.reshape, on(np.reshape, ()), normal(1, 1)),
    case(np.reshape, on(np.reshape, (3, 0)), HOLLOW),
    case(np.reshape, on(np.reshape, (3, 2)), PLANE, label="complex"),
    case(np.reshape, on(np.reshape, (4, 3, 2), order="F"), C),
    case(np.reshape, on(np.reshape, (-1, 4), "F"), C),
    case(np.reshape, on(np.reshape, (1, 1), order="F"), NUMBER),
    case(np.reshape, on(np.reshape, (3, 2), order="A"), A),
    case(np.reshape, lambda x: np.reshape(x.T, (2, 12), order="A"), C),
    case(np.reshape, lambda x: np.reshape(np.swapaxes(x, 0, 1), 24, order="A"), C),
    *(case(np.ravel, None, x) for x in (NUMBER, X, C, EMPTY)),
    *(case(np.ravel, on(np.ravel, order=order), C) for order in "CFAK"),
    *(case(np.ravel, lambda x, o=order: np.ravel(x.T, o), C) for order in "CFAK"),
    case(np.expand_dims, on(np.expand_dims, 0), NUMBER),
    case(np.expand_dims, on(np.expand_dims, -1), A),
    case(np.expand_dims, on(np.expand_dims, axis=(0, 2)), A),
    case(np.squeeze, None, normal(1, 3, 1)),
    case(np.squeeze, None, NUMBER),
    case(np.squeeze, None, normal(1, 1)),
    case(np.squeeze, on(np.squeeze, -1), normal(1, 3, 1)),
    case(np.squeeze, on(np.squeeze, axis=(0, 2)), normal(1, 3, 1)),
    *(
        case(function, None, x)
        for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
        for x in (NUMBER, X, A, C, EMPTY)
    ),
    *(case(function, None, NUMBER, X, A) for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)),
    case(np.atleast_2d, lambda x: np.atleast_2d(x, np.arange(3.0), 2.0), X),
]


AXES = [
    *(case(np.transpose, None, x) for x in (NUMBER, X, A, C, EMPTY, PLANE)),
    *(case(np.transpose, on(np.transpose, axes), C) for axes in ((1, 2, 0), [2, 0, 1], (0, -1, 1))),
    case(np.transpose, on(np.transpose, axes=0), X),
    case(np.transpose, on(np.permute_dims, axes=(1, 0)), A),
    *(case(np.swapaxes, on(np.swapaxes, *axes), C) for axes in ((0, 2), (-1, 0), (1, 1))),
    *(
        case(np.moveaxis, on(np.moveaxis, source, destination), C)
        for source, destination in ((0, 2), (-1, 0), ((0, 1), (2, 0)), ([2, 0], [0, -1]))
    ),
    *(
        case(np.rollaxis, on(np.rollaxis, *args), C)
        for args in ((2,), (0, 3), (1, 3), (-1, 1), (0, -1), (2, -3), (1, 1), (1, 2))
    ),
    *(case(np.flip, None, x) for x in (NUMBER, X, C, EMPTY)),
    *(case(np.flip, on(np.flip, axis=axis), C) for axis in (0, -1, (0, 2), (-1, 1), ())),
    *(case(np.fliplr, None, x) for x in (A, C)),
    *(case(np.flipud, None, x) for x in (X, A, C)),
    *(case(np.rot90, on(np.rot90, k), A) for k in (-1, 0, 1, 2, 3, 6)),
    *(case(np.rot90, on(np.rot90, k=1, axes=axes), C) for axes in ((1, 2), (2, 0), (-1, -2))),
    case(np.rot90, None, A),
    *(case(np.roll, on(np.roll, shift), x) for x in (X, C, EMPTY) for shift in (2, -4)),
    case(np.roll, on(np.roll, 1), NUMBER),
    *(case(np.roll, on(np.roll, 2, axis=axis), C) for axis in (0, -1, (1, 2), (0, -1))),
    *(case(np.roll, on(np.roll, (1, -1), axis=axis), C) for axis in ((1, 2), (-1, 0), (2, 2), 1)),
    case(np.roll, on(np.roll, np.array([1, 2]), (0, 2)), C),
]

REPEATS = [
    *(case(np.repeat, on(np.repeat, 3), x) for x in (NUMBER, X, A, EMPTY)),
    *(case(np.repeat, on(np.repeat, 2, axis=axis), C) for axis in (0, 1, -1)),
    *(case(np.repeat, on(np.repeat, counts), X) for counts in ([2, 0, 3], (1, 1, 1), [2], 0)),
    *(case(np.repeat, on(np.repeat, np.array([1, 3, 0]), axis=axis), C) for axis in (1, -2)),
    case(np.repeat, on(np.repeat, 2, axis=0), NUMBER),
    *(case(np.tile, on(np.tile, reps), X) for reps in (2, (2,), (2, 3), (2, 1, 2), 0, ())),
    *(case(np.tile, on(np.tile, reps), C) for reps in (2, (2, 3), (1, 2, 1, 3), np.array([3, 1, 2]))),
    *(case(np.tile, on(np.tile, reps=(2, 2)), x) for x in (NUMBER, EMPTY)),
    case(np.tile, on(np.tile, (2, 2, 2)), HOLLOW),
    case(np.broadcast_to, on(np.broadcast_to, (2, 3)), X),
    case(np.broadcast_to, on(np.broadcast_to, shape=(4, 2, 3)), normal(2, 1)),
    case(np.broadcast_to, on(np.broadcast_to, 4), NUMBER),
    case(np.broadcast_to, on(np.broadcast_to, (0, 3)), X),
    case(np.broadcast_to, on(np.broadcast_to, ()), NUMBER),
    *(
        case(np.broadcast_arrays, None, *xs)
        for xs in ((X,), (A, B), (A, X), (normal(2, 1), X, NUMBER), (NUMBER, NUMBER), (EMPTY, normal(1)))
    ),
    case(np.broadcast_arrays, lambda x: np.broadcast_arrays(x, np.ones((2, 1)), 2.0), X),
    *(case(np.meshgrid, None, *xs) for xs in ((X,), (X, normal(2)), (X, NUMBER, A), (EMPTY, X))),
    *(
        case(np.meshgrid, lambda *xs, k=kwargs: np.meshgrid(*xs, **k), X, normal(2), normal(4))
        for kwargs in (
            {"indexing": "ij"},
            {"indexing": "ij", "sparse": True},
            {"sparse": True, "copy": False},
            {"copy": False},
        )
    ),
    case(np.meshgrid, lambda x: np.meshgrid(x, np.arange(2.0), [1.0, 2.0]), X),
    *(case(np.full_like, np.full_like, *xs) for xs in ((A, NUMBER), (A, X), (X, normal(1)), (EMPTY, NUMBER))),
    case(np.full_like, lambda a, v: np.full_like(a, fill_value=v, shape=(3, 4), order="F"), A, NUMBER),
]

# -- several into one, and one into several -------------------------------------------------------

JOINS = [
    *(case(np.concatenate, of_list(np.concatenate), *xs) for xs in ((X,), (X, EMPTY, Y), (A, B, normal(1, 3)))),
    *(case(np.concatenate, of_list(np.concatenate, axis), A, normal(2, 2), B) for axis in (1, -1)),
    *(case(np.concatenate, of_list(np.concatenate, axis=axis), C, C + 1) for axis in (0, 1, -2)),
    case(np.concatenate, of_list(np.concatenate, axis=None), A, NUMBER, EMPTY, X),
    case(np.concatenate, lambda x: np.concat([x, [1.0, 2.0], (3.0,), np.ones(2)]), X),
    case(np.concatenate, lambda x, z: np.concatenate((x, [z, 1.0], [2.0, z])), X, NUMBER),
    case(np.concatenate, lambda x: np.concatenate([1.0, x, [2.0]], axis=None), NUMBER),
    case(np.concatenate, lambda x: np.concatenate(x, axis=1), C, label="one array"),
    case(np.concatenate, of_list(np.concatenate, dtype=np.complex128), X, Y),
    case(np.concatenate, of_list(np.concatenate), A, PLANE, label="real and complex"),
    case(np.concatenate, lambda x: np.concatenate([x, 2 * x, x]), X, label="one array thrice"),
    *(case(np.stack, of_list(np.stack, axis=axis), A, B) for axis in (0, 1, 2, -1, -3)),
    *(case(np.stack, of_list(np.stack), *xs) for xs in ((NUMBER, normal(seed=2)), (X,), (EMPTY, EMPTY))),
    case(np.stack, lambda x, z: np.stack([x, [1.0, z, 2.0], np.ones(3)], -1), X, NUMBER),
    case(np.stack, lambda z: np.stack((z, 1.0, 2)), NUMBER),
    case(np.stack, lambda x: np.stack(x, axis=1), A, label="one array"),
    case(np.stack, of_list(np.stack, dtype=np.complex128, casting="safe"), X, Y),
    *(
        case(function, of_list(function), *xs)
        for function in (np.vstack, np.hstack, np.dstack)
        for xs in ((NUMBER, normal(seed=2)), (X, Y), (A, B), (C, C + 1), (EMPTY, EMPTY))
    ),
    case(np.vstack, of_list(np.vstack, dtype=np.complex128), X, A),
    case(np.vstack, lambda z: np.vstack([z, 2.0, [3.0]]), NUMBER),
    case(np.vstack, np.vstack, C, label="one array"),
    case(np.hstack, of_list(np.hstack), NUMBER, X, EMPTY),
    case(np.hstack, of_list(np.hstack), A, normal(2, 1)),
    case(np.hstack, lambda x: np.hstack((x, 1.0, [2.0, 3.0], np.ones(2))), X),
    case(np.dstack, of_list(np.dstack), X, normal(1, 3), normal(1, 3, 2)),
    case(np.column_stack, of_list(np.column_stack), X, normal(3, 2), Y),
    case(np.column_stack, of_list(np.column_stack), NUMBER, NUMBER + 1),
    case(np.column_stack, of_list(np.column_stack), C, C + 1),
    case(np.column_stack, lambda x: np.column_stack([x, np.ones(3), [1.0, 2.0, 3.0]]), X),
    case(np.block, lambda a, b, x: np.block([[a, b], [x, x]]), A, B, X),
    case(np.block, lambda a, x, z: np.block([[a, np.ones((2, 1))], [x, z]]), A, X, NUMBER),
    case(np.block, lambda x, z: np.block([x, z, 2.0]), X, NUMBER),
    case(np.block, lambda c: np.block([[[c], [2 * c]], [[c], [c]]]), C),
    case(np.block, lambda a: np.block([[[a]], [[a]]]), A, label="lifted"),
    case(np.block, np.block, A, label="no list"),
    case(np.block, np.block, NUMBER, label="no list"),
    case(np.block, lambda a, x: np.block([[a], [x]]), PLANE, X, label="real and complex"),
]

SPLITS = [
    *(case(np.split, on(np.split, cuts), normal(6)) for cuts in (3, 1, [2, 3], (1, 1, 4), [])),
    *(case(np.split, on(np.split, cuts), normal(6)) for cuts in ([4, 9], [-2], np.array([1, -1]))),
    *(case(np.split, on(np.split, cuts), normal(6)) for cuts in ([4, 2], [3, 1, 5], [-9, 2])),
    *(case(np.split, on(np.split, 2, axis=axis), C) for axis in (0, -1)),
    case(np.split, on(np.split, [1], axis=-2), C),
    case(np.split, on(np.split, [2, 1], 1), A, label="overlapping"),
    case(np.split, lambda x: np.split(x, 3)[1], normal(6), label="one part"),
    case(np.split, on(np.split, 2), HOLLOW),
    *(case(np.array_split, on(np.array_split, cuts), normal(7)) for cuts in (3, 9, [2, 5])),
    case(np.array_split, on(np.array_split, 3, axis=-1), C),
    *(case(np.hsplit, on(np.hsplit, cuts), x) for x, cuts in ((X, 3), (A, [1]), (C, 3))),
    *(case(np.vsplit, on(np.vsplit, cuts), x) for x, cuts in ((A, 2), (C, [1]))),
    case(np.dsplit, on(np.dsplit, 2), C),
]

if NEWER := hasattr(np, "unstack"):  # from NumPy 2.1 on; 2.0 overflows in unsigned shifts
    AXES.append(case(np.roll, on(np.roll, np.uint8(1)), X))
    SPLITS += [
        *(case(np.unstack, None, x) for x in (X, A, C)),
        *(case(np.unstack, on(np.unstack, axis=axis), C) for axis in (1, -1)),
        case(np.unstack, lambda x: np.unstack(x)[1], A, label="one part"),
    ]

# -- longer, shorter, slice by slice --------------------------------------------------------------

ZEROS = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0])
HOLES = np.array([[0.0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
PLACES = (1, -1, [1], [0, 2], [2, 2, 0], slice(0, 2), [-1, 0])


def trimmed(zeros: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Trimming an array that has some zeros."""
    return lambda x: np.trim_zeros(x * zeros, *args, **kwargs)


def inserted(obj: Any, axis: Any = None) -> Callable[..., Any]:
    """Inserting the second array into the first."""
    return lambda x, values: np.insert(x, obj, values, axis=axis)


CHANGES = [
    *(case(np.append, None, *xs) for xs in ((X, Y), (A, NUMBER), (NUMBER, A), (EMPTY, X))),
    *(case(np.append, on(np.append, [[1.0, 2.0, 3.0]], axis=axis), A) for axis in (0, -2)),
    case(np.append, lambda x, y: np.append(x, y, 1), A, normal(2, 1)),
    case(np.append, lambda x: np.append([1.0, 2.0], x), X, label="to a list"),
    case(np.append, lambda x: np.append(x, [x[0], 2.0]), X, label="a list"),
    *(case(np.insert, inserted(obj), X, NUMBER, label=f"{obj}") for obj in PLACES),
    *(case(np.insert, inserted(obj, 0), normal(3, 2), X[:2], label=f"{obj}, 0") for obj in PLACES),
    *(case(np.insert, inserted(obj, 1), A, NUMBER, label=f"{obj}, 1") for obj in PLACES),
    *(case(np.insert, inserted(obj), A, NUMBER, label=f"{obj}, all") for obj in (4, [0, 5])),
    case(np.insert, inserted(1), X, Y, label="several in one place"),
    case(np.insert, inserted([1]), X, Y, label="several in one place of a list"),
    case(np.insert, inserted([0, 2]), X, Y[:2], label="several"),
    case(np.insert, inserted(1, -1), A, Y[:2], label="a column"),
    case(np.insert, inserted([1], -1), A, normal(2, 2), label="two columns"),
    case(np.insert, inserted([0, 3], -1), A, normal(2, 2), label="two columns apart"),
    case(np.insert, inserted([], 0), A, NUMBER, label="nothing"),
    *(
        case(np.insert, inserted(obj), A, normal(1, count), label=f"{obj}, a row into all")
        for obj, count in ((slice(0, 3), 3), ([0, 2], 2), ([1], 1), (1, 1))
    ),
    case(np.insert, inserted([0, 2]), X, normal(1, 1, 2), label="leading axes"),
    case(np.insert, inserted([0, 1], 1), A, normal(1, 2, 2), label="leading axis, 1"),
    case(np.insert, inserted(0), EMPTY, NUMBER, label="into nothing"),
    case(np.insert, inserted(2), X, PLANE[0].real, label="real"),
    case(np.insert, lambda x: np.insert(x, 1, [5, 6]), X, label="plain values"),
    case(np.insert, lambda x: np.insert([1.0, 2.0], 1, x), X, label="into a list"),
    case(np.delete, on(np.delete, np.array([True, False, True])), X, label="mask"),
    *(case(np.delete, on(np.delete, obj), X, label=f"{obj}") for obj in PLACES),
    *(case(np.delete, on(np.delete, obj, axis=0), normal(3, 2)) for obj in PLACES),
    case(np.delete, on(np.delete, [0, 7], None), C, label="of all"),
    case(np.delete, on(np.delete, [], 1), A, label="nothing"),
    case(np.delete, on(np.delete, slice(None), -1), C, label="everything"),
    *(case(np.resize, on(np.resize, shape), x) for x in (NUMBER, A) for shape in (4, (2, 5), (1,))),
    *(case(np.resize, on(np.resize, shape), A) for shape in ((), (0, 2), (3, 2, 1))),
    *(case(np.trim_zeros, trimmed(ZEROS, trim), normal(6)) for trim in ("fb", "f", "B", "BF")),
    case(np.trim_zeros, trimmed(np.zeros(6)), normal(6), label="nothing left"),
    case(np.trim_zeros, np.trim_zeros, EMPTY, label="nothing"),
    *(
        case(np.apply_along_axis, lambda x, k=axis, f=f: np.apply_along_axis(f, k, x), C)
        for axis in (0, 1, -1)
        for f in (np.sum, np.cumsum, lambda row: np.outer(row, row), lambda row: [row[0], 2.0])
    ),
    case(np.apply_along_axis, lambda x: np.apply_along_axis(np.dot, 0, x, x), X, label="argument"),
    case(np.apply_along_axis, lambda x: np.apply_along_axis(np.sum, 0, x, keepdims=True), A, label="keyword"),
    *(
        case(np.apply_over_axes, lambda x, k=axes: np.apply_over_axes(np.sum, x, k), C)
        for axes in (0, -1, (0, 2), [1, -1])
    ),
    case(np.apply_over_axes, lambda x: np.apply_over_axes(np.cumsum, x, (0, 1)), A),
]

# -- padding --------------------------------------------------------------------------------------

WIDTHS = (0, 2, (1, 2), (3,), [[1], [2]], ((0, 2), (1, 0)), np.array([2, 1]))
MODES = ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean", "maximum", "minimum", "median")

PADS = [
    *(case(np.pad, on(np.pad, width), A, label="constant") for width in WIDTHS),
    *(case(np.pad, on(np.pad, width, mode), A, label=mode) for mode in MODES for width in WIDTHS),
    *(case(np.pad, on(np.pad, 5, mode=mode), normal(2, 4), label=f"{mode}, far") for mode in MODES),
    *(case(np.pad, on(np.pad, 2, mode=mode), normal(1), label=f"{mode}, one") for mode in MODES),
    *(case(np.pad, on(np.pad, 1, mode=mode), C, label=f"{mode}, 3 axes") for mode in MODES),
    *(case(np.pad, on(np.pad, ((0, 0), (0, 0), (1, 2)), mode), HOLLOW, label=f"{mode}, empty") for mode in MODES),
    *(case(np.pad, on(np.pad, 0, mode), NUMBER, label=f"{mode}, number") for mode in ("constant", "edge")),
    case(np.pad, by_axis({1: 2}, ((0, 0), (2, 2))), A, label="dict"),
    case(np.pad, by_axis({0: (1, 0), -1: 3}, ((1, 0), (3, 3))), A, label="dict"),
    case(np.pad, on(np.pad, 2), EMPTY, label="constant"),
    case(np.pad, on(np.pad, 1, "constant"), PLANE, label="constant, complex"),
    case(np.pad, on(np.pad, 2, "reflect"), PLANE, label="reflect, complex"),
    case(np.pad, on(np.pad, 2, "reflect", reflect_type="even"), A, label="reflect, even"),
    *(
        case(np.pad, lambda x, v, w=width: np.pad(x, w, constant_values=v), x, v, label="constant_values")
        for x, width, v in (
            (A, 2, NUMBER),
            (A, (1, 2), normal(1)),
            (A, 2, normal(2)),
            (A, ((1, 2), (0, 3)), normal(2, 2)),
            (A, 1, normal(2, 1)),
            (C, ((1, 2), (2, 0), (0, 1)), normal(3, 2)),
            (X, (0, 2), normal(2)),
            (EMPTY, 1, NUMBER),
        )
    ),
    case(np.pad, lambda x, v: np.pad(x, 1, constant_values=((0.0, v), (v, 1))), A, NUMBER),
    *(
        case(np.pad, lambda x, v: np.pad(x, (2, 3), "linear_ramp", end_values=v), A, v, label="end_values")
        for v in (NUMBER, normal(2), normal(2, 1), normal(2, 2))
    ),
    case(np.pad, on(np.pad, 2, "linear_ramp", end_values=((1, 2), (3, 4.0))), A),
    *(
        case(np.pad, on(np.pad, (2, 1), mode, stat_length=length), normal(3, 4), label=f"{mode}, stat_length")
        for mode in ("mean", "maximum", "minimum", "median")
        for length in (1, 2, (2, 9), ((1, 2), (3, 1)), None)
    ),
]

PADS += [
    case(np.pad, on(np.pad, width, mode, reflect_type="odd"), x, label=f"{mode}, odd")
    for mode in ("reflect", "symmetric")
    for x, width in (
        *((A, width) for width in WIDTHS),
        (normal(2, 4), 9),
        (normal(1, 3), (4, 5)),
        (C, 1),
        (HOLLOW, ((1, 1), (0, 0), (2, 1))),
    )
]

with silence():  # earlier NumPys warn, and make numbers of a mask
    if len(np.insert([1, 2], np.array([False, True]), 0)) == 3:
        where = np.array([True, False, True])
        CHANGES.append(case(np.insert, inserted(where), X, Y[:2], label="mask"))

if NEWER:  # earlier ones trim a single axis
    CHANGES += [
        *(case(np.trim_zeros, trimmed(HOLES, t), normal(3, 4)) for t in ("fb", "f", "b")),
        *(case(np.trim_zeros, trimmed(HOLES, axis=axis), normal(3, 4)) for axis in (0, 1, -1, (0, 1), ())),
        case(np.trim_zeros, trimmed(np.zeros((3, 4)), axis=1), normal(3, 4), label="nothing left"),
    ]

CASES = [*LAYOUTS, *AXES, *REPEATS, *JOINS, *SPLITS, *CHANGES, *PADS]

# -- special points -------------------------------------------------------------------------------

TRIO = np.array([1.0, 2.0, 3.0])
SIX = np.arange(6.0).reshape(2, 3)


def weighted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A call, with the elements of its result, or of its last part, times 1, 2, 3 ..."""

    def call(*inputs: Any) -> Any:
        y = function(*inputs)
        y = y[-1] if isinstance(y, (list, tuple)) else y
        return y * np.arange(1.0, y.size + 1).astype(y.dtype).reshape(y.shape)

    return call


def overwritten(function: Callable[..., Any], kept: Any) -> Callable[..., Any]:
    """A call with an array that its owner overwrites afterwards: its squares times 1, 2, 3 ..."""

    def call(x: Any) -> Any:
        array = np.array(kept)
        y = function(x, array)
        array[...] = 0
        return y * y * np.arange(1.0, y.size + 1).reshape(y.shape)

    return call


def scaled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A call with an array that its owner overwrites afterwards: the product of its two results."""

    def call(x: Any) -> Any:
        array = TRIO.copy()
        first, last = function(x, array)
        array[...] = 0
        return first * last

    return call


SINGLE = [
    (np.reshape, on(np.reshape, (3, 2)), SIX + 1),
    (np.transpose, lambda x: np.transpose(np.transpose(x)), SIX + 1),
    (np.concatenate, lambda x: np.concatenate([x[:1], x[1:]]), SIX + 1),
    (np.block, lambda x: np.block([[x[:, :1], x[:, 1:]]]), SIX + 1),
    (np.stack, lambda x: np.stack([x[0], x[1]]), SIX + 1),
    (np.vstack, lambda x: np.vstack([x[0], x[1]]), SIX + 1),
    (np.repeat, on(np.repeat, 2), np.array([[3.0, 7, 11], [15, 19, 23]])),
    (np.tile, on(np.tile, (2, 1)), np.array([[8.0, 10, 12], [14, 16, 18]])),
    (np.flip, np.flip, (SIX + 1)[::-1, ::-1]),
    (np.roll, on(np.roll, 1), np.array([[2.0, 3, 4], [5, 6, 1]])),
    (np.pad, on(np.pad, ((0, 0), (1, 0))), np.array([[2.0, 3, 4], [6, 7, 8]])),
    (np.pad, on(np.pad, ((0, 0), (1, 0)), "edge"), np.array([[3.0, 3, 4], [11, 7, 8]])),
    (np.pad, on(np.pad, ((0, 0), (1, 0)), "linear_ramp"), np.array([[2.0, 3, 4], [6, 7, 8]])),
    (np.pad, on(np.pad, ((0, 0), (1, 0)), "maximum"), np.array([[2.0, 3, 5], [6, 7, 13]])),
    (np.broadcast_to, on(np.broadcast_to, (2, 2, 3)), np.array([[8.0, 10, 12], [14, 16, 18]])),
    (np.copy, np.copy, SIX + 1),
]

SPECIAL = [
    *(
        special(function, weighted(call), [SIX.astype(dtype)], [expected], label=dtype)
        for function, call, expected in SINGLE
        for dtype in ("float32", "float64")
    ),
    special(np.astype, on(np.astype, np.int64), [TRIO], [None], "to whole numbers"),
    special(np.astype, on(np.astype, bool), [TRIO], [None], "to truth values"),
    special(np.astype, lambda x: np.astype(np.astype(x, int), float), [TRIO], [None], "there and back"),
    special(np.astype, weighted(on(np.astype, np.float32)), [TRIO], [TRIO], "to float32"),
    special(np.astype, weighted(on(np.astype, np.float64)), [np.float32(TRIO)], [TRIO], "from float32"),
    special(np.astype, on(np.astype, np.float32), [np.float64(2)], [1.0], "number to float32"),
    special(np.astype, on(np.astype, np.float64), [TRIO + 1j], [np.ones(3)], "complex to real", warns=True),
    special(np.reshape, on(np.reshape, -1), [np.int64([1, 2])], [None], "whole numbers"),
    special(np.concatenate, of_list(np.concatenate), [TRIO, np.int64([1, 2])], [np.ones(3), None], "mixed"),
    special(np.concatenate, of_list(np.concatenate), [np.float32(TRIO), TRIO], [np.ones(3)] * 2, "mixed floats"),
    special(np.concatenate, of_list(np.concatenate, dtype=int, casting="unsafe"), [TRIO], [None], "to int"),
    special(np.full_like, np.full_like, [TRIO, np.float64(2)], [None, 3.0], "no gradient in the template"),
    special(np.full_like, lambda x: np.full_like(x, 2.0), [TRIO], [None], "constant"),
    special(np.full_like, lambda x, v: np.full_like(x, v, dtype=int), [TRIO, np.float64(2)], [None] * 2, "int"),
    special(np.split, weighted(on(np.split, [1])), [TRIO], [[0, 1, 2]], "unused part"),
    special(np.array_split, weighted(on(np.array_split, 5)), [TRIO], [np.zeros(3)], "empty part"),
    special(np.split, on(np.split, [2, 1]), [TRIO], [[1, 2, 1]], "overlap counts twice"),
    special(np.split, on(np.split, [2, 2]), [np.float32(TRIO)], [np.ones(3)], "float32"),
    special(np.meshgrid, weighted(np.meshgrid), [TRIO[:2], TRIO], [[0, 0], [3, 7, 11]], "unused part"),
    special(np.broadcast_arrays, weighted(np.broadcast_arrays), [TRIO, np.float64(2)], [[0, 0, 0], 6.0], "unused part"),
    special(np.stack, of_list(np.stack), [np.float32(1), np.float64(2)], [1.0, 1.0], "mixed numbers"),
    special(np.tile, on(np.tile, 0), [TRIO], [np.zeros(3)], "nothing left"),
    special(np.repeat, on(np.repeat, [0, 2, 1]), [TRIO], [[0, 2, 1]], "counts"),
    special(np.pad, lambda x: np.pad(x, 1, "empty")[1:-1] * TRIO, [TRIO], [TRIO], "empty"),
    special(np.resize, on(np.resize, 4), [np.ones(0)], [None], "nothing"),
    special(np.append, np.append, [np.float32(TRIO), np.float64(2)], [np.ones(3), 1.0], "mixed floats"),
    special(
        np.apply_along_axis,
        lambda x: np.apply_along_axis(lambda row: row[0] if row[0] > 1 else 0, 0, x[None]),
        [TRIO],
        [None],
        "the first one's dtype",
    ),
    special(np.pad, on(np.pad, 1, "maximum"), [np.array([1.0, 1.0])], [[2.0, 2.0]], "ties"),
    special(np.pad, on(np.pad, (3, 0), "wrap"), [TRIO[:2]], [[2, 3]], "wrapped twice"),
    special(np.pad, on(np.pad, 2), [np.int64([1, 2])], [None], "whole numbers"),
    special(np.pad, on(np.pad, 2, "mean"), [np.int64([1, 2])], [None], "whole numbers, mean"),
    special(np.pad, on(np.pad, (0, 2), "linear_ramp"), [np.float32(TRIO)], [[1, 1, 1.5]], "float32"),
    special(np.broadcast_arrays, scaled(np.broadcast_arrays), [TRIO], [TRIO], "overwritten"),
    special(np.atleast_1d, scaled(np.atleast_1d), [TRIO], [TRIO], "overwritten"),
    special(np.atleast_2d, scaled(np.atleast_2d), [TRIO], [TRIO], "overwritten"),
    special(np.meshgrid, scaled(lambda x, k: np.meshgrid(x, k, copy=False)), [TRIO], [[6, 6, 6]], "overwritten"),
    special(np.roll, overwritten(np.roll, 1), [TRIO], [[4, 12, 6]], "overwritten"),
    special(np.repeat, overwritten(np.repeat, [0, 1, 2]), [TRIO], [[0, 4, 30]], "overwritten"),
    special(np.tile, overwritten(np.tile, [2]), [TRIO], [[10, 28, 54]], "overwritten"),
    special(np.pad, overwritten(np.pad, [1, 0]), [TRIO], [[4, 12, 24]], "overwritten"),
    special(np.reshape, overwritten(np.reshape, [3, 1]), [TRIO], [[2, 8, 18]], "overwritten"),
    special(
        np.concatenate, overwritten(lambda x, k: np.concatenate([k, x]), [5.0]), [TRIO], [[4, 12, 24]], "overwritten"
    ),
    special(np.vstack, overwritten(lambda x, k: np.vstack([k, x]), TRIO), [TRIO], [[8, 20, 36]], "overwritten"),
    special(np.block, overwritten(lambda x, k: np.block([k, x]), [5.0]), [TRIO], [[4, 12, 24]], "overwritten"),
    special(
        np.pad,
        overwritten(lambda x, k: np.pad(x, (1, 0), constant_values=k), 4.0),
        [TRIO],
        [[4, 12, 24]],
        "overwritten constants",
    ),
    special(np.tile, lambda x: np.tile(x, constant(2)), [TRIO], [[2, 2, 2]], "tensor of a whole number"),
    special(np.roll, lambda x: x * np.roll(x, constant(1)), [TRIO], [[5, 4, 3]], "tensor of a whole number"),
    special(np.repeat, lambda x: np.repeat(x, Variable([1, 0, 2])), [TRIO], [[1, 0, 2]], "variable counts"),
    special(np.reshape, lambda x: np.reshape(x, (constant(3), 1)), [TRIO], [[1, 1, 1]], "tensor in a shape"),
]

if NEWER:
    SPECIAL += [
        special(np.unstack, weighted(np.unstack), [SIX], [[[0, 0, 0], [1, 2, 3]]], "unused part"),
        special(np.unstack, lambda x: (np.sum(x), *np.unstack(x)), [np.ones((0, 2))], [np.ones((0, 2))], "empty"),
    ]

PLAIN = [
    plain(np.zeros_like, None, TRIO),
    plain(np.zeros_like, on(np.zeros_like, dtype=np.float32, shape=(2, 2)), SIX),
    plain(np.zeros_like, on(np.zeros_like, dtype=int), SIX),
    plain(np.ones_like, None, np.float64(2)),
    plain(np.ones_like, on(np.ones_like, shape=(1, 2)), SIX),
    plain(np.empty_like, lambda x: np.empty_like(x, shape=(0, 3)), SIX),
    plain(np.empty_like, lambda x: np.empty_like(x).shape, SIX),
]

# -- refusals -------------------------------------------------------------------------------------

REFUSED = [
    refused(np.concatenate, lambda x: np.concatenate([x, x], out=np.empty(6)), [TRIO], ImmutableError, "out"),
    refused(np.concatenate, lambda x: np.concatenate([x, x], 0, np.empty(6)), [TRIO], ImmutableError, "out"),
    refused(np.stack, lambda x: np.stack([x, x], out=np.empty((2, 3))), [TRIO], ImmutableError, "out"),
    refused(np.stack, lambda x: np.stack([x, x], 0, np.empty((2, 3))), [TRIO], ImmutableError, "out"),
    refused(np.ravel, lambda x: np.ravel(np.swapaxes(x, 0, 1), "K"), [C], UnsupportedArgumentError, "order='K'"),
    refused(np.reshape, on(np.reshape, 6, order="K"), [SIX], ValueError, "order"),
    refused(np.reshape, on(np.reshape, 5), [SIX], ValueError, "reshape"),
    refused(np.tile, lambda x: np.tile(TRIO, x), [np.float64(2)], UnsupportedArgumentError, "'reps'"),
    refused(np.pad, on(np.pad, 1, lambda *_: None), [TRIO], UnsupportedArgumentError, "mode=<lambda>"),
    refused(np.pad, on(np.pad, 1, "nonsense"), [TRIO], UnsupportedArgumentError, "'nonsense'"),
    refused(np.pad, on(np.pad, 1, "reflect", reflect_type="strange"), [TRIO], UnsupportedArgumentError, "strange"),
    refused(np.pad, on(np.pad, 1, "reflect", reflect_type="odd"), [np.ones(0)], ValueError, "empty axis"),
    refused(np.insert, lambda x: np.insert(x, 5, 1.0), [TRIO], IndexError, "out of bounds"),
    refused(np.insert, lambda x: np.insert(x, 0, 1.0, 1), [TRIO], ValueError, "out of bounds"),
    refused(np.insert, lambda x: np.insert(x, 0, x), [SIX], ShapeError, "have more axes than"),
    refused(np.insert, lambda x: np.insert(x, 0, 1 + 2j), [TRIO], DtypeError, r"np.real\(values\)"),
    refused(np.delete, lambda x: np.delete(x, 5), [TRIO], IndexError, "out of bounds"),
    refused(np.resize, lambda x: np.resize(x, (-1, 2)), [TRIO], ValueError, "non-negative"),
    refused(
        np.apply_along_axis,
        lambda x: np.apply_along_axis(np.sum, 1, x),
        [np.ones((0, 2))],
        ValueError,
        "iteration dimensions",
    ),
    refused(
        np.apply_over_axes, lambda x: np.apply_over_axes(lambda y, _: y[0, 0], x, 0), [SIX], ValueError, "correct shape"
    ),
    refused(np.pad, on(np.pad, 1, "edge", constant_values=1), [TRIO], UnsupportedArgumentError, "constant_values"),
    refused(np.pad, on(np.pad, 1, "mean", end_values=1), [TRIO], TypeError, "end_values"),
    refused(np.pad, on(np.pad, -1), [TRIO], ValueError, "negative"),
    refused(np.pad, on(np.pad, 1.5, "mean"), [TRIO], TypeError, "integer"),
    refused(np.pad, on(np.pad, 1, "mean"), [np.ones(0)], ValueError, "empty axis"),
    refused(np.pad, on(np.pad, 1, "edge"), [np.ones(0)], ValueError, "empty axis"),
    refused(np.split, on(np.split, 2), [TRIO], ValueError, "equal division"),
    refused(np.array_split, on(np.array_split, 0), [TRIO], ValueError, "larger than 0"),
    refused(np.hsplit, on(np.hsplit, 1), [np.float64(2)], ValueError, "hsplit"),
    refused(np.vsplit, on(np.vsplit, 1), [TRIO], ValueError, "vsplit"),
    refused(np.dsplit, on(np.dsplit, 1), [SIX], ValueError, "dsplit"),
    refused(np.block, lambda x: np.block([x, (x, x)]), [TRIO], TypeError, "tuple"),
    refused(np.block, lambda x: np.block([x, [x]]), [TRIO], ValueError, "depth"),
    refused(np.stack, lambda x: np.stack([x, x[:2]]), [TRIO], ValueError, "shape"),
    refused(np.meshgrid, on(np.meshgrid, indexing="yx"), [TRIO], ValueError, "indexing"),
]
