"""Shape manipulation: reshaping, joining, splitting and reordering tensors."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import OptionError, UnsupportedArgumentError
from tapemagic.tf.core.adapter import adapter, adapter_to_several, axes, lengths, plain
from tapemagic.tf.core.convert import matched, operand, tensor
from tapemagic.tf.core.dtype import int32, numpy_dtype
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.errors import InvalidArgumentError


@adapter
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Reshape a tensor; one length may be -1.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.reshape(tf.range(4), (2, -1)))
    tf.Tensor(
    [[0 1]
     [2 3]], shape=(2, 2), dtype=int32)
    """
    # tf.reshape(x, -1) takes a single number as well as a list.
    return np.reshape(
        _tensor(tensor), lengths(shape) if np.ndim(_plain_shape(shape)) else int(shape)
    )


# TensorFlow names a parameter `tensor`, which hides the function.
_tensor = tensor


def _plain_shape(shape: Any) -> Any:
    return (
        unwrap(shape)
        if isinstance(shape, Traced)
        else [0]
        if isinstance(shape, (list, tuple, TensorShape))
        else shape
    )


@adapter
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """Permute the axes by `perm`; reverse them by default."""
    result = np.transpose(tensor(a), axes(perm))
    # np.conj of real numbers would only copy, and add a record to the tape.
    return np.conj(result) if conjugate and result.dtype.kind == "c" else result


@adapter
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Insert an axis of length 1 at `axis`."""
    return np.expand_dims(tensor(input), axes(axis))


@adapter
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Remove axes of length 1: those in `axis`, by default all."""
    named = axes(axis)
    # An empty list is TensorFlow's default, and means all axes; NumPy's axis=() means none.
    return np.squeeze(tensor(input), named if named != () else None)


@adapter
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Join tensors along an existing axis.

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
    """Join tensors of one shape along a new axis."""
    return np.stack(matched("stack", *_several(values, "stack")), axis=axes(axis))


def _several(values: Any, called: str) -> Any:
    """Return the tensors of a list, or the slices of a tensor along its first axis."""
    if isinstance(values, (Traced, np.ndarray)):
        # A tensor instead of a list counts as the list of its slices.
        return list(tensor(values)) if np.ndim(values) > 1 else [tensor(values)]
    if not isinstance(values, (list, tuple)) or not values:
        raise OptionError(f"{called} takes a list of tensors: write tf.{called}([x, y], axis=0)")
    return values


@adapter_to_several
def unstack(value: Any, num: int | None = None, axis: Any = 0, name: str = "unstack") -> Any:
    """List the slices of a tensor along an axis."""
    # Not np.unstack, which is new in NumPy 2.1.
    x_tensor = np.moveaxis(tensor(value), axes(axis), 0)
    if num is not None and num != x_tensor.shape[0]:
        raise InvalidArgumentError(
            f"unstack received num={num}, and the axis has length {x_tensor.shape[0]}"
        )
    return [x_tensor[k] for k in range(x_tensor.shape[0])]


@adapter_to_several
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> Any:
    """Split a tensor along an axis, into a number of equal parts or into parts of given lengths.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> [part.numpy() for part in tf.split(tf.range(4), [1, 3])]
    [array([0], dtype=int32), array([1, 2, 3], dtype=int32)]
    """
    x_tensor, axis = tensor(value), axes(axis)
    sizes = plain(num_or_size_splits)
    length = x_tensor.shape[axis]
    if not sizes.ndim:
        count = int(sizes)
        # np.split raises an error that does not name the length of the axis.
        if count < 1 or length % count:
            raise InvalidArgumentError(
                f"split cannot cut an axis of length {length} into {count} equal parts: give the lengths of the parts"
            )
        return list(np.split(x_tensor, count, axis=axis))
    sizes = sizes.astype(int)
    # One length may be -1, for the rest. The sum still contains that -1, hence the - 1.
    if (sizes == -1).sum() == 1:
        sizes = np.where(sizes == -1, length - sizes.sum() - 1, sizes)
    if (sizes < 0).any() or sizes.sum() != length:
        raise InvalidArgumentError(
            f"split received the lengths {sizes.tolist()} for an axis of length {length}"
        )
    return list(np.split(x_tensor, np.cumsum(sizes)[:-1].tolist(), axis=axis))


@adapter
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeat the tensor `multiples` times along each axis."""
    x_tensor, counts = tensor(input), lengths(multiples)
    # NumPy would add axes, or repeat the last ones; TensorFlow wants a number for each axis.
    if len(counts) != x_tensor.ndim:
        raise InvalidArgumentError(
            f"tile takes a number for each axis, {x_tensor.ndim} in all, not {len(counts)}"
        )
    return np.tile(x_tensor, counts)


@adapter
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Repeat each element, or each slice along an axis."""
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
    """Pad a tensor: for each axis, the number of elements before and after.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.pad([1.0, 2.0], [[1, 2]]))
    tf.Tensor([0. 1. 2. 0. 0.], shape=(5,), dtype=float32)
    """
    numpy_mode: Any = _MODES.get(str(mode).upper())
    if numpy_mode is None:
        raise OptionError(f"pad has the modes {', '.join(_MODES)}, not {mode!r}")
    x_tensor = _tensor(tensor)
    widths = [tuple(map(int, pair)) for pair in plain(paddings).reshape(-1, 2)]
    if len(widths) != x_tensor.ndim:
        raise InvalidArgumentError(
            f"pad takes a pair of numbers for each of {x_tensor.ndim} axes, not {len(widths)}"
        )
    if numpy_mode == "constant":
        # TensorFlow's default 0 is an int32 constant; for booleans it means False.
        rim = False if x_tensor.dtype == bool and constant_values == 0 else constant_values
        return np.pad(x_tensor, widths, constant_values=operand(rim, x_tensor.dtype, "pad"))
    # NumPy would reflect again and again; TensorFlow has each element at most once on each side.
    reflected = 1 if numpy_mode == "reflect" else 0
    for width, length in zip(widths, x_tensor.shape, strict=True):
        if max(width) > max(length - reflected, 0):
            raise InvalidArgumentError(
                f"pad with mode={mode!r} adds at most {max(length - reflected, 0)} elements on each side of an axis of "
                f"length {length}, not {width}"
            )
    return np.pad(x_tensor, widths, mode=numpy_mode)


