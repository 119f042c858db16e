"""Cases of linear algebra: inverses, systems of equations, determinants, powers, norms, and aliases."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.rules.norm_rules import spectral
from tapemagic.errors import ImmutableError, UnsupportedArgumentError
from tests.rules.harness import Case, Special, case, complexes, normal, plain, refused, special

LA = np.linalg
INF = np.inf
NAN = np.nan


def regular(*shape: int, seed: int = 0) -> Any:
    """Square matrices far from singular ones."""
    return normal(*shape, seed=seed) + 3 * np.eye(shape[-1])


def regular_complex(*shape: int, seed: int = 0) -> Any:
    """The same, complex."""
    return complexes(*shape, seed=seed) + (3 - 2j) * np.eye(shape[-1])


def of_rank(rank: int, n: int, make: Callable[..., Any] = normal) -> Any:
    """A matrix of n rows and columns, and a lower rank."""
    return make(n, rank, seed=rank) @ make(rank, n, seed=rank + 1)


def named(params: dict[str, Any]) -> list[str]:
    """Parameters as the label of a case shows them."""
    return [f"{name}={value}" for name, value in params.items()]


def of(function: Any, x: Any, label: str = "", **params: Any) -> Case:
    """A case of one array."""
    kind = "complex" if x.dtype.kind == "c" else ""
    parts = [part for part in (kind, label or str(x.shape), *named(params)) if part]
    return case(function, lambda x: function(x, **params), x, label="-".join(parts))


def pair(function: Any, a: Any, b: Any, label: str = "", **params: Any) -> Case:
    """A case of two arrays."""
    parts = [label or f"{a.shape} {b.shape}", *named(params)]
    return case(function, lambda a, b: function(a, b, **params), a, b, label="-".join(parts))


INV = [
    *(of(LA.inv, regular(*shape)) for shape in ((1, 1), (3, 3), (2, 3, 3), (2, 1, 2, 2))),
    *(of(LA.inv, np.zeros(shape)) for shape in ((0, 0), (0, 3, 3), (2, 0, 0))),
    of(LA.inv, regular_complex(3, 3)),
    of(LA.inv, regular_complex(2, 3, 3)),
    case(LA.inv, lambda x: LA.inv(x) @ x.mT @ LA.inv(x), regular(3, 3), label="twice"),
    *(
        of(LA.tensorinv, regular(6, 6).reshape(shape), ind=ind)
        for shape, ind in (((6, 3, 2), 1), ((2, 3, 6), 2), ((1, 2, 3, 6), 3), ((6, 6), 1))
    ),
    of(LA.tensorinv, regular(4, 4).reshape(2, 2, 1, 4)),
    of(LA.tensorinv, regular_complex(4, 4).reshape(4, 2, 2), ind=1),
]

SOLVED = (
    ((3, 3), (3,)), ((3, 3), (3, 2)), ((3, 3), (3, 3)), ((1, 1), (1,)), ((2, 3, 3), (3,)),
    ((4, 2, 3, 3), (3,)), ((2, 3, 3), (2, 3, 3)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1)),
    ((3, 3), (4, 2, 3, 2)), ((4, 1, 3, 3), (2, 3, 2)), ((2, 3, 3), (4, 1, 3, 2)), ((2, 3, 3), (4, 2, 3, 1)),
    ((1, 3, 3), (2, 3, 1)), ((2, 3, 3), (1, 3, 2)),
)  # fmt: skip

SOLVE = [
    *(pair(LA.solve, regular(*a), normal(*b, seed=1)) for a, b in SOLVED),
    *(
        pair(LA.solve, np.zeros(a), np.zeros(b))
        for a, b in (((0, 0), (0,)), ((0, 0), (0, 2)), ((0, 3, 3), (3,)), ((0, 3, 3), (3, 2)))
    ),
    pair(LA.solve, regular(3, 3), np.zeros((3, 0)), label="no columns"),
    pair(LA.solve, regular(3, 3), np.zeros((0, 3, 2)), label="empty stack"),
    pair(LA.solve, regular_complex(3, 3), complexes(3), label="complex"),
    pair(LA.solve, regular_complex(2, 3, 3), complexes(4, 1, 3, 2), label="complex stacks"),
    pair(LA.solve, regular(3, 3), complexes(3, 2), label="real complex"),
    pair(LA.solve, regular_complex(3, 3), normal(3, 2), label="complex real"),
    case(LA.solve, lambda b: LA.solve(regular(3, 3), b), normal(3), label="constant matrix"),
    case(LA.solve, lambda a: LA.solve(a, [1, 2, 3]), regular(3, 3), label="constant list"),
    case(LA.solve, lambda x: LA.solve(x, x.mT), regular(3, 3), label="with itself"),
    pair(LA.tensorsolve, regular(6, 6).reshape(2, 3, 6), normal(2, 3)),
    pair(LA.tensorsolve, regular(6, 6).reshape(6, 3, 2), normal(6)),
    pair(LA.tensorsolve, regular(6, 6).reshape(3, 2, 1, 6), normal(3, 2)),
    pair(LA.tensorsolve, normal(2, 6, 3), normal(6), axes=(0,)),
    pair(LA.tensorsolve, normal(2, 3, 3, 2), normal(3, 2), axes=(1, 0)),
    pair(LA.tensorsolve, normal(2, 3, 3, 2), normal(2, 3), axes=[2]),
    pair(LA.tensorsolve, regular_complex(4, 4).reshape(2, 2, 4), complexes(2, 2)),
    case(LA.tensorsolve, lambda b: LA.tensorsolve(regular(4, 4).reshape(2, 2, 4), b), normal(2, 2), label="constant"),
]

RANKS = np.stack([of_rank(rank, 4) for rank in range(5)])
COMPLEX_RANKS = np.stack([of_rank(rank, 3, complexes) for rank in range(4)])
UNITS = 10.0 ** np.array([3, -2, 0])

DET = [
    *(of(LA.det, normal(*shape)) for shape in ((1, 1), (2, 2), (4, 4), (2, 3, 3), (2, 1, 2, 2))),
    *(of(LA.det, np.zeros(shape)) for shape in ((0, 0), (0, 3, 3), (2, 0, 0))),
    of(LA.det, complexes(3, 3)),
    of(LA.det, complexes(2, 3, 3)),
    of(LA.det, np.zeros((1, 1)), "zero"),
    of(LA.det, np.zeros((2, 2)), "zeros"),
    of(LA.det, np.zeros((3, 3)), "many zeros"),
    of(LA.det, np.diag([2.0, 0.0, 0.0]), "rank 1 of 3"),
    of(LA.det, of_rank(3, 4), "rank 3 of 4"),
    of(LA.det, of_rank(2, 3, complexes), "rank 2 of 3"),
    of(LA.det, RANKS, "all ranks"),
    of(LA.det, COMPLEX_RANKS, "all ranks"),
    of(LA.det, np.eye(3), "equal singular values"),
    of(LA.det, regular(3, 3) * UNITS * UNITS[:, None], "different units"),
    of(LA.det, of_rank(2, 3) * UNITS, "rank 2 in different units"),
    of(LA.det, of_rank(2, 3) + 1e-7 * normal(3, 3), "nearly singular"),
    case(LA.det, lambda x: LA.det(x) ** 2, of_rank(2, 3) + np.eye(3) * 0.1, label="squared"),
    of(LA.slogdet, regular(3, 3)),
    of(LA.slogdet, -regular(3, 3), "negative"),
    of(LA.slogdet, normal(1, 1)),
    of(LA.slogdet, regular(2, 3, 3)),
    of(LA.slogdet, np.zeros((0, 0))),
    of(LA.slogdet, np.zeros((0, 2, 2))),
    of(LA.slogdet, regular_complex(3, 3)),
    of(LA.slogdet, regular_complex(2, 2, 2)),
    case(LA.slogdet, lambda x: LA.slogdet(x).logabsdet, regular(2, 3, 3), label="logabsdet"),
    case(LA.slogdet, lambda x: LA.slogdet(x)[0], regular_complex(2, 2), label="complex sign"),
]

POWERS = [
    *(of(LA.matrix_power, normal(3, 3), n=n) for n in range(8)),
    *(of(LA.matrix_power, regular(3, 3), n=n) for n in (-1, -2, -3, -6)),
    of(LA.matrix_power, normal(2, 2) / 2, n=37),
    of(LA.matrix_power, regular(2, 2, 2), n=np.int64(-2)),
    of(LA.matrix_power, normal(2, 1, 2, 2), n=3),
    of(LA.matrix_power, complexes(3, 3), n=5),
    of(LA.matrix_power, regular_complex(2, 2, 2), n=-3),
    *(of(LA.matrix_power, np.zeros(shape), n=3) for shape in ((0, 0), (0, 2, 2))),
]


def chain(*shapes: tuple[int, ...], make: Any = normal) -> Case:
    """A case of multi_dot, one array for each shape."""
    inputs = [make(*shape, seed=i) for i, shape in enumerate(shapes)]
    kind = "" if make is normal else "complex "
    label = kind + " ".join(map(str, shapes))
    return case(LA.multi_dot, lambda *xs: LA.multi_dot(xs), *inputs, label=label)


CHAINS = [
    chain((2, 3), (3, 4)),
    chain((3,), (3,)),
    chain((2, 2, 3), (3, 4)),
    chain((2, 3), (3, 4), (4, 2)),
    chain((5, 1), (1, 4), (4, 2)),
    chain((3,), (3, 4), (4, 2)),
    chain((2, 3), (3, 4), (4,)),
    chain((3,), (3, 4), (4,)),
    chain((2, 3), (3, 4), (4, 2), (2, 5)),
    chain((2, 5), (5, 1), (1, 4), (4, 3), (3, 2)),
    chain((3,), (3, 4), (4, 2), (2,)),
    chain((2, 0), (0, 3), (3, 2)),
    chain((2, 3), (3, 4), (4, 2), make=complexes),
    case(LA.multi_dot, lambda x: LA.multi_dot([x, x, x]), normal(3, 3), label="with itself"),
    case(LA.multi_dot, lambda x: LA.multi_dot([[[1, 2]], x, np.eye(3), x.T]), normal(2, 3), label="constants"),
]

VECTOR_ORDERS = (None, 0, 1, 2, 3, 2.5, 0.5, -1, -2, -0.5, 12, INF, -INF)
MATRIX_ORDERS = (None, "fro", "f", "nuc", 1, -1, 2, -2, INF, -INF)
AXES = ((0, 1), (1, 0), (2, 0), (-1, -2), (1, -1))

LARGEST_OF_NONE = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
"""Whether the norms that are a largest value have one where there is no value: 0."""

NORM = [
    of(LA.norm, normal()),
    of(LA.norm, normal(3)),
    of(LA.norm, normal(3), keepdims=True),
    of(LA.norm, normal(2, 3, 2)),
    of(LA.norm, normal(2, 3, 2), keepdims=True),
    of(LA.norm, complexes(2, 3)),
    of(LA.norm, np.asfortranarray(normal(3, 4)), "columns in memory", ord=1),
    *(of(LA.norm, normal(4), ord=p) for p in VECTOR_ORDERS),
    *(of(LA.norm, complexes(4), ord=p) for p in VECTOR_ORDERS),
    *(of(LA.norm, normal(3, 4), ord=p, axis=0) for p in VECTOR_ORDERS),
    *(of(LA.norm, normal(3, 4, 2), ord=p, axis=-2, keepdims=True) for p in VECTOR_ORDERS),
    of(LA.norm, normal(3, 4), axis=(1,)),
    of(LA.norm, normal(3, 4), ord=INF, axis=(0,), keepdims=True),
    of(LA.norm, normal(3, 4), axis=np.int64(1)),
    of(LA.norm, normal(3, 4), "array", ord=np.array(3), axis=0),
    of(LA.norm, normal(3, 4), "array", ord=np.array(2.0)),
    *(of(LA.norm, normal(3, 4), ord=p) for p in MATRIX_ORDERS),
    *(of(LA.norm, complexes(4, 3), ord=p) for p in MATRIX_ORDERS),
    *(of(LA.norm, complexes(2, 4), ord=p) for p in ("nuc", 2, -2)),
    *(of(LA.norm, normal(3, 3), ord=p, keepdims=True) for p in MATRIX_ORDERS),
    *(of(LA.norm, normal(2, 4, 3), ord=p, axis=axes) for p in MATRIX_ORDERS for axes in AXES),
    *(of(LA.norm, normal(2, 2, 3, 4), ord=p, axis=(-3, -1), keepdims=True) for p in MATRIX_ORDERS),
    *(of(LA.norm, np.zeros(0), ord=p) for p in (None, 1, 2, 3)),
    *(of(LA.norm, np.zeros((0, 3)), ord=p, axis=1) for p in (None, 1, 3, INF, -INF)),
    *(of(LA.norm, np.zeros((0, 3)), ord=p) for p in ("fro", "nuc", 1)),
    *(of(LA.norm, np.zeros((3, 0)), ord=p) for p in ("fro", "nuc", INF)),
    *(of(LA.norm, np.zeros((0, 2, 3)), ord=p, axis=(1, 2)) for p in ("nuc", -2, -INF)),
    *(of(LA.norm, normal(1, 1), ord=p) for p in ("nuc", 2, -2, 1)),
    of(LA.norm, np.eye(3), "equal singular values", ord="nuc"),
    of(LA.norm, np.eye(3, 4, dtype=complex), "equal singular values", ord="nuc"),
    of(LA.norm, np.diag([3.0, 1.0, 1.0]), "equal small singular values", ord=2),
    of(LA.norm, np.diag([3.0, 3.0, 1.0]), "equal large singular values", ord=-2),
    of(LA.norm, np.array([[1.0, 0.0], [0.0, 0.0]]), "zeros", ord=2),
    of(LA.norm, np.array([2.0, 0.0, 1.0]), "zero element", ord=3),
    of(LA.norm, np.array([2.0, 0.0, 1j]), "zero element", ord=4),
    case(LA.norm, lambda x: LA.norm(x, 2, 0, True), normal(3, 2), label="by position"),
]

OTHER_NORMS = [
    *(of(LA.vector_norm, normal(2, 3), ord=p) for p in VECTOR_ORDERS),
    *(of(LA.vector_norm, normal(4, 3, 2), ord=p, axis=(2, 0)) for p in VECTOR_ORDERS),
    *(of(LA.vector_norm, complexes(3, 2), ord=p, axis=-1, keepdims=True) for p in (2, 3, 1, INF)),
    of(LA.vector_norm, normal(2, 3)),
    *(of(LA.vector_norm, normal(), ord=p) for p in (2, 1, 3, INF, -INF, 0)),
    of(LA.vector_norm, normal(2, 3, 4), keepdims=True),
    of(LA.vector_norm, normal(2, 3, 4), axis=(0, -1), keepdims=True),
    of(LA.vector_norm, normal(2, 3, 4, 2), axis=(3, 0, 1), ord=3),
    *(of(LA.matrix_norm, normal(2, 3, 4), ord=p) for p in MATRIX_ORDERS),
    *(of(LA.matrix_norm, complexes(3, 2), ord=p, keepdims=True) for p in MATRIX_ORDERS),
    of(LA.matrix_norm, normal(3, 4)),
    of(LA.matrix_norm, normal(2, 3, 4), keepdims=True),
    of(LA.matrix_norm, np.zeros((0, 3, 4)), ord="nuc"),
    *(
        of(spectral, make(*shape), order=p)
        for p in ("nuc", 2, -2)
        for make, shape in ((normal, (3, 3)), (complexes, (2, 3, 2)), (complexes, (2, 3)))
    ),
]

if LARGEST_OF_NONE:
    NORM += [
        of(LA.norm, np.zeros(0), ord=INF),
        *(of(LA.norm, np.zeros((0, 3)), ord=p) for p in (2, INF)),
        *(of(LA.norm, np.zeros((3, 0)), ord=p) for p in (2, 1)),
    ]
    OTHER_NORMS += [of(LA.vector_norm, np.zeros((0, 3)), axis=0, ord=INF)]

COND_ORDERS = (None, 2, -2, 1, -1, INF, -INF, "fro", "nuc")

COND = [
    *(of(LA.cond, normal(3, 3, seed=1), p=p) for p in COND_ORDERS),
    *(of(LA.cond, complexes(2, 3, 3), p=p) for p in COND_ORDERS),
    *(of(LA.cond, normal(2, 4, 3), p=p) for p in (None, 2, -2)),
    of(LA.cond, regular_complex(3, 3)),
    *(of(LA.cond, np.zeros((0, 3, 3)), p=p) for p in (2, 1)),
]

ALIASES = [
    pair(LA.matmul, normal(2, 3), normal(3, 4)),
    pair(LA.matmul, normal(3), normal(5, 3, 2)),
    pair(LA.matmul, complexes(2, 3), normal(3), "complex"),
    case(LA.matmul, lambda x: LA.matmul([[1.0, 2.0]], x), normal(2, 3), label="list left"),
    pair(LA.vecdot, normal(3), normal(3)),
    pair(LA.vecdot, normal(2, 3), normal(4, 1, 3)),
    pair(LA.vecdot, normal(3, 2), normal(3, 2), axis=0),
    pair(LA.vecdot, complexes(2, 3), complexes(3), "complex", axis=-1),
    pair(LA.tensordot, normal(2, 3, 4), normal(3, 4, 2)),
    pair(LA.tensordot, normal(2, 3), normal(4, 3), axes=([1], [1])),
    pair(LA.tensordot, complexes(2), normal(3), "complex", axes=0),
    pair(LA.outer, normal(3), normal(2)),
    pair(LA.outer, complexes(3), complexes(2), "complex"),
    case(LA.outer, lambda x: LA.outer([1, 2], x), normal(3), label="list left"),
    pair(LA.cross, normal(3), normal(3)),
    pair(LA.cross, normal(2, 3), normal(3)),
    pair(LA.cross, normal(3, 2), normal(3, 2), axis=0),
    pair(LA.cross, normal(2, 3, 4), complexes(2, 3, 1), "complex", axis=-2),
    case(LA.cross, lambda x: LA.cross([1, 2, 3], x), normal(3), label="list left"),
    of(LA.trace, normal(3, 3)),
    of(LA.trace, normal(2, 3, 4)),
    of(LA.trace, normal(2, 3, 4), offset=2),
    of(LA.trace, complexes(4, 3), offset=-1),
    of(LA.trace, normal(2, 3, 3), dtype=np.float64),
    of(LA.diagonal, normal(3, 3)),
    of(LA.diagonal, normal(2, 3, 4)),
    of(LA.diagonal, normal(2, 3, 4), offset=2),
    of(LA.diagonal, complexes(4, 3), offset=-1),
    *(
        of(function, x)
        for function in (LA.matrix_transpose, np.matrix_transpose)
        for x in (normal(2, 3), normal(4, 2, 3), complexes(2, 3), np.zeros((0, 2, 3)))
    ),
]

CASES = INV + SOLVE + DET + POWERS + CHAINS + NORM + OTHER_NORMS + COND + ALIASES


A = np.array([[1.0, 2.0], [3.0, 4.0]])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
RANK_2 = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])
COFACTORS = [[3.0, -6.0, 3.0], [3.0, -6.0, 3.0], [-3.0, 6.0, -3.0]]
ROTATION = np.array([[0.6, -0.8], [0.8, 0.6]])
EVEN = np.array([[1.0, -1.0], [1.0, 1.0]])
SINGLE = np.float32


def normed(x: Any, expected: Any, label: str = "", warns: bool = False, **params: Any) -> Special:
    """A norm at a special point."""
    parts = [part for part in (label, *named(params)) if part]
    x = np.asarray(x)
    return special(LA.norm, lambda x: LA.norm(x, **params), (x,), (expected,), "-".join(parts), warns)


def conditioned(x: Any, expected: Any, p: Any = None, label: str = "") -> Special:
    """A condition number at a special point."""
    return special(LA.cond, lambda x: LA.cond(x, p), (np.asarray(x),), (expected,), f"{label} {p}")


SOLUTIONS = [
    special(LA.inv, None, (np.array([[2.0]]),), ([[-0.25]],), label="1 by 1"),
    special(LA.inv, None, (np.array([[2j]]),), ([[0.25]],), label="complex 1 by 1"),
    special(LA.inv, None, (np.array([[2]], SINGLE),), ([[-0.25]],), label="single"),
    special(LA.solve, None, (np.array([[2.0]]), np.array([6.0])), ([[-1.5]], [0.5])),
    special(LA.solve, None, (np.array([[2]]), np.array([6.0])), (None, [0.5]), label="whole"),
    special(
        LA.solve, None, (np.array([[2.0]]), np.ones((0, 1, 3))), ([[0.0]], np.ones((0, 1, 3))), label="empty stack"
    ),
    special(LA.det, None, (RANK_2,), (COFACTORS,), label="rank 2"),
    special(LA.det, None, (RANK_2.astype(SINGLE),), (COFACTORS,), label="rank 2 single"),
    special(LA.det, None, (np.stack([RANK_2, np.eye(3)]),), ([COFACTORS, np.eye(3)],), label="stack"),
    special(LA.det, None, (1j * RANK_2,), (-np.array(COFACTORS),), label="complex rank 2"),
    special(LA.det, None, (1e-150 * SINGULAR,), ([[4e-150, -2e-150], [-2e-150, 1e-150]],), "tiny"),
    special(LA.det, None, (np.diag([1e9, 0, 1e-9]),), (np.diag([0.0, 1.0, 0.0]),), label="wide"),
    special(LA.det, None, (np.diag([1.0, 0, 0]),), (np.zeros((3, 3)),), label="rank 1"),
    special(LA.det, None, (np.zeros((1, 1)),), ([[1.0]],), label="zero"),
    special(LA.det, None, (np.zeros((3, 3)),), (np.zeros((3, 3)),), label="zeros"),
    special(LA.det, None, (np.full((2, 2), NAN),), (np.full((2, 2), NAN),), "NaN", True),
    special(LA.slogdet, None, (np.diag([-2.0, 4.0]),), (np.diag([-0.5, 0.25]),), label="negative"),
    special(LA.slogdet, None, (np.array([[2j]]),), ([[0.5 + 0.5j]],), label="complex"),
    special(
        LA.slogdet,
        None,
        (np.stack([SINGULAR, np.diag([1.0, 2.0])]),),
        ([np.full((2, 2), NAN), np.diag([1.0, 0.5])],),
        label="singular",
    ),
    special(LA.matrix_power, lambda x: LA.matrix_power(x, 0), (A,), (np.zeros((2, 2)),), "0"),
    special(LA.matrix_power, lambda x: LA.matrix_power(x, 1), (A,), (np.ones((2, 2)),), "1"),
    special(LA.multi_dot, lambda x: LA.multi_dot([x, [3, 4]]), (np.ones(2),), ([3.0, 4.0],)),
]

POSITIVE = (None, 0, 1, 2, 3, 2.5, 1.5, 0.5, INF, -INF)

KINKS = [
    normed(0.0, 0.0, "number"),
    *(normed(np.zeros(3), np.zeros(3), "zero", ord=p) for p in POSITIVE),
    *(normed(np.zeros(3, complex), np.zeros(3), "complex zero", ord=p) for p in POSITIVE),
    *(normed(np.zeros(3), np.zeros(3), "zero", True, ord=p) for p in (-1, -0.5)),
    *(normed(np.zeros((2, 3)), np.zeros((2, 3)), "zeros", ord=p) for p in MATRIX_ORDERS),
    normed(np.zeros((2, 3), SINGLE), np.zeros((2, 3)), "single zeros"),
    normed([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [0.6, 0.8]], "one zero", axis=1),
    normed([4.0, 0.0, -1.0], [1.5, 0.0, -3.0], "zero element", ord=0.5),
    normed([1.0, 0.0], [1.0, 0.0], "zero element", ord=1.5),
    normed([1j, 0.0], [1j, 0.0], "zero element", ord=1.5),
    normed([2.0, 0.0, -3.0], [1.0, 0.0, -1.0], "zero element", ord=1),
    normed([1.0, 0.0], [0.0, 0.0], "zero element", True, ord=-1),
    normed([1.0, 0.5], [1.0, 0.5**399], ord=400),
    normed([2.0, -2.0, 1.0], [0.5, -0.5, 0.0], "tie", ord=INF),
    normed([1.0, -1.0, 2.0], [0.5, -0.5, 0.0], "tie", ord=-INF),
    normed([3.0, 3j], [0.5, 0.5j], "complex tie", ord=INF),
    normed([0.0, 0.0, 1.0], [0.0, 0.0, 0.0], "tie at 0", ord=-INF),
    *(normed(EVEN, EVEN / 2, "tie", ord=p) for p in (1, -1, INF, -INF)),
    *(normed(np.eye(2), np.eye(2) / 2, "tie", ord=p) for p in (2, -2)),
    normed(np.eye(2), np.eye(2), "tie", ord="nuc"),
    normed(np.diag([-2.0, 0.0]), np.diag([-1.0, 0.0]), "singular", ord="nuc"),
    normed(np.diag([2.0, 0.0]), np.zeros((2, 2)), "singular", ord=-2),
    normed(np.diag([1.0, 1e-20]), np.diag([1.0, 0.0]), "singular but for rounding", ord="nuc"),
    *(normed(ROTATION, ROTATION / 2, "tie but for rounding", ord=p) for p in (2, -2)),
    normed(np.diag([3.0, 0.0, 0.0]), np.diag([1.0, 0.0, 0.0]), "rank 1", ord=2),
    normed([NAN, 1.0], [NAN, 0.0], "NaN", ord=INF),
    normed([[NAN, 1.0], [1.0, 1.0]], [[NAN, 0.0], [1.0, 0.0]], "NaN", ord=1),
    special(LA.vector_norm, None, (np.zeros((2, 2)),), (np.zeros((2, 2)),), label="zeros"),
    special(LA.vector_norm, lambda x: LA.vector_norm(x, axis=(0, 1), ord=INF), (EVEN,), (EVEN / 4,), label="tie"),
    special(LA.matrix_norm, None, (np.zeros((2, 2)),), (np.zeros((2, 2)),), label="zeros"),
]

LIMITS = [
    conditioned(np.diag([4.0, 2.0]), np.diag([0.5, -1.0])),
    conditioned(np.diag([4.0, 2.0]), np.diag([-0.125, 0.25]), -2),
    conditioned(np.diag([4.0, 2.0]), np.diag([0.5, -1.0]), 1),
    *(conditioned([[2.0]], [[0.0]], p, "1 by 1") for p in COND_ORDERS),
    conditioned(np.eye(2), np.zeros((2, 2)), 2, "tie"),
    conditioned(np.diag([1.0, 1e-20]), np.diag([1e20, -1e40]), 2, "nearly singular"),
    conditioned(np.diag([2.0, 0.0]), np.zeros((2, 2)), -2, "singular"),
    *(conditioned(np.zeros((2, 2)), np.full((2, 2), NAN), p, "zeros") for p in COND_ORDERS[:-1]),
    *(
        conditioned(
            np.stack([np.diag([1.0, 0.0]), np.diag([4.0, 2.0])]),
            [np.full((2, 2), NAN), np.diag([0.5, -1.0])],
            p,
            "singular",
        )
        for p in (2, 1, INF)
    ),
]


def warned(call: Callable[[Any], Any], x: Any) -> bool:
    """Whether NumPy itself warns of an array; of an overflow in a product some versions do."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(x)
    return bool(caught)


