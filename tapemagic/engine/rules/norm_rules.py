"""Norms of vectors and matrices, and condition numbers.

At a kink of a norm, the gradient is a subgradient: 0 for elements that are 0, and equal shares for tied extremes.
Where a norm is 0, no branch has this 0, so derivatives of the gradient are nan: see `first_order_only`.
Second derivatives of norms of singular values are right also if some of these are equal. Third derivatives need
np.linalg.svd, whose rule rejects equal singular values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.registry import even_zeros, vjp
from tapemagic.engine.rules.axes import conj, expand, negative_axes, negative_axis
from tapemagic.engine.rules.decompositions import adjoint, gaps, rounding, sums
from tapemagic.engine.rules.elementwise import direction, first_order_only, inverse, ratio, zeros
from tapemagic.engine.rules.reductions import out_of_range, unit_of
from tapemagic.engine.tensor.tensor import unwrap

EUCLIDEAN = (None, 2, "fro", "f")
"""The orders of the Euclidean norm of vectors; for matrices, all of these except 2."""

SPECTRAL = (2, -2, "nuc")
"""The orders for which the norm of a matrix is a function of its singular values."""


def shares(values: Any, axis: Any, largest: bool) -> Any:
    """Divide 1 evenly among the largest or smallest values along one or several axes."""
    values = unwrap(values)
    options = {"axis": axis, "keepdims": True}
    extreme = np.max(values, initial=0, **options) if largest else np.min(values, **options)
    # nan is the maximum and the minimum in NumPy, so it gets a share.
    hit = (values == extreme) | np.isnan(values)
    return hit / np.maximum(np.sum(hit, **options), 1)


# -- vectors --------------------------------------------------------------------------------------


def vector_norm_gradient(g: Any, y: Any, x: Any, order: Any, axes: tuple[int, ...]) -> Any:
    """Return the gradient of the norm `y` of vectors along `axes`, which `g` and `y` have with length 1.

    A multiple of the vector has the same gradient. So if powers of the elements overflow or underflow, which makes
    the norm infinite or 0, the gradient is computed for elements of at most 1.
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
        return first_order_only(g * shares(np.abs(x), axes, order > 0) * direction(x), y)
    if order == 1:
        return first_order_only(g * direction(x), y)
    if order > 1:
        # The power decides about an element of 0: its slope is 0 for orders from 2 on, else infinite.
        return g * ratio(np.abs(x), y) ** (order - 1) * conj(np.sign(x))
    # The slope at an element of 0 is infinite, and 0 by convention.
    is_nonzero = (x != 0) & (y != 0)
    part = np.where(is_nonzero, np.abs(x), 1) / np.where(is_nonzero, y, 1)
    slope = np.where(is_nonzero, part, 1) ** (order - 1) * (direction(x) * (y != 0))
    return g * first_order_only(first_order_only(slope, x), y)


def _vector_norm(g, y, x, axis=None, keepdims=False, ord=2):  # noqa: A002 (NumPy's name)
    """(|x| / norm)**(order - 1) * sign(x), with conjugates for complex elements."""
    axes = negative_axes(axis, x.ndim)
    return vector_norm_gradient(expand(g, axes, keepdims), expand(y, axes, keepdims), x, ord, axes)


# -- matrices -------------------------------------------------------------------------------------


