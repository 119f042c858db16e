"""Workspace: memory for intermediate results that is reused from call to call, or starts at a cache line."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

CACHE_LINE = 64
"""The number of bytes that a processor reads and writes at once, and the size of the widest vectors."""


def aligned_like(x: Any, dtype: Any = None) -> Any:
    """Create an array like ``np.empty_like(x, dtype)`` that starts at a cache line.

    NumPy arrays start at a multiple of 16 bytes. A vector of 64 bytes that spans two cache lines takes twice as long
    to read or write.

    Parameters
    ----------
    x : array of any shape
    dtype : dtype, optional

    Examples
    --------
    >>> made = aligned_like(np.ones((3, 2), order="F"), np.float32)
    >>> made.shape, made.dtype, made.strides, made.ctypes.data % 64
    ((3, 2), dtype('float32'), (4, 12), 0)
    """
    like = np.empty_like(x, dtype)
    memory = np.empty(like.nbytes + CACHE_LINE, np.uint8)
    # Allocated a cache line too long, so that it contains an aligned start.
    offset = -memory.__array_interface__["data"][0] % CACHE_LINE
    return np.ndarray(like.shape, like.dtype, memory, offset, like.strides)


class Workspace(threading.local):
    """Memory for a single array at a time, separate for each thread.

    For large arrays, the operating system clears new memory page by page, which takes longer than copying data into
    it.

    - `max_bytes`: The maximum number of bytes to keep; larger arrays get new memory.

    Examples
    --------
    >>> workspace = Workspace(1000)
    >>> workspace.array((2, 3), np.dtype(float)).shape
    (2, 3)
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._memory = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Return an uninitialized array, whose memory the next call reuses."""
        size = math.prod(shape) * dtype.itemsize
        if size > self._max_bytes:
            return np.empty(shape, dtype)
        if self._memory.size < size:
            self._memory = np.empty(self._max_bytes, np.uint8)
        return np.ndarray(shape, dtype, self._memory)
