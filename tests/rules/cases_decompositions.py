"""Cases of the decompositions of matrices.

Eigenvectors and singular vectors are unique up to a sign, or a phase: the calls are such that it cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.errors import UnsupportedArgumentError
from tests.rules.harness import Case, case, complexes, derivative, normal, refused, special

A = np.array
LinAlgError = np.linalg.LinAlgError


NUMBERS = {"real": normal, "complex": complexes}
SQUARE = ((3, 3), (2, 4, 4), (2, 1, 2, 2), (1, 1), (0, 0), (0, 2, 2))
OBLONG = ((4, 2), (2, 4), (3, 2, 3), (2, 3, 2), (1, 3), (3, 1), (0, 3), (3, 0), (2, 0, 3), (0, 3, 2))


def adjoint(x: Any) -> Any:
    """The conjugate transposes of a stack of matrices."""
    return np.conj(x.mT)


def onto(v: Any) -> Any:
    """The projection on the space that orthogonal columns span."""
    return v @ adjoint(v)


def lopsided(x: Any, upper: bool = False) -> Any:
    """The matrices with other numbers where a function that reads one triangle does not look."""
    unread = NUMBERS["complex" if x.dtype.kind == "c" else "real"](*x.shape, seed=5)
    unread = np.tril(unread, -1) if upper else np.triu(unread, 1)
    return x + unread + (1j * np.eye(x.shape[-1]) if x.dtype.kind == "c" else 0)


def definite(x: Any) -> Any:
    """Hermitian matrices, positive definite."""
    return x @ adjoint(x) / 2 + np.eye(x.shape[-1])


def apart(x: Any) -> Any:
    """Matrices whose eigenvalues are well apart, negative ones among them."""
    n = x.shape[-1]
    return x / 2 + 2 * np.diag(np.arange(n) - n / 2 + 0.3)


def hermitian(x: Any) -> Any:
    """Hermitian matrices whose eigenvalues are well apart."""
    return apart((x + adjoint(x)) / 2)


def with_sizes(s: Any, *shape: int, numbers: Any = normal) -> Any:
    """A matrix with the given singular values."""
    u, _, vt = np.linalg.svd(numbers(*shape), full_matrices=False)
    return (u * s) @ vt


def each(function: Any, call: Any, shapes: Any, label: str, make: Callable[[Any], Any] = lambda x: x) -> list[Case]:
    """Cases of a call on matrices of all the shapes, real and complex."""
    return [
        case(function, call, make(numbers(*shape)), label=f"{label} {kind} {shape}")
        for kind, numbers in NUMBERS.items()
        for shape in shapes
    ]


# -- Cholesky, QR ---------------------------------------------------------------------------------


def upper(a: Any) -> Any:
    """The upper Cholesky factor."""
    return np.linalg.cholesky(a, upper=True)


CHOLESKY = [
    *each(np.linalg.cholesky, None, SQUARE, "lower", lambda x: lopsided(definite(x))),
    *each(np.linalg.cholesky, upper, SQUARE, "upper", lambda x: lopsided(definite(x), upper=True)),
    case(
        np.linalg.cholesky,
        lambda x: np.linalg.cholesky(x @ x.mT + np.eye(3), upper=False),
        normal(3, 2),
        label="of a product",
    ),
]


def complete(a: Any) -> Any:
    """The factors of a complete QR, of the additional columns the space that they span."""
    q, r = np.linalg.qr(a, mode="complete")
    k = min(a.shape[-2:])
    return q[..., :k], r, onto(q[..., k:])


def qr_in(mode: str) -> Any:
    """The QR decomposition in one of its modes."""
    return lambda a: np.linalg.qr(a, mode)


QR = [
    *each(np.linalg.qr, None, SQUARE + OBLONG, "reduced"),
    *each(np.linalg.qr, complete, SQUARE[:2] + OBLONG, "complete"),
    *each(np.linalg.qr, qr_in("r"), SQUARE[:2] + OBLONG, "r"),
    case(np.linalg.qr, lambda a: np.linalg.qr(a).Q, normal(4, 2), label="Q alone"),
    case(np.linalg.qr, lambda a: np.linalg.qr(a, mode="reduced").R, normal(2, 5), label="R alone"),
]


# -- eigenvalues ----------------------------------------------------------------------------------


def sine(found: Any) -> Any:
    """The sine of Hermitian matrices, from their eigenvalues and eigenvectors."""
    w, v = found
    return (v * np.sin(w)[..., None, :]) @ adjoint(v)


def dyads(v: Any) -> Any:
    """The projection on each of the vectors: each number times the conjugate of each other one."""
    return v[..., :, None, :] * np.conj(v[..., None, :, :])


def pairs(found: Any) -> Any:
    """Eigenvalues and what of the eigenvectors does not depend on their phase."""
    return found.eigenvalues, dyads(found.eigenvectors)


EIGH = [
    *each(np.linalg.eigh, lambda a: pairs(np.linalg.eigh(a)), SQUARE, "", lambda x: lopsided(hermitian(x))),
    *each(
        np.linalg.eigh,
        lambda a: pairs(np.linalg.eigh(a, UPLO="U")),
        SQUARE[:2],
        "U",
        lambda x: lopsided(hermitian(x), upper=True),
    ),
    *each(np.linalg.eigh, lambda a: sine(np.linalg.eigh(a, "l")), SQUARE[:2], "sine", hermitian),
    *each(np.linalg.eigh, lambda a: dyads(np.linalg.eigh(a)[1]), SQUARE[:1], "v alone", hermitian),
    case(np.linalg.eigh, lambda a: onto(np.linalg.eigh(a)[1][..., 1:]), hermitian(normal(4, 4)), label="subspace"),
    *each(np.linalg.eigvalsh, None, SQUARE, "", lambda x: lopsided(hermitian(x))),
    *each(
        np.linalg.eigvalsh,
        lambda a: np.linalg.eigvalsh(a, UPLO="u"),
        SQUARE[:2],
        "u",
        lambda x: lopsided(hermitian(x), upper=True),
    ),
]

SPIRALS = np.kron(np.eye(2), A([[1.0, -2.0], [3.0, 1.5]])) + normal(4, 4) / 5
"""A real matrix with complex eigenvalues."""

EIG = [
    *each(np.linalg.eig, lambda a: pairs(np.linalg.eig(a)), SQUARE, "", apart),
    *each(np.linalg.eig, lambda a: dyads(np.linalg.eig(a)[1]), SQUARE[:1], "v alone", apart),
    case(np.linalg.eig, lambda a: pairs(np.linalg.eig(a)), SPIRALS, label="complex of real"),
    case(
        np.linalg.eig,
        lambda a: pairs(np.linalg.eig(a)),
        np.stack([SPIRALS, apart(normal(4, 4))]),
        label="complex of real in a stack",
    ),
    *each(np.linalg.eigvals, None, SQUARE, "", apart),
    case(np.linalg.eigvals, None, SPIRALS, label="complex of real"),
]


# -- singular values ------------------------------------------------------------------------------


def products(found: Any) -> Any:
    """Singular values and what of the singular vectors does not depend on their phase."""
    u, s, vh = found
    k = s.shape[-1]
    u, vh, others, others_h = u[..., :k], vh[..., :k, :], u[..., k:], vh[..., k:, :]
    return (
        [s, (u * np.sin(s)[..., None, :]) @ vh, dyads(u), dyads(adjoint(vh))],
        [onto(others), onto(adjoint(others_h))],
    )


def polar(a: Any) -> Any:
    """The unitary factor of the polar decomposition."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return u @ vh


