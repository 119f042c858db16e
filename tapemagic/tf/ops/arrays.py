"""Shapes, joining and ordering: tensors laid out in another way."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.adapter import adapter, axes, lengths, plain
from tapemagic.tf.core.convert import matched, operand, tensor
from tapemagic.tf.core.dtype import int32, numpy_dtype
from tapemagic.tf.errors import InvalidArgumentError


@adapter
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The elements laid out in another shape, of which one length may be -1.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.reshape(tf.range(4), (2, -1)))
    tf.Tensor(
    [[0 1]
     [2 3]], shape=(2, 2), dtype=int32)
    """
    return np.reshape(
        _tensor(tensor), lengths(shape) if np.ndim(_plain_shape(shape)) else int(shape)
    )


_tensor = tensor


def _plain_shape(shape: Any) -> Any:
    return (
        unwrap(shape)
        if isinstance(shape, Traced)
        else [0]
        if isinstance(shape, (list, tuple))
        else shape
    )


@adapter
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """The axes in the order of `perm`; in the reverse order if it is left out."""
    found = np.transpose(tensor(a), axes(perm))
    return np.conj(found) if conjugate and found.dtype.kind == "c" else found


@adapter
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with an axis of length 1 put in at `axis`."""
    return np.expand_dims(tensor(input), axes(axis))


@adapter
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """The tensor without its axes of length 1, or without those that are named."""
    named = axes(axis)
    return np.squeeze(tensor(input), named if named != () else None)


@adapter
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors joined along an axis that they have.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.concat([[1, 2], [3]], axis=0))
    tf.Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    parts = matched("concat", *_several(values, "concat"))
    return np.concatenate(parts, axis=axes(axis))


@adapter
def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Tensors of one shape joined along a new axis."""
    return np.stack(matched("stack", *_several(values, "stack")), axis=axes(axis))


def _several(values: Any, called: str) -> Any:
    """The tensors in a list, or the slices of a tensor along its first axis."""
    if isinstance(values, (Traced, np.ndarray)):
        return list(tensor(values)) if np.ndim(values) > 1 else [tensor(values)]
    if not isinstance(values, (list, tuple)) or not values:
        raise OptionError(f"{called} takes a list of tensors: write tf.{called}([x, y], axis=0)")
    return values


@adapter
def unstack(value: Any, num: int | None = None, axis: Any = 0, name: str = "unstack") -> Any:
    """The slices of a tensor along an axis, as a list."""
    held = np.moveaxis(tensor(value), axes(axis), 0)
    if num is not None and num != held.shape[0]:
        raise InvalidArgumentError(
            f"unstack was given num={num}, and the axis has length {held.shape[0]}"
        )
    return [held[k] for k in range(held.shape[0])]


@adapter
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> Any:
    """A tensor cut along an axis: into a number of equal parts, or into parts of the given lengths.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> [part.numpy() for part in tf.split(tf.range(4), [1, 3])]
    [array([0], dtype=int32), array([1, 2, 3], dtype=int32)]
    """
    held, axis = tensor(value), axes(axis)
    sizes = plain(num_or_size_splits)
    length = held.shape[axis]
    if not sizes.ndim:
        count = int(sizes)
        if count < 1 or length % count:
            raise InvalidArgumentError(
                f"split cannot cut an axis of length {length} into {count} equal parts: give the lengths of the parts"
            )
        return list(np.split(held, count, axis=axis))
    sizes = sizes.astype(int)
    if (sizes == -1).sum() == 1:
        sizes = np.where(sizes == -1, length - sizes.sum() - 1, sizes)
    if (sizes < 0).any() or sizes.sum() != length:
        raise InvalidArgumentError(
            f"split was given the lengths {sizes.tolist()} for an axis of length {length}"
        )
    return list(np.split(held, np.cumsum(sizes)[:-1].tolist(), axis=axis))


