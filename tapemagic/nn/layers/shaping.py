"""Flatten, Reshape, Permute and RepeatVector: a new shape for each example."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.engine.operations.windows import integers_in
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import channels_last, positive
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer


class Flatten(Layer):
    """Reshape each example to one row of numbers, from (batch, ...) to (batch, features).

    Integers stay integers. See `Layer` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Flatten()(np.zeros((2, 4, 4, 3))).shape
    (2, 48)
    """

    input_spec = InputSpec("batch, ...")

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(data_format, "Flatten")

    def call(self, inputs: Any) -> Any:
        """Return the examples as rows."""
        # Not -1: NumPy can't infer a length from an empty batch.
        return inputs.reshape((inputs.shape[0], math.prod(inputs.shape[1:])))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch and the number of elements of an example."""
        self._require_shape(tuple(input_shape))
        batch, *rest = input_shape
        return (batch, None if None in rest else math.prod(rest))


class Reshape(Layer):
    """Give each example a new shape.

    Parameters
    ----------
    target_shape : sequence of int
        The shape without the batch axis. One length may be -1, and is computed from the others.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Reshape((8, -1, 1))(np.zeros((2, 64))).shape
    (2, 8, 8, 1)
    """

    input_spec = InputSpec("batch, ...")

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = integers_in(target_shape)
        empty = np.shape(target_shape) == (0,)
        wrong = any(n < -1 for n in self.target_shape) or self.target_shape.count(-1) > 1
        if wrong or not (self.target_shape or empty):
            raise OptionError(
                "the target_shape of Reshape must be integers, one of which may be -1, without the batch axis, not "
                f"{target_shape!r}: write (8, 8, 1)"
            )

    def call(self, inputs: Any) -> Any:
        """Return the examples in their new shape."""
        shape = self._shape(inputs.shape[1:], inputs.shape)
        return inputs.reshape((inputs.shape[0], *shape))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch and the new shape."""
        self._require_shape(tuple(input_shape))
        batch, *rest = input_shape
        # With unknown lengths, -1 can't be computed, and whether the sizes fit shows only in a call.
        if None in rest:
            return (batch, *(None if n == -1 else n for n in self.target_shape))
        return (batch, *self._shape(rest, tuple(input_shape)))

    def _shape(self, rest: Any, input_shape: Any) -> tuple[int, ...]:
        """Return the new shape for examples of a shape, or raise ShapeError."""
        size = math.prod(rest)
        fixed = math.prod(n for n in self.target_shape if n != -1)
        if -1 not in self.target_shape:
            fits, free = size == fixed, 0
        else:
            fits, free = bool(fixed) and size % fixed == 0, size // fixed if fixed else 0
        if not fits:
            raise ShapeError(
                f"the layer {self.path!r} reshapes examples of {fixed} elements"
                f"{' or a multiple' if -1 in self.target_shape else ''} to {self.target_shape}, and got the shape "
                f"{input_shape}, whose examples have {size} elements"
            )
        return tuple(free if n == -1 else n for n in self.target_shape)


class Permute(Layer):
    """The axes of each example in a new order.

    Parameters
    ----------
    dims : sequence of int
        The axes in their new order, where 1 is the first axis after the batch.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Permute((2, 1))(np.zeros((5, 3, 4))).shape
    (5, 4, 3)
    """

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = integers_in(dims)
        if not self.dims or sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise OptionError(
                f"the dims of Permute must be the numbers 1, 2, ... in some order, not {dims!r}: write (2, 1)"
            )
        axes = ["batch", *(f"axis {n}" for n in sorted(self.dims))]
        self.input_spec = InputSpec(", ".join(axes))

    def call(self, inputs: Any) -> Any:
        """Return the examples with their axes in the new order."""
        return np.transpose(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the lengths in the new order."""
        self._require_shape(tuple(input_shape))
        return (input_shape[0], *(input_shape[n] for n in self.dims))


class RepeatVector(Layer):
    """Repeat each vector n times, from (batch, features) to (batch, n, features).

    Parameters
    ----------
    n : int
        The number of repetitions.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.RepeatVector(3)(np.array([[1.0, 2.0]])).numpy()
    array([[[1., 2.],
            [1., 2.],
            [1., 2.]]], dtype=float32)
    """

    input_spec = InputSpec("batch, features")

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = positive(n, "n of RepeatVector")

    def call(self, inputs: Any) -> Any:
        """Return the repeated vectors."""
        return np.repeat(inputs[:, None], self.n, axis=1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, n, and the features."""
        self._require_shape(tuple(input_shape))
        return (input_shape[0], self.n, input_shape[1])
