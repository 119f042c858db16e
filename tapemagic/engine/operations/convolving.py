"""The convolution with any number of spatial axes, and its two gradients: three operations on the tape.

Each operation is linear in both arguments, and its gradients are the other two operations, so three are enough for
derivatives of any order. Channels come last; a kernel has the axes (spatial axes, input channels, output channels).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.operations.windows import (
    Index,
    Lengths,
    Slide,
    Window,
    overlaps,
    phases,
    places,
)
from tapemagic.engine.operations.workspace import Workspace

MAX_UNPACKED_PRODUCTS = 10**6
"""The maximum number of multiplications for which OpenBLAS uses a single thread and doesn't pack its operands."""

MIN_ROWS = 256
"""The minimum number of rows; with fewer, calling a matrix product costs more than computing it."""

BLOCK_BYTES = 10**6
"""The size of a block, in bytes, which stays in the processor's cache."""

_COLUMNS, _PADDED = Workspace(2 * BLOCK_BYTES), Workspace(2 * BLOCK_BYTES)


@primitive
def convolution(x: Any, kernel: Any, window: Window) -> Any:
    """Sum the products of a kernel and the elements below it, at each place of a window of the kernel's size.

    From x of shape (..., spatial axes, channels) and a kernel of shape (spatial axes, channels per group, output
    channels) to (..., places, output channels).
    """
    batch, x = _one_batch(x, window)
    groups = x.shape[-1] // kernel.shape[-2]
    if groups == x.shape[-1] > 1:
        y = _of_each_channel(x, kernel, window)
    else:
        y = _by_groups(lambda x, kernel: _convolution(x, kernel, window), groups, x, kernel)
    return y.reshape(batch + y.shape[1:])


@primitive
def transposed_convolution(
    g: Any, kernel: Any, window: Window, lengths: Lengths, groups: int
) -> Any:
    """Compute the gradient of `convolution` in x, whose spatial axes have the given `lengths`.

    From g of shape (..., places, output channels) and the kernel to (..., spatial axes, channels).
    """
    batch, g = _one_batch(g, window)
    if groups > 1 == kernel.shape[-2]:
        dx = _to_each_channel(g, kernel, window, lengths, groups)
    else:
        dx = _by_groups(
            lambda g, kernel: _transposed(g, kernel, window, lengths), groups, g, kernel
        )
    return dx.reshape(batch + dx.shape[1:])


@primitive
def kernel_gradient(x: Any, g: Any, window: Window, groups: int) -> Any:
    """Compute the gradient of `convolution` in the kernel, from x and g of shape (..., places, output channels)."""
    (_, x), (_, g) = _one_batch(x, window), _one_batch(g, window)
    if groups == x.shape[-1] > 1:
        return _kernels_gradient(x, g, window)
    return _by_groups(lambda x, g: _kernel_gradient(x, g, window), groups, x, g)


def _one_batch(x: Any, window: Window) -> tuple[Lengths, Any]:
    """Return the shape of the batch axes, and the array with these axes joined to a single axis."""
    first = x.ndim - len(window) - 1
    return x.shape[:first], x.reshape((math.prod(x.shape[:first]), *x.shape[first:]))


def _by_groups(product: Callable[[Any, Any], Any], groups: int, a: Any, b: Any) -> Any:
    """Apply a product to each group of channels (the last axes), and concatenate the results."""
    if groups == 1:
        return product(a, b)
    parts = zip(np.split(a, groups, -1), np.split(b, groups, -1), strict=True)
    return np.concatenate([product(*part) for part in parts], -1)


# A depthwise convolution has a group for each channel. Its products have an inner length of the few elements below a
# kernel, so it's quicker to add up one shifted image for each of these, all channels at once.


