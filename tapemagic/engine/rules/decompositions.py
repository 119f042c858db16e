"""Decompositions of matrices: Cholesky, QR, eigenvalues, singular values, pseudo-inverses, least squares.

Formulas use the plain convention, in which the gradient G of a complex matrix Y satisfies dL = Re tr(Gᴴ dY).
Therefore, each rule conjugates its arguments and its result.

Triangles. A function of Hermitian matrices (cholesky, eigh, eigvalsh, ``hermitian=True``) reads only one triangle and
the real part of the diagonal. Its gradient is in this triangle, as finite differences would find it, with zeros in
the other triangle.

Vectors. Eigenvectors and singular vectors are unique up to a phase. Vectors of equal values, and the additional
columns of ``full_matrices=True`` and ``mode="complete"``, are unique up to a rotation among themselves. The
derivative ignores this freedom. Functions that don't depend on it, such as the distance from a subspace, have the
right gradient.

Equal values, up to rounding. Functions that are symmetric in these values have the right gradient. The derivative of
a function of both equal values and their vectors, such as ``(v * np.exp(w)) @ v.mT``, isn't determined by its
derivatives with respect to w and v, so it raises an error. So does the second derivative of a function of equal
values.

Zero. A singular value of 0 from ``svdvals`` has the gradient 0. Derivatives of this 0 are nan.

References
----------
Giles (2008), "An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation". Murray (2016), "Differentiation of the Cholesky decomposition". Walter and Lehmann (2012),
"Algorithmic differentiation of linear algebra functions with application in optimum experimental design". Golub and
Pereyra (1973), "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.registry import composite, operation, vjp
from tapemagic.engine.rules.axes import conj
from tapemagic.engine.rules.elementwise import first_order_only
from tapemagic.engine.rules.linalg import solve_matrices
from tapemagic.engine.rules.shaping import cast
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.tensor import Traced, as_operand, broadcast, unwrap
from tapemagic.errors import UnsupportedArgumentError

EIG = type(np.linalg.eig(np.eye(1)))
EIGH = type(np.linalg.eigh(np.eye(1)))
QR = type(np.linalg.qr(np.eye(1)))
SVD = type(np.linalg.svd(np.eye(1)))

# -- helpers of several rules --------------------------------------------------------------------------


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose of each matrix in a stack."""
    return conj(x.mT)


def half(x: Any, upper: bool = False) -> Any:
    """Return one triangle of square matrices, with half of the diagonal."""
    size = x.shape[-1]
    lower = np.tri(size, dtype=x.dtype) - np.eye(size, dtype=x.dtype) / 2
    return x * (lower.T if upper else lower)


def hermitian_from(x: Any, upper: bool = False) -> Any:
    """Complete the triangle that NumPy reads to Hermitian matrices."""
    part = half(x, upper)
    return part + adjoint(part)


def triangle(m: Any, upper: bool = False) -> Any:
    """Convert the gradient in a Hermitian matrix to the gradient in the triangle that is read."""
    return half(m + adjoint(m), upper)


def is_upper(triangle_read: str) -> bool:
    """Return True if an UPLO argument selects the upper triangle."""
    return triangle_read.upper() == "U"


def rounding(values: Any) -> Any:
    """Return the rounding error of eigenvalues or singular values, with a last axis of length 1.

    NumPy computes them in double precision, also for matrices in single precision.
    """
    values = np.abs(unwrap(values))
    # Values in single precision are rounded results of double precision: both errors count.
    eps = np.finfo(values.dtype).eps + 8 * values.shape[-1] * np.finfo(float).eps
    return eps * values.max(-1, keepdims=True, initial=0)


def over(x: Any, divisor: Any, tiny: Any) -> Any:
    """Return ``x / divisor``, or 0 where the divisor is 0 up to rounding."""
    is_zero = np.abs(unwrap(divisor)) <= tiny
    return np.where(is_zero, 0, x / np.where(is_zero, 1, divisor))


def gaps(values: Any) -> Any:
    """Return the differences ``values[j] - values[i]``."""
    return values[..., None, :] - values[..., :, None]


def sums(values: Any) -> Any:
    """Return the sums ``values[i] + values[j]``."""
    return values[..., None, :] + values[..., :, None]