@adapter
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Reverse the order of the elements along axes."""
    return np.flip(_tensor(tensor), axes(axis))


@adapter
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Shift the elements along axes, wrapping around at the ends."""
    return np.roll(tensor(input), axes(shift), axis=axes(axis))


@adapter
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Broadcast a tensor to a shape."""
    return np.broadcast_to(tensor(input), lengths(shape))


@adapter
def identity(input: Any, name: str | None = None) -> Any:
    """Copy a tensor; tapes connect the copy with the original."""
    # A copy, so that gradients with respect to it differ from those of the original.
    return np.copy(tensor(input))


@adapter_to_several
def identity_n(input: Any, name: str | None = None) -> Any:
    """Copy each tensor of a list, as `identity` does."""
    return [np.copy(tensor(x)) for x in input]


@adapter_to_several
def meshgrid(*args: Any, indexing: Any = "xy", name: str | None = None) -> Any:
    """Return the coordinates of the points of a grid, one tensor per axis."""
    return list(np.meshgrid(*matched("meshgrid", *args), indexing=indexing))


@adapter
def shape(input: Any, out_type: Any = int32, name: str | None = None) -> Any:
    """Return the shape as a tensor."""
    # int32 by default, TensorFlow's dtype for shapes; NumPy's would be int64.
    return np.array(tensor(input).shape, numpy_dtype(out_type))


@adapter
def size(input: Any, out_type: Any = int32, name: str | None = None) -> Any:
    """Return the number of elements as a tensor."""
    return numpy_dtype(out_type).type(tensor(input).size)


@adapter
def rank(input: Any, name: str | None = None) -> Any:
    """Return the number of axes as a tensor."""
    return np.int32(tensor(input).ndim)


@adapter
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Return the tensor if its shape matches; None matches any length."""
    x_tensor = tensor(x)
    expected = tuple(shape)
    if len(expected) != x_tensor.ndim or any(
        b not in {None, a} for a, b in zip(x_tensor.shape, expected, strict=True)
    ):
        raise InvalidArgumentError(
            f"Shape of tensor {x_tensor.shape} is not compatible with expected shape {expected}"
        )
    return x_tensor


@adapter
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Extract a slice: for each axis, its start and its length; -1 means up to the end."""
    x_tensor, first, counts = tensor(input_), lengths(begin), lengths(size)
    if not len(first) == len(counts) == x_tensor.ndim:
        raise InvalidArgumentError(
            f"slice takes a begin and a size for each of {x_tensor.ndim} axes"
        )
    # Sizes, not ends: tf.slice(x, [1], [2]) is x[1:3].
    ends = [n if c == -1 else b + c for b, c, n in zip(first, counts, x_tensor.shape, strict=True)]
    # Python clips slices silently; TensorFlow raises an error.
    if any(not 0 <= b <= e <= n for b, e, n in zip(first, ends, x_tensor.shape, strict=True)):
        raise InvalidArgumentError(
            f"slice {first} of size {counts} is not inside a tensor of shape {x_tensor.shape}"
        )
    return x_tensor[tuple(map(builtins.slice, first, ends))]


@adapter
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """Extract ``x[begin:end:strides]`` along each axis.

    Bit number i of a mask belongs to entry i: `begin_mask` and `end_mask` ignore its begin or end, `ellipsis_mask`
    makes it ``...``, `new_axis_mask` a new axis, and `shrink_axis_mask` takes the element at its begin.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.strided_slice(tf.range(6), [1], [6], [2])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 5], dtype=int32)>
    """
    if var is not None:
        raise UnsupportedArgumentError("strided_slice takes no var=: write x[1:3].assign(value)")
    first, last = lengths(begin), lengths(end)
    steps = (1,) * len(first) if strides is None else lengths(strides)
    if not len(first) == len(last) == len(steps) or 0 in steps:
        raise InvalidArgumentError(
            f"strided_slice takes a begin, an end and a stride other than 0 for each axis, and got {first}, {last} and "
            f"{steps}"
        )
    index: list[Any] = []
    for i, (b, e, step) in enumerate(zip(first, last, steps, strict=True)):
        bit = 1 << i
        # The order of precedence is TensorFlow's.
        if ellipsis_mask & bit:
            index.append(...)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(b)
        else:
            index.append(
                builtins.slice(None if begin_mask & bit else b, None if end_mask & bit else e, step)
            )
    return tensor(input_)[tuple(index)]
