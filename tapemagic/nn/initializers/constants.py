"""Initializers without random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.coercion import private_array
from tapemagic.errors import ShapeError
from tapemagic.nn.initializers.initializer import Initializer, dtype_of, lengths


class Zeros(Initializer):
    """An array of zeros.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.initializers.Zeros()((2,))
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> Any:
        """Return zeros of a shape and a dtype."""
        return np.zeros(lengths(shape), dtype_of(dtype))


class Ones(Initializer):
    """An array filled with ones in a shape and dtype.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.initializers.Ones()((2,))
    array([1., 1.], dtype=float32)
    """

    def __call__(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> Any:
        """Return ones of a shape and a dtype."""
        return np.ones(lengths(shape), dtype_of(dtype))


class Constant(Initializer):
    """A constant number, or an array that is broadcast to the shape.

    Parameters
    ----------
    value : array_like, optional

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.initializers.Constant(0.5)((2,))
    array([0.5, 0.5], dtype=float32)
    """

    def __init__(self, value: Any = 0.0) -> None:
        self.value = private_array(value)

    def __call__(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> Any:
        """Return the value in a shape and a dtype, or raise DtypeError or ShapeError if it doesn't fit."""
        # private_array refuses values that don't fit the dtype, such as a complex number for float32.
        value = private_array(self.value, dtype_of(dtype))
        try:
            return np.broadcast_to(value, lengths(shape)).copy()
        except ValueError:
            raise ShapeError(
                f"a constant of the shape {value.shape} doesn't fit a variable of the shape {tuple(shape)}: pass one "
                "number, or an array of that shape"
            ) from None


class Identity(Initializer):
    """The identity matrix times a factor.

    Parameters
    ----------
    gain : float, optional
        The factor.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.initializers.Identity(2.0)((2, 3))
    array([[2., 0., 0.],
           [0., 2., 0.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> Any:
        """Return a matrix of a shape and a dtype, or raise ShapeError unless the shape has two axes."""
        rows_and_columns = lengths(shape)
        if len(rows_and_columns) != 2:
            raise ShapeError(
                f"an identity matrix has two axes, not the shape {rows_and_columns}: use another initializer"
            )
        return np.eye(*rows_and_columns, dtype=dtype_of(dtype)) * dtype_of(dtype).type(self.gain)