def together(found: Any, count: int) -> Any:
    """The matrix again, of the first `count` singular values and vectors."""
    u, s, vh = found
    return (u[..., :count] * s[..., None, :count]) @ vh[..., :count, :]


REDUCED = {"full_matrices": False}
ORTHOGONAL = np.linalg.qr(normal(3, 3))[0]

SVD = [
    *each(np.linalg.svd, lambda a: products(np.linalg.svd(a)), SQUARE + OBLONG, "full"),
    *each(np.linalg.svd, lambda a: products(np.linalg.svd(a, **REDUCED)), SQUARE + OBLONG, "reduced"),
    *each(np.linalg.svd, polar, ((3, 3), (4, 2), (2, 3)), "polar"),
    *each(np.linalg.svd, lambda a: np.linalg.svd(a, compute_uv=False), OBLONG[:3], "s"),
    *each(
        np.linalg.svd,
        lambda a: products(np.linalg.svd(a, hermitian=True)),
        SQUARE,
        "hermitian",
        lambda x: lopsided(hermitian(x)),
    ),
    *each(
        np.linalg.svd,
        lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True),
        SQUARE[:2],
        "s hermitian",
        lambda x: lopsided(hermitian(x)),
    ),
    case(np.linalg.svd, lambda a: np.linalg.svd(a).S, normal(2, 3), label="S alone"),
    *each(np.linalg.svdvals, None, SQUARE + OBLONG, ""),
]


