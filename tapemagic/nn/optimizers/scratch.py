"""Scratch: arrays for intermediate results, reused from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np


class Scratch:
    """Arrays of any shape and dtype for computations, which share memory with arrays of other shapes.

    - `count`: The number of arrays that a computation needs.

    Examples
    --------
    >>> import numpy as np
    >>> scratch = Scratch(2)
    >>> first, second = scratch(np.ones((2, 3)))
    >>> first.shape
    (2, 3)
    """

    __tape_unwatched__ = frozenset({"_memory", "_views"})

    def __init__(self, count: int) -> None:
        self._count = count
        self._memory: dict[Any, Any] = {}
        self._views: dict[Any, tuple[Any, ...]] = {}

    def __call__(self, like: Any) -> tuple[Any, ...]:
        """Return uninitialized arrays of the shape and dtype of `like`."""
        key = like.shape, like.dtype
        views = self._views.get(key)
        if views is None:
            views = self._views[key] = self._view(like)
        return views

    def _view(self, like: Any) -> tuple[Any, ...]:
        memory = self._memory.get(like.dtype)
        if memory is None or memory.shape[1] < like.size:
            memory = self._memory[like.dtype] = _aligned(self._count, like.size, like.dtype)
            self._views = {key: views for key, views in self._views.items() if key[1] != like.dtype}
        return tuple(row[: like.size].reshape(like.shape) for row in memory)

    def __reduce__(self) -> Any:
        return Scratch, (self._count,)  # copies and pickles begin without memory


MIN_EXCHANGED_BYTES = 1 << 18
"""Minimum size of variables whose new value is written into a different array than the old value.

In a matrix product, other cores have read the old array. Writing to it would invalidate each of its lines in their
caches, which takes several times as long.
"""


class Spare:
    """A spare array for each shape and dtype, to exchange with the array of a variable.

    Examples
    --------
    >>> import numpy as np
    >>> spare = Spare()
    >>> first, second = np.zeros(2), np.zeros(2)
    >>> spare.store(first, second)
    >>> spare(first) is second
    True
    """

    def __init__(self) -> None:
        self._arrays: dict[Any, Any] = {}

    def __call__(self, like: Any) -> Any:
        """Return the uninitialized array of the shape and dtype of `like`."""
        key = like.shape, like.dtype
        array = self._arrays.get(key)
        if array is None:
            array = self._arrays[key] = np.empty(*key)
        return array

    def store(self, like: Any, array: Any) -> None:
        """Set the array to return for the shape and dtype of `like`."""
        self._arrays[like.shape, like.dtype] = array

    def __reduce__(self) -> Any:
        return Spare, ()  # copies and pickles begin without arrays


CACHE_LINE_BYTES = 64
"""Size of a line of the CPU cache: vectors that cross the border of two lines take longer to read and write."""


def _aligned(rows: int, length: int, dtype: Any) -> Any:
    """Return an uninitialized array whose rows begin at cache lines."""
    stride = -(-length * dtype.itemsize // CACHE_LINE_BYTES) * CACHE_LINE_BYTES
    memory = np.empty(rows * stride + CACHE_LINE_BYTES, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE_BYTES
    return memory[first : first + rows * stride].view(dtype).reshape(rows, -1)[:, :length]
