"""one_hot, cast and top_k, with TensorFlow's arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index
from numpy.typing import DTypeLike

from tapemagic.engine.operations.common import count, dtype_of_numbers, operand, whole
from tapemagic.engine.tensor.dispatch import constant_result
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError


class TopK(NamedTuple):
    """The result of `top_k`: the largest elements and their indices."""

    values: Any
    indices: Any


def one_hot(
    indices: Any,
    depth: int,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    axis: int = -1,
    dtype: DTypeLike = np.float64,
) -> Any:
    """For each index a vector with `on_value` at that index and `off_value` elsewhere.

    Parameters
    ----------
    indices : array_like of int
        Where each vector is on. A negative index, or one of `depth` or more, is nowhere.
    depth : int
        The length of the vectors.
    on_value, off_value : float or Tensor of one number, optional
        Differentiable, if they are tensors.
    axis : int, optional
        Where the axis of the vectors is in the result.
    dtype : dtype, optional

    Returns
    -------
    array or Tensor
        In the shape of `indices` with an axis of length `depth` put in. A tensor if an argument is one.

    Raises
    ------
    numpy.exceptions.AxisError
        If the result does not have the axis.
    OptionError
        If `depth` is negative.
    UnsupportedArgumentError
        If `indices` are not whole numbers.

    Examples
    --------
    >>> from tapemagic.engine.operations.selection import one_hot
    >>> one_hot([0, 2, -1], 3)
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    places = whole(indices, "indices of one_hot")
    classes = np.arange(count(depth, "the depth of one_hot"))
    axis = normalize_axis_index(axis, places.ndim + 1)
    behind = (1,) * (places.ndim - axis)
    hit = np.expand_dims(places, axis) == classes.reshape((-1, *behind))
    result = cast(np.where(hit, operand(on_value), operand(off_value)), dtype)
    return constant_result(result) if isinstance(indices, Traced) else result


def cast(x: Any, dtype: DTypeLike) -> Any:
    """The same numbers in another dtype.

    Parameters
    ----------
    x : array_like or Tensor
        Any numbers.
    dtype : dtype
        Real and complex numbers stay on the tape, and their gradients come back in the dtype of
        `x`; whole numbers and truth values end the path. Complex numbers lose their imaginary part
        where the dtype is not complex.

    Returns
    -------
    array or Tensor

    Raises
    ------
    DtypeError
        If NumPy knows no such dtype, or it is none of numbers.

    Examples
    --------
    >>> from tapemagic.engine.operations.selection import cast
    >>> cast([1.7, -1.7], int)
    array([ 1, -1])
    """
    x, dtype = operand(x), dtype_of_numbers(dtype)
    if x.dtype.kind == "c" and dtype.kind in "iuf":
        x = np.real(x)
    return x.astype(dtype)


def top_k(x: Any, k: int = 1, sorted: bool = True) -> TopK:  # noqa: A002, ARG001 (TensorFlow's)
    """The `k` largest elements along the last axis, the largest first, and their indices.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers, at least `k` along the last axis. Of equal ones the first comes first; NaN
        counts as larger than anything, as in `numpy.sort`.
    k : int, optional
        How many.
    sorted : bool, optional
        Accepted for TensorFlow's sake: the result is in order in any case.

    Returns
    -------
    values : array or Tensor
        In the shape of `x`, but of length `k` along the last axis.
    indices : array of int
        Their places along the last axis, in the same shape.

    Raises
    ------
    OptionError
        If `k` is negative, or larger than the last axis.
    ShapeError
        If `x` has no axis.
    UnsupportedArgumentError
        If `x` is complex.

    Examples
    --------
    >>> from tapemagic.engine.operations.selection import top_k
    >>> values, indices = top_k([1.0, 3.0, 2.0, 3.0], k=3)
    >>> values
    array([3., 3., 2.])
    >>> indices
    array([1, 3, 2])
    """
    x, k = operand(x), count(k, "the k of top_k")
    if x.dtype.kind == "c":
        raise UnsupportedArgumentError(
            f"top_k takes numbers that have an order, not {x.dtype}: give it np.abs(x) or np.real(x)"
        )
    if not x.ndim:
        raise ShapeError("top_k chooses along the last axis, and a single number has none")
    if k > x.shape[-1]:
        raise OptionError(f"top_k cannot choose k = {k} of {x.shape[-1]} elements")
    ascending = np.argsort(np.flip(unwrap(x), -1), axis=-1, kind="stable")
    indices = x.shape[-1] - 1 - np.flip(ascending, -1)[..., :k]
    return TopK(np.take_along_axis(x, indices, -1), indices)
