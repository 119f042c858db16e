"""Norms, normalization and clipping."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations import norms
from tapemagic.tf.core.adapter import adapter, adapter_to_several, axes
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.ops.elementwise import checked

_axes = axes
_tensor = tensor


def norm_of(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """Compute a norm of vectors or matrices."""
    x = checked("norm", x, "fc")
    axis, keeps = axes(axis), bool(keepdims)
    # TensorFlow's default for axis=None is the root of the sum of all squares; np.linalg.norm refuses "fro" for more
    # than two axes.
    if ord == "euclidean" or (ord == "fro" and axis is None):
        return _vector_norm(x, axis=axis, keepdims=keeps)
    if isinstance(axis, tuple):
        return np.linalg.norm(x, ord=ord, axis=axis, keepdims=keeps)
    return _vector_norm(x, ord=ord, axis=axis, keepdims=keeps)


_vector_norm: Any = np.linalg.vector_norm


@adapter
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Any:
    """Compute the norm of all elements, of vectors along one axis, or of matrices in two axes.

    At 0 the gradient is 0; in TensorFlow it is nan. Higher derivatives are nan there; for a squared norm, write
    ``tf.reduce_sum(x * x)``.
    """
    return norm_of(_tensor(tensor), ord, axis, keepdims)


@adapter_to_several
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> Any:
    """Divide a tensor by its norm; return quotient and norm."""
    elements = _tensor(tensor)
    size = norm_of(elements, ord, axis, True)
    return elements / size, size


@adapter
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Divide a tensor by its Euclidean norm along axes, but at least by sqrt(epsilon)."""
    # The bound is on the sum of squares, so the norm is at least sqrt(epsilon): the gradient at 0 stays finite.
    return norms.l2_normalize(tensor(x), axes(axis), epsilon)


@adapter
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scale a tensor down if its norm exceeds `clip_norm`."""
    elements = tensor(t)
    return norms.clip_by_norm(
        elements,
        tensor(clip_norm, elements.dtype) if not isinstance(clip_norm, (int, float)) else clip_norm,
        _axes(axes),
    )


@adapter
def global_norm(t_list: Any, name: str | None = None) -> Any:
    """Compute the norm of all elements of several tensors; None among the tensors is skipped."""
    # abs first: the square of a complex number is not its squared modulus.
    squares = [np.sum(np.square(np.abs(tensor(x)))) for x in t_list if x is not None]
    total: Any = squares[0]
    for part in squares[1:]:
        total = total + part
    return np.sqrt(total)


@adapter_to_several
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> Any:
    """Scale several tensors down by one factor if their global norm exceeds `clip_norm`; return them and the norm.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> (clipped, none), norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0]), None], 1.0)
    >>> print(clipped, norm, none)
    tf.Tensor([0.6 0.8], shape=(2,), dtype=float32) tf.Tensor(5.0, shape=(), dtype=float32) None
    """
    elements = [None if x is None else tensor(x) for x in t_list]
    size = tensor(global_norm(t_list) if use_norm is None else use_norm)
    limit = size.dtype.type(clip_norm) if isinstance(clip_norm, (int, float)) else tensor(clip_norm)
    # TensorFlow's formula: for the norm 0, 1 / size is inf, and the minimum leaves the tensors unchanged.
    factor = limit * np.minimum(1 / size, 1 / limit)
    return [None if x is None else x * factor for x in elements], size
