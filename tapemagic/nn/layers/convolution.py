"""Conv1D and Conv2D: a small kernel of weights that moves over signals or images."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.operations.convolution import conv1d, conv2d
from tapemagic.engine.operations.windows import places, sliding
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn import activations
from tapemagic.nn.arguments import channels_last, choice, lengths, positive
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer


class Convolution(Layer):
    """Base class of `Conv1D` and `Conv2D`, with their parameters and `rank` spatial axes."""

    rank: int
    paddings: tuple[str, ...] = ("valid", "same")
    cast_kinds = "fbiu"

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
        super().__init__(**kwargs)
        kind = type(self).__name__
        channels_last(data_format, kind)
        self.filters = positive(filters, f"filters of {kind}")
        self.kernel_size = lengths(kernel_size, f"kernel_size of {kind}", self.rank)
        self.strides = lengths(strides, f"strides of {kind}", self.rank)
        self.padding = choice(padding, f"padding of {kind}", self.paddings)
        self.dilation_rate = lengths(dilation_rate, f"dilation_rate of {kind}", self.rank)
        self.groups = positive(groups, f"groups of {kind}")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise OptionError(
                f"{kind} takes strides or a dilation_rate other than 1, not both: strides={strides!r} and "
                f"dilation_rate={dilation_rate!r}"
            )
        if self.filters % self.groups:
            raise OptionError(
                f"filters of {kind} have to be a multiple of its groups: {self.filters} is none of {self.groups}"
            )
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        channels = input_shape[-1]
        if channels is not None and channels % self.groups:
            raise ShapeError(
                f"the layer {self.path!r} has {self.groups} groups, and got inputs of {channels} channels, in the "
                f"shape {input_shape}: their number has to be a multiple of {self.groups}"
            )
        self.kernel = self.add_weight(
            (*self.kernel_size, channels and channels // self.groups, self.filters),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            name="kernel",
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                (self.filters,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                name="bias",
            )
        self.input_spec = self.input_spec.built_for({-1: channels})  # type: ignore[union-attr]

    def call(self, inputs: Any) -> Any:
        """The outputs."""
        convolve = conv1d if self.rank == 1 else conv2d
        try:
            outputs = convolve(
                inputs, self.kernel, self.strides, self._padding(), self.dilation_rate
            )
        except ShapeError:
            self.compute_output_shape(inputs.shape)  # which names the layer
            raise
        if self.bias is not None:
            outputs = outputs + self.bias
        return self.activation(outputs)

    def _padding(self) -> Any:
        """The padding as the engine takes it; a causal one comes before the signal alone."""
        if self.padding == "causal":
            return [((self.kernel_size[0] - 1) * self.dilation_rate[0], 0)]
        return self.padding

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch, the places of the kernel, and the filters."""
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
        return (*batch, *counts, self.filters)


def window_places(
    spatial: Any, size: Any, strides: Any, padding: Any, dilations: Any, name: str
) -> tuple[int | None, ...]:
    """The number of places of a window along each spatial axis; None along axes of unknown length.

    Examples
    --------
    >>> window_places((None, 8), (3, 3), (1, 2), "valid", (1, 1), "Conv2D")
    (None, 3)
    """
    roomy = max(n * gap for n, gap in zip(size, dilations, strict=True))
    full = tuple(roomy if n is None else n for n in spatial)
    window = sliding(size, strides, padding, dilations, full, name)
    counts = zip(spatial, places(window, full), strict=True)
    return tuple(None if n is None else count for n, count in counts)


class Conv2D(Convolution):
    """A convolution of images: in each place, a weighted sum of the pixels below a kernel, for each filter.

    Parameters
    ----------
    filters : int
        The number of channels of the output.
    kernel_size : int or (int, int)
        The height and width of the kernel.
    strides : int or (int, int), optional
        How far the kernel moves.
    padding : {'valid', 'same'}, optional
        Whether the kernel stays inside the images, or zeros are put around them, so that there are
        ceil(length / stride) places.
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    dilation_rate : int or (int, int), optional
        How far apart the pixels are to which the kernel is applied. Not together with strides.
    groups : int, optional
        The channels are divided into so many groups, each with its own part of the filters.
    activation : str or callable, optional
    use_bias : bool, optional
    kernel_initializer, bias_initializer : str, callable or Initializer, optional
    kernel_regularizer, bias_regularizer : str, callable or Regularizer, optional
    **kwargs
        See `Layer`.

    Notes
    -----
    The input has the shape (batch, height, width, channels), the output (batch, new height, new width, filters), the
    kernel (height, width, channels / groups, filters). It is a cross-correlation: the kernel is not flipped.

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
    """A convolution of signals: in each place, a weighted sum of the elements below a kernel, for each filter.

    Parameters
    ----------
    filters : int
        The number of channels of the output.
    kernel_size, strides, dilation_rate : int or (int,)
        As of `Conv2D`, along one axis.
    padding : {'valid', 'same', 'causal'}, optional
        Causal puts zeros before the signals alone, so that no output depends on a later input.
    data_format, groups, activation, use_bias : optional
        As of `Conv2D`.
    kernel_initializer, bias_initializer : str, callable or Initializer, optional
    kernel_regularizer, bias_regularizer : str, callable or Regularizer, optional
    **kwargs
        See `Layer`.

    Notes
    -----
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
