"""Convolutions and pooling: TensorFlow's numbers, bad input, odd batches, single precision, memory.

TensorFlow's numbers were measured once with TensorFlow 2.21.0, on the arrays of `pattern`, and are whole: of each
result y the weighted sum by `probe`; of its gradients in x and in the kernel the same; and of the gradient in the
kernel of the weighted sum of the gradient in x. (TensorFlow has no gradient of dilated and of grouped convolutions on
a CPU: those are of kernels with zeros between their elements, and of the groups one by one.)
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import GradientTape, Variable, check_gradients, constant
from tapemagic.engine.operations import convolving
from tapemagic.engine.operations.convolution import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
)
from tapemagic.engine.operations.pooling import avg_pool1d, avg_pool2d, max_pool1d, max_pool2d
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError

PADDING = {
    "VALID": "VALID",
    "SAME": "SAME",
    "EXPLICIT": [(1, 2), (0, 1)],
    "WIDE": [(4, 3), (3, 4)],
    "AROUND": [(1, 1), (0, 1)],
}

# Padding, strides and dilations of a kernel (3, 2, 2, 3) on images (2, 7, 8, 2): places, and the four sums.
# fmt: off
CONV2D: dict[Any, Any] = {
    ("VALID", 1, 1): ((5, 7), -63753, -68840, -78109, -81794),
    ("VALID", 1, 2): ((3, 6), -25093, -17166, -54653, 3262),
    ("VALID", 1, (2, 3)): ((3, 5), -49642, -37157, -47135, -36813),
    ("VALID", 2, 1): ((3, 4), -17232, -16696, -46996, -45377),
    ("VALID", 2, 2): ((2, 3), 6627, 1082, 6220, -14694),
    ("VALID", 2, (2, 3)): ((2, 3), -17532, -19783, -9894, -46439),
    ("VALID", 3, 1): ((2, 3), -19114, -30970, -31646, -15449),
    ("VALID", 3, 2): ((1, 2), -11114, -5785, -11466, -1356),
    ("VALID", 3, (2, 3)): ((1, 2), -10177, -10818, -11972, -8929),
    ("VALID", (1, 3), 1): ((5, 3), 28916, -63571, -43229, -7419),
    ("VALID", (1, 3), 2): ((3, 2), -21711, -9461, -11201, -32987),
    ("VALID", (1, 3), (2, 3)): ((3, 2), -6399, 4309, -17192, -28817),
    ("SAME", 1, 1): ((7, 8), -58967, -19055, -162163, -54405),
    ("SAME", 1, 2): ((7, 8), -76860, -119770, -112764, -55391),
    ("SAME", 1, (2, 3)): ((7, 8), -44573, -125536, -100388, -41504),
    ("SAME", 2, 1): ((4, 4), -15252, -12033, -44196, -38077),
    ("SAME", 2, 2): ((4, 4), -13328, -27268, 6405, -45895),
    ("SAME", 2, (2, 3)): ((4, 4), -14237, -3232, -11315, -48599),
    ("SAME", 3, 1): ((3, 3), -947, -18031, -24365, -12222),
    ("SAME", 3, 2): ((3, 3), -14464, -6913, -12154, -10108),
    ("SAME", 3, (2, 3)): ((3, 3), 1853, 2167, -18103, -3939),
    ("SAME", (1, 3), 1): ((7, 3), -80340, -41419, 28999, -95809),
    ("SAME", (1, 3), 2): ((7, 3), -52639, -23358, -38707, -36540),
    ("SAME", (1, 3), (2, 3)): ((7, 3), -11089, -6200, -9915, -30169),
    ("EXPLICIT", 1, 1): ((8, 8), -77152, -63100, -156137, -68012),
    ("EXPLICIT", 1, 2): ((6, 7), -37493, -59709, -70460, -47606),
    ("EXPLICIT", 1, (2, 3)): ((6, 6), -33963, -26123, -41625, -65761),
    ("EXPLICIT", 2, 1): ((4, 4), -15252, -12033, -44196, -38077),
    ("EXPLICIT", 2, 2): ((3, 4), -1055, 679, -26698, 6455),
    ("EXPLICIT", 2, (2, 3)): ((3, 3), -13276, 6118, -7902, -6924),
    ("EXPLICIT", 3, 1): ((3, 3), -947, -18031, -24365, -12222),
    ("EXPLICIT", 3, 2): ((2, 3), -2860, -20818, -11006, -19969),
    ("EXPLICIT", 3, (2, 3)): ((2, 2), -13267, -6107, 4496, -11458),
    ("EXPLICIT", (1, 3), 1): ((8, 3), -80051, -17599, 3950, -119815),
    ("EXPLICIT", (1, 3), 2): ((6, 3), 14596, -16006, -32315, -27359),
    ("EXPLICIT", (1, 3), (2, 3)): ((6, 2), -14679, -16593, -10894, -28841),
    ("WIDE", 1, 1): ((12, 14), -77477, -91409, -121581, -98369),
    ("WIDE", 1, 2): ((10, 13), -88121, -110890, -95603, -156678),
    ("WIDE", 1, (2, 3)): ((10, 12), -61576, -121861, -122516, -114085),
    ("WIDE", 2, 1): ((6, 7), -18763, -48526, -35703, -16484),
    ("WIDE", 2, 2): ((5, 7), -2332, -34601, -60177, -34442),
    ("WIDE", 2, (2, 3)): ((5, 6), -42610, -32990, -43218, -18051),
    ("WIDE", 3, 1): ((4, 5), -47964, -11853, -12248, -39400),
    ("WIDE", 3, 2): ((4, 5), -13067, -17812, -16408, -927),
    ("WIDE", 3, (2, 3)): ((4, 4), -20417, -840, -995, -9177),
    ("WIDE", (1, 3), 1): ((12, 5), -50467, -40827, -70541, -72772),
    ("WIDE", (1, 3), 2): ((10, 5), -59256, -6705, -30880, -12927),
    ("WIDE", (1, 3), (2, 3)): ((10, 4), -28828, 349, -61278, -83826),
}

# Channels of a group, channels out, and strides, on images (2, 4, 5, 4): the four sums.
GROUPS: dict[Any, Any] = {
    (2, 6, 1): (-58031, -51874, -58192, -85475),
    (2, 6, 2): (9114, -1352, -38365, -20905),
    (1, 4, 1): (-44011, -37480, -31387, -80192),
    (1, 4, 2): (-6147, -12485, -3933, -4596),
    (1, 8, 1): (8297, -37065, -42155, -12638),
    (1, 8, 2): (-7826, -11676, -18041, -10233),
}

# Padding and stride of a kernel (3, 2, 2) on signals (2, 9, 2): places, and the four sums.
CONV1D: dict[Any, Any] = {
    ("VALID", 1): (7, -1954, 5377, -856, -17735),
    ("VALID", 2): (4, -13270, -1766, -823, -5353),
    ("VALID", 3): (3, -5510, -9291, -4253, -4602),
    ("SAME", 1): (9, 11300, 16076, -5149, -6669),
    ("SAME", 2): (5, -3851, -3650, -3643, -5019),
    ("SAME", 3): (3, -5510, -9291, -4253, -4602),
}

# Height and width of the result and of x, strides and padding, with a kernel (3, 2, 2, 3): the four sums.
TRANSPOSED: dict[Any, Any] = {
    ((7, 8), (7, 8), 1, "SAME"): (-46359, -19055, -110259, -54405),
    ((7, 8), (4, 4), 2, "SAME"): (-15868, -12033, -19170, -38077),
    ((6, 7), (2, 3), 2, "VALID"): (1982, -189, -1369, -42531),
    ((7, 8), (2, 3), 3, "VALID"): (-30105, -30970, -3974, -15449),
    ((7, 8), (3, 3), 3, "SAME"): (-9301, -18031, -25807, -12222),
    ((7, 8), (8, 8), 1, "EXPLICIT"): (-50378, -63100, -85877, -68012),
    ((7, 8), (4, 4), 2, "EXPLICIT"): (-15868, -12033, -19170, -38077),
}

# Size, strides and padding on images (2, 7, 8, 2): places, and the sums of y and of its gradient.
MAXIMA: dict[Any, Any] = {
    (2, 2, "VALID"): ((3, 4), -990, 59),
    (2, 2, "SAME"): ((4, 4), -1039, 441),
    (2, 2, "AROUND"): ((4, 4), -1587, -132),
    (3, 2, "VALID"): ((3, 3), -1201, 9),
    (3, 2, "SAME"): ((4, 4), -1566, -18),
    (3, 2, "AROUND"): ((4, 4), -1566, -18),
    (3, 1, "VALID"): ((5, 6), -2980, 17),
    (3, 1, "SAME"): ((7, 8), -5767, 4669),
    (3, 1, "AROUND"): ((7, 7), -5682, -358),
    ((2, 3), (2, 1), "VALID"): ((3, 6), -1784, 132),
    ((2, 3), (2, 1), "SAME"): ((4, 8), -2205, 566),
    ((2, 3), (2, 1), "AROUND"): ((4, 7), -2718, 292),
    (2, 3, "VALID"): ((2, 3), -574, -450),
    (2, 3, "SAME"): ((3, 3), -819, -607),
    (2, 3, "AROUND"): ((3, 3), -803, -7),
}

# The same, times 36.
AVERAGES: dict[Any, Any] = {
    (2, 2, "VALID"): ((3, 4), 14886, -180),
    (2, 2, "SAME"): ((4, 4), 18432, 7713),
    (3, 2, "VALID"): ((3, 3), 13080, 9296),
    (3, 2, "SAME"): ((4, 4), 20887, 15139),
    (3, 1, "VALID"): ((5, 6), 40960, 29248),
    (3, 1, "SAME"): ((7, 8), 52663, 114758),
    ((2, 3), (2, 1), "VALID"): ((3, 6), 24246, 20496),
    ((2, 3), (2, 1), "SAME"): ((4, 8), 51270, 28398),
    (2, 3, "VALID"): ((2, 3), 8190, 4059),
    (2, 3, "SAME"): ((3, 3), 10953, 6975),
}
# fmt: on


def pattern(shape: tuple[int, ...], start: int = 0) -> Any:
    """Whole numbers from -15 to 15 in no simple order."""
    return ((np.arange(np.prod(shape)) + start) ** 2 * 7 % 31 - 15.0).reshape(shape)


def probe(a: Any) -> Any:
    """A weighted sum."""
    return np.sum(a * pattern(a.shape, 3))


def sums(function: Callable[..., Any], *shapes: tuple[int, ...]) -> tuple[Any, tuple[float, ...]]:
    """The shape of a result, and the weighted sums of it and its gradients."""
    inputs = [constant(pattern(shape, i)) for i, shape in enumerate(shapes)]
    with GradientTape(persistent=True) as outer:
        outer.watch(inputs)
        with GradientTape() as tape:
            tape.watch(inputs)
            y = function(*inputs)
            total = probe(y)
        first = [probe(g) for g in tape.gradient(total, inputs)]
    second = [probe(outer.gradient(first[0], kernel)) for kernel in inputs[1:]]
    return y.shape, tuple(float(value) for value in (total, *first, *second))


@pytest.mark.parametrize("key", CONV2D)
def test_conv2d_is_tensorflows(key: Any) -> None:
    """Every padding with every stride and dilation."""
    padding, strides, dilations = key
    found, numbers = sums(
        lambda x, k: conv2d(x, k, strides, PADDING[padding], dilations), (2, 7, 8, 2), (3, 2, 2, 3)
    )
    places, *expected = CONV2D[key]

    assert (2, *places, 3) == found
    assert tuple(expected) == numbers


@pytest.mark.parametrize("key", GROUPS)
def test_groups_are_tensorflows(key: Any) -> None:
    """A kernel for fewer channels is applied to groups of them."""
    channels, width, strides = key
    _, numbers = sums(
        lambda x, k: conv2d(x, k, strides, "SAME"), (2, 4, 5, 4), (3, 2, channels, width)
    )

    assert GROUPS[key] == numbers


@pytest.mark.parametrize("key", CONV1D)
def test_conv1d_is_tensorflows(key: Any) -> None:
    """Signals are images of one line."""
    padding, stride = key
    found, numbers = sums(lambda x, k: conv1d(x, k, stride, padding), (2, 9, 2), (3, 2, 2))
    places, *expected = CONV1D[key]

    assert (2, places, 2) == found
    assert tuple(expected) == numbers


@pytest.mark.parametrize("key", TRANSPOSED)
def test_transposed_is_tensorflows(key: Any) -> None:
    """What goes back from places to images."""
    lengths, places, strides, padding = key
    shape = (2, *lengths, 2)
    found, numbers = sums(
        lambda x, k: conv2d_transpose(x, k, shape, strides, PADDING[padding]), (2, *places, 3), (3, 2, 2, 3)
    )  # fmt: skip

    assert shape == found
    assert TRANSPOSED[key] == numbers


def test_conv1d_transpose_is_tensorflows() -> None:
    """The same for signals, with the output's shape as a list and as one number."""
    for shape in ([2, 9, 2], 9):
        _, numbers = sums(
            lambda x, k, shape=shape: conv1d_transpose(x, k, shape, 2), (2, 5, 3), (3, 2, 3)
        )
        assert (-4787, -1338, -12428, -7806) == numbers


