"""Normalization and clipping by the Euclidean norm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import least, numpy_axis, operand
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, UnsupportedArgumentError

Axis = int | Sequence[int] | None


def l2_normalize(x: Any, axis: Axis = None, epsilon: float = 1e-12) -> Any:
    """Divide by the Euclidean norm along an axis, so that the norm becomes 1.

    Parameters
    ----------
    x : array_like or Tensor
        Real or complex numbers.
    axis : int or tuple of int or None, optional
        The axis, or axes, along which the vectors are; all if None.
    epsilon : float, optional
        The least square of a length to divide by: shorter vectors are divided by its root.

    Returns
    -------
    array or Tensor
        In the shape of `x`: ``x / sqrt(max(sum(abs(x)**2), epsilon))``.

    Raises
    ------
    numpy.exceptions.AxisError
        If `x` does not have the axis.

    Notes
    -----
    The same as ``tf.nn.l2_normalize``, but that squares may overflow.

    Examples
    --------
    >>> from tapemagic.engine.operations.norms import l2_normalize
    >>> l2_normalize([[3.0, 4.0], [0.0, 0.0]], axis=1)
    array([[0.6, 0.8],
           [0. , 0. ]])
    >>> l2_normalize([3e200, 4e200])
    array([0.6, 0.8])
    """
    x, axis = operand(x), numpy_axis(axis)
    unit = np.maximum(_largest(x, axis), 1)
    x = x / unit
    square = np.maximum(_square(x, axis), least(epsilon, "l2_normalize") / unit / unit)
    return x / np.sqrt(square)


def clip_by_norm(x: Any, clip_norm: Any, axes: Axis = None) -> Any:
    """Scale an array down to a Euclidean norm of at most `clip_norm`.

    Parameters
    ----------
    x : array_like or Tensor
        Real or complex numbers.
    clip_norm : float, or Tensor of one number
        The greatest length to leave as it is; positive. Differentiable.
    axes : int or tuple of int or None, optional
        The axes along which the vectors are; all if None.

    Returns
    -------
    array or Tensor
        In the shape of `x`: ``x * clip_norm / max(norm, clip_norm)``.

    Raises
    ------
    numpy.exceptions.AxisError
        If `x` does not have the axes.
    OptionError
        If `clip_norm` is not a positive number.

    Notes
    -----
    The same as ``tf.clip_by_norm``, but that squares may overflow. A vector of exactly the length
    `clip_norm` counts as shortened, as in TensorFlow.

    Examples
    --------
    >>> from tapemagic.engine.operations.norms import clip_by_norm
    >>> clip_by_norm([3.0, 4.0], 1.0)
    array([0.6, 0.8])
    >>> clip_by_norm([3.0, 4.0], 10.0)
    array([3., 4.])
    """
    x, axes, clip_norm = operand(x), numpy_axis(axes), _length(clip_norm, "clip_by_norm")
    unit = np.maximum(_largest(x, axes), unwrap(clip_norm))
    limit = clip_norm / unit
    square = np.maximum(_square(x / unit, axes), np.square(limit))
    return x * (limit / np.sqrt(square))


def clip_by_global_norm(tensors: Sequence[Any], clip_norm: Any) -> tuple[list[Any], Any]:
    """Scale several arrays down together, so that the Euclidean norm of all is at most `clip_norm`.

    Parameters
    ----------
    tensors : list or tuple of array_like or Tensor
        Real or complex numbers, such as the gradients of all variables. A None stays None.
    clip_norm : float, or Tensor of one number
        The greatest length of all together to leave as it is; positive. Differentiable.

    Returns
    -------
    clipped : list of array or Tensor
        Each times ``clip_norm / max(norm, clip_norm)``; NaN if the norm is infinite.
    norm : float or Tensor
        The length of all together, before. Its gradient where it is 0 is 0.

    Raises
    ------
    OptionError
        If `clip_norm` is not a positive number.
    UnsupportedArgumentError
        If `tensors` is not a list or a tuple.

    Notes
    -----
    The same as ``tf.clip_by_global_norm``. R. Pascanu, T. Mikolov and Y. Bengio, "On the difficulty
    of training recurrent neural networks", ICML 2013, algorithm 1.

    Examples
    --------
    >>> from tapemagic.engine.operations.norms import clip_by_global_norm
    >>> clipped, norm = clip_by_global_norm([[3.0, 4.0], None, 12.0], 6.5)
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
    factor = np.where(np.isfinite(norm), clip_norm / np.maximum(norm, clip_norm), np.nan)
    return [None if x is None else x * factor for x in arrays], norm


def _length(clip_norm: Any, name: str) -> Any:
    """The argument `clip_norm` as a checked operand."""
    value = unwrap(clip_norm)
    if (
        not isinstance(value, (int, float, np.number, np.ndarray))
        or np.ndim(value)
        or not value > 0
    ):
        raise OptionError(f"{name} needs a clip_norm that is one positive number, not {value}")
    return clip_norm


def _largest(x: Any, axis: Any) -> Any:
    """The largest absolute value along some axes, which are kept: a unit in which squares do not overflow.

    It is a plain number, since nothing that is computed with it depends on it.
    """
    return np.max(np.abs(unwrap(x)), axis=axis, keepdims=True, initial=0)


def _square(x: Any, axis: Any, keepdims: bool = True) -> Any:
    """The sum of the squares of the absolute values along some axes."""
    squares = np.real(x * np.conj(x)) if x.dtype.kind == "c" else np.square(x)
    return np.sum(squares, axis=axis, keepdims=keepdims)


def _norm(arrays: list[Any]) -> Any:
    """The Euclidean norm of several arrays together; its gradient is 0 where the norm is 0."""
    unit = _unit(arrays)
    square = sum(_square(x / _of_kind(unit, x), None, keepdims=False) for x in arrays)
    positive = square > 0
    norm = np.where(positive, np.sqrt(np.where(positive, square, 1)), square)
    return _of_kind(unit, norm) * norm


def _unit(arrays: list[Any]) -> Any:
    """The largest absolute value of several arrays, in which their squares do not overflow; 1 if it is no such unit."""
    largest = [np.max(np.abs(unwrap(x)), initial=0).astype(np.float64) for x in arrays]
    unit = reduce(np.maximum, largest, np.float64(0))
    return np.where((unit > 0) & (unit < np.inf), unit, 1.0)


def _of_kind(unit: Any, x: Any) -> Any:
    """The unit in the precision of an array, as a number of Python's takes it."""
    return unit.astype(np.finfo(x.dtype).dtype if x.dtype.kind in "fc" else np.float64)
