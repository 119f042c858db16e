"""Products of tensors: ``tf.matmul``, ``tf.tensordot``, ``tf.einsum``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.tf.core.adapter import adapter, axes
from tapemagic.tf.core.convert import matched
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.matrices import maybe_transposed, require_matrices

_axes = axes


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
    """Multiply matrices in the last two axes.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True))
    tf.Tensor([[11.]], shape=(1, 1), dtype=float32)
    """
    if output_type is not None:
        raise UnsupportedArgumentError("matmul has no output_type here: write tf.cast around it")
    a, b = matched("matmul", a, b)
    require_matrices("matmul", a, b)
    return np.matmul(
        maybe_transposed(a, transpose_a, adjoint_a), maybe_transposed(b, transpose_b, adjoint_b)
    )


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
    """Multiply matrices by vectors."""
    a, b = matched("matvec", a, b)
    require_matrices("matvec", a)
    # Not np.matvec, which is new in NumPy 2.2.
    return np.matmul(maybe_transposed(a, transpose_a, adjoint_a), b[..., None])[..., 0]


@adapter
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Sum products over axes: the last n of `a` and first n of `b`, or two lists of axes."""
    a, b = matched("tensordot", a, b)
    if np.ndim(_nested(axes)):
        first, second = _nested(axes)
        return np.tensordot(a, b, (_axes(first), _axes(second)))
    return np.tensordot(a, b, int(axes))


def _nested(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else np.asarray(unwrap(value)).tolist()


@adapter
def einsum(equation: str, *inputs: Any, **options: Any) -> Any:
    """Sum products as an equation such as ``"ij,jk->ik"`` says.

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


@adapter
def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """Compute the cross product of vectors with three elements."""
    a, b = matched("cross", a, b)
    # NumPy also accepts vectors with two elements, and broadcasts; TensorFlow does neither.
    if a.shape[-1:] != (3,) or b.shape != a.shape:
        raise InvalidArgumentError(
            f"cross takes two tensors of one shape that ends in 3, not {a.shape} and {b.shape}"
        )
    return np.cross(a, b)
