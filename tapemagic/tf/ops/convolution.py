"""Convolutions, pooling and other image functions of ``tf.nn``."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tapemagic.engine.operations import convolution, pooling
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.tf.core.adapter import adapter, lengths
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked


def _spatial(value: Any, count: int) -> Any:
    """Convert strides or dilations to one number, or one per spatial axis."""
    # TensorFlow also accepts one number per axis, batch and channels included.
    if isinstance(value, int):
        return value
    sizes = lengths(value)
    if len(sizes) == count + 2:
        return sizes[1:-1]
    return sizes[0] if len(sizes) == 1 else sizes


def _padding(padding: Any) -> Any:
    """Return a padding name, or the pairs for spatial axes out of TensorFlow's list for all axes."""
    if isinstance(padding, str):
        return padding
    # TensorFlow lists batch and channels as well, whose padding is always zero.
    return [tuple(map(int, pair)) for pair in padding][1:-1]


def _channels_last(data_format: str | None) -> None:
    if data_format is not None and not data_format.endswith("C"):
        raise UnsupportedArgumentError(
            f"channels are the last axis here, not {data_format!r}: write tf.transpose"
        )


def _convolved(
    compute: Any,
    count: int,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    *shape: Any,
) -> Any:
    """Convolve over `count` axes with an engine function, which may take the result's shape."""
    _channels_last(data_format)
    # `filters` of another dtype would be promoted by NumPy, and double the memory of the result.
    x, kernel = matched(compute.__name__, input, filters)
    return compute(
        x,
        kernel,
        *shape,
        _spatial(strides, count),
        _padding(padding),
        _spatial(dilations or 1, count),
    )


@adapter
def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve images with a kernel of shape (height, width, channels in, channels out).

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.nn.conv2d(tf.ones((1, 3, 3, 1)), tf.ones((2, 2, 1, 1)), strides=1, padding="SAME").shape
    TensorShape([1, 3, 3, 1])
    """
    return _convolved(
        convolution.conv2d, 2, input, filters, strides, padding, data_format, dilations
    )


@adapter
def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve sequences with a kernel of shape (width, channels in, channels out)."""
    return _convolved(
        convolution.conv1d, 1, input, filters, stride, padding, data_format, dilations
    )


def _transposed(compute: Any, count: int, layout: str, doc: str) -> Any:
    """Build the transposed convolution over `count` axes."""

    def computed(
        input: Any,
        filters: Any,
        output_shape: Any,
        strides: Any,
        padding: Any = "SAME",
        data_format: str = layout,
        dilations: Any = None,
        name: str | None = None,
    ) -> Any:
        shape = lengths(output_shape)
        return _convolved(
            compute, count, input, filters, strides, padding, data_format, dilations, shape
        )

    computed.__name__ = computed.__qualname__ = compute.__name__
    computed.__doc__ = f"The gradient of a convolution as an operation: {doc}"
    return adapter(computed)


conv2d_transpose = _transposed(
    convolution.conv2d_transpose, 2, "NHWC", "images of the shape `output_shape`."
)
conv1d_transpose = _transposed(
    convolution.conv1d_transpose, 1, "NWC", "sequences of the shape `output_shape`."
)


@adapter
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve each channel separately with a kernel (height, width, channels in, multiplier)."""
    x, kernel = matched("depthwise_conv2d", input, filter)
    if kernel.ndim != 4:
        raise InvalidArgumentError(
            f"depthwise_conv2d takes a filter with four axes, not of shape {kernel.shape}"
        )
    height, width, channels, times = kernel.shape
    # A depthwise convolution is a grouped one, with a group for each channel.
    grouped = np.reshape(kernel, (height, width, 1, channels * times))
    return _convolved(convolution.conv2d, 2, x, grouped, strides, padding, data_format, dilations)


@adapter
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve each channel separately, then mix the channels of each pixel."""
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    x, kernel = matched("separable_conv2d", deep, pointwise_filter)
    return convolution.conv2d(x, kernel)


def _pool(called: str, computes: dict[int, Any], doc: str) -> Any:
    """Build a pooling function from engine functions, by the number of spatial axes."""

    def computed(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: Any,
        data_format: str | None = None,
        name: str | None = None,
    ) -> Any:
        _channels_last(data_format)
        x = tensor(input)
        # The axes between batch and channels are spatial. For other shapes the engine's function raises the error.
        count = x.ndim - 2 if x.ndim - 2 in computes else max(computes)
        return computes[count](
            x, _spatial(ksize, count), _spatial(strides, count), _padding(padding)
        )

    computed.__name__ = computed.__qualname__ = called
    computed.__doc__ = doc
    return adapter(computed)


_LARGEST, _MEAN = "The largest element of each window", "The mean of each window"

max_pool1d = _pool("max_pool1d", {1: pooling.max_pool1d}, f"{_LARGEST} of sequences.")
max_pool2d = _pool("max_pool2d", {2: pooling.max_pool2d}, f"{_LARGEST} of images.")
max_pool = _pool(
    "max_pool",
    {1: pooling.max_pool1d, 2: pooling.max_pool2d},
    f"{_LARGEST}, of sequences or images.",
)
avg_pool1d = _pool("avg_pool1d", {1: pooling.avg_pool1d}, f"{_MEAN} of sequences.")
avg_pool2d = _pool("avg_pool2d", {2: pooling.avg_pool2d}, f"{_MEAN} of images.")
avg_pool = _pool(
    "avg_pool",
    {1: pooling.avg_pool1d, 2: pooling.avg_pool2d},
    f"{_MEAN}, of sequences or images.",
)


@adapter
def depth_to_space(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """Rearrange the channels of each pixel into a block of pixels."""
    _channels_last(data_format)
    x, b = tensor(input), int(block_size)
    n, h, w, c = x.shape
    if c % (b * b):
        raise InvalidArgumentError(
            f"depth_to_space cannot lay {c} channels out in blocks of {b} x {b}"
        )
    # The channel number counts row in the block, column in the block, then channel: TensorFlow's order for NHWC
    # (PyTorch's pixel_shuffle puts the channel first).
    blocks = np.transpose(np.reshape(x, (n, h, w, b, b, c // (b * b))), (0, 1, 3, 2, 4, 5))
    return np.reshape(blocks, (n, h * b, w * b, c // (b * b)))


@adapter
def space_to_depth(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """Rearrange each block of pixels into the channels of one pixel."""
    _channels_last(data_format)
    x, b = tensor(input), int(block_size)
    n, h, w, c = x.shape
    if h % b or w % b:
        raise InvalidArgumentError(
            f"space_to_depth cannot cut images of {h} x {w} into blocks of {b} x {b}"
        )
    blocks = np.transpose(np.reshape(x, (n, h // b, b, w // b, b, c)), (0, 1, 3, 2, 4, 5))
    return np.reshape(blocks, (n, h // b, w // b, b * b * c))


@adapter
def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: str | None = None,
) -> Any:
    """Divide by (bias + alpha * sum of squares of neighboring channels) ** beta (Krizhevsky et al. 2012)."""
    x = checked("local_response_normalization", tensor(input), "f")
    # Zeros at both ends, so that the first and last channels have fewer neighbors in their sum.
    squares = np.pad(np.square(x), [(0, 0)] * 3 + [(depth_radius, depth_radius)])
    count = x.shape[-1]
    # 2r + 1 shifted slices of the padded squares: no loop over channels.
    total = squares[..., :count]
    for k in builtins.range(1, 2 * depth_radius + 1):
        total = total + squares[..., k : k + count]
    return x / (bias + alpha * total) ** beta


lrn = local_response_normalization
