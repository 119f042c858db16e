"""DepthwiseConv1D and 2D, SeparableConv1D and 2D: convolutions of each channel on its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.nn.arguments import positive
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layers.convolution import CONVOLVE, Sliding

IMAGES = InputSpec("batch, height, width, channels")
SIGNALS = InputSpec("batch, length, channels")


def of_each_channel(layer: Sliding, inputs: Any, kernel: Any) -> Any:
    """Convolve each channel with its own filters: a kernel of the axes (spatial axes, channels, multiplier)."""
    *size, channels, times = kernel.shape
    # A group for each channel.
    grouped = np.reshape(kernel, (*size, 1, channels * times))
    return CONVOLVE[layer.rank](inputs, grouped, layer.strides, layer.padding, layer.dilation_rate)


class DepthwiseConvolution(Sliding):
    """Base class of `DepthwiseConv1D` and `DepthwiseConv2D`, with `rank` spatial axes.

    Parameters
    ----------
    depth_multiplier : int, optional
        The number of filters of each channel.
    depthwise_initializer, depthwise_regularizer : optional
        Of the kernel, see `Layer`.
    kernel_size, strides, padding, data_format, dilation_rate, activation : optional
        See `Sliding`.
    use_bias, bias_initializer, bias_regularizer : optional
        See `Layer`.
    """

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer,
            bias_regularizer,
            **kwargs,
        )
        kind = type(self).__name__
        self.depth_multiplier = positive(depth_multiplier, f"depth_multiplier of {kind}")
        self.depthwise_initializer = depthwise_initializer
        self.depthwise_regularizer = depthwise_regularizer

    def build(self, input_shape: Any) -> None:
        """Create the kernel and the bias."""
        channels = input_shape[-1]
        self.kernel = self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier),
            self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self._constraints.get("depthwise"),
            name="kernel",
        )
        self._finish_build(channels, channels * self.depth_multiplier)

    def _convolved(self, inputs: Any) -> Any:
        return of_each_channel(self, inputs, self.kernel)

    def _width(self, input_shape: Any) -> Any:
        channels = input_shape[-1]
        return channels and channels * self.depth_multiplier


class DepthwiseConv2D(DepthwiseConvolution):
    """A convolution of each channel of images with its own filters.

    See `DepthwiseConvolution` for the parameters.

    The input has the shape (batch, height, width, channels), the kernel (height, width, channels, depth_multiplier),
    and the output channels * depth_multiplier channels, those of an input channel next to each other.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.DepthwiseConv2D(3, depth_multiplier=2)(np.zeros((2, 8, 8, 3))).shape
    (2, 6, 6, 6)
    """

    rank = 2
    input_spec = IMAGES


class DepthwiseConv1D(DepthwiseConvolution):
    """A convolution of each channel of signals with its own filters.

    See `DepthwiseConvolution` for the parameters, and `DepthwiseConv2D` for the shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.DepthwiseConv1D(3)(np.zeros((2, 8, 3))).shape
    (2, 6, 3)
    """

    rank = 1
    input_spec = SIGNALS


class SeparableConvolution(Sliding):
    """Base class of `SeparableConv1D` and `SeparableConv2D`, with `rank` spatial axes [1]_.

    Parameters
    ----------
    filters : int
        The number of channels of the output.
    depth_multiplier : int, optional
        The number of filters of each channel in the first convolution.
    depthwise_initializer, pointwise_initializer, depthwise_regularizer, pointwise_regularizer : optional
        Of the two kernels, see `Layer`.
    kernel_size, strides, padding, data_format, dilation_rate, activation : optional
        See `Sliding`.
    use_bias, bias_initializer, bias_regularizer : optional
        See `Layer`.

    References
    ----------
    .. [1] F. Chollet, "Xception: Deep learning with depthwise separable convolutions", CVPR 2017.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer,
            bias_regularizer,
            **kwargs,
        )
        kind = type(self).__name__
        self.filters = positive(filters, f"filters of {kind}")
        self.depth_multiplier = positive(depth_multiplier, f"depth_multiplier of {kind}")
        self.depthwise_initializer = depthwise_initializer
        self.pointwise_initializer = pointwise_initializer
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer

    def build(self, input_shape: Any) -> None:
        """Create the two kernels and the bias."""
        channels = input_shape[-1]
        self.depthwise_kernel = self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier),
            self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self._constraints.get("depthwise"),
            name="depthwise_kernel",
        )
        self.pointwise_kernel = self.add_weight(
            (*(1,) * self.rank, channels * self.depth_multiplier, self.filters),
            self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self._constraints.get("pointwise"),
            name="pointwise_kernel",
        )
        self._finish_build(channels, self.filters)

    def _convolved(self, inputs: Any) -> Any:
        deep = of_each_channel(self, inputs, self.depthwise_kernel)
        return CONVOLVE[self.rank](deep, self.pointwise_kernel)


class SeparableConv2D(SeparableConvolution):
    """A convolution of each channel of images, then a mix of the channels of each pixel (alias SeparableConvolution2D).

    See `SeparableConvolution` for the parameters, and `Conv2D` for the shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.SeparableConv2D(16, 3, padding="same")(np.zeros((2, 8, 8, 3))).shape
    (2, 8, 8, 16)
    """

    rank = 2
    input_spec = IMAGES


class SeparableConv1D(SeparableConvolution):
    """A convolution of each channel of signals, then a mix of the channels (alias SeparableConvolution1D).

    See `SeparableConvolution` for the parameters, and `Conv1D` for the shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.SeparableConv1D(4, 3)(np.zeros((2, 8, 3))).shape
    (2, 6, 4)
    """

    rank = 1
    input_spec = SIGNALS


SeparableConvolution2D = SeparableConv2D
SeparableConvolution1D = SeparableConv1D
