"""Coloured cells as a part of an SVG: a tiny picture in a data URI, whose bytes are the same on every machine."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from functools import reduce

Colours = Sequence[Sequence[str]]
"""Rows of colours, each as #rrggbb."""

URI = "data:image/png;base64,"
WITHOUT_PALETTE, WITH_PALETTE = 2, 3
"""The kinds of pictures in a PNG."""


def pixels(colours: Colours, width: float, height: float, x: float = 0, y: float = 0) -> str:
    """An SVG element that shows cells in their colours, each cell with sharp edges.

    Examples
    --------
    >>> pixels([["#ffffff", "#1d4ed8"]], 20, 10)[:74]
    '<image width="20" height="10" preserveAspectRatio="none" style="image-rend'
    """
    data = base64.b64encode(png(colours)).decode()
    place = f' x="{x:g}"' * bool(x) + f' y="{y:g}"' * bool(y)
    return (
        f'<image{place} width="{width:g}" height="{height:g}" preserveAspectRatio="none"'
        f' style="image-rendering:pixelated" href="{URI}{data}"/>'
    )


def cells_of(uri: str) -> Colours:
    """The colours of cells in the URI that `pixels` writes; none for any other URI, and for many colours.

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
    start = 41  # behind the header and the length and name of the palette
    (size,) = struct.unpack(">I", content[33:37])
    palette = [f"#{content[k : k + 3].hex()}" for k in range(start, start + size, 3)]
    (length,) = struct.unpack(">I", content[start + size + 4 : start + size + 8])
    data = zlib.decompress(content[start + size + 12 : start + size + 12 + length])
    pitch = 1 + -(-width * bits // 8)
    rows = (data[row * pitch + 1 : (row + 1) * pitch] for row in range(height))
    return [[palette[index] for index in _unpacked(row, bits)[:width]] for row in rows]


def png(colours: Colours) -> bytes:
    """A picture in the format PNG, with a palette if there are few colours.

    It is not compressed, since the bytes of a compressed one depend on the version of zlib.
    """
    palette = list(dict.fromkeys(colour for row in colours for colour in row))
    known = {colour: index for index, colour in enumerate(palette)}
    bits = next((bits for bits in (1, 2, 4, 8) if len(palette) <= 2**bits), 0)
    lines = (
        _packed([known[colour] for colour in row], bits) if bits else b"".join(map(_channels, row))
        for row in colours
    )
    kind = WITH_PALETTE if bits else WITHOUT_PALETTE
    size = struct.pack(">IIBBBBB", len(colours[0]), len(colours), bits or 8, kind, 0, 0, 0)
    parts = [_chunk(b"IHDR", size)]
    if bits:
        parts.append(_chunk(b"PLTE", b"".join(map(_channels, palette))))
    content = zlib.compressobj(0)  # stored as it is
    data = b"".join(b"\0" + line for line in lines)
    parts += [_chunk(b"IDAT", content.compress(data) + content.flush()), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _packed(indices: Sequence[int], bits: int) -> bytes:
    """Numbers of a few bits each, the first one in the highest bits of the first byte."""
    each = 8 // bits
    padded = [*indices, *[0] * (-len(indices) % each)]
    groups = (padded[k : k + each] for k in range(0, len(padded), each))
    return bytes(reduce(lambda byte, index: byte << bits | index, group, 0) for group in groups)


def _unpacked(packed: bytes, bits: int) -> list[int]:
    """The numbers in bytes that `_packed` made."""
    return [byte >> shift & 2**bits - 1 for byte in packed for shift in range(8 - bits, -1, -bits)]


def _channels(colour: str) -> bytes:
    return bytes.fromhex(colour[1:])


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
