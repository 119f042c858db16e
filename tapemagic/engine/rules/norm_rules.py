"""Norms of vectors and matrices, and condition numbers.

Where a norm has a kink, its gradient is a subgradient: 0 for what is zero, and equal shares for all that are
the largest, or the smallest. The second derivatives of norms of singular values are right where some of these
are equal; the third ones need np.linalg.svd, whose rule refuses equal ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.registry import vjp
from tapemagic.engine.rules.axes import conj, expand, negative_axes, negative_axis
from tapemagic.engine.rules.decompositions import adjoint, gaps, rounding, sums
from tapemagic.engine.rules.elementwise import inverse, zeros
from tapemagic.engine.rules.reductions import out_of_range, unit_of
from tapemagic.engine.tensor.tensor import unwrap

EUCLIDEAN = (None, 2, "fro", "f")
"""The orders of the Euclidean norm of vectors; of matrices all but 2."""

SPECTRAL = (2, -2, "nuc")
"""The orders for which the norm of a matrix is that of its singular values."""


def shares(values: Any, axis: Any, largest: bool) -> Any:
    """One, shared evenly by the largest or the smallest values along an axis, or several."""
    values = unwrap(values)
    options = {"axis": axis, "keepdims": True}
    extreme = np.max(values, initial=0, **options) if largest else np.min(values, **options)
    hit = (values == extreme) | np.isnan(values)
    return hit / np.maximum(np.sum(hit, **options), 1)


# -- vectors --------------------------------------------------------------------------------------


def vector_norm_gradient(g: Any, y: Any, x: Any, order: Any, axes: tuple[int, ...]) -> Any:
    """The gradient of the norm `y` of vectors that lie along `axes`, which `g` and `y` have with length 1.

    It is the same for a multiple of the vector. So where the powers of the elements have left the range of their
    dtype, which makes the norm infinite or 0, it is computed for elements of at most 1.
    """
    if order != 0 and out_of_range(y):
        x = x / unit_of(x, axes)
        y = np.linalg.vector_norm(
            x, axis=axes, keepdims=True, ord=2 if order in EUCLIDEAN else order
        )
    if order in EUCLIDEAN:
        return (g * inverse(y)) * conj(x)
    if order == 0:
        return zeros(g)
    if np.isinf(order):
        return g * shares(np.abs(x), axes, order > 0) * conj(np.sign(x))
    if order == 1:
        return g * conj(np.sign(x))
    there = (x != 0) & (y != 0)
    part = np.where(there, np.abs(x), 1) / np.where(there, y, 1)
    return g * np.where(there, part, 1) ** (order - 1) * (conj(np.sign(x)) * (y != 0))


def _vector_norm(g, y, x, axis=None, keepdims=False, ord=2):  # noqa: A002 (NumPy's name)
    """The elements over the norm, to the power of its order less one."""
    axes = negative_axes(axis, x.ndim)
    return vector_norm_gradient(expand(g, axes, keepdims), expand(y, axes, keepdims), x, ord, axes)


# -- matrices -------------------------------------------------------------------------------------


@primitive
def spectral(x: Any, order: Any) -> Any:
    """The derivative of a norm of singular values: the sum of ``u[i] v[i]^H``, weighted with its slopes."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * slopes(s, order)[..., None, :]) @ vh


def slopes(s: Any, order: Any) -> Any:
    """The derivative of a norm in each singular value.

    Values that differ by rounding only share it. One that is zero, for "nuc" but for rounding, has none.
    """
    if order == "nuc":
        return (s > rounding(s)).astype(s.dtype)
    extreme = s[..., :1] if order > 0 else s[..., -1:]
    hit = (np.abs(s - extreme) <= rounding(s)) & (s != 0)
    return hit / np.maximum(np.sum(hit, axis=-1, keepdims=True), 1).astype(s.dtype)


def quotient(x: Any, divisor: Any) -> Any:
    """``x / divisor``, and 0 where the divisor is 0."""
    return np.where(divisor, x, 0) / np.where(divisor, divisor, 1)


