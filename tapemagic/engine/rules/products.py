"""Products of arrays: matrix products, contractions, Kronecker and cross products, convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from tapemagic.engine.registry import even_zeros, vjp
from tapemagic.engine.rules.axes import conj, leading_shape, negative_axis, shape_of

Shape = tuple[int, ...]


def _to_end(x: Any, axis: int, ndim: int) -> Any:
    """Move an axis, counted among the last `ndim`, to the end."""
    axis = negative_axis(axis, ndim)
    return x if axis == -1 else np.moveaxis(x, axis, -1)


def _from_end(x: Any, axis: int, ndim: int) -> Any:
    """Move the last axis back to its position before `_to_end`."""
    axis = negative_axis(axis, ndim)
    return x if axis == -1 else np.moveaxis(x, -1, axis)


# -- matrix products ------------------------------------------------------------------------------


def _matmul_x(g, _z, _x, y):
    """The cotangent times the transposed second factor."""
    if y.ndim == 2:
        return g @ y.T
    if y.ndim == 1:
        return g[..., None] * y
    return g @ y.mT if _x.ndim > 1 else g[..., None, :] @ y.mT


def _matmul_y(g, _z, x, _y):
    """The transposed first factor times the cotangent."""
    # The common cases first: plain matrices need no reshaping.
    if x.ndim == 2 and _y.ndim > 1:
        return x.T @ g
    if x.ndim == 1:
        return g[..., None] * x if _y.ndim == 1 else x[:, None] * g[..., None, :]
    if _y.ndim > 2:
        return x.mT @ g
    # If one matrix or vector was multiplied with a stack of rows, a single product sums over the stack.
    lead, count = leading_shape(g, _z), math.prod(x.shape[:-1])
    rows = x.reshape((count, x.shape[-1]))
    if _y.ndim == 1:
        return g.reshape((*lead, count)) @ rows
    return rows.T @ g.reshape((*lead, count, g.shape[-1]))


vjp(np.matmul, _matmul_x, _matmul_y, inputs="x1 x2")


def _matvec_x(g, _z, _x, y):
    """The outer product of cotangent and vector."""
    return g[..., None] * y[..., None, :]


def _vecmat_y(g, _z, x, _y):
    """The outer product of the conjugated vector and the cotangent."""
    return conj(x)[..., None] * g[..., None, :]


# fmt: off
if hasattr(np, "matvec"):  # NumPy 2.2
    vjp(np.matvec, _matvec_x, lambda g, _z, x, _y: np.matvec(x.mT, g), inputs="x1 x2")
    vjp(np.vecmat, lambda g, _z, _x, y: conj(np.matvec(y, g)), _vecmat_y, inputs="x1 x2")
# fmt: on


def _repeat_along(g: Any, z: Any, axis: int, keepdims: bool) -> Any:
    """Return the cotangent of sums along an axis, with a last axis of length 1 instead of this axis."""
    return _to_end(g, axis, z.ndim) if keepdims else g[..., None]


def _vecdot_x(g, _z, _x, y, axis=-1, keepdims=False):
    """The conjugate of cotangent times second factor, because vecdot conjugates the first factor."""
    dx = conj(_repeat_along(g, _z, axis, keepdims) * _to_end(y, axis, y.ndim))
    return _from_end(dx, axis, _x.ndim)


def _vecdot_y(g, _z, x, _y, axis=-1, keepdims=False):
    """The cotangent times the conjugated first factor."""
    dy = _repeat_along(g, _z, axis, keepdims) * conj(_to_end(x, axis, x.ndim))
    return _from_end(dy, axis, _y.ndim)


vjp(np.vecdot, _vecdot_x, _vecdot_y, inputs="x1 x2")


def _spread(g: Any, ndim: int) -> Any:
    """Add axes to a cotangent, so that it applies to all elements of an array with `ndim` axes."""
    return g[(..., *(None,) * ndim)]


def _vdot_x(g, _z, _x, y):
    """The conjugate of cotangent times second factor, because vdot conjugates the first factor."""
    return conj(_spread(g, _x.ndim) * np.reshape(y, _x.shape))


def _vdot_y(g, _z, x, _y):
    """The cotangent times the conjugated first factor."""
    return _spread(g, _y.ndim) * conj(np.reshape(x, _y.shape))


vjp(np.vdot, _vdot_x, _vdot_y, inputs="a b")


def _outer_x(g, _z, _x, y):
    """The inner product of each row of the cotangent with the second factor."""
    dx = g @ np.ravel(y)
    return dx if _x.ndim == 1 else dx.reshape(dx.shape[:-1] + _x.shape)


def _outer_y(g, _z, x, _y):
    """The inner product of each column of the cotangent with the first factor."""
    dy = np.ravel(x) @ g
    return dy if _y.ndim == 1 else dy.reshape(dy.shape[:-1] + _y.shape)


vjp(np.outer, _outer_x, _outer_y, inputs="a b")


# -- contractions ---------------------------------------------------------------------------------


def _free(ndim: int, summed: Sequence[int]) -> list[int]:
    """Return the axes, as negative numbers, over which a contraction doesn't sum."""
    return [axis for axis in range(-ndim, 0) if axis not in summed]