def _of_each_channel(x: Any, kernel: Any, window: Window) -> Any:
    """Compute the convolution of each channel with its own filters."""
    lengths, width = x.shape[1:-1], kernel.shape[-1]
    x = np.repeat(x, width // x.shape[-1], -1) if width > x.shape[-1] else x
    y = np.zeros((len(x), *places(window, lengths), width), np.result_type(x, kernel))
    for images in _parts(x):
        for taps, (above, below) in _overlaps(kernel, window, lengths):
            y[images][above] += x[images][below] * taps
    return y


def _to_each_channel(g: Any, kernel: Any, window: Window, lengths: Lengths, groups: int) -> Any:
    """Compute the gradient of `_of_each_channel` in x."""
    width = kernel.shape[-1]
    dx = np.zeros((len(g), *lengths, width), np.result_type(g, kernel))
    for images in _parts(g):
        for taps, (above, below) in _overlaps(kernel, window, lengths):
            dx[images][below] += g[images][above] * taps
    return dx.reshape((len(g), *lengths, groups, width // groups)).sum(-1)


def _kernels_gradient(x: Any, g: Any, window: Window) -> Any:
    """Compute the gradient of `_of_each_channel` in the kernel."""
    lengths, width = x.shape[1:-1], g.shape[-1]
    x = np.repeat(x, width // x.shape[-1], -1) if width > x.shape[-1] else x
    total = np.zeros((*(slide.size for slide in window), 1, width), np.result_type(x, g))
    for images in _parts(x):
        for sums, (above, below) in _overlaps(total, window, lengths):
            np.add(sums, (x[images][below] * g[images][above]).reshape((-1, width)).sum(0), sums)
    return total


def _overlaps(kernel: Any, window: Window, lengths: Lengths) -> Iterator[tuple[Any, Any]]:
    """Yield the part of a kernel for each of its elements, and `overlaps` for this element."""
    return zip(kernel.reshape((-1, kernel.shape[-1])), overlaps(window, lengths), strict=True)


def _parts(x: Any) -> Iterator[slice]:
    """Yield slices of a batch that stay in the processor's cache."""
    count = max(1, BLOCK_BYTES * len(x) // max(1, x.nbytes))
    return (slice(first, first + count) for first in range(0, len(x), count))


def _convolution(x: Any, kernel: Any, window: Window) -> Any:
    """Compute the convolution as a matrix product: rows of elements below the kernel, times the kernel."""
    channels, width = kernel.shape[-2:]
    dtype = np.result_type(x, kernel)
    matrix = kernel.astype(dtype, copy=False).reshape((_taps(window) * channels, width))
    # Without any elements, no block writes into y, and empty memory would be returned.
    new = np.empty if x.size else np.zeros
    y = new((len(x), *places(window, x.shape[1:-1]), width), dtype)
    for images, block, columns in _columns(x.astype(dtype, copy=False), window, width):
        np.matmul(columns, matrix, out=y[images][block].reshape((len(columns), width)))
    return y


def _kernel_gradient(x: Any, g: Any, window: Window) -> Any:
    """Compute the gradient in the kernel as a product: elements below the kernel, transposed, times the gradient."""
    channels, width = x.shape[-1], g.shape[-1]
    dtype = np.result_type(x, g)
    total = np.zeros((_taps(window) * channels, width), dtype)
    for images, block, columns in _columns(x.astype(dtype, copy=False), window, width):
        total += columns.T @ g[images][block].reshape((len(columns), width))
    sizes = (slide.size for slide in window)
    return total.reshape((*sizes, channels, width))


def _transposed(g: Any, kernel: Any, window: Window, lengths: Lengths) -> Any:
    """Compute a convolution with a flipped part of the kernel for each phase of the strides."""
    axes = tuple(range(len(lengths)))
    parts = (
        (below, _convolution(g, np.flip(kernel[taps], axes).swapaxes(-1, -2), flipped))
        for taps, below, flipped in phases(window, lengths)
    )
    # Without strides there is a single phase, which fills all of dx.
    if all(slide.stride == 1 for slide in window):
        return next(parts)[1]
    dx = np.zeros((len(g), *lengths, kernel.shape[-2]), np.result_type(g, kernel))
    for below, part in parts:
        dx[below] = part
    return dx


def _columns(x: Any, window: Window, width: int) -> Iterator[tuple[slice, Index, Any]]:
    """Yield matrices of the elements below the kernel, with a row for each place, block by block.

    Each item has a slice of images in the batch, a block of their places, and the matrix, which has the best size for
    a product with a matrix of the given `width`. The next matrix overwrites this matrix.
    """
    if not x.size:
        return
    depth = _taps(window) * x.shape[-1]
    rows = _rows(depth, width, x.itemsize)
    count = max(1, BLOCK_BYTES * len(x) // x.nbytes)
    for first in range(0, len(x), count):
        images = slice(first, first + count)
        below = _below(_padded(x[images], window), window, x.shape[1:-1])
        for block in _blocks(below.shape, len(window), rows):
            part = below[block]
            columns = _COLUMNS.array(part.shape, part.dtype)
            np.copyto(columns, part)
            yield images, block, columns.view(x.dtype).reshape((-1, depth))


def _rows(depth: int, width: int, itemsize: int) -> int:
    """Return the number of rows to multiply at once, for matrices of the given depth and width."""
    rows, rows_in_cache = (
        MAX_UNPACKED_PRODUCTS // (depth * width or 1),
        BLOCK_BYTES // (depth * itemsize),
    )
    return rows_in_cache if rows < MIN_ROWS else min(rows, rows_in_cache)


def _blocks(shape: Lengths, ndim: int, rows: int) -> Iterator[Index]:
    """Yield blocks of images, or of lines of an image, each with about `rows` places."""
    count, height, *lower = shape[: ndim + 1]
    lines = max(1, rows // math.prod(lower))
    images = max(1, lines // height)
    for first in range(0, count, images):
        for line in range(0, height, lines):
            yield slice(first, first + images), slice(line, line + lines)


def _taps(window: Window) -> int:
    """Return the number of elements in a window."""
    return math.prod(slide.size for slide in window)


def _below(padded: Any, window: Window, lengths: Lengths) -> Any:
    """Return a view of the elements below the kernel at each place.

    Neighbors form a single item of raw bytes (np.void), because NumPy copies a few long items faster than many short
    ones.
    """
    run, taps = padded.shape[-1], window
    if window[-1].dilation == 1:  # neighbors and their channels are contiguous
        run, taps = run * window[-1].size, window[:-1]
    image, *steps, _ = padded.strides  # the last stride may be 0 for a single channel
    shape = (len(padded), *places(window, lengths), *(slide.size for slide in taps))
    # The view repeats elements: overlapping places share memory, so it takes no memory itself.
    moves = [step * slide.stride for step, slide in zip(steps, window, strict=True)]
    moves += [step * slide.dilation for step, slide in zip(steps, taps, strict=False)]
    items = np.dtype((np.void, run * padded.itemsize))
    return np.ndarray(shape, items, padded, 0, (image, *moves))


def _padded(x: Any, window: Window) -> Any:
    """Return a contiguous array with zeros around its spatial axes; negative padding removes elements.

    The array is valid until the next call.
    """
    if not any(slide.before or slide.after for slide in window):
        return np.ascontiguousarray(x)
    source, target = [slice(None)], [slice(None)]
    for slide, length in zip(window, x.shape[1:-1], strict=True):
        first = max(0, -slide.before)
        end = max(first, min(length, length + slide.after))
        source.append(slice(first, end))
        target.append(slice(first + slide.before, end + slide.before))
    lengths = map(Slide.padded, window, x.shape[1:-1])
    padded = _PADDED.array((len(x), *lengths, x.shape[-1]), x.dtype)
    padded.fill(0)
    padded[tuple(target)] = x[tuple(source)]
    return padded