def refuse_ties(name: str, values: Any, dvalues: Any, *dvectors: Any, null: bool = False) -> None:
    """Reject a function that uses equal values together with their vectors.

    With `null`, a single value of 0 is rejected as well, because its vectors, or their phases, are arbitrary.
    """
    values, tiny = unwrap(values), rounding(values)
    # A row of `gaps` always contains the value itself, hence "> 1".
    tied = np.sum(np.abs(gaps(values)) <= tiny[..., None], axis=-1) > 1
    tied |= null & (np.abs(values) <= tiny)
    # A gradient of nan, such as that of a kink of svdvals, makes the result nan.
    used = (unwrap(dvalues) != 0) & ~np.isnan(unwrap(dvalues))
    if np.any(tied & used) and any(np.any(unwrap(dx)) for dx in dvectors):
        raise UnsupportedArgumentError(
            f"{name} found values that are equal, or zero: a function of both values and vectors then has no unique "
            "derivative, nor has a function of the values a second derivative. If you use them separately, compute the "
            "values by a separate call (eigvalsh, eigvals, svdvals); otherwise make the values differ, for example by "
            "adding a small diagonal matrix"
        )


def leading_columns_gradient(g: Any, q: Any, count: int) -> Any:
    """Return the gradient of the first `count` columns of unitary matrices, from which the other columns follow.

    With the columns Q = (Q₁ Q₂), dQ₂ = −Q₁ dQ₁ᴴ Q₂, because the columns stay orthogonal.
    """
    if q.shape[-1] == count:
        return g
    first, rest = q[..., :count], q[..., count:]
    return g[..., :count] - rest @ (adjoint(g[..., count:]) @ first)


# -- Cholesky -------------------------------------------------------------------------------------


def _cholesky(g, y, _a, upper=False):
    """L⁻ᴴ Φ(Lᴴ G) L⁻¹, where Φ takes the lower triangle and halves the diagonal (Murray 2016, section 3)."""
    g = conj(g)
    if upper:
        g, y = adjoint(g), adjoint(y)
    back = adjoint(y)
    m = solve_matrices(back, half(back @ g))
    return conj(triangle(solve_matrices(back, adjoint(m)), upper))


vjp(np.linalg.cholesky, _cholesky)


# -- QR -------------------------------------------------------------------------------------------


def qr_(a: Any, mode: Any) -> tuple[Any, ...]:
    """``np.linalg.qr``, in a mode that returns both factors."""
    return tuple(np.linalg.qr(a, mode))


def _qr(g, y, _a):
    """(G_Q + Q (N + Nᴴ)) R⁻ᴴ, where N is half the upper triangle of G_R Rᴴ − Qᴴ G_Q (Walter and Lehmann 2012).

    Extended to complex Q, with a real diagonal of R. If there are more columns than rows, the additional columns are
    Q R₂, and the cotangents of their factors are added.
    """
    size = min(_a.shape[-2:])
    gq, q = leading_columns_gradient(conj(g[0]), y[0], size), y[0][..., :size]
    gr, r = conj(g[1])[..., :size, :], y[1][..., :size, :]
    gr, right = gr[..., :size], gr[..., size:]
    r, r_right = r[..., :size], r[..., size:]
    if right.shape[-1]:
        gq = gq + q @ (r_right @ adjoint(right))
    # R is inverted below; without this check, a dependent column would give inf or nan.
    refuse_dependent(unwrap(r))
    n = half(gr @ adjoint(r) - adjoint(q) @ gq, upper=True)
    left = adjoint(solve_matrices(r, adjoint(gq + q @ (n + adjoint(n)))))
    if right.shape[-1]:
        right = broadcast(q @ right, (*left.shape[:-1], right.shape[-1]))
        left = np.concatenate([left, right], axis=-1)
    return conj(left)


def refuse_dependent(r: Any) -> None:
    """Reject matrices with a column that is a combination of the columns before it, up to rounding."""
    tiny = 64 * r.shape[-1] * np.finfo(float).eps * np.max(np.abs(r), axis=-2, initial=0)
    if np.any(np.abs(np.diagonal(r, axis1=-2, axis2=-1)) <= tiny):
        raise UnsupportedArgumentError(
            "qr of a matrix has no derivative if a column depends on the columns to its left: for a matrix of "
            "lower rank, write np.linalg.svd(a), or np.linalg.pinv(a) to solve equations"
        )


vjp(qr_, _qr, ignores="mode")


@composite(np.linalg.qr)
def _qr_factors(a: Any, mode: str = "reduced") -> Any:
    if mode in {"raw", "economic", "e"}:
        raise UnsupportedArgumentError(
            f"qr(a, mode={mode!r}) returns LAPACK's reflectors, which have no derivative here: "
            "write mode='reduced', 'complete' or 'r'"
        )
    q, r = apply(operation(qr_), (a,), {"mode": "reduced" if mode == "r" else mode})
    return r if mode == "r" else QR(q, r)


