"""Dropout and noise: random changes of the inputs, only during training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import IN_PARTS, require_computed
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.operations.windows import integers_in
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import channels_last, number, share
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Pointwise
from tapemagic.nn.random import draw, dropped, generator

SELU_LIMIT = -1.7580993408473766
"""The limit of `selu` for small numbers: minus the product of its two constants."""


class Noise(Pointwise):
    """Base class of layers with random numbers, from their own generator if they have a seed.

    Parameters
    ----------
    seed : int or numpy.random.Generator, optional, see `Layer`
    """

    cast_kinds = "fbiu"

    def __init__(self, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self._own = None if seed is None else generator(seed)

    def _draw(self, method: str, *args: Any) -> Any:
        """Draw random numbers from the layer's own generator, or the global generator."""
        return draw(method, *args, rng=self._own)

    def _require_computed(self, inputs: Any) -> None:
        """Raise an error for lazy inputs, whose random numbers would all be in memory at once."""
        how = f"the layer {self.path!r}, which draws random numbers,"
        require_computed(unwrap(inputs), how, IN_PARTS)

    def _mask_shape(self, inputs: Any, noise_shape: Any) -> tuple[int, ...]:
        """Return the shape of a random mask, by default that of the inputs, or raise ShapeError."""
        if noise_shape is None:
            return inputs.shape  # type: ignore[no-any-return]
        pairs = list(zip(noise_shape, inputs.shape, strict=False))
        if len(noise_shape) != inputs.ndim or any(n not in (1, None, of) for n, of in pairs):
            raise ShapeError(
                f"the layer {self.path!r} has noise_shape={noise_shape}, and got the shape {inputs.shape}: each "
                "length must be 1, None, or the length of the input"
            )
        return tuple(of if n is None else n for n, of in pairs)


class Dropout(Noise):
    """During training, set random inputs to 0, and multiply the others by 1 / (1 - rate) [1]_.

    Parameters
    ----------
    rate : float
        The probability that an input becomes 0; at least 0 and less than 1.
    noise_shape : tuple of int or None, optional
        The shape of the random mask, with length 1 along axes that share a choice, and None for the length of the
        input.
    **kwargs : see `Layer`

    References
    ----------
    .. [1] N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", Journal of
       Machine Learning Research 15 (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.Dropout(0.5, seed=0)
    >>> layer(np.ones((1, 6)), training=True).numpy()
    array([[2., 0., 0., 0., 2., 2.]], dtype=float32)
    >>> layer(np.ones((1, 6))).numpy()
    array([[1., 1., 1., 1., 1., 1.]], dtype=float32)
    """

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(seed, **kwargs)
        self.rate = share(rate, "rate of Dropout")
        self.noise_shape = None if noise_shape is None else _noise_shape(noise_shape)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the inputs, during training with some of them 0."""
        # "Inverted" dropout, as in all libraries: the factor is applied during training, where the paper multiplies
        # the weights by 1 - rate afterwards. So inference is the identity.
        if not training or not self.rate:
            return inputs
        self._require_computed(inputs)
        if self.noise_shape is None:
            return dropped(inputs, self.rate, self._own)
        shape = self._mask_shape(inputs, self.noise_shape)
        kept = self._draw("random", shape) >= self.rate
        mask = np.broadcast_to(kept, inputs.shape)
        return masked(inputs, mask=mask, factor=1 / (1 - self.rate))


def _noise_shape(shape: Any) -> tuple[int | None, ...]:
    lengths = tuple(shape) if isinstance(shape, Iterable) else ()
    fixed = tuple(n for n in lengths if n is not None)
    if not lengths or len(integers_in(fixed)) != len(fixed) or min(fixed, default=1) < 1:
        raise OptionError(
            f"a noise_shape must be a tuple of lengths and None, not {shape!r}: write (None, 1, None)"
        )
    return lengths


class SpatialDropout(Noise):
    """Base class of `SpatialDropout1D`, `2D` and `3D`.

    Parameters
    ----------
    rate : float
        The probability that a channel becomes 0; at least 0 and less than 1.
    **kwargs : see `Layer`
    """

    # Keras's layers take neither of both.
    _not_in_config = Pointwise._not_in_config | {"activity_regularizer", "trainable"}

    def __init__(self, rate: float, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        self.rate = share(rate, f"rate of {type(self).__name__}")

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the inputs, during training with some channels 0."""
        if not training or not self.rate:
            return inputs
        self._require_computed(inputs)
        batch, *spatial, channels = inputs.shape
        kept = self._draw("random", (batch, *(1 for _ in spatial), channels)) >= self.rate
        mask = np.broadcast_to(kept, inputs.shape)
        return masked(inputs, mask=mask, factor=1 / (1 - self.rate))


