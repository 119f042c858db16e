"""Pooling: the maximum or the average over a sliding window, or over whole images or signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations.pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from tapemagic.errors import ShapeError
from tapemagic.nn.arguments import channels_last, choice, lengths
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer
from tapemagic.nn.layers.convolution import window_places

IMAGES = InputSpec("batch, height, width, channels")
VOLUMES = InputSpec("batch, depth, height, width, channels")
SIGNALS = InputSpec("batch, length, channels")


class Pooling(Layer):
    """Base class of pooling over a sliding window, with `rank` spatial axes.

    Parameters
    ----------
    pool_size : int or tuple of int, optional
        The lengths of the window.
    strides : int or tuple of int, optional
        The step of the window, by default its size.
    padding : {'valid', 'same'}, optional
        "valid" keeps the window inside the input. With "same" it may extend beyond, where nothing counts.
    data_format : optional, see `Layer`
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
        # Windows that don't overlap are the usual case, so Keras's default stride is the size of the window.
        steps = self.pool_size if strides is None else strides
        self.strides = lengths(steps, f"strides of {kind}", self.rank)
        self.padding = choice(padding, f"padding of {kind}", ("valid", "same"))

    def call(self, inputs: Any) -> Any:
        """Return the pooled images or signals."""
        try:
            return type(self).pool(inputs, self.pool_size, self.strides, self.padding)
        except ShapeError:
            self.compute_output_shape(inputs.shape)  # raises an error that names the layer
            raise

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the positions of the window, and the channels."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        gaps = (1,) * self.rank
        name = f"the layer {self.path!r}"
        counts = window_places(spatial, self.pool_size, self.strides, self.padding, gaps, name)
        return (batch, *counts, channels)


class MaxPooling2D(Pooling):
    """The maximum over a window that slides over images, for each channel (alias MaxPool2D).

    See `Pooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.MaxPooling2D()(np.arange(16.0).reshape(1, 4, 4, 1))[0, ..., 0].numpy()
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """

    rank = 2
    pool = max_pool2d
    input_spec = IMAGES


class MaxPooling1D(Pooling):
    """The maximum over a window that slides over signals, for each channel (alias MaxPool1D).

    See `Pooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.MaxPooling1D()(np.arange(4.0).reshape(1, 4, 1)).numpy().ravel()
    array([1., 3.], dtype=float32)
    """

    rank = 1
    pool = max_pool1d
    input_spec = SIGNALS


class AveragePooling2D(Pooling):
    """The average over a window that slides over images, for each channel (alias AvgPool2D).

    See `Pooling` for the parameters. Only elements inside the image count.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AveragePooling2D()(np.arange(16.0).reshape(1, 4, 4, 1))[0, ..., 0].numpy()
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """

    rank = 2
    pool = avg_pool2d
    input_spec = IMAGES


class AveragePooling1D(Pooling):
    """The average over a window that slides over signals, for each channel (alias AvgPool1D).

    See `Pooling` for the parameters. Only elements inside the signal count.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AveragePooling1D()(np.arange(4.0).reshape(1, 4, 1)).numpy().ravel()
    array([0.5, 2.5], dtype=float32)
    """

    rank = 1
    pool = avg_pool1d
    input_spec = SIGNALS


class MaxPooling3D(Pooling):
    """The maximum over a window that slides over volumes, for each channel (alias MaxPool3D).

    See `Pooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.MaxPooling3D()(np.ones((1, 4, 4, 6, 3))).shape
    (1, 2, 2, 3, 3)
    """

    rank = 3
    pool = max_pool3d
    input_spec = VOLUMES


class AveragePooling3D(Pooling):
    """The average over a window that slides over volumes, for each channel (alias AvgPool3D).

    See `Pooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AveragePooling3D()(np.ones((1, 4, 4, 6, 3))).shape
    (1, 2, 2, 3, 3)
    """

    rank = 3
    pool = avg_pool3d
    input_spec = VOLUMES


MaxPool3D = MaxPooling3D
AvgPool3D = AveragePooling3D
MaxPool2D = MaxPooling2D
MaxPool1D = MaxPooling1D
AvgPool2D = AveragePooling2D
AvgPool1D = AveragePooling1D


