"""Packing of JSON into short text: notebooks store the data of every report."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import Any


def packed(data: Any) -> str:
    """JSON, compressed by zlib (RFC 1950), in base64.

    - `data`: Lists, dicts, strings, numbers, booleans and None.

    Raises ValueError if a number is nan or infinite, for which JSON has no word.

    Examples
    --------
    >>> unpacked(packed({"a": [1, None]}))
    {'a': [1, None]}
    """
    # allow_nan=False, because JSON.parse of a browser rejects the NaN that Python writes.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return compressed(text)


def compressed(text: str) -> str:
    """Text, compressed by zlib, in base64."""
    # zlib, because browsers decompress it themselves (DecompressionStream). Level 9 would take twice the time of the
    # default for 1 to 2 % fewer bytes.
    return b64encode(zlib.compress(text.encode())).decode()


def unpacked(text: str) -> Any:
    """Return the data that `packed` has packed."""
    return json.loads(zlib.decompress(b64decode(text)))
