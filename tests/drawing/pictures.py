"""Pictures in reports, read back."""

from __future__ import annotations

import base64
import re
import zlib


def cells_in(source: str) -> list[list[str]]:
    """The colours of the only picture in a data URI."""
    [data] = re.findall(r'base64,([^"]+)"', source)
    return read_png(base64.b64decode(data))


def read_png(data: bytes) -> list[list[str]]:
    """The colours of a picture, read as a browser would."""
    assert b"\x89PNG\r\n\x1a\n" == data[:8]
    chunks, place = {}, 8
    while place < len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        assert zlib.crc32(kind + content) == int.from_bytes(
            data[place + 8 + size : place + 12 + size], "big"
        )
        chunks[kind] = content
        place += 12 + size
    width, height = (int.from_bytes(chunks[b"IHDR"][k : k + 4], "big") for k in (0, 4))
    body, palette = zlib.decompress(chunks[b"IDAT"]), chunks.get(b"PLTE")
    bits = chunks[b"IHDR"][8] * (1 if palette else 3)
    pitch = -(-width * bits // 8) + 1
    rows = [body[i * pitch + 1 : (i + 1) * pitch] for i in range(height)]
    if palette:
        digits = [f"{int.from_bytes(row, 'big'):0{8 * len(row)}b}" for row in rows]
        indices = [[int(row[k * bits : (k + 1) * bits], 2) for k in range(width)] for row in digits]
        return [["#" + palette[3 * k : 3 * k + 3].hex() for k in row] for row in indices]
    return [["#" + row[3 * k : 3 * k + 3].hex() for k in range(width)] for row in rows]