@pytest.mark.parametrize("key", MAXIMA)
def test_max_pool2d_is_tensorflows(key: Any) -> None:
    """The pattern has equal numbers in a window: the first of them has the gradient."""
    size, strides, padding = key
    found, numbers = sums(lambda x: max_pool2d(x, size, strides, PADDING[padding]), (2, 7, 8, 2))
    places, *expected = MAXIMA[key]

    assert (2, *places, 2) == found
    assert tuple(expected) == numbers


@pytest.mark.parametrize("key", AVERAGES)
def test_avg_pool2d_is_tensorflows(key: Any) -> None:
    """What lies outside does not count."""
    size, strides, padding = key
    found, numbers = sums(lambda x: avg_pool2d(x, size, strides, padding), (2, 7, 8, 2))
    places, *expected = AVERAGES[key]

    assert (2, *places, 2) == found
    np.testing.assert_allclose(np.multiply(numbers, 36), expected, rtol=1e-12)


def test_pools_of_signals_are_tensorflows() -> None:
    """One spatial axis."""
    assert (-58, -85) == sums(max_pool1d, (2, 9, 2))[1]
    assert (-597, 119) == sums(lambda x: max_pool1d(x, 3, 2, "SAME"), (2, 9, 2))[1]
    found = (
        sums(avg_pool1d, (2, 9, 2))[1],
        sums(lambda x: avg_pool1d(x, 3, 2, "SAME"), (2, 9, 2))[1],
    )
    np.testing.assert_allclose(np.multiply(found, 6), [(1737, 177), (-164, 1557)], rtol=1e-12)


