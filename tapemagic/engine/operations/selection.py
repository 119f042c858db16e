"""one_hot, cast and top_k, with TensorFlow's arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index
from numpy.typing import DTypeLike

from tapemagic.engine.operations.common import count, dtype_of_numbers, integers, operand
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
    """Return, for each index, a vector with `on_value` at the index and `off_value` elsewhere.

    Parameters
    ----------
    indices : array_like of int
        The position of `on_value` in each vector. A negative index, or an index of at least `depth`, has no position.
    depth : int
        The length of the vectors.
    on_value, off_value : float or Tensor of one number, optional
        Differentiable, if they are tensors.
    axis : int, optional
        The axis of the vectors in the result.
    dtype : dtype, optional

    Returns
    -------
    array or Tensor
        In the shape of `indices`, with an additional axis of length `depth`. A tensor if an argument is a tensor.

    Raises
    ------
    numpy.exceptions.AxisError
        If the result doesn't have the axis.
    OptionError
        If `depth` is negative.
    UnsupportedArgumentError
        If `indices` contains something other than integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.one_hot([0, 2, -1], 3)
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    places = integers(indices, "indices of one_hot")
    classes = np.arange(count(depth, "the depth of one_hot"))
    axis = normalize_axis_index(axis, places.ndim + 1)
    trailing = (1,) * (places.ndim - axis)
    # A comparison, not an assignment: indices out of range match no class.
    hit = np.expand_dims(places, axis) == classes.reshape((-1, *trailing))
    result = cast(np.where(hit, operand(on_value), operand(off_value)), dtype)
    return constant_result(result) if isinstance(indices, Traced) else result


def cast(x: Any, dtype: DTypeLike) -> Any:
    """Convert numbers to another dtype.

    Raises DtypeError if NumPy has no such dtype, or it isn't numeric.

    Parameters
    ----------
    x : array_like or Tensor
        Numbers of any dtype.
    dtype : dtype
        Real and complex numbers stay on the tape, and their gradients have the dtype of `x`. Integers and bools end
        the path. Complex numbers lose their imaginary part if the dtype isn't complex.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.cast([1.7, -1.7], int)
    array([ 1, -1])
    """
    x, dtype = operand(x), dtype_of_numbers(dtype)
    if x.dtype.kind == "c" and dtype.kind in "iuf":
        x = np.real(x)
    return x.astype(dtype)


def top_k(x: Any, k: int = 1, sorted: bool = True) -> TopK:  # noqa: A002, ARG001 (TensorFlow's)
    """Return the `k` largest elements along the last axis, largest first, and their indices.

    Parameters
    ----------
    x : array_like or Tensor
        Real numbers, at least `k` along the last axis. Of equal elements, the first comes first. nan counts as larger
        than any number, as in `numpy.sort`.
    k : int, optional
        The number of elements.
    sorted : bool, optional
        Ignored; it exists for compatibility with TensorFlow. The result is always sorted.

    Returns
    -------
    values : array or Tensor
        In the shape of `x`, but of length `k` along the last axis.
    indices : array of int
        Their positions along the last axis, in the same shape.

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
    >>> import tapemagic as tm
    >>> values, indices = tm.top_k([1.0, 3.0, 2.0, 3.0], k=3)
    >>> values
    array([3., 3., 2.])
    >>> indices
    array([1, 3, 2])
    """
    x, k = operand(x), count(k, "the k of top_k")
    if x.dtype.kind == "c":
        raise UnsupportedArgumentError(
            f"top_k takes numbers that have an order, not {x.dtype}: pass np.abs(x) or np.real(x)"
        )
    if not x.ndim:
        raise ShapeError("top_k chooses along the last axis, but a single number has no axes")
    if k > x.shape[-1]:
        raise OptionError(f"top_k cannot choose k = {k} of {x.shape[-1]} elements")
    # Flipping twice reverses the order of equal elements, so that the first of them stays first.
    ascending = np.argsort(np.flip(unwrap(x), -1), axis=-1, kind="stable")
    indices = x.shape[-1] - 1 - np.flip(ascending, -1)[..., :k]
    return TopK(np.take_along_axis(x, indices, -1), indices)
