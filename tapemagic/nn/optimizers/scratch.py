"""Scratch: arrays for intermediate results, kept from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np


class Scratch:
    """Arrays of any shape and dtype to compute in, which share their memory with those of other shapes.

    A copy, or one that was pickled, begins with no memory.

    Parameters
    ----------
    count : int
        How many arrays a computation needs.

    Examples
    --------
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
        """Arrays of the shape and dtype of another one, with whatever numbers."""
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
        return Scratch, (self._count,)


LARGE = 1 << 18
"""The bytes from which on a variable's new value is written into another array than the old one.

In a matrix product other processors have read the old one: to write into that, line after line has to be taken away
from their caches, which takes several times as long.
"""


class Spare:
    """An array for each shape and dtype, to be exchanged for another one. A copy, or one that was pickled, has none.

    Examples
    --------
    >>> spare = Spare()
    >>> first, second = np.zeros(2), np.zeros(2)
    >>> spare.store(first, second)
    >>> spare(first) is second
    True
    """

    def __init__(self) -> None:
        self._arrays: dict[Any, Any] = {}

    def __call__(self, like: Any) -> Any:
        """The array of the shape and dtype of another one, with whatever numbers."""
        key = like.shape, like.dtype
        array = self._arrays.get(key)
        if array is None:
            array = self._arrays[key] = np.empty(*key)
        return array

    def store(self, like: Any, array: Any) -> None:
        """Give the array of a shape and dtype from now on."""
        self._arrays[like.shape, like.dtype] = array

    def __reduce__(self) -> Any:
        return Spare, ()


LINE = 64
"""The bytes of a line of a processor's cache: vectors that lie across two of them take longer to read and write."""


def _aligned(rows: int, length: int, dtype: Any) -> Any:
    """An array of so many rows, with whatever numbers, each of which begins with a line of the cache."""
    stride = -(-length * dtype.itemsize // LINE) * LINE
    memory = np.empty(rows * stride + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + rows * stride].view(dtype).reshape(rows, -1)[:, :length]