# -- the pseudo-inverse, and least squares --------------------------------------------------------


def pinv(**params: Any) -> Any:
    """The pseudo-inverse with some of its keywords given."""
    return lambda a: np.linalg.pinv(a, **params)


TALL, WIDE = with_sizes([3.0, 3.0, 1.0], 4, 3), with_sizes([3.0, 1.0, 1.0], 3, 4, numbers=complexes)
LIMITS = A([0.9, 1e-10])

PINV = [
    *each(np.linalg.pinv, None, SQUARE + OBLONG, ""),
    *each(np.linalg.pinv, pinv(hermitian=True), SQUARE, "hermitian", lambda x: lopsided(hermitian(x))),
    *each(np.linalg.pinv, pinv(hermitian=True, rtol=0.5), ((4, 4),), "hermitian cut", lambda x: lopsided(hermitian(x))),
    *each(np.linalg.pinv, pinv(rcond=0.7), ((3, 3), (4, 3), (2, 3, 4)), "cut"),
    case(np.linalg.pinv, lambda a: np.linalg.pinv(a, LIMITS), normal(2, 4, 3), label="limits"),
    case(np.linalg.pinv, pinv(rtol=None), normal(3, 2), label="rtol=None"),
    case(np.linalg.pinv, pinv(rtol=1e-8), normal(3, 2), label="rtol"),
    case(np.linalg.pinv, pinv(rcond=1e-8), ORTHOGONAL, label="orthogonal"),
    *[
        case(
            np.linalg.pinv,
            lambda x, y: np.linalg.pinv(x @ y, rcond=1e-10),
            numbers(*first),
            numbers(*second, seed=1),
            label=f"low rank {kind} {first} {second}",
        )
        for kind, numbers in NUMBERS.items()
        for first, second in (((4, 2), (2, 3)), ((3, 1), (1, 4)), ((2, 3, 2), (2, 2, 3)))
    ],
]


LOW = normal(4, 2) @ normal(2, 3, seed=1)


def solved(a: Any, b: Any, **params: Any) -> Any:
    """Everything that least squares give; the rank, which is a whole number, as a factor."""
    x, residuals, rank, s = np.linalg.lstsq(a, b, **params)
    return x * rank, residuals, s


def lstsq(a: Any, b: Any, **params: Any) -> Case:
    """A case of two arrays, both of them followed."""
    kind = "complex " if "c" in a.dtype.kind + b.dtype.kind else ""
    label = f"{kind}{a.shape} {b.shape} {' '.join(map(str, params.values()))}"
    return case(np.linalg.lstsq, lambda a, b: solved(a, b, **params), a, b, label=label)


LSTSQ = [
    *[
        lstsq(numbers(m, n), numbers(*shape, seed=1))
        for numbers in NUMBERS.values()
        for m, n in ((3, 3), (4, 2), (2, 4), (3, 1), (1, 3), (0, 3), (3, 0))
        for shape in ((m,), (m, 2))
    ],
    lstsq(normal(3, 2), normal(3, 0)),
    lstsq(normal(3, 2), normal(3, 1)),
    lstsq(normal(4, 2), complexes(4, 3)),
    lstsq(complexes(4, 2), normal(4)),
    lstsq(normal(4, 2), normal(4), rcond=-1),
    lstsq(normal(4, 2), normal(4), rcond=1e-8),
    lstsq(normal(4, 3), normal(4, 2), rcond=0.7),
    lstsq(complexes(3, 4), complexes(3), rcond=0.7),
    case(np.linalg.lstsq, lambda a: np.linalg.lstsq(a, [1.0, 2.0, 3.0])[0], normal(3, 2), label="list"),
    case(np.linalg.lstsq, lambda b: np.linalg.lstsq(((1, 2), (3, 4), (5, 7)), b)[:2], normal(3), label="list left"),
    case(np.linalg.lstsq, lambda b: solved(LOW, b, rcond=1e-10), complexes(4, 2), label="low rank"),
]

