"""Coloured cells as a part of an SVG: a tiny picture in a data URI, whose bytes are the same on every machine."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

Colours = Sequence[Sequence[str]]
"""Rows of colours, each as #rrggbb."""

PALETTE = 256
"""The largest number of colours in a palette."""


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
        f' style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def png(colours: Colours) -> bytes:
    """A picture in the format PNG, with a palette if there are few colours.

    It is not compressed, since the bytes of a compressed one depend on the version of zlib.
    """
    palette = list(dict.fromkeys(colour for row in colours for colour in row))
    few = len(palette) <= PALETTE
    known = {colour: index for index, colour in enumerate(palette)}
    lines = (
        bytes(known[colour] for colour in row) if few else b"".join(map(_channels, row))
        for row in colours
    )
    size = struct.pack(">IIBBBBB", len(colours[0]), len(colours), 8, 3 if few else 2, 0, 0, 0)
    parts = [_chunk(b"IHDR", size)]
    if few:
        parts.append(_chunk(b"PLTE", b"".join(map(_channels, palette))))
    content = zlib.compressobj(0)  # stored as it is
    data = b"".join(b"\0" + line for line in lines)
    parts += [_chunk(b"IDAT", content.compress(data) + content.flush()), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _channels(colour: str) -> bytes:
    return bytes.fromhex(colour[1:])


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
