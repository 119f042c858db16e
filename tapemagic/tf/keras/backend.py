"""Keras 2's functions of tensors, and settings: ``tf.keras.backend``, usually imported as K."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.runtime import register_global_state
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.nn.module import clear_names
from tapemagic.nn.symbolic import SymbolicTensor
from tapemagic.tf import math as tf_math
from tapemagic.tf import random as tf_random
from tapemagic.tf.core.adapter import adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.variable import ResourceVariable
from tapemagic.tf.keras import ops, utils
from tapemagic.tf.ops import arrays, control_flow, creation, gathering, selection

Function = Callable[..., Any]

_uids: Counter[str] = register_global_state(Counter())


def clear_session() -> None:
    """Reset the automatic names of layers: the next Dense layer is called "dense" again."""
    clear_names()
    _uids.clear()


def get_uid(prefix: str = "") -> int:
    """Return the next number for a name."""
    _uids[prefix] += 1
    return _uids[prefix]


def _over_axes(name: str, compute: Function) -> Function:
    def computed(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = x if isinstance(x, SymbolicTensor) else creation.convert_to_tensor(x)
        is_bool = not isinstance(x, SymbolicTensor) and unwrap(x).dtype.kind == "b"
        if is_bool and name in {"mean", "std", "var"}:
            x = creation.cast(x, floatx())
        return compute(x, axis=axis, keepdims=keepdims)

    computed.__name__ = computed.__qualname__ = name
    computed.__doc__ = f"Return `{name}` of all elements, or along axes."
    return computed


max, mean, min, prod, std, sum, var, all, any = (
    _over_axes(name, compute)
    for name, compute in (
        ("max", tf_math.reduce_max),
        ("mean", tf_math.reduce_mean),
        ("min", tf_math.reduce_min),
        ("prod", tf_math.reduce_prod),
        ("std", tf_math.reduce_std),
        ("sum", tf_math.reduce_sum),
        ("var", tf_math.reduce_variance),
        ("all", lambda x, **options: tf_math.reduce_all(creation.cast(x, "bool"), **options)),
        ("any", lambda x, **options: tf_math.reduce_any(creation.cast(x, "bool"), **options)),
    )
)

abs, cos, exp, log, sigmoid, sign, sin, softplus, softsign, square, tanh, equal, greater = (
    tf_math.abs, tf_math.cos, tf_math.exp, tf_math.log, tf_math.sigmoid, tf_math.sign, tf_math.sin,
    tf_math.softplus, tf_math.softsign, tf_math.square, tf_math.tanh, tf_math.equal, tf_math.greater,
)  # fmt: skip
greater_equal, less, less_equal, maximum, minimum, not_equal, pow, round = (
    tf_math.greater_equal, tf_math.less, tf_math.less_equal, tf_math.maximum, tf_math.minimum,
    tf_math.not_equal, tf_math.pow, tf_math.round,
)  # fmt: skip
gather, shape, stack, tile = gathering.gather, arrays.shape, arrays.stack, arrays.tile
epsilon, floatx, image_data_format = (
    nn.config.epsilon, nn.config.floatx, nn.config.image_data_format,
)  # fmt: skip
set_epsilon, set_floatx, set_image_data_format = (
    nn.config.set_epsilon, nn.config.set_floatx, nn.config.set_image_data_format,
)  # fmt: skip
standardize_dtype, stop_gradient = utils.standardize_dtype, ops.stop_gradient
map_fn = control_flow.map_fn
foldl, foldr = control_flow.foldl, control_flow.foldr
in_top_k = selection.in_top_k
cast = creation.cast
reshape = arrays.reshape


def sqrt(x: Any) -> Any:
    """Return the root of each element, and 0 for negative elements."""
    x = creation.convert_to_tensor(x)
    return tf_math.sqrt(selection.clip_by_value(x, 0.0, np.inf))


def argmax(x: Any, axis: int = -1) -> Any:
    """Return the index of the largest element along an axis."""
    return tf_math.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Return the index of the smallest element along an axis."""
    return tf_math.argmin(x, axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    """Return the sums of all elements up to each."""
    return tf_math.cumsum(x, axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """Return the products of all elements up to each."""
    return tf_math.cumprod(x, axis)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Return numbers from `start` to `stop`, which is excluded."""
    first, end = (0, start) if stop is None and start is not None else (start, stop)
    return creation.cast(creation.range(first, end, step), dtype)


def expand_dims(x: Any, axis: int = -1) -> Any:
    """Insert an axis of length 1."""
    return arrays.expand_dims(x, axis)


def squeeze(x: Any, axis: Any) -> Any:
    """Remove an axis of length 1."""
    return arrays.squeeze(x, [axis])


def transpose(x: Any) -> Any:
    """Reverse the axes."""
    return arrays.transpose(x)


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """Reorder the axes."""
    return arrays.transpose(x, pattern)


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Join tensors along an axis."""
    return arrays.concat(list(tensors), axis)


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Repeat each element along an axis."""
    return arrays.repeat(x, rep, axis)


def repeat(x: Any, n: int) -> Any:
    """Repeat rows along a new second axis."""
    return arrays.repeat(arrays.expand_dims(x, 1), n, 1)


@adapter
def flatten(x: Any) -> Any:
    """Return all elements in one axis."""
    return np.reshape(tensor(x), (-1,))


@adapter
def batch_flatten(x: Any) -> Any:
    """Return all elements of each example in one axis."""
    x = tensor(x)
    return np.reshape(x, (-1, int(np.prod(x.shape[1:]))))


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Limit each element to an interval."""
    low = -np.inf if min_value is None else min_value
    high = np.inf if max_value is None else max_value
    if isinstance(low, int | float) and isinstance(high, int | float) and high < low:
        high = low
    return selection.clip_by_value(x, low, high)


@adapter
def dot(x: Any, y: Any) -> Any:
    """Return the product of two tensors over the last axis of `x` and the second to last axis of `y`."""
    x, y = tensor(x), tensor(y)
    return np.matmul(x, y) if x.ndim <= 2 and y.ndim <= 2 else np.dot(x, y)


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """Return positive elements, and others times `alpha`."""
    compute = adapter(nn.activations.relu)
    return compute(tensor(x), negative_slope=alpha, max_value=max_value, threshold=threshold)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return positive elements, and ``alpha * (exp(x) - 1)`` of others."""
    return ops.elu(x, alpha)


@adapter
def hard_sigmoid(x: Any) -> Any:
    """Return ``0.2 * x + 0.5``, limited to the interval from 0 to 1: Keras 2's function, steeper than Keras 3's."""
    return np.clip(tensor(x) * 0.2 + 0.5, 0, 1)


def softmax(x: Any, axis: int = -1) -> Any:
    """Return exponentials along an axis, divided by their sum."""
    return ops.softmax(x, axis)


@adapter
def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Divide by the root of the sum of squares, along an axis or of all elements."""
    x = tensor(x)
    square = np.sum(x * x, axis=axis, keepdims=True)
    return x * (1 / np.sqrt(np.maximum(square, 1e-12)))


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """Return the cross-entropy of each probability."""
    return ops.binary_crossentropy(target, output, from_logits)


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """Return the cross-entropy of probabilities along an axis."""
    return ops.categorical_crossentropy(target, output, from_logits, axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """Return the cross-entropy of probabilities for the numbers of classes."""
    return ops.sparse_categorical_crossentropy(target, output, from_logits, axis)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """Choose by a bool, or by a bool for each element."""
    condition = creation.cast(condition, "bool")
    if not np.ndim(unwrap(condition)):
        chosen = then_expression if bool(unwrap(condition)) else else_expression
        return chosen() if callable(chosen) else chosen
    then, other = (x() if callable(x) else x for x in (then_expression, else_expression))
    missing_axes = np.ndim(unwrap(tensor(then))) - np.ndim(unwrap(condition))
    for _ in range(missing_axes):
        condition = arrays.expand_dims(condition, -1)
    return selection.where(condition, then, other)


def reverse(x: Any, axes: Any) -> Any:
    """Reverse the order of elements along axes."""
    return arrays.reverse(x, [axes] if isinstance(axes, int) else axes)


def one_hot(indices: Any, num_classes: int) -> Any:
    """Return rows of zeros with a one at the place of each class."""
    return selection.one_hot(indices, num_classes, axis=-1)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """Add a bias to the last axis."""
    nn.arguments.channels_last(data_format, "bias_add")
    return tf_math.add(x, bias)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Create a tensor, by default of `floatx`."""
    return creation.constant(value, dtype or floatx(), shape)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """Create a variable, by default of `floatx`."""
    given = creation.cast(creation.convert_to_tensor(value), dtype or floatx())
    return ResourceVariable(given, name=name, constraint=constraint)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Create a variable of zeros."""
    return variable(np.zeros(shape), dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Create a variable of ones."""
    return variable(np.ones(shape), dtype, name)


def eye(size: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Create a variable that is an identity matrix."""
    return variable(np.eye(*(size if isinstance(size, tuple | list) else (size,))), dtype, name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return zeros in the shape of a tensor."""
    return creation.zeros_like(x, dtype)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return ones in the shape of a tensor."""
    return creation.ones_like(x, dtype)


def update(x: Any, new_x: Any) -> Any:
    """Assign a value to a variable."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Add to the value of a variable."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtract from the value of a variable."""
    return x.assign_sub(decrement)


def set_value(x: Any, value: Any) -> None:
    """Assign an array to a variable."""
    x.assign(np.asarray(value, dtype=unwrap(x).dtype))


def get_value(x: Any) -> Any:
    """Return the value of a tensor or variable as an array."""
    return np.array(unwrap(x)) if isinstance(x, Traced) else x


eval = get_value


def batch_get_value(tensors: Any) -> list[Any]:
    """Return the values of several variables."""
    return [get_value(x) for x in tensors]


def batch_set_value(tuples: Any) -> None:
    """Assign arrays to several variables."""
    for x, value in tuples:
        set_value(x, value)


def cast_to_floatx(x: Any) -> Any:
    """Return a tensor, or an array, in the dtype `floatx`."""
    return creation.cast(x, floatx()) if isinstance(x, Traced) else np.asarray(x, dtype=floatx())


def count_params(x: Any) -> int:
    """Return the number of elements."""
    return int(np.prod(x.shape))


def ndim(x: Any) -> int:
    """Return the number of axes."""
    return len(x.shape)


def dtype(x: Any) -> str:
    """Return the name of the dtype of a tensor."""
    return str(getattr(x.dtype, "name", x.dtype))


def int_shape(x: Any) -> tuple[int | None, ...] | None:
    """Return the shape as a tuple."""
    return tuple(x.shape) if hasattr(x, "shape") else None


def is_keras_tensor(x: Any) -> bool:
    """Return True for a symbolic tensor of a model."""
    return isinstance(x, SymbolicTensor)


def is_sparse(tensor: Any) -> bool:
    """Return False: all tensors are dense."""
    return False


def backend() -> str:
    """Return "tensorflow", the library whose names this module has."""
    return "tensorflow"


@contextlib.contextmanager
def name_scope(name: str) -> Iterator[None]:
    """Do nothing: names of variables come from layers."""
    yield


def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Draw normally distributed numbers."""
    return tf_random.normal(shape, mean, stddev, dtype or floatx(), seed)


def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Draw numbers from an interval."""
    return tf_random.uniform(shape, minval, maxval, dtype or floatx(), seed)


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Draw normally distributed numbers of at most two standard deviations."""
    return tf_random.truncated_normal(shape, mean, stddev, dtype or floatx(), seed)


def random_bernoulli(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Any:
    """Draw ones with a probability, and zeros."""
    drawn = tf_random.uniform(shape, dtype=dtype or floatx(), seed=seed)
    return creation.cast(tf_math.less_equal(drawn, p), dtype or floatx())


_IMPORTED = {
    "Any", "Callable", "Counter", "Function", "Iterator", "ResourceVariable", "SymbolicTensor",
    "Traced", "adapter", "clear_names", "missing", "register_global_state", "tensor", "unwrap",
}  # fmt: skip
__all__ = [
    name
    for name, value in sorted(globals().items())
    if callable(value) and not name.startswith("_") and name not in _IMPORTED
]
__getattr__ = missing(__name__, __all__)
