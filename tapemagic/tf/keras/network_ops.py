"""Keras's operations of networks and of control flow: convolutions, pooling, normalization, loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.operations import convolution, pooling
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.nn.arguments import channels_last
from tapemagic.tf.core.adapter import adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.keras.keras_dtypes import alike, floats
from tapemagic.tf.ops import control_flow, gradients

Function = Callable[..., Any]

CONVOLUTIONS = {3: convolution.conv1d, 4: convolution.conv2d, 5: convolution.conv3d}
"""Convolutions by the number of axes of their input."""

TRANSPOSED = {3: nn.Conv1DTranspose, 4: nn.Conv2DTranspose, 5: nn.Conv3DTranspose}
MAXIMA = {3: pooling.max_pool1d, 4: pooling.max_pool2d, 5: pooling.max_pool3d}
AVERAGES = {3: pooling.avg_pool1d, 4: pooling.avg_pool2d, 5: pooling.avg_pool3d}


def _of_rank(functions: dict[int, Any], x: Any, name: str) -> Any:
    if x.ndim not in functions:
        raise ValueError(
            f"{name} takes inputs with 3, 4 or 5 axes, (batch, spatial axes, channels), not of shape {x.shape}"
        )
    return functions[x.ndim]


@adapter
def conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """Return the convolution of signals, images or volumes with a kernel."""
    channels_last(data_format, "conv")
    inputs, kernel = alike((floats(inputs), floats(kernel)))
    return _of_rank(CONVOLUTIONS, inputs, "conv")(inputs, kernel, strides, padding, dilation_rate)


@adapter
def conv_transpose(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    output_padding: Any = None,
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """Return the transposed convolution of signals, images or volumes with a kernel."""
    inputs, kernel = alike((floats(inputs), floats(kernel)))
    # The layer knows the shape of the output.
    layer = _of_rank(TRANSPOSED, inputs, "conv_transpose")(
        kernel.shape[-2],
        kernel.shape[:-2],
        strides,
        padding,
        output_padding,
        data_format,
        dilation_rate,
        use_bias=False,
    )
    layer.kernel, layer.built = kernel, True
    return layer._convolved(inputs)


def _grouped(kernel: Any) -> Any:
    """Return the kernel of a depthwise convolution as that of a convolution with a group for each channel."""
    *size, channels, times = kernel.shape
    return np.reshape(kernel, (*size, 1, channels * times))


@adapter
def depthwise_conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """Return the convolution of each channel with its own filters."""
    return conv(inputs, _grouped(floats(kernel)), strides, padding, data_format, dilation_rate)


@adapter
def separable_conv(
    inputs: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """Return a convolution of each channel with its own filters, then a mix of the channels."""
    deep = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(deep, pointwise_kernel)


@adapter
def max_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Return the maximum of each window of signals, images or volumes."""
    channels_last(data_format, "max_pool")
    inputs = floats(inputs)
    return _of_rank(MAXIMA, inputs, "max_pool")(inputs, pool_size, strides, padding)


@adapter
def average_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Return the average of each window of signals, images or volumes."""
    channels_last(data_format, "average_pool")
    inputs = floats(inputs)
    return _of_rank(AVERAGES, inputs, "average_pool")(inputs, pool_size, strides, padding)


@adapter
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Any:
    """Subtract a mean for each channel, divide by the root of a variance, then scale and shift."""
    x = floats(x)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    mean, variance = (np.reshape(floats(value), shape) for value in (mean, variance))
    factor = 1 / np.sqrt(variance + epsilon)
    if scale is not None:
        factor = factor * np.reshape(floats(scale), shape)
    shift = -mean * factor
    if offset is not None:
        shift = shift + np.reshape(floats(offset), shape)
    return x * factor + shift


@adapter
def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """Return the cross-entropy of each probability."""
    target, output = floats(target), floats(output)
    # The loss takes the mean over the last axis: one of length 1 keeps each element.
    return nn.losses.binary_crossentropy(
        target[..., None], output[..., None], from_logits=from_logits
    )


def custom_gradient(f: Function) -> Function:
    """Give a function, which returns its result and its gradient, that gradient."""
    return gradients.custom_gradient(f)  # type: ignore[no-any-return]


@adapter
def map(f: Function, xs: Any) -> Any:
    """Apply a function to each slice along the first axis and stack the results."""
    return control_flow.map_fn(f, xs)


@adapter
def scan(
    f: Function,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> Any:
    """Call ``carry, y = f(carry, x)`` for each slice, and return the last carry and the stacked results."""
    parts = [tensor(x) for x in leaves(xs)] if xs is not None else []
    count = len(parts[0]) if parts else length
    if count is None:
        raise ValueError("scan takes xs or length: write scan(f, init, xs)")
    numbers = range(count)[::-1] if reverse else range(count)
    carry, results = init, []
    for number in numbers:
        x = None if xs is None else pack(xs, [eager(part[number]) for part in parts])
        carry, result = f(carry, x)
        results.append(result)
    if reverse:
        results.reverse()
    if not results or results[0] is None:
        return carry, None
    columns = zip(*(leaves(result) for result in results), strict=True)
    return carry, pack(results[0], [np.stack([tensor(x) for x in part]) for part in columns])


@adapter
def fori_loop(lower: Any, upper: Any, body_fun: Function, init_val: Any) -> Any:
    """Return the value after ``value = body_fun(number, value)`` for each number of a range."""
    value = init_val
    for number in range(int(lower), int(upper)):
        value = body_fun(number, value)
    return value


@adapter
def switch(index: Any, branches: Any, *operands: Any) -> Any:
    """Call one of several functions, by its number; numbers out of range are limited."""
    number = min(max(int(unwrap(tensor(index))), 0), len(branches) - 1)
    return branches[number](*operands)


def dtype(x: Any) -> str:
    """Return the name of the dtype of a tensor."""
    return str(unwrap(tensor(x)).dtype if isinstance(x, Traced) else np.asarray(x).dtype)


OWN = (
    "average_pool", "batch_normalization", "binary_crossentropy", "conv", "conv_transpose",
    "custom_gradient", "depthwise_conv", "dtype", "fori_loop", "map", "max_pool", "scan",
    "separable_conv", "switch",
)  # fmt: skip
"""The names that belong to `tf.keras.ops`."""
