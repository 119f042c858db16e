"""Linear algebra: inverses, systems of equations, determinants, powers, and products under NumPy's other names."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.registry import composite, even_zeros, not_differentiable, operation, vjp
from tapemagic.engine.rules.elementwise import zeros
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.tensor import as_operand, unwrap

# -- inverses and systems of equations ------------------------------------------------------------


def _inv(g, y, _a):
    """-Yᵀ G Yᵀ, because d(A⁻¹) = -A⁻¹ dA A⁻¹ (Giles 2008)."""
    return -(y.mT @ g @ y.mT)


def solve_matrices(a: Any, b: Any) -> Any:
    """``np.linalg.solve(a, b)`` for matrices b. Additional axes of b become columns, so each a is factorized once."""
    extra = b.ndim - a.ndim
    if extra <= 0:
        return np.linalg.solve(a, b)
    front, back = tuple(range(extra)), tuple(range(-extra, 0))
    moved = np.moveaxis(b, front, back)
    matrices = moved.reshape((*moved.shape[: a.ndim - 1], math.prod(moved.shape[a.ndim - 1 :])))
    return np.moveaxis(np.linalg.solve(a, matrices).reshape(moved.shape), back, front)


def _solve_b(g, _x, a, _b):
    """The solution for the transposed matrices."""
    if _b.ndim == 1:
        return solve_matrices(a.mT, g[..., None])[..., 0]
    return solve_matrices(a.mT, g)


def _solve_a(g, x, a, _b):
    """Minus the outer product of the gradient in b and the solution (Giles 2008)."""
    if _b.ndim == 1:
        g, x = g[..., None], x[..., None]
    return -(solve_matrices(a.mT, g) @ x.mT)


vjp(np.linalg.inv, _inv)
vjp(np.linalg.solve, _solve_a, _solve_b)
even_zeros(np.linalg.inv, np.linalg.solve)


@composite(np.linalg.tensorinv)
def _tensorinv(a: Any, ind: int = 2) -> Any:
    a = as_operand(a)
    if ind <= 0:
        return np.linalg.tensorinv(unwrap(a), ind)  # raises
    matrix = a.reshape((math.prod(a.shape[ind:]), -1))
    return np.linalg.inv(matrix).reshape(a.shape[ind:] + a.shape[:ind])


@composite(np.linalg.tensorsolve)
def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = as_operand(a), as_operand(b)
    order = list(range(a.ndim))
    for axis in axes or ():
        order.remove(axis)
        order.append(axis)
    shape = np.transpose(unwrap(a), order).shape[-(a.ndim - b.ndim) :]
    length = math.prod(shape)
    if a.size != length**2:
        return np.linalg.tensorsolve(unwrap(a), unwrap(b), axes)  # raises
    matrix = np.transpose(a, order).reshape((length, length))
    return np.linalg.solve(matrix, np.ravel(b)).reshape(shape)


# -- determinants ---------------------------------------------------------------------------------


def _det(g, y, a):
    """The cofactors of the matrices, by Jacobi's formula (Giles 2008)."""
    return g[..., None, None] * cofactors(y, a)


def cofactors(y: Any, a: Any) -> Any:
    """Return the gradient of the determinant `y` of `a`: y * inv(a).T, computed so that it is right for any rank."""
    eye = np.eye(a.shape[-1])
    finite = np.all(np.isfinite(a), axis=(-2, -1), keepdims=True)
    weak = weaknesses(np.where(finite, unwrap(a), eye))
    # The common case, regular matrices, needs no singular vectors.
    if not weak.any():
        return y[..., None, None] * np.linalg.inv(a).mT
    result: Any = 0
    for count in np.unique(weak).tolist():
        here = (weak == count)[..., None, None]
        result = np.where(here, bordered(np.where(here, a, eye), count), result)
    return result


def scales(a: Any) -> tuple[Any, Any]:
    """Return divisors of rows and columns that make the largest number in each of them 1."""
    rows = np.max(np.abs(a), axis=-1, keepdims=True, initial=0)
    rows = np.where(rows, rows, 1)
    columns = np.max(np.abs(a / rows), axis=-2, keepdims=True, initial=0)
    return rows, np.where(columns, columns, 1)


def weaknesses(a: Any) -> Any:
    """Return the number of singular values of each scaled matrix that are too small to divide by."""
    # Scaling removes small singular values that are only due to units, such as diag(1, 1e-20).
    rows, columns = scales(a)
    s = np.linalg.svd(a / rows / columns, compute_uv=False)
    # With a quarter of the digits as the limit, the inverse keeps at least three quarters of them.
    return np.sum(s <= s[..., :1] * np.finfo(s.dtype).eps ** (1 / 4), axis=-1)


def bordered(a: Any, count: int) -> Any:
    """Return the cofactors of matrices with `count` small singular values.

    Let b = a + u @ vh, where u and vh make these singular values large. Then det(a) is det(b) times the small
    determinant of m = 1 - vh @ inv(b) @ u (matrix determinant lemma). This is true for any constant u and vh, so
    derivatives of all orders are right.
    """
    rows, columns = scales(unwrap(a))
    u, s, vh = np.linalg.svd(unwrap(a) / rows / columns)
    weak = slice(a.shape[-1] - count, None)
    top = s[..., :1, None]
    u, vh = rows * u[..., weak] * np.where(top, top, 1), vh[..., weak, :] * columns
    b = a + u @ vh
    inverse = np.linalg.inv(b)
    left, right = inverse @ u, vh @ inverse
    determinant, adjugate = small_determinant(np.eye(count) - vh @ left)
    return np.linalg.det(b)[..., None, None] * (determinant * inverse + left @ adjugate @ right).mT


