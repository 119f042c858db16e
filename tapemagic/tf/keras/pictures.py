"""Pictures and arrays, by Pillow."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import channels_last
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype

MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
"""Pillow's names of color modes, by Keras's."""


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures need Pillow: write %pip install pillow in a cell") from error
    return Image


def load_img(
    path: Any,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """Read a picture from a file.

    Parameters
    ----------
    path : path or io.BytesIO
    color_mode : {'rgb', 'grayscale', 'rgba'}, optional
    target_size : (int, int), optional
        The height and width to which it's resized.
    interpolation : {'nearest', 'bilinear', 'bicubic', 'hamming', 'box', 'lanczos'}, optional
    keep_aspect_ratio : bool, optional
        Cut off margins instead of distorting the picture.

    Returns
    -------
    PIL.Image.Image
    """
    if color_mode not in MODES:
        raise OptionError(f"color_mode must be 'grayscale', 'rgb' or 'rgba', not {color_mode!r}")
    content = (
        path if isinstance(path, io.BytesIO) else io.BytesIO(Path(os.fsdecode(path)).read_bytes())
    )
    module = _pillow()
    image = module.open(content)
    is_deep_gray = color_mode == "grayscale" and image.mode in {"I;16", "I"}
    if image.mode != MODES[color_mode] and not is_deep_gray:
        image = image.convert(MODES[color_mode])
    if target_size is None or image.size == (target_size[1], target_size[0]):
        return image
    methods = {method.name.lower(): method for method in module.Resampling}
    if interpolation not in methods:
        raise OptionError(
            f"interpolation must be one of {', '.join(methods)}, not {interpolation!r}"
        )
    height, width = target_size
    box = None
    if keep_aspect_ratio:
        across, down = image.size
        kept = min(across, down * width // height), min(down, across * height // width)
        left, top = (across - kept[0]) // 2, (down - kept[1]) // 2
        box = (left, top, left + kept[0], top + kept[1])
    return image.resize((width, height), methods[interpolation], box=box)


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """Return the pixels of a picture as an array of the shape (height, width, channels), by default float32."""
    channels_last(data_format, "img_to_array")
    pixels = np.asarray(unwrap(img), numpy_dtype(dtype or nn.config.floatx()))
    if pixels.ndim not in {2, 3}:
        raise ShapeError(f"a picture has 2 or 3 axes, not the shape {pixels.shape}")
    return pixels[..., None] if pixels.ndim == 2 else pixels


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None
) -> Any:
    """Return a picture of Pillow for an array of the shape (height, width, channels).

    Parameters
    ----------
    scale : bool, optional
        Scale the array so that its smallest element is 0 and its largest 255.
    """
    channels_last(data_format, "array_to_img")
    pixels = np.array(unwrap(x), numpy_dtype(dtype or nn.config.floatx()))
    if pixels.ndim != 3 or pixels.shape[2] not in {1, 3, 4}:
        raise ShapeError(
            f"a picture has the shape (height, width, channels), with 1, 3 or 4 channels, not {pixels.shape}: for one "
            "of a batch, write x[0]"
        )
    if scale:
        pixels = pixels - np.min(pixels)
        largest = np.max(pixels)
        if largest:
            pixels /= largest
        pixels *= 255
    module = _pillow()
    if pixels.shape[2] > 1:
        return module.fromarray(pixels.astype("uint8"))
    kind = "int32" if np.max(pixels, initial=0) > 255 else "uint8"
    return module.fromarray(pixels[:, :, 0].astype(kind))


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array of the shape (height, width, channels) to a file; see `array_to_img`."""
    if file_format is None and isinstance(path, str | Path):
        file_format = Path(path).suffix[1:].lower()
    if file_format and file_format.lower() == "jpg":
        file_format = "jpeg"
    image = array_to_img(x, data_format, scale)
    if image.mode == "RGBA" and file_format == "jpeg":
        warnings.warn("JPEG has no transparency: the picture is stored as RGB", stacklevel=2)
        image = image.convert("RGB")
    image.save(path, format=file_format, **kwargs)


def smart_resize(
    x: Any, size: Any, interpolation: str = "bilinear", data_format: str | None = None
) -> Any:
    """Resize a picture or a batch without distortion: what doesn't fit into the new shape is cut off.

    Returns
    -------
    numpy.ndarray or Tensor
        As `x`.
    """
    # Imported here: resizing is a large module, and few programs need it.
    from tapemagic.tf import image

    channels_last(data_format, "smart_resize")
    images = tensor(x)
    if images.ndim not in {3, 4} or len(size) != 2:
        raise ShapeError(
            f"smart_resize takes pictures of the shape (height, width, channels), not {images.shape}, and a size of "
            f"two lengths, not {size!r}"
        )
    height, width = images.shape[-3:-1]
    kept = (
        max(min(height, int(width * size[0] / size[1])), 1),
        max(min(width, int(height * size[1] / size[0])), 1),
    )
    top, left = int((height - kept[0]) / 2), int((width - kept[1]) / 2)
    part = images[..., top : top + kept[0], left : left + kept[1], :]
    resized = image.resize(part, size, interpolation)
    return resized if isinstance(x, Traced) else np.asarray(unwrap(resized))
