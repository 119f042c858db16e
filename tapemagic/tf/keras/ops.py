"""Keras's operations on tensors: ``tf.keras.ops``, most of them NumPy's functions with Keras's dtypes."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from tapemagic import nn as own_nn
from tapemagic.engine.operations.exponentials import logsumexp as engine_logsumexp
from tapemagic.engine.operations.selection import cast as engine_cast
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.tf import math as tf_math
from tapemagic.tf.core.adapter import adapter, adapter_to_several, axes, named_adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import array_ops, network_ops, numpy_ops, signal_ops
from tapemagic.tf.keras.keras_dtypes import alike, converted, floats, pair
from tapemagic.tf.ops import arrays, control_flow, creation, gradients, linear_algebra, selection

Function = Callable[..., Any]


def _unary(name: str, compute: Function, convert: Function = floats) -> Function:
    def computed(x: Any, *args: Any, **options: Any) -> Any:
        return compute(convert(x), *args, **options)

    return named_adapter(name, computed, f"Return `{name}` of each element.")


def _binary(name: str, compute: Function) -> Function:
    def computed(x1: Any, x2: Any) -> Any:
        return compute(*pair(x1, x2))

    return named_adapter(name, computed, f"Return `{name}` of two tensors, element by element.")


def _reduction(name: str, compute: Function, convert: Function = converted) -> Function:
    def computed(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = convert(x)
        result = compute(x, axis=axes(axis), keepdims=keepdims)
        # NumPy adds int32 up in int64, Keras in int32.
        narrow = x.dtype.kind in "iu" and result.dtype.kind in "iu"
        return engine_cast(result, np.result_type(x.dtype, np.int32)) if narrow else result

    return named_adapter(name, computed, f"Return `{name}` of all elements, or along axes.")


_FLOAT_UNARY: dict[str, Function] = {
    "arccos": np.arccos, "arccosh": np.arccosh, "arcsin": np.arcsin, "arcsinh": np.arcsinh,
    "arctan": np.arctan, "arctanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos,
    "cosh": np.cosh, "erf": tf_math.erf, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "floor": np.floor, "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
    "reciprocal": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "log_sigmoid": own_nn.activations.log_sigmoid, "mish": own_nn.activations.mish,
    "relu": own_nn.activations.relu, "relu6": own_nn.activations.relu6, "selu": own_nn.activations.selu,
    "sigmoid": own_nn.activations.sigmoid, "silu": own_nn.activations.silu,
    "softplus": own_nn.activations.softplus, "softsign": own_nn.activations.softsign,
    "hard_sigmoid": own_nn.activations.hard_sigmoid,
}  # fmt: skip
_ANY_UNARY: dict[str, Function] = {
    "abs": np.abs, "absolute": np.abs, "conj": np.conj, "imag": np.imag, "isfinite": np.isfinite,
    "isinf": np.isinf, "isnan": np.isnan, "logical_not": np.logical_not, "negative": np.negative,
    "ravel": np.ravel, "real": np.real, "sign": np.sign, "square": np.square,
    "nan_to_num": np.nan_to_num, "ones_like": np.ones_like, "zeros_like": np.zeros_like,
}  # fmt: skip
_BINARY: dict[str, Function] = {
    "add": np.add, "arctan2": np.arctan2, "divide": np.true_divide, "dot": np.dot,
    "equal": np.equal, "floor_divide": np.floor_divide, "greater": np.greater,
    "greater_equal": np.greater_equal, "inner": np.inner, "less": np.less,
    "less_equal": np.less_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor, "matmul": np.matmul, "maximum": np.maximum,
    "minimum": np.minimum, "mod": np.mod, "multiply": np.multiply, "not_equal": np.not_equal,
    "outer": np.outer, "power": np.power, "subtract": np.subtract, "true_divide": np.true_divide,
}  # fmt: skip
_FLOAT_PAIRS = ("arctan2", "divide", "true_divide")
_REDUCTIONS: dict[str, Function] = {
    "all": np.all, "amax": np.max, "amin": np.min, "any": np.any, "max": np.max, "min": np.min,
    "prod": np.prod, "sum": np.sum,
}  # fmt: skip
_FLOAT_REDUCTIONS: dict[str, Function] = {
    "logsumexp": engine_logsumexp, "mean": np.mean, "std": np.std, "var": np.var,
}  # fmt: skip


def _in_floats(compute: Function) -> Function:
    return lambda x1, x2: compute(floats(x1), floats(x2))


_GENERATED: dict[str, Function] = {
    **{
        name: _unary(name, compute)
        for name, compute in (_FLOAT_UNARY | numpy_ops.OF_FLOATS).items()
    },
    **{
        name: _unary(name, compute, converted)
        for name, compute in (_ANY_UNARY | numpy_ops.OF_ANY).items()
    },
    **{name: _binary(name, compute) for name, compute in numpy_ops.OF_PAIRS.items()},
    **{name: _binary(name, _in_floats(f)) for name, f in numpy_ops.OF_FLOAT_PAIRS.items()},
    **{name: getattr(numpy_ops, name) for name in numpy_ops.OWN},
    **{name: getattr(network_ops, name) for name in network_ops.OWN},
    **{
        name: _binary(name, _in_floats(compute) if name in _FLOAT_PAIRS else compute)
        for name, compute in _BINARY.items()
    },
    **{
        name: _reduction(name, compute)
        for name, compute in (_REDUCTIONS | numpy_ops.OVER_AXES).items()
    },
    **{
        name: _reduction(name, compute, floats)
        for name, compute in {
            **_FLOAT_REDUCTIONS,
            **numpy_ops.OF_FLOATS_OVER_AXES,
        }.items()
    },
}
globals().update(_GENERATED | array_ops.OPERATIONS | signal_ops.OPERATIONS)
swish, hard_swish = _GENERATED["silu"], _GENERATED["hard_silu"]


@adapter
def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    """Limit each element to an interval."""
    return np.clip(converted(x), x_min, x_max)


@adapter
def round(x: Any, decimals: int = 0) -> Any:
    """Round each element, halves to the even number."""
    return np.round(converted(x), decimals)


@adapter
def softmax(x: Any, axis: Any = -1) -> Any:
    """Return exponentials along an axis, divided by their sum."""
    return own_nn.activations.softmax(floats(x), axis)


@adapter
def log_softmax(x: Any, axis: Any = -1) -> Any:
    """Return the logarithm of `softmax`."""
    return own_nn.activations.log_softmax(floats(x), axis)


@adapter
def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """Return positive elements, and others times a slope."""
    return own_nn.activations.leaky_relu(floats(x), negative_slope)


@adapter
def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return positive elements, and ``alpha * (exp(x) - 1)`` of others."""
    return own_nn.activations.elu(floats(x), alpha)


