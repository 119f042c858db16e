"""Files in the IDX format, in which MNIST was published."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

from tapemagic.errors import DataFileError
from tapemagic.nn.datasets.source import Array

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
"""The dtype of the numbers, by the third byte of a file."""

GZIP = b"\x1f\x8b"
SHOWN = 8


def read_idx(path: Path) -> Array:
    """The array in an IDX file, gzipped or not, in the byte order of this machine.

    The format: two bytes of zero, a byte for the dtype, a byte for the number of dimensions, the
    dimensions as 32-bit numbers, and the array, all with the largest byte first (Y. LeCun,
    C. Cortes and C. Burges, "The MNIST database of handwritten digits", "The IDX file format").
    """
    content = uncompressed(path)
    dtype, shape, start = _header(path, content)
    expected = start + dtype.itemsize * math.prod(shape)
    if len(content) != expected:
        what = "is truncated" if len(content) < expected else "is longer than it says"
        raise DataFileError(
            f"{path} {what}: by its header it holds {dtype.name} of shape {shape}, so {expected:,} "
            f"bytes; it has {len(content):,}{_once_unpacked(path)}. {AGAIN}"
        )
    return (
        np.frombuffer(content, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))
    )


AGAIN = "Copy or download it again."


def uncompressed(path: Path) -> bytes:
    """The bytes of a file, unpacked if they are gzipped, whatever the file is called."""
    content = path.read_bytes()
    if not content.startswith(GZIP):
        return content
    try:
        return gzip.decompress(content)
    except EOFError as error:
        raise DataFileError(
            f"{path} is truncated: its gzipped content ends after {len(content):,} bytes of the file, "
            f"in the midst of the data. {AGAIN}"
        ) from error
    except MemoryError as error:
        raise DataFileError(
            f"{path} unpacks to more than there is memory for: it is another file. {AGAIN}"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataFileError(f"{path} is corrupt: it does not unpack ({error}). {AGAIN}") from error


def _header(path: Path, content: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...], int]:
    """The dtype and the shape which a file states, and where its array begins."""
    if content[:2] != b"\0\0" or len(content) < 4 or content[2] not in TYPES:
        beginning = f"it begins with {content[:SHOWN]!r}" if content else "it is empty"
        raise DataFileError(
            f"{path} is no IDX file: such a file begins with two bytes of zero, one for the dtype "
            f"(8 for uint8) and one for the number of dimensions; {beginning}{_once_unpacked(path)}. "
            "A page of a website may have been saved in its place. Download the file itself."
        )
    start = 4 + 4 * content[3]
    if len(content) < start:
        raise DataFileError(
            f"{path} is truncated: the header alone has {start} bytes, the file {len(content)}"
            f"{_once_unpacked(path)}. {AGAIN}"
        )
    shape = np.frombuffer(content, ">u4", count=content[3], offset=4)
    return np.dtype(TYPES[content[2]]), tuple(shape.tolist()), start


def _once_unpacked(path: Path) -> str:
    with path.open("rb") as file:
        return " once it is unpacked" if file.read(2) == GZIP else ""