@primitive
def spectral(x: Any, order: Any) -> Any:
    """Return the derivative of a norm of singular values: the sum of ``u[i] v[i]^H``, weighted by its slopes."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * slopes(s, order)[..., None, :]) @ vh


def slopes(s: Any, order: Any) -> Any:
    """Return the derivative of a norm with respect to each singular value.

    Values that differ only by rounding share it. A value of 0 (for "nuc", up to rounding) has the derivative 0.
    """
    if order == "nuc":
        return (s > rounding(s)).astype(s.dtype)
    extreme = s[..., :1] if order > 0 else s[..., -1:]
    hit = (np.abs(s - extreme) <= rounding(s)) & (s != 0)
    return hit / np.maximum(np.sum(hit, axis=-1, keepdims=True), 1).astype(s.dtype)


def quotient(x: Any, divisor: Any) -> Any:
    """Return ``x / divisor``, or 0 where the divisor is 0."""
    return np.where(divisor, x, 0) / np.where(divisor, divisor, 1)


def _spectral(g, _y, x, order):
    """The derivative through the singular vectors, except among those with equal slopes, whose sum is constant.

    In their basis, a change splits into a Hermitian part, which rotates u and v in the same direction, and an
    anti-Hermitian part, which rotates them in opposite directions (A. S. Lewis and H. S. Sendov, "Twice
    differentiable spectral functions", SIAM Journal on Matrix Analysis and Applications 23, 2001).
    """
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    uh, v = adjoint(u), adjoint(vh)
    f = slopes(unwrap(s), order)
    g = conj(g)
    inner = uh @ g @ v
    same_rotation = quotient((inner + adjoint(inner)) / 2 * gaps(f), gaps(s))
    opposite_rotation = quotient((inner - adjoint(inner)) / 2 * sums(f), sums(s))
    change = u @ (same_rotation + opposite_rotation) @ vh
    rows, columns = x.shape[-2:]
    if rows > columns:
        change = change + quotient((g @ v - u @ inner) * f[..., None, :], s[..., None, :]) @ vh
    if rows < columns:
        change = change + u @ quotient((uh @ g - inner @ vh) * f[..., None], s[..., None])
    # A slope of 0 by convention: the smallest singular values of "nuc", or the only ones that count if they are 0.
    kink = s <= rounding(s) if order == "nuc" else (s[..., :1] if order > 0 else s[..., -1:]) == 0
    kink = unwrap(np.any(unwrap(kink), axis=-1))[..., None, None]
    return conj(change) * np.where(kink, np.nan, 1).astype(s.dtype)


vjp(spectral, _spectral, name="norm")


def matrix_norm_gradient(g: Any, x: Any, order: Any, rows: int, columns: int) -> Any:
    """Return the gradient of the norm of matrices whose `rows` and `columns` are negative axes of x."""
    if order in SPECTRAL:
        matrices = np.moveaxis(x, (rows, columns), (-2, -1))
        return g * conj(np.moveaxis(spectral(matrices, order=order), (-2, -1), (rows, columns)))
    summed, compared = (rows, columns) if abs(order) == 1 else (columns, rows)
    lengths = np.sum(np.abs(x), axis=summed, keepdims=True)
    return g * shares(lengths, compared, order > 0) * direction(x)


def _norm(g, y, x, ord=None, axis=None, keepdims=False):  # noqa: A002 (NumPy's name)
    """The gradient of the norm of vectors along one axis, or of matrices along two axes."""
    axes = negative_axes(axis, x.ndim)
    g, y = expand(g, axes, keepdims), expand(y, axes, keepdims)
    if len(axes) == 1 or (ord in EUCLIDEAN and ord != 2):
        return vector_norm_gradient(g, y, x, ord, axes)
    rows, columns = (-2, -1) if axis is None else (negative_axis(each, x.ndim) for each in axis)
    return first_order_only(matrix_norm_gradient(g, x, ord, rows, columns), y)


def _matrix_norm(g, y, x, keepdims=False, ord="fro"):  # noqa: A002 (NumPy's name)
    """The gradient of the norm of matrices along the last two axes."""
    return _norm(g, y, x, ord, (-2, -1), keepdims)


vjp(np.linalg.norm, _norm)
vjp(np.linalg.vector_norm, _vector_norm)
vjp(np.linalg.matrix_norm, _matrix_norm)
even_zeros(np.linalg.norm, np.linalg.vector_norm, np.linalg.matrix_norm)


# -- condition numbers ----------------------------------------------------------------------------


def _cond(g, y, x, p=None):
    """The changes of the norm and of the inverse's norm; nan if the condition number is infinite.

    The number is real. Before NumPy 2.4, its dtype is complex for complex matrices.
    """
    finite = np.isfinite(y)[..., None, None]
    # Any regular matrix will do for singular ones: their gradients are replaced by nan.
    x = np.where(finite, x, np.eye(*x.shape[-2:]))
    change = spectral_cond_gradient(x, p) if p in (None, 2, -2) else cond_gradient(x, p)
    return np.real(g)[..., None, None] * np.where(finite, change, np.nan)


def spectral_cond_gradient(x: Any, p: Any) -> Any:
    """Return the gradient of the largest singular value over the smallest, or of the reciprocal."""
    above = p or 2
    below = np.linalg.matrix_norm(x, ord=-above, keepdims=True)
    ratio = np.linalg.matrix_norm(x, ord=above, keepdims=True) / below
    return matrix_norm_gradient(1 / below, x, above, -2, -1) - matrix_norm_gradient(
        ratio / below, x, -above, -2, -1
    )


def cond_gradient(x: Any, p: Any) -> Any:
    """Return the gradient of the norm of matrices times the norm of their inverses."""
    inverted = np.linalg.inv(x)
    size = np.linalg.matrix_norm(x, ord=p, keepdims=True)
    inverse_size = np.linalg.matrix_norm(inverted, ord=p, keepdims=True)
    back = _matrix_norm(size, inverse_size, inverted, True, p)
    return _matrix_norm(inverse_size, size, x, True, p) - inverted.mT @ back @ inverted.mT


vjp(np.linalg.cond, _cond)