@adapter
def gelu(x: Any, approximate: bool = True) -> Any:
    """Return elements times the normal distribution of them, by default an approximation."""
    return own_nn.activations.gelu(floats(x), approximate)


@adapter
def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """Choose elements of two tensors, or return the indices where a condition is true."""
    if x1 is None:
        return np.where(np.asarray(unwrap(tensor(condition))))
    return np.where(converted(condition), *pair(x1, x2))


@adapter
def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the largest element, of all or along an axis."""
    return engine_cast(np.argmax(converted(x), axis=axis, keepdims=keepdims), "int32")


@adapter
def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the smallest element, of all or along an axis."""
    return engine_cast(np.argmin(converted(x), axis=axis, keepdims=keepdims), "int32")


@adapter
def argsort(x: Any, axis: int = -1) -> Any:
    """Return the indices that sort a tensor."""
    return engine_cast(np.argsort(converted(x), axis=axis, kind="stable"), "int32")


@adapter
def sort(x: Any, axis: int = -1) -> Any:
    """Sort a tensor along an axis."""
    return np.sort(converted(x), axis=axis)


@adapter
def reshape(x: Any, newshape: Any) -> Any:
    """Return the elements in another shape, in which one length may be -1."""
    return np.reshape(converted(x), axes(newshape))


@adapter
def transpose(x: Any, axes: Any = None) -> Any:
    """Reorder the axes, by default reverse them."""
    return np.transpose(converted(x), axes)


