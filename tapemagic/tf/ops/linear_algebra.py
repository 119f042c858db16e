"""Products, decompositions and solutions of matrices: ``tf.linalg``."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.operations import norms
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, UnsupportedArgumentError
from tapemagic.tf.core.adapter import adapter, axes
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked


def _turned(x: Any, transpose: bool, adjoint: bool) -> Any:
    """The transpose, or the conjugate transpose, of the last two axes."""
    if transpose and adjoint:
        raise OptionError("one of transpose and adjoint may be True, not both")
    if transpose or adjoint:
        x = np.swapaxes(x, -1, -2)
    return np.conj(x) if adjoint and x.dtype.kind == "c" else x


def _require_matrix(called: str, *xs: Any) -> None:
    for x in xs:
        if x.ndim < 2:
            raise InvalidArgumentError(
                f"{called} takes tensors with two axes or more, not of shape {x.shape}: write x[None] or "
                "x[:, None], or tf.linalg.matvec, or tf.tensordot"
            )


@adapter
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Any:
    """The matrix product of the last two axes.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True))
    tf.Tensor([[11.]], shape=(1, 1), dtype=float32)
    """
    if output_type is not None:
        raise UnsupportedArgumentError("matmul has no output_type here: write tf.cast around it")
    a, b = matched("matmul", a, b)
    _require_matrix("matmul", a, b)
    return np.matmul(_turned(a, transpose_a, adjoint_a), _turned(b, transpose_b, adjoint_b))


@adapter
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The product of matrices and vectors."""
    a, b = matched("matvec", a, b)
    _require_matrix("matvec", a)
    return np.matmul(_turned(a, transpose_a, adjoint_a), b[..., None])[..., 0]


@adapter
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """The sum of products over axes: the last of `a` with the first of `b` for a number, or those that are named."""
    a, b = matched("tensordot", a, b)
    if np.ndim(_nested(axes)):
        first, second = _nested(axes)
        return np.tensordot(a, b, (_axes(first), _axes(second)))
    return np.tensordot(a, b, int(axes))


_axes = axes


