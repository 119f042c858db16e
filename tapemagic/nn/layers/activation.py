"""Activations as layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.windows import integers_in
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn import activations
from tapemagic.nn.arguments import number
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Pointwise

MASK_OFFSETS = {"float16": 3e4, "float32": 1e9, "float64": 1e9}
"""The number whose negative replaces minus infinity where a mask is False, as in Keras.

With -inf, a row that is masked entirely would give nan: its softmax is exp(-inf - -inf).
"""


class Activation(Pointwise):
    """A layer that applies an activation.

    Parameters
    ----------
    activation : str or callable
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Activation("relu")(np.array([-1.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """

    cast_kinds = "fbiu"

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """Return the activations."""
        return self.activation(inputs)


class ReLU(Pointwise):
    """``max(input, 0)``, or a variant of it with a slope, a maximum or a threshold.

    Parameters
    ----------
    max_value, negative_slope, threshold : float, optional
        See `nn.activations.relu`; not negative.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.ReLU(max_value=6)(np.array([-1.0, 2.0, 8.0])).numpy()
    array([0., 2., 6.], dtype=float32)
    """

    cast_kinds = "fbiu"

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.max_value = None if max_value is None else number(max_value, "max_value of ReLU", 0)
        self.negative_slope = number(negative_slope, "negative_slope of ReLU", 0)
        self.threshold = number(threshold, "threshold of ReLU", 0)

    def call(self, inputs: Any) -> Any:
        """Return the activations."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Pointwise):
    """The input where it's positive, and ``negative_slope * input`` elsewhere.

    Parameters
    ----------
    negative_slope : float, optional
        Not negative.
    alpha : float, optional
        The name of `negative_slope` in Keras 2.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.LeakyReLU()(np.array([-10.0, 2.0])).numpy()
    array([-3.,  2.], dtype=float32)
    """

    cast_kinds = "fbiu"

    # Keras 2's name of the slope.
    _not_in_config = Pointwise._not_in_config | {"alpha"}

    def __init__(
        self, negative_slope: float = 0.3, *, alpha: float | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        slope = negative_slope if alpha is None else alpha
        self.negative_slope = number(slope, "negative_slope of LeakyReLU", 0)

    def call(self, inputs: Any) -> Any:
        """Return the activations."""
        return activations.leaky_relu(inputs, self.negative_slope)


class ELU(Pointwise):
    """The input where it's positive, and ``alpha * (exp(input) - 1)`` elsewhere.

    Parameters
    ----------
    alpha : float, optional
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.ELU()(np.array([-100.0, 2.0])).numpy()
    array([-1.,  2.], dtype=float32)
    """

    cast_kinds = "fbiu"

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = number(alpha, "alpha of ELU")

    def call(self, inputs: Any) -> Any:
        """Return the activations."""
        return activations.elu(inputs, self.alpha)


class PReLU(Pointwise):
    """The input where it's positive, and a learned slope times the input elsewhere [1]_.

    Parameters
    ----------
    alpha_initializer : str, callable or Initializer, optional
    alpha_regularizer : str, callable or Regularizer, optional
    shared_axes : int or sequence of int, optional
        The axes along which one slope is shared, where 1 is the first axis after the batch.
    **kwargs : see `Layer`

    References
    ----------
    .. [1] K. He et al., "Delving deep into rectifiers", ICCV 2015, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.PReLU(alpha_initializer="ones")(np.array([[-1.0, 2.0]])).numpy()
    array([[-1.,  2.]], dtype=float32)
    """

    input_spec = InputSpec("batch, ...")
    cast_kinds = "fbiu"

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer = alpha_initializer
        self.alpha_regularizer = alpha_regularizer
        self.shared_axes = () if shared_axes is None else integers_in(shared_axes)
        if shared_axes is not None and min(self.shared_axes, default=0) < 1:
            raise OptionError(
                f"the shared_axes of PReLU must be integers of at least 1, not {shared_axes!r}: write [1, 2]"
            )

    def build(self, input_shape: Any) -> None:
        """Create the slopes."""
        # Shared axes get length 1, so the slopes broadcast; the batch (axis 0) never has slopes.
        lengths = {
            axis: n for axis, n in enumerate(input_shape) if axis and axis not in self.shared_axes
        }
        shape = tuple(lengths.get(axis, 1) for axis in range(1, len(input_shape)))
        self.alpha = self.add_weight(
            shape, self.alpha_initializer, regularizer=self.alpha_regularizer, name="alpha"
        )
        names = ", ".join(["batch", *(f"axis {i}" for i in range(1, len(input_shape)))])
        self.input_spec = InputSpec(names, lengths)

    def call(self, inputs: Any) -> Any:
        """Return the activations."""
        # As Keras writes it. The slope at 0 is 0 from both sides, since relu'(0) = 0.
        return activations.relu(inputs) - self.alpha * activations.relu(-inputs)


class Softmax(Pointwise):
    """The exponentials of the inputs, divided by their sum along an axis.

    Calls take a `mask` that broadcasts to the inputs; the output is 0 where it's False.

    Parameters
    ----------
    axis : int or sequence of int, optional
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Softmax()(np.zeros((1, 3)), mask=np.array([True, True, False])).numpy()
    array([[0.5, 0.5, 0. ]], dtype=float32)
    """

    cast_kinds = "fbiu"

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis
        if not integers_in(axis):
            raise OptionError(
                f"the axis of Softmax must be one or several integers, not {axis!r}: write axis=-1"
            )

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return the softmax of the inputs."""
        if mask is None:
            return activations.softmax(inputs, integers_in(self.axis))
        return masked_softmax(inputs, mask, integers_in(self.axis))


def masked_softmax(x: Any, mask: Any, axis: tuple[int, ...]) -> Any:
    """Return the softmax over the elements where a mask is true, and 0 elsewhere, even if it's false everywhere."""
    mask = as_array(mask)
    # Keras accepts float masks of 0 and 1.
    if mask.dtype.kind != "b":
        mask = mask > 0.5
    try:
        fits = np.broadcast_shapes(mask.shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"a mask of the shape {mask.shape} doesn't broadcast to the shape {x.shape} of the masked values"
        )
    return np.where(
        mask, activations.softmax(np.where(mask, x, -MASK_OFFSETS[x.dtype.name]), axis), 0
    )
