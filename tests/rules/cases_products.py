"""Cases of the products: matrix products, contractions, Einstein sums, convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.errors import ImmutableError, UnsupportedArgumentError
from tests.rules.harness import Case, case, complexes, normal, plain, quietly, refused, special


def pair(function: Any, first: tuple[int, ...], second: tuple[int, ...], **params: Any) -> Case:
    """A case of two arrays of the given shapes."""
    label = "-".join([f"{first} {second}", *(f"{name}={value}" for name, value in params.items())])
    return case(function, keywords(function, params), normal(*first), normal(*second, seed=1), label=label)


def complex_pair(function: Any, first: tuple[int, ...], second: tuple[int, ...], **params: Any) -> Case:
    """A case of two complex arrays of the given shapes."""
    inputs = complexes(*first), complexes(*second, seed=1)
    return case(function, keywords(function, params), *inputs, label=f"complex {first} {second}")


def keywords(function: Any, params: dict[str, Any]) -> Callable[..., Any]:
    """The function with some of its keywords given."""
    return lambda *inputs: function(*inputs, **params)


def summed(subscripts: str, *shapes: tuple[int, ...], **params: Any) -> Case:
    """A case of einsum, one array for each shape."""
    inputs = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
    label = "-".join([subscripts, *map(str, params.values())])
    return case(np.einsum, lambda *xs: np.einsum(subscripts, *xs, **params), *inputs, label=label)


def matrix(*shape: int) -> Any:
    """A constant, which no tape follows."""
    return normal(*shape, seed=9)


def plane(first: tuple[int, ...], second: tuple[int, ...], **params: Any) -> Case:
    """A case of cross with vectors of two components among its inputs."""
    call = quietly(lambda a, b: np.cross(a, b, **params))
    label = "-".join([f"plane {first} {second}", *(f"{name}={value}" for name, value in params.items())])
    return case(np.cross, call, normal(*first), normal(*second, seed=1), label=label)


def has_plane_vectors() -> bool:
    """Whether this NumPy still takes the cross product of vectors of two components."""
    try:
        quietly(np.cross)(np.ones(2), np.ones(2))
    except ValueError:
        return False
    return True


MATMUL = [
    *(pair(np.matmul, *shapes) for shapes in (
        ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((1, 3), (3, 1)), ((20, 30), (30, 10)),
        ((3,), (5, 3, 2)), ((5, 2, 3), (3,)), ((4, 5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((6, 5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)), ((1, 2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)), ((4, 2, 3), (5, 1, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0,), (0,)),
        ((0, 2, 3), (3, 4)), ((2, 0, 3), (3,)), ((0, 2, 3), (0, 3, 4)),
    )),
    complex_pair(np.matmul, (2, 3), (3, 4)),
    complex_pair(np.matmul, (5, 2, 3), (3,)),
    case(np.matmul, None, normal(2, 3), complexes(3, 2), label="real complex"),
    case(np.matmul, lambda x: x @ x, normal(3, 3), label="squared"),
    case(np.matmul, lambda x: x @ x, normal(3), label="vector squared"),
    case(np.matmul, lambda x: x @ x.T, normal(2, 3), label="gram"),
    case(np.matmul, lambda x: matrix(4, 2) @ x, normal(2, 3), label="constant left"),
    case(np.matmul, lambda x: x @ np.arange(6).reshape(3, 2), normal(2, 3), label="whole numbers right"),
    case(np.matmul, lambda x: np.matmul(x, [1.0, 2.0, 3.0]), normal(2, 3), label="list right"),
    case(np.matmul, lambda x: np.matmul(((1, 2), (3, 4)), x), normal(2, 3), label="tuples left"),
]  # fmt: skip

DOT = [
    *(pair(np.dot, *shapes) for shapes in (
        ((), ()), ((), (2, 3)), ((2, 3), ()), ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)),
        ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((3,), (5, 3, 2)), ((2, 3), (5, 3, 4)), ((4, 2, 3), (5, 3, 2)),
        ((2, 3), (2, 4, 3, 5)), ((0,), (0,)), ((2, 0), (0, 3)), ((2, 0), (4, 0, 3)),
    )),
    complex_pair(np.dot, (2, 3), (5, 3, 4)),
    case(np.dot, lambda x: x.dot(x), normal(3), label="method"),
    case(np.dot, lambda x: np.dot(x, 2.0), normal(2, 3), label="number right"),
    case(np.dot, lambda x: np.dot(2, x), normal(2, 3), label="number left"),
    case(np.dot, lambda x: np.dot([1.0, 2.0], x), normal(2, 3), label="list left"),
]  # fmt: skip

VECTORS = [
    *(pair(np.vdot, *shapes) for shapes in (
        ((), ()), ((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (6,)), ((3, 2), (2, 1, 3)), ((0,), (0,)),
    )),
    complex_pair(np.vdot, (3,), (3,)),
    complex_pair(np.vdot, (2, 3), (3, 2)),
    case(np.vdot, None, complexes(3), normal(3), label="complex real"),
    case(np.vdot, None, normal(3), complexes(3), label="real complex"),
    case(np.vdot, lambda x: np.vdot(2.0, x), normal(), label="number left"),
    case(np.vdot, lambda x: np.vdot(x, 2.0), normal(), label="number right"),
    case(np.vdot, lambda x: np.vdot(x, x), complexes(3), label="squared length"),
    *(pair(np.inner, *shapes) for shapes in (
        ((), ()), ((), (2, 3)), ((3,), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (4, 3)),
        ((5, 2, 3), (4, 3)), ((2, 3), (5, 4, 3)), ((2, 0), (3, 0)),
    )),
    complex_pair(np.inner, (2, 3), (4, 3)),
    case(np.inner, lambda x: np.inner(x, 2.0), normal(2, 3), label="number right"),
    case(np.inner, lambda x: np.inner(2.0, x), normal(2, 3), label="number left"),
    *(pair(np.outer, *shapes) for shapes in (
        ((), ()), ((3,), (2,)), ((3,), ()), ((2, 3), (4,)), ((3,), (2, 2)), ((2, 1, 2), (3, 1)), ((0,), (2,)),
        ((2,), (0, 3)),
    )),
    complex_pair(np.outer, (3,), (2,)),
    case(np.outer, lambda x: np.outer(x, 2.0), normal(3), label="number right"),
    case(np.outer, lambda x: np.outer(2.0, x), normal(3), label="number left"),
    *(pair(np.vecdot, *shapes) for shapes in (
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((4, 1, 3), (2, 3)), ((2, 0), (2, 0)),
    )),
    pair(np.vecdot, (3, 2), (3, 2), axis=0),
    pair(np.vecdot, (3, 2), (3, 1), axis=0),
    pair(np.vecdot, (5, 3, 2), (3, 2), axis=-2),
    pair(np.vecdot, (3, 2), (5, 3, 2), axis=-2),
    pair(np.vecdot, (2, 3), (2, 3), keepdims=True),
    pair(np.vecdot, (3, 2), (3, 2), axis=0, keepdims=True),
    pair(np.vecdot, (5, 3, 2), (3, 2), axis=-2, keepdims=True),
    complex_pair(np.vecdot, (2, 3), (3,)),
    complex_pair(np.vecdot, (3, 2), (3, 2), axis=0),
    case(np.vecdot, None, complexes(3), normal(3), label="complex real"),
]  # fmt: skip

if hasattr(np, "matvec"):
    VECTORS += [
        *(pair(np.matvec, *shapes) for shapes in (
            ((2, 3), (3,)), ((2, 3), (5, 3)), ((5, 2, 3), (3,)), ((5, 2, 3), (5, 3)), ((4, 1, 2, 3), (5, 3)),
            ((2, 0), (0,)),
        )),
        complex_pair(np.matvec, (5, 2, 3), (5, 3)),
        *(pair(np.vecmat, *shapes) for shapes in (
            ((3,), (3, 2)), ((5, 3), (3, 2)), ((3,), (5, 3, 2)), ((5, 3), (5, 3, 2)), ((4, 1, 3), (5, 3, 2)),
            ((0,), (0, 2)),
        )),
        complex_pair(np.vecmat, (5, 3), (5, 3, 2)),
    ]  # fmt: skip

TENSORDOT = [
    pair(np.tensordot, (2, 3, 4), (3, 4, 5)),
    pair(np.tensordot, (2, 3), (2, 3)),
    pair(np.tensordot, (2, 3), (3, 4), axes=1),
    pair(np.tensordot, (2, 3), (4,), axes=0),
    pair(np.tensordot, (), (2, 3), axes=0),
    pair(np.tensordot, (2, 3), (), axes=0),
    pair(np.tensordot, (), (), axes=0),
    pair(np.tensordot, (2, 3), (2, 4), axes=(0, 0)),
    pair(np.tensordot, (2, 3), (4, 3), axes=[1, -1]),
    pair(np.tensordot, (2, 3, 4), (4, 5, 3), axes=([1, 2], [2, 0])),
    pair(np.tensordot, (2, 3, 4), (5, 4, 2), axes=((0, -1), (-1, 1))),
    pair(np.tensordot, (2, 3, 4), (4, 2, 3), axes=([2, 0, 1], [0, 1, 2])),
    pair(np.tensordot, (4, 3, 2), (3, 2, 4), axes=([1, 0, 2], [0, 2, 1])),
    pair(np.tensordot, (2, 3), (4, 5), axes=([], [])),
    pair(np.tensordot, (2, 3, 4, 5), (5, 6, 3), axes=((3, 1), (0, 2))),
    pair(np.tensordot, (2, 3, 4), (3, 6), axes=([1], [0])),
    pair(np.tensordot, (2, 0), (0, 3), axes=1),
    pair(np.tensordot, (0, 2), (2, 3), axes=1),
    complex_pair(np.tensordot, (2, 3, 4), (4, 5, 3), axes=([1, 2], [2, 0])),
    case(np.tensordot, lambda x: np.tensordot(x, x), normal(2, 3), label="with itself"),
    case(np.tensordot, lambda x: np.tensordot(2.0, x, 0), normal(2, 3), label="number left"),
    case(np.tensordot, lambda x: np.tensordot(x, matrix(3, 2), np.array([[0, 1], [1, 0]])), normal(2, 3)),
]

EINSUM = [
    summed("i->", (3,)),
    summed("i->i", (3,)),
    summed("ij->ji", (2, 3)),
    summed("ij->j", (2, 3)),
    summed("ijk->kj", (2, 3, 4)),
    summed("ii->i", (3, 3)),
    summed("ii", (3, 3)),
    summed("ii->", (3, 3)),
    summed("iii->i", (2, 2, 2)),
    summed("iij->ij", (2, 2, 3)),
    summed("iji->j", (2, 3, 2)),
    summed("ijij->ij", (2, 3, 2, 3)),
    summed("ijij", (2, 3, 2, 3)),
    summed("ii->i", (1, 1)),
    summed("ii->i", (0, 0)),
    summed("->", ()),
    summed(",->", (), ()),
    summed(",ij->ji", (), (2, 3)),
    summed("i,i->", (3,), (3,)),
    summed("i,j->ij", (3,), (2,)),
    summed("i,i->i", (3,), (3,)),
    summed("ij,jk->ik", (2, 3), (3, 4)),
    summed("ij,jk", (2, 3), (3, 4)),
    summed("ij, jk -> ki", (2, 3), (3, 4)),
    summed("ba,cb", (2, 3), (4, 2)),
    summed("bA,cb", (2, 3), (4, 2)),
    summed("ij,jj->i", (2, 3), (3, 3)),
    summed("ii,ij->j", (3, 3), (3, 2)),
    summed("ij,kl->il", (2, 3), (4, 5)),
    summed("ij,k->", (2, 3), (4,)),
    summed("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    summed("ij,jk->ik", (2, 0), (0, 4)),
    summed("ij,jk->ik", (0, 3), (3, 4)),
    summed("ij,ij->ij", (2, 1), (2, 3)),
    summed("ij,ij->i", (2, 3), (2, 1)),
    summed("ij,j->i", (2, 3), (1,)),
    summed("ij,ij->", (1, 3), (2, 1)),
    summed("ii,i->i", (1, 1), (3,)),
    summed("i,i,i->", (1,), (3,), (1,)),
    summed("...", (2, 3)),
    summed("...i->...", (2, 3)),
    summed("i...->...i", (2, 3, 4)),
    summed("...ii->...i", (2, 3, 3)),
    summed("...ii", (2, 3, 3)),
    summed("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)),
    summed("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    summed("...ij,...jk", (6, 1, 2, 3), (5, 3, 4)),
    summed("...ij,...jk->ik...", (5, 1, 2, 3), (4, 3, 2)),
    summed("i...,i...->...", (3, 2), (3, 2)),
    summed("ki,...k->i...", (3, 2), (4, 3)),
    summed("...,...->...", (2, 3), (3,)),
    summed("i,ij,j->", (2,), (2, 3), (3,)),
    summed("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    summed("ij,jk,kl->il", (2, 3), (3, 4), (4, 2), optimize=True),
    summed("ij,jk,kl,l->i", (2, 3), (3, 4), (4, 2), (2,), optimize="optimal"),
    summed("ij,jk,kl->il", (2, 3), (3, 4), (4, 2), optimize=["einsum_path", (0, 1), (0, 1)]),
    summed("...ij,jk,...kl->...il", (5, 2, 3), (3, 4), (5, 4, 2), optimize="greedy"),
    summed("ij,ij,ij->ij", (2, 1), (2, 3), (1, 3), optimize=True),
    summed("a,ab,abc,abcd->d", (2,), (2, 3), (2, 3, 2), (2, 3, 2, 3)),
    summed("ij,jk->ik", (2, 3), (3, 4), order="F"),
    case(np.einsum, lambda x: np.einsum("ij,ik->jk", x, x), normal(2, 3), label="given twice"),
    case(np.einsum, lambda x: np.einsum("i,i,i->", x, x, x), normal(3), label="given thrice"),
    case(np.einsum, lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [0, 2]), normal(2, 3), normal(3, 4), label="lists"),
    case(np.einsum, lambda x, y: np.einsum(x, [0, 30], y, [30, 2]), normal(2, 3), normal(3, 4), label="lists implicit"),
    case(np.einsum, lambda x: np.einsum(x, [1, 0]), normal(2, 3), label="lists transposed"),
    case(np.einsum, lambda x: np.einsum(x, [..., 0, 0], [..., 0]), normal(2, 3, 3), label="lists with ellipsis"),
    case(np.einsum, lambda x: np.einsum("ij,j->i", matrix(2, 3), x), normal(3), label="constant left"),
    case(np.einsum, lambda x: np.einsum("ij,j->i", x, [1, 2, 3]), normal(2, 3), label="list right"),
    case(np.einsum, lambda x: np.einsum("ij,jk->ik", x, ((1,), (2,), (3,))), normal(2, 3), label="tuples right"),
    case(np.einsum, lambda x: np.einsum(",i->i", 2.0, x), normal(3), label="number left"),
    case(
        np.einsum, lambda x, y: np.einsum("ij,j->i", x, [y, 2.0 * y]), normal(3, 2), normal(), label="list of tensors"
    ),
    case(np.einsum, lambda x, y: np.einsum("iij,jk->ik", x, y), complexes(2, 2, 3), complexes(3, 2), label="complex"),
    case(np.einsum, lambda x, y: np.einsum("ij,j", x, y), normal(2, 3), complexes(3), label="real complex"),
]

KRON = [
    *(pair(np.kron, *shapes) for shapes in (
        ((), ()), ((), (2, 3)), ((3,), ()), ((3,), (2,)), ((2, 3), (3, 2)), ((2, 3), (4,)), ((4,), (2, 3)),
        ((2, 2, 3), (3, 2)), ((0,), (2,)), ((2, 3), (0, 2)),
    )),
    complex_pair(np.kron, (2, 2), (2, 3)),
    case(np.kron, lambda x: np.kron(x, x), normal(2, 2), label="with itself"),
    case(np.kron, lambda x: np.kron(2.0, x), normal(3), label="number left"),
    case(np.kron, lambda x: np.kron(x, np.eye(2, dtype=int)), normal(2, 3), label="whole numbers right"),
]  # fmt: skip

CROSS = [
    *(pair(np.cross, *shapes) for shapes in (
        ((3,), (3,)), ((4, 3), (4, 3)), ((4, 3), (3,)), ((3,), (4, 3)), ((2, 1, 3), (4, 3)), ((0, 3), (3,)),
    )),
    pair(np.cross, (3, 4), (4, 3), axisa=0),
    pair(np.cross, (4, 3), (3, 4), axisb=0),
    pair(np.cross, (4, 3), (4, 3), axisc=0),
    pair(np.cross, (3, 2, 4), (2, 3, 4), axisa=0, axisb=1, axisc=-2),
    pair(np.cross, (3, 4), (2, 3, 4), axisa=-2, axisb=1, axisc=0),
    pair(np.cross, (3, 4), (3, 4), axis=0),
    pair(np.cross, (2, 3, 4), (2, 3, 4), axis=1),
    pair(np.cross, (2, 3, 4), (2, 3, 1), axis=-2),
    complex_pair(np.cross, (4, 3), (3,)),
    case(np.cross, lambda x: np.cross(x, 2.0 * x + matrix(3)), normal(3), label="given twice"),
    case(np.cross, lambda x: np.cross([1, 2, 3], x), normal(4, 3), label="list left"),
]  # fmt: skip

if has_plane_vectors():
    CROSS += [
        plane((2,), (2,)),
        plane((4, 2), (4, 2)),
        plane((4, 2), (2,)),
        plane((2,), (3, 4, 2)),
        plane((2,), (3,)),
        plane((3,), (2,)),
        plane((4, 2), (3,)),
        plane((4, 3), (5, 1, 2)),
        plane((2, 4), (2, 4), axis=0),
        plane((2, 4), (4, 3), axisa=0, axisc=0),
        plane((5, 3, 4), (5, 4, 2), axisa=1, axisc=1),
    ]

LENGTHS = ((5, 2), (5, 3), (5, 4), (2, 5), (3, 5), (4, 5), (4, 4), (3, 3), (1, 4), (4, 1), (1, 1))
SLIDING = [
    pair(function, (n,), (m,), mode=mode)
    for function in (np.convolve, np.correlate)
    for mode in ("full", "same", "valid")
    for n, m in LENGTHS
]
SLIDING += [
    pair(np.convolve, (4,), (2,)),
    pair(np.correlate, (4,), (2,)),
    pair(np.convolve, (), (3,)),
    pair(np.convolve, (3,), ()),
    complex_pair(np.convolve, (4,), (2,), mode="same"),
    complex_pair(np.convolve, (2,), (5,)),
    complex_pair(np.correlate, (4,), (2,)),
    complex_pair(np.correlate, (2,), (5,), mode="same"),
    complex_pair(np.correlate, (4,), (3,), mode="full"),
    case(np.correlate, None, complexes(4), normal(2), label="complex real"),
    case(np.correlate, None, normal(4), complexes(2), label="real complex"),
    case(np.convolve, lambda x: np.convolve(x, x, "same"), normal(4), label="with itself"),
    case(np.convolve, lambda x: np.convolve([1, 2, 3], x), normal(4), label="list left"),
    case(np.convolve, lambda x: np.convolve(x, 2.0), normal(4), label="number right"),
    case(np.correlate, lambda x: np.correlate(x, x, "full"), normal(4), label="with itself"),
]

CASES = MATMUL + DOT + VECTORS + TENSORDOT + EINSUM + KRON + CROSS + SLIDING

A = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
B = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
SINGLE = np.float32
P, Q = np.array([1 + 2j, 3 - 1j]), np.array([2 - 1j, 1j])
U = np.array([[1 + 1j, 2.0], [0.0, 3 - 2j]])
WHOLE = np.array([[1, 2, 3], [4, 5, 6]])

SPECIAL = [
    special(np.matmul, None, (A, B), (np.tile(B.sum(1), (3, 1)), np.tile(A.sum(0)[:, None], 3))),
    special(np.matmul, None, (np.zeros((0, 3)), np.ones((3, 2))), (np.zeros((0, 3)), np.zeros((3, 2)))),
    special(np.matmul, None, (np.ones((2, 0)), np.ones((0, 3))), (np.zeros((2, 0)), np.zeros((0, 3)))),
    special(np.matmul, None, (np.ones(0), np.ones(0)), (np.zeros(0), np.zeros(0))),
    special(np.matmul, None, (np.ones((0, 2, 3)), np.ones((3, 4))), (np.zeros((0, 2, 3)), np.zeros((3, 4)))),
    special(np.matmul, None, (np.ones((2, 3), SINGLE), np.ones((3, 2), SINGLE)), ([[2] * 3] * 2, [[2] * 2] * 3)),
    special(np.matmul, None, (np.ones((2, 3), SINGLE), np.ones(3)), ([[1] * 3] * 2, [2] * 3), label="mixed"),
    special(np.matmul, None, (np.ones((4, 2)), WHOLE), ([[6, 15]] * 4, None), label="whole numbers"),
    special(
        # A product's gradients carry the conjugates of the other factor, as TensorFlow's do.
        np.matmul,
        None,
        (U, P[:, None]),
        (np.tile(P.conj(), (2, 1)), U.conj().sum(0)[:, None]),
        label="complex",
    ),
    special(np.dot, None, (2.0, np.ones((2, 3))), (6.0, np.full((2, 3), 2.0)), label="number left"),
    special(np.dot, None, (SINGLE(2), np.ones(3)), (3.0, [2.0] * 3), label="mixed"),
    special(np.dot, None, (np.ones((2, 0)), np.ones(0)), (np.zeros((2, 0)), np.zeros(0))),
    special(np.dot, None, (P, Q), (Q.conj(), P.conj()), label="complex"),
    special(np.inner, None, (P, Q), (Q.conj(), P.conj()), label="complex"),
    special(np.vdot, None, (P, Q), (Q, P), label="complex"),
    special(np.vdot, None, (P, np.array([1.0, 2.0])), ([1.0, 2.0], [1.0, 3.0]), label="complex real"),
    special(np.vdot, lambda z: np.real(np.vdot(z, z)), (P,), (2 * P,), label="squared length"),
    special(np.vecdot, None, (P, Q), (Q, P), label="complex"),
    special(np.outer, None, (P, Q), ([Q.conj().sum()] * 2, [P.conj().sum()] * 2), label="complex"),
    special(np.outer, None, (np.ones(0), np.ones(2)), (np.zeros(0), [0.0, 0.0])),
    special(np.tensordot, None, (np.ones((2, 3), SINGLE), np.ones((2, 3), SINGLE)), ([[1] * 3] * 2,) * 2),
    special(np.einsum, lambda a: np.einsum("ii", a), (np.arange(4.0).reshape(2, 2),), ([[1, 0], [0, 1]],)),
    special(np.einsum, lambda a: np.einsum("ii->i", a), (np.ones((2, 2), SINGLE),), ([[1, 0], [0, 1]],)),
    special(np.einsum, lambda a, b: np.einsum("ij,j", a, b), (WHOLE, np.ones(3)), (None, [5, 7, 9])),
    special(np.einsum, lambda a, b: np.einsum("i,i", a, b), (P, Q), (Q.conj(), P.conj()), label="complex"),
    special(np.einsum, lambda a, b: np.einsum("ij->", a) + b, (np.zeros((0, 2)), 1.0), (np.zeros((0, 2)), 1.0)),
    special(
        np.einsum,
        lambda a: np.sqrt(np.einsum("ii->i", a)),
        (np.zeros((2, 2)),),
        ([[np.inf, 0], [0, np.inf]],),
        label="infinite diagonal",
        warns=True,
    ),
    special(np.kron, None, (np.ones(0), np.ones(2)), (np.zeros(0), [0.0, 0.0])),
    special(np.kron, None, (P, Q), ([Q.conj().sum()] * 2, [P.conj().sum()] * 2), label="complex"),
    special(np.cross, None, ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), ([1.0, 0.0, -1.0], [0.0, 1.0, -1.0])),
    special(np.cross, None, (np.ones(3, SINGLE), np.array([1.0, 2.0, 4.0])), ([-2.0, 3.0, -1.0], [0.0] * 3)),
    special(np.convolve, None, (np.ones(3, SINGLE), np.array([1.0, 2.0])), ([3.0] * 3, [3.0, 3.0])),
    special(np.convolve, None, (np.array([1, 2, 3]), np.array([1.0, 2.0])), (None, [6.0, 6.0])),
    special(np.convolve, None, (2.0, 3.0), (3.0, 2.0), label="numbers"),
    special(np.convolve, None, (P, Q), ([Q.conj().sum()] * 2, [P.conj().sum()] * 2), label="complex"),
    special(
        np.correlate, lambda a, v: np.correlate(a, v, "full"), (P, Q), ([Q.sum()] * 2, [P.sum()] * 2), label="complex"
    ),
]

if hasattr(np, "matvec"):
    SPECIAL += [
        special(np.matvec, None, (U, P), (np.tile(P.conj(), (2, 1)), U.conj().sum(0)), label="complex"),
        special(np.vecmat, None, (P, U), (U.sum(1), np.tile(P[:, None], 2)), label="complex"),
    ]

PLAIN = [plain(np.einsum_path, lambda a, b: np.einsum_path("ij,jk", a, b), normal(2, 3), normal(3, 4))]

REFUSED = [
    refused(np.matmul, lambda a, b: np.matmul(a, b, out=np.zeros((3, 3))), (A, B), ImmutableError, "out"),
    refused(
        np.matmul, lambda a, b: np.matmul(a, b, axes=[(0, 1), (0, 1), (0, 1)]), (A, B), UnsupportedArgumentError, "axes"
    ),
    refused(np.matmul, None, (A, A), ValueError, "mismatch"),
    refused(np.matmul, None, (A, 2.0), ValueError, "does not have enough dimensions"),
    refused(np.dot, lambda a, b: np.dot(a, b, np.zeros((3, 3))), (A, B), UnsupportedArgumentError, "out"),
    refused(np.dot, None, (A, A), ValueError, "not aligned"),
    refused(np.vecdot, lambda a, b: np.vecdot(a, b, axes=[0, 0, ()]), (A, A), UnsupportedArgumentError, "axes"),
    refused(np.tensordot, None, (A, B), ValueError, "shape-mismatch"),
    refused(np.einsum, lambda a, b: np.einsum("ij,jk", a, b), (A, A), ValueError, "broadcast"),
    refused(np.einsum, lambda a: np.einsum("ij->ii", a), (A,), ValueError, "output"),
    refused(np.einsum, lambda a, b: np.einsum("ij,jk", a, b, out=np.zeros((3, 3))), (A, B), ImmutableError, "out"),
    refused(np.correlate, lambda a: np.correlate(a, 2.0), (np.ones(3),), ValueError, "depth"),
]
