"""Matrix decompositions and linear systems of ``tf.linalg``."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.tf.core.adapter import adapter, adapter_to_several
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked
from tapemagic.tf.ops.matrices import maybe_transposed, require_matrices

_tensor = tensor


def _of_matrix(name: str, compute: Any, doc: str, kinds: str = "fc") -> Any:
    """Adapt a function of one batch of matrices."""

    def computed(input: Any, name: str | None = None) -> Any:
        x = checked(called, tensor(input), kinds)
        require_matrices(called, x)
        try:
            return compute(x)
        except np.linalg.LinAlgError as error:
            raise InvalidArgumentError(f"{called}: {error}") from None

    called = name
    computed.__name__ = computed.__qualname__ = name
    computed.__doc__ = doc
    return adapter(computed)


det = _of_matrix("det", np.linalg.det, "The determinant of each matrix.")


def _cholesky(x: Any) -> Any:
    """Factor a matrix reading only its lower triangle; the gradient is symmetric, as in TensorFlow."""
    symmetric = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
    lower = np.tril(unwrap(x))
    read = lower + np.conj(np.swapaxes(np.tril(lower, -1), -1, -2))
    # Values from the lower triangle, gradient from the symmetric part: the difference is a constant to tapes.
    difference = read - unwrap(symmetric)
    return np.linalg.cholesky(symmetric + difference if np.any(difference) else symmetric)


cholesky = _of_matrix(
    "cholesky", _cholesky, "The lower triangular L of each positive definite matrix L L^H."
)
logdet = _of_matrix(
    "logdet",
    # Not log(det(x)): the determinant of a large matrix over- or underflows long before its logarithm.
    lambda x: np.linalg.slogdet(x)[1],
    "The logarithm of the determinant of each positive definite matrix.",
)


class LogDet(NamedTuple):
    """Sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    log_abs_determinant: Any


slogdet = _of_matrix(
    "slogdet",
    lambda x: LogDet(*np.linalg.slogdet(x)),
    "The sign of the determinant of each matrix, and the logarithm of its absolute value.",
)


def _complex_of(x: Any) -> Any:
    """Convert eigenvalues or eigenvectors to complex numbers, which TensorFlow returns even if all are real."""
    return (
        x if x.dtype.kind == "c" else np.astype(x, np.dtype("F" if x.dtype.itemsize <= 4 else "D"))
    )


eig = _of_matrix(
    "eig",
    lambda x: tuple(map(_complex_of, np.linalg.eig(x))),
    "The eigenvalues and eigenvectors of each matrix, complex numbers.",
)
eigvals = _of_matrix(
    "eigvals",
    lambda x: _complex_of(np.linalg.eigvals(x)),
    "The eigenvalues of each matrix, complex numbers.",
)


@adapter_to_several
def eigh(tensor: Any, name: str | None = None) -> Any:
    """Return sorted eigenvalues and eigenvectors of Hermitian matrices, reading the lower triangle."""
    x = checked("eigh", _tensor(tensor), "fc")
    require_matrices("eigh", x)
    # NumPy reads the lower triangle by default, as TensorFlow does.
    return tuple(np.linalg.eigh(x))


@adapter
def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """Return the sorted eigenvalues of each Hermitian matrix."""
    return np.linalg.eigvalsh(checked("eigvalsh", _tensor(tensor), "fc"))


@adapter
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """Invert each matrix.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]))
    tf.Tensor(
    [[0.5  0.  ]
     [0.   0.25]], shape=(2, 2), dtype=float32)
    """
    x = checked("inv", tensor(input), "fc")
    require_matrices("inv", x)
    try:
        return np.linalg.inv(maybe_transposed(x, False, adjoint))
    except np.linalg.LinAlgError:
        # TensorFlow's text, which programs match.
        raise InvalidArgumentError("Input is not invertible.") from None


@adapter
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """Solve ``matrix @ x = rhs`` for x."""
    a, b = matched("solve", matrix, rhs)
    require_matrices("solve", a, b)
    try:
        return np.linalg.solve(maybe_transposed(a, False, adjoint), b)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input matrix is not invertible.") from None


