"""Selecting, sorting and counting elements: where, one_hot, sort, unique and similar."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.operations import selection
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.adapter import adapter, adapter_to_several, axes, lengths, plain
from tapemagic.tf.core.convert import common_dtype, matched, operand, tensor
from tapemagic.tf.core.dtype import bool as bool_
from tapemagic.tf.core.dtype import float32, int32, numpy_dtype
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked


def _condition(condition: Any) -> Any:
    """Return a condition as a boolean array."""
    elements = unwrap(tensor(condition))
    if elements.dtype.kind != "b":
        raise InvalidArgumentError(
            f"the condition must be boolean, not {elements.dtype}: compare, as in x > 0"
        )
    return elements


@adapter
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose `x` where a condition is true, else `y`; without both, return the true indices, one per row.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.where([True, False], [1.0, 2.0], 0.0))
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    if x is None and y is None:
        return np.argwhere(np.asarray(unwrap(tensor(condition))) != 0)
    if x is None or y is None:
        raise OptionError("tf.where takes both x and y, or neither of them")
    return np.where(_condition(condition), *matched("where", x, y))


@adapter
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Encode indices as rows with a single 1; an index out of range gives zeros.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.one_hot([0, 2], depth=3))
    tf.Tensor(
    [[1. 0. 0.]
     [0. 0. 1.]], shape=(2, 3), dtype=float32)
    """
    fill_values = [x for x in (on_value, off_value) if x is not None]
    otherwise = common_dtype(fill_values) if fill_values else float32.dtype
    target = otherwise if dtype is None else numpy_dtype(dtype)
    # By comparison, not by assignment: an index out of range, such as -1 for padding, equals no column and gives zeros.
    hot = np.expand_dims(plain(indices), -1) == np.arange(int(depth))
    on = target.type(1) if on_value is None else _number(on_value, target)
    off = target.type(0) if off_value is None else _number(off_value, target)
    result = np.where(hot, on, off)
    return result if axis in {None, -1} else np.moveaxis(result, -1, axes(axis))


def _number(value: Any, dtype: Any) -> Any:
    return tensor(operand(value, dtype, "one_hot"), dtype)


@adapter
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """Select elements, or slices starting at `axis`, where a mask is true.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.boolean_mask([1.0, 2.0, 3.0], [True, False, True]))
    tf.Tensor([1. 3.], shape=(2,), dtype=float32)
    """
    elements, chosen = _tensor(tensor), _condition(mask)
    first = 0 if axis is None else axes(axis) % max(elements.ndim, 1)
    if not chosen.ndim:
        raise InvalidArgumentError("boolean_mask takes a mask with one axis or more")
    if elements.shape[first : first + chosen.ndim] != chosen.shape:
        raise InvalidArgumentError(
            f"a mask of shape {chosen.shape} does not fit a tensor of shape {elements.shape}"
        )
    # The mask covers the axes that start at `first`; NumPy's boolean index flattens exactly these.
    return elements[(*(builtins.slice(None),) * first, chosen)]


_tensor = tensor


@adapter
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Clip elements to limits; the lower limit wins if the limits cross."""
    t, low, high = matched("clip_by_value", t, clip_value_min, clip_value_max)
    # np.clip lets the upper limit win, TensorFlow's max(min(t, high), low) the lower one.
    if np.any(unwrap(low) > unwrap(high)):
        high = np.maximum(high, low)
    return np.clip(t, low, high)


def _descending(direction: str, called: str) -> bool:
    if direction not in {"ASCENDING", "DESCENDING"}:
        raise OptionError(
            f"{called} has the directions ASCENDING and DESCENDING, not {direction!r}"
        )
    return direction == "DESCENDING"


@adapter
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Sort along an axis."""
    checked("sort", tensor(values), "iuf")
    if not _descending(direction, "sort"):
        return np.sort(tensor(values), axis=axes(axis))
    # Reversing an ascending sort would also reverse ties, and so the elements that receive the gradients.
    places = unwrap(argsort(values, axis, direction)).astype(np.intp)
    return np.take_along_axis(tensor(values), places, axes(axis))


@adapter
def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """Return the indices that sort along an axis; ties keep their order."""
    elements = checked("argsort", plain(values), "iuf")
    axis = axes(axis)
    if not _descending(direction, "argsort"):
        return np.argsort(elements, axis=axis, kind="stable").astype(np.int32)
    # Sorting the reversed array and reversing again keeps ties in their order.
    back = np.argsort(np.flip(elements, axis), axis=axis, kind="stable")
    return np.flip(elements.shape[axis] - 1 - back, axis).astype(np.int32)