def _nested(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else np.asarray(unwrap(value)).tolist()


@adapter
def einsum(equation: str, *inputs: Any, **options: Any) -> Any:
    """Sums of products by an equation, such as ``"ij,jk->ik"``.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.einsum("i,i->", [1.0, 2.0], [3.0, 4.0]))
    tf.Tensor(11.0, shape=(), dtype=float32)
    """
    unknown = options.keys() - {"optimize", "name"}
    if unknown:
        raise TypeError(f"einsum has no argument {min(unknown)!r}")
    return np.einsum(equation, *matched("einsum", *inputs))


def norm_of(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """A norm of vectors or matrices."""
    x = checked("norm", x, "fc")
    axis, kept = axes(axis), bool(keepdims)
    if ord == "euclidean" or (ord == "fro" and axis is None):
        return _vector_norm(x, axis=axis, keepdims=kept)
    if isinstance(axis, tuple):
        return np.linalg.norm(x, ord=ord, axis=axis, keepdims=kept)
    return _vector_norm(x, ord=ord, axis=axis, keepdims=kept)


_vector_norm: Any = np.linalg.vector_norm


@adapter
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Any:
    """The norm of all elements, of the vectors along an axis, or of the matrices in two axes.

    At 0 the gradient is 0, which TensorFlow has as NaN.
    """
    return norm_of(_tensor(tensor), ord, axis, keepdims)


_tensor = tensor


@adapter
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> Any:
    """A tensor divided by its norm, and the norm."""
    held = _tensor(tensor)
    size = norm_of(held, ord, axis, True)
    return held / size, size


@adapter
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """A tensor divided by its length along axes, or by the root of `epsilon` where that is larger."""
    return norms.l2_normalize(tensor(x), axes(axis), epsilon)


@adapter
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """A tensor, made shorter if its norm is above a limit."""
    held = tensor(t)
    return norms.clip_by_norm(
        held,
        tensor(clip_norm, held.dtype) if not isinstance(clip_norm, (int, float)) else clip_norm,
        _axes(axes),
    )


@adapter
def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The norm of all elements of several tensors; those that are None do not count."""
    squares = [np.sum(np.square(np.abs(tensor(x)))) for x in t_list if x is not None]
    total: Any = squares[0]
    for part in squares[1:]:
        total = total + part
    return np.sqrt(total)


@adapter
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> Any:
    """Tensors made shorter by one factor if the norm of all their elements is above a limit, and that norm.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> (clipped, none), norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0]), None], 1.0)
    >>> print(clipped, norm, none)
    tf.Tensor([0.6 0.8], shape=(2,), dtype=float32) tf.Tensor(5.0, shape=(), dtype=float32) None
    """
    held = [None if x is None else tensor(x) for x in t_list]
    size = tensor(global_norm(t_list) if use_norm is None else use_norm)
    limit = size.dtype.type(clip_norm) if isinstance(clip_norm, (int, float)) else tensor(clip_norm)
    factor = limit * np.minimum(1 / size, 1 / limit)
    return [None if x is None else x * factor for x in held], size


def _one(name: str, compute: Any, doc: str, kinds: str = "fc") -> Any:
    """The adapter of a function of one batch of matrices."""

    def computed(input: Any, name: str | None = None) -> Any:
        x = checked(called, tensor(input), kinds)
        _require_matrix(called, x)
        try:
            return compute(x)
        except np.linalg.LinAlgError as error:
            raise InvalidArgumentError(f"{called}: {error}") from None

    called = name
    computed.__name__ = computed.__qualname__ = name
    computed.__doc__ = doc
    return adapter(computed)


det = _one("det", np.linalg.det, "The determinant of each matrix.")


def _cholesky(x: Any) -> Any:
    """The factor of a matrix of which the lower triangle is read; its gradient is symmetric, as TensorFlow's is."""
    symmetric = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
    lower = np.tril(np.asarray(unwrap(x)))
    read = lower + np.conj(np.swapaxes(np.tril(lower, -1), -1, -2))
    difference = read - np.asarray(unwrap(symmetric))
    return np.linalg.cholesky(symmetric + difference if np.any(difference) else symmetric)


cholesky = _one(
    "cholesky", _cholesky, "The lower triangular L of each positive definite matrix L L^H."
)
logdet = _one(
    "logdet",
    lambda x: np.linalg.slogdet(x)[1],
    "The logarithm of the determinant of each positive definite matrix.",
)


class LogDet(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    log_abs_determinant: Any


slogdet = _one(
    "slogdet",
    lambda x: LogDet(*np.linalg.slogdet(x)),
    "The sign of the determinant of each matrix, and the logarithm of its absolute value.",
)


def _complex_of(x: Any) -> Any:
    """Eigenvalues and eigenvectors as TensorFlow gives them: complex numbers, in any case."""
    return (
        x if x.dtype.kind == "c" else np.astype(x, np.dtype("F" if x.dtype.itemsize <= 4 else "D"))
    )


eig = _one(
    "eig",
    lambda x: tuple(map(_complex_of, np.linalg.eig(x))),
    "The eigenvalues and eigenvectors of each matrix, complex numbers.",
)
eigvals = _one(
    "eigvals",
    lambda x: _complex_of(np.linalg.eigvals(x)),
    "The eigenvalues of each matrix, complex numbers.",
)


@adapter
def eigh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues, in order, and eigenvectors of each Hermitian matrix, of which the lower triangle is read."""
    x = checked("eigh", _tensor(tensor), "fc")
    _require_matrix("eigh", x)
    return tuple(np.linalg.eigh(x))


@adapter
def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of each Hermitian matrix, in order."""
    return np.linalg.eigvalsh(checked("eigvalsh", _tensor(tensor), "fc"))


@adapter
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse of each matrix.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]))
    tf.Tensor(
    [[0.5  0.  ]
     [0.   0.25]], shape=(2, 2), dtype=float32)
    """
    x = checked("inv", tensor(input), "fc")
    _require_matrix("inv", x)
    try:
        return np.linalg.inv(_turned(x, False, adjoint))
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input is not invertible.") from None


@adapter
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The solution x of ``matrix @ x = rhs``."""
    a, b = matched("solve", matrix, rhs)
    _require_matrix("solve", a, b)
    try:
        return np.linalg.solve(_turned(a, False, adjoint), b)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input matrix is not invertible.") from None


