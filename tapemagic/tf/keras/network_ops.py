"""Keras's operations of networks and of control flow: convolutions, pooling, normalization, loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.operations import convolution, pooling
from tapemagic.engine.operations.exponentials import softmax
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.nn.arguments import channels_last, lengths
from tapemagic.nn.layers.pooling import adaptive_average, adaptive_max
from tapemagic.tf.core.adapter import adapter, axes, named_adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.keras.keras_dtypes import alike, converted, floats
from tapemagic.tf.ops import control_flow, gathering, gradients
from tapemagic.tf.ops import convolution as tf_convolution

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


def _adaptive(name: str, compute: Function) -> Function:
    def pool(inputs: Any, output_size: Any, data_format: str | None = None) -> Any:
        channels_last(data_format, name)
        inputs = floats(inputs)
        return compute(inputs, lengths(output_size, f"output_size of {name}", inputs.ndim - 2))

    return named_adapter(
        name, pool, f"Return `{name}` of signals, images or volumes, for a size of the output."
    )


adaptive_average_pool = _adaptive("adaptive_average_pool", adaptive_average)
adaptive_max_pool = _adaptive("adaptive_max_pool", adaptive_max)


def _blocks(name: str, compute: Function) -> Function:
    def blocks(x: Any, block_size: int, data_format: str = "channels_last") -> Any:
        channels_last(data_format, name)
        return compute(converted(x), block_size)

    return named_adapter(name, blocks, str(compute.__doc__))


depth_to_space = _blocks("depth_to_space", tf_convolution.depth_to_space)
space_to_depth = _blocks("space_to_depth", tf_convolution.space_to_depth)


def _sliding(sizes: tuple[int, ...], kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Return the places that each element of a kernel sees along two padded axes, and the padding."""
    kernel, dilation, stride = (
        lengths(value, what, 2)
        for value, what in ((kernel, "kernel_size"), (dilation, "dilation"), (stride, "stride"))
    )
    margins = (padding, padding) if isinstance(padding, int) else tuple(padding)
    places = []
    for size, count, gap, margin, step in zip(
        sizes, kernel, dilation, margins, stride, strict=True
    ):
        steps = (size + 2 * margin - gap * (count - 1) - 1) // step + 1
        places.append(np.arange(count)[:, None] * gap + np.arange(steps) * step)
    return places, margins


@adapter
def unfold(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Return what a sliding window sees of images with channels first: a column for each of its places."""
    x = converted(x)
    (rows, columns), (top, left) = _sliding(x.shape[2:], kernel_size, dilation, padding, stride)
    x = np.pad(x, ((0, 0), (0, 0), (top, top), (left, left)))
    seen = np.take(np.take(x, rows, axis=2), columns, axis=4)
    count = rows.shape[1] * columns.shape[1]
    return np.reshape(np.swapaxes(seen, 3, 4), (*x.shape[:1], -1, count))


@adapter
def fold(
    x: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Add the columns of `unfold` up to images with channels first."""
    x = converted(x)
    height, width = lengths(output_size, "output_size", 2)
    (rows, columns), (top, left) = _sliding((height, width), kernel_size, dilation, padding, stride)
    tall, wide = height + 2 * top, width + 2 * left
    places = (rows[:, None, :, None] * wide + columns[:, None, :]).ravel()
    channels = x.shape[1] // (len(rows) * len(columns))
    flat = np.reshape(x, (x.shape[0], channels, -1))
    sums = gathering.unsorted_segment_sum(np.transpose(flat, (2, 0, 1)), places, tall * wide)
    images = np.reshape(np.transpose(sums, (1, 2, 0)), (x.shape[0], channels, tall, wide))
    return images[:, :, top : top + height, left : left + width]


@adapter
def psnr(x1: Any, x2: Any, max_val: Any) -> Any:
    """Return the peak signal-to-noise ratio of two tensors in decibels."""
    first, second = alike((floats(x1), floats(x2)))
    if first.shape != second.shape:
        raise ValueError(f"psnr takes equal shapes, not {first.shape} and {second.shape}")
    error = np.mean(np.square(first - second))
    return 20 * np.log10(np.asarray(max_val, first.dtype)) - 10 * np.log10(error)


@adapter
def layer_normalization(
    x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: float | None = None
) -> Any:
    """Subtract the mean along axes, and divide by the standard deviation, then scale and shift."""
    x = floats(x)
    over = axes(axis)
    scaled = np.arange(x.ndim)[np.atleast_1d(over)]
    shape = [n if k in scaled else 1 for k, n in enumerate(x.shape)]
    mean, variance = np.mean(x, axis=over, keepdims=True), np.var(x, axis=over, keepdims=True)
    y = (x - mean) / np.sqrt(variance + (nn.config.epsilon() if epsilon is None else epsilon))
    if gamma is not None:
        y = y * np.reshape(floats(gamma), shape)
    return y if beta is None else y + np.reshape(floats(beta), shape)


@adapter
def rms_normalization(x: Any, scale: Any = None, axis: Any = -1, epsilon: Any = None) -> Any:
    """Divide by the root of the mean square along axes, then scale."""
    x = floats(x)
    square = np.mean(np.square(x), axis=axes(axis), keepdims=True)
    y = x / np.sqrt(square + (nn.config.epsilon() if epsilon is None else epsilon))
    return y if scale is None else y * floats(scale)


@adapter
def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: Any = None,
    attn_logits_soft_cap: Any = None,
) -> Any:
    """Return averages of values, weighted by the products of queries and keys.

    Tensors have the shape (batch, length, heads, size). A mask is false where a key doesn't count.
    """
    if attn_logits_soft_cap is not None:
        raise ValueError("dot_product_attention has no attn_logits_soft_cap: leave it out")
    query, key, value = alike(floats(x) for x in (query, key, value))
    if query.ndim != 4:
        raise ValueError(
            f"dot_product_attention takes shapes (batch, length, heads, size), not {query.shape}"
        )
    groups = query.shape[2] // key.shape[2]
    if groups > 1:  # several heads of queries share those of keys
        key, value = np.repeat(key, groups, axis=2), np.repeat(value, groups, axis=2)
    factor = 1 / np.sqrt(np.float64(key.shape[-1])) if scale is None else scale
    scores = np.einsum("BTNH,BSNH->BNTS", query, key) * np.asarray(factor, query.dtype)
    if bias is not None:
        scores = scores + floats(bias)
    counts: Any = True if mask is None else np.asarray(unwrap(tensor(mask)))
    if is_causal:
        counts = counts & (np.tri(*scores.shape[2:]) > 0)
    if counts is not True:
        # As in Keras: a query that no key counts for gets the average, not nan.
        scores = np.where(counts, scores, np.finfo(scores.dtype).min * 0.7)
    return np.einsum("BNTS,BSNH->BTNH", softmax(scores), value)


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
    "adaptive_average_pool", "adaptive_max_pool", "average_pool", "batch_normalization",
    "binary_crossentropy", "conv", "conv_transpose", "custom_gradient", "depth_to_space",
    "depthwise_conv", "dot_product_attention", "dtype", "fold", "fori_loop", "layer_normalization",
    "map", "max_pool", "psnr", "rms_normalization", "scan", "separable_conv", "space_to_depth",
    "switch", "unfold",
)  # fmt: skip
"""The names that belong to `tf.keras.ops`."""