OUT_OF_RANGE = (
    [
        special(
            f,
            call,
            [np.array([3.0, -4.0]) * size],
            [np.array([0.6, -0.8])],
            label=f"{size:g} {k}",
            warns=warned(call or f, np.array([3.0, -4.0]) * size),
        )
        for size in (1e200, 1e-200)
        for k, (f, call) in enumerate(
            (
                (LA.norm, None),
                (LA.norm, lambda x: LA.norm(x[None])),
                (LA.vector_norm, None),
                (LA.vector_norm, lambda x: LA.vector_norm(x[:, None], axis=0)),
                (LA.matrix_norm, lambda x: LA.matrix_norm(x[None])),
            )
        )
    ]
    + [
        special(
            LA.norm,
            lambda x: LA.norm(x, 3),
            [np.array([3.0, -3.0]) * size],
            [np.array([1, -1]) * 2 ** (-2 / 3)],
            label=f"{size:g} cubes",
            warns=size > 1,
        )
        for size in (1e200, 1e-200)
    ]
    + [
        special(
            LA.norm,
            lambda x: LA.norm(x, axis=1),
            [[[3e-200, 4e-200], [0.0, 0.0], [3.0, 4.0]]],
            [[[0.6, 0.8], [0, 0], [0.6, 0.8]]],
            label="rows of several sizes",
        )
    ]
)
"""Where the squares overflow or vanish, so that NumPy's norm is infinite or 0."""

