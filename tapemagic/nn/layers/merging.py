"""Layers of several inputs: sums, products, extremes, concatenation and dot products."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from tapemagic.engine.operations.norms import l2_normalize
from tapemagic.engine.operations.windows import integers_in
from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import axis as whole_axis
from tapemagic.nn.conversions import as_array
from tapemagic.nn.layer import Layer, shapes_of


class Merge(Layer):
    """Base class of layers that are called on a list of inputs.

    Raises ShapeError in a call, if the number of inputs is wrong, or their shapes don't fit together.
    """

    min_inputs, max_inputs = 1, 10**6

    def call(self, inputs: Any, *more: Any) -> Any:
        """Return the merged inputs."""
        is_list = (
            not more
            and isinstance(inputs, list | tuple)
            and self.min_inputs <= len(inputs) <= self.max_inputs
        )
        if not is_list or not all(hasattr(x, "shape") for x in inputs):
            count = self.min_inputs if self.min_inputs == self.max_inputs else "several"
            raise ShapeError(
                f"the layer {self.path!r} takes one list of {count} arrays or tensors, not {shown(inputs)}: write "
                "layer([a, b])"
            )
        # As in Keras: batches of length 1 and n would broadcast, which is usually a mistake.
        self._require_batch([x.shape for x in inputs])
        return self.merge(inputs)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:  # noqa: ARG002 (Keras's signature)
        """Return True where any input counts; None if an input has no mask."""
        if previous_mask is None or any(mask is None for mask in previous_mask):
            return None
        return reduce(np.logical_or, previous_mask)

    def merge(self, inputs: Any) -> Any:
        """Merge the inputs, by the rule of each subclass."""
        raise NotImplementedError

    def _require_batch(self, shapes: list[Any]) -> None:
        """Raise ShapeError for batches of different lengths."""
        if len({shape[0] for shape in shapes if shape}) > 1:
            raise self._misfit(shapes, "their batches have different lengths")

    def _misfit(self, shapes: list[Any], why: str) -> ShapeError:
        return ShapeError(
            f"the layer {self.path!r} can't merge inputs of the shapes {shapes}: {why}"
        )


class ElementwiseMerge(Merge):
    """Base class of layers that merge several inputs element by element.

    Inputs with fewer axes get axes of length 1 after the batch; then the shapes broadcast.
    """

    # Keras's rule, which differs from NumPy's: NumPy would add the axes before the batch.

    function: Callable[..., Any]

    def merge(self, inputs: Any) -> Any:
        """Merge the first two inputs, the result and the third input, and so on."""
        rank = max(x.ndim for x in inputs)
        even = [x if x.ndim == rank else _with_axes(x, rank - x.ndim) for x in inputs]
        try:
            np.broadcast_shapes(*(x.shape for x in even))
        except ValueError:
            raise self._misfit(shapes_of(inputs), "their axes don't broadcast") from None
        return reduce(type(self).function, even)


def as_function(kind: type[Merge]) -> Callable[..., Any]:
    """Return a function that creates a layer and calls it, under Keras's name, such as `add` for `Add`.

    Examples
    --------
    >>> import numpy as np
    >>> as_function(Add)([np.array([[1.0]]), np.array([[2.0]])]).numpy()
    array([[3.]], dtype=float32)
    """

    def function(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return kind(*args, **kwargs)(inputs)

    function.__name__ = function.__qualname__ = kind.__name__.lower()
    function.__module__ = kind.__module__.replace(".merging", "")
    function.__doc__ = f"""Call a layer `{kind.__name__}` on a list of inputs.

    Parameters
    ----------
    inputs : list of array_like or symbolic tensors
    *args, **kwargs
        See `{kind.__name__}`.
    """
    return function


def _with_axes(x: Any, count: int) -> Any:
    """Return a tensor with additional axes of length 1 after the batch."""
    return x.reshape((*x.shape[:1], *(1,) * count, *x.shape[1:]))


class Add(ElementwiseMerge):
    """The sum of several inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Add()([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]).numpy()
    array([[11., 22.]], dtype=float32)
    """

    function = np.add


class Subtract(ElementwiseMerge):
    """The first of two inputs minus the second.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Subtract()([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]).numpy()
    array([[ -9., -18.]], dtype=float32)
    """

    min_inputs = max_inputs = 2
    function = np.subtract


class Multiply(ElementwiseMerge):
    """The product of several inputs, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Multiply()([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]).numpy()
    array([[10., 40.]], dtype=float32)
    """

    function = np.multiply


class Average(ElementwiseMerge):
    """The average of several inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Average()([np.array([[1.0, 2.0]]), np.array([[3.0, 6.0]])]).numpy()
    array([[2., 4.]], dtype=float32)
    """

    cast_kinds = "fbiu"
    function = np.add

    def merge(self, inputs: Any) -> Any:
        """Divide the sum by the number of inputs."""
        return super().merge(inputs) / len(inputs)


class Maximum(ElementwiseMerge):
    """The largest of several inputs, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Maximum()([np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])]).numpy()
    array([[3., 2.]], dtype=float32)
    """

    function = np.maximum


class Minimum(ElementwiseMerge):
    """The smallest of several inputs, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Minimum()([np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])]).numpy()
    array([[1., 0.]], dtype=float32)
    """

    function = np.minimum


class Concatenate(Merge):
    """The inputs one after the other along an axis.

    Parameters
    ----------
    axis : int, optional
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Concatenate()([np.zeros((2, 3)), np.zeros((2, 4))]).shape
    (2, 7)
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = whole_axis(axis, "axis of Concatenate")

    def merge(self, inputs: Any) -> Any:
        """Concatenate the inputs along the axis."""
        try:
            return np.concatenate(inputs, axis=self.axis)
        except ValueError:
            why = f"all need an axis {self.axis}, and equal lengths along all other axes"
            raise self._misfit(shapes_of(inputs), why) from None

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return the masks one after the other; an input without a mask counts everywhere."""
        if previous_mask is None or all(mask is None for mask in previous_mask):
            return None
        # Keras's rule: a step counts if any of its features does.
        each = [
            np.ones(x.shape, bool)
            if mask is None
            else np.broadcast_to(as_array(mask)[..., None], x.shape)
            for x, mask in zip(inputs, previous_mask, strict=True)
        ]
        return np.any(np.concatenate(each, axis=self.axis), axis=-1)

    def _require_batch(self, shapes: list[Any]) -> None:
        """Accept batches of different lengths, which can be concatenated."""


class Dot(Merge):
    """The dot products of two inputs along an axis of each, example by example.

    The output has the batch axis, the other axes of the first input, and the other axes of the second input, or the
    shape (batch, 1) if there are no other axes.

    Parameters
    ----------
    axes : int or (int, int)
        The axis of both inputs, or of each, over which products are summed; not the batch axis, 0.
    normalize : bool, optional
        Divide by the lengths of the vectors first, so that the products are cosines.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Dot(axes=1)([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]).numpy()
    array([[50.]], dtype=float32)
    """

    min_inputs = max_inputs = 2

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        numbers = integers_in(axes)
        if len(numbers) not in {1, 2} or 0 in numbers:
            raise OptionError(
                f"the axes of Dot must be one or two integers, without the batch axis 0, not {axes!r}"
            )
        self.axes = axes
        self.normalize = bool(normalize)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return None: the output has no steps of one input."""

    def merge(self, inputs: Any) -> Any:
        """Return the dot products."""
        x, y = inputs
        axes = integers_in(self.axes)
        first, second = axes[0], axes[-1]
        fits = -x.ndim < first < x.ndim and -y.ndim < second < y.ndim
        if not fits or x.shape[first] != y.shape[second]:
            why = f"axis {first} of the first and axis {second} of the second need the same length"
            raise self._misfit(shapes_of(inputs), why)
        # As one batched product of matrices: the other axes become the rows of the first and the columns of the second.
        x, y = np.moveaxis(x, first, -1), np.moveaxis(y, second, 1)
        if self.normalize:
            x, y = l2_normalize(x, axis=-1), l2_normalize(y, axis=1)
        batch, *before, length = x.shape
        rest = y.shape[2:]
        rows, columns = math.prod(before), math.prod(rest)
        products = x.reshape((batch, rows, length)) @ y.reshape((batch, length, columns))
        return products.reshape((batch, *before, *rest) if before or rest else (batch, 1))
