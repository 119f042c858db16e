"""Reading of Keras's data sets: four arrays in an ``.npz`` file."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from tapemagic.errors import DataFileError
from tapemagic.nn.datasets.idx import AGAIN
from tapemagic.nn.datasets.source import Array, Split

DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, LookupError,
    MemoryError, OSError, OverflowError, RuntimeError, ValueError,
)  # fmt: skip
"""Exceptions that reading a damaged zip file from memory may raise."""

NAMES = ("x_train", "y_train", "x_test", "y_test")


def read_npz(path: Path) -> Split:
    """Read the four arrays of a file such as Keras's ``mnist.npz``, and ignore other arrays.

    Checksums are verified. Arrays of Python objects are refused, because unpickling can run arbitrary code.
    """
    # Read at once, so that an OSError of the disk isn't mistaken for a damaged file: zipfile raises OSError as well.
    content = io.BytesIO(path.read_bytes())
    try:
        with zipfile.ZipFile(content) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
            if missing := [name for name in NAMES if name not in names]:
                raise DataFileError(
                    f"{path} lacks {', '.join(missing)}: it must have the arrays "
                    f"{', '.join(NAMES)}, as in Keras's mnist.npz, and has "
                    f"{', '.join(sorted(names)) or 'none'}."
                )
            x_train, y_train, x_test, y_test = (_array(path, archive, name) for name in NAMES)
    except DataFileError:
        raise
    except DAMAGED as error:
        raise DataFileError(
            f"{path} is truncated or corrupt, or not an .npz file: {error}. {AGAIN}"
        ) from error
    return (x_train, y_train), (x_test, y_test)


def _array(path: Path, archive: zipfile.ZipFile, name: str) -> Array:
    # The whole entry is read before it's parsed, because zipfile verifies the checksum only at its end.
    content = archive.read(f"{name}.npy")
    try:
        array: Array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise DataFileError(
            f"{name} in {path} can't be read: {error}. It must be an array of integers, saved by "
            "numpy.savez."
        ) from error
    return array
