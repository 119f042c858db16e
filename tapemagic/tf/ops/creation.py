"""Create tensors, from values, filled or evenly spaced, and cast tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.functions.custom_gradient import custom_gradient
from tapemagic.engine.tensor.constant import constant as engine_constant
from tapemagic.engine.tensor.tensor import Traced, unwrap, wrap
from tapemagic.errors import DtypeError
from tapemagic.tf.core.adapter import adapter, axes, lengths
from tapemagic.tf.core.convert import PYTHON_NUMBERS, array, matched, tensor
from tapemagic.tf.core.dtype import DType, as_dtype, float32, numpy_dtype
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.core.text import StringTensor, is_text, string, string_array
from tapemagic.tf.errors import InvalidArgumentError


@adapter
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Create a tensor.

    Parameters
    ----------
    value : array_like
        Numbers, nested lists of numbers, or an array, which is copied.
    dtype : dtype, optional
        Default: float32 or int32 for Python numbers, and the array's own dtype for arrays.
    shape : sequence of int, optional
        A single number fills this shape; other values are reshaped to it.
    name : str, optional
        Not used.

    Returns
    -------
    EagerTensor

    Raises
    ------
    DtypeError, NotNumbersError, InvalidArgumentError
        If the value does not fit `dtype` or `shape`, or does not consist of numbers.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.constant([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>
    """
    # A string is looked for only where it may be: numbers and arrays of numbers are the usual case.
    if isinstance(value, str | bytes | list | tuple | np.ndarray) and is_text(value):
        return _text(value, dtype, shape)
    if shape is None:
        return _same(value, dtype)
    result = tensor(value, dtype)
    shape = lengths(shape)
    if result.size == 1:
        # TensorFlow 2 fills a shape only with a single element; TensorFlow 1 repeated the last one.
        return np.broadcast_to(np.reshape(result, ()), shape)
    if result.size != np.prod(shape):
        raise InvalidArgumentError(
            f"tf.constant received {result.size} elements for the shape {shape}: pass as many as it holds, or one"
        )
    return np.reshape(result, shape)


@adapter
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Any:
    """Convert a value to a tensor; return a tensor itself, and a variable's current value.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.constant(1.0)
    >>> tf.convert_to_tensor([x, 2.0 * x])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    # A hint, unlike a dtype, is only tried.
    if dtype is None and dtype_hint is not None and not isinstance(value, Traced):
        try:
            return tensor(value, dtype_hint)
        except (TypeError, ValueError):
            return tensor(value)
    return _same(value, dtype)


def _text(value: Any, dtype: Any, shape: Any = None) -> StringTensor:
    """Return a tensor of strings, or raise DtypeError if `dtype` is that of numbers."""
    if dtype is not None and dtype != string:
        raise DtypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype {as_dtype(dtype).name}: write float(text) for a number"
        )
    array = string_array(value)
    return StringTensor(array if shape is None else np.broadcast_to(array, lengths(shape)))


def _same(value: Any, dtype: Any) -> Any:
    """Convert a value to a tensor; check an EagerTensor and return it unchanged."""
    if isinstance(value, StringTensor | str | bytes):
        return _text(value, dtype)
    if isinstance(value, Traced):
        checked = tensor(value, dtype)
        return (
            value.read_value()
            if hasattr(value, "read_value")
            else value
            if eager(value) is value
            else checked
        )
    return tensor(value, dtype)


@adapter
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Cast to another dtype: fractions are truncated, imaginary parts dropped.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.cast([1.8, -2.2], tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -2], dtype=int32)>
    """
    target = numpy_dtype(dtype)
    x_tensor = tensor(x)
    # Itself, not a copy: a cast that does nothing must not appear on the tape.
    if x_tensor.dtype == target:
        return _same(x, None)
    # np.astype would warn about the imaginary part, which TensorFlow drops silently.
    if x_tensor.dtype.kind == "c" != target.kind:
        x_tensor = np.real(x_tensor)
    if target.kind in "iu" and x_tensor.dtype.kind == "f":
        # nan and numbers out of range have no integer: the result depends on the platform, in TensorFlow as well, and
        # NumPy warns of it.
        with np.errstate(invalid="ignore"):
            return np.astype(x_tensor, target)
    with np.errstate(over="ignore"):
        return np.astype(x_tensor, target)


@adapter
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """Cast to another dtype, clipping to its limits.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.saturate_cast([-1.0, 300.0], tf.uint8)
    <tf.Tensor: shape=(2,), dtype=uint8, numpy=array([  0, 255], dtype=uint8)>
    """
    target, x_tensor = as_dtype(dtype), tensor(value)
    if x_tensor.dtype.kind == "c" and target.kind != "c":
        x_tensor = np.real(x_tensor)
    if target.kind in "iuf" and x_tensor.dtype.kind in "iuf":
        # Clipped in the dtype of the values, before the cast: a cast wraps 300 around to 44 in uint8.
        low, high = target.limits
        own = as_dtype(x_tensor.dtype)
        if own.is_floating and target.is_integer:
            with np.errstate(over="ignore"):
                rounded = x_tensor.dtype.type(high)
            # The largest int64 rounds up to 2**63 in float64, which does not fit: take the float below.
            if high < float(rounded) < np.inf:
                high = np.nextafter(rounded, x_tensor.dtype.type(0))
        x_tensor = np.clip(x_tensor, max(low, own.min), min(high, own.max))
    return cast(x_tensor, target)


