"""Initializer: the base class, and checks of shapes and dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.errors import ShapeError
from tapemagic.nn.config import floatx
from tapemagic.nn.configurable import Configurable


class Initializer(Configurable):
    """Base class of initializers, which create the initial value of a variable: override `__call__`.

    Raises OptionError from every initializer, if an option has a value that the initializer doesn't accept.

    Examples
    --------
    >>> import numpy as np
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
        """Create an array of a shape and a dtype.

        - `dtype`: By default `nn.config.floatx`.

        Raises DtypeError, ShapeError if the initializer doesn't support the dtype or shape.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method __call__(self, shape, dtype=None): write one"
        )


def lengths(shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of known lengths, or raise ShapeError.

    Examples
    --------
    >>> lengths([2, 3]), lengths(2)
    ((2, 3), (2,))
    """
    # A single integer means a vector, as in np.zeros(3).
    # `__iter__` is that of tf.TensorShape, which is no Sequence.
    axes = tuple(shape) if hasattr(shape, "__iter__") and np.ndim(shape) != 0 else (shape,)
    is_valid = all(isinstance(n, int | np.integer) and n >= 0 for n in axes)
    if not is_valid:
        raise ShapeError(f"a shape must be a tuple of integers of at least 0, not {shape!r}")
    return tuple(map(int, axes))


def dtype_of(dtype: DTypeLike | None) -> np.dtype[Any]:
    """Return a numeric dtype, or `nn.config.floatx` for None, or raise DtypeError."""
    return of_numbers(floatx() if dtype is None else dtype)
