"""Workspace: memory for intermediate results, which stays from call to call or begins on a cache line."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

CACHE_LINE = 64
"""The bytes that a processor reads and writes at once; as many as the widest vectors hold."""


def aligned_like(x: Any, dtype: Any = None) -> Any:
    """A new array like ``np.empty_like(x, dtype)``, which begins on a cache line.

    NumPy's own arrays begin at a multiple of 16 bytes. A vector of 64 bytes that lies in two cache lines takes twice
    as long to read or to write.

    Parameters
    ----------
    x : array of any shape
    dtype : dtype, optional

    Returns
    -------
    array of the shape of `x`, and in its order in memory, without gaps

    Examples
    --------
    >>> made = aligned_like(np.ones((3, 2), order="F"), np.float32)
    >>> made.shape, made.dtype, made.strides, made.ctypes.data % 64
    ((3, 2), dtype('float32'), (4, 12), 0)
    """
    like = np.empty_like(x, dtype)
    memory = np.empty(like.nbytes + CACHE_LINE, np.uint8)
    offset = -memory.__array_interface__["data"][0] % CACHE_LINE
    return np.ndarray(like.shape, like.dtype, memory, offset, like.strides)


class Workspace(threading.local):
    """Memory for one array at a time, for each thread its own.

    For large arrays the operating system clears new memory page by page, which takes longer than to copy into it.

    Parameters
    ----------
    most : int
        The most bytes to keep; larger arrays get new memory.

    Examples
    --------
    >>> workspace = Workspace(1000)
    >>> workspace.array((2, 3), np.dtype(float)).shape
    (2, 3)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._memory = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """An array with whatever numbers, whose memory the next call gives again."""
        size = math.prod(shape) * dtype.itemsize
        if size > self._most:
            return np.empty(shape, dtype)
        if self._memory.size < size:
            self._memory = np.empty(self._most, np.uint8)
        return np.ndarray(shape, dtype, self._memory)
