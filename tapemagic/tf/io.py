"""Files and pictures in them: ``tf.io``, pictures by Pillow."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.core.text import StringTensor, string_array
from tapemagic.tf.errors import InvalidArgumentError, NotFoundError

MODES = {1: "L", 3: "RGB", 4: "RGBA"}
"""Pillow's modes by the number of channels."""

_WITHOUT_CHANNELS = {"1": "L", "P": "RGB"}
"""Bilevel pictures and palettes, and the modes to which they are converted."""


def _single(value: Any) -> bytes:
    array = string_array(value)
    if array.ndim:
        raise OptionError(f"expected a single string, not one of the shape {array.shape}")
    content: bytes = array[()]
    return content


def read_file(filename: Any, name: str | None = None) -> Any:
    """Return the content of a file as a tensor of bytes.

    Raises NotFoundError if there is no such file.
    """
    path = Path(_single(filename).decode())
    try:
        return StringTensor(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(f"{path}; No such file or directory") from error


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write bytes to a file; its folder is created if it's missing."""
    path = Path(_single(filename).decode())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_single(contents))


def _image_module() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures need Pillow: write %pip install pillow in a cell") from error
    return Image


def decode_image(
    contents: Any,
    channels: int | None = 0,
    dtype: Any = "uint8",
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """Return the pixels of a picture in the format PNG, JPEG, BMP or GIF, of the shape (height, width, channels).

    Parameters
    ----------
    contents : bytes, str or tensor of them
        What `read_file` returned.
    channels : {0, 1, 3, 4}, optional
        0 keeps those of the picture.
    dtype : {'uint8', 'float32'}, optional
        Floating-point pixels are from 0 to 1.
    expand_animations : bool, optional
        True refuses a GIF, whose frames would add an axis; False returns its first frame.

    Raises
    ------
    InvalidArgumentError
        If the bytes aren't a picture.
    """
    if channels not in (None, 0, *MODES):
        raise OptionError(f"channels must be 0, 1, 3 or 4, not {channels!r}")
    kind = numpy_dtype(dtype)
    if kind not in (np.uint8, np.float32):
        raise OptionError(f"pictures have the dtype uint8 or float32, not {kind}")
    try:
        image = _image_module().open(io.BytesIO(_single(contents)))
        image.load()
    except (OSError, SyntaxError) as error:
        raise InvalidArgumentError(
            f"Unknown image file format. One of JPEG, PNG, GIF, BMP required: {error}"
        ) from error
    if image.format == "GIF" and expand_animations:
        raise OptionError("a GIF has frames: write expand_animations=False for the first one")
    if channels:
        image = image.convert(MODES[channels])
    elif image.mode in _WITHOUT_CHANNELS:
        image = image.convert(_WITHOUT_CHANNELS[image.mode])
    elif image.mode not in MODES.values():
        raise OptionError(
            f"the picture has the mode {image.mode} of Pillow: write channels=1 or channels=3 for usual pixels"
        )
    pixels = np.asarray(image)
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    return eager(pixels / np.float32(255) if kind == np.float32 else pixels.copy())


def _decoder(called: str) -> Any:
    def decode(contents: Any, channels: int = 0, dtype: Any = "uint8", **options: Any) -> Any:
        return decode_image(contents, channels, dtype, expand_animations=False)

    decode.__name__ = decode.__qualname__ = called
    decode.__doc__ = "Return the pixels of a picture; see `decode_image`."
    return decode


decode_bmp, decode_jpeg, decode_png = map(_decoder, ("decode_bmp", "decode_jpeg", "decode_png"))


def _encoded(image: Any, form: str, **options: Any) -> StringTensor:
    pixels = np.asarray(unwrap(tensor(image)))
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[-1] not in MODES:
        raise InvalidArgumentError(
            f"a picture has the shape (height, width, channels) and the dtype uint8, not {pixels.shape} and "
            f"{pixels.dtype}: write tf.image.convert_image_dtype(image, tf.uint8)"
        )
    content = io.BytesIO()
    picture = _image_module().fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    picture.save(content, form, **options)
    return StringTensor(content.getvalue())


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """Return a picture as the bytes of a PNG file."""
    return _encoded(image, "PNG")


def encode_jpeg(image: Any, format: str = "", quality: int = 95, **options: Any) -> Any:
    """Return a picture as the bytes of a JPEG file, which has less detail."""
    return _encoded(image, "JPEG", quality=quality)


__all__ = [
    "decode_bmp", "decode_image", "decode_jpeg", "decode_png", "encode_jpeg", "encode_png",
    "read_file", "write_file",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