# -- eigenvalues ----------------------------------------------------------------------------------


def eigh_(a: Any, UPLO: Any) -> tuple[Any, ...]:  # noqa: N803 (NumPy's name)
    """``np.linalg.eigh`` as a plain tuple."""
    return tuple(np.linalg.eigh(a, UPLO))


def _eigh(g, y, _a, UPLO):  # noqa: N803 (NumPy's name)
    """V (diag(g_w) + F ∘ Vᴴ G_V) Vᴴ, with F_ij = 1 / (w_j − w_i) (Giles 2008, section 3.1)."""
    (dw, dv), (w, v) = map(conj, g), y
    refuse_ties("eigh", w, dw, dv)
    rotation = over(adjoint(v) @ dv, gaps(w), rounding(w)[..., None])
    m = (v * dw[..., None, :] + v @ rotation) @ adjoint(v)
    return conj(triangle(m, is_upper(UPLO)))


def eig_(a: Any) -> tuple[Any, ...]:
    """``np.linalg.eig`` as a plain tuple."""
    return tuple(np.linalg.eig(a))


def _eig(g, y, _a):
    """V⁻ᴴ (diag(g_w) + F ∘ (Q − Vᴴ V diag(Q))) Vᴴ, with Q = Vᴴ G_V (Giles 2008, section 3.1).

    The last term keeps the length of the eigenvectors at 1, which LAPACK's normalization requires and Giles omits.
    """
    (dw, dv), (w, v) = map(conj, g), y
    back = adjoint(v)
    gram, inner = back @ v, back @ dv
    refuse_ties("eig", w, dw, dv)
    refuse_defective(unwrap(w), unwrap(gram))
    stretch = np.diagonal(inner, axis1=-2, axis2=-1)[..., None, :]
    w = conj(w)
    rotation = over(inner - gram * stretch, gaps(w), rounding(w)[..., None])
    return conj(solve_matrices(back, rotation @ back + dw[..., :, None] * back))


def refuse_defective(w: Any, gram: Any) -> None:
    """Reject two parallel eigenvectors of the same eigenvalue; `gram` contains the inner products of all vectors."""
    tied = (np.abs(gaps(w)) <= rounding(w)[..., None]) & ~np.eye(w.shape[-1], dtype=bool)
    # A defective matrix whose eigenvalues are equal up to rounding, such as a triangular one, has eigenvectors that are
    # parallel up to rounding. The cosine of a small angle is 1 - angle**2 / 2, so this limit treats angles up to 1.4e-3
    # as parallel: far more than rounding, and far less than between vectors that span a plane in a useful way.
    if np.any(tied & (np.abs(gram) > 1 - 1e-6)):
        raise UnsupportedArgumentError(
            "eig of a defective matrix, which has fewer eigenvectors than rows, has no derivative: its eigenvalues "
            "move like roots. For a trace, a determinant or a power, write np.trace, np.linalg.det or "
            "np.linalg.matrix_power"
        )


vjp(eigh_, _eigh)
vjp(eig_, _eig)


