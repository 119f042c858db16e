"""Lines of the user's program, as one says them."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

from tapemagic.engine.events import Place

CELL = re.compile(r"<ipython-input-|ipykernel_\d+")
LONGEST = 60


def line_of(place: Place) -> str:
    """A line by its number, its file unless it is a cell's, and its text."""
    text = linecache.getline(place.file, place.line).strip().removesuffix(":")
    text = text.rstrip("([{") + "…" * text.endswith(("(", "[", "{"))
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    name = "" if CELL.search(place.file) or place.file.startswith("<") else Path(place.file).name
    return f"line {place.line}" + (f" of {name}" if name else "") + (f" ({short})" if short else "")