def _spectral(g, _y, x, order):
    """The derivative through the singular vectors, except among those with equal slopes, whose sum is constant.

    In their basis a change splits into a Hermitian part, which turns u and v alike, and an
    anti-Hermitian one, which turns them against each other; A. S. Lewis and H. S. Sendov, "Twice
    differentiable spectral functions", SIAM Journal on Matrix Analysis and Applications 23 (2001).
    """
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    uh, v = adjoint(u), adjoint(vh)
    f = slopes(unwrap(s), order)
    g = conj(g)
    inner = uh @ g @ v
    alike = quotient((inner + adjoint(inner)) / 2 * gaps(f), gaps(s))
    against = quotient((inner - adjoint(inner)) / 2 * sums(f), sums(s))
    change = u @ (alike + against) @ vh
    rows, columns = x.shape[-2:]
    if rows > columns:
        change = change + quotient((g @ v - u @ inner) * f[..., None, :], s[..., None, :]) @ vh
    if rows < columns:
        change = change + u @ quotient((uh @ g - inner @ vh) * f[..., None], s[..., None])
    return conj(change)


vjp(spectral, _spectral, name="norm")


def matrix_norm_gradient(g: Any, x: Any, order: Any, rows: int, columns: int) -> Any:
    """The gradient of the norm of matrices whose `rows` and `columns` are negative axes of x."""
    if order in SPECTRAL:
        matrices = np.moveaxis(x, (rows, columns), (-2, -1))
        return g * conj(np.moveaxis(spectral(matrices, order=order), (-2, -1), (rows, columns)))
    summed, compared = (rows, columns) if abs(order) == 1 else (columns, rows)
    lengths = np.sum(np.abs(x), axis=summed, keepdims=True)
    return g * shares(lengths, compared, order > 0) * conj(np.sign(x))


def _norm(g, y, x, ord=None, axis=None, keepdims=False):  # noqa: A002 (NumPy's name)
    """The gradient of the norm of vectors along one axis, or of matrices along two."""
    axes = negative_axes(axis, x.ndim)
    g, y = expand(g, axes, keepdims), expand(y, axes, keepdims)
    if len(axes) == 1 or (ord in EUCLIDEAN and ord != 2):
        return vector_norm_gradient(g, y, x, ord, axes)
    rows, columns = (-2, -1) if axis is None else (negative_axis(one, x.ndim) for one in axis)
    return matrix_norm_gradient(g, x, ord, rows, columns)


def _matrix_norm(g, y, x, keepdims=False, ord="fro"):  # noqa: A002 (NumPy's name)
    """The gradient of the norm of matrices along the last two axes."""
    return _norm(g, y, x, ord, (-2, -1), keepdims)


vjp(np.linalg.norm, _norm)
vjp(np.linalg.vector_norm, _vector_norm)
vjp(np.linalg.matrix_norm, _matrix_norm)


# -- condition numbers ----------------------------------------------------------------------------


def _cond(g, y, x, p=None):
    """A change of the norm, and one of the inverse's; NaN where the number is infinite.

    The number is real, also where its dtype is complex, as before NumPy 2.4.
    """
    finite = np.isfinite(y)[..., None, None]
    x = np.where(finite, x, np.eye(*x.shape[-2:]))
    change = spectral_cond_gradient(x, p) if p in (None, 2, -2) else cond_gradient(x, p)
    return np.real(g)[..., None, None] * np.where(finite, change, np.nan)


def spectral_cond_gradient(x: Any, p: Any) -> Any:
    """The gradient of the largest singular value over the smallest, or the smallest over the largest."""
    above = p or 2
    below = np.linalg.matrix_norm(x, ord=-above, keepdims=True)
    ratio = np.linalg.matrix_norm(x, ord=above, keepdims=True) / below
    return matrix_norm_gradient(1 / below, x, above, -2, -1) - matrix_norm_gradient(
        ratio / below, x, -above, -2, -1
    )


def cond_gradient(x: Any, p: Any) -> Any:
    """The gradient of the norm of matrices times that of their inverses."""
    inverted = np.linalg.inv(x)
    size = np.linalg.matrix_norm(x, ord=p, keepdims=True)
    other = np.linalg.matrix_norm(inverted, ord=p, keepdims=True)
    back = _matrix_norm(size, other, inverted, True, p)
    return _matrix_norm(other, size, x, True, p) - inverted.mT @ back @ inverted.mT


vjp(np.linalg.cond, _cond)