# -- bad input ------------------------------------------------------------------------------------

X, KERNEL = np.ones((2, 7, 8, 4)), np.ones((3, 2, 4, 6))
BACK = np.ones((2, 7, 8, 6))

WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no batch": (lambda: conv2d(X[0], KERNEL), ShapeError, "without a batch write x[None]"),
    "number": (lambda: conv2d(1.0, KERNEL), ShapeError, "(batch, height, width, channels), not of"),
    "kernel of 3 axes": (
        lambda: conv2d(X, KERNEL[0]),
        ShapeError,
        "axes (height, width, channels in, channels out), none of them empty, not of shape (2, 4, 6)",
    ),
    "empty kernel": (lambda: conv2d(X, KERNEL[:0]), ShapeError, "not of shape (0, 2, 4, 6)"),
    "channels": (
        lambda: conv2d(X, KERNEL[:, :, :3]),
        ShapeError,
        "a kernel of shape (3, 2, 3, 6) to 4 channels of x: its second-to-last axis must be 4",
    ),
    "groups": (lambda: conv2d(X, KERNEL[:, :, :2, :5]), ShapeError, "with a last axis that is a multiple of n"),
    "no channels": (lambda: conv2d(X[..., :0], KERNEL), ShapeError, "to 0 channels of x"),
    "padding": (
        lambda: conv2d(X, KERNEL, padding="FULL"),
        OptionError,
        "or a pair (before, after) for each spatial axis, such as [(1, 1), (1, 1)], not 'FULL'",
    ),
    "one padding": (lambda: conv2d(X, KERNEL, padding=1), OptionError, "not 1"),
    "one pair": (lambda: conv2d(X, KERNEL, padding=[(1, 1)]), OptionError, "not [(1, 1)]"),
    "negative padding": (lambda: conv2d(X, KERNEL, padding=[(0, -1), (0, 0)]), OptionError, "not [(0, -1), (0, 0)]"),
    "stride 0": (
        lambda: conv2d(X, KERNEL, 0),
        OptionError,
        "strides must be a positive integer, or a sequence of 2 of them, not 0",
    ),
    "stride -1": (lambda: conv2d(X, KERNEL, (1, -1)), OptionError, "not (1, -1)"),
    "half a stride": (lambda: conv2d(X, KERNEL, 1.5), OptionError, "not 1.5"),
    "ragged strides": (lambda: conv2d(X, KERNEL, [1, [2]]), OptionError, "not [1, [2]]"),
    "three strides": (lambda: conv2d(X, KERNEL, (1, 2, 1)), OptionError, "not (1, 2, 1)"),
    "batch stride": (lambda: conv2d(X, KERNEL, (2, 1, 1, 1)), OptionError, "not (2, 1, 1, 1)"),
    "dilation": (lambda: conv2d(X, KERNEL, dilations=0), OptionError, "dilations must be"),
    "large kernel": (
        lambda: conv2d(X, np.ones((8, 2, 4, 6))),
        ShapeError,
        "conv2d cannot fit a window that spans 8 × 2 into axes of 7 × 8, which are 7 × 8 with the padding 'VALID'",
    ),
    "far apart": (
        lambda: conv2d(X, KERNEL, dilations=5, padding=[(1, 2), (0, 0)]),
        ShapeError,
        "spans 11 × 6 into axes of 7 × 8, which are 10 × 8",
    ),
    "no lines": (lambda: conv2d(X[:, :0], KERNEL, padding="SAME"), ShapeError, "axes of 0 × 8"),
    "bytes": (
        lambda: conv2d(X.astype(np.uint8), KERNEL),
        UnsupportedArgumentError,
        "not uint8: write np.astype(x, float), and / 255 where they are pixels",
    ),
    "whole kernel": (
        lambda: conv2d(X, KERNEL.astype(int)),
        UnsupportedArgumentError,
        "conv2d takes real or complex numbers, not int64",
    ),
    "signal": (lambda: conv1d(X[0, 0], KERNEL[0]), ShapeError, "conv1d takes x with axes (batch, length"),
    "signal's stride": (lambda: conv1d(X[0], KERNEL[0], 0), OptionError, "strides must be a positive integer, not 0"),
    "image as output": (
        lambda: conv2d_transpose(BACK, KERNEL, (2, 7, 8, 6)),
        ShapeError,
        "output_shape must be (2, 'height', 'width', 4)",
    ),
    "another batch": (
        lambda: conv2d_transpose(BACK, KERNEL, (3, 7, 8, 4)),
        ShapeError,
        "from x of shape (2, 7, 8, 6) to (3, 7, 8, 4)",
    ),
    "no output": (lambda: conv2d_transpose(BACK, KERNEL, None), ShapeError, "to None, with a"),
    "unreachable": (
        lambda: conv2d_transpose(BACK, KERNEL, (15, 8)),
        ShapeError,
        "a convolution from there has shape (2, 15, 8, 6) with this kernel",
    ),
    "channels in": (
        lambda: conv2d_transpose(X, KERNEL, (2, 7, 8, 4)),
        ShapeError,
        "a convolution from there has shape (2, 7, 8, 6)",
    ),
    "pool without batch": (lambda: max_pool2d(X[0]), ShapeError, "max_pool2d takes x with axes"),
    "size 0": (lambda: max_pool2d(X, 0), OptionError, "size must be a positive integer"),
    "large pool": (lambda: avg_pool2d(X, 9), ShapeError, "avg_pool2d cannot fit a window"),
    "pool of bytes": (lambda: max_pool2d(X > 0), UnsupportedArgumentError, "not bool"),
    "average of bytes": (lambda: avg_pool1d(X[0].astype(int)), UnsupportedArgumentError, "int64"),
    "wide pool": (
        lambda: max_pool2d(X, padding=[(0, 2), (0, 0)]),
        OptionError,
        "max_pool2d of size (2, 2) cannot have the padding [(0, 2), (0, 0)]: a window could contain only padding",
    ),
    "complex pool": (lambda: max_pool1d(X[0] + 1j), UnsupportedArgumentError, "which have no order"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_input(wrong: str) -> None:
    """Each mistake is named."""
    call, error, message = WRONG[wrong]
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


# -- everything else ------------------------------------------------------------------------------


def gradients(function: Callable[..., Any], *values: Any) -> tuple[Any, list[Any]]:
    """A result and its gradients, as arrays."""
    inputs = [constant(value) for value in values]
    with GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    return y.numpy(), [g.numpy() for g in tape.gradient(y, inputs)]


def test_empty_batch() -> None:
    """No images lead to none, and to a kernel's gradient of zeros."""
    y, (dx, dk) = gradients(lambda x, k: max_pool2d(conv2d(x, k)), X[:0], KERNEL)

    assert ((0, 2, 3, 6), (0, 7, 8, 4)) == (y.shape, dx.shape)
    np.testing.assert_array_equal(dk, np.zeros_like(KERNEL))


def test_several_batch_axes() -> None:
    """All axes before the spatial ones are a batch."""
    x, kernel = pattern((2, 3, 5, 4, 2)), pattern((2, 2, 2, 1))
    for function in (conv2d, lambda x, _: max_pool2d(x), lambda x, _: avg_pool2d(x)):
        together = function(x, kernel)
        one_by_one = np.stack([function(part, kernel) for part in x])
        np.testing.assert_array_equal(together, one_by_one)


def test_single_precision() -> None:
    """Values and gradients stay in single precision, and are those of double precision to it."""
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(8, 20, 20, 3)), rng.normal(size=(3, 3, 3, 5))
    for function in (
        lambda x, k: conv2d(x, k, padding="SAME"),
        lambda x, k: conv2d(x, k, 2),
        lambda x, k: avg_pool2d(conv2d(x, k)),
    ):
        y, found = gradients(function, x.astype(np.float32), kernel.astype(np.float32))
        right, expected = gradients(function, x, kernel)
        for a, b in zip([y, *found], [right, *expected], strict=True):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_mixed_precision() -> None:
    """NumPy's promotion; each gradient has the dtype of its source."""
    y, (dx, dk) = gradients(conv2d, X.astype(np.float32), KERNEL)

    assert (np.float64, np.float32, np.float64) == (y.dtype, dx.dtype, dk.dtype)


