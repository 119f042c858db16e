"""Normalization and clipping by the Euclidean norm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import checked_epsilon, numpy_axis, operand
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, UnsupportedArgumentError

Axis = int | Sequence[int] | None


def l2_normalize(x: Any, axis: Axis = None, epsilon: float = 1e-12) -> Any:
    """Divide by the Euclidean norm along an axis, so that the norm becomes 1.

    Raises numpy.exceptions.AxisError if `x` doesn't have the axis.

    Equivalent to ``tf.nn.l2_normalize``, except that squares can't overflow.

    Parameters
    ----------
    x : array_like or Tensor
        Real or complex numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, of the vectors. None: all axes.
    epsilon : float, optional
        The minimum squared length: shorter vectors are divided by its square root.

    Returns
    -------
    array or Tensor
        In the shape of `x`: ``x / sqrt(max(sum(abs(x)**2), epsilon))``.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.l2_normalize([[3.0, 4.0], [0.0, 0.0]], axis=1)
    array([[0.6, 0.8],
           [0. , 0. ]])
    >>> tm.l2_normalize([3e200, 4e200])
    array([0.6, 0.8])
    """
    x, axis = operand(x), numpy_axis(axis)
    unit = np.maximum(_largest(x, axis), 1)
    # In units of the largest element, squares can't overflow. A unit below 1 isn't needed, and would overflow
    # epsilon.
    x = x / unit
    square = np.maximum(_square(x, axis), checked_epsilon(epsilon, "l2_normalize") / unit / unit)
    return x / np.sqrt(square)


def clip_by_norm(x: Any, clip_norm: Any, axes: Axis = None) -> Any:
    """Scale an array down to a Euclidean norm of at most `clip_norm`.

    Raises numpy.exceptions.AxisError if `x` doesn't have the axes; OptionError if `clip_norm` is not a positive number.

    Equivalent to ``tf.clip_by_norm``, except that squares can't overflow. As in TensorFlow, the gradient for a vector
    whose norm is exactly `clip_norm` is the gradient for longer vectors.

    Parameters
    ----------
    x : array_like or Tensor
        Real or complex numbers.
    clip_norm : float, or Tensor of one number
        The maximum norm, a positive number; vectors with at most this norm stay unchanged. Differentiable.
    axes : int or tuple of int or None, optional
        The axes of the vectors. None: all axes.

    Returns
    -------
    array or Tensor
        In the shape of `x`: ``x * clip_norm / max(norm, clip_norm)``.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.clip_by_norm([3.0, 4.0], 1.0)
    array([0.6, 0.8])
    >>> tm.clip_by_norm([3.0, 4.0], 10.0)
    array([3., 4.])
    """
    x, axes, clip_norm = operand(x), numpy_axis(axes), _length(clip_norm, "clip_by_norm")
    unit = np.maximum(_largest(x, axes), unwrap(clip_norm))
    # Both norms in the same unit: their quotient doesn't depend on it.
    limit = clip_norm / unit
    square = np.maximum(_square(x / unit, axes), np.square(limit))
    return x * (limit / np.sqrt(square))


def clip_by_global_norm(tensors: Sequence[Any], clip_norm: Any) -> tuple[list[Any], Any]:
    """Scale several arrays down together, so that their common Euclidean norm is at most `clip_norm`.

    Raises OptionError if `clip_norm` is not a positive number; UnsupportedArgumentError if `tensors` is not a list or a
    tuple.

    Parameters
    ----------
    tensors : list or tuple of array_like or Tensor
        Real or complex numbers, such as the gradients of all variables. None entries stay None.
    clip_norm : float, or Tensor of one number
        The maximum common norm, a positive number. Differentiable.

    Returns
    -------
    clipped : list of array or Tensor
        Each array times ``clip_norm / max(norm, clip_norm)``, or nan if the norm is infinite.
    norm : float or Tensor
        The common norm before clipping. Its gradient is 0 where it is 0, and higher derivatives are nan there.

    Notes
    -----
    Equivalent to ``tf.clip_by_global_norm``. R. Pascanu, T. Mikolov and Y. Bengio, "On the difficulty of training
    recurrent neural networks", ICML 2013, algorithm 1.

    Examples
    --------
    >>> import tapemagic as tm
    >>> clipped, norm = tm.clip_by_global_norm([[3.0, 4.0], None, 12.0], 6.5)
    >>> clipped
    [array([1.5, 2. ]), None, np.float64(6.0)]
    >>> float(norm)
    13.0
    """
    if not isinstance(tensors, (list, tuple)):
        raise UnsupportedArgumentError(
            "clip_by_global_norm takes a list or a tuple of tensors, not "
            f"{type(tensors).__name__}: write clip_by_global_norm([x], clip_norm), or clip_by_norm(x, clip_norm)"
        )
    clip_norm = _length(clip_norm, "clip_by_global_norm")
    arrays = [None if x is None else operand(x) for x in tensors]
    norm = _norm([x for x in arrays if x is not None])
    # TensorFlow returns nan for an infinite norm, too, so that a training loop notices.
    factor = np.where(np.isfinite(norm), clip_norm / np.maximum(norm, clip_norm), np.nan)
    return [None if x is None else x * factor for x in arrays], norm


def _length(clip_norm: Any, name: str) -> Any:
    """Return `clip_norm`, or raise an error unless it is a positive number."""
    value = unwrap(clip_norm)
    if (
        not isinstance(value, (int, float, np.number, np.ndarray))
        or np.ndim(value)
        or not value > 0
    ):
        raise OptionError(f"{name} needs a clip_norm that is one positive number, not {value}")
    return clip_norm


def _largest(x: Any, axis: Any) -> Any:
    """Return the largest absolute value along axes, which stay: a unit in which squares can't overflow.

    It is a plain number, because no result depends on the choice of the unit, so nothing must be differentiated.
    """
    return np.max(np.abs(unwrap(x)), axis=axis, keepdims=True, initial=0)


def _square(x: Any, axis: Any, keepdims: bool = True) -> Any:
    """Sum the squares of the absolute values along axes."""
    squares = np.real(x * np.conj(x)) if x.dtype.kind == "c" else np.square(x)
    return np.sum(squares, axis=axis, keepdims=keepdims)


def _norm(arrays: list[Any]) -> Any:
    """Return the Euclidean norm of several arrays together; its gradient is 0 where the norm is 0."""
    if not arrays:
        return np.float64(0)
    unit = _unit(arrays)
    parts = [np.linalg.vector_norm(x / _of_kind(unit, x)) for x in arrays]
    norm = np.linalg.vector_norm(np.stack(parts))
    return _of_kind(unit, norm) * norm


def _unit(arrays: list[Any]) -> Any:
    """Return the largest absolute value of several arrays, or 1 if that is 0 or infinite, as a unit for squares."""
    largest = [np.max(np.abs(unwrap(x)), initial=0).astype(np.float64) for x in arrays]
    unit = reduce(np.maximum, largest, np.float64(0))
    return np.where((unit > 0) & (unit < np.inf), unit, 1.0)


def _of_kind(unit: Any, x: Any) -> Any:
    """Convert a unit to the precision of an array; unlike a Python number, an np.float64 would promote the array."""
    return unit.astype(np.finfo(x.dtype).dtype if x.dtype.kind in "fc" else np.float64)
