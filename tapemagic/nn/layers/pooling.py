"""Pooling: the largest or the average element in each place of a window, or of whole images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations.pooling import avg_pool1d, avg_pool2d, max_pool1d, max_pool2d
from tapemagic.errors import ShapeError
from tapemagic.nn.arguments import channels_last, choice, lengths
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer
from tapemagic.nn.layers.convolution import window_places

IMAGES = InputSpec("batch, height, width, channels")
SIGNALS = InputSpec("batch, length, channels")


class Pooling(Layer):
    """Base class of poolings by windows, with their parameters and `rank` spatial axes.

    Parameters
    ----------
    pool_size : int or tuple of int, optional
        The lengths of the window.
    strides : int or tuple of int, optional
        How far it moves: as far as it is large, if left out.
    padding : {'valid', 'same'}, optional
        Whether the window stays inside, or may lie partly outside, where nothing counts.
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    **kwargs
        See `Layer`.
    """

    rank: int
    pool: Callable[..., Any]
    cast_kinds = "fbiu"

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        channels_last(data_format, kind)
        self.pool_size = lengths(pool_size, f"pool_size of {kind}", self.rank)
        steps = self.pool_size if strides is None else strides
        self.strides = lengths(steps, f"strides of {kind}", self.rank)
        self.padding = choice(padding, f"padding of {kind}", ("valid", "same"))

    def call(self, inputs: Any) -> Any:
        """The pooled images or signals."""
        try:
            return type(self).pool(inputs, self.pool_size, self.strides, self.padding)
        except ShapeError:
            self.compute_output_shape(inputs.shape)  # which names the layer
            raise

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch, the places of the window, and the channels."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        gaps = (1,) * self.rank
        name = f"the layer {self.path!r}"
        counts = window_places(spatial, self.pool_size, self.strides, self.padding, gaps, name)
        return (batch, *counts, channels)


class MaxPooling2D(Pooling):
    """The largest element in each place of a window over images, channel by channel; also called MaxPool2D.

    Parameters
    ----------
    pool_size : int or (int, int), optional
        The height and width of the window.
    strides : int or (int, int), optional
        How far it moves: as far as it is large, if left out.
    padding : {'valid', 'same'}, optional
        Whether the window stays inside, or may lie partly outside, where nothing counts.
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    **kwargs
        See `Layer`.

    Notes
    -----
    From (batch, height, width, channels) to (batch, new height, new width, channels).

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.MaxPooling2D()(np.arange(16.0).reshape(1, 4, 4, 1))[0, ..., 0].numpy()
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """

    rank = 2
    pool = max_pool2d
    input_spec = IMAGES


class MaxPooling1D(Pooling):
    """The largest element in each place of a window over signals, channel by channel; also called MaxPool1D.

    Parameters
    ----------
    pool_size, strides : int or (int,), optional
    padding : {'valid', 'same'}, optional
    data_format : {None, 'channels_last'}, optional
        All as of `MaxPooling2D`, along one axis.
    **kwargs
        See `Layer`.

    Notes
    -----
    From (batch, length, channels) to (batch, new length, channels).

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.MaxPooling1D()(np.arange(4.0).reshape(1, 4, 1)).numpy().ravel()
    array([1., 3.], dtype=float32)
    """

    rank = 1
    pool = max_pool1d
    input_spec = SIGNALS


class AveragePooling2D(Pooling):
    """The average in each place of a window over images, channel by channel; also called AvgPool2D.

    Parameters
    ----------
    pool_size, strides : int or (int, int), optional
    padding : {'valid', 'same'}, optional
    data_format : {None, 'channels_last'}, optional
        All as of `MaxPooling2D`; where the window lies partly outside, the average is that of what lies inside.
    **kwargs
        See `Layer`.

    Notes
    -----
    From (batch, height, width, channels) to (batch, new height, new width, channels).

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.AveragePooling2D()(np.arange(16.0).reshape(1, 4, 4, 1))[0, ..., 0].numpy()
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """

    rank = 2
    pool = avg_pool2d
    input_spec = IMAGES


class AveragePooling1D(Pooling):
    """The average in each place of a window over signals, channel by channel; also called AvgPool1D.

    Parameters
    ----------
    pool_size, strides : int or (int,), optional
    padding : {'valid', 'same'}, optional
    data_format : {None, 'channels_last'}, optional
        All as of `AveragePooling2D`, along one axis.
    **kwargs
        See `Layer`.

    Notes
    -----
    From (batch, length, channels) to (batch, new length, channels).

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.AveragePooling1D()(np.arange(4.0).reshape(1, 4, 1)).numpy().ravel()
    array([0.5, 2.5], dtype=float32)
    """

    rank = 1
    pool = avg_pool1d
    input_spec = SIGNALS


MaxPool2D = MaxPooling2D
MaxPool1D = MaxPooling1D
AvgPool2D = AveragePooling2D
AvgPool1D = AveragePooling1D


class GlobalPooling(Layer):
    """Base class of poolings over all of an image or signal.

    Parameters
    ----------
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    keepdims : bool, optional
        Whether the spatial axes stay, with length 1.
    **kwargs
        See `Layer`.
    """

    rank: int
    reduce: Callable[..., Any]
    cast_kinds = "fbiu"

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        channels_last(data_format, type(self).__name__)
        self.keepdims = bool(keepdims)

    def call(self, inputs: Any) -> Any:
        """One number for each channel."""
        axes = tuple(range(1, 1 + self.rank))
        return type(self).reduce(inputs, axis=axes, keepdims=self.keepdims)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch and the channels."""
        self._require_shape(tuple(input_shape))
        ones = (1,) * self.rank if self.keepdims else ()
        return (input_shape[0], *ones, input_shape[-1])


