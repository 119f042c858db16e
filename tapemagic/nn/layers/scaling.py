"""Rescaling and Normalization: inputs brought to a range, or to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.operations.windows import integers_in
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.config import epsilon
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layers.pointwise import Pointwise


class Rescaling(Pointwise):
    """The inputs times `scale`, plus `offset`.

    Parameters
    ----------
    scale : float or array_like
        Such as 1 / 255 for pixels.
    offset : float or array_like, optional
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `scale` or `offset` is not made of numbers.

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
        found = np.asarray(unwrap(value))
        if found.dtype.kind not in "biuf":
            raise OptionError(
                f"the {what} of {type(self).__name__} is made of numbers, not {value!r}"
            )
        return found.astype(self.dtype)

    def call(self, inputs: Any) -> Any:
        """The scaled inputs."""
        return inputs * self.scale + self.offset


class Normalization(Pointwise):
    """The inputs minus a mean, over the root of a variance, both given or found from data by `adapt`.

    Parameters
    ----------
    axis : int, sequence of int, or None, optional
        The axes with a mean and a variance for each index; they are taken over all others. None for one of each, and
        inputs of any number of axes.
    mean, variance : float or array_like, optional
        Both or neither, of the lengths of the axes.
    invert : bool, optional
        Whether to compute the inputs from the normalized ones instead.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `axis` is something else, or one of `mean` and `variance` is given without the other.
    ShapeError
        When it is built, if the input has no such axis, or `mean` and `variance` have another shape.

    Notes
    -----
    A root below 1e-7 counts as 1e-7. The weights, none of them trained, are the mean, the variance and the number of
    adaptations; there are none if mean and variance are given.

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
                f"the axis of Normalization is a whole number, several, or None, not {axis!r}: write axis=-1"
            )
        if (mean is None) != (variance is None):
            raise OptionError("Normalization takes a mean and a variance together, or neither")
        if np.shape(unwrap(mean)) != np.shape(unwrap(variance)):
            raise ShapeError(
                f"the mean of Normalization has the shape {np.shape(unwrap(mean))}, and the variance "
                f"{np.shape(unwrap(variance))}: give one of each for the same features"
            )
        self.input_mean = mean
        self.input_variance = variance
        self.invert = bool(invert)

    def build(self, input_shape: Any) -> None:
        """Make the mean and the variance."""
        rank = len(input_shape)
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ShapeError(
                f"the layer {self.path!r} with axis={self.axis} got the shape {input_shape}, which has no such axes"
            )
        self._kept = tuple(sorted(axis % rank for axis in self.axis))
        lengths = {axis: input_shape[axis] for axis in self._kept}
        self._broadcast = tuple(lengths.get(axis, 1) for axis in range(rank))
        shape = tuple(lengths.values())
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(shape, "zeros", trainable=False, name="mean")
            self.adapt_variance = self.add_weight(shape, "ones", trainable=False, name="variance")
            self.count = self.add_weight((), np.zeros, "int64", trainable=False, name="count")
        else:
            self._given = tuple(map(self._spread, (self.input_mean, self.input_variance)))
        if self._kept:
            self.input_spec = InputSpec(", ".join(f"axis {i}" for i in range(rank)), lengths)

    def _spread(self, value: Any) -> Any:
        """A given mean or variance in the shape in which it broadcasts with the inputs."""
        value = np.asarray(unwrap(value), self.dtype)
        kept = tuple(self._broadcast[axis] for axis in self._kept)
        try:
            return np.broadcast_to(value, kept).reshape(self._broadcast)
        except ValueError:
            raise ShapeError(
                f"the layer {self.path!r} was given a mean and a variance of the shape {value.shape}, and its input "
                f"has the lengths {kept} along the axes {self._kept}"
            ) from None

    @property
    def mean(self) -> Any:
        """The mean, in the shape in which it broadcasts with the inputs; None before the layer is built."""
        return self._moment(0)

    @property
    def variance(self) -> Any:
        """The variance, in the shape in which it broadcasts with the inputs; None before the layer is built."""
        return self._moment(1)

    def _moment(self, which: int) -> Any:
        if not self.built:
            return None
        if self.input_mean is not None:
            return self._given[which]
        return np.reshape((self.adapt_mean, self.adapt_variance)[which], self._broadcast)

    def adapt(self, data: Any) -> None:
        """Take mean and variance from data, in place of those of an earlier call.

        Parameters
        ----------
        data : array_like, or iterable of array_like
            All of it, or batches one by one.

        Raises
        ------
        OptionError
            If mean and variance were given to the layer, or there is no data.
        """
        if self.input_mean is not None:
            raise OptionError(
                f"the layer {self.path!r} was given its mean and variance: leave them out, to find them by adapt()"
            )
        whole = isinstance(data, np.ndarray | Traced | list | tuple) or hasattr(data, "__array__")
        moments: list[tuple[int, Any, Any]] = []
        for batch in [data] if whole else _batches(data):
            x = np.asarray(unwrap(batch), np.float64)
            if not self.built:
                self.build(x.shape)
            self._require_shape(x.shape)
            axes = tuple(axis for axis in range(x.ndim) if axis not in self._kept)
            size = x.size // max(1, int(np.prod([x.shape[axis] for axis in self._kept])))
            if size:
                moments.append((size, np.mean(x, axis=axes), np.var(x, axis=axes)))
        if not moments:
            raise OptionError(f"the layer {self.path!r} cannot adapt to no data at all")
        sizes, means, variances = map(np.array, zip(*moments, strict=True))
        shares = (sizes / sizes.sum()).reshape((-1, *[1] * len(self._kept)))
        mean = np.sum(shares * means, axis=0)
        self.adapt_mean.assign(mean)
        self.adapt_variance.assign(np.sum(shares * (variances + (means - mean) ** 2), axis=0))

    def call(self, inputs: Any) -> Any:
        """The normalized inputs."""
        moments = self.mean, self.variance
        mean, variance = moments if self._kept else (np.reshape(x, ()) for x in moments)
        deviation = np.maximum(np.sqrt(variance), epsilon())
        return mean + inputs * deviation if self.invert else (inputs - mean) / deviation


def _batches(data: Iterable[Any]) -> Iterable[Any]:
    """The batches of inputs of an iterable, without the labels that may go with them."""
    return (batch[0] if isinstance(batch, tuple) else batch for batch in data)
