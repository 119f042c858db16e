"""Gather, scatter and segment operations."""

from __future__ import annotations

import builtins
import math
from itertools import pairwise
from typing import Any

import numpy as np

from tapemagic.engine.operations import gathering
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.tf.core.adapter import adapter, adapter_to_several, axes, lengths, plain
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.errors import InvalidArgumentError


@adapter
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """Gather slices of a tensor along an axis; gradients are dense.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.gather([10.0, 20.0, 30.0], [2, 0]))
    tf.Tensor([30. 10.], shape=(2,), dtype=float32)
    """
    base, places, batch = tensor(params), plain(indices), int(batch_dims)
    if not -places.ndim <= batch <= places.ndim:
        raise InvalidArgumentError(
            f"gather with indices of shape {places.shape} takes batch_dims between {-places.ndim} and {places.ndim}, "
            f"not {batch}"
        )
    # The default axis is the first one after the batch. As in TensorFlow, a negative batch_dims counts from the end of
    # `indices`, but as an axis from the end of `params`; max() because a scalar has no axis to count from.
    along = (batch if axis is None else axes(axis)) % max(base.ndim, 1)
    batch += places.ndim if batch < 0 else 0
    if base.shape[:batch] != places.shape[:batch] or along < batch:
        raise InvalidArgumentError(
            f"gather with batch_dims={batch_dims} and axis={along} from params of shape {base.shape} at indices of "
            f"shape {places.shape}: the first {batch} axes must have equal lengths, and come before the axis"
        )
    if not batch:
        return gathering.gather(base, places, along)
    moved = np.moveaxis(base, along, batch)
    # NumPy would read negative indices from the end; TensorFlow refuses them on the CPU.
    _require_in_range(places, moved.shape[batch])
    grid = np.indices(places.shape, sparse=True)[:batch]
    result = moved[(*grid, places)]
    return np.moveaxis(
        result, list(range(batch, places.ndim)), list(range(along, along + places.ndim - batch))
    )


def _require_in_range(places: Any, length: int) -> None:
    wrong = (places < 0) | (places >= length)
    if wrong.any():
        raise InvalidArgumentError(f"indices has {places[wrong][0]}, which is not in [0, {length})")


@adapter
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0, name: str | None = None) -> Any:
    """Gather elements or slices at coordinates in the last axis of `indices`."""
    return gathering.gather_nd(tensor(params), plain(indices), int(batch_dims))


@adapter
def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Add `updates` to zeros at coordinates in the last axis of `indices`.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.scatter_nd([[1], [1]], [2.0, 3.0], [3]))
    tf.Tensor([0. 5. 0.], shape=(3,), dtype=float32)
    """
    return gathering.scatter_nd(plain(indices), tensor(updates), lengths(shape))


@adapter
def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """Replace elements or slices at `indices` by `updates`; the last update of an index wins.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.tensor_scatter_nd_update([1.0, 2.0, 3.0], [[1]], [9.0]))
    tf.Tensor([1. 9. 3.], shape=(3,), dtype=float32)
    """
    base, new = matched("tensor_scatter_nd_update", tensor, updates)
    places = plain(indices)
    depth = places.shape[-1]
    rows, outer = places.reshape(-1, depth), base.shape[:depth]
    for k in range(depth):
        _require_in_range(rows[:, k], outer[k])
    # As a gather: differentiable, and with repeated indices the last one wins, as in the loop of the assignment.
    source = np.full(outer, -1)
    source[tuple(rows.T)] = np.arange(len(rows))
    slices = np.reshape(new, (len(rows), *base.shape[depth:]))
    # Without updates, `slices` has no element that the gather below could read.
    if not len(rows):
        return np.copy(base)
    taken = slices[np.maximum(source, 0)]
    hit = (source >= 0).reshape(outer + (1,) * (base.ndim - depth))
    return np.where(hit, taken, base)


def _scatter_sum(called: str, base: Any, indices: Any, updates: Any, sign: int) -> Any:
    base, new = matched(called, base, updates)
    total = gathering.scatter_nd(plain(indices), new, base.shape)
    return base + total if sign > 0 else base - total


@adapter
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Add `updates` to elements or slices at `indices`."""
    return _scatter_sum("tensor_scatter_nd_add", tensor, indices, updates, 1)


