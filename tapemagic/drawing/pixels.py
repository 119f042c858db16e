"""Colored cells in an SVG: a tiny PNG in a data URI, with the same bytes on every machine."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from functools import reduce

Colors = Sequence[Sequence[str]]
"""Rows of colors, each as #rrggbb."""

URI = "data:image/png;base64,"
WITHOUT_PALETTE, WITH_PALETTE = 2, 3
"""The color types of a PNG: RGB, and a palette."""


def pixels(colors: Colors, width: float, height: float, x: float = 0, y: float = 0) -> str:
    """Return an SVG element that shows colored cells with sharp edges.

    Examples
    --------
    >>> pixels([["#ffffff", "#1d4ed8"]], 20, 10)[:74]
    '<image width="20" height="10" preserveAspectRatio="none" style="image-rend'
    """
    data = base64.b64encode(png(colors)).decode()
    place = f' x="{x:g}"' * bool(x) + f' y="{y:g}"' * bool(y)
    return (
        f'<image{place} width="{width:g}" height="{height:g}" preserveAspectRatio="none"'
        f' style="image-rendering:pixelated" href="{URI}{data}"/>'
    )


def cells_of(uri: str) -> Colors:
    """Read the colors of cells back from a URI of `pixels`; empty without a palette, or for another URI.

    Examples
    --------
    >>> import re
    >>> cells_of(re.search('href="(.*)"', pixels([["#ffffff", "#1d4ed8"]], 20, 10))[1])
    [['#ffffff', '#1d4ed8']]
    """
    if not uri.startswith(URI):
        return []
    content = base64.b64decode(uri.removeprefix(URI))
    width, height, bits, kind = struct.unpack(">IIBB", content[16:26])
    if kind != WITH_PALETTE:
        return []
    # 8 bytes of signature, 25 of the header chunk, and 8 with the length and name of the palette chunk.
    start = 41
    (size,) = struct.unpack(">I", content[33:37])
    palette = [f"#{content[k : k + 3].hex()}" for k in range(start, start + size, 3)]
    (length,) = struct.unpack(">I", content[start + size + 4 : start + size + 8])
    data = zlib.decompress(content[start + size + 12 : start + size + 12 + length])
    pitch = 1 + -(-width * bits // 8)
    rows = (data[row * pitch + 1 : (row + 1) * pitch] for row in range(height))
    return [[palette[index] for index in _unpacked(row, bits)[:width]] for row in rows]


def png(colors: Colors) -> bytes:
    """Write a PNG, with a palette for up to 256 colors."""
    palette = list(dict.fromkeys(color for row in colors for color in row))
    index_of = {color: index for index, color in enumerate(palette)}
    # PNG packs pixels of 1, 2 or 4 bits; 15 levels and two marks rarely need 8.
    bits = next((bits for bits in (1, 2, 4, 8) if len(palette) <= 2**bits), 0)
    lines = (
        _packed([index_of[color] for color in row], bits) if bits else b"".join(map(_channels, row))
        for row in colors
    )
    kind = WITH_PALETTE if bits else WITHOUT_PALETTE
    size = struct.pack(">IIBBBBB", len(colors[0]), len(colors), bits or 8, kind, 0, 0, 0)
    parts = [_chunk(b"IHDR", size)]
    if bits:
        parts.append(_chunk(b"PLTE", b"".join(map(_channels, palette))))
    # Level 0 stores without compression: compressed bytes differ between zlib and zlib-ng.
    content = zlib.compressobj(0)
    data = b"".join(b"\0" + line for line in lines)
    parts += [_chunk(b"IDAT", content.compress(data) + content.flush()), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _packed(indices: Sequence[int], bits: int) -> bytes:
    """Pack numbers of a few bits each, the first in the highest bits of the first byte."""
    each = 8 // bits
    padded = [*indices, *[0] * (-len(indices) % each)]
    groups = (padded[k : k + each] for k in range(0, len(padded), each))
    return bytes(reduce(lambda byte, index: byte << bits | index, group, 0) for group in groups)


def _unpacked(packed: bytes, bits: int) -> list[int]:
    """Unpack the numbers that `_packed` wrote."""
    return [byte >> shift & 2**bits - 1 for byte in packed for shift in range(8 - bits, -1, -bits)]


def _channels(color: str) -> bytes:
    return bytes.fromhex(color[1:])


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
