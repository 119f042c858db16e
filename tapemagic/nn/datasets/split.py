"""The form in which all data sets are returned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Split = tuple[tuple[Array, Array], tuple[Array, Array]]
"""``(x_train, y_train), (x_test, y_test)``."""


def normalized(split: Split, white: int) -> Split:
    """The same with images from 0 to 1 in float32, where ``white`` was the largest value."""
    (x_train, y_train), (x_test, y_test) = split
    return (_normalized(x_train, white), y_train), (_normalized(x_test, white), y_test)


def _normalized(images: Array, white: int) -> Array:
    return images.astype(np.float32) / np.float32(white)