class GlobalAveragePooling2D(GlobalPooling):
    """The average of each channel of an image; also called GlobalAvgPool2D.

    Parameters
    ----------
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    keepdims : bool, optional
        Whether the output is (batch, 1, 1, channels) instead of (batch, channels).
    **kwargs
        See `Layer`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.GlobalAveragePooling2D()(np.arange(8.0).reshape(1, 2, 2, 2)).numpy()
    array([[3., 4.]], dtype=float32)
    """

    rank = 2
    reduce = np.mean
    input_spec = IMAGES


class GlobalAveragePooling1D(GlobalPooling):
    """The average of each channel of a signal; also called GlobalAvgPool1D.

    Parameters
    ----------
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    keepdims : bool, optional
        Whether the output is (batch, 1, channels) instead of (batch, channels).
    **kwargs
        See `Layer`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.GlobalAveragePooling1D()(np.arange(6.0).reshape(1, 3, 2)).numpy()
    array([[2., 3.]], dtype=float32)
    """

    rank = 1
    reduce = np.mean
    input_spec = SIGNALS

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """One number for each channel; with a mask of shape (batch, length), the average where it is true."""
        if mask is None:
            return super().call(inputs)
        weights = as_array(mask).astype(inputs.dtype)[..., None]
        total = np.sum(inputs * weights, axis=1, keepdims=self.keepdims)
        return total / np.sum(weights, axis=1, keepdims=self.keepdims)


class GlobalMaxPooling2D(GlobalPooling):
    """The largest element of each channel of an image; also called GlobalMaxPool2D.

    Parameters
    ----------
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    keepdims : bool, optional
        Whether the output is (batch, 1, 1, channels) instead of (batch, channels).
    **kwargs
        See `Layer`.

    Notes
    -----
    Where several elements are largest, they share the gradient evenly, as in TensorFlow.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.GlobalMaxPooling2D()(np.arange(8.0).reshape(1, 2, 2, 2)).numpy()
    array([[6., 7.]], dtype=float32)
    """

    rank = 2
    reduce = np.max
    input_spec = IMAGES


class GlobalMaxPooling1D(GlobalPooling):
    """The largest element of each channel of a signal; also called GlobalMaxPool1D.

    Parameters
    ----------
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    keepdims : bool, optional
        Whether the output is (batch, 1, channels) instead of (batch, channels).
    **kwargs
        See `Layer`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.GlobalMaxPooling1D()(np.arange(6.0).reshape(1, 3, 2)).numpy()
    array([[4., 5.]], dtype=float32)
    """

    rank = 1
    reduce = np.max
    input_spec = SIGNALS


GlobalAvgPool2D = GlobalAveragePooling2D
GlobalAvgPool1D = GlobalAveragePooling1D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalMaxPool1D = GlobalMaxPooling1D
