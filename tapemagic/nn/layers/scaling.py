"""Rescaling and Normalization: scale inputs to a range, or to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.operations.windows import integers_in
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn import regularizers
from tapemagic.nn.config import epsilon
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Pointwise


class Rescaling(Pointwise):
    """The inputs times `scale`, plus `offset`.

    Parameters
    ----------
    scale : float or array_like
        Such as 1 / 255 for pixels.
    offset : float or array_like, optional
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Rescaling(1 / 255)(np.array([[0, 255]], np.uint8)).numpy()
    array([[0., 1.]], dtype=float32)
    """

    cast_kinds = "fbiu"

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale = self._numbers(scale, "scale")
        self.offset = self._numbers(offset, "offset")

    def _numbers(self, value: Any, what: str) -> Any:
        array = np.asarray(unwrap(value))
        if array.dtype.kind not in "biuf":
            raise OptionError(f"the {what} of {type(self).__name__} must be numeric, not {value!r}")
        return array.astype(self.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer."""
        return super().get_config() | {"scale": self.scale.tolist(), "offset": self.offset.tolist()}

    def call(self, inputs: Any) -> Any:
        """Return the scaled inputs."""
        return inputs * self.scale + self.offset


class Normalization(Pointwise):
    """The inputs minus a mean, divided by the root of a variance, which `adapt` can compute from data.

    Raises ShapeError when the layer is built, if the input has no such axis, or `mean` and `variance` don't fit it.

    A root below 1e-7 counts as 1e-7. The weights, which aren't trained, are the mean, the variance and the number of
    adaptations. There are no weights if mean and variance are passed to the layer.

    Parameters
    ----------
    axis : int, sequence of int, or None, optional
        The axes with a mean and a variance for each index. None means one mean and one variance, for inputs of any
        number of axes.
    mean, variance : float or array_like, optional
        Both or neither, of the lengths of the axes.
    invert : bool, optional
        Compute the inputs from normalized values instead.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.Normalization()
    >>> layer.adapt(np.array([[1.0], [3.0]]))
    >>> layer(np.array([[5.0]])).numpy()
    array([[3.]], dtype=float32)
    """

    cast_kinds = "fbiu"
    input_spec = InputSpec("...")

    def __init__(
        self,
        axis: Any = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis = () if axis is None else integers_in(axis)
        if axis is not None and not self.axis and np.shape(axis) != (0,):
            raise OptionError(
                f"the axis of Normalization must be one or several integers, or None, not {axis!r}: write axis=-1"
            )
        # One without the other would normalize with the default of the missing moment, which Keras refuses, too.
        if (mean is None) != (variance is None):
            raise OptionError("Normalization takes both a mean and a variance, or neither")
        if np.shape(unwrap(mean)) != np.shape(unwrap(variance)):
            raise ShapeError(
                f"the mean of Normalization has the shape {np.shape(unwrap(mean))}, and the variance "
                f"{np.shape(unwrap(variance))}: pass one of each for every feature"
            )
        self.input_mean = mean
        self.input_variance = variance
        self.invert = bool(invert)

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer, without what `adapt` computed."""
        moments = {"mean": self.input_mean, "variance": self.input_variance}
        listed = {
            name: None if x is None else np.asarray(unwrap(x)).tolist()
            for name, x in moments.items()
        }
        return {**super().get_config(), "axis": self.axis or None, **listed}

    def build(self, input_shape: Any) -> None:
        """Create the mean and the variance."""
        rank = len(input_shape)
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ShapeError(
                f"the layer {self.path!r} with axis={self.axis} got the shape {input_shape}, which has no such axes"
            )
        self._feature_axes = tuple(sorted(axis % rank for axis in self.axis))
        lengths = {axis: input_shape[axis] for axis in self._feature_axes}
        self._broadcast = tuple(lengths.get(axis, 1) for axis in range(rank))
        shape = tuple(lengths.values())
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(shape, "zeros", trainable=False, name="mean")
            self.adapt_variance = self.add_weight(shape, "ones", trainable=False, name="variance")
            self.count = self.add_weight((), np.zeros, "int64", trainable=False, name="count")
        else:
            self._moments = tuple(map(self._spread, (self.input_mean, self.input_variance)))
        if self._feature_axes:
            self.input_spec = InputSpec(", ".join(f"axis {i}" for i in range(rank)), lengths)

    def _spread(self, value: Any) -> Any:
        """Return a mean or variance that was passed to the layer, in the shape that broadcasts with the inputs."""
        value = np.asarray(unwrap(value), self.dtype)
        lengths = tuple(self._broadcast[axis] for axis in self._feature_axes)
        try:
            return np.broadcast_to(value, lengths).reshape(self._broadcast)
        except ValueError:
            raise ShapeError(
                f"the layer {self.path!r} has a mean and a variance of the shape {value.shape}, and its input "
                f"has the lengths {lengths} along the axes {self._feature_axes}"
            ) from None

    @property
    def mean(self) -> Any:
        """The mean, in the shape that broadcasts with the inputs, or None before the layer is built."""
        return self._moment(0)

    @property
    def variance(self) -> Any:
        """The variance, in the shape that broadcasts with the inputs, or None before the layer is built."""
        return self._moment(1)

    def _moment(self, which: int) -> Any:
        if not self.built:
            return None
        if self.input_mean is not None:
            return self._moments[which]
        return np.reshape((self.adapt_mean, self.adapt_variance)[which], self._broadcast)

    def adapt(self, data: Any) -> None:
        """Compute mean and variance from data, and forget those of an earlier call.

        Raises OptionError if mean and variance were passed to the layer, or there is no data.

        Parameters
        ----------
        data : array_like, or iterable of array_like
            All data, or its batches.
        """
        if self.input_mean is not None:
            raise OptionError(
                f"the layer {self.path!r} was created with a mean and variance: omit them to compute them by adapt()"
            )
        is_single = isinstance(data, np.ndarray | Traced | list | tuple) or hasattr(
            data, "__array__"
        )
        moments: list[tuple[int, Any, Any]] = []
        for batch in [data] if is_single else _batches(data):
            # In double precision, whatever the layer's dtype: means over many examples lose digits in float32.
            x = np.asarray(unwrap(batch), np.float64)
            if not self.built:
                self.build(x.shape)
            self._require_shape(x.shape)
            axes = tuple(axis for axis in range(x.ndim) if axis not in self._feature_axes)
            size = x.size // max(1, int(np.prod([x.shape[axis] for axis in self._feature_axes])))
            if size:
                moments.append((size, np.mean(x, axis=axes), np.var(x, axis=axes)))
        if not moments:
            raise OptionError(f"the layer {self.path!r} can't adapt to empty data")
        # The total variance is the mean of the batches' variances plus the variance of their means. Summing squares
        # instead would cancel for data far from 0.
        sizes, means, variances = map(np.array, zip(*moments, strict=True))
        shares = (sizes / sizes.sum()).reshape((-1, *[1] * len(self._feature_axes)))
        mean = np.sum(shares * means, axis=0)
        self.adapt_mean.assign(mean)
        self.adapt_variance.assign(np.sum(shares * (variances + (means - mean) ** 2), axis=0))

    def call(self, inputs: Any) -> Any:
        """Return the normalized inputs."""
        moments = self.mean, self.variance
        mean, variance = moments if self._feature_axes else (np.reshape(x, ()) for x in moments)
        # Keras's clipping: a constant feature becomes 0 instead of nan.
        deviation = np.maximum(np.sqrt(variance), epsilon())
        return mean + inputs * deviation if self.invert else (inputs - mean) / deviation


class UnitNormalization(Pointwise):
    """Divides by the Euclidean norm along axes, so that vectors have the length 1.

    Parameters
    ----------
    axis : int or sequence of int, optional
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.UnitNormalization()(np.array([[3.0, 4.0]])).numpy()
    array([[0.6, 0.8]], dtype=float32)
    """

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, list | tuple) else axis

    def call(self, inputs: Any) -> Any:
        """Return vectors of length 1, and zeros unchanged."""
        axis = tuple(self.axis) if isinstance(self.axis, list) else self.axis
        square = np.sum(inputs * inputs, axis=axis, keepdims=True)
        # Keras's least norm. Its square is no number of float32, so the reciprocal is limited, not the square.
        return inputs * np.minimum(1 / np.sqrt(square), 1e12)


class RMSNormalization(Pointwise):
    """Divides by the root of the mean square along an axis, and multiplies by trained factors.

    Parameters
    ----------
    axis : int, optional
    epsilon : float, optional
        Added to the mean square.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.RMSNormalization()(np.array([[1.0, 7.0]])).numpy()
    array([[0.2, 1.4]], dtype=float32)
    """

    def __init__(self, axis: int = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis
        self.epsilon = epsilon

    def build(self, input_shape: Any) -> None:
        """Create the factors."""
        self.scale = self.add_weight((input_shape[self.axis],), "ones", name="scale")

    def call(self, inputs: Any) -> Any:
        """Return the scaled inputs."""
        square = np.mean(inputs * inputs, axis=self.axis, keepdims=True)
        shape = [1] * inputs.ndim
        shape[self.axis] = -1
        return inputs * (1 / np.sqrt(square + self.epsilon)) * np.reshape(self.scale, shape)


class ActivityRegularization(Pointwise):
    """Returns its input, and adds a penalty on it to the loss.

    Parameters
    ----------
    l1, l2 : float, optional
        Of the sum of absolute values, and of squares.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.ActivityRegularization(l1=0.5)
    >>> layer(np.ones((2, 3))).shape, layer.losses
    ((2, 3), [Tensor(1.5, dtype=float32)])
    """

    _not_in_config = Pointwise._not_in_config | {"activity_regularizer"}

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1 = l1
        self.l2 = l2

    def call(self, inputs: Any) -> Any:
        """Return the inputs."""
        return inputs


def _batches(data: Iterable[Any]) -> Iterable[Any]:
    """Yield the inputs of an iterable of batches, without labels."""
    return (batch[0] if isinstance(batch, tuple) else batch for batch in data)
