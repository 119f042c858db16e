"""Values taken out of a tensor at indices, put in at indices, and put together by indices."""

from __future__ import annotations

import builtins
import math
from itertools import pairwise
from typing import Any

import numpy as np

from tapemagic.engine.operations import gathering
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.tf.core.adapter import adapter, axes, lengths, plain
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
    """The slices of a tensor at indices along an axis; gradients are dense.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.gather([10.0, 20.0, 30.0], [2, 0]))
    tf.Tensor([30. 10.], shape=(2,), dtype=float32)
    """
    held, places, batch = tensor(params), plain(indices), int(batch_dims)
    batch += places.ndim if batch < 0 else 0
    along = batch if axis is None else axes(axis) % max(held.ndim, 1)
    if not batch:
        return gathering.gather(held, places, along)
    moved = np.moveaxis(held, along, batch)
    _inside(places, moved.shape[batch])
    grid = np.indices(places.shape, sparse=True)[:batch]
    found = moved[(*grid, places)]
    return np.moveaxis(
        found, list(range(batch, places.ndim)), list(range(along, along + places.ndim - batch))
    )


def _inside(places: Any, length: int) -> None:
    wrong = (places < 0) | (places >= length)
    if wrong.any():
        raise InvalidArgumentError(f"indices has {places[wrong][0]}, which is not in [0, {length})")


@adapter
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0, name: str | None = None) -> Any:
    """The elements, or slices, of a tensor at places, whose coordinates are the last axis of `indices`."""
    return gathering.gather_nd(tensor(params), plain(indices), int(batch_dims))


@adapter
def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros with `updates` added at places, whose coordinates are the last axis of `indices`.

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
    """The tensor with `updates` in the place of its elements, or slices, at `indices`; of several the last one.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.tensor_scatter_nd_update([1.0, 2.0, 3.0], [[1]], [9.0]))
    tf.Tensor([1. 9. 3.], shape=(3,), dtype=float32)
    """
    held, new = matched("tensor_scatter_nd_update", tensor, updates)
    places = plain(indices)
    depth = places.shape[-1]
    rows, outer = places.reshape(-1, depth), held.shape[:depth]
    for k in range(depth):
        _inside(rows[:, k], outer[k])
    source = np.full(outer, -1)
    source[tuple(rows.T)] = np.arange(len(rows))
    slices = np.reshape(new, (len(rows), *held.shape[depth:]))
    if not len(rows):
        return np.copy(held)
    taken = slices[np.maximum(source, 0)]
    hit = (source >= 0).reshape(outer + (1,) * (held.ndim - depth))
    return np.where(hit, taken, held)


def _added(called: str, held: Any, indices: Any, updates: Any, sign: int) -> Any:
    held, new = matched(called, held, updates)
    total = gathering.scatter_nd(plain(indices), new, held.shape)
    return held + total if sign > 0 else held - total


@adapter
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """The tensor with `updates` added to its elements, or slices, at `indices`."""
    return _added("tensor_scatter_nd_add", tensor, indices, updates, 1)


@adapter
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """The tensor with `updates` subtracted from its elements, or slices, at `indices`."""
    return _added("tensor_scatter_nd_sub", tensor, indices, updates, -1)


def _chosen(called: str, held: Any, indices: Any, updates: Any, of: Any) -> Any:
    """A tensor, with the largest or smallest of its elements, or slices, and the updates of each."""
    held, new = matched(called, held, updates)
    places = plain(indices)
    outer = held.shape[: places.shape[-1]]
    for k, length in enumerate(outer):
        _inside(places[..., k], length)
    ids = np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), outer).ravel()
    count, inner = math.prod(outer), held.shape[len(outer) :]
    rows = np.concatenate([np.reshape(held, (count, *inner)), np.reshape(new, (ids.size, *inner))])
    return np.reshape(
        _together(rows, np.concatenate([np.arange(count), ids]), count, False, of, _zero),
        held.shape,
    )


@adapter
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """The tensor with the larger ones of its elements, or slices, at `indices` and of `updates`."""
    return _chosen("tensor_scatter_nd_max", tensor, indices, updates, np.max)


@adapter
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """The tensor with the smaller ones of its elements, or slices, at `indices` and of `updates`."""
    return _chosen("tensor_scatter_nd_min", tensor, indices, updates, np.min)


@adapter
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Any:
    """The tensor with the first elements along an axis in the reverse order, as many as a length says for each row."""
    held, counts = tensor(input), plain(seq_lengths)
    moved = np.moveaxis(held, (int(batch_axis or 0), int(seq_axis or 0)), (0, 1))
    steps = np.arange(moved.shape[1])
    places = np.where(steps < counts[:, None], counts[:, None] - 1 - steps, steps)
    found = moved[np.arange(len(counts))[:, None], places]
    return np.moveaxis(found, (0, 1), (int(batch_axis or 0), int(seq_axis or 0)))


# -- segments: rows with the same id, put together ------------------------------------------------