@pytest.mark.parametrize("products", [1, 500])
@pytest.mark.parametrize("size", [1, 1500, 10**6])
def test_blocks(monkeypatch: pytest.MonkeyPatch, products: int, size: int) -> None:
    """However the work is divided, the numbers are the same."""
    x, kernel = pattern((5, 6, 7, 2)), pattern((3, 2, 2, 3))
    for strides in (1, 2):
        expected = sums(lambda x, k, s=strides: conv2d(x, k, s, "SAME"), x.shape, kernel.shape)
        with monkeypatch.context() as patch:
            patch.setattr(convolving, "MAX_UNPACKED_PRODUCTS", products)
            patch.setattr(convolving, "MIN_ROWS", 10)
            patch.setattr(convolving, "BLOCK_BYTES", size)
            found = sums(lambda x, k, s=strides: conv2d(x, k, s, "SAME"), x.shape, kernel.shape)
        assert expected == found


@pytest.mark.parametrize("seed", range(40))
def test_transpose_is_the_adjoint(seed: int) -> None:
    """<g, conv(x)> = <conv_transpose(g), x>, with any strides, dilations and padding."""
    rng = np.random.default_rng(seed)
    lengths, size, strides, dilations = (rng.integers(1, n, 2) for n in (9, 4, 5, 4))
    padding = rng.integers(0, 7, (2, 2)) + (size - 1) * dilations
    x, kernel = rng.normal(size=(2, *lengths, 2)), rng.normal(size=(*size, 2, 3))
    y = conv2d(x, kernel, strides, padding, dilations)
    g = rng.normal(size=y.shape)
    dx = conv2d_transpose(g, kernel, x.shape, strides, padding, dilations)

    np.testing.assert_allclose(np.sum(g * y), np.sum(dx * x), rtol=1e-10, atol=1e-10)


