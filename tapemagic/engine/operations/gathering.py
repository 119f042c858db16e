"""gather, gather_nd, scatter_nd and segment_sum, with TensorFlow's checks of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.engine.operations.common import count, inside, operand, whole
from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.errors import OptionError, ShapeError


def gather(params: Any, indices: Any, axis: int = 0) -> Any:
    """The slices of an array at given indices along one axis.

    Parameters
    ----------
    params : array_like or Tensor
        What to choose from.
    indices : array_like of int
        Which slices; they count from 0, and are not negative.
    axis : int, optional
        The axis of `params` to choose along.

    Returns
    -------
    array or Tensor
        In the shape of `params` with that of `indices` in the place of the axis.

    Raises
    ------
    numpy.exceptions.AxisError
        If `params` does not have the axis.
    OptionError
        If an index is negative or too large, as in TensorFlow.
    UnsupportedArgumentError
        If `indices` are not whole numbers.

    See Also
    --------
    gather_nd : Indices along several axes.

    Examples
    --------
    >>> from tapemagic.engine.operations.gathering import gather
    >>> gather([10.0, 11.0, 12.0], [[2, 0], [1, 1]])
    array([[12., 10.],
           [11., 11.]])
    """
    params, places = operand(params), whole(indices, "indices of gather")
    axis = normalize_axis_index(axis, params.ndim)
    inside(places, params.shape[axis], "indices")
    return np.take(params, places, axis=axis)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """The elements, or slices, of an array at given rows of indices.

    Parameters
    ----------
    params : array_like or Tensor
        What to choose from.
    indices : array_like of int
        Each row along the last axis is an index into the first axes of `params`, after those of
        the batch.
    batch_dims : int, optional
        So many first axes of `params` and `indices` go together, as examples in a batch.

    Returns
    -------
    array or Tensor
        In the shape of `indices` without its last axis, followed by that of a slice.

    Raises
    ------
    OptionError
        If an index is negative or too large, as in TensorFlow; or `batch_dims` is.
    ShapeError
        If the rows are longer than `params` has axes, or the axes of the batch differ.
    UnsupportedArgumentError
        If `indices` are not whole numbers.

    Examples
    --------
    >>> from tapemagic.engine.operations.gathering import gather_nd
    >>> gather_nd([[10.0, 11.0], [20.0, 21.0]], [[0, 1], [1, 0]])
    array([11., 20.])
    >>> gather_nd([[10.0, 11.0], [20.0, 21.0]], [[1], [0]], batch_dims=1)
    array([11., 20.])
    """
    params, places = operand(params), _rows(indices, "gather_nd")
    batch = count(batch_dims, "the batch_dims of gather_nd")
    if batch > min(places.ndim - 1, params.ndim):
        raise OptionError(
            f"gather_nd with batch_dims = {batch} of params of shape {params.shape} and indices of shape "
            f"{places.shape}: there are not so many axes, the last one of the indices apart"
        )
    if params.shape[:batch] != places.shape[:batch]:
        raise ShapeError(
            f"gather_nd of params of shape {params.shape} and indices of shape {places.shape}: "
            f"the first {batch} axes, of the batch, have to be the same"
        )
    columns = _columns(places, params.shape[batch:], "gather_nd")
    index = (*_own_places(places.shape[:-1], batch), *columns)
    if index:
        return params[index]
    return np.broadcast_to(params, places.shape[:-1] + params.shape)


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros with updates added at given rows of indices.

    Parameters
    ----------
    indices : array_like of int
        Each row along the last axis is an index into the first axes of `shape`. Where rows are
        equal, their updates add up.
    updates : array_like or Tensor
        In the shape of `indices` without its last axis, followed by that of a slice.
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
        If the rows are longer than `shape`, or `updates` have another shape.
    UnsupportedArgumentError
        If `indices` are not whole numbers.

    See Also
    --------
    gather_nd : The way back, and the derivative.

    Examples
    --------
    >>> from tapemagic.engine.operations.gathering import scatter_nd
    >>> scatter_nd([[1], [3], [1]], [5.0, 6.0, 7.0], (4,))
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
    if not columns:
        return np.sum(updates, axis=tuple(range(places.ndim - 1)))
    return scatter_add(updates, columns, shape)


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """The sums of the slices that have the same segment number.

    Parameters
    ----------
    data : array_like or Tensor
        What to add up.
    segment_ids : array_like of int
        The number of each slice, in the shape of the first axes of `data`. They need not be sorted.
    num_segments : int, optional
        How many sums there are; the largest number, and one more, if left out.

    Returns
    -------
    array or Tensor
        The sums along the first axis, 0 where a number is missing; then the axes of a slice.

    Raises
    ------
    OptionError
        If a number is negative, or too large for `num_segments`.
    ShapeError
        If `segment_ids` have another shape than the first axes of `data`.
    UnsupportedArgumentError
        If `segment_ids` are not whole numbers.

    Examples
    --------
    >>> from tapemagic.engine.operations.gathering import segment_sum
    >>> segment_sum([1.0, 2.0, 3.0, 4.0], [0, 2, 0, 2])
    array([4., 0., 6.])
    """
    data, ids = operand(data), whole(segment_ids, "segment_ids")
    if data.shape[: ids.ndim] != ids.shape:
        raise ShapeError(
            f"segment_sum of data of shape {data.shape} with segment_ids of shape {ids.shape}: "
            "give one number for each slice along the first axes"
        )
    if num_segments is None:
        length = int(np.max(ids, initial=-1)) + 1
    else:
        length = count(num_segments, "the num_segments of segment_sum")
    inside(ids, length, "segment_ids")
    return scatter_add(data, ids, (length, *data.shape[ids.ndim :]))


def _rows(indices: Any, name: str) -> Any:
    """An array whose last axis holds rows of indices."""
    places = whole(indices, f"indices of {name}")
    if not places.ndim:
        raise ShapeError(f"{name} takes indices in rows: write [[{places}]] for the slice {places}")
    return places


def _columns(places: Any, shape: tuple[int, ...], name: str) -> tuple[Any, ...]:
    """Rows of indices into the first axes of `shape`, as one array for each of these axes."""
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


def _own_places(shape: tuple[int, ...], batch: int) -> tuple[Any, ...]:
    """For each batch axis, the index along it of every element of an array of the given shape."""
    places = np.indices(shape[:batch], sparse=True)
    behind = (1,) * (len(shape) - batch)
    return tuple(np.broadcast_to(x.reshape(x.shape + behind), shape) for x in places)
