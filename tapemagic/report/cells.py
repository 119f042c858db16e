"""The cells of a picture of an array: means of its blocks, for a curve, a heat-map or an image."""

from __future__ import annotations

from typing import Any

import numpy as np

Cells = tuple[tuple[float, ...], ...]

POINTS = 48
"""The largest number of points of a curve."""
CELLS = 16
"""The largest number of rows and columns of a heat-map."""
PIXELS = 24
"""The largest number of rows and columns of an image."""
MIN_SIDE = 8
"""The smallest side of an image."""


def block_means(array: Any, max_cells: tuple[int, ...]) -> Any:
    """Means of blocks of an array, with at most `max_cells` blocks along its axes, or nan where a block has a nan.

    Examples
    --------
    >>> block_means(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), (3,))
    array([1.5, 3.5, 5. ])
    """
    cells = np.abs(array) if array.dtype.kind == "c" else array
    # The axis that shrinks most comes first, so that the later ones have less to do.
    for axis in sorted(range(array.ndim), key=lambda axis: -array.shape[axis] / max_cells[axis]):
        size = array.shape[axis]
        block = -(-size // max_cells[axis])
        if block > 1:
            starts = np.arange(0, size, block)
            counts = np.diff(starts, append=size).reshape(
                [-1 if k == axis else 1 for k in range(array.ndim)]
            )
            # reduceat sums blocks of unequal length, without padding the last one.
            cells = np.add.reduceat(cells, starts, axis, np.float64) / counts
    return cells.astype(np.float64)


def rounded(cells: Any) -> Cells:
    """A matrix as tuples of numbers with six significant digits."""
    # A picture needs no more digits, and notebooks would store them all.
    return tuple(tuple(float(f"{x:.6g}") for x in row) for row in cells.tolist())


def curve(array: Any) -> Cells:
    """The one row of cells of a curve."""
    return rounded(block_means(array.reshape(-1), (POINTS,)).reshape(1, -1))


def surface(array: Any) -> Cells:
    """The cells of a heat-map of a matrix."""
    return rounded(block_means(array, (CELLS, CELLS)))


def is_image_shape(shape: tuple[int, ...]) -> bool:
    """Return True if an array may be an image, or several of them: rows, columns and 1, 3 or 4 colours."""
    return len(shape) in (3, 4) and shape[-1] in (1, 3, 4) and min(shape[-3:-1]) >= MIN_SIDE


def colours(image: Any) -> tuple[tuple[str, ...], ...]:
    """The colours of an image as #rrggbb; a transparent one lies on white."""
    # Integers are brightnesses up to 255, floats up to 1, as in Matplotlib.
    white = 255 if image.dtype.kind == "u" else 1
    pixels = block_means(image, (PIXELS, PIXELS, image.shape[-1])) / white
    if image.shape[-1] == 4:
        # Alpha compositing over white, whose three channels are 1.
        pixels = pixels[..., :3] * pixels[..., 3:] + 1 - pixels[..., 3:]
    # A gray image has one channel: red, green and blue are equal.
    levels = np.rint(np.broadcast_to(pixels, (*pixels.shape[:2], 3)) * 255).astype(int).tolist()
    return tuple(tuple("#{:02x}{:02x}{:02x}".format(*pixel) for pixel in row) for row in levels)


def slice_shown(shape: tuple[int, ...]) -> tuple[Any, str]:
    """The index of the part of an array that is drawn as a matrix or curve, and that part as text.

    Examples
    --------
    >>> slice_shown((32, 8, 5, 5))
    ((0, 0), '[0, 0] of 32×8')
    >>> slice_shown((28, 28, 3))
    ((slice(None, None, None), slice(None, None, None), 0), '[:, :, 0] of 28×28×3')
    """
    sides = "×".join(map(str, shape[:-2]))
    if is_image_shape(shape):
        first = (0,) * (len(shape) - 3)
        all_sides = "×".join(map(str, shape))
        index = ", ".join(["0"] * len(first) + [":", ":", "0"])
        return (*first, slice(None), slice(None), 0), f"[{index}] of {all_sides}"
    if len(shape) <= 2 or all(size == 1 for size in shape[:-2]):
        return (0,) * (len(shape) - 2), ""
    return (0,) * (len(shape) - 2), f"[{', '.join(['0'] * (len(shape) - 2))}] of {sides}"
