"""Images: ``tf.image``, for tensors of the shape (height, width, channels) or (batch, height, width, channels)."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.operations.convolution import conv2d
from tapemagic.engine.operations.selection import cast
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf import random
from tapemagic.tf.core.adapter import adapter, adapter_to_several, lengths
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.missing import missing
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.io import (
    decode_bmp,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
)


class ResizeMethod:
    """The names of the methods of `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"


def _lanczos(radius: int) -> Callable[[Any], Any]:
    return lambda x: np.where(np.abs(x) < radius, np.sinc(x) * np.sinc(x / radius), 0)


def _cubic(x: Any) -> Any:
    """Keys's cubic convolution with a = -0.5."""
    x = np.abs(x)
    inner = (1.5 * x - 2.5) * x * x + 1
    outer = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, inner, np.where(x < 2, outer, 0))


KERNELS: dict[str, Callable[[Any], Any]] = {
    "bilinear": lambda x: np.maximum(0, 1 - np.abs(x)),
    "bicubic": _cubic,
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
}
"""The weight of a pixel by its distance from the center of an output pixel."""


def _images(name: str, image: Any) -> Any:
    """Return a tensor of an image or a batch of images, or raise InvalidArgumentError."""
    x = tensor(image)
    if x.ndim not in {3, 4}:
        raise InvalidArgumentError(
            f"tf.image.{name} takes (height, width, channels) or (batch, height, width, channels), not the shape "
            f"{tuple(x.shape)}: for a single channel write image[..., None]"
        )
    return x


def _size(x: Any) -> tuple[int, int]:
    """Return the height and the width of images."""
    return x.shape[-3], x.shape[-2]


def _weights(before: int, after: int, method: str, antialias: bool) -> Any:
    """Return a matrix that maps pixels along an axis to those of another length."""
    scale = before / after
    # Pixels are squares, whose centers are at 0.5, 1.5 and so on.
    centers = (np.arange(after)[:, None] + 0.5) * scale
    if method == "bicubic" and not antialias:
        # TensorFlow takes these weights from a table of 1024 places between two pixels.
        first = np.floor(centers - 0.5)
        centers = first + np.rint((centers - 0.5 - first) * 1024) / 1024 + 0.5
    distances = (np.arange(before) + 0.5 - centers) / (max(scale, 1) if antialias else 1)
    weights = KERNELS[method](distances)
    return weights / weights.sum(axis=1, keepdims=True)


@adapter
def resize(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Resize images to `size`, (height, width), by interpolation.

    Parameters
    ----------
    method : {'bilinear', 'nearest', 'bicubic', 'lanczos3', 'lanczos5'}, optional
        All but "nearest" return float32.
    preserve_aspect_ratio : bool, optional
        Reduce one of both lengths to keep their ratio.
    antialias : bool, optional
        Average over all pixels that a smaller image merges.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.image.resize([[[0.0], [1.0]]], (1, 4)).numpy().ravel()
    array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
    """
    x = _images("resize", images)
    if method not in {"nearest", *KERNELS}:
        names = ", ".join(map(repr, ["nearest", *KERNELS]))
        raise OptionError(f"tf.image.resize has the methods {names}, not {method!r}")
    target = lengths(size)
    if len(target) != 2 or min(target) < 1:
        raise InvalidArgumentError(
            f"tf.image.resize takes a size of two positive integers, not {size!r}"
        )
    before = _size(x)
    if preserve_aspect_ratio:
        ratio = min(new / old for new, old in zip(target, before, strict=True))
        target = tuple(max(1, round(ratio * old)) for old in before)
    if target == before:
        return x if method == "nearest" else cast(x, "float32")
    if method == "nearest":
        rows, columns = (
            np.minimum(((np.arange(new) + 0.5) * (old / new)).astype(int), old - 1)
            for new, old in zip(target, before, strict=True)
        )
        return x[..., rows, :, :][..., columns, :]
    x = cast(x, "float32")
    rows, columns = (
        _weights(old, new, method, antialias).astype("float32")
        for new, old in zip(target, before, strict=True)
    )
    # Interpolation is linear: a product along each axis, whose gradient is a product as well.
    *lead, height, width, channels = x.shape
    x = rows @ x.reshape((*lead, height, width * channels))
    return columns @ x.reshape((*lead, target[0], width, channels))


@adapter
def resize_with_pad(
    image: Any,
    target_height: int,
    target_width: int,
    method: Any = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Any:
    """Resize images without distortion, and put zeros around them."""
    x = _images("resize_with_pad", image)
    height, width = _size(x)
    ratio = max(height / target_height, width / target_width)
    new = (math.floor(height / ratio), math.floor(width / ratio))
    top = max(0, math.floor((target_height - height / ratio) / 2))
    left = max(0, math.floor((target_width - width / ratio) / 2))
    resized = resize(x, new, method, antialias=antialias)
    return pad_to_bounding_box(resized, top, left, target_height, target_width)


@adapter
def crop_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Any:
    """Cut a rectangle out of images, from its upper left corner and its size."""
    x = _images("crop_to_bounding_box", image)
    height, width = _size(x)
    top, left, rows, columns = map(int, (offset_height, offset_width, target_height, target_width))
    # Python clips slices silently; TensorFlow raises an error.
    if (
        min(top, left) < 0
        or min(rows, columns) < 1
        or top + rows > height
        or left + columns > width
    ):
        raise InvalidArgumentError(
            f"a rectangle of {rows} × {columns} at ({top}, {left}) isn't inside an image of {height} × {width}"
        )
    return x[..., top : top + rows, left : left + columns, :]


@adapter
def pad_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Any:
    """Put images into larger ones of zeros, with their upper left corner at an offset."""
    x = _images("pad_to_bounding_box", image)
    height, width = _size(x)
    top, left = int(offset_height), int(offset_width)
    bottom, right = int(target_height) - top - height, int(target_width) - left - width
    if min(top, left, bottom, right) < 0:
        raise InvalidArgumentError(
            f"an image of {height} × {width} at ({top}, {left}) isn't inside {target_height} × {target_width}"
        )
    around = [(0, 0)] * (x.ndim - 3) + [(top, bottom), (left, right), (0, 0)]
    return np.pad(x, around)


@adapter
def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Any:
    """Cut off the margins of images, or put zeros around them, so that they have a size."""
    x = _images("resize_with_crop_or_pad", image)
    target = int(target_height), int(target_width)
    more = [new - old for new, old in zip(target, _size(x), strict=True)]
    crop = [max(-n // 2, 0) for n in more]
    pad = [max(n // 2, 0) for n in more]
    kept = [min(new, old) for new, old in zip(target, _size(x), strict=True)]
    cropped = crop_to_bounding_box(x, crop[0], crop[1], kept[0], kept[1])
    return pad_to_bounding_box(cropped, pad[0], pad[1], *target)


@adapter
def central_crop(image: Any, central_fraction: float) -> Any:
    """Cut out the middle of images: a share of their height and width."""
    x = _images("central_crop", image)
    share = float(central_fraction)
    if not 0 < share <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    height, width = _size(x)
    top, left = int((height - height * share) / 2), int((width - width * share) / 2)
    return x[..., top : height - top, left : width - left, :]


@adapter
def flip_left_right(image: Any) -> Any:
    """Reverse the columns of images."""
    return _images("flip_left_right", image)[..., ::-1, :]


@adapter
def flip_up_down(image: Any) -> Any:
    """Reverse the rows of images."""
    return _images("flip_up_down", image)[..., ::-1, :, :]


@adapter
def transpose(image: Any, name: str | None = None) -> Any:
    """Swap the rows and columns of images."""
    return np.swapaxes(_images("transpose", image), -3, -2)


@adapter
def rot90(image: Any, k: int = 1, name: str | None = None) -> Any:
    """Rotate images by 90 degrees counter-clockwise, `k` times."""
    return np.rot90(_images("rot90", image), int(k), (-3, -2))


@adapter
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Any:
    """Convert images to another dtype, from 0 to 1 for floating-point numbers, or up to the largest integer.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy()
    array([0., 1.], dtype=float32)
    """
    x, new = tensor(image), numpy_dtype(dtype)
    old = x.dtype
    if old == new:
        return x
    if old.kind == "f":
        if new.kind == "f":
            return cast(x, new)
        limits = np.iinfo(new)
        # As in TensorFlow: half a unit more, so that 1.0 becomes the largest integer, and others are rounded down.
        scaled = x * np.asarray(limits.max + 0.5, old)
        return cast(np.clip(scaled, limits.min, limits.max) if saturate else scaled, new)
    if new.kind == "f":
        return cast(x, new) * np.asarray(1 / np.iinfo(old).max, new)
    narrow, wide = np.iinfo(new).max, np.iinfo(old).max
    if wide > narrow:
        return cast(x // np.asarray((wide + 1) // (narrow + 1), old), new)
    x = cast(np.maximum(x, 0) if saturate and np.iinfo(new).min == 0 else x, new)
    return x * np.asarray((narrow + 1) // (wide + 1), new)


def _as_floats(name: str, image: Any, change: Callable[[Any], Any]) -> Any:
    """Apply a function of floating-point images, and return the result in the dtype of the image."""
    x = _images(name, image)
    if x.dtype.kind == "f":
        return change(x)
    floats = tensor(convert_image_dtype(x, "float32"))
    return convert_image_dtype(change(floats), x.dtype, saturate=True)


@adapter
def adjust_brightness(image: Any, delta: Any) -> Any:
    """Add a number to all pixels."""
    return _as_floats("adjust_brightness", image, lambda x: x + cast(tensor(delta), x.dtype))


@adapter
def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Multiply the deviations from the mean of each channel of each image by a factor."""

    def change(x: Any) -> Any:
        mean = np.mean(x, axis=(-3, -2), keepdims=True)
        return (x - mean) * cast(tensor(contrast_factor), x.dtype) + mean

    return _as_floats("adjust_contrast", images, change)


@adapter
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """Return ``gain * image ** gamma``."""
    if float(np.min(np.asarray(tensor(gamma)))) < 0:
        raise ValueError("Gamma should be a non-negative real number.")

    def change(x: Any) -> Any:
        dtype = x.dtype
        return cast(tensor(gain), dtype) * x ** cast(tensor(gamma), dtype)

    return _as_floats("adjust_gamma", image, change)


def _hsv(x: Any) -> tuple[Any, Any, Any]:
    red, green, blue = x[..., 0], x[..., 1], x[..., 2]
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    # The divisors are replaced before the division: np.where differentiates both branches.
    saturation = np.where(value > 0, spread / np.where(value > 0, value, 1), 0)
    sixth = 6 * np.where(spread > 0, spread, 1)
    hue = np.where(
        red == value,
        (green - blue) / sixth,
        np.where(green == value, (blue - red) / sixth + 2 / 6, (red - green) / sixth + 4 / 6),
    )
    hue = np.where(spread > 0, hue, 0)
    return np.where(hue < 0, hue + 1, hue), saturation, value


def _rgb(hue: Any, saturation: Any, value: Any) -> Any:
    angle = hue * 6
    red = np.clip(np.abs(angle - 3) - 1, 0, 1)
    green = np.clip(2 - np.abs(angle - 2), 0, 1)
    blue = np.clip(2 - np.abs(angle - 4), 0, 1)
    return np.stack([((1 - saturation) + saturation * x) * value for x in (red, green, blue)], -1)


def _require_colors(name: str, x: Any) -> Any:
    if not x.ndim or x.shape[-1] != 3:
        raise InvalidArgumentError(
            f"tf.image.{name} takes three channels in the last axis, not the shape {tuple(x.shape)}"
        )
    return x


@adapter
def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Convert red, green and blue from 0 to 1 to hue, saturation and value."""
    return np.stack(_hsv(_require_colors("rgb_to_hsv", tensor(images))), -1)


@adapter
def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """Convert hue, saturation and value to red, green and blue."""
    x = _require_colors("hsv_to_rgb", tensor(images))
    return _rgb(x[..., 0], x[..., 1], x[..., 2])


@adapter
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Add a number to the hue of colors, from -1 to 1 for a full turn."""

    def change(x: Any) -> Any:
        hue, saturation, value = _hsv(_require_colors("adjust_hue", x))
        return _rgb(np.mod(hue + cast(tensor(delta), x.dtype), 1), saturation, value)

    return _as_floats("adjust_hue", image, change)


@adapter
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Multiply the saturation of colors by a factor."""

    def change(x: Any) -> Any:
        hue, saturation, value = _hsv(_require_colors("adjust_saturation", x))
        factor = cast(tensor(saturation_factor), x.dtype)
        return _rgb(hue, np.clip(saturation * factor, 0, 1), value)

    return _as_floats("adjust_saturation", image, change)


@adapter
def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """Convert colors to a single channel."""
    x = _require_colors("rgb_to_grayscale", tensor(images))
    weights = np.array([0.2989, 0.5870, 0.1140])

    def change(x: Any) -> Any:
        return np.sum(x * weights.astype(x.dtype), axis=-1, keepdims=True)

    if x.dtype.kind == "f":
        return change(x)
    return convert_image_dtype(change(tensor(convert_image_dtype(x, "float32"))), x.dtype)


@adapter
def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Repeat a single channel three times."""
    x = tensor(images)
    if not x.ndim or x.shape[-1] != 1:
        raise InvalidArgumentError(
            f"tf.image.grayscale_to_rgb takes one channel in the last axis, not the shape {tuple(x.shape)}"
        )
    return np.concatenate([x, x, x], -1)


def _linear(name: str, matrix: Any, doc: str) -> Any:
    """Build a function that multiplies the three channels by a matrix."""

    def converted(images: Any) -> Any:
        x = _require_colors(name, tensor(images))
        return x @ np.asarray(matrix, x.dtype)

    converted.__name__ = converted.__qualname__ = name
    converted.__doc__ = doc
    return adapter(converted)


_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_FROM_YIQ = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]
rgb_to_yiq = _linear("rgb_to_yiq", _YIQ, "Convert red, green and blue to the colors of NTSC.")
rgb_to_yuv = _linear("rgb_to_yuv", _YUV, "Convert red, green and blue to the colors of PAL.")
yiq_to_rgb = _linear("yiq_to_rgb", _FROM_YIQ, "Convert the colors of NTSC to red, green and blue.")
yuv_to_rgb = _linear("yuv_to_rgb", _FROM_YUV, "Convert the colors of PAL to red, green and blue.")


@adapter
def per_image_standardization(image: Any) -> Any:
    """Scale each image to mean 0 and variance 1."""
    x = _images("per_image_standardization", image)
    if x.dtype.kind != "f":
        x = cast(x, "float32")
    axes = (-3, -2, -1)
    centered = x - np.mean(x, axis=axes, keepdims=True)
    deviation = np.sqrt(np.mean(np.square(centered), axis=axes, keepdims=True))
    # Not below the deviation of a single pixel that differs, so that a uniform image doesn't become nan.
    least = np.asarray(1 / math.sqrt(math.prod(x.shape[-3:])), x.dtype)
    return centered / np.maximum(deviation, least)


@adapter
def total_variation(images: Any, name: str | None = None) -> Any:
    """Return the sum of absolute differences of neighboring pixels, of each image.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> float(tf.image.total_variation([[[0.0], [3.0]]]))
    3.0
    """
    x = _images("total_variation", images)
    below = np.abs(x[..., 1:, :, :] - x[..., :-1, :, :])
    right = np.abs(x[..., :, 1:, :] - x[..., :, :-1, :])
    axes = (-3, -2, -1)
    return np.sum(below, axis=axes) + np.sum(right, axis=axes)


@adapter_to_several
def image_gradients(image: Any) -> Any:
    """Return the differences of each pixel to the next below and to the right, 0 at the end; only for batches."""
    x = _images("image_gradients", image)
    if x.ndim != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {tuple(x.shape)}."
        )
    below = np.pad(x[:, 1:] - x[:, :-1], [(0, 0), (0, 1), (0, 0), (0, 0)])
    right = np.pad(x[:, :, 1:] - x[:, :, :-1], [(0, 0), (0, 0), (0, 1), (0, 0)])
    return below, right


def _both(a: Any, b: Any, max_val: Any) -> Any:
    """Return two images and the largest value as floating-point numbers, for a comparison."""
    x, y = tensor(a), tensor(b)
    if x.dtype != y.dtype or x.ndim < 3 or y.ndim < 3:
        raise InvalidArgumentError(
            f"images of one dtype and of at least three axes are compared, not {x.dtype.name} {tuple(x.shape)} and "
            f"{y.dtype.name} {tuple(y.shape)}"
        )
    kind = x.dtype
    largest = float(np.asarray(tensor(max_val)))
    largest = largest if kind.kind == "f" else largest / np.iinfo(kind).max
    floats = (tensor(convert_image_dtype(image, "float32")) for image in (x, y))
    return (*floats, largest)


@adapter
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """Return the peak signal-to-noise ratio of two images in decibels, where pixels are at most `max_val`."""
    x, y, largest = _both(a, b, max_val)
    error = np.mean(np.square(x - y), axis=(-3, -2, -1))
    return 20 * math.log10(largest) - 10 * np.log10(error)


@adapter
def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Any:
    """Return the structural similarity of two images, 1 for equal ones [1]_; pixels are at most `max_val`.

    References
    ----------
    .. [1] Z. Wang et al., "Image quality assessment: from error visibility to structural similarity", IEEE Transactions
       on Image Processing 13 (2004).

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.random.uniform((12, 12, 1))
    >>> float(tf.image.ssim(x, x, max_val=1.0))
    1.0
    """
    x, y, largest = _both(img1, img2, max_val)
    if min(*_size(x), *_size(y)) < filter_size:
        raise InvalidArgumentError(
            f"tf.image.ssim compares windows of {filter_size} × {filter_size}, and got images of {tuple(x.shape)} and "
            f"{tuple(y.shape)}: write a smaller filter_size"
        )
    places = np.arange(filter_size) - (filter_size - 1) / 2
    weights = np.exp(-(places**2) / (2 * filter_sigma**2))
    window = np.outer(weights, weights) / weights.sum() ** 2
    kernel = window[..., None, None].astype("float32")

    def averaged(x: Any) -> Any:
        # Each channel is an image of its own, and so the window needs a single channel.
        *lead, height, width, channels = x.shape
        planes = np.moveaxis(x, -1, -3).reshape((-1, height, width, 1))
        means = conv2d(planes, kernel)
        return np.moveaxis(means.reshape((*lead, channels, *means.shape[1:3])), -3, -1)

    c1, c2 = (k1 * largest) ** 2, (k2 * largest) ** 2
    mean_x, mean_y = averaged(x), averaged(y)
    product = 2 * mean_x * mean_y
    squares = np.square(mean_x) + np.square(mean_y)
    luminance = (product + c1) / (squares + c1)
    covariance = 2 * averaged(x * y) - product
    variances = averaged(np.square(x) + np.square(y)) - squares
    index = luminance * (covariance + c2) / (variances + c2)
    return np.mean(index, axis=-1 if return_index_map else (-3, -2, -1))


def _chance(shape: Any, seed: Any) -> Any:
    """Draw bools."""
    return unwrap(random.uniform(shape, seed=seed)) < 0.5


def _random_flip(name: str, flip: Any) -> Any:
    """Build a function that flips each image or not."""

    def flipped(image: Any, seed: int | None = None) -> Any:
        x = _images(name, image)
        if x.ndim == 3:
            return flip(x) if _chance((), seed) else x
        return np.where(_chance((x.shape[0], 1, 1, 1), seed), tensor(flip(x)), x)

    flipped.__name__ = flipped.__qualname__ = name
    flipped.__doc__ = f"Apply `{flip.__name__}` to each image or not, at random."
    return adapter(flipped)


random_flip_left_right = _random_flip("random_flip_left_right", flip_left_right)
random_flip_up_down = _random_flip("random_flip_up_down", flip_up_down)


@adapter
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Cut a part of a size out of a tensor, at a random place."""
    x, wanted = tensor(value), lengths(size)
    if len(wanted) != x.ndim or any(n > m for n, m in zip(wanted, x.shape, strict=True)):
        raise InvalidArgumentError(
            f"random_crop takes a length for each axis, at most those of the shape {tuple(x.shape)}, not {wanted}"
        )
    shares = np.asarray(random.uniform((x.ndim,), seed=seed))
    starts = [int(share * (m - n + 1)) for share, m, n in zip(shares, x.shape, wanted, strict=True)]
    return x[tuple(builtins.slice(a, a + n) for a, n in zip(starts, wanted, strict=True))]


def _between(lower: float, upper: float, seed: Any) -> float:
    """Draw a number between two others, or raise ValueError."""
    if not lower < upper:
        raise ValueError(f"upper must be > lower: {upper} isn't above {lower}")
    return lower + (upper - lower) * float(np.asarray(random.uniform((), seed=seed)))


def _positive(delta: float) -> float:
    if not delta > 0:
        raise ValueError(f"max_delta must be positive, not {delta}.")
    return delta


@adapter
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """Add a random number between -max_delta and max_delta to each pixel."""
    return adjust_brightness(image, _between(-_positive(max_delta), max_delta, seed))


@adapter
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """Add a random number between -max_delta and max_delta to the hue."""
    return adjust_hue(image, _between(-_positive(max_delta), max_delta, seed))


@adapter
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """Multiply deviations from the mean of each channel by a random factor."""
    return adjust_contrast(image, _between(lower, upper, seed))


@adapter
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """Multiply the saturation by a random factor."""
    return adjust_saturation(image, _between(lower, upper, seed))


__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue",
    "adjust_saturation", "central_crop", "convert_image_dtype", "crop_to_bounding_box",
    "decode_bmp", "decode_image", "decode_jpeg", "decode_png", "encode_jpeg", "encode_png",
    "flip_left_right", "flip_up_down", "grayscale_to_rgb", "hsv_to_rgb", "image_gradients",
    "pad_to_bounding_box", "per_image_standardization", "psnr", "random_brightness",
    "random_contrast", "random_crop", "random_flip_left_right", "random_flip_up_down", "random_hue",
    "random_saturation", "resize", "resize_with_crop_or_pad", "resize_with_pad", "rgb_to_grayscale",
    "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv", "rot90", "ssim", "total_variation", "transpose",
    "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
