"""Sliding windows over the spatial axes of images and signals: their arguments and their places."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import operand
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError

Lengths = tuple[int, ...]
Index = tuple[Any, ...]

AXES = {1: "length", 2: "height, width", 3: "depth, height, width"}
"""The names of the spatial axes in error messages."""


@dataclass(frozen=True)
class Slide:
    """A window along one axis: its size, stride, padding and dilation.

    - `size`: The number of elements in the window.
    - `stride`: The distance between neighboring places.
    - `before`, `after`: The padding at the start and at the end of the axis.
    - `dilation`: The distance between neighboring elements of the window.
    """

    size: int
    stride: int = 1
    before: int = 0
    after: int = 0
    dilation: int = 1

    @property
    def extent(self) -> int:
        """The number of axis elements from the first to the last window element."""
        return (self.size - 1) * self.dilation + 1

    def padded(self, length: int) -> int:
        """Return the length of an axis with its padding."""
        return self.before + length + self.after

    def places(self, length: int) -> int:
        """Return the number of places of the window along an axis."""
        return (self.padded(length) - self.extent) // self.stride + 1

    def overlap(self, tap: int, length: int) -> tuple[slice, slice]:
        """Return the places where window element `tap` is inside the axis, and the axis elements below these places."""
        shift = tap * self.dilation - self.before
        first = max(0, -(shift // self.stride))
        end = max(first, min(self.places(length), (length - 1 - shift) // self.stride + 1))
        start = first * self.stride + shift
        return slice(first, end), slice(start, start + (end - first) * self.stride, self.stride)

    def phase(self, start: int, length: int) -> tuple[slice, slice, Slide]:
        """Return the window elements that meet the axis elements ``start::stride``, and the transposed window.

        Axis element ``start + k * stride`` meets window element t at place p if it equals ``p * stride + t * dilation
        - before``. That is possible for one in `step` window elements. With j counting these, ``p = k + latest - j *
        gap``. So the last result describes how a window of these elements, flipped, slides along the places.
        """
        step = self.stride // math.gcd(self.stride, self.dilation)
        taps = range(min(step, self.size))
        shift = start + self.before
        first = next((t for t in taps if (shift - t * self.dilation) % self.stride == 0), self.size)
        latest = (shift - first * self.dilation) // self.stride
        gap = step * self.dilation // self.stride
        elements = range(start, length, self.stride)
        flipped = Slide(
            size=len(range(first, self.size, step)),
            before=(len(range(first, self.size, step)) - 1) * gap - latest,
            after=len(elements) + latest - self.places(length),
            dilation=gap,
        )
        return slice(first, None, step), slice(start, None, self.stride), flipped


Window = tuple[Slide, ...]
"""A window along each spatial axis."""


def spatial(x: Any, window: Window) -> Lengths:
    """Return the lengths of the axes along which a window slides, which precede the channels."""
    return x.shape[-len(window) - 1 : -1]  # type: ignore[no-any-return]


def places(window: Window, lengths: Lengths) -> Lengths:
    """Return the number of places of a window along each of its axes."""
    return tuple(slide.places(length) for slide, length in zip(window, lengths, strict=True))


def overlaps(window: Window, lengths: Lengths) -> Iterator[tuple[Index, Index]]:
    """Yield, for each window element in row-major order, the places where it is inside, and the elements below.

    Both are indices, which are equal for all images and channels.
    """
    for taps in itertools.product(*(range(slide.size) for slide in window)):
        pairs = (slide.overlap(*axis) for slide, *axis in zip(window, taps, lengths, strict=True))
        outer, inner = zip(*pairs, strict=True)
        yield (..., *outer, slice(None)), (..., *inner, slice(None))


def phases(window: Window, lengths: Lengths) -> Iterator[tuple[Index, Index, Window]]:
    """Yield the parts of a transposed convolution with strides: `Slide.phase` for all phases of all axes.

    Each part has an index of kernels, an index of images, and a window.
    """
    starts = (range(min(slide.stride, n)) for slide, n in zip(window, lengths, strict=True))
    for start in itertools.product(*starts):
        parts = (slide.phase(*axis) for slide, *axis in zip(window, start, lengths, strict=True))
        taps, elements, flipped = zip(*parts, strict=True)
        if all(slide.size for slide in flipped):
            yield taps, (slice(None), *elements), flipped


def sliding(
    size: Lengths, strides: Any, padding: Any, dilations: Any, lengths: Lengths, name: str
) -> Window:
    """Return the window for the arguments of the function `name`, over axes of the given lengths.

    Raises OptionError if strides, padding or dilations are invalid. Raises ShapeError if the window is larger than the
    padded axes.
    """
    steps, gaps = each(strides, len(size), "strides"), each(dilations, len(size), "dilations")
    bare = [Slide(n, step, dilation=gap) for n, step, gap in zip(size, steps, gaps, strict=True)]
    window = tuple(
        replace(slide, before=before, after=after)
        for slide, (before, after) in zip(bare, _pads(padding, bare, lengths), strict=True)
    )
    extents = tuple(slide.extent for slide in window)
    padded = tuple(slide.padded(length) for slide, length in zip(window, lengths, strict=True))
    if not all(lengths) or any(map(operator.gt, extents, padded)):
        raise ShapeError(
            f"{name} cannot fit a window that spans {_times(extents)} into axes of {_times(lengths)}, which are "
            f"{_times(padded)} with the padding {padding!r}: make the window smaller, or pad more"
        )
    return window


def _times(lengths: Lengths) -> str:
    """Format lengths for a message."""
    return " × ".join(map(str, lengths))


def each(value: Any, ndim: int, what: str) -> Lengths:
    """Return a positive integer for each spatial axis, from one integer per axis or a single integer.

    TensorFlow also accepts them between ones for the batch and the channels.
    """
    sizes = integers_in(value)
    if len(sizes) == 1:
        sizes *= ndim
    if len(sizes) == ndim + 2 and sizes[0] == sizes[-1] == 1:
        sizes = sizes[1:-1]
    if len(sizes) != ndim or min(sizes) < 1:
        sequence = f", or a sequence of {ndim} of them" if ndim > 1 else ""
        raise OptionError(f"{what} must be a positive integer{sequence}, not {value!r}")
    return sizes


def integers_in(value: Any) -> Lengths:
    """Convert an integer, or a sequence of integers, to a tuple, which is empty for any other value."""
    value = unwrap(value)
    try:
        return tuple(map(operator.index, value if np.ndim(value) else (value,)))
    except (TypeError, ValueError):
        return ()


def _pads(padding: Any, window: list[Slide], lengths: Lengths) -> Sequence[Lengths]:
    """Return the padding before and after each axis."""
    name = padding.upper() if isinstance(padding, str) else ""
    if name == "VALID":
        return [(0, 0)] * len(window)
    if name == "SAME":
        return [*map(_same, window, lengths)]
    is_sequence = isinstance(padding, (list, tuple, np.ndarray))
    pads = [*map(integers_in, padding)] if is_sequence else []
    if len(pads) == len(window) + 2 and pads[0] == pads[-1] == (0, 0):
        pads = pads[1:-1]
    if len(pads) != len(window) or any(len(pair) != 2 or min(pair) < 0 for pair in pads):
        raise OptionError(
            "padding must be 'VALID', 'SAME', or a pair (before, after) for each spatial axis, such as "
            f"{[(1, 1)] * len(window)}, not {padding!r}"
        )
    return pads


def _same(slide: Slide, length: int) -> tuple[int, int]:
    """Return TensorFlow's padding for ceil(length / stride) places; an odd element comes after the axis."""
    count = -(-length // slide.stride)
    missing = max((count - 1) * slide.stride + slide.extent - length, 0)
    return missing // 2, missing - missing // 2


def images(x: Any, ndim: int, name: str) -> Any:
    """Convert `x` to a batch of arrays with `ndim` spatial axes and channels, for the function `name`.

    Raises ShapeError if `x` has too few axes. Raises UnsupportedArgumentError if `x` contains something other than real
    or complex numbers.
    """
    x = numbers(x, name)
    if x.ndim < ndim + 2:
        raise ShapeError(
            f"{name} takes x with axes (batch, {AXES[ndim]}, channels), not of shape {x.shape}: "
            "without a batch write x[None], and without channels x[..., None]"
        )
    return x


def numbers(x: Any, name: str) -> Any:
    """Convert `x` to an array or tensor of real or complex numbers, or raise an error."""
    x = operand(x)
    if x.dtype.kind not in "fc":
        raise UnsupportedArgumentError(
            f"{name} takes real or complex numbers, not {x.dtype}: write np.astype(x, float), "
            "and / 255 where they are pixels from 0 to 255"
        )
    return x