def _contract(
    g: Any, places: range, factor: Any, theirs: list[int], x: Any, mine: list[int]
) -> Any:
    """Contract a cotangent with the other factor, and bring the axes into the order of x.

    The contraction summed over pairs of axes: `mine` of x and `theirs` of the other factor, whose free axes are the
    axes `places` of the cotangent.
    """
    dx = np.tensordot(g, factor, axes=(tuple(places), tuple(_free(len(shape_of(factor)), theirs))))
    order = _free(x.ndim, mine) + [axis for _, axis in sorted(zip(theirs, mine, strict=True))]
    return dx if order == sorted(order) else np.moveaxis(dx, tuple(range(-x.ndim, 0)), tuple(order))


def _contract_x(g: Any, x: Any, y: Any, left: list[int], right: list[int]) -> Any:
    """Return the gradient in the first factor of a contraction; the second factor's free axes are the last of `g`."""
    return _contract(g, range(len(right) - len(shape_of(y)), 0), y, right, x, left)


def _contract_y(g: Any, x: Any, y: Any, left: list[int], right: list[int]) -> Any:
    """Return the gradient in the second factor of a contraction; the first factor's free axes come first in `g`."""
    end = len(right) - y.ndim
    return _contract(g, range(end + len(left) - len(shape_of(x)), end), x, left, y, right)


def _pairs(axes: Any, x: Any, y: Any) -> tuple[list[int], list[int]]:
    """Return the axes over which tensordot sums, as negative numbers."""
    try:
        left, right = axes
    except TypeError:
        left, right = range(-axes, 0), range(axes)
    return _negative(left, len(shape_of(x))), _negative(right, len(shape_of(y)))


def _negative(axes: Any, ndim: int) -> list[int]:
    """Convert one or several axes to negative numbers."""
    all_axes = [axes] if np.ndim(axes) == 0 else axes
    return [negative_axis(axis, ndim) for axis in all_axes]


# fmt: off
vjp(np.tensordot,
    lambda g, _z, _x, y, axes=2: _contract_x(g, _x, y, *_pairs(axes, _x, y)),
    lambda g, _z, x, _y, axes=2: _contract_y(g, x, _y, *_pairs(axes, x, _y)), inputs="a b")
# fmt: on


def _dot_x(g, _z, _x, y):
    """Like matmul, except that numbers multiply, and stacks of matrices are combined in all pairs."""
    if not _x.shape or not shape_of(y):
        return g * y
    return _matmul_x(g, _z, _x, y) if y.ndim < 3 else _contract_x(g, _x, y, [-1], [-2])


def _dot_y(g, _z, x, _y):
    """Like matmul, except that numbers multiply, and stacks of matrices are combined in all pairs."""
    if not shape_of(x) or not _y.shape:
        return g * x
    return _matmul_y(g, _z, x, _y) if _y.ndim < 3 else _contract_y(g, x, _y, [-1], [-2])


vjp(np.dot, _dot_x, _dot_y, inputs="a b")


def _inner_x(g, _z, _x, y):
    """The contraction over the last axes, or the product with a number."""
    return _contract_x(g, _x, y, [-1], [-1]) if _x.shape and shape_of(y) else g * y


def _inner_y(g, _z, x, _y):
    """The contraction over the last axes, or the product with a number."""
    return _contract_y(g, x, _y, [-1], [-1]) if shape_of(x) and _y.shape else g * x


