"""Norms, and tensors that are made shorter."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations import norms
from tapemagic.tf.core.adapter import adapter, axes
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.ops.elementwise import checked

_axes = axes
_tensor = tensor


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