def test_memory() -> None:
    """A convolution never holds all that lies below its kernel: that would be 51 MB here."""
    x, kernel = np.ones((32, 50, 50, 8)), np.ones((3, 3, 8, 8))
    conv2d(x[:1], kernel)
    tracemalloc.start()
    y = conv2d(x, kernel, padding="SAME")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak - y.nbytes < 4e6


def test_jacobian() -> None:
    """Many cotangents at once give what they give one by one."""
    kernel = Variable(pattern((2, 2, 1, 4)))
    x = constant(pattern((2, 3, 4, 2)))
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = max_pool2d(conv2d(x, kernel, padding="SAME"), strides=1)
        rows = [y[index] for index in np.ndindex(y.shape)]
    for source in (x, kernel):
        together = tape.jacobian(y, source).numpy()
        one_by_one = np.stack([tape.gradient(row, source).numpy() for row in rows])
        np.testing.assert_array_equal(together.reshape(one_by_one.shape), one_by_one)


def test_no_cotangents() -> None:
    """The Jacobian of nothing has no rows."""
    kernel = Variable(KERNEL)
    with GradientTape() as tape:
        y = conv2d(X[:0], kernel)

    assert (*y.shape, *KERNEL.shape) == tape.jacobian(y, kernel).shape


def test_network() -> None:
    """Convolution, pooling, convolution, average, softmax: first and second derivatives."""
    rng = np.random.default_rng(0)
    shapes = (2, 8, 8, 1), (3, 3, 1, 4), (2, 2, 2, 6), (6, 3)
    x, first, second, dense = (rng.normal(size=shape) for shape in shapes)

    def loss(x: Any, first: Any, second: Any, dense: Any) -> Any:
        hidden = max_pool2d(np.tanh(conv2d(x, first, padding="SAME")))
        deeper = avg_pool2d(np.tanh(conv2d(hidden, second, strides=2, padding="SAME")))
        logits = deeper[:, 0, 0] @ dense
        return np.mean(np.log(np.sum(np.exp(logits), axis=1)) - logits[:, 0])

    assert max(check_gradients(loss, x, first, second, dense).errors) < 1e-7