class SpatialDropout1D(SpatialDropout):
    """During training, set random channels of signals to 0, and multiply the others by 1 / (1 - rate) [1]_.

    See `SpatialDropout` for the parameters. Neighboring elements are similar, so that dropping single ones would hide
    little.

    References
    ----------
    .. [1] J. Tompson et al., "Efficient object localization using convolutional networks", CVPR 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.SpatialDropout1D(0.5, seed=0)(np.ones((1, 2, 4)), training=True).numpy()
    array([[[2., 0., 0., 0.],
            [2., 0., 0., 0.]]], dtype=float32)
    """

    input_spec = InputSpec("batch, length, channels")


class SpatialDropout2D(SpatialDropout):
    """During training, set random channels of images to 0, and multiply the others by 1 / (1 - rate).

    See `SpatialDropout1D`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.SpatialDropout2D(0.5, seed=0)
    >>> layer(np.ones((1, 8, 8, 4)), training=True)[0, 5, 6].numpy()
    array([2., 0., 0., 0.], dtype=float32)
    """

    input_spec = InputSpec("batch, height, width, channels")

    def __init__(
        self, rate: float, data_format: str | None = None, seed: Any = None, **kwargs: Any
    ) -> None:
        channels_last(data_format, type(self).__name__)
        super().__init__(rate, seed, **kwargs)


class SpatialDropout3D(SpatialDropout2D):
    """During training, set random channels of volumes to 0, and multiply the others by 1 / (1 - rate).

    See `SpatialDropout1D`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.SpatialDropout3D(0.5)(np.ones((1, 2, 2, 2, 4)), training=True).shape
    (1, 2, 2, 2, 4)
    """

    input_spec = InputSpec("batch, depth, height, width, channels")


class AlphaDropout(Noise):
    """During training, set random inputs to the limit of `selu`, and scale so that mean 0 and variance 1 stay [1]_.

    Parameters
    ----------
    rate : float
        The probability that an input is replaced; at least 0 and less than 1.
    noise_shape : tuple of int or None, optional
        See `Dropout`.
    **kwargs : see `Layer`

    References
    ----------
    .. [1] G. Klambauer et al., "Self-normalizing neural networks", NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AlphaDropout(0.5, seed=0)(np.zeros((1, 4)), training=True).numpy().round(3)
    array([[ 0.779, -0.779, -0.779, -0.779]], dtype=float32)
    """

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(seed, **kwargs)
        self.rate = share(rate, "rate of AlphaDropout")
        self.noise_shape = None if noise_shape is None else _noise_shape(noise_shape)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the inputs, during training with some of them replaced."""
        if not training or not self.rate:
            return inputs
        self._require_computed(inputs)
        shape = self._mask_shape(inputs, self.noise_shape)
        kept = np.broadcast_to(self._draw("random", shape) >= self.rate, inputs.shape)
        # Equation 6 of [1]: an affine map of what dropout leaves has the mean and variance of the inputs again.
        factor = ((1 - self.rate) * (1 + self.rate * SELU_LIMIT**2)) ** -0.5
        offset = -factor * SELU_LIMIT * self.rate
        replaced = np.asarray(factor * SELU_LIMIT + offset, inputs.dtype)
        return np.where(kept, factor * inputs + offset, replaced)


class GaussianNoise(Noise):
    """During training, add normal random numbers with mean 0.

    Parameters
    ----------
    stddev : float
        The standard deviation; at least 0.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.GaussianNoise(0.1, seed=0)
    >>> layer(np.zeros((1, 3)), training=True).numpy().round(3)
    array([[ 0.013, -0.013,  0.064]], dtype=float32)
    """

    def __init__(self, stddev: float, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        self.stddev = number(stddev, "stddev of GaussianNoise", minimum=0)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the inputs, during training with noise."""
        if not training or not self.stddev:
            return inputs
        self._require_computed(inputs)
        noise = self._draw("normal", 0, self.stddev, inputs.shape)
        return inputs + noise.astype(inputs.dtype)


class GaussianDropout(Noise):
    """During training, multiply by normal random numbers with mean 1 and the variance of dropout [1]_.

    Parameters
    ----------
    rate : float
        At least 0 and less than 1; the standard deviation is sqrt(rate / (1 - rate)).
    **kwargs : see `Layer`

    References
    ----------
    .. [1] N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", Journal of
       Machine Learning Research 15 (2014), section 10.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GaussianDropout(0.5, seed=0)(np.ones((1, 3)), training=True).numpy().round(3)
    array([[1.126, 0.868, 1.64 ]], dtype=float32)
    """

    def __init__(self, rate: float, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        self.rate = share(rate, "rate of GaussianDropout")

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the inputs, during training times random numbers."""
        if not training or not self.rate:
            return inputs
        self._require_computed(inputs)
        noise = self._draw("normal", 1, (self.rate / (1 - self.rate)) ** 0.5, inputs.shape)
        return inputs * noise.astype(inputs.dtype)
