"""New tensors: from values, filled, and evenly spaced; and conversions to another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.functions.custom_gradient import custom_gradient
from tapemagic.engine.tensor.constant import constant as engine_constant
from tapemagic.engine.tensor.tensor import Traced, unwrap, wrap
from tapemagic.tf.core.adapter import adapter, axes, lengths
from tapemagic.tf.core.convert import PYTHON_NUMBERS, array, matched, tensor
from tapemagic.tf.core.dtype import DType, as_dtype, float32, numpy_dtype
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.errors import InvalidArgumentError


@adapter
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A tensor with the given value.

    Parameters
    ----------
    value : array_like
        Numbers, nested lists of numbers, or an array, which is copied.
    dtype : dtype, optional
        float32 or int32 for Python's numbers, NumPy's own for arrays, if left out.
    shape : sequence of int, optional
        The shape to fill: a single number fills it, other values are laid out in it.
    name : str, optional
        Not used.

    Returns
    -------
    EagerTensor

    Raises
    ------
    DtypeError, NotNumbersError, InvalidArgumentError
        If the value does not fit into `dtype`, is not made of numbers, or does not fit into `shape`.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.constant([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>
    """
    if shape is None:
        return _same(value, dtype)
    found = tensor(value, dtype)
    shape = lengths(shape)
    if found.size == 1:
        return np.broadcast_to(np.reshape(found, ()), shape)
    if found.size != np.prod(shape):
        raise InvalidArgumentError(
            f"tf.constant was given {found.size} elements for the shape {shape}: give as many as it holds, or one"
        )
    return np.reshape(found, shape)


@adapter
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Any:
    """A value as a tensor; a tensor is returned itself, of a variable its value now.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.constant(1.0)
    >>> tf.convert_to_tensor([x, 2.0 * x])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    if dtype is None and dtype_hint is not None and not isinstance(value, Traced):
        try:
            return tensor(value, dtype_hint)
        except (TypeError, ValueError):
            return tensor(value)
    return _same(value, dtype)


def _same(value: Any, dtype: Any) -> Any:
    """A value as a tensor; a tensor of TensorFlow's is checked, and stays itself."""
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
    """The same numbers in another dtype: fractions are cut off, of complex numbers the real part stays.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.cast([1.8, -2.2], tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -2], dtype=int32)>
    """
    wanted = numpy_dtype(dtype)
    held = tensor(x)
    if held.dtype == wanted:
        return _same(x, None)
    if held.dtype.kind == "c" != wanted.kind:
        held = np.real(held)
    if wanted.kind in "iu" and held.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            return np.astype(held, wanted)
    with np.errstate(over="ignore"):
        return np.astype(held, wanted)


@adapter
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """The same numbers in another dtype; those outside its limits become the limits.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.saturate_cast([-1.0, 300.0], tf.uint8)
    <tf.Tensor: shape=(2,), dtype=uint8, numpy=array([  0, 255], dtype=uint8)>
    """
    wanted, held = as_dtype(dtype), tensor(value)
    if held.dtype.kind == "c" and wanted.kind != "c":
        held = np.real(held)
    if wanted.kind in "iuf" and held.dtype.kind in "iuf":
        low, high = wanted.limits
        own = as_dtype(held.dtype)
        if own.is_floating and wanted.is_integer:
            with np.errstate(over="ignore"):
                rounded = held.dtype.type(high)
            if high < float(rounded) < np.inf:
                high = np.nextafter(rounded, held.dtype.type(0))
        held = np.clip(held, max(low, own.min), min(high, own.max))
    return cast(held, wanted)


@adapter
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Complex numbers of their real and imaginary parts."""
    real, imag = matched("complex", real, imag)
    wide = np.dtype(np.complex64 if real.dtype == np.float32 else np.complex128)
    if np.all(np.isfinite(unwrap(imag))):
        return np.astype(real, wide) + np.astype(imag, wide) * wide.type(1j)
    return _joined(*np.broadcast_arrays(real, imag))


@custom_gradient
def _joined(real: Any, imag: Any) -> Any:
    """Complex numbers of parts that need not be finite: infinity times 1j has NaN as its real part."""
    found = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    found.real, found.imag = unwrap(real), unwrap(imag)
    return engine_constant(found), lambda g: (np.real(g), np.imag(g))


def _filled(shape: Any, value: Any, dtype: Any) -> Any:
    return wrap(np.full(lengths(shape), value, numpy_dtype(dtype))[()])


@adapter
def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of zeros.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.zeros(2)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    return _filled(shape, 0, dtype)


@adapter
def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of ones."""
    return _filled(shape, 1, dtype)