def test_arguments_stay_as_they_are() -> None:
    """No array that is given is written into, and none is given back."""
    x, kernel = pattern((1, 3, 3, 1)), np.ones((1, 1, 1, 1))
    x.flags.writeable = kernel.flags.writeable = False
    for y in (conv2d(x, kernel), max_pool2d(x, 1), avg_pool2d(x, 1)):
        np.testing.assert_array_equal(x, y)
        assert y.flags.writeable
        assert not np.shares_memory(x, y)


@pytest.mark.parametrize("shape", [((1, 5, 2, 2), (2, 1, 2, 1)), ((1, 2, 2, 1), (2, 1, 1, 1))])
def test_a_single_channel_of_a_gradient_that_repeats(shape: Any) -> None:
    """A sum's gradient is one number, repeated without memory of its own, be it for a single place."""
    rng = np.random.default_rng(0)
    x, kernel = (Variable(rng.normal(size=lengths)) for lengths in shape)
    with GradientTape() as tape:
        y = np.sum(conv2d(x, kernel, strides=2, padding="SAME"))
    dx, dk = tape.gradient(y, [x, kernel])

    assert (dx.shape, dk.shape) == shape
    check_gradients(lambda a, b: np.sum(conv2d(a, b, strides=2, padding="SAME")), x, kernel)
