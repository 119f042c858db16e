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
from tapemagic.nn.layer import Layer, shapes_of


class Merge(Layer):
    """Base class of layers that are called on a list of inputs.

    Parameters
    ----------
    **kwargs
        `name` and `dtype`, as of `Layer`.
    """

    least, most = 1, 10**6

    def call(self, inputs: Any, *more: Any) -> Any:
        """The inputs as one."""
        several = (
            not more and isinstance(inputs, list | tuple) and self.least <= len(inputs) <= self.most
        )
        if not several or not all(hasattr(x, "shape") for x in inputs):
            count = self.least if self.least == self.most else "several"
            raise ShapeError(
                f"the layer {self.path!r} takes one list of {count} arrays or tensors, not {shown(inputs)}: write "
                "layer([a, b])"
            )
        self._require_batch([x.shape for x in inputs])
        return self.merge(inputs)

    def merge(self, inputs: Any) -> Any:
        """The inputs as one; written by each class."""
        raise NotImplementedError

    def _require_batch(self, shapes: list[Any]) -> None:
        """Raise an error for batches of different lengths."""
        if len({shape[0] for shape in shapes if shape}) > 1:
            raise self._misfit(shapes, "their batches have different lengths")

    def _misfit(self, shapes: list[Any], why: str) -> ShapeError:
        return ShapeError(
            f"the layer {self.path!r} cannot merge inputs of the shapes {shapes}: {why}"
        )


class ElementwiseMerge(Merge):
    """Base class of layers that put several inputs together element by element.

    Those with fewer axes get axes of length 1 behind the batch; then the shapes broadcast.
    """

    function: Callable[..., Any]

    def merge(self, inputs: Any) -> Any:
        """The first two inputs as one, that and the third, and so on."""
        rank = max(x.ndim for x in inputs)
        even = [x if x.ndim == rank else _with_axes(x, rank - x.ndim) for x in inputs]
        try:
            np.broadcast_shapes(*(x.shape for x in even))
        except ValueError:
            raise self._misfit(shapes_of(inputs), "their axes do not broadcast") from None
        return reduce(type(self).function, even)


def as_function(kind: type[Merge]) -> Callable[..., Any]:
    """A function that makes a layer of a class and calls it, under Keras's name, as `add` of `Add`.

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
    function.__doc__ = f"""A layer `{kind.__name__}` of the given options, called on a list of inputs.

    Parameters
    ----------
    inputs : list of array_like or symbolic tensors
    *args, **kwargs
        As of `{kind.__name__}`.

    Returns
    -------
    Tensor or symbolic tensor
    """
    return function


def _with_axes(x: Any, count: int) -> Any:
    """A tensor with axes of length 1 behind the batch."""
    return x.reshape((*x.shape[:1], *(1,) * count, *x.shape[1:]))


class Add(ElementwiseMerge):
    """The sum of several inputs.

    Parameters
    ----------
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    ShapeError
        When it is called, if the inputs do not broadcast.

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

    Parameters
    ----------
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    ShapeError
        When it is called, if there are not two inputs, or they do not broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Subtract()([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]).numpy()
    array([[ -9., -18.]], dtype=float32)
    """

    least = most = 2
    function = np.subtract


class Multiply(ElementwiseMerge):
    """The product of several inputs, element by element.

    Parameters
    ----------
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    ShapeError
        When it is called, if the inputs do not broadcast.

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

    Parameters
    ----------
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    ShapeError
        When it is called, if the inputs do not broadcast.

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
        """The sum over the number of inputs."""
        return super().merge(inputs) / len(inputs)


class Maximum(ElementwiseMerge):
    """The largest of several inputs, element by element.

    Parameters
    ----------
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    ShapeError
        When it is called, if the inputs do not broadcast.

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

    Parameters
    ----------
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    ShapeError
        When it is called, if the inputs do not broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Minimum()([np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])]).numpy()
    array([[1., 0.]], dtype=float32)
    """

    function = np.minimum


class Concatenate(Merge):
    """Several inputs, one after the other along an axis.

    Parameters
    ----------
    axis : int, optional
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `axis` is no whole number.
    ShapeError
        When it is called, if the inputs have other lengths along another axis.

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
        """The inputs along the axis."""
        try:
            return np.concatenate(inputs, axis=self.axis)
        except ValueError:
            why = f"all need an axis {self.axis}, and the same lengths along all others"
            raise self._misfit(shapes_of(inputs), why) from None

    def _require_batch(self, shapes: list[Any]) -> None:
        """Batches may be concatenated, too."""


class Dot(Merge):
    """The dot products of two inputs along an axis of each, example by example.

    Parameters
    ----------
    axes : int or (int, int)
        The axis of both inputs, or of each, over which products are summed; not that of the batch, 0.
    normalize : bool, optional
        Whether to divide by the lengths of the vectors first, so that the products are cosines.
    **kwargs
        `name` and `dtype`, as of `Layer`.

    Raises
    ------
    OptionError
        If `axes` are no such axes.
    ShapeError
        When it is called, if there are not two inputs of two or more axes, or the axes differ in length.

    Notes
    -----
    From (batch, ..., n, ...) and (batch, ..., n, ...) to the batch, the other axes of the first, and the other axes of
    the second; (batch, 1) if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Dot(axes=1)([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]).numpy()
    array([[50.]], dtype=float32)
    """

    least = most = 2

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        several = integers_in(axes)
        if len(several) not in {1, 2} or 0 in several:
            raise OptionError(
                f"the axes of Dot are one or two whole numbers, and not that of the batch, 0: {axes!r} are not"
            )
        self.axes = axes
        self.normalize = bool(normalize)

    def merge(self, inputs: Any) -> Any:
        """The products."""
        x, y = inputs
        axes = integers_in(self.axes)
        first, second = axes[0], axes[-1]
        fits = -x.ndim < first < x.ndim and -y.ndim < second < y.ndim
        if not fits or x.shape[first] != y.shape[second]:
            why = f"axis {first} of the first and axis {second} of the second need the same length"
            raise self._misfit(shapes_of(inputs), why)
        x, y = np.moveaxis(x, first, -1), np.moveaxis(y, second, 1)
        if self.normalize:
            x, y = l2_normalize(x, axis=-1), l2_normalize(y, axis=1)
        batch, *before, length = x.shape
        rest = y.shape[2:]
        rows, columns = math.prod(before), math.prod(rest)
        products = x.reshape((batch, rows, length)) @ y.reshape((batch, length, columns))
        return products.reshape((batch, *before, *rest) if before or rest else (batch, 1))