@adapter
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Subtract `updates` from elements or slices at `indices`."""
    return _scatter_sum("tensor_scatter_nd_sub", tensor, indices, updates, -1)


def _scatter_extremes(called: str, base: Any, indices: Any, updates: Any, of: Any) -> Any:
    """Take the maximum or minimum of elements or slices and their updates."""
    base, new = matched(called, base, updates)
    places = plain(indices)
    outer = base.shape[: places.shape[-1]]
    for k, length in enumerate(outer):
        _require_in_range(places[..., k], length)
    # As segments: each element forms a segment with all of its updates, so ties share the gradient as in a reduction.
    ids = np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), outer).ravel()
    count, inner = math.prod(outer), base.shape[len(outer) :]
    rows = np.concatenate([np.reshape(base, (count, *inner)), np.reshape(new, (ids.size, *inner))])
    return np.reshape(
        _reduce_segments(
            rows, np.concatenate([np.arange(count), ids]), count, False, of, _fill_zero
        ),
        base.shape,
    )


@adapter
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Take the maximum of elements or slices at `indices` and `updates`."""
    return _scatter_extremes("tensor_scatter_nd_max", tensor, indices, updates, np.max)


@adapter
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Take the minimum of elements or slices at `indices` and `updates`."""
    return _scatter_extremes("tensor_scatter_nd_min", tensor, indices, updates, np.min)


@adapter
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Any:
    """Reverse the first `seq_lengths[k]` elements of row k."""
    base, counts = tensor(input), plain(seq_lengths)
    moved = np.moveaxis(base, (int(batch_axis or 0), int(seq_axis or 0)), (0, 1))
    steps = np.arange(moved.shape[1])
    # A gather of mirrored indices: rows of different lengths are reversed at once, and differentiated by the rule of
    # indexing.
    places = np.where(steps < counts[:, None], counts[:, None] - 1 - steps, steps)
    result = moved[np.arange(len(counts))[:, None], places]
    return np.moveaxis(result, (0, 1), (int(batch_axis or 0), int(seq_axis or 0)))


# -- segments: groups of rows with the same id ----------------------------------------------------


def _segments(
    data: Any, segment_ids: Any, num_segments: Any, is_sorted: bool
) -> tuple[Any, list[Any]]:
    """Return the rows of a tensor, and the row numbers of each segment."""
    base, ids = tensor(data), plain(segment_ids)
    if base.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(
            f"segment_ids has shape {ids.shape}, and data {base.shape}: give each row an id"
        )
    base, ids = np.reshape(base, (ids.size, *base.shape[ids.ndim :])), ids.ravel()
    if is_sorted and (np.any(np.diff(ids) < 0) or np.any(ids < 0)):
        raise InvalidArgumentError(
            "segment ids are not increasing: sort them, or use tf.math.unsorted_segment_sum"
        )
    count = int(ids.max(initial=-1)) + 1 if num_segments is None else int(num_segments)
    if np.any(ids >= count):
        raise InvalidArgumentError(f"segment_ids has {ids.max()}, which is not in [0, {count})")
    # Stable: the rows of a segment keep their order, and so do the rounding errors of their sum.
    order = np.argsort(ids, kind="stable")
    # Negative ids sort before the first end, so they belong to no segment: TensorFlow drops them.
    ends = np.searchsorted(ids[order], np.arange(count + 1))
    return base, [order[a:b] for a, b in pairwise(ends)]


def _reduce_segments(
    data: Any, segment_ids: Any, num_segments: Any, is_sorted: bool, of: Any, empty: Any
) -> Any:
    """Reduce the rows of each segment; an empty segment gets the value `empty(dtype)`."""
    base, segments = _segments(data, segment_ids, num_segments, is_sorted)
    fill = np.full(base.shape[1:], empty(base.dtype), base.dtype)
    if not segments:
        return np.zeros((0, *base.shape[1:]), base.dtype)
    # NumPy widens sums and products of short integers to int64.
    options = {"dtype": base.dtype} if base.dtype.kind in "iu" and of in {np.sum, np.prod} else {}
    return np.stack([of(base[rows], axis=0, **options) if rows.size else fill for rows in segments])


def _limits(dtype: Any) -> Any:
    return np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)


# TensorFlow fills empty segments of the sorted reductions with 0 (products: 1); only the unsorted maximum and minimum
# use the limits of the dtype.
def _fill_zero(_dtype: Any) -> int:
    return 0


def _fill_one(_dtype: Any) -> int:
    return 1


def _mean(x: Any, axis: int) -> Any:
    if x.dtype.kind in "iu":
        # TensorFlow rounds integer means towards zero.
        return np.trunc(np.sum(x, axis=axis) / len(x)).astype(x.dtype)
    return np.mean(x, axis=axis)


@adapter
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Sum the rows with the same id; ids must be sorted.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.math.segment_sum([1.0, 2.0, 4.0], [0, 0, 1]))
    tf.Tensor([3. 4.], shape=(2,), dtype=float32)
    """
    return _reduce_segments(data, segment_ids, None, True, np.sum, _fill_zero)