@adapter_to_several
def top_k(
    input: Any, k: Any = 1, sorted: bool = True, index_type: Any = int32, name: str | None = None
) -> Any:
    """Return the `k` largest elements of each row and their indices.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.math.top_k([1.0, 5.0, 3.0], k=2).indices.numpy()
    array([1, 2], dtype=int32)
    """
    elements = checked("top_k", tensor(input), "iuf")
    result = selection.top_k(elements, int(k), sorted)
    return TopKV2(result.values, result.indices.astype(numpy_dtype(index_type), copy=False))


class TopKV2(NamedTuple):
    """Largest elements and their indices."""

    values: Any
    indices: Any


@adapter
def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Any:
    """Return True where a target's prediction is among the `k` largest of its row."""
    rows = plain(predictions)
    places = plain(targets)
    inside = (places >= 0) & (places < rows.shape[1])
    # A target out of range reads column 0, and is masked out below.
    of = np.take_along_axis(rows, np.where(inside, places, 0)[:, None], 1)
    # Strictly greater, so that all classes which tie with the k-th count as in the top k, as TensorFlow documents; a
    # row that is not finite has no top.
    return inside & np.isfinite(of[:, 0]) & ((rows > of).sum(1) < int(k)) & np.isfinite(rows).all(1)


class Unique(NamedTuple):
    """Unique elements in order of first occurrence, and for each element its index in `y`."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """Unique elements, their indices and their counts."""

    y: Any
    idx: Any
    count: Any


def _unique(x: Any, out_idx: Any) -> tuple[Any, Any, Any]:
    elements = tensor(x)
    if elements.ndim != 1:
        raise InvalidArgumentError(
            f"unique expects a 1D vector, not a tensor of shape {elements.shape}"
        )
    # equal_nan=False: TensorFlow's hash table never finds a nan again, so each one is unique.
    _, first, places, counts = np.unique(
        np.asarray(unwrap(elements)),
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
    )
    # np.unique sorts by value; TensorFlow keeps the order of first occurrence.
    order = np.argsort(first)
    rank = np.argsort(order)
    dtype = numpy_dtype(out_idx)
    return elements[first[order]], rank[places].astype(dtype), counts[order].astype(dtype)


@adapter_to_several
def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """Return the unique elements in order of first occurrence, and for each element its index in the result.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> y, places = tf.unique([5, 7, 5])
    >>> y.numpy(), places.numpy()
    (array([5, 7], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    return Unique(*_unique(x, out_idx)[:2])


@adapter_to_several
def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """Return the unique elements, for each element its index in the result, and the counts."""
    return UniqueWithCounts(*_unique(x, out_idx))


@adapter
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = int32,
    name: str | None = None,
) -> Any:
    """Return the indices at which values would be inserted into sorted rows."""
    rows, sought = (np.asarray(unwrap(x)) for x in matched("searchsorted", sorted_sequence, values))
    flat = rows.reshape(-1, rows.shape[-1])
    # One row of values for each sorted row: np.searchsorted takes a single sorted sequence.
    target = sought.reshape(len(flat), -1) if flat.size or sought.size else sought
    result = [np.searchsorted(row, of, side) for row, of in zip(flat, target, strict=True)]  # type: ignore[call-overload]
    return np.array(result, numpy_dtype(out_type)).reshape(sought.shape)


@adapter
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None
) -> Any:
    """Create rows that are True up to a length each."""
    counts = plain(lengths)
    longest = int(counts.max(initial=0)) if maxlen is None else int(maxlen)
    return (np.arange(longest) < counts[..., None]).astype(numpy_dtype(dtype))


@adapter
def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> Any:
    """Count values in `nbins` equal bins of a range; the outer bins also count values outside."""
    low, high = (float(x) for x in np.asarray(unwrap(tensor(value_range))))
    count = int(nbins)
    with np.errstate(invalid="ignore"):
        scaled = (np.asarray(unwrap(tensor(values)), float).ravel() - low) / (high - low) * count
    places = np.clip(np.floor(scaled), 0, count - 1).astype(int)
    return np.bincount(places, minlength=count).astype(numpy_dtype(dtype))


@adapter
def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Return True if no element is smaller than its predecessor."""
    elements = np.ravel(unwrap(tensor(x)))
    return np.all(elements[1:] >= elements[:-1])


@adapter
def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Return True if every element is larger than its predecessor."""
    elements = np.ravel(unwrap(tensor(x)))
    return np.all(elements[1:] > elements[:-1])


@adapter
def invert_permutation(x: Any, name: str | None = None) -> Any:
    """Invert a permutation."""
    order = plain(x)
    # np.argsort would return something for any numbers.
    if sorted(order.tolist()) != list(builtins.range(order.size)):
        raise InvalidArgumentError(f"{order.tolist()} isn't a permutation of 0 to {order.size - 1}")
    return np.argsort(order).astype(order.dtype)


@adapter
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Any:
    """Convert flat indices to coordinates, one row per axis."""
    places = plain(indices)
    return np.array(np.unravel_index(places, lengths(dims)), places.dtype)
