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
VOLUMES = InputSpec("batch, depth, height, width, channels")
SIGNALS = InputSpec("batch, length, channels")


def _of_rank(values: Any) -> Any:
    """Return the values for all axes in the form that Keras stores: for a single axis, its value."""
    return values[0] if len(values) == 1 else values


def _pairs(value: Any, what: str, rank: int) -> tuple[tuple[int, int], ...]:
    """Return pairs (before, after) for each spatial axis, from one number for all, one for each axis, or pairs."""
    entries = value if isinstance(value, list | tuple) else (value,) * rank
    # For one axis, (1, 2) is the pair (before, after); for two axes, it's one number for each axis.
    if rank == 1 and len(entries) == 2:
        entries = (entries,)
    pairs = [integers_in(part) for part in entries]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    if len(pairs) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise OptionError(
            f"{what} must be an integer of at least 0, one for each axis, or pairs (before, after), not {value!r}"
        )
    return tuple((before, after) for before, after in pairs)


class ZeroPadding2D(Layer):
    """Zeros around images.

    Parameters
    ----------
    padding : int, (int, int) or ((int, int), (int, int)), optional
        The number of zeros: on all sides; (above and below, left and right); or ((above, below), (left, right)).
    **kwargs : see `Layer`

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

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer."""
        return super().get_config() | {"padding": _of_rank(self.padding)}

    def call(self, inputs: Any) -> Any:
        """Return the inputs surrounded by zeros."""
        return np.pad(inputs, ((0, 0), *self.padding, (0, 0)))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the zeros."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        pairs = zip(spatial, self.padding, strict=True)
        return (batch, *(None if n is None else n + sum(pad) for n, pad in pairs), channels)


class ZeroPadding1D(ZeroPadding2D):
    """Zeros before and after signals.

    Parameters
    ----------
    padding : int or (int, int), optional
        The number of zeros: on both sides, or (before, after).
    **kwargs : see `Layer`

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

    Raises ShapeError in a call, if nothing remains.

    Parameters
    ----------
    cropping : int, (int, int) or ((int, int), (int, int)), optional
        The number of rows and columns to cut off: on all sides; (above and below, left and right); or
        ((above, below), (left, right)).
    **kwargs : see `Layer`

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

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer."""
        return super().get_config() | {"cropping": _of_rank(self.cropping)}

    def call(self, inputs: Any) -> Any:
        """Return the inner parts of the inputs."""
        self.compute_output_shape(inputs.shape)  # raises if nothing remains
        pairs = zip(self.cropping, inputs.shape[1:-1], strict=True)
        return inputs[(slice(None), *(slice(before, n - after) for (before, after), n in pairs))]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape without the margins."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        left = [
            None if n is None else n - sum(cut)
            for n, cut in zip(spatial, self.cropping, strict=True)
        ]
        if any(n is not None and n <= 0 for n in left):
            raise ShapeError(
                f"the layer {self.path!r} cuts {self.cropping} off, so nothing remains of the shape "
                f"{tuple(input_shape)}"
            )
        return (batch, *left, channels)


class Cropping1D(Cropping2D):
    """Signals without their ends.

    Parameters
    ----------
    cropping : int or (int, int), optional
        The number of elements to cut off: on both sides, or (before, after).
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Cropping1D()(np.arange(4.0).reshape(1, 4, 1)).numpy().ravel()
    array([1., 2.], dtype=float32)
    """

    rank = 1
    _not_in_config = Layer._not_in_config | {"data_format"}  # Keras's layer has no such option
    input_spec = SIGNALS

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


class UpSampling2D(Layer):
    """Images made larger: each pixel is repeated.

    Parameters
    ----------
    size : int or (int, int), optional
        The number of repetitions along the height and the width.
    interpolation : {'nearest'}, optional
        Others raise OptionError.
    **kwargs : see `Layer`

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

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer."""
        return super().get_config() | {"size": _of_rank(self.size)}

    def call(self, inputs: Any) -> Any:
        """Return the larger images or signals."""
        # Nearest neighbors by repetition; the gradient of a pixel is the sum over its copies.
        for axis, times in enumerate(self.size, 1):
            if times > 1:
                inputs = np.repeat(inputs, times, axis=axis)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the spatial axes times the size."""
        self._require_shape(tuple(input_shape))
        batch, *spatial, channels = input_shape
        pairs = zip(spatial, self.size, strict=True)
        return (batch, *(None if n is None else n * times for n, times in pairs), channels)


class UpSampling1D(UpSampling2D):
    """Signals made longer: each element is repeated.

    Parameters
    ----------
    size : int, optional
        The number of repetitions.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.UpSampling1D(3)(np.ones((1, 2, 1))).shape
    (1, 6, 1)
    """

    rank = 1
    _not_in_config = Layer._not_in_config | {"data_format", "interpolation"}
    input_spec = SIGNALS

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(size, **kwargs)


class ZeroPadding3D(ZeroPadding2D):
    """Zeros around volumes.

    Parameters
    ----------
    padding : int, (int, int, int) or tuple of 3 pairs, optional
        The number of zeros on all sides, for each axis, or (before, after) for each axis.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.ZeroPadding3D((1, 0, 2))(np.ones((1, 3, 3, 3, 1))).shape
    (1, 5, 3, 7, 1)
    """

    rank = 3
    input_spec = VOLUMES


class Cropping3D(Cropping2D):
    """Volumes without their margins.

    Parameters
    ----------
    cropping : int, (int, int, int) or tuple of 3 pairs, optional
        The number of elements to cut off on all sides, for each axis, or (before, after) for each axis.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Cropping3D()(np.ones((1, 5, 5, 4, 1))).shape
    (1, 3, 3, 2, 1)
    """

    rank = 3
    input_spec = VOLUMES

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


class UpSampling3D(UpSampling2D):
    """Volumes made larger: each element is repeated.

    Parameters
    ----------
    size : int or (int, int, int), optional
        The number of repetitions along each axis.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.UpSampling3D(2)(np.ones((1, 2, 2, 2, 1))).shape
    (1, 4, 4, 4, 1)
    """

    rank = 3
    _not_in_config = Layer._not_in_config | {"interpolation"}
    input_spec = VOLUMES

    def __init__(self, size: Any = 2, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(size, data_format, **kwargs)
