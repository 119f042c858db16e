"""Reductions and cumulative functions: ``tf.reduce_*`` and similar."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations import exponentials
from tapemagic.engine.tensor.precision import precise_sum
from tapemagic.errors import OptionError
from tapemagic.tf.core.adapter import adapter, axes, plain
from tapemagic.tf.core.convert import is_python, matched, tensor
from tapemagic.tf.core.dtype import as_dtype, int64, numpy_dtype
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked

_NUMBERS = "iufc"


def summed(x: Any, axis: Any, keepdims: Any = False) -> Any:
    """Sum in the dtype of the elements."""
    if x.dtype.kind in "iu":
        # NumPy widens sums of int32 to int64; TensorFlow keeps int32 and wraps around.
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    inside = None if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    # In double precision for float32, because a running sum of many float32 terms loses digits or stagnates.
    return precise_sum(x, inside, bool(keepdims))


@adapter
def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Sum along axes, by default all.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.reduce_sum([[1, 2], [3, 4]], axis=0))
    tf.Tensor([4 6], shape=(2,), dtype=int32)
    """
    return summed(checked("reduce_sum", tensor(input_tensor), _NUMBERS), axes(axis), keepdims)


@adapter
def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Average along axes; for integers, rounded towards zero as in TensorFlow.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.reduce_mean([1.0, 2.0, 6.0]))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    x = checked("reduce_mean", tensor(input_tensor), _NUMBERS)
    if x.dtype.kind in "iu":
        # In int64 or uint64, NumPy's dtypes for sums, so that the sum doesn't overflow before the division.
        total = np.sum(x, axis=axes(axis), keepdims=keepdims)
        count = max(x.size // max(total.size, 1), 1)
        # // rounds down, so -3 // 2 is -2; on the absolute value it rounds towards zero, as C++ and TensorFlow do.
        return (np.sign(total) * (np.abs(total) // count)).astype(x.dtype)
    return np.mean(x, axis=axes(axis), keepdims=keepdims)


@adapter
def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Multiply along axes."""
    x = checked("reduce_prod", tensor(input_tensor), _NUMBERS)
    options = {"dtype": x.dtype} if x.dtype.kind in "iu" else {}
    return np.prod(x, axis=axes(axis), keepdims=keepdims, **options)


def _extreme(x: Any, axis: Any, keepdims: Any, of: Any, none: Any) -> Any:
    """Reduce to the largest or smallest element; without elements, the opposite limit of the dtype."""
    axis = axes(axis)
    if not x.size:
        # The neutral element of the reduction: TensorFlow returns -inf for the maximum of nothing, NumPy raises an
        # error.
        limits = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
        return of(x, axis=axis, keepdims=keepdims, initial=none(limits))
    return of(x, axis=axis, keepdims=keepdims)


@adapter
def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Take the maximum along axes; tied elements share the gradient."""
    x = checked("reduce_max", tensor(input_tensor), "iuf")
    return _extreme(x, axis, keepdims, np.max, lambda limits: limits.min if limits else -np.inf)


@adapter
def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Take the minimum along axes; tied elements share the gradient."""
    x = checked("reduce_min", tensor(input_tensor), "iuf")
    return _extreme(x, axis, keepdims, np.min, lambda limits: limits.max if limits else np.inf)


def _truths(called: str, x: Any) -> Any:
    """Check for booleans; an empty list counts as boolean."""
    elements = tensor(x)
    # An empty list has the default dtype float32, which `checked` would refuse.
    if not elements.size and is_python(x):
        return np.zeros(elements.shape, bool)
    return checked(called, elements, "b")


@adapter
def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return True where every element along axes is true."""
    return np.all(_truths("reduce_all", input_tensor), axis=axes(axis), keepdims=keepdims)


@adapter
def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return True where any element along axes is true."""
    return np.any(_truths("reduce_any", input_tensor), axis=axes(axis), keepdims=keepdims)


@adapter
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Compute the variance along axes."""
    x = checked("reduce_variance", tensor(input_tensor), "fc")
    return np.var(x, axis=axes(axis), keepdims=keepdims)


@adapter
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Compute the standard deviation along axes.

    At 0 the gradient is 0 (in TensorFlow nan), and higher derivatives are nan; `reduce_variance` has all of them.
    """
    x = checked("reduce_std", tensor(input_tensor), "fc")
    return np.std(x, axis=axes(axis), keepdims=keepdims)


@adapter
def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Compute log(sum(exp(x))) along axes without overflow."""
    x = checked("reduce_logsumexp", tensor(input_tensor), "f")
    return exponentials.logsumexp(x, axis=axes(axis), keepdims=keepdims)


@adapter
def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Compute the Euclidean norm along axes.

    At 0 the gradient is 0 (in TensorFlow nan), and higher derivatives are nan; a sum of squares has all of them.
    """
    x = checked("reduce_euclidean_norm", tensor(input_tensor), "fc")
    result = np.linalg.vector_norm(x, axis=axes(axis), keepdims=keepdims)
    # NumPy's norm is real; TensorFlow returns the dtype of the input.
    return np.astype(result, x.dtype) if x.dtype.kind == "c" else result


@adapter
def count_nonzero(
    input: Any, axis: Any = None, keepdims: Any = None, dtype: Any = int64, name: str | None = None
) -> Any:
    """Count nonzero elements along axes."""
    # nan counts as nonzero: it is not equal to 0.
    nonzero = plain(input) != 0
    return np.sum(nonzero, axis=axes(axis), keepdims=bool(keepdims), dtype=numpy_dtype(dtype))


@adapter
def zero_fraction(value: Any, name: str | None = None) -> Any:
    """Return the fraction of zero elements, in float32."""
    return np.mean(plain(value) == 0, dtype=np.float32)


def _place(of: Any, input: Any, axis: Any, output_type: Any) -> Any:
    x = plain(input)
    if x.dtype.kind == "f":
        # NumPy would return the place of the first nan.
        x = np.where(np.isnan(x), -np.inf if of is np.argmax else np.inf, x)
    # The default is the first axis; NumPy would search the flattened array.
    result = of(x, axis=0 if axis is None else axes(axis))
    return result.astype(numpy_dtype(output_type), copy=False)


@adapter
def argmax(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> Any:
    """Return the index of the largest element along an axis (default: the first); nan is ignored.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.argmax([2.0, 20.0, 3.0]))
    tf.Tensor(1, shape=(), dtype=int64)
    """
    return _place(np.argmax, input, axis, output_type)


@adapter
def argmin(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> Any:
    """Return the index of the smallest element along an axis (default: the first); nan is ignored."""
    return _place(np.argmin, input, axis, output_type)


def _accumulated(of: Any, x: Any, axis: Any, exclusive: bool, reverse: bool, first: Any) -> Any:
    """Accumulate along an axis: from its end if `reverse`, without the element itself if `exclusive`."""
    x = checked(of.__name__, tensor(x), _NUMBERS)
    axis = axes(axis)
    # Before % below, which would map every number to some axis.
    if not -x.ndim <= axis < x.ndim:
        raise InvalidArgumentError(f"axis {axis} is not there in a tensor of shape {x.shape}")
    axis %= x.ndim
    x = np.flip(x, axis) if reverse else x
    options = {"dtype": x.dtype} if x.dtype.kind in "iu" else {}
    result = of(x, axis=axis, **options)
    if exclusive:
        # Shifted by one, with the neutral element in front: 0 for sums, 1 for products.
        before = (*(slice(None),) * axis, slice(0, -1))
        start = np.full(
            (*x.shape[:axis], min(x.shape[axis], 1), *x.shape[axis + 1 :]), first, x.dtype
        )
        result = np.concatenate([start, result[before]], axis=axis)
    return np.flip(result, axis) if reverse else result


@adapter
def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Compute cumulative sums along an axis."""
    return _accumulated(np.cumsum, x, axis, exclusive, reverse, 0)


@adapter
def cumprod(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Compute cumulative products along an axis; gradients are exact even with zeros."""
    return _accumulated(np.cumprod, x, axis, exclusive, reverse, 1)


@adapter
def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Compute log(cumsum(exp(x))) along an axis."""
    x = checked("cumulative_logsumexp", tensor(x), "f")
    axis = axes(axis) % x.ndim
    x = np.flip(x, axis) if reverse else x
    ahead = (slice(None),) * axis
    # Doubling (Hillis and Steele 1986): log2(n) whole-array steps instead of n, each free of overflow.
    smooth, reach = x, 1
    while reach < x.shape[axis]:
        start, rest = smooth[*ahead, :reach], smooth[*ahead, reach:]
        smooth = np.concatenate([start, np.logaddexp(rest, smooth[*ahead, :-reach])], axis=axis)
        reach *= 2
    if exclusive:
        before = (*ahead, slice(0, -1))
        start = np.full(
            (*x.shape[:axis], min(x.shape[axis], 1), *x.shape[axis + 1 :]), -np.inf, x.dtype
        )
        smooth = np.concatenate([start, smooth[before]], axis=axis)
    return np.flip(smooth, axis) if reverse else smooth


@adapter
def add_n(inputs: Any, name: str | None = None) -> Any:
    """Add tensors of one shape.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.add_n([tf.constant(1.0), tf.constant(2.0), tf.constant(3.0)]))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """
    parts = matched("add_n", *_several(inputs))
    if any(x.shape != parts[0].shape for x in parts):
        raise InvalidArgumentError(
            f"add_n takes tensors of one shape, not {', '.join(str(x.shape) for x in parts)}: use + to broadcast"
        )
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    # A copy for a single tensor: the sum is a new value, distinct from its only term.
    return total if len(parts) > 1 else np.copy(total)


accumulate_n = add_n


def _several(inputs: Any) -> Any:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise InvalidArgumentError(
            "add_n takes a list of one tensor or more: write tf.add_n([x, y])"
        )
    return inputs


@adapter
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """Count each integer from 0, or sum the weights of its occurrences, for `minlength` to `maxlength` integers.

    With ``axis=-1``, each row of a matrix is counted on its own. `binary_output` marks the integers that occur with 1.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.math.bincount([[1, 2, 1], [0, 3, 3]], axis=-1))
    tf.Tensor(
    [[0 2 1 0]
     [1 0 0 2]], shape=(2, 4), dtype=int32)
    """
    if axis not in {None, 0, -1}:
        raise OptionError(f"bincount takes axis=0, which counts all elements, or -1, not {axis!r}")
    if weights is not None and binary_output:
        raise OptionError("bincount takes either weights or binary_output=True, not both")
    places = plain(arr)
    # TensorFlow truncates floats, which an empty list is as well.
    places = places if places.dtype.kind in "iu" else places.astype(np.int32)
    if axis == -1 and places.ndim > 2:
        raise InvalidArgumentError(
            f"bincount with axis=-1 takes at most a matrix, not shape {places.shape}: write tf.reshape(arr, (-1, "
            f"{places.shape[-1]}))"
        )
    if places.min(initial=0) < 0:
        raise InvalidArgumentError(f"bincount counts integers from 0, not {places.min()}")
    length = max(int(places.max(initial=-1)) + 1, int(minlength or 0))
    if maxlength is not None:
        if int(maxlength) < 0:
            raise InvalidArgumentError(f"bincount takes a maxlength of at least 0, not {maxlength}")
        length = min(length, int(maxlength))
    # TensorFlow ignores numbers from maxlength on; NumPy has no such limit.
    inside = places < length
    rows = places.shape[:1] if axis == -1 and places.ndim == 2 else ()
    if rows:
        # Each row counts in a separate range.
        places = places + length * np.arange(rows[0])[:, None]
    shape, size = (*rows, length), length * int(np.prod(rows))
    if weights is None:
        counts = np.bincount(places[inside], minlength=size).reshape(shape)
        return (counts > 0 if binary_output else counts).astype(numpy_dtype(dtype))
    elements = tensor(weights)
    if elements.shape != places.shape and (rows or elements.size != places.size):
        raise InvalidArgumentError(
            f"bincount takes a weight for each element: arr has shape {places.shape}, and weights {elements.shape}"
        )
    counted = np.reshape(elements, places.shape)[inside]
    totals = np.bincount(places[inside], counted, minlength=size)
    return np.reshape(totals, shape).astype(elements.dtype)


@adapter
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = "int32",
    name: str | None = None,
) -> Any:
    """Count examples by label (rows) and prediction (columns)."""
    rows, columns = np.asarray(tensor(labels)), np.asarray(tensor(predictions))
    largest = max([*rows.ravel(), *columns.ravel()], default=-1) + 1
    count = int(largest if num_classes is None else num_classes)
    if largest > count:
        raise InvalidArgumentError(
            f"a label or prediction is {largest - 1}, and num_classes is {count}"
        )
    result = np.zeros((count, count), as_dtype(dtype).dtype)
    # add.at, since result[rows, columns] += 1 counts a repeated pair once.
    np.add.at(
        result,
        (rows.astype(int), columns.astype(int)),
        1 if weights is None else np.asarray(tensor(weights)),
    )
    return result
