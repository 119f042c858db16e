"""Initializer: the base class, and the shapes and dtypes with which initializers are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.errors import ShapeError
from tapemagic.nn.config import floatx


class Initializer:
    """Base class of initializers, which make the first value of a variable: write `__call__`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> class Counting(nn.initializers.Initializer):
    ...     def __call__(self, shape, dtype=None):
    ...         return np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    >>> layer = nn.Dense(3, kernel_initializer=Counting())
    >>> layer.build((None, 2))
    >>> layer.kernel.numpy()
    array([[0., 1., 2.],
           [3., 4., 5.]], dtype=float32)
    """

    def __call__(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> Any:
        """Make an array of a shape and a dtype.

        Parameters
        ----------
        shape : sequence of int
        dtype : dtype, optional
            `nn.config.floatx` if left out.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        DtypeError
            If `dtype` is none that the initializer gives.
        ShapeError
            If `shape` is none that the initializer gives.
        """
        raise NotImplementedError(
            f"{type(self).__name__} makes nothing yet: give it a method __call__(self, shape, dtype=None)"
        )


def lengths(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of lengths.

    Raises
    ------
    ShapeError
        If it is no shape, or a length is not known.

    Examples
    --------
    >>> lengths([2, 3]), lengths(2)
    ((2, 3), (2,))
    """
    axes = tuple(shape) if isinstance(shape, Sequence | np.ndarray) else (shape,)
    is_valid = all(isinstance(n, int | np.integer) and n >= 0 for n in axes)
    if not is_valid:
        raise ShapeError(f"a shape is a tuple of whole numbers from 0 on, not {shape!r}")
    return tuple(map(int, axes))


def dtype_of(dtype: DTypeLike | None) -> np.dtype[Any]:
    """A dtype of numbers; `nn.config.floatx` for None.

    Raises
    ------
    DtypeError
        If it is unknown, or none of numbers.
    """
    return of_numbers(floatx() if dtype is None else dtype)
