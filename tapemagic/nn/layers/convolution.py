"""Conv1D, Conv2D and Conv3D: a small kernel of weights that slides over signals, images or volumes."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.operations.convolution import conv1d, conv2d, conv3d
from tapemagic.engine.operations.windows import places, sliding
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn import activations
from tapemagic.nn.arguments import channels_last, choice, lengths, positive
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer

CONVOLVE = {1: conv1d, 2: conv2d, 3: conv3d}
"""The convolutions of the engine, by the number of spatial axes."""


class Sliding(Layer):
    """Base class of layers whose kernel slides along `rank` spatial axes: their common parameters, and the bias.

    Parameters
    ----------
    kernel_size : int or tuple of int
        The lengths of the kernel.
    strides : int or tuple of int, optional
        The step of the kernel.
    padding : {'valid', 'same'}, optional
        "valid" keeps the kernel inside the input. "same" puts zeros around it, so that the output has
        ceil(length / stride) elements.
    dilation_rate : int or tuple of int, optional
        The distance of the input elements below the kernel.
    data_format, activation, use_bias, bias_initializer, bias_regularizer
        See `Layer`.
    """

    rank: int
    paddings: tuple[str, ...] = ("valid", "same")
    cast_kinds = "fbiu"

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        bias_initializer: Any = "zeros",
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        channels_last(data_format, kind)
        self.kernel_size = lengths(kernel_size, f"kernel_size of {kind}", self.rank)
        self.strides = lengths(strides, f"strides of {kind}", self.rank)
        self.padding = choice(padding, f"padding of {kind}", self.paddings)
        self.dilation_rate = lengths(dilation_rate, f"dilation_rate of {kind}", self.rank)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.bias_initializer = bias_initializer
        self.bias_regularizer = bias_regularizer

    def _refuse_strides_with_dilation(self) -> None:
        # TensorFlow refuses this combination, too.
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise OptionError(
                f"{type(self).__name__} takes either strides or a dilation_rate above 1, not both: "
                f"strides={self.strides!r} and dilation_rate={self.dilation_rate!r}"
            )

    def _finish_build(self, channels: Any, width: int) -> None:
        """Create the bias for `width` channels of the output, and fix the channels of the input."""
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (width,), self.bias_initializer, regularizer=self.bias_regularizer, name="bias"
            )
        self.input_spec = self.input_spec.built_for({-1: channels})  # type: ignore[union-attr]

    def call(self, inputs: Any) -> Any:
        """Return the activation of the convolution of the inputs plus the bias."""
        # Shapes are checked by the engine; only after an error they are checked again, to name the layer.
        try:
            outputs = self._convolved(inputs)
        except ShapeError:
            self.compute_output_shape(inputs.shape)  # raises an error that names the layer
            raise
        if self.bias is not None:
            outputs = outputs + self.bias
        return self.activation(outputs)

    def _convolved(self, inputs: Any) -> Any:
        raise NotImplementedError

    def _padding(self) -> Any:
        """Return the padding in the engine's form."""
        return self.padding

    def _width(self, input_shape: Any) -> Any:  # noqa: ARG002 (for those that multiply the channels)
        """Return the number of channels of the output."""
        return self.filters

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the positions of the kernel, and the channels of the output."""
        self._require_shape(tuple(input_shape))
        *batch, _ = input_shape
        batch, spatial = batch[: -self.rank], batch[-self.rank :]
        counts = window_places(
            spatial,
            self.kernel_size,
            self.strides,
            self._padding(),
            self.dilation_rate,
            f"the layer {self.path!r}",
        )
        return (*batch, *counts, self._width(input_shape))


class Convolution(Sliding):
    """Base class of `Conv1D`, `Conv2D` and `Conv3D`, with `rank` spatial axes.

    Parameters
    ----------
    filters : int
        The number of channels of the output.
    padding : {'valid', 'same', 'causal'}, optional
        "causal", only for `Conv1D`, puts zeros before the signal, so that no output depends on a later input.
    dilation_rate : int or tuple of int, optional
        The distance of the input elements below the kernel. Not together with strides.
    groups : int, optional
        Divide the channels into this many groups, each with its own part of the filters.
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
        data_format: str | None = None,
        dilation_rate: Any = 1,
        groups: int = 1,
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
        kind = type(self).__name__
        self.filters = positive(filters, f"filters of {kind}")
        self.groups = positive(groups, f"groups of {kind}")
        self._refuse_strides_with_dilation()
        if self.filters % self.groups:
            raise OptionError(
                f"filters of {kind} must be a multiple of its groups: {self.filters} isn't a multiple of {self.groups}"
            )
        self.kernel_initializer = kernel_initializer
        self.kernel_regularizer = kernel_regularizer

    def build(self, input_shape: Any) -> None:
        """Create the kernel and the bias."""
        channels = input_shape[-1]
        if channels is not None and channels % self.groups:
            raise ShapeError(
                f"the layer {self.path!r} has {self.groups} groups, and got inputs of {channels} channels, in the "
                f"shape {input_shape}: their number must be a multiple of {self.groups}"
            )
        self.kernel = self.add_weight(
            (*self.kernel_size, channels and channels // self.groups, self.filters),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            name="kernel",
        )
        self._finish_build(channels, self.filters)

    def _convolved(self, inputs: Any) -> Any:
        return CONVOLVE[self.rank](
            inputs, self.kernel, self.strides, self._padding(), self.dilation_rate
        )

    def _padding(self) -> Any:
        """Return the padding in the engine's form."""
        if self.padding == "causal":
            # As many zeros before the signal as the kernel looks back, so output t sees inputs up to t.
            return [((self.kernel_size[0] - 1) * self.dilation_rate[0], 0)]
        return self.padding


def window_places(
    spatial: Any, size: Any, strides: Any, padding: Any, dilations: Any, name: str
) -> tuple[int | None, ...]:
    """Return the number of positions of a window along each spatial axis, or None for an unknown length.

    Examples
    --------
    >>> window_places((None, 8), (3, 3), (1, 2), "valid", (1, 1), "Conv2D")
    (None, 3)
    """
    # An unknown length is replaced by one that fits the window, so that the known axes can be checked.
    roomy = max(n * gap for n, gap in zip(size, dilations, strict=True))
    full = tuple(roomy if n is None else n for n in spatial)
    window = sliding(size, strides, padding, dilations, full, name)
    counts = zip(spatial, places(window, full), strict=True)
    return tuple(None if n is None else count for n, count in counts)


class Conv2D(Convolution):
    """A convolution of images: for each position and filter, a weighted sum of the pixels below a kernel.

    See `Convolution` for the parameters.

    The input has the shape (batch, height, width, channels), the output (batch, new height, new width, filters), the
    kernel (height, width, channels / groups, filters). As in all deep learning libraries, this is a cross-correlation:
    the kernel isn't flipped.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Conv2D(16, 3, padding="same", activation="relu")(np.zeros((2, 8, 8, 1))).shape
    (2, 8, 8, 16)
    """

    rank = 2
    input_spec = InputSpec("batch, height, width, channels")


class Conv1D(Convolution):
    """A convolution of signals: for each position and filter, a weighted sum of the elements below a kernel.

    See `Convolution` for the parameters.

    The input has the shape (batch, length, channels), the output (batch, new length, filters), the kernel
    (length, channels / groups, filters).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Conv1D(4, 3, padding="causal")(np.zeros((2, 10, 1))).shape
    (2, 10, 4)
    """

    rank = 1
    paddings = ("valid", "same", "causal")
    input_spec = InputSpec("batch, length, channels")


class Conv3D(Convolution):
    """A convolution of volumes or films: for each position and filter, a weighted sum of the elements below a kernel.

    See `Convolution` for the parameters.

    The input has the shape (batch, depth, height, width, channels), the kernel (depth, height, width,
    channels / groups, filters).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Conv3D(4, 3, padding="same")(np.zeros((2, 5, 6, 6, 1))).shape
    (2, 5, 6, 6, 4)
    """

    rank = 3
    input_spec = InputSpec("batch, depth, height, width, channels")


Convolution3D = Conv3D
Convolution2D = Conv2D
Convolution1D = Conv1D
