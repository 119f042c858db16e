"""ZeroPadding, Cropping and UpSampling: images and signals made larger or smaller."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.windows import integers_in
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import channels_last, choice, lengths
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer

IMAGES = InputSpec("batch, height, width, channels")
SIGNALS = InputSpec("batch, length, channels")


def _pairs(value: Any, what: str, rank: int) -> tuple[tuple[int, int], ...]:
    """The elements before and after each spatial axis, from one number for all, one for each axis, or pairs."""
    several = value if isinstance(value, list | tuple) else (value,) * rank
    if rank == 1 and len(several) == 2:
        several = (several,)
    pairs = [integers_in(part) for part in several]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    if len(pairs) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise OptionError(
            f"{what} is a whole number from 0 on, one for each axis, or a pair (before, after) for each, not {value!r}"
        )
    return tuple((before, after) for before, after in pairs)


class ZeroPadding2D(Layer):
    """Zeros around images.

    Parameters
    ----------
    padding : int, (int, int) or ((int, int), (int, int)), optional
        How many: on all sides; above and below, left and right; or ((above, below), (left, right)).
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `padding` is something else.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.ZeroPadding2D(((1, 0), (2, 2)))(np.ones((1, 3, 3, 1))).shape
    (1, 4, 7, 1)
    """

    rank = 2
    input_spec = IMAGES

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(data_format, type(self).__name__)
        self.padding = _pairs(padding, f"padding of {type(self).__name__}", self.rank)

    def call(self, inputs: Any) -> Any:
        """The inputs with zeros around them."""
        return np.pad(inputs, ((0, 0), *self.padding, (0, 0)))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The spatial axes with the zeros."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        pairs = zip(spatial, self.padding, strict=True)
        return (batch, *(None if n is None else n + sum(pad) for n, pad in pairs), channels)


class ZeroPadding1D(ZeroPadding2D):
    """Zeros before and after signals.

    Parameters
    ----------
    padding : int or (int, int), optional
        How many: on both sides, or (before, after).
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `padding` is something else.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.ZeroPadding1D((2, 0))(np.ones((1, 3, 1))).numpy().ravel()
    array([0., 0., 1., 1., 1.], dtype=float32)
    """

    rank = 1
    input_spec = SIGNALS


class Cropping2D(Layer):
    """Images without their margins.

    Parameters
    ----------
    cropping : int, (int, int) or ((int, int), (int, int)), optional
        How many rows and columns to cut off: on all sides; above and below, left and right; or ((above, below),
        (left, right)).
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `cropping` is something else.
    ShapeError
        When it is called, if nothing would be left.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Cropping2D(((1, 0), (2, 2)))(np.ones((1, 7, 7, 1))).shape
    (1, 6, 3, 1)
    """

    rank = 2
    input_spec = IMAGES

    def __init__(self, cropping: Any = 0, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(data_format, type(self).__name__)
        self.cropping = _pairs(cropping, f"cropping of {type(self).__name__}", self.rank)

    def call(self, inputs: Any) -> Any:
        """The inner parts of the inputs."""
        self.compute_output_shape(inputs.shape)
        pairs = zip(self.cropping, inputs.shape[1:-1], strict=True)
        return inputs[(slice(None), *(slice(before, n - after) for (before, after), n in pairs))]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The spatial axes without the margins."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        left = [
            None if n is None else n - sum(cut)
            for n, cut in zip(spatial, self.cropping, strict=True)
        ]
        if any(n is not None and n <= 0 for n in left):
            raise ShapeError(
                f"the layer {self.path!r} cuts {self.cropping} off, and got the shape {tuple(input_shape)}, of which "
                "nothing would be left"
            )
        return (batch, *left, channels)


class Cropping1D(Cropping2D):
    """Signals without their ends.

    Parameters
    ----------
    cropping : int or (int, int), optional
        How many elements to cut off: on both sides, or (before, after).
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `cropping` is something else.
    ShapeError
        When it is called, if nothing would be left.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Cropping1D()(np.arange(4.0).reshape(1, 4, 1)).numpy().ravel()
    array([1., 2.], dtype=float32)
    """

    rank = 1
    input_spec = SIGNALS

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


class UpSampling2D(Layer):
    """Images made larger: each pixel is repeated.

    Parameters
    ----------
    size : int or (int, int), optional
        How often along the height and the width.
    data_format : {None, 'channels_last'}, optional
        Other layouts are refused.
    interpolation : {'nearest'}, optional
        Others are refused.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If a parameter has a value that it does not take.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.UpSampling2D((1, 2))(np.array([[1.0, 2.0]]).reshape(1, 1, 2, 1)).numpy().ravel()
    array([1., 1., 2., 2.], dtype=float32)
    """

    rank = 2
    input_spec = IMAGES

    def __init__(
        self,
        size: Any = 2,
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        channels_last(data_format, kind)
        choice(interpolation, f"interpolation of {kind}", ("nearest",))
        self.size = lengths(size, f"size of {kind}", self.rank)

    def call(self, inputs: Any) -> Any:
        """The larger images."""
        for axis, times in enumerate(self.size, 1):
            if times > 1:
                inputs = np.repeat(inputs, times, axis=axis)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The spatial axes times the size."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        pairs = zip(spatial, self.size, strict=True)
        return (batch, *(None if n is None else n * times for n, times in pairs), channels)


class UpSampling1D(UpSampling2D):
    """Signals made longer: each element is repeated.

    Parameters
    ----------
    size : int, optional
        How often.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `size` is no positive whole number.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.UpSampling1D(3)(np.ones((1, 2, 1))).shape
    (1, 6, 1)
    """

    rank = 1
    input_spec = SIGNALS

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(size, **kwargs)
