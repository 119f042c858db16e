"""BatchNormalization, LayerNormalization and GroupNormalization: activations with mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import require_computed
from tapemagic.engine.operations.selection import cast
from tapemagic.engine.operations.windows import integers_in
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, change_in_place
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import axis as whole_axis
from tapemagic.nn.arguments import number, positive
from tapemagic.nn.config import epsilon
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Pointwise


class ScaledNormalization(Pointwise):
    """Base class of normalizations with a learned scale, gamma, and offset, beta.

    Half precision is computed in single precision.

    Parameters
    ----------
    axis : int or sequence of int, optional
        The axes with a gamma and beta for each index.
    epsilon : float, optional
        Added to the variance, inside the root.
    center, scale : bool, optional
        Add beta; multiply by gamma.
    beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer : optional
    beta_regularizer, gamma_regularizer : optional, see `Layer`
    """

    input_spec = InputSpec("batch, ...")
    cast_kinds = "fbiu"

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis = axis
        self.epsilon = number(epsilon, f"epsilon of {type(self).__name__}", minimum=0)
        self.center = bool(center)
        self.scale = bool(scale)
        self.beta_initializer = beta_initializer
        self.gamma_initializer = gamma_initializer
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer

    def _build_scale(self, input_shape: Any, axes: tuple[int, ...]) -> None:
        """Create gamma and beta for the lengths of the axes, and store the axes."""
        rank = len(input_shape)
        self._axes = tuple(sorted(axis + rank if axis < 0 else axis for axis in axes))
        if not all(0 <= axis < rank for axis in self._axes) or len(set(self._axes)) < len(axes):
            raise ShapeError(
                f"the layer {self.path!r} with axis={self.axis!r} got the shape {input_shape}, which has no such axes"
            )
        self._lengths = tuple(input_shape[axis] for axis in self._axes)
        self._broadcast = tuple(n if i in self._axes else 1 for i, n in enumerate(input_shape))
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self.add_weight(
                self._lengths,
                self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                name="gamma",
            )
        if self.center:
            self.beta = self.add_weight(
                self._lengths, self.beta_initializer, regularizer=self.beta_regularizer, name="beta"
            )
        axes_names = ", ".join(["batch", *(f"axis {i}" for i in range(1, rank))])
        lengths = dict(zip(self._axes, self._lengths, strict=True))
        self.input_spec = InputSpec(axes_names, lengths)

    def _spread(self, x: Any) -> Any:
        """Return a weight in the shape that broadcasts with the inputs, and in their dtype."""
        x = x if self._dtype != "float16" else cast(x, "float32")
        if self._axes == (len(self._broadcast) - 1,):
            return x
        return np.reshape(x, self._broadcast)

    def _scaled(self, centered: Any, variance: Any) -> Any:
        """Divide deviations from the mean by the standard deviation, multiply by gamma, and add beta."""
        # gamma / std is computed first: it has the shape of the features, and the product with the large array comes
        # last, once.
        inverse = 1 / np.sqrt(variance + self.epsilon)
        if self.gamma is not None:
            inverse = inverse * self._spread(self.gamma)
        outputs = centered * inverse
        if self.beta is not None:
            outputs = outputs + self._spread(self.beta)
        return outputs if self._dtype != "float16" else cast(outputs, "float16")

    def _wide(self, inputs: Any) -> Any:
        """Return the inputs, half precision as single precision: squares of numbers above 256 overflow in float16."""
        return inputs if inputs.dtype != np.float16 else cast(inputs, "float32")


TRAINED_APART = (
    "call it with training=False, normalize by np.mean and np.var yourself, or use model.fit, which loads each batch "
    "into memory"
)
"""The advice for lazy inputs, which moving averages can't follow."""