@adapter
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Zeros of the shape and dtype of a tensor."""
    held = tensor(input)
    return _filled(held.shape, 0, held.dtype if dtype is None else dtype)


@adapter
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Ones of the shape and dtype of a tensor."""
    held = tensor(input)
    return _filled(held.shape, 1, held.dtype if dtype is None else dtype)


@adapter
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of one value, of which it has the dtype.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.fill([2], 9)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([9, 9], dtype=int32)>
    """
    held = tensor(value)
    if held.ndim:
        raise InvalidArgumentError(f"tf.fill takes one number, not a tensor of shape {held.shape}")
    return np.broadcast_to(held, lengths(dims))


@adapter
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """An identity matrix, or a batch of them."""
    columns = None if num_columns is None else int(num_columns)
    found = np.eye(int(num_rows), columns, dtype=numpy_dtype(dtype))
    return (
        found
        if batch_shape is None
        else np.broadcast_to(found, lengths(batch_shape) + found.shape).copy()
    )


@adapter
def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Numbers from `start`, 0 if left out, up to `limit`, without it, in steps of `delta`.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.range(3)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 2], dtype=int32)>
    """
    if limit is None:
        start, limit = 0, start
    ends = [unwrap(x) if isinstance(x, Traced) else array(x) for x in (start, limit, delta)]
    wanted = numpy_dtype(dtype)
    if wanted is None:
        wanted = max((x.dtype for x in ends), key=_ORDER.index)
    first, last, step = (wanted.type(x) for x in ends)
    if not step:
        raise InvalidArgumentError("tf.range takes a delta that is not 0")
    if wanted.kind == "f":  # in the dtype itself: 0.3 / 0.1 is 3 in float32
        count = int(np.ceil((last - first) / step))
    else:
        count = -((first.item() - last.item()) // step.item())
    if count < 0:
        raise InvalidArgumentError(f"tf.range cannot go from {first} to {last} in steps of {step}")
    return (first + np.arange(count) * step).astype(wanted)


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
    """Evenly spaced numbers, with both ends; of whole numbers, in float64.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.linspace(0.0, 1.0, 3))
    tf.Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    start, stop = matched("linspace", start, stop)
    if start.dtype.kind in "iu":
        start, stop = np.astype(start, np.float64), np.astype(stop, np.float64)
    count = int(num)
    if count < 1:
        raise InvalidArgumentError(f"tf.linspace takes one number or more, not {count}")
    found = np.linspace(start, stop, count, axis=axes(axis))
    return np.astype(found, start.dtype) if found.dtype != start.dtype else found


class TensorSpec:
    """The shape and dtype of a tensor, as an ``input_signature`` lists them.

    Parameters
    ----------
    shape : sequence of int or None
        None for a length that is not fixed; None itself for any shape.
    dtype : dtype, optional
    name : str, optional

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.TensorSpec([None, 2])
    TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)
    """

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self.shape = None if shape is None else TensorShape(shape)
        self.dtype: DType = as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The one that a tensor has."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a tensor, or another of these, has this dtype, and a shape that agrees."""
        if self.dtype != spec_or_value.dtype:
            return False
        return self.shape is None or self.shape.is_compatible_with(spec_or_value.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (
            other.shape,
            other.dtype,
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        shape = "<unknown>" if self.shape is None else self.shape
        return f"TensorSpec(shape={shape}, dtype={self.dtype!r}, name={self.name!r})"


def is_number(value: Any) -> bool:
    """Whether something is a Python number, an array or a list of numbers, and so can become a tensor."""
    return isinstance(value, (*PYTHON_NUMBERS, np.ndarray, np.generic))
