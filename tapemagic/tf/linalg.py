"""Linear algebra: ``tf.linalg``."""

from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.creation import eye
from tapemagic.tf.ops.diagonals import (
    band_part,
    diag,
    diag_part,
    set_diag,
    tensor_diag,
    tensor_diag_part,
    trace,
)
from tapemagic.tf.ops.linear_algebra import (
    adjoint,
    cholesky,
    cholesky_solve,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    expm,
    inv,
    logdet,
    lstsq,
    matrix_rank,
    matrix_transpose,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    triangular_solve,
)
from tapemagic.tf.ops.norms import global_norm, l2_normalize, norm, normalize
from tapemagic.tf.ops.products import cross, einsum, matmul, matvec, tensordot

__all__ = [
    "adjoint", "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part",
    "eig", "eigh", "eigvals", "eigvalsh", "einsum", "expm", "eye", "global_norm", "inv",
    "l2_normalize", "logdet", "lstsq", "matmul", "matrix_rank", "matrix_transpose", "matvec",
    "norm", "normalize", "pinv", "qr", "set_diag", "slogdet", "solve", "svd", "tensor_diag",
    "tensor_diag_part", "tensordot", "trace", "triangular_solve",
]  # fmt: skip

__getattr__ = missing(__name__, __all__)