def small_determinant(m: Any) -> tuple[Any, Any]:
    """Return the determinant, as a matrix of one element, and the adjugate of small matrices, which may be singular.

    Algorithm of Faddeev and Leverrier (F. R. Gantmacher, "The Theory of Matrices", 1959, IV.5), which needs no
    division by pivots.
    """
    n = m.shape[-1]
    eye = np.eye(n)
    product, coefficient, adjugate = np.zeros((n, n)), 1.0, eye
    for step in range(1, n + 1):
        adjugate = product + coefficient * eye
        product = m @ adjugate
        coefficient = -np.linalg.trace(product)[..., None, None] / step
    sign = (-1) ** n
    return sign * coefficient, -sign * adjugate


vjp(np.linalg.det, _det)
even_zeros(np.linalg.det)


SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


def slogdet_(a: Any) -> tuple[Any, Any]:
    """``np.linalg.slogdet`` as a plain tuple."""
    return tuple(np.linalg.slogdet(a))


def _slogdet(g, y, a):
    """The transposed inverse, which also rotates a complex sign; nan if the determinant is 0."""
    (g_sign, g_log), (sign, _) = g, y
    if a.dtype.kind == "c":
        g_log = g_log + 1j * np.imag(g_sign * sign)
    regular = (sign != 0)[..., None, None]
    inverse = np.linalg.inv(np.where(regular, a, np.eye(a.shape[-1])))
    return g_log[..., None, None] * np.where(regular, inverse.mT, np.nan)


vjp(slogdet_, _slogdet, name="slogdet")


@composite(np.linalg.slogdet)
def _repacked(a: Any) -> Any:
    return SlogdetResult(*apply(operation(slogdet_), (as_operand(a),), {}))


# -- powers and products --------------------------------------------------------------------------


def _matrix_power(g, _y, a, n):
    """The change of the transposed matrices' power in the direction g, by repeated squaring like the power itself.

    The adjoint of a power's derivative is the derivative for the transposed matrix (N. J. Higham, "Functions of
    Matrices", 2008, section 3.2).
    """
    a = a.mT
    n = operator.index(n)
    # A**0 is the identity for any A.
    if n == 0:
        return zeros(g)
    if n < 0:
        a = np.linalg.inv(a)
        g = -(a @ g @ a)
    power, change = a, g
    for bit in f"{abs(n):b}"[1:]:
        power, change = power @ power, power @ change + change @ power
        if bit == "1":
            power, change = power @ a, power @ g + change @ a
    return change


vjp(np.linalg.matrix_power, _matrix_power)


@composite(np.linalg.multi_dot)
def _multi_dot(arrays: Sequence[Any], *, out: None = None) -> Any:
    arrays = list(map(as_operand, arrays))
    if len(arrays) == 2:
        return np.dot(*arrays)
    inner = [np.ndim(array) for array in arrays[1:-1]]
    outer = [np.ndim(array) for array in arrays[:1] + arrays[-1:]]
    if not inner or {2, *inner} != {2} or {1, 2, *outer} != {1, 2}:
        return np.linalg.multi_dot(unwrap(arrays))  # raises
    rows, columns = (1, *arrays[0].shape)[-2], (*arrays[-1].shape, 1)[1]
    splits = cheapest([rows, *(array.shape[0] for array in arrays[1:]), columns])
    return chained(arrays, splits, 0, len(arrays))


def cheapest(lengths: Sequence[int]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return, for each part of a chain of matrices, the cost of its product and the position of the best split.

    Algorithm: T. H. Cormen and others, "Introduction to Algorithms", section 15.2.
    """
    count = len(lengths) - 1
    best = {(i, i + 1): (0, i) for i in range(count)}
    for size in range(2, count + 1):
        for i in range(count - size + 1):
            j = i + size
            best[i, j] = min(
                (best[i, k][0] + best[k, j][0] + lengths[i] * lengths[k] * lengths[j], k)
                for k in range(i + 1, j)
            )
    return best


def chained(arrays: Sequence[Any], splits: Any, first: int, last: int) -> Any:
    """Return the product of ``arrays[first:last]``."""
    if last - first == 1:
        return arrays[first]
    split = splits[first, last][1]
    return np.dot(chained(arrays, splits, first, split), chained(arrays, splits, split, last))


# -- other names, with fewer arguments than the functions in np ------------------------------------------


@composite(np.linalg.outer)
def _outer(x1: Any, x2: Any, /) -> Any:
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        return np.linalg.outer(*unwrap((x1, x2)))  # raises
    return np.outer(x1, x2)


@composite(np.linalg.cross)
def _cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    if np.shape(x1)[axis] != 3 or np.shape(x2)[axis] != 3:
        return np.linalg.cross(*unwrap((x1, x2)), axis=axis)  # raises
    return np.cross(x1, x2, axis=axis)


@composite(np.linalg.matrix_transpose)
@composite(np.matrix_transpose)
def _matrix_transpose(x: Any, /) -> Any:
    if np.ndim(x) < 2:
        return np.matrix_transpose(unwrap(x))  # raises
    return np.swapaxes(x, -1, -2)


@composite(np.linalg.trace)
def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return np.trace(x, offset, -2, -1, dtype)


@composite(np.linalg.vecdot)
def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return np.vecdot(x1, x2, axis=axis)  # type: ignore[call-overload]


# fmt: off
composite(np.linalg.matmul)(lambda x1, x2, /: np.matmul(x1, x2))
composite(np.linalg.tensordot)(lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes))
composite(np.linalg.diagonal)(lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1))
# fmt: on

not_differentiable(np.linalg.matrix_rank)