@adapter
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Average the rows with the same id; ids must be sorted."""
    return _reduce_segments(data, segment_ids, None, True, _mean, _fill_zero)


@adapter
def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Multiply the rows with the same id; ids must be sorted."""
    return _reduce_segments(data, segment_ids, None, True, np.prod, _fill_one)


@adapter
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Take the maximum of the rows with the same id; ids must be sorted."""
    return _reduce_segments(data, segment_ids, None, True, np.max, _fill_zero)


@adapter
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Take the minimum of the rows with the same id; ids must be sorted."""
    return _reduce_segments(data, segment_ids, None, True, np.min, _fill_zero)


@adapter
def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Sum the rows with the same id; rows with a negative id are ignored."""
    return _reduce_segments(data, segment_ids, num_segments, False, np.sum, _fill_zero)


@adapter
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Average the rows with the same id; integers in float64."""
    base = tensor(data)
    # A true division in TensorFlow, unlike segment_mean, whose integer kernel truncates.
    data = np.astype(base, np.float64) if base.dtype.kind in "iu" else base
    return _reduce_segments(data, segment_ids, num_segments, False, _mean, _fill_zero)


@adapter
def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Multiply the rows with the same id."""
    return _reduce_segments(data, segment_ids, num_segments, False, np.prod, _fill_one)


@adapter
def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Take the maximum of the rows with the same id; an empty segment gets the dtype's minimum."""
    return _reduce_segments(
        data, segment_ids, num_segments, False, np.max, lambda dtype: _limits(dtype).min
    )


@adapter
def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Take the minimum of the rows with the same id; an empty segment gets the dtype's maximum."""
    return _reduce_segments(
        data, segment_ids, num_segments, False, np.min, lambda dtype: _limits(dtype).max
    )


@adapter
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Sum the rows with the same id and divide by the square root of their number."""
    return _reduce_segments(
        data,
        segment_ids,
        num_segments,
        False,
        lambda x, axis: np.sum(x, axis=axis) / np.sqrt(x.dtype.type(len(x))),
        _fill_zero,
    )


@adapter_to_several
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """Distribute the rows of a tensor to a list of tensors, by partition number."""
    base, ids = tensor(data), np.asarray(unwrap(tensor(partitions)))
    _require_in_range(ids, int(num_partitions))
    return [base[ids == k] for k in builtins.range(int(num_partitions))]


@adapter
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """Merge rows in the order of their indices: the inverse of `dynamic_partition`."""
    places = [plain(x) for x in indices]
    base = matched("dynamic_stitch", *data)
    flat = np.concatenate([x.ravel() for x in places])
    inner = base[0].shape[places[0].ndim :]
    rows = np.concatenate(
        [np.reshape(x, (p.size, *inner)) for x, p in zip(base, places, strict=True)]
    )
    source = np.zeros(int(flat.max(initial=-1)) + 1, int)
    # A repeated index keeps its last row, as TensorFlow documents for dynamic_stitch.
    source[flat] = np.arange(flat.size)
    return rows[source]