@adapter
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """The solution x of ``matrix @ x = rhs``, where only the lower, or the upper, triangle of the matrix counts."""
    a, b = matched("triangular_solve", matrix, rhs)
    _require_matrix("triangular_solve", a, b)
    return np.linalg.solve(_turned(np.tril(a) if lower else np.triu(a), False, adjoint), b)


@adapter
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """The solution x of ``chol @ chol^H @ x = rhs``."""
    a, b = matched("cholesky_solve", chol, rhs)
    _require_matrix("cholesky_solve", a, b)
    lower = np.tril(a)
    return np.linalg.solve(_turned(lower, False, True), np.linalg.solve(lower, b))


@adapter
def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Any:
    """The x with the smallest squared error of ``matrix @ x = rhs``, plus the regularizer times its squared norm."""
    a, b = matched("lstsq", matrix, rhs)
    _require_matrix("lstsq", a, b)
    turned = _turned(a, False, True)
    if not l2_regularizer:
        return np.matmul(np.linalg.pinv(a), b)
    rows, columns = a.shape[-2:]
    extra = l2_regularizer * np.eye(builtins.min(rows, columns), dtype=a.dtype)
    if rows >= columns:
        return np.linalg.solve(turned @ a + extra, turned @ b)
    return turned @ np.linalg.solve(a @ turned + extra, b)


@adapter
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverse of each matrix."""
    x = checked("pinv", tensor(a), "fc")
    least = 10 * builtins.max(x.shape[-2:]) * np.finfo(x.dtype).eps if rcond is None else rcond
    return np.linalg.pinv(x, rcond=least)


@adapter
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """A matrix with orthonormal columns, and an upper triangular one, whose product is the given one."""
    return tuple(
        np.linalg.qr(checked("qr", tensor(input), "fc"), "complete" if full_matrices else "reduced")
    )


@adapter
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """The singular values, from the largest, and the matrices u and v of ``u @ diag(s) @ v^H``."""
    x = checked("svd", _tensor(tensor), "fc")
    _require_matrix("svd", x)
    if not compute_uv:
        return np.linalg.svdvals(x)
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return s, u, _turned(vh, False, True)


@adapter
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Any:
    """The number of singular values above a limit."""
    x = np.asarray(unwrap(tensor(a)))
    return np.asarray(np.linalg.matrix_rank(x, tol), np.int32)


@adapter
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """The transpose of the last two axes."""
    x = tensor(a)
    _require_matrix("matrix_transpose", x)
    return _turned(x, not conjugate, conjugate)


@adapter
def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The conjugate transpose of the last two axes."""
    x = tensor(matrix)
    _require_matrix("adjoint", x)
    return _turned(x, False, True)


@adapter
def trace(x: Any, name: str | None = None) -> Any:
    """The sum of the diagonal of each matrix."""
    held = tensor(x)
    _require_matrix("trace", held)
    kept = {"dtype": held.dtype} if held.dtype.kind in "iu" else {}
    return np.trace(held, axis1=-2, axis2=-1, **kept)


@adapter
def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """A diagonal of each matrix: the main one, or the k-th above it."""
    x = tensor(input)
    _require_matrix("diag_part", x)
    return np.diagonal(x, _single(k), -2, -1)


def _single(k: Any) -> int:
    if np.ndim(k):
        raise UnsupportedArgumentError("one diagonal at a time: give k as a whole number")
    return int(k)