class GlobalPooling(Layer):
    """Base class of pooling over an entire image or signal.

    Parameters
    ----------
    data_format : optional, see `Layer`
    keepdims : bool, optional
        Keep the spatial axes, with length 1.
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
        """Return one number for each channel."""
        axes = tuple(range(1, 1 + self.rank))
        return type(self).reduce(inputs, axis=axes, keepdims=self.keepdims)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch and the channels."""
        self._require_shape(tuple(input_shape))
        ones = (1,) * self.rank if self.keepdims else ()
        return (input_shape[0], *ones, input_shape[-1])


class GlobalAveragePooling2D(GlobalPooling):
    """The average of each channel of an image (alias GlobalAvgPool2D).

    See `GlobalPooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GlobalAveragePooling2D()(np.arange(8.0).reshape(1, 2, 2, 2)).numpy()
    array([[3., 4.]], dtype=float32)
    """

    rank = 2
    reduce = np.mean
    input_spec = IMAGES


class GlobalAveragePooling1D(GlobalPooling):
    """The average of each channel of a signal (alias GlobalAvgPool1D).

    See `GlobalPooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GlobalAveragePooling1D()(np.arange(6.0).reshape(1, 3, 2)).numpy()
    array([[2., 3.]], dtype=float32)
    """

    rank = 1
    reduce = np.mean
    input_spec = SIGNALS

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return None: the output has no steps."""

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return the average of each channel, with a mask of shape (batch, length) only where it's true."""
        if mask is None:
            return super().call(inputs)
        # As in Keras: the sum of the other steps is divided by their number. np.where, not a product with the mask:
        # a masked nan doesn't count, and neither does the 0 / 0 of an example without steps in its gradient.
        mask = as_array(mask).astype(bool)[..., None]
        total = np.sum(np.where(mask, inputs, 0), axis=1, keepdims=self.keepdims)
        return total / np.sum(mask.astype(inputs.dtype), axis=1, keepdims=self.keepdims)


class GlobalMaxPooling2D(GlobalPooling):
    """The maximum of each channel of an image (alias GlobalMaxPool2D).

    See `GlobalPooling` for the parameters.

    Tied elements share the gradient evenly, as in TensorFlow.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GlobalMaxPooling2D()(np.arange(8.0).reshape(1, 2, 2, 2)).numpy()
    array([[6., 7.]], dtype=float32)
    """

    rank = 2
    reduce = np.max
    input_spec = IMAGES


class GlobalMaxPooling1D(GlobalPooling):
    """The maximum of each channel of a signal (alias GlobalMaxPool1D).

    See `GlobalPooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GlobalMaxPooling1D()(np.arange(6.0).reshape(1, 3, 2)).numpy()
    array([[4., 5.]], dtype=float32)
    """

    rank = 1
    reduce = np.max
    input_spec = SIGNALS


class GlobalAveragePooling3D(GlobalPooling):
    """The average of each channel of a volume (alias GlobalAvgPool3D).

    See `GlobalPooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GlobalAveragePooling3D()(np.ones((1, 2, 2, 2, 3))).shape
    (1, 3)
    """

    rank = 3
    reduce = np.mean
    input_spec = VOLUMES


class GlobalMaxPooling3D(GlobalPooling):
    """The maximum of each channel of a volume (alias GlobalMaxPool3D).

    See `GlobalPooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GlobalMaxPooling3D()(np.ones((1, 2, 2, 2, 3))).shape
    (1, 3)
    """

    rank = 3
    reduce = np.max
    input_spec = VOLUMES


GlobalAvgPool3D = GlobalAveragePooling3D
GlobalMaxPool3D = GlobalMaxPooling3D
GlobalAvgPool2D = GlobalAveragePooling2D
GlobalAvgPool1D = GlobalAveragePooling1D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalMaxPool1D = GlobalMaxPooling1D


def adaptive_average(x: Any, sizes: tuple[int, ...]) -> Any:
    """Return averages of windows that divide the spatial axes into `sizes` nearly equal parts.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_average(np.arange(5.0).reshape(1, 5, 1), (2,)).ravel()
    array([1., 3.])
    """
    for axis, count in enumerate(sizes, 1):
        first, last = _windows(x.shape[axis], count)
        places = np.arange(x.shape[axis])
        inside = (first[:, None] <= places) & (places < last[:, None])
        weights = (inside / inside.sum(1, keepdims=True)).astype(x.dtype)
        x = np.moveaxis(np.tensordot(x, weights, (axis, 1)), -1, axis)
    return x