@composite(np.linalg.eigh)
def _hermitian_pairs(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803 (NumPy's name)
    return EIGH(*apply(operation(eigh_), (a,), {"UPLO": UPLO}))


@composite(np.linalg.eigvalsh)
def _hermitian_values(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803 (NumPy's name)
    return np.linalg.eigh(a, UPLO)[0]


@composite(np.linalg.eig)
def _pairs(a: Any) -> Any:
    return EIG(*apply(operation(eig_), (a,), {}))


@composite(np.linalg.eigvals)
def _values(a: Any) -> Any:
    """The eigenvalues in the order of eig, which may differ from the order of eigvals for large matrices."""
    return np.linalg.eig(a)[0]


# -- singular values ------------------------------------------------------------------------------


def svd_(a: Any, full_matrices: bool) -> tuple[Any, ...]:
    """``np.linalg.svd`` as a plain tuple."""
    return tuple(np.linalg.svd(a, full_matrices))


def _svd(g, y, _a):
    """U (diag(g_s) + K) Vᴴ, plus the components outside of the spaces that U and V span.

    With the skew parts P = Uᴴ G_U − G_Uᴴ U, and R of V likewise, the textbook's K_ij = (P_ij s_j + s_i R_ij) / (s_j²
    − s_i²) equals ((P + R)_ij / (s_j − s_i) + (P − R)_ij / (s_j + s_i)) / 2. The second term of this form stays exact
    if singular values are equal. (Giles 2008, section 3, has only the derivative of s.)
    """
    (gu, ds, gvh), (u, s, vh) = map(conj, g), y
    gv, v = adjoint(gvh), adjoint(vh)
    size = s.shape[-1]
    null = u.dtype.kind == "c" or _a.shape[-1] != _a.shape[-2]
    refuse_ties("svd", s, ds, gu, gv, null=null)
    # The additional columns of full matrices are orthogonal to the others, so only those have free
    # gradients.
    gu, u = leading_columns_gradient(gu, u, size), u[..., :size]
    gv, v = leading_columns_gradient(gv, v, size), v[..., :size]

    tiny = rounding(s)
    inner_u, inner_v = adjoint(u) @ gu, adjoint(v) @ gv
    skew_u, skew_v = inner_u - adjoint(inner_u), inner_v - adjoint(inner_v)
    k = over(skew_u + skew_v, gaps(s), tiny[..., None])
    k = (k + over(skew_u - skew_v, sums(s), tiny[..., None])) / 2
    left = u * ds[..., None, :] + u @ k
    if _a.shape[-2] > size:
        left = left + over(gu - u @ inner_u, s[..., None, :], tiny[..., None])
    m = left @ adjoint(v)
    if _a.shape[-1] > size:
        m = m + u @ adjoint(over(gv - v @ inner_v, s[..., None, :], tiny[..., None]))
    return conj(m)


vjp(svd_, _svd, ignores="full_matrices")


@composite(np.linalg.svd)
def _singular(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if not compute_uv:
        return _sizes(a) if hermitian else np.linalg.svdvals(a)
    if hermitian:
        return _from_eigenvalues(a)
    return SVD(*apply(operation(svd_), (a,), {"full_matrices": full_matrices}))


def without_slope(s: Any, _points: Any) -> Any:
    """Return s. The rule makes its gradient 0 at the points."""
    return s


def _without_slope(g, _y, s, points):
    """0 at the points, by convention."""
    return first_order_only(np.where(points, 0, g), s, lambda _s: points)


vjp(without_slope, _without_slope, None, name="svdvals")


@composite(np.linalg.svdvals)
def _singular_values(x: Any) -> Any:
    s = apply(operation(svd_), (x,), {"full_matrices": False})[1]
    # A singular value of 0 has a kink: its gradient is 0 by convention.
    return apply(operation(without_slope), (s, unwrap(s) <= rounding(s)), {})


def _sizes(a: Any) -> Any:
    """Return the absolute eigenvalues, largest first."""
    return np.flip(np.sort(np.abs(np.linalg.eigvalsh(a))), -1)


def _from_eigenvalues(a: Any) -> Any:
    """Compute the singular value decomposition of Hermitian matrices from their eigenvectors, as NumPy does."""
    w, v = np.linalg.eigh(a)
    order = np.argsort(np.abs(unwrap(w)))[..., ::-1]
    w = np.take_along_axis(w, order, axis=-1)
    u = np.take_along_axis(v, order[..., None, :], axis=-1)
    # The sign of an eigenvalue is constant almost everywhere; 0.0 has the sign 1, unlike
    # np.sign(0.0).
    sign = np.copysign(1.0, unwrap(w)).astype(w.dtype)
    return SVD(u, np.abs(w), adjoint(u * sign[..., None, :]))


# -- the pseudo-inverse, and least squares --------------------------------------------------------


def pinv_gradient(h: Any, p: Any, a: Any, limit: Any) -> Any:
    """Return the gradient in `a`, where `p` is its pseudo-inverse, and `h` the adjoint of the gradient in `p`.

    It is −(P H P)ᴴ + (I − A P) H P Pᴴ + Pᴴ P H (I − P A), for matrices close to A with the same rank (Golub and
    Pereyra 1973, section 4). If `limit` isn't None, singular values below this limit, relative to the largest, were
    dropped.
    """
    if limit is not None and _cuts(unwrap(a), limit):
        return _truncated_gradient(h, p, a, limit)
    b = p @ h @ p
    back = adjoint(p)
    # Both branches are the same formula; the order of the products avoids large square matrices.
    if a.shape[-2] > a.shape[-1]:
        sides = h @ (p @ back) - a @ (b @ back) + back @ (p @ h - b @ a)
    else:
        sides = (h @ p - a @ b) @ back + (back @ p) @ h - back @ (b @ a)
    return sides - adjoint(b)


def _cuts(a: Any, limit: Any) -> Any:
    """Return True if nonzero singular values were dropped."""
    s = np.linalg.svd(a, compute_uv=False)
    return np.any(~_kept(s, limit) & (s > rounding(s)))


def _kept(s: Any, limit: Any) -> Any:
    """Return a mask of the singular values above the limit."""
    return s > np.asarray(limit)[..., None] * s.max(-1, keepdims=True, initial=0)


def _truncated_gradient(h: Any, p: Any, a: Any, limit: Any) -> Any:
    """Return the gradient like `pinv_gradient` if nonzero singular values were dropped.

    A function V f(S) Uᴴ has the derivative V (α ∘ X + β ∘ Xᴴ) Uᴴ, where X = Uᴴ dA V, α_ij = (s_i f_j − s_j f_i) /
    (s_j² − s_i²), and β_ij = (s_j f_j − s_i f_i) / (s_j² − s_i²). Here f is 1 / s, or 0 for dropped values.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    v, kept = adjoint(vh), _kept(unwrap(s), limit)
    f = np.where(kept, 1 / np.where(kept, s, 1), 0)
    across = kept[..., None, :] != kept[..., :, None]
    squares = np.where(across, gaps(s) * sums(s), 1)
    mixed = s[..., :, None] * f[..., None, :] - s[..., None, :] * f[..., :, None]
    alpha = np.where(across, mixed / squares, -f[..., None, :] * f[..., :, None])
    beta = gaps(kept * 1.0) / squares
    inner = vh @ adjoint(h) @ u
    m = u @ (alpha * inner + beta * adjoint(inner)) @ vh
    m = m + (h - u @ (adjoint(u) @ h)) @ (p @ adjoint(p))
    return m + (adjoint(p) @ p) @ (h - (h @ v) @ vh)


def _pinv(g, y, a, rcond=None, hermitian=False, rtol=None):
    """The gradient of a pseudo-inverse: see `pinv_gradient`."""
    limit = rtol if rcond is None else rcond
    if not hermitian:
        return conj(pinv_gradient(g.mT, y, a, limit))
    return conj(triangle(pinv_gradient(g.mT, y, hermitian_from(a), limit)))


vjp(np.linalg.pinv, _pinv)


def lstsq_(a: Any, b: Any, rcond: Any) -> tuple[Any, ...]:
    """``np.linalg.lstsq`` without the singular values; the rank is a float, because a record needs real numbers."""
    x, residuals, rank, _ = np.linalg.lstsq(a, b, rcond)
    return x, residuals, rank * 1.0


def _lstsq_a(g, y, a, b, rcond):
    """The solution is P B, where P is the pseudo-inverse; the residuals change by −2 Re(rᴴ dA x)."""
    x, residuals, _ = y
    p = np.linalg.pinv(a, cutoff(a, rcond))
    m = pinv_gradient(b @ g[0].mT, p, a, rcond)
    if residuals.shape == x.shape[-1:]:
        m = m - ((b - a @ x) * (2 * g[1][..., None, :])) @ adjoint(x)
    return conj(m)


def _lstsq_b(g, y, a, b, rcond):
    """The solution is P B, where P is the pseudo-inverse; the residuals change by 2 Re(rᴴ dB)."""
    x, residuals, _ = y
    p = np.linalg.pinv(a, cutoff(a, rcond))
    m = p.mT @ g[0]
    if residuals.shape == x.shape[-1:]:
        m = m + conj(b - a @ x) * (2 * g[1][..., None, :])
    return m


def cutoff(a: Any, rcond: Any) -> Any:
    """Return the relative size up to which LAPACK treats singular values as zero."""
    eps = np.finfo(float).eps
    if rcond is None:
        return eps * max(a.shape)
    return rcond if rcond >= 0 else eps / 2


vjp(lstsq_, _lstsq_a, _lstsq_b)


@composite(np.linalg.lstsq)
def _least_squares(a: Any, b: Any, rcond: Any = None) -> Any:
    a, b = as_operand(a), as_operand(b)
    a = a if isinstance(a, Traced) else constant(a)
    flat = np.ndim(b) == 1
    columns = b[:, None] if flat else b
    x, residuals, rank = apply(operation(lstsq_), (a, columns), {"rcond": unwrap(rcond)})
    # Singular values from svdvals have a rule; those of lstsq are the same numbers.
    s = np.linalg.svdvals(cast(a, np.result_type(a.dtype, residuals.dtype)))
    return x[:, 0] if flat else x, residuals, unwrap(rank).astype(np.intc), s