@adapter
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """Solve ``matrix @ x = rhs``, reading only the lower or upper triangle of the matrix."""
    a, b = matched("triangular_solve", matrix, rhs)
    require_matrices("triangular_solve", a, b)
    # Cut first, because the other triangle may hold anything, such as the second factor of a decomposition. NumPy has
    # no solver for triangular systems.
    return np.linalg.solve(maybe_transposed(np.tril(a) if lower else np.triu(a), False, adjoint), b)


@adapter
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """Solve ``chol @ chol^H @ x = rhs`` for x."""
    a, b = matched("cholesky_solve", chol, rhs)
    require_matrices("cholesky_solve", a, b)
    lower = np.tril(a)
    return np.linalg.solve(maybe_transposed(lower, False, True), np.linalg.solve(lower, b))


@adapter
def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Any:
    """Minimize ``|matrix @ x - rhs|**2 + l2_regularizer * |x|**2``."""
    a, b = matched("lstsq", matrix, rhs)
    require_matrices("lstsq", a, b)
    conjugate = maybe_transposed(a, False, True)
    if not l2_regularizer:
        # The pseudoinverse also solves rank-deficient systems, where the normal equations would be singular.
        return np.matmul(np.linalg.pinv(a), b)
    rows, columns = a.shape[-2:]
    extra = l2_regularizer * np.eye(builtins.min(rows, columns), dtype=a.dtype)
    # The smaller of the two normal equations; both have the same solution (push-through identity).
    if rows >= columns:
        return np.linalg.solve(conjugate @ a + extra, conjugate @ b)
    return conjugate @ np.linalg.solve(a @ conjugate + extra, b)


@adapter
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """Return the pseudoinverse of each matrix."""
    x = checked("pinv", tensor(a), "fc")
    # TensorFlow's default cutoff.
    least = 10 * builtins.max(x.shape[-2:]) * np.finfo(x.dtype).eps if rcond is None else rcond
    return np.linalg.pinv(x, rcond=least)


@adapter_to_several
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """Factor each matrix into Q with orthonormal columns and an upper triangular R."""
    return tuple(
        np.linalg.qr(checked("qr", tensor(input), "fc"), "complete" if full_matrices else "reduced")
    )


@adapter_to_several
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Return s (descending), u and v of the decomposition ``u @ diag(s) @ v^H``."""
    x = checked("svd", _tensor(tensor), "fc")
    require_matrices("svd", x)
    if not compute_uv:
        return np.linalg.svdvals(x)
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return s, u, maybe_transposed(vh, False, True)


@adapter
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Any:
    """Count the singular values above a tolerance."""
    x = np.asarray(unwrap(tensor(a)))
    return np.asarray(np.linalg.matrix_rank(x, tol), np.int32)


@adapter
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """Transpose the last two axes."""
    x = tensor(a)
    require_matrices("matrix_transpose", x)
    return maybe_transposed(x, not conjugate, conjugate)


@adapter
def adjoint(matrix: Any, name: str | None = None) -> Any:
    """Conjugate and transpose the last two axes."""
    x = tensor(matrix)
    require_matrices("adjoint", x)
    return maybe_transposed(x, False, True)


@adapter
def expm(input: Any, name: str | None = None) -> Any:
    """Compute the matrix exponential by scaling, Padé approximation and squaring.

    N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26
    (2005), with the approximation of order 13.
    """
    x = checked("expm", tensor(input), "fc")
    require_matrices("expm", x)
    if not x.size:
        return np.copy(x)
    largest = float(np.max(np.sum(np.abs(np.asarray(unwrap(x))), axis=-2), initial=0))
    # 5.37 is theta_13 of the paper: up to this 1-norm the approximation is exact to double precision.
    squarings = (
        builtins.max(0, int(np.ceil(np.log2(largest / 5.37))))
        if largest > 0 and np.isfinite(largest)
        else 0
    )
    x = x / x.dtype.type(2.0**squarings)
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    b = [x.dtype.type(c / _PADE[0]) for c in _PADE]
    odd = x @ (
        x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2)
        + b[7] * x6
        + b[5] * x4
        + b[3] * x2
        + b[1] * identity
    )
    even = (
        x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
        + b[6] * x6
        + b[4] * x4
        + b[2] * x2
        + b[0] * identity
    )
    result = np.linalg.solve(even - odd, even + odd)
    for _ in builtins.range(squarings):
        result = result @ result
    return result


_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