@adapter
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Build complex numbers from real and imaginary parts."""
    real, imag = matched("complex", real, imag)
    wide = np.dtype(np.complex64 if real.dtype == np.float32 else np.complex128)
    # The sum of products keeps both parts on the tape by ordinary rules; only infinite parts need `_joined`.
    if np.all(np.isfinite(unwrap(imag))):
        return np.astype(real, wide) + np.astype(imag, wide) * wide.type(1j)
    return _joined(*np.broadcast_arrays(real, imag))


@custom_gradient
def _joined(real: Any, imag: Any) -> Any:
    """Join parts that may be infinite: inf * 1j would have nan as its real part."""
    result = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    result.real, result.imag = unwrap(real), unwrap(imag)
    return engine_constant(result), lambda g: (np.real(g), np.imag(g))


def _filled(shape: Any, value: Any, dtype: Any) -> Any:
    return wrap(np.full(lengths(shape), value, numpy_dtype(dtype))[()])


@adapter
def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """Create a tensor of zeros.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.zeros(2)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    return _filled(shape, 0, dtype)


@adapter
def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """Create a tensor filled with 1."""
    return _filled(shape, 1, dtype)


@adapter
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Create zeros with a tensor's shape and dtype."""
    x_tensor = tensor(input)
    return _filled(x_tensor.shape, 0, x_tensor.dtype if dtype is None else dtype)


@adapter
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Create ones with a tensor's shape and dtype."""
    x_tensor = tensor(input)
    return _filled(x_tensor.shape, 1, x_tensor.dtype if dtype is None else dtype)


@adapter
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """Create a tensor filled with one value, with the value's dtype.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.fill([2], 9)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([9, 9], dtype=int32)>
    """
    x_tensor = tensor(value)
    if x_tensor.ndim:
        raise InvalidArgumentError(
            f"tf.fill takes one number, not a tensor of shape {x_tensor.shape}"
        )
    return np.broadcast_to(x_tensor, lengths(dims))


@adapter
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """Create an identity matrix, or a batch of identity matrices."""
    columns = None if num_columns is None else int(num_columns)
    result = np.eye(int(num_rows), columns, dtype=numpy_dtype(dtype))
    return (
        result
        if batch_shape is None
        # A copy, because the matrices of a broadcast view share their memory.
        else np.broadcast_to(result, lengths(batch_shape) + result.shape).copy()
    )


@adapter
def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Create numbers from `start` (default 0) up to, excluding, `limit`, in steps of `delta`.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.range(3)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 2], dtype=int32)>
    """
    if limit is None:
        start, limit = 0, start
    ends = [unwrap(x) if isinstance(x, Traced) else array(x) for x in (start, limit, delta)]
    target = numpy_dtype(dtype)
    if target is None:
        # The widest of the dtypes, without NumPy's promotion: int32 and float32 give float32, where NumPy gives
        # float64.
        target = max((x.dtype for x in ends), key=_ORDER.index)
    first, last, step = (target.type(x) for x in ends)
    if not step:
        raise InvalidArgumentError("tf.range takes a delta that is not 0")
    if target.kind == "f":  # in this dtype, like TensorFlow: 0.3 / 0.1 is 3 in float32
        count = int(np.ceil((last - first) / step))
    else:
        # In Python integers: the difference of two int64 may overflow, and unsigned integers have no negative
        # difference.
        count = -((first.item() - last.item()) // step.item())
    if count < 0:
        raise InvalidArgumentError(f"tf.range cannot go from {first} to {last} in steps of {step}")
    # One product for each number: adding the step again and again would add up rounding errors.
    return (first + np.arange(count) * step).astype(target)


_ORDER = [
    np.dtype(x)
    for x in (
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "float32",
        "float64",
    )
]


@adapter
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """Create evenly spaced numbers, both ends included; float64 for integers.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.linspace(0.0, 1.0, 3))
    tf.Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    start, stop = matched("linspace", start, stop)
    # TensorFlow computes integers in float64, not in the default float32.
    if start.dtype.kind in "iu":
        start, stop = np.astype(start, np.float64), np.astype(stop, np.float64)
    count = int(num)
    if count < 1:
        raise InvalidArgumentError(f"tf.linspace takes one number or more, not {count}")
    result = np.linspace(start, stop, count, axis=axes(axis))
    return np.astype(result, start.dtype) if result.dtype != start.dtype else result


class TensorSpec:
    """Shape and dtype of a tensor, for an ``input_signature``.

    Parameters
    ----------
    shape : sequence of int or None
        None for a variable length; None itself for any shape.
    dtype : dtype, optional
    name : str, optional

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.TensorSpec([None, 2])
    TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)
    """

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype: DType = as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return True if a tensor or spec has this dtype and a compatible shape."""
        if self.dtype != spec_or_value.dtype:
            return False
        return self.shape.is_compatible_with(spec_or_value.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (
            other.shape,
            other.dtype,
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


def is_number(value: Any) -> bool:
    """Return True for a Python number, a NumPy scalar or an array."""
    return isinstance(value, (*PYTHON_NUMBERS, np.ndarray, np.generic))