CASES = CHOLESKY + QR + EIGH + EIG + SVD + PINV + LSTSQ


# -- special points -------------------------------------------------------------------------------

EYE = np.eye(2)
WEIGHTS = A([[1.0, 2.0, 5.0], [3.0, -1.0, 4.0], [2.0, 0.5, 1.0]])
SINGLE = np.float32


SPECIAL = [
    special(np.linalg.cholesky, None, (EYE,), ([[0.5, 0], [1, 0.5]],)),
    special(np.linalg.cholesky, upper, (EYE,), ([[0.5, 1], [0, 0.5]],), label="upper"),
    special(np.linalg.cholesky, None, (A([[4.0]], SINGLE),), ([[0.25]],), label="single"),
    special(np.linalg.cholesky, None, (A([[4, 2], [2, 5]]),), (None,), label="whole numbers"),
    special(np.linalg.eigvalsh, None, (EYE,), (EYE,), label="identity"),
    special(np.linalg.eigvalsh, None, (EYE + 0j,), (EYE,), label="complex identity"),
    special(np.linalg.eigvalsh, None, (np.zeros((2, 2)),), (EYE,), label="zeros"),
    special(
        np.linalg.eigvalsh,
        lambda a: np.linalg.eigvalsh(a) ** 3,
        (np.diag([2.0, 1.0, 2.0]),),
        (np.diag([12.0, 3.0, 12.0]),),
        label="symmetric in equal ones",
    ),
    special(
        np.linalg.eigvalsh,
        lambda a: np.linalg.eigvalsh(a)[1],
        (A([[2.0, 7.0], [1.0, 2.0]]),),
        ([[0.5, 0], [1, 0.5]],),
        label="one triangle",
    ),
    special(
        np.linalg.eigh,
        lambda a: onto(np.linalg.eigh(a)[1][..., 1:]),
        (np.diag([0.0, 1.0, 1.0]),),
        ([[0, 0, 0], [2, 0, 0], [2, 0, 0]],),
        label="space of equal ones",
    ),
    special(np.linalg.eigvals, None, (EYE,), (EYE,), label="identity"),
    special(
        np.linalg.eigvals,
        lambda a: np.real(np.linalg.eigvals(a) * np.conj(np.linalg.eigvals(a))),
        (A([[1.0, -2.0], [3.0, 1.0]]),),
        ([[2, -6], [4, 2]],),
        label="a pair",
    ),
    special(np.linalg.svdvals, None, (np.zeros((2, 3)),), (np.zeros((2, 3)),), label="zeros"),
    special(np.linalg.svdvals, None, (np.diag([-2.0, 0.0]),), (np.diag([-1, 0]),), label="one zero"),
    special(np.linalg.svdvals, None, (2 * EYE,), (EYE,), label="equal ones"),
    special(np.linalg.svd, lambda a: np.linalg.svd(a)[1], (2 * EYE,), (EYE,), label="equal ones"),
    special(
        np.linalg.svd,
        lambda a: WEIGHTS * polar(a),
        (ORTHOGONAL,),
        ((WEIGHTS - ORTHOGONAL @ WEIGHTS.T @ ORTHOGONAL) / 2,),
        label="polar of orthogonal",
    ),
    special(
        np.linalg.svd,
        lambda a: together(np.linalg.svd(a), 2),
        (np.diag([2.0, 0.0]),),
        (np.ones((2, 2)),),
        label="put together with one zero",
    ),
    special(
        np.linalg.svd,
        lambda x, y: together(np.linalg.svd(x @ y), 2),
        (TALL[:, :2], WIDE[:2]),
        (np.tile(WIDE[:2].sum(1).real, (4, 1)), np.tile(TALL[:, :2].sum(0)[:, None], 4)),
        label="low rank",
    ),
    special(
        np.linalg.qr,
        lambda a: np.abs(np.linalg.qr(a).R),
        (np.diag([1e-30, 1e30]),),
        (np.diag([1.0, 1.0]),),
        label="columns of unlike lengths",
    ),
    special(np.linalg.qr, lambda a: onto(np.linalg.qr(a).R.mT), (np.diag([2.0, 3.0]),), ([[4, 4], [6, 6]],)),
    special(np.linalg.pinv, None, (EYE,), (-np.ones((2, 2)),), label="identity"),
    special(np.linalg.pinv, None, (np.zeros((2, 3)),), (np.zeros((2, 3)),), label="zeros"),
    special(np.linalg.pinv, None, (np.ones((2, 2)),), (-np.ones((2, 2)) / 4,), label="low rank"),
    special(
        np.linalg.lstsq,
        lambda a, b: np.linalg.lstsq(a, b)[0],
        (2 * EYE, A([2.0, 4.0])),
        ([[-0.5, -1], [-0.5, -1]], [0.5, 0.5]),
    ),
    special(
        np.linalg.lstsq,
        lambda a, b: np.linalg.lstsq(a, b)[0],
        (np.ones((2, 2)), A([1.0, 2.0])),
        ([[-0.5, -0.5], [-0.25, -0.25]], [0.5, 0.5]),
        label="low rank",
    ),
    special(
        np.linalg.lstsq,
        lambda a, b: np.linalg.lstsq(a, b)[1],
        (np.ones((2, 1)), A([0.0, 2.0])),
        ([[2], [-2]], [-2, 2]),
        label="residuals",
    ),
]