vjp(np.inner, _inner_x, _inner_y, inputs="a b")


# -- Kronecker and cross products -----------------------------------------------------------------


def _kron(g: Any, z: Any, shape: Shape, factor: Any, first: bool) -> Any:
    """Sum a cotangent's blocks, weighted by the other factor; `first` if the gradient is in the first factor."""
    ndim, lead = z.ndim, leading_shape(g, z)
    mine, theirs = ((1,) * (ndim - len(s)) + s for s in (shape, shape_of(factor)))
    lengths = zip(mine, theirs, strict=True) if first else zip(theirs, mine, strict=True)
    blocks = g.reshape((*lead, *chain.from_iterable(lengths)))
    axes = tuple(range(first - 2 * ndim, 0, 2)), tuple(range(ndim))
    return np.tensordot(blocks, np.reshape(factor, theirs), axes=axes).reshape(lead + shape)


# fmt: off
vjp(np.kron,
    lambda g, _z, _x, y: _kron(g, _z, _x.shape, y, True),
    lambda g, _z, x, _y: _kron(g, _z, _y.shape, x, False), inputs="a b")
# fmt: on


def _in_space(x: Any, before: int, after: int) -> Any:
    """Add zeros before and after the components of vectors along the last axis."""
    widths = [(0, 0)] * (x.ndim - 1) + [(before, after)]
    return np.pad(x, widths) if before or after else x


def _cross_gradient(g: Any, z: Any, x: Any, axis: int, factor: Any, axis2: int, axisc: int) -> Any:
    """Return the cross product of the other factor with the cotangent, in the layout of x."""
    length, length2 = x.shape[axis], factor.shape[axis2]
    # Vectors of two components are vectors in the plane, with 0 as the third component.
    flat = length == length2 == 2  # then z has only the third component
    g = _in_space(g[..., None], 2, 0) if flat else _to_end(g, axisc, z.ndim)
    dx = np.cross(_in_space(_to_end(factor, axis2, factor.ndim), 0, 3 - length2), g)
    return _from_end(dx if length == 3 else dx[..., :2], axis, x.ndim)


def _cross_a(g, _z, _a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """b cross g, because g · (a × b) = a · (b × g)."""
    if axis is not None:
        axisa = axisb = axisc = axis
    return _cross_gradient(g, _z, _a, axisa, b, axisb, axisc)


def _cross_b(g, _z, a, _b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """g cross a, because g · (a × b) = b · (g × a)."""
    if axis is not None:
        axisa = axisb = axisc = axis
    return -_cross_gradient(g, _z, _b, axisb, a, axisa, axisc)


vjp(np.cross, _cross_a, _cross_b, inputs="a b")


# -- convolutions ---------------------------------------------------------------------------------


def _slide(g: Any, kernel: Any, length: int, late: bool = False) -> Any:
    """Return the `length` sums of a cotangent times a kernel that slides along the cotangent.

    Zeros complete the cotangent of modes "same" and "valid". If their number is odd, the smaller half comes first, or
    last if `late`.
    """
    # np.convolve accepts only one axis.
    if g.ndim > 1:
        rows = [_slide(row, kernel, length, late) for row in g]
        return np.stack(rows) if rows else np.zeros((*g.shape[:-1], length))
    kernel = np.ravel(kernel)
    missing = length + kernel.size - 1 - g.size
    before = (missing + late) // 2
    completed = np.pad(g, (before, missing - before)) if missing else g
    return np.convolve(completed, kernel[::-1], "valid")


# fmt: off
vjp(np.convolve,
    lambda g, _z, _a, v: _slide(g, v, _a.size),
    lambda g, _z, a, _v: _slide(g, a, _v.size), inputs="a v", ignores="mode")

vjp(np.correlate,  # the convolution of a with conj(v) reversed
    lambda g, _z, _a, v: _slide(g, conj(v)[::-1], _a.size, late=v.size > _a.size),
    lambda g, _z, a, _v: conj(_slide(g, a, _v.size, late=_v.size > a.size)[..., ::-1]),
    inputs="a v", ignores="mode")
# fmt: on

even_zeros(np.matmul, np.dot, np.vdot, np.vecdot, np.outer, np.inner, uses_all=True)
even_zeros(np.tensordot, np.kron, uses_all=True)
even_zeros(np.cross, np.convolve, np.correlate)