def adaptive_max(x: Any, sizes: tuple[int, ...]) -> Any:
    """Return maxima of windows that divide the spatial axes into `sizes` nearly equal parts.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_max(np.arange(5.0).reshape(1, 5, 1), (2,)).ravel()
    array([2., 4.])
    """
    for axis, count in enumerate(sizes, 1):
        first, last = _windows(x.shape[axis], count)
        # Shorter windows repeat their last element. Of equal elements, the first has the gradient, as in `max_pool2d`.
        places = np.minimum(first[:, None] + np.arange(max(last - first)), last[:, None] - 1)
        windows = np.take(x, places, axis)
        largest = np.argmax(windows, axis=axis + 1, keepdims=True)
        x = np.squeeze(np.take_along_axis(windows, largest, axis=axis + 1), axis + 1)
    return x


def _windows(length: int, count: int) -> tuple[Any, Any]:
    """Return the first places of windows, and those after their last."""
    number = np.arange(count)
    return number * length // count, -(-(number + 1) * length // count)


class AdaptivePooling(Layer):
    """Base class of pooling with windows that follow from the size of the output.

    Parameters
    ----------
    output_size : int or tuple of int
        The lengths of the output. Window number ``i`` of ``n`` begins at ``floor(i * length / n)``, and ends before
        ``ceil((i + 1) * length / n)``.
    data_format : optional, see `Layer`
    """

    rank: int
    pool: Callable[..., Any]
    cast_kinds = "fbiu"

    def __init__(self, output_size: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        channels_last(data_format, kind)
        self.output_size = lengths(output_size, f"output_size of {kind}", self.rank)

    def call(self, inputs: Any) -> Any:
        """Return the pooled images or signals."""
        return type(self).pool(inputs, self.output_size)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the lengths of the output, and the channels."""
        self._require_shape(tuple(input_shape))
        return (input_shape[0], *self.output_size, input_shape[-1])


class AdaptiveAveragePooling1D(AdaptivePooling):
    """The average of each of `output_size` parts of a signal, for each channel.

    See `AdaptivePooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AdaptiveAveragePooling1D(2)(np.ones((1, 5, 3))).shape
    (1, 2, 3)
    """

    rank = 1
    pool = adaptive_average
    input_spec = SIGNALS


class AdaptiveMaxPooling1D(AdaptivePooling):
    """The maximum of each of `output_size` parts of a signal, for each channel.

    See `AdaptivePooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AdaptiveMaxPooling1D(2)(np.ones((1, 5, 3))).shape
    (1, 2, 3)
    """

    rank = 1
    pool = adaptive_max
    input_spec = SIGNALS


class AdaptiveAveragePooling2D(AdaptivePooling):
    """The average of each of `output_size` parts of an image, for each channel.

    See `AdaptivePooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AdaptiveAveragePooling2D(2)(np.ones((1, 5, 4, 3))).shape
    (1, 2, 2, 3)
    """

    rank = 2
    pool = adaptive_average
    input_spec = IMAGES


class AdaptiveMaxPooling2D(AdaptivePooling):
    """The maximum of each of `output_size` parts of an image, for each channel.

    See `AdaptivePooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AdaptiveMaxPooling2D(2)(np.ones((1, 5, 4, 3))).shape
    (1, 2, 2, 3)
    """

    rank = 2
    pool = adaptive_max
    input_spec = IMAGES


class AdaptiveAveragePooling3D(AdaptivePooling):
    """The average of each of `output_size` parts of a volume, for each channel.

    See `AdaptivePooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AdaptiveAveragePooling3D(2)(np.ones((1, 5, 4, 4, 3))).shape
    (1, 2, 2, 2, 3)
    """

    rank = 3
    pool = adaptive_average
    input_spec = VOLUMES


class AdaptiveMaxPooling3D(AdaptivePooling):
    """The maximum of each of `output_size` parts of a volume, for each channel.

    See `AdaptivePooling` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AdaptiveMaxPooling3D(2)(np.ones((1, 5, 4, 4, 3))).shape
    (1, 2, 2, 2, 3)
    """

    rank = 3
    pool = adaptive_max
    input_spec = VOLUMES
