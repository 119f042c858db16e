"""BatchNormalization and LayerNormalization: activations with mean 0 and variance 1."""

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
from tapemagic.nn.arguments import number
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layers.pointwise import Pointwise


class ScaledNormalization(Pointwise):
    """Base class of normalizations with a learnt scale, gamma, and offset, beta, along some axes."""

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
        self.epsilon = number(epsilon, f"epsilon of {type(self).__name__}", least=0)
        self.center = bool(center)
        self.scale = bool(scale)
        self.beta_initializer = beta_initializer
        self.gamma_initializer = gamma_initializer
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer

    def _build_scale(self, input_shape: Any, axes: tuple[int, ...]) -> None:
        """Make gamma and beta for the lengths of the axes, and remember these."""
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
        """A weight as it broadcasts with the inputs, and of their dtype."""
        x = x if self._dtype != "float16" else cast(x, "float32")
        if self._axes == (len(self._broadcast) - 1,):
            return x
        return np.reshape(x, self._broadcast)

    def _scaled(self, centred: Any, variance: Any) -> Any:
        """Deviations from the mean over their standard deviation, times gamma, plus beta, in the layer's dtype."""
        inverse = 1 / np.sqrt(variance + self.epsilon)
        if self.gamma is not None:
            inverse = inverse * self._spread(self.gamma)
        outputs = centred * inverse
        if self.beta is not None:
            outputs = outputs + self._spread(self.beta)
        return outputs if self._dtype != "float16" else cast(outputs, "float16")

    def _wide(self, inputs: Any) -> Any:
        """The inputs; in single precision if they are in half, whose squares overflow."""
        return inputs if inputs.dtype != np.float16 else cast(inputs, "float32")


TRAINED_APART = (
    "call it with training=False, normalize by np.mean and np.var yourself, or use model.fit, which has the numbers of "
    "each batch"
)
"""The advice where moving averages would have to follow data that are not computed."""


class BatchNormalization(ScaledNormalization):
    """Each feature with mean 0 and variance 1 over the batch, times gamma, plus beta [1]_.

    In training, mean and variance are those of the batch, and their moving averages are updated; otherwise, and in a
    layer whose `trainable` is False, the moving averages take their place.

    Parameters
    ----------
    axis : int, optional
        The axis of the features; mean and variance are taken over all others.
    momentum : float, optional
        The share of the old moving averages in the new ones.
    epsilon : float, optional
        Added to the variance.
    center, scale : bool, optional
        Whether there is a beta, and a gamma.
    beta_initializer, gamma_initializer : str, callable or Initializer, optional
    moving_mean_initializer, moving_variance_initializer : str, callable or Initializer, optional
    beta_regularizer, gamma_regularizer : str, callable or Regularizer, optional
    **kwargs
        `name`, `trainable`, `dtype` and `activity_regularizer`, as of `Layer`.

    Raises
    ------
    OptionError
        If a parameter has a value that it does not take.

    Notes
    -----
    The weights are gamma, beta, the moving mean and the moving variance. As in Keras, the variance of the batch is
    divided by its size, not by one less. Half precision is computed in single precision.

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
        self.momentum = number(momentum, "momentum of BatchNormalization", least=0)
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer

    def build(self, input_shape: Any) -> None:
        """Make gamma, beta and the moving averages."""
        self._build_scale(input_shape, (self.axis,))
        self.moving_mean = self.add_weight(
            self._lengths, self.moving_mean_initializer, trainable=False, name="moving_mean"
        )
        self.moving_variance = self.add_weight(
            self._lengths, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The normalized inputs."""
        inputs = self._wide(inputs)
        if not (training and self.trainable):
            centred = inputs - self._spread(self.moving_mean)
            return self._scaled(centred, self._spread(self.moving_variance))
        axes = tuple(i for i in range(inputs.ndim) if i not in self._axes)
        if not inputs.size:
            raise ShapeError(
                f"the layer {self.path!r} takes averages over a batch, and got an empty one, of the shape "
                f"{inputs.shape}"
            )
        how = f"the layer {self.path!r}, whose moving averages are in memory,"
        require_computed(unwrap(inputs), how, TRAINED_APART)
        mean = np.mean(inputs, axis=axes, keepdims=True)
        centred = inputs - mean
        variance = np.mean(np.square(centred), axis=axes, keepdims=True)
        self._move(self.moving_mean, mean)
        self._move(self.moving_variance, variance)
        return self._scaled(centred, variance)

    def _move(self, average: Variable, new: Any) -> None:
        """Update a moving average."""

        def update(array: Any) -> None:
            array *= self.momentum
            array += (1 - self.momentum) * unwrap(new).reshape(array.shape)

        change_in_place(average, update)


class LayerNormalization(ScaledNormalization):
    """Each example with mean 0 and variance 1 along some axes, times gamma, plus beta [1]_.

    Parameters
    ----------
    axis : int or sequence of int, optional
        The axes over which mean and variance are taken.
    epsilon : float, optional
        Added to the variance.
    center, scale : bool, optional
        Whether there is a beta, and a gamma.
    beta_initializer, gamma_initializer : str, callable or Initializer, optional
    beta_regularizer, gamma_regularizer : str, callable or Regularizer, optional
    **kwargs
        `name`, `trainable`, `dtype` and `activity_regularizer`, as of `Layer`.

    Raises
    ------
    OptionError
        If a parameter has a value that it does not take.

    Notes
    -----
    The weights are gamma and beta, with the lengths of the axes. Half precision is computed in single precision.

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
        """Make gamma and beta."""
        axes = integers_in(self.axis)
        if not axes:
            raise OptionError(
                f"the axis of LayerNormalization is a whole number, or several, not {self.axis!r}: write axis=-1"
            )
        self._build_scale(input_shape, axes)

    def call(self, inputs: Any) -> Any:
        """The normalized inputs."""
        inputs = self._wide(inputs)
        centred = inputs - np.mean(inputs, axis=self._axes, keepdims=True)
        variance = np.mean(np.square(centred), axis=self._axes, keepdims=True)
        return self._scaled(centred, variance)
