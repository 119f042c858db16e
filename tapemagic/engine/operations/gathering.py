"""gather, gather_nd, scatter_nd and segment_sum, with TensorFlow's checks of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.engine.operations.common import count, integers, operand, require_in_range
from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.errors import OptionError, ShapeError


def gather(params: Any, indices: Any, axis: int = 0) -> Any:
    """Select slices of an array by indices along an axis.

    Parameters
    ----------
    params : array_like or Tensor
        The array to select from.
    indices : array_like of int
        The numbers of the slices, counted from 0; they must not be negative.
    axis : int, optional
        The axis of `params` to select along.

    Returns
    -------
    array or Tensor
        In the shape of `params`, with the axis replaced by the shape of `indices`.

    Raises
    ------
    numpy.exceptions.AxisError
        If `params` doesn't have the axis.
    OptionError
        If an index is negative or too large, as in TensorFlow.
    UnsupportedArgumentError
        If `indices` contains something other than integers.

    See Also
    --------
    gather_nd : Indices along several axes.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.gather([10.0, 11.0, 12.0], [[2, 0], [1, 1]])
    array([[12., 10.],
           [11., 11.]])
    """
    params, places = operand(params), integers(indices, "indices of gather")
    axis = normalize_axis_index(axis, params.ndim)
    require_in_range(places, params.shape[axis], "indices")
    return np.take(params, places, axis=axis)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Select elements, or slices, of an array by rows of indices.

    Parameters
    ----------
    params : array_like or Tensor
        The array to select from.
    indices : array_like of int
        Each row along the last axis is an index into the first axes of `params`, after the batch axes.
    batch_dims : int, optional
        The number of leading axes of `params` and `indices` that belong together, as examples in a batch.

    Returns
    -------
    array or Tensor
        In the shape of `indices` without its last axis, followed by the shape of a slice.

    Raises
    ------
    OptionError
        If an index is negative or too large, as in TensorFlow, or if `batch_dims` is.
    ShapeError
        If the rows are longer than `params` has axes, or the batch axes differ.
    UnsupportedArgumentError
        If `indices` contains something other than integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.gather_nd([[10.0, 11.0], [20.0, 21.0]], [[0, 1], [1, 0]])
    array([11., 20.])
    >>> tm.gather_nd([[10.0, 11.0], [20.0, 21.0]], [[1], [0]], batch_dims=1)
    array([11., 20.])
    """
    params, places = operand(params), _rows(indices, "gather_nd")
    batch = count(batch_dims, "the batch_dims of gather_nd")
    if batch > min(places.ndim - 1, params.ndim):
        raise OptionError(
            f"gather_nd with batch_dims = {batch} of params of shape {params.shape} and indices of shape "
            f"{places.shape}: there are fewer axes, not counting the last axis of the indices"
        )
    if params.shape[:batch] != places.shape[:batch]:
        raise ShapeError(
            f"gather_nd of params of shape {params.shape} and indices of shape {places.shape}: "
            f"the first {batch} axes, of the batch, must be equal"
        )
    columns = _columns(places, params.shape[batch:], "gather_nd")
    index = (*_batch_indices(places.shape[:-1], batch), *columns)
    if index:
        return params[index]
    return np.broadcast_to(params, places.shape[:-1] + params.shape)


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Add updates to zeros at rows of indices.

    Parameters
    ----------
    indices : array_like of int
        Each row along the last axis is an index into the first axes of `shape`. Updates of equal rows add up.
    updates : array_like or Tensor
        In the shape of `indices` without its last axis, followed by the shape of a slice.
    shape : tuple of int
        The shape of the result.

    Returns
    -------
    array or Tensor
        In the dtype of `updates`.

    Raises
    ------
    OptionError
        If an index is negative or too large, as in TensorFlow.
    ShapeError
        If the rows are longer than `shape`, or `updates` has a wrong shape.
    UnsupportedArgumentError
        If `indices` contains something other than integers.

    See Also
    --------
    gather_nd : The inverse operation, and the derivative.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.scatter_nd([[1], [3], [1]], [5.0, 6.0, 7.0], (4,))
    array([ 0., 12.,  0.,  6.])
    """
    updates, places = operand(updates), _rows(indices, "scatter_nd")
    lengths = shape if np.ndim(shape) else (shape,)
    shape = tuple(count(length, "each length in the shape of scatter_nd") for length in lengths)
    columns = _columns(places, shape, "scatter_nd")
    expected = places.shape[:-1] + shape[len(columns) :]
    if updates.shape != expected:
        raise ShapeError(
            f"scatter_nd of indices of shape {places.shape} into shape {shape} needs updates of shape {expected}, "
            f"not {updates.shape}"
        )
    # Rows of length 0 select the whole array, so all updates are added.
    if not columns:
        return np.sum(updates, axis=tuple(range(places.ndim - 1)))
    return scatter_add(updates, columns, shape)


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Sum the slices with the same segment number.

    Parameters
    ----------
    data : array_like or Tensor
        The array to sum.
    segment_ids : array_like of int
        The number of each slice, in the shape of the first axes of `data`, in any order.
    num_segments : int, optional
        The number of sums. Default: the largest segment number plus 1.

    Returns
    -------
    array or Tensor
        The sums along the first axis, 0 for missing numbers; followed by the axes of a slice.

    Raises
    ------
    OptionError
        If a number is negative, or not less than `num_segments`.
    ShapeError
        If `segment_ids` doesn't have the shape of the first axes of `data`.
    UnsupportedArgumentError
        If `segment_ids` contains something other than integers.

    Examples
    --------
    >>> import tapemagic as tm
    >>> tm.segment_sum([1.0, 2.0, 3.0, 4.0], [0, 2, 0, 2])
    array([4., 0., 6.])
    """
    data, ids = operand(data), integers(segment_ids, "segment_ids")
    if data.shape[: ids.ndim] != ids.shape:
        raise ShapeError(
            f"segment_sum of data of shape {data.shape} with segment_ids of shape {ids.shape}: "
            "pass one number for each slice along the first axes"
        )
    if num_segments is None:
        length = int(np.max(ids, initial=-1)) + 1
    else:
        length = count(num_segments, "the num_segments of segment_sum")
    require_in_range(ids, length, "segment_ids")
    return scatter_add(data, ids, (length, *data.shape[ids.ndim :]))


def _rows(indices: Any, name: str) -> Any:
    """Convert indices to an array whose last axis contains rows of indices."""
    places = integers(indices, f"indices of {name}")
    if not places.ndim:
        raise ShapeError(f"{name} takes indices in rows: write [[{places}]] for the slice {places}")
    return places


def _columns(places: Any, shape: tuple[int, ...], name: str) -> tuple[Any, ...]:
    """Split rows of indices into an array per axis, and check that the indices are inside `shape`."""
    length = places.shape[-1]
    if length > len(shape):
        raise ShapeError(
            f"{name} has indices of {length} numbers each, and only {len(shape)} axes to index, of shape {shape}"
        )
    wrong = ((places < 0) | (places >= shape[:length])).any(axis=-1)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        where = str(list(at)) if at else ""
        raise OptionError(f"indices{where} = {places[at].tolist()} is not inside shape {shape}")
    return tuple(np.moveaxis(places, -1, 0))


def _batch_indices(shape: tuple[int, ...], batch: int) -> tuple[Any, ...]:
    """Return, for each batch axis, the index along it of every element of an array of the given shape."""
    places = np.indices(shape[:batch], sparse=True)
    trailing = (1,) * (len(shape) - batch)
    return tuple(np.broadcast_to(x.reshape(x.shape + trailing), shape) for x in places)