TIES = "found values that are equal"

REFUSED = [
    *[
        refused(np.linalg.qr, qr_in(mode), (EYE,), UnsupportedArgumentError, f"{mode!r}.*reflectors")
        for mode in ("raw", "economic", "e")
    ],
    refused(np.linalg.qr, qr_in("other"), (EYE,), ValueError, "other"),
    refused(np.linalg.qr, None, (np.ones(3),), LinAlgError, "dimensional"),
    refused(np.linalg.cholesky, None, (-EYE,), LinAlgError, "positive definite"),
    refused(np.linalg.eigh, None, (np.ones((2, 3)),), LinAlgError, "square"),
    refused(np.linalg.eigh, lambda a: np.linalg.eigh(a, UPLO="M"), (EYE,), ValueError, "UPLO"),
    refused(np.linalg.eig, None, (np.ones((2, 3)),), LinAlgError, "square"),
    refused(np.linalg.lstsq, lambda a: np.linalg.lstsq(a, np.ones((2, 2, 2))), (EYE,), LinAlgError, "two"),
    refused(np.linalg.lstsq, lambda a: np.linalg.lstsq(a, 1.0), (EYE,), LinAlgError, "two"),
    refused(
        np.linalg.eigh,
        derivative(lambda a: sine(np.linalg.eigh(a))),
        (EYE,),
        UnsupportedArgumentError,
        f"eigh {TIES}.*eigvalsh",
    ),
    refused(
        np.linalg.eigvalsh,
        derivative(derivative(lambda a: np.linalg.eigvalsh(a) ** 3)),
        (EYE,),
        UnsupportedArgumentError,
        f"eigh {TIES}",
        label="second derivative",
    ),
    refused(
        np.linalg.eig, derivative(lambda a: pairs(np.linalg.eig(a))), (EYE,), UnsupportedArgumentError, f"eig {TIES}"
    ),
    refused(
        np.linalg.eigvals,
        derivative(np.linalg.eigvals),
        (A([[2.0, 1.0], [0.0, 2.0]]),),
        UnsupportedArgumentError,
        "defective.*np.linalg.det",
    ),
    *[
        refused(
            np.linalg.qr, derivative(qr_in("r")), (a,), UnsupportedArgumentError, "a column depends.*pinv", label=label
        )
        for label, a in (("zeros", np.zeros((2, 2))), ("wide", np.ones((2, 3))), ("tall", LOW[:, ::-1]))
    ],
    *[
        refused(
            np.linalg.svd,
            derivative(lambda a: products(np.linalg.svd(a))),
            (a,),
            UnsupportedArgumentError,
            f"svd {TIES}",
            label=label,
        )
        for label, a in (
            ("equal ones", EYE),
            ("zero with more vectors", A([[1.0, 0, 0], [0, 0, 0]])),
            ("zero with phases", np.diag([1, 0j])),
        )
    ],
]