@adapter
def expand_dims(x: Any, axis: Any) -> Any:
    """Insert axes of length 1."""
    return np.expand_dims(converted(x), axes(axis))


@adapter
def squeeze(x: Any, axis: Any = None) -> Any:
    """Remove axes of length 1."""
    return np.squeeze(converted(x), axes(axis))


@adapter
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Swap two axes."""
    return np.swapaxes(converted(x), axis1, axis2)


@adapter
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Move axes to other places."""
    return np.moveaxis(converted(x), source, destination)


@adapter
def flip(x: Any, axis: Any = None) -> Any:
    """Reverse the order of elements along axes."""
    return np.flip(converted(x), axes(axis))


@adapter
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Shift elements along axes, and the last ones to the front."""
    return np.roll(converted(x), shift, axes(axis))


@adapter
def repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    """Repeat each element."""
    return np.repeat(converted(x), repeats, axis)


@adapter
def tile(x: Any, repeats: Any) -> Any:
    """Repeat a whole tensor along its axes."""
    return np.tile(converted(x), axes(repeats))


@adapter
def broadcast_to(x: Any, shape: Any) -> Any:
    """Repeat a tensor along axes of length 1, to a shape."""
    return np.broadcast_to(converted(x), axes(shape))


@adapter
def concatenate(xs: Any, axis: int = 0) -> Any:
    """Join tensors along an axis."""
    return np.concatenate(alike(xs), axis)


@adapter
def stack(x: Any, axis: int = 0) -> Any:
    """Join tensors along a new axis."""
    return np.stack(alike(x), axis)


@adapter_to_several
def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Split a tensor into equal parts, or at indices."""
    return np.split(converted(x), indices_or_sections, axis)


@adapter
def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Any:
    """Put values around a tensor."""
    options = {} if constant_values is None else {"constant_values": constant_values}
    compute: Function = np.pad
    return compute(converted(x), pad_width, mode=mode, **options)


@adapter
def take(x: Any, indices: Any, axis: Any = None) -> Any:
    """Return the elements at indices along an axis."""
    return np.take(converted(x), np.asarray(unwrap(tensor(indices))), axis)


@adapter
def take_along_axis(x: Any, indices: Any, axis: Any = None) -> Any:
    """Return the elements at an index for each place, along an axis."""
    return np.take_along_axis(converted(x), np.asarray(unwrap(tensor(indices))), axis)


@adapter
def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Return the sum of products over axes of two tensors."""
    return np.tensordot(*pair(x1, x2), axes)


@adapter
def einsum(subscripts: str, *operands: Any) -> Any:
    """Return the sum of products that subscripts describe, such as "ij,jk->ik"."""
    return np.einsum(subscripts, *alike(operands))


@adapter
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the sum along a diagonal."""
    return np.trace(converted(x), offset, axis1, axis2)


@adapter
def diag(x: Any, k: int = 0) -> Any:
    """Return the diagonal of a matrix, or the matrix of a diagonal."""
    return np.diag(converted(x), k)


@adapter
def tril(x: Any, k: int = 0) -> Any:
    """Return the lower triangle of matrices."""
    return np.tril(converted(x), k)


@adapter
def triu(x: Any, k: int = 0) -> Any:
    """Return the upper triangle of matrices."""
    return np.triu(converted(x), k)


@adapter
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the norm of vectors or matrices."""
    return np.linalg.norm(floats(x), ord, axes(axis), keepdims)


@adapter
def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Return numbers from `start` to `stop`, which is excluded."""
    ends = [x for x in (start, stop, step) if x is not None]
    default = (
        "int32"
        if builtins.all(np.result_type(x).kind in "iu" for x in ends)
        else own_nn.config.floatx()
    )
    return tensor(np.arange(start, stop, step, dtype=numpy_dtype(dtype or default)))


@adapter
def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    """Return `num` numbers at equal distances."""
    return tensor(
        np.linspace(start, stop, num, endpoint, dtype=numpy_dtype(dtype or own_nn.config.floatx()))
    )


@adapter
def zeros(shape: Any, dtype: Any = None) -> Any:
    """Return zeros."""
    return tensor(np.zeros(axes(shape), numpy_dtype(dtype or own_nn.config.floatx())))