@adapter
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along each axis as often as `multiples` says."""
    held, counts = tensor(input), lengths(multiples)
    if len(counts) != held.ndim:
        raise InvalidArgumentError(
            f"tile takes a number for each axis, {held.ndim} in all, not {len(counts)}"
        )
    return np.tile(held, counts)


@adapter
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Each element, or each slice along an axis, repeated."""
    return np.repeat(tensor(input), plain(repeats), axis=axes(axis))


_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


@adapter
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Any:
    """The tensor with a rim: for each axis, the number of elements before it and behind it.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.pad([1.0, 2.0], [[1, 2]]))
    tf.Tensor([0. 1. 2. 0. 0.], shape=(5,), dtype=float32)
    """
    known: Any = _MODES.get(str(mode).upper())
    if known is None:
        raise OptionError(f"pad has the modes {', '.join(_MODES)}, not {mode!r}")
    held = _tensor(tensor)
    widths = [tuple(map(int, pair)) for pair in plain(paddings).reshape(-1, 2)]
    if len(widths) != held.ndim:
        raise InvalidArgumentError(
            f"pad takes a pair of numbers for each of {held.ndim} axes, not {len(widths)}"
        )
    if known == "constant":
        rim = False if held.dtype == bool and constant_values == 0 else constant_values
        return np.pad(held, widths, constant_values=operand(rim, held.dtype, "pad"))
    return np.pad(held, widths, mode=known)


@adapter
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with the elements in the reverse order along axes."""
    return np.flip(_tensor(tensor), axes(axis))


@adapter
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with its elements moved along axes; those that leave it at the end come in at the start."""
    return np.roll(tensor(input), axes(shift), axis=axes(axis))


@adapter
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor repeated to a shape, along new axes in front and along axes of length 1."""
    return np.broadcast_to(tensor(input), lengths(shape))


@adapter
def identity(input: Any, name: str | None = None) -> Any:
    """A tensor of its own with the same value, which tapes connect with the first."""
    return np.copy(tensor(input))


@adapter
def identity_n(input: Any, name: str | None = None) -> Any:
    """The tensors in a list, each by `identity`."""
    return [np.copy(tensor(x)) for x in input]


@adapter
def meshgrid(*args: Any, indexing: Any = "xy", name: str | None = None) -> Any:
    """The coordinates of the points of a grid, a tensor for each axis, as a list."""
    return list(np.meshgrid(*matched("meshgrid", *args), indexing=indexing))


@adapter
def shape(input: Any, out_type: Any = int32, name: str | None = None) -> Any:
    """The lengths of the axes, as a tensor."""
    return np.array(tensor(input).shape, numpy_dtype(out_type))


@adapter
def size(input: Any, out_type: Any = int32, name: str | None = None) -> Any:
    """The number of elements, as a tensor."""
    return numpy_dtype(out_type).type(tensor(input).size)


@adapter
def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes, as a tensor."""
    return np.int32(tensor(input).ndim)


@adapter
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor, if its shape is the given one, in which None stands for any length."""
    held = tensor(x)
    wanted = tuple(shape)
    if len(wanted) != held.ndim or any(
        b not in {None, a} for a, b in zip(held.shape, wanted, strict=True)
    ):
        raise InvalidArgumentError(
            f"Shape of tensor {held.shape} is not compatible with expected shape {wanted}"
        )
    return held


@adapter
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """A part of a tensor: for each axis, where it begins and how long it is, -1 for all that is left."""
    held, first, counts = tensor(input_), lengths(begin), lengths(size)
    if not len(first) == len(counts) == held.ndim:
        raise InvalidArgumentError(f"slice takes a begin and a size for each of {held.ndim} axes")
    ends = [n if c == -1 else b + c for b, c, n in zip(first, counts, held.shape, strict=True)]
    if any(not 0 <= b <= e <= n for b, e, n in zip(first, ends, held.shape, strict=True)):
        raise InvalidArgumentError(
            f"slice {first} of size {counts} is not inside a tensor of shape {held.shape}"
        )
    return held[tuple(map(builtins.slice, first, ends))]