@adapter
def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Matrices with the given diagonal, the main one or the k-th above it, and 0 elsewhere."""
    if (num_rows, num_cols, padding_value) != (-1, -1, 0):
        raise UnsupportedArgumentError(
            "tf.linalg.diag makes square matrices of zeros here: give the diagonal and k"
        )
    x = tensor(diagonal)
    shift = _single(k)
    size = x.shape[-1] + abs(shift)
    rows = np.arange(x.shape[-1]) + builtins.max(-shift, 0)
    place = np.full((size, size), -1)
    place[rows, rows + shift] = np.arange(x.shape[-1])
    if not x.shape[-1]:
        return np.zeros((*x.shape[:-1], size, size), x.dtype)
    return np.where(place >= 0, x[..., np.maximum(place, 0)], x.dtype.type(0))


@adapter
def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """Matrices with another diagonal, the main one or the k-th above it."""
    x, new = matched("set_diag", input, diagonal)
    _require_matrix("set_diag", x)
    shift = _single(k)
    rows, columns = x.shape[-2:]
    place = np.full((rows, columns), -1)
    count = builtins.min(rows + builtins.min(shift, 0), columns - builtins.max(shift, 0))
    if new.shape != (*x.shape[:-2], count):
        raise InvalidArgumentError(
            f"set_diag takes a diagonal of shape {(*x.shape[:-2], count)}, not {new.shape}"
        )
    at = np.arange(count)
    place[at + builtins.max(-shift, 0), at + builtins.max(shift, 0)] = at
    return np.where(place >= 0, new[..., np.maximum(place, 0)], x)


@adapter
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor with twice as many axes, and the given values on its diagonal."""
    x = tensor(diagonal)
    return np.reshape(np.diag(np.ravel(x)), x.shape * 2)


@adapter
def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonal of a tensor whose first half of axes is as long as its second."""
    x = tensor(input)
    half = x.shape[: x.ndim // 2]
    if x.ndim % 2 or half != x.shape[x.ndim // 2 :]:
        raise InvalidArgumentError(
            f"tensor_diag_part takes a shape such as (2, 3, 2, 3), not {x.shape}"
        )
    count = int(np.prod(half))
    return np.reshape(np.diagonal(np.reshape(x, (count, count))), half)


@adapter
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Matrices of which a number of diagonals below and above the main one are kept, all for -1."""
    x = tensor(input)
    _require_matrix("band_part", x)
    low, high = int(num_lower), int(num_upper)
    distance = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None]
    kept = ((low < 0) | (-distance <= low)) & ((high < 0) | (distance <= high))
    return np.where(kept, x, x.dtype.type(0))


@adapter
def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """The cross product of vectors of three elements."""
    a, b = matched("cross", a, b)
    if a.shape[-1:] != (3,) or b.shape != a.shape:
        raise InvalidArgumentError(
            f"cross takes two tensors of one shape that ends in 3, not {a.shape} and {b.shape}"
        )
    return np.cross(a, b)


@adapter
def expm(input: Any, name: str | None = None) -> Any:
    """The exponential of each square matrix, by scaling, a Padé approximation and squaring.

    N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26
    (2005), with the approximation of order 13.
    """
    x = checked("expm", tensor(input), "fc")
    _require_matrix("expm", x)
    if not x.size:
        return np.copy(x)
    largest = float(np.max(np.sum(np.abs(np.asarray(unwrap(x))), axis=-2), initial=0))
    squarings = (
        builtins.max(0, int(np.ceil(np.log2(largest / 5.37))))
        if largest > 0 and np.isfinite(largest)
        else 0
    )
    x = x / x.dtype.type(2.0**squarings)
    one = np.eye(x.shape[-1], dtype=x.dtype)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    b = [x.dtype.type(c / _PADE[0]) for c in _PADE]
    odd = x @ (
        x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one
    )
    even = (
        x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    )
    found = np.linalg.solve(even - odd, even + odd)
    for _ in builtins.range(squarings):
        found = found @ found
    return found


_PADE = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)