SPECIAL = SOLUTIONS + KINKS + LIMITS + OUT_OF_RANGE

PLAIN = [
    plain(LA.matrix_rank, None, RANK_2),
    plain(LA.matrix_rank, None, np.stack([A, SINGULAR])),
    plain(LA.matrix_rank, None, normal(3)),
    plain(LA.matrix_rank, lambda x: LA.matrix_rank(x, 1.0), A, label="tol"),
    plain(LA.matrix_rank, lambda x: LA.matrix_rank(x, rtol=0.5), A, label="rtol"),
    plain(LA.matrix_rank, lambda x: LA.matrix_rank(x, hermitian=True), SINGULAR, label="hermitian"),
]

WIDE, CUBE = np.ones((2, 3)), np.ones((2, 2, 2))
FAULT = np.linalg.LinAlgError

REFUSED_BEFORE_2_5 = refused(LA.cond, lambda x: LA.cond(x, "nuc"), (SINGULAR,), FAULT, "did not converge")
"""Newer versions of NumPy give infinity."""

REFUSED = [
    refused(LA.inv, None, (SINGULAR,), FAULT, "Singular matrix"),
    refused(LA.inv, None, (WIDE,), FAULT, "must be square"),
    refused(LA.solve, None, (SINGULAR, np.ones(2)), FAULT, "Singular matrix"),
    refused(LA.solve, None, (A, np.ones(3)), ValueError, "mismatch"),
    refused(LA.solve, None, (np.stack([A, A]), WIDE.T), ValueError, "mismatch"),
    refused(LA.solve, None, (A, 1.0), ValueError, "at least one dimension|enough dimensions"),
    refused(LA.det, None, (WIDE,), FAULT, "must be square"),
    refused(LA.slogdet, None, (np.ones(3),), FAULT, "at least two-dimensional"),
    refused(LA.matrix_power, lambda x: LA.matrix_power(x, 0.5), (A,), TypeError, "integer"),
    refused(LA.matrix_power, lambda x: LA.matrix_power(x, -1), (SINGULAR,), FAULT, "Singular"),
    refused(LA.matrix_power, lambda x: LA.matrix_power(x, 2), (WIDE,), FAULT, "square"),
    refused(LA.multi_dot, lambda x: LA.multi_dot([x]), (A,), ValueError, "at least two"),
    refused(LA.multi_dot, lambda x: LA.multi_dot([x, CUBE, x]), (A,), FAULT, "two-dimensional"),
    refused(LA.multi_dot, lambda x: LA.multi_dot([CUBE, x, x]), (A,), FAULT, "two-dimensional"),
    refused(LA.multi_dot, lambda x: LA.multi_dot([x, x, 2.0]), (A,), FAULT, "two-dimensional"),
    refused(LA.multi_dot, lambda x: LA.multi_dot([x, x, WIDE.T]), (A,), ValueError, "aligned"),
    refused(LA.multi_dot, lambda x: LA.multi_dot([x, x], out=np.ones((2, 2))), (A,), ImmutableError, "out"),
    refused(LA.tensorinv, lambda x: LA.tensorinv(x, 0), (A,), ValueError, "Invalid ind"),
    refused(LA.tensorinv, lambda x: LA.tensorinv(x, 1), (WIDE,), FAULT, "must be square"),
    refused(LA.tensorsolve, None, (WIDE, np.ones(2)), FAULT, "must satisfy the requirement"),
    refused(LA.tensorsolve, lambda a, b: LA.tensorsolve(a, b, (5,)), (A, np.ones(2)), ValueError, "not in"),
    refused(LA.norm, lambda x: LA.norm(x, "nuc"), (np.ones(3),), ValueError, "Invalid norm order"),
    refused(LA.norm, lambda x: LA.norm(x, 3), (A,), ValueError, "Invalid norm order"),
    refused(LA.norm, lambda x: LA.norm(x, 2), (CUBE,), ValueError, "number of dimensions"),
    refused(LA.norm, lambda x: LA.norm(x, axis=(0, 0)), (A,), ValueError, "Duplicate"),
    refused(LA.norm, lambda x: LA.norm(x, axis=[0, 1]), (A,), TypeError, "tuple of integers"),
    refused(LA.norm, lambda x: LA.norm(x, x[0]), (A[0],), UnsupportedArgumentError, "'ord'"),
    refused(LA.vector_norm, lambda x: LA.vector_norm(x, ord="fro"), (A,), ValueError, "Invalid norm"),
    refused(LA.matrix_norm, None, (np.ones(3),), ValueError, "out of bounds"),
    refused(LA.cond, None, (np.ones((0, 0)),), FAULT, "empty"),
    refused(LA.cond, lambda x: LA.cond(x, 1), (WIDE,), FAULT, "square"),
    *([REFUSED_BEFORE_2_5] if np.lib.NumpyVersion(np.__version__) < "2.5.0" else []),
    refused(LA.outer, None, (A, A), ValueError, "one-dimensional"),
    refused(LA.cross, None, (np.ones(2), np.ones(2)), ValueError, "3-dimensional"),
    refused(LA.trace, None, (np.ones(3),), ValueError, "diag|dimension"),
    refused(LA.diagonal, None, (np.ones(3),), ValueError, "diag|dimension"),
    refused(LA.matrix_transpose, None, (np.ones(3),), ValueError, "at least 2-dimensional"),
    refused(np.matrix_transpose, None, (np.ones(3),), ValueError, "at least 2-dimensional"),
    refused(LA.matmul, None, (A, 2.0), ValueError, "enough dimensions"),
    refused(LA.tensordot, None, (A, WIDE), ValueError, "shape-mismatch"),
]
