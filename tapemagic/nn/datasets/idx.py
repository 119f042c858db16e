"""Reading of files in the IDX format, in which MNIST was published."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

from tapemagic.errors import DataFileError
from tapemagic.nn.datasets.source import Array

DTYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
"""The dtype of the numbers, by the third byte of a file. IDX is big-endian, hence ">"."""

GZIP = b"\x1f\x8b"
SHOWN_BYTES = 8


def read_idx(path: Path) -> Array:
    """Read the array in an IDX file, gzipped or not, in the byte order of this machine.

    The format: two bytes of zero, a byte for the dtype, a byte for the number of dimensions, the dimensions as 32-bit
    integers, and the array, all big-endian (Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten
    digits", "The IDX file format").
    """
    content = uncompressed(path)
    dtype, shape, start = _header(path, content)
    # Python integers: a corrupt header can state a shape whose size overflows int64.
    expected = start + dtype.itemsize * math.prod(shape)
    if len(content) != expected:
        what = "is truncated" if len(content) < expected else "is longer than it says"
        raise DataFileError(
            f"{path} {what}: its header states {dtype.name} of shape {shape}, so {expected:,} "
            f"bytes; it has {len(content):,}{_once_unpacked(path)}. {AGAIN}"
        )
    return (
        np.frombuffer(content, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))
    )


AGAIN = "Copy or download it again."


def uncompressed(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if they are gzipped, regardless of its name."""
    # Browsers unpack .gz downloads without renaming them, and others add .gz: only the content tells.
    content = path.read_bytes()
    if not content.startswith(GZIP):
        return content
    try:
        return gzip.decompress(content)
    except EOFError as error:
        raise DataFileError(
            f"{path} is truncated: its gzipped content ends after {len(content):,} bytes of the file, "
            f"in the middle of the data. {AGAIN}"
        ) from error
    except MemoryError as error:
        raise DataFileError(
            f"{path} unpacks to more than memory can hold, so it's another file. {AGAIN}"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataFileError(
            f"{path} is corrupt: it can't be unpacked ({error}). {AGAIN}"
        ) from error


def _header(path: Path, content: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...], int]:
    """Return the dtype and shape in a file's header, and the position of its array."""
    if content[:2] != b"\0\0" or len(content) < 4 or content[2] not in DTYPES:
        beginning = f"it begins with {content[:SHOWN_BYTES]!r}" if content else "it is empty"
        raise DataFileError(
            f"{path} isn't an IDX file: such a file begins with two bytes of zero, one for the dtype "
            f"(8 for uint8) and one for the number of dimensions; {beginning}{_once_unpacked(path)}. "
            "A web page may have been saved instead. Download the file itself."
        )
    start = 4 + 4 * content[3]
    if len(content) < start:
        raise DataFileError(
            f"{path} is truncated: the header has {start} bytes, the file {len(content)}"
            f"{_once_unpacked(path)}. {AGAIN}"
        )
    shape = np.frombuffer(content, ">u4", count=content[3], offset=4)
    return np.dtype(DTYPES[content[2]]), tuple(shape.tolist()), start


def _once_unpacked(path: Path) -> str:
    with path.open("rb") as file:
        return " once it is unpacked" if file.read(2) == GZIP else ""
