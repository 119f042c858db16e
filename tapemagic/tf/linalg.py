"""Linear algebra: ``tf.linalg``."""

from tapemagic.tf.creation import eye as eye
from tapemagic.tf.linear_algebra import adjoint as adjoint
from tapemagic.tf.linear_algebra import band_part as band_part
from tapemagic.tf.linear_algebra import cholesky as cholesky
from tapemagic.tf.linear_algebra import cholesky_solve as cholesky_solve
from tapemagic.tf.linear_algebra import cross as cross
from tapemagic.tf.linear_algebra import det as det
from tapemagic.tf.linear_algebra import diag as diag
from tapemagic.tf.linear_algebra import diag_part as diag_part
from tapemagic.tf.linear_algebra import eig as eig
from tapemagic.tf.linear_algebra import eigh as eigh
from tapemagic.tf.linear_algebra import eigvals as eigvals
from tapemagic.tf.linear_algebra import eigvalsh as eigvalsh
from tapemagic.tf.linear_algebra import einsum as einsum
from tapemagic.tf.linear_algebra import expm as expm
from tapemagic.tf.linear_algebra import global_norm as global_norm
from tapemagic.tf.linear_algebra import inv as inv
from tapemagic.tf.linear_algebra import l2_normalize as l2_normalize
from tapemagic.tf.linear_algebra import logdet as logdet
from tapemagic.tf.linear_algebra import lstsq as lstsq
from tapemagic.tf.linear_algebra import matmul as matmul
from tapemagic.tf.linear_algebra import matrix_rank as matrix_rank
from tapemagic.tf.linear_algebra import matrix_transpose as matrix_transpose
from tapemagic.tf.linear_algebra import matvec as matvec
from tapemagic.tf.linear_algebra import norm as norm
from tapemagic.tf.linear_algebra import normalize as normalize
from tapemagic.tf.linear_algebra import pinv as pinv
from tapemagic.tf.linear_algebra import qr as qr
from tapemagic.tf.linear_algebra import set_diag as set_diag
from tapemagic.tf.linear_algebra import slogdet as slogdet
from tapemagic.tf.linear_algebra import solve as solve
from tapemagic.tf.linear_algebra import svd as svd
from tapemagic.tf.linear_algebra import tensor_diag as tensor_diag
from tapemagic.tf.linear_algebra import tensor_diag_part as tensor_diag_part
from tapemagic.tf.linear_algebra import tensordot as tensordot
from tapemagic.tf.linear_algebra import trace as trace
from tapemagic.tf.linear_algebra import triangular_solve as triangular_solve
from tapemagic.tf.missing import missing

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "lstsq",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "triangular_solve",
]

__getattr__ = missing(__name__, __all__)
