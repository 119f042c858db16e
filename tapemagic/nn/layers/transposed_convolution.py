"""Conv1DTranspose, 2D and 3D: convolutions whose strides make signals, images and volumes larger."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.operations.convolution import (
    conv1d_transpose,
    conv2d_transpose,
    conv3d_transpose,
)
from tapemagic.engine.operations.windows import integers_in
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import positive
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layers.convolution import Sliding, window_places

TRANSPOSED = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
"""The transposed convolutions of the engine, by the number of spatial axes."""


class TransposedConvolution(Sliding):
    """Base class of `Conv1DTranspose`, `Conv2DTranspose` and `Conv3DTranspose`, with `rank` spatial axes.

    Each element of the input adds its product with the kernel to the output, `strides` apart. It's the gradient of a
    convolution of the same options with respect to its input.

    Parameters
    ----------
    filters : int
        The number of channels of the output.
    padding : {'valid', 'same'}, optional
        "same" returns length * stride elements, "valid" all elements that the kernel reaches.
    output_padding : int or tuple of int, optional
        How many elements to add at the ends of the output, less than the strides; by default derived from the padding.
    dilation_rate : int or tuple of int, optional
        The distance of the output elements to which the kernel adds. Not together with strides.
    kernel_size, strides, data_format, activation, use_bias, kernel_initializer, bias_initializer : optional
        See `Sliding` and `Layer`.
    kernel_regularizer, bias_regularizer : optional
        See `Layer`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
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
        self.filters = positive(filters, f"filters of {type(self).__name__}")
        self._refuse_strides_with_dilation()
        self.output_padding = None if output_padding is None else self._added(output_padding)
        self.kernel_initializer = kernel_initializer
        self.kernel_regularizer = kernel_regularizer

    def _added(self, output_padding: Any) -> tuple[int, ...]:
        """Return the elements to add for each axis, or raise OptionError."""
        added = integers_in(output_padding)
        added = added * self.rank if len(added) == 1 else added
        if len(added) != self.rank or not all(
            0 <= n < stride for n, stride in zip(added, self.strides, strict=True)
        ):
            raise OptionError(
                f"output_padding of {type(self).__name__} must be at least 0 and less than strides={self.strides} "
                f"along each axis, not {output_padding!r}"
            )
        return added

    def build(self, input_shape: Any) -> None:
        """Create the kernel, whose channels of the output come first, and the bias."""
        channels = input_shape[-1]
        self.kernel = self.add_weight(
            (*self.kernel_size, self.filters, channels),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            name="kernel",
        )
        self._finish_build(channels, self.filters)

    def _convolved(self, inputs: Any) -> Any:
        return TRANSPOSED[self.rank](
            inputs,
            self.kernel,
            self.compute_output_shape(inputs.shape)[-self.rank - 1 : -1],
            self.strides,
            self.padding,
            self.dilation_rate,
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the lengths of the output, and the filters."""
        self._require_shape(tuple(input_shape))
        lengths = input_shape[-self.rank - 1 : -1]
        larger = tuple(map(self._length, lengths, range(self.rank)))
        # For an output_padding, a convolution of the output may have more or fewer places than the input has elements.
        places = window_places(
            larger,
            self.kernel_size,
            self.strides,
            self.padding,
            self.dilation_rate,
            f"the layer {self.path!r}",
        )
        if places != tuple(lengths):
            raise ShapeError(
                f"the layer {self.path!r} can't turn {lengths} into {larger} with output_padding="
                f"{self.output_padding}: a convolution back has the lengths {places}; omit output_padding"
            )
        return (*input_shape[: -self.rank - 1], *larger, self.filters)

    def _length(self, length: int | None, axis: int) -> int | None:
        """Return the length of the output along an axis: Keras's rule."""
        if length is None:
            return None
        stride = self.strides[axis]
        extent = (self.kernel_size[axis] - 1) * self.dilation_rate[axis] + 1
        added = None if self.output_padding is None else self.output_padding[axis]
        if self.padding == "valid":
            return (length - 1) * stride + (
                max(extent, stride) if added is None else extent + added
            )
        # An even kernel has no element in its middle, so that Keras counts an element less.
        return length * stride if added is None else (length - 1) * stride + extent % 2 + added


class Conv2DTranspose(TransposedConvolution):
    """A transposed convolution of images (alias Convolution2DTranspose), as generators and decoders have it.

    See `TransposedConvolution` for the parameters.

    The input has the shape (batch, height, width, channels), the output (batch, new height, new width, filters), the
    kernel (height, width, filters, channels).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Conv2DTranspose(1, 3, strides=2, padding="same")(np.zeros((2, 7, 7, 8))).shape
    (2, 14, 14, 1)
    """

    rank = 2
    input_spec = InputSpec("batch, height, width, channels")


class Conv1DTranspose(TransposedConvolution):
    """A transposed convolution of signals (alias Convolution1DTranspose).

    See `TransposedConvolution` for the parameters.

    The input has the shape (batch, length, channels), the output (batch, new length, filters), the kernel
    (length, filters, channels).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Conv1DTranspose(4, 3, strides=2)(np.zeros((2, 5, 1))).shape
    (2, 11, 4)
    """

    rank = 1
    input_spec = InputSpec("batch, length, channels")


class Conv3DTranspose(TransposedConvolution):
    """A transposed convolution of volumes (alias Convolution3DTranspose).

    See `TransposedConvolution` for the parameters.

    The input has the shape (batch, depth, height, width, channels), the kernel (depth, height, width, filters,
    channels).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Conv3DTranspose(1, 3, strides=2, padding="same")(np.zeros((2, 3, 4, 4, 8))).shape
    (2, 6, 8, 8, 1)
    """

    rank = 3
    input_spec = InputSpec("batch, depth, height, width, channels")


Convolution3DTranspose = Conv3DTranspose
Convolution2DTranspose = Conv2DTranspose
Convolution1DTranspose = Conv1DTranspose