def _segments(
    data: Any, segment_ids: Any, num_segments: Any, is_sorted: bool
) -> tuple[Any, list[Any]]:
    """The rows of a tensor, and the places of those of each segment."""
    held, ids = tensor(data), plain(segment_ids)
    if held.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(
            f"segment_ids has shape {ids.shape}, and data {held.shape}: give each row an id"
        )
    held, ids = np.reshape(held, (ids.size, *held.shape[ids.ndim :])), ids.ravel()
    if is_sorted and (np.any(np.diff(ids) < 0) or np.any(ids < 0)):
        raise InvalidArgumentError(
            "segment ids are not increasing: sort them, or use tf.math.unsorted_segment_sum"
        )
    count = int(ids.max(initial=-1)) + 1 if num_segments is None else int(num_segments)
    if np.any(ids >= count):
        raise InvalidArgumentError(f"segment_ids has {ids.max()}, which is not in [0, {count})")
    order = np.argsort(ids, kind="stable")
    ends = np.searchsorted(ids[order], np.arange(count + 1))
    return held, [order[a:b] for a, b in pairwise(ends)]


def _together(
    data: Any, segment_ids: Any, num_segments: Any, is_sorted: bool, of: Any, empty: Any
) -> Any:
    """The results of a function for the rows of each segment; for one without rows, a number."""
    held, segments = _segments(data, segment_ids, num_segments, is_sorted)
    fill = np.full(held.shape[1:], empty(held.dtype), held.dtype)
    if not segments:
        return np.zeros((0, *held.shape[1:]), held.dtype)
    kept = {"dtype": held.dtype} if held.dtype.kind in "iu" and of in {np.sum, np.prod} else {}
    return np.stack([of(held[rows], axis=0, **kept) if rows.size else fill for rows in segments])


def _limits(dtype: Any) -> Any:
    return np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)


def _zero(_dtype: Any) -> int:
    return 0


def _one(_dtype: Any) -> int:
    return 1


def _mean(x: Any, axis: int) -> Any:
    if x.dtype.kind in "iu":
        return np.trunc(np.sum(x, axis=axis) / len(x)).astype(x.dtype)
    return np.mean(x, axis=axis)


@adapter
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the rows with the same id; ids are in order.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.math.segment_sum([1.0, 2.0, 4.0], [0, 0, 1]))
    tf.Tensor([3. 4.], shape=(2,), dtype=float32)
    """
    return _together(data, segment_ids, None, True, np.sum, _zero)


@adapter
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The means of the rows with the same id; ids are in order."""
    return _together(data, segment_ids, None, True, _mean, _zero)


@adapter
def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The products of the rows with the same id; ids are in order."""
    return _together(data, segment_ids, None, True, np.prod, _one)


@adapter
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The largest elements of the rows with the same id; ids are in order."""
    return _together(data, segment_ids, None, True, np.max, _zero)


@adapter
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest elements of the rows with the same id; ids are in order."""
    return _together(data, segment_ids, None, True, np.min, _zero)


@adapter
def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows with the same id; rows with a negative one are left out."""
    return _together(data, segment_ids, num_segments, False, np.sum, _zero)


@adapter
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The means of the rows with the same id; of whole numbers, in float64."""
    held = tensor(data)
    data = np.astype(held, np.float64) if held.dtype.kind in "iu" else held
    return _together(data, segment_ids, num_segments, False, _mean, _zero)


@adapter
def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The products of the rows with the same id."""
    return _together(data, segment_ids, num_segments, False, np.prod, _one)


@adapter
def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The largest elements of the rows with the same id; of none, the smallest number of the dtype."""
    return _together(
        data, segment_ids, num_segments, False, np.max, lambda dtype: _limits(dtype).min
    )


@adapter
def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The smallest elements of the rows with the same id; of none, the largest number of the dtype."""
    return _together(
        data, segment_ids, num_segments, False, np.min, lambda dtype: _limits(dtype).max
    )


@adapter
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows with the same id, each divided by the square root of their number."""
    return _together(
        data,
        segment_ids,
        num_segments,
        False,
        lambda x, axis: np.sum(x, axis=axis) / np.sqrt(x.dtype.type(len(x))),
        _zero,
    )


@adapter
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """The rows of a tensor shared out: a list with a tensor for each number from 0."""
    held, ids = tensor(data), np.asarray(unwrap(tensor(partitions)))
    _inside(ids, int(num_partitions))
    return [held[ids == k] for k in builtins.range(int(num_partitions))]


@adapter
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """Rows put together in the order of their indices: what `dynamic_partition` has shared out."""
    places = [plain(x) for x in indices]
    held = matched("dynamic_stitch", *data)
    flat = np.concatenate([x.ravel() for x in places])
    inner = held[0].shape[places[0].ndim :]
    rows = np.concatenate(
        [np.reshape(x, (p.size, *inner)) for x, p in zip(held, places, strict=True)]
    )
    source = np.zeros(int(flat.max(initial=-1)) + 1, int)
    source[flat] = np.arange(flat.size)
    return rows[source]