class BatchNormalization(ScaledNormalization):
    """Normalization of each feature to mean 0 and variance 1 over the batch, times gamma, plus beta [1]_.

    During training, mean and variance are those of the batch, and their moving averages are updated. Otherwise, and in
    a layer whose `trainable` is False, the moving averages are used instead.

    The weights are gamma, beta, the moving mean and the moving variance.

    Parameters
    ----------
    axis : int, optional
        The axis of the features; mean and variance are computed over all other axes.
    momentum : float, optional
        The share of the old moving averages in the new averages.
    **kwargs : see `ScaledNormalization` and `Layer`

    References
    ----------
    .. [1] S. Ioffe and C. Szegedy, "Batch normalization: accelerating deep network training by reducing internal
       covariate shift", ICML 2015, algorithms 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.BatchNormalization(epsilon=0.0)
    >>> layer(np.array([[1.0], [3.0]]), training=True).numpy()
    array([[-1.],
           [ 1.]], dtype=float32)
    >>> layer.moving_mean.numpy().round(3)
    array([0.02], dtype=float32)
    """

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            axis,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            **kwargs,
        )
        self.axis = whole_axis(axis, "axis of BatchNormalization")
        self.momentum = number(momentum, "momentum of BatchNormalization", minimum=0)
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer

    def build(self, input_shape: Any) -> None:
        """Create gamma, beta and the moving averages."""
        self._build_scale(input_shape, (self.axis,))
        self.moving_mean = self.add_weight(
            self._lengths, self.moving_mean_initializer, trainable=False, name="moving_mean"
        )
        self.moving_variance = self.add_weight(
            self._lengths, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )

    def call(self, inputs: Any, training: bool = False, mask: Any = None) -> Any:
        """Return the normalized inputs; in training, mean and variance are those of the steps where `mask` is true."""
        inputs = self._wide(inputs)
        # Keras's rule since TensorFlow 2: a frozen layer runs in inference mode, as fine-tuning expects.
        if not (training and self.trainable):
            centered = inputs - self._spread(self.moving_mean)
            return self._scaled(centered, self._spread(self.moving_variance))
        axes = tuple(i for i in range(inputs.ndim) if i not in self._axes)
        if not inputs.size:
            raise ShapeError(
                f"the layer {self.path!r} averages over a batch, and got an empty batch of the shape {inputs.shape}"
            )
        how = f"the layer {self.path!r}, whose moving averages are in memory,"
        require_computed(unwrap(inputs), how, TRAINED_APART)
        # As in Keras, the variance is divided by the size of the batch, not by one less (algorithm 1 of [1]); the
        # paper's inference uses the unbiased estimate. The mean of squared deviations, not E[x**2] - E[x]**2, which
        # cancels for data far from 0.
        if mask is None:
            mean = np.mean(inputs, axis=axes, keepdims=True)
            centered = inputs - mean
            variance = np.mean(np.square(centered), axis=axes, keepdims=True)
        else:
            counts = self._counts(mask, inputs)
            # As in Keras, a batch in which nothing counts has mean and variance 0.
            size = np.sum(counts, axis=axes, keepdims=True, dtype=inputs.dtype) + epsilon()
            mean = np.sum(np.where(counts, inputs, 0), axis=axes, keepdims=True) / size
            centered = inputs - mean
            squares = np.square(np.where(counts, centered, 0))
            variance = np.sum(squares, axis=axes, keepdims=True) / size
        self._move(self.moving_mean, mean)
        self._move(self.moving_variance, variance)
        return self._scaled(centered, variance)

    def _counts(self, mask: Any, inputs: Any) -> Any:
        """Return a mask in the shape of the inputs."""
        mask = as_array(mask).astype(bool)
        if mask.shape != inputs.shape[:-1]:
            raise ShapeError(
                f"the layer {self.path!r} takes a mask with one bool for all features of a step, of the shape "
                f"{inputs.shape[:-1]}, and got {mask.shape}"
            )
        return np.broadcast_to(mask[..., None], inputs.shape)

    def _move(self, average: Variable, new: Any) -> None:
        """Update a moving average."""

        def update(array: Any) -> None:
            array *= self.momentum
            array += (1 - self.momentum) * unwrap(new).reshape(array.shape)

        change_in_place(average, update)


class LayerNormalization(ScaledNormalization):
    """Normalization of each example to mean 0 and variance 1 along some axes, times gamma, plus beta [1]_.

    Mean and variance are computed over the axes `axis`. See `ScaledNormalization` for the parameters.

    References
    ----------
    .. [1] J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer normalization", arXiv:1607.06450.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.LayerNormalization(epsilon=0.0)(np.array([[1.0, 3.0], [5.0, 1.0]])).numpy()
    array([[-1.,  1.],
           [ 1., -1.]], dtype=float32)
    """

    def build(self, input_shape: Any) -> None:
        """Create gamma and beta."""
        axes = integers_in(self.axis)
        if not axes:
            raise OptionError(
                f"the axis of LayerNormalization must be one or several integers, not {self.axis!r}: write axis=-1"
            )
        self._build_scale(input_shape, axes)

    def call(self, inputs: Any) -> Any:
        """Return the normalized inputs."""
        inputs = self._wide(inputs)
        centered = inputs - np.mean(inputs, axis=self._axes, keepdims=True)
        variance = np.mean(np.square(centered), axis=self._axes, keepdims=True)
        return self._scaled(centered, variance)


class GroupNormalization(ScaledNormalization):
    """Normalization of groups of channels to mean 0 and variance 1 in each example, times gamma, plus beta [1]_.

    Parameters
    ----------
    groups : int, optional
        The number of groups, which divides the number of channels; -1 means a group for each channel, which is called
        instance normalization.
    axis : int, optional
        The axis of the channels.
    epsilon, center, scale, beta_initializer, gamma_initializer, beta_regularizer, gamma_regularizer : optional
        See `ScaledNormalization`.

    References
    ----------
    .. [1] Y. Wu and K. He, "Group normalization", ECCV 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.GroupNormalization(groups=2, epsilon=0.0)(np.array([[1.0, 3.0, 8.0, 4.0]])).numpy()
    array([[-1.,  1.,  1., -1.]], dtype=float32)
    """

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            axis,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            **kwargs,
        )
        self.axis = whole_axis(axis, "axis of GroupNormalization")
        self.groups = -1 if groups == -1 else positive(groups, "groups of GroupNormalization")

    def build(self, input_shape: Any) -> None:
        """Create gamma and beta."""
        self._build_scale(input_shape, (self.axis,))
        (channels,) = self._lengths
        if channels is not None and channels % self.groups:
            raise ShapeError(
                f"the layer {self.path!r} has {self.groups} groups, and got inputs of {channels} channels, in the "
                f"shape {input_shape}: write groups={np.gcd(channels, self.groups)}, or another divisor of {channels}"
            )

    def call(self, inputs: Any) -> Any:
        """Return the normalized inputs."""
        inputs = self._wide(inputs)
        (axis,), (channels,) = self._axes, self._lengths
        groups = channels if self.groups == -1 else self.groups
        lead, size = inputs.shape[:axis], channels // groups
        grouped = inputs.reshape((*lead, groups, size, *inputs.shape[axis + 1 :]))
        axes = tuple(i for i in range(1, grouped.ndim) if i != axis)
        centered = grouped - np.mean(grouped, axis=axes, keepdims=True)
        variance = np.mean(np.square(centered), axis=axes, keepdims=True)
        # One for each channel, so that it broadcasts with gamma.
        each = np.repeat(np.squeeze(variance, axis + 1), size, axis)
        return self._scaled(centered.reshape(inputs.shape), each)