@adapter
def ones(shape: Any, dtype: Any = None) -> Any:
    """Return ones."""
    return tensor(np.ones(axes(shape), numpy_dtype(dtype or own_nn.config.floatx())))


@adapter
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Return a value many times."""
    return creation.cast(creation.fill(shape, fill_value), dtype or own_nn.config.floatx())


@adapter
def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Return a value many times, in the shape of a tensor."""
    x = converted(x)
    return np.full_like(x, fill_value, dtype=x.dtype if dtype is None else numpy_dtype(dtype))


@adapter
def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Return a matrix with ones on a diagonal."""
    return tensor(np.eye(N, M, k, dtype=numpy_dtype(dtype or own_nn.config.floatx())))


identity = eye


@adapter
def one_hot(x: Any, num_classes: int, axis: int = -1, dtype: Any = None) -> Any:
    """Return rows of zeros with a one at the place of each class."""
    return selection.one_hot(x, num_classes, axis=axis, dtype=dtype or own_nn.config.floatx())


def shape(x: Any) -> tuple[int | None, ...]:
    """Return the shape of a tensor as a tuple."""
    return tuple(converted(x).shape)


def ndim(x: Any) -> int:
    """Return the number of axes."""
    return len(shape(x))


def size(x: Any) -> Any:
    """Return the number of elements."""
    return arrays.size(x)


def cast(x: Any, dtype: Any) -> Any:
    """Convert a tensor to another dtype."""
    return creation.cast(x, dtype)


def convert_to_tensor(x: Any, dtype: Any = None, sparse: Any = None, ragged: Any = None) -> Any:
    """Convert a value to a tensor, of another dtype if wanted."""
    converted = creation.convert_to_tensor(x)
    return converted if dtype is None else creation.cast(converted, dtype)


def convert_to_numpy(x: Any) -> Any:
    """Return the value of a tensor as an array."""
    return np.array(unwrap(tensor(x)))


def is_tensor(x: Any) -> bool:
    """Return True for a tensor."""
    return isinstance(x, Traced)


@adapter_to_several
def moments(x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False) -> Any:
    """Return the mean and the variance along axes."""
    x = floats(x)
    axis = tuple(axes) if isinstance(axes, list | tuple) else axes
    return np.mean(x, axis=axis, keepdims=keepdims), np.var(x, axis=axis, keepdims=keepdims)


@adapter
def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """Return the cross-entropy of probabilities along an axis."""
    return own_nn.losses.categorical_crossentropy(
        floats(target), floats(output), from_logits=from_logits, axis=axis
    )


@adapter
def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """Return the cross-entropy of probabilities for the numbers of classes."""
    return own_nn.losses.sparse_categorical_crossentropy(
        tensor(target), floats(output), from_logits=from_logits, axis=axis
    )


stop_gradient = gradients.stop_gradient
cond = control_flow.cond
while_loop = control_flow.while_loop
vectorized_map = control_flow.vectorized_map
top_k = selection.top_k
in_top_k = selection.in_top_k
unstack = arrays.unstack
det = linear_algebra.det
inv = linear_algebra.inv
cholesky = linear_algebra.cholesky


def _part(name: str) -> ModuleType:
    """Return Keras's module of a part of the operations: here it has all of them."""
    part = ModuleType(f"{__name__}.{name}", f"The operations of `keras.ops.{name}`.")
    part.__getattr__ = lambda operation: getattr(sys.modules[__name__], operation)  # type: ignore[method-assign]
    return part


# Not map, which is an operation here.
linalg, nn, numpy = (_part(name) for name in ("linalg", "nn", "numpy"))

_IMPORTED = {
    "Any", "Callable", "Function", "ModuleType", "Traced", "adapter", "alike", "axes", "converted", "floats",
    "missing", "named_adapter", "numpy_dtype", "pair", "tensor", "unwrap",
}  # fmt: skip
__all__ = [
    name
    for name, value in sorted(globals().items())
    if callable(value) and not name.startswith(("_", "engine_")) and name not in _IMPORTED
]
__all__ += ["linalg", "nn", "numpy"]
__getattr__ = missing(__name__, __all__)
