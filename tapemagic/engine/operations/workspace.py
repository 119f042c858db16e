"""Workspace: memory for intermediate results that stays from call to call."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np


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
