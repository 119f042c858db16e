"""Line breaks in long statements, in the style of the formatters Black and ruff."""

from __future__ import annotations

from collections.abc import Iterator

WIDTH = 100
OPENING = {"(": ")", "[": "]", "{": "}"}


def laid_out(text: str, margin: str = "", end: str = "", width: int = WIDTH) -> list[str]:
    """Break a statement, or a part of a statement that ends in `end`, into lines.

    A line that is too long is broken after its last outermost opening bracket. The parts between commas share one line;
    if that is too long, or the bracket is that of a list or a tuple, each part has a line.

    Examples
    --------
    >>> laid_out("total = add(first, second)", width=20)
    ['total = add(', '    first, second', ')']
    """
    line = f"{margin}{text}{end}"
    place = _last_bracket(text) if len(line) > width else None
    if place is None:
        return [line]
    start, stop = place
    head, body, tail = text[: start + 1], text[start + 1 : stop], text[stop:]
    inner = f"{margin}    "
    parts = list(_parts(body))
    called = start > 0 and (text[start - 1].isidentifier() or text[start - 1] in "0123456789)]")
    starred = any(part.startswith("*") for part in parts)
    if called and text[start] == "(" and len(inner + body) <= width and not starred:
        return [margin + head, inner + body, f"{margin}{tail}{end}"]
    comma = "," if len(parts) > 1 or text[start] != "(" or called else ""
    lines = [margin + head]
    for part in parts:
        lines += laid_out(part, inner, comma, width)
    return [*lines, f"{margin}{tail}{end}"]


def _scan(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield the place, character and depth of brackets of each character outside quotation marks."""
    depth, quote, escaped = 0, "", False
    for k, c in enumerate(text):
        if quote:
            if escaped:
                escaped = False
            elif c == "\\":
                escaped = True
            elif c == quote:
                quote = ""
            continue
        if c in "'\"":
            quote = c
            continue
        if c in ")]}":
            depth -= 1
        yield k, c, depth
        if c in OPENING:
            depth += 1


def _last_bracket(text: str) -> tuple[int, int] | None:
    """Return the places of the last pair of outermost brackets that aren't empty, if any."""
    last = start = None
    for k, c, depth in _scan(text):
        if depth == 0 and c in OPENING:
            start = k
        elif depth == 0 and c in ")]}" and start is not None and k > start + 1:
            last = start, k
    return last


def _parts(body: str) -> Iterator[str]:
    """Yield the parts of a text between its outermost commas."""
    start = 0
    for k, c, depth in _scan(body):
        if depth == 0 and c == ",":
            yield body[start:k].strip()
            start = k + 1
    if body[start:].strip():
        yield body[start:].strip()
