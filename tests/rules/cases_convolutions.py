"""Cases of convolutions and pooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations.convolution import conv1d, conv1d_transpose, conv2d, conv2d_transpose
from tapemagic.engine.operations.convolving import convolution, kernel_gradient, transposed_convolution
from tapemagic.engine.operations.pooling import (
    average,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
    maximum,
    spread_average,
    spread_chosen,
    take_chosen,
)
from tapemagic.engine.operations.windows import Slide, Window
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError
from tests.rules.harness import Case, case, complexes, normal, refused, special

Shape = tuple[int, ...]

EXPLICIT = [(1, 2), (0, 1)]
WIDE = [(4, 3), (3, 4)]
"""Padding beyond the kernel, so that some sums are of zeros alone."""


def distinct(*shape: int, seed: int = 0) -> Any:
    """Numbers that differ by 1/8 or more, so that steps change no order."""
    return np.random.default_rng(seed).permutation(np.prod(shape)).reshape(shape) / 8 - 1


def labelled(*parts: Any, **params: Any) -> str:
    """A label of shapes and keywords."""
    return "-".join(map(str, [*parts, *(f"{name}={value}" for name, value in params.items())]))


def of_images(x: Shape, kernel: Shape, **params: Any) -> Case:
    """A case of conv2d on arrays of the given shapes."""
    inputs = normal(*x), normal(*kernel, seed=1)
    label = labelled(x, kernel, **params)
    return case(convolution, lambda x, k: conv2d(x, k, **params), *inputs, label=label)


def of_signals(x: Shape, kernel: Shape, **params: Any) -> Case:
    """A case of conv1d on arrays of the given shapes."""
    inputs = normal(*x), normal(*kernel, seed=1)
    label = labelled(x, kernel, **params)
    return case(convolution, lambda x, k: conv1d(x, k, **params), *inputs, label=label)


def back_to(shape: Any, x: Shape, kernel: Shape, **params: Any) -> Case:
    """A case of conv2d_transpose, or conv1d_transpose, on arrays of the given shapes."""
    transpose = conv2d_transpose if len(kernel) == 4 else conv1d_transpose
    inputs = normal(*x), normal(*kernel, seed=1)
    label = labelled(shape, x, kernel, **params)
    return case(transposed_convolution, lambda x, k: transpose(x, k, shape, **params), *inputs, label=label)


def of_kernel(x: Shape, g: Shape, window: Window, groups: int = 1) -> Case:
    """A case of the gradient in the kernel."""
    return case(
        kernel_gradient,
        lambda x, g: kernel_gradient(x, g, window=window, groups=groups),
        normal(*x),
        normal(*g, seed=1),
        label=labelled(x, g, groups=groups),
    )


def pooled(entry: Any, pool: Callable[..., Any], make: Callable[..., Any], x: Shape, **params: Any) -> Case:
    """A case of pooling an array of the given shape."""
    return case(entry, lambda x: pool(x, **params), make(*x), label=labelled(x, **params))


CONVOLUTIONS = [
    *[
        of_images((2, 5, 6, 2), (3, 2, 2, 3), strides=strides, padding=padding, dilations=dilations)
        for strides in (1, 2, (1, 3))
        for padding in ("VALID", "SAME", EXPLICIT)
        for dilations in (1, (2, 3))
    ],
    of_images((1, 4, 4, 1), (1, 1, 1, 1)),
    of_images((2, 3, 4, 3), (1, 1, 3, 2), strides=2),
    of_images((1, 4, 5, 2), (3, 2, 2, 2), padding=WIDE),
    of_images((1, 4, 5, 2), (3, 2, 2, 2), padding=WIDE, strides=2),
    of_images((1, 5, 4, 1), (5, 4, 1, 2)),
    of_images((2, 3, 3, 2), (2, 2, 2, 1), strides=(1, 2, 1, 1), padding="same"),
    of_images((2, 3, 3, 2), (2, 2, 2, 1), padding=[[0, 0], [1, 0], [0, 1], [0, 0]]),
    of_images((2, 3, 3, 2), (2, 2, 2, 1), strides=np.array([2, 1]), padding=np.ones((2, 2), int)),
    of_images((2, 1, 4, 3, 2), (2, 2, 2, 1)),
    of_images((0, 4, 3, 2), (2, 2, 2, 1)),
    of_images((2, 4, 3, 4), (2, 2, 2, 6)),
    of_images((2, 4, 3, 4), (2, 2, 1, 4), strides=2, padding="SAME"),
    of_images((2, 4, 5, 3), (2, 2, 1, 6), dilations=2),
    of_images((40, 4, 4, 1), (2, 2, 1, 1)),
    of_images((1, 40, 20, 1), (2, 2, 1, 2)),
    of_signals((2, 6, 2), (3, 2, 3)),
    of_signals((2, 6, 2), (3, 2, 3), stride=2, padding="SAME"),
    of_signals((2, 7, 2), (3, 2, 3), padding="SAME", dilation=2),
    of_signals((2, 6, 2), (3, 2, 3), stride=(2,), padding=[(1, 0)]),
    of_signals((2, 6, 4), (3, 2, 2)),
    of_signals((3, 2, 6, 1), (2, 1, 2), stride=2),
    case(convolution, conv2d, complexes(1, 4, 3, 2), complexes(2, 2, 2, 2), label="complex"),
    case(convolution, conv2d, normal(1, 4, 3, 2), complexes(2, 2, 2, 2), label="complex kernel"),
    case(convolution, lambda x: conv2d(x, normal(2, 2, 1, 2)), normal(1, 3, 3, 1), label="of x"),
    case(convolution, lambda kernel: conv2d(normal(1, 3, 3, 1), kernel), normal(2, 2, 1, 2), label="of the kernel"),
    case(convolution, lambda x: conv1d([[[1.0], [2.0], [3.0]]], [[[x]], [[2.0]]]), normal(), label="lists"),
    case(convolution, lambda x: conv2d(x, x), normal(2, 2, 2, 2), label="with itself"),
    case(
        convolution,
        lambda x, k: conv2d(np.swapaxes(x, 1, 2), np.swapaxes(k, 0, 1), padding="SAME"),
        normal(2, 4, 3, 2),
        normal(3, 2, 2, 2),
        label="not in a row",
    ),
]

TRANSPOSED = [
    back_to((2, 5, 6, 2), (2, 5, 6, 3), (3, 2, 2, 3)),
    back_to((2, 5, 6, 2), (2, 3, 3, 3), (3, 2, 2, 3), strides=2),
    back_to((5, 6), (2, 3, 3, 3), (3, 2, 2, 3), strides=2),
    back_to((2, 6, 6, 2), (2, 2, 3, 3), (3, 2, 2, 3), strides=2, padding="VALID"),
    back_to((1, 5, 6, 2), (1, 6, 6, 3), (3, 2, 2, 3), padding=EXPLICIT),
    back_to((1, 5, 6, 2), (1, 3, 5, 3), (2, 2, 2, 3), dilations=(2, 1), padding="VALID"),
    back_to((1, 4, 3, 4), (1, 3, 2, 2), (2, 2, 2, 2), padding="VALID"),
    back_to((0, 4, 3, 2), (0, 4, 3, 1), (2, 2, 2, 1)),
    back_to((2, 6, 2), (2, 3, 3), (3, 2, 3), strides=2),
    back_to((3, 2, 6, 2), (3, 2, 6, 1), (3, 2, 1), dilations=2),
    case(
        transposed_convolution,
        lambda x, k: conv2d_transpose(x, k, (1, 4, 3, 2)),
        complexes(1, 4, 3, 2),
        complexes(2, 2, 2, 2),
        label="complex",
    ),
]

PLANE = (Slide(2, 1, 1, 0), Slide(3, 2, 1, 1))
GAPS = (Slide(2, dilation=2), Slide(2))

KERNELS = [
    of_kernel((2, 3, 4, 2), (2, 3, 2, 3), PLANE),
    of_kernel((2, 3, 4, 2), (2, 1, 3, 1), GAPS),
    of_kernel((2, 3, 4, 4), (2, 3, 2, 6), PLANE, groups=2),
    of_kernel((0, 3, 4, 2), (0, 3, 2, 3), PLANE),
]

MAXIMA = [
    *[
        pooled(maximum, max_pool2d, distinct, (2, 5, 6, 2), size=size, strides=strides, padding=padding)
        for size, strides in ((2, None), (3, 2), ((2, 3), 1))
        for padding in ("VALID", "SAME", [(1, 0), (1, 1)])
    ],
    pooled(maximum, max_pool2d, distinct, (1, 4, 4, 1)),
    pooled(maximum, max_pool2d, distinct, (2, 1, 4, 3, 2), size=(1, 2, 2, 1), strides=(1, 2, 1, 1)),
    pooled(maximum, max_pool2d, distinct, (2, 17, 16, 1), size=(17, 16)),
    pooled(maximum, max_pool2d, distinct, (0, 4, 4, 1)),
    pooled(maximum, max_pool2d, distinct, (3, 4, 4, 0)),
    pooled(maximum, max_pool1d, distinct, (2, 6, 3)),
    pooled(maximum, max_pool1d, distinct, (2, 7, 2), size=3, strides=2, padding="SAME"),
    case(maximum, lambda x: max_pool2d(x**2, 3, 2, "SAME"), distinct(2, 5, 4, 2) + 1.5, label="squares"),
]

CHOSEN = np.random.default_rng(0).integers(0, 6, (2, 3, 2, 1))
"""The number of an element of PLANE in each of its places."""

AVERAGES = [
    *[
        pooled(average, avg_pool2d, normal, (2, 5, 6, 2), size=size, strides=strides, padding=padding)
        for size, strides in ((2, None), (3, 2), ((2, 3), 1))
        for padding in ("VALID", "SAME", [(1, 0), (1, 1)])
    ],
    pooled(average, avg_pool2d, complexes, (1, 4, 4, 1)),
    pooled(average, avg_pool2d, normal, (0, 4, 4, 1)),
    pooled(average, avg_pool2d, normal, (2, 1, 4, 3, 2)),
    pooled(average, avg_pool1d, normal, (2, 6, 3)),
    pooled(average, avg_pool1d, normal, (2, 7, 2), size=3, strides=2, padding="SAME"),
    case(spread_chosen, lambda g: spread_chosen(g, chosen=CHOSEN, window=PLANE, lengths=(3, 4)), normal(2, 3, 2, 1)),
    case(take_chosen, lambda x: take_chosen(x, chosen=CHOSEN, window=PLANE), normal(2, 3, 4, 1)),
    case(spread_average, lambda g: spread_average(g, window=PLANE, lengths=(3, 4)), normal(2, 3, 2, 1)),
]

CASES = [*CONVOLUTIONS, *TRANSPOSED, *KERNELS, *MAXIMA, *AVERAGES]


def picture(*rows: list[float]) -> Any:
    """One image of one channel."""
    return np.array(rows, float)[None, ..., None]


INF, NAN = np.inf, np.nan

SPECIAL = [
    special(maximum, max_pool2d, [picture([1, 1], [1, 1])], [picture([1, 0], [0, 0])], label="the first of equals"),
    special(
        maximum,
        lambda x: max_pool2d(x, 3, 1, "SAME"),
        [picture([0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0])],
        [picture([0, 0, 0, 0], [0, 9, 3, 0], [2, 1, 1, 0], [0, 0, 0, 0])],
        label="equals in windows that overlap",
    ),
    special(
        maximum,
        lambda x: max_pool2d(x, padding="SAME"),
        [picture([-INF] * 3, [-INF] * 3, [-INF] * 3)],
        [picture([1, 0, 1], [0, 0, 0], [1, 0, 1])],
        label="minus infinity",
    ),
    special(maximum, max_pool2d, [picture([1, 2], [NAN, 3])], [picture([1, 0], [0, 0])], label="not a number"),
    special(
        convolution,
        lambda x: conv1d(x, np.array([1.0, 2.0]).reshape(2, 1, 1), padding=[(3, 3)]),
        [np.array([5.0, 7.0]).reshape(1, 2, 1)],
        [np.array([3.0, 3.0]).reshape(1, 2, 1)],
        label="wide padding",
    ),
]

REFUSED = [
    refused(
        convolution,
        conv2d,
        [np.zeros((1, 3, 3, 1), int), normal(2, 2, 1, 1)],
        UnsupportedArgumentError,
        r"conv2d takes real or complex numbers, not int64",
        label="whole numbers",
    ),
    refused(
        transposed_convolution,
        lambda x, k: conv2d_transpose(x, k, (1, 9, 9, 1)),
        [normal(1, 3, 3, 1), normal(2, 2, 1, 1)],
        ShapeError,
        r"conv2d_transpose cannot lead from x of shape \(1, 3, 3, 1\) to \(1, 9, 9, 1\)",
        label="shape",
    ),
    refused(
        maximum,
        max_pool2d,
        [complexes(1, 2, 2, 1)],
        UnsupportedArgumentError,
        "max_pool2d takes real numbers, not complex128, which have no order",
        label="complex",
    ),
    refused(
        average,
        lambda x: avg_pool2d(x, padding=[(2, 0), (0, 0)]),
        [normal(1, 3, 3, 1)],
        OptionError,
        r"avg_pool2d of size \(2, 2\) cannot have the padding",
        label="padding",
    ),
]
