"""Formatting of long statements over several lines, as the formatters Black and ruff lay them out."""

from __future__ import annotations

from collections.abc import Iterator

WIDTH = 100
OPENING = {"(": ")", "[": "]", "{": "}"}


def laid_out(text: str, margin: str = "", end: str = "", width: int = WIDTH) -> list[str]:
    """The lines of a statement, or of a part of one, that ends in `end`.

    What is too long is broken after its last opening bracket: the parts between commas stand on one line of their
    own, or on one each, if that is too long, or if the bracket is that of a list or a tuple.

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
    """The characters of a text outside of quotation marks, with their places and depths of brackets."""
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
    """The places of the last pair of outermost brackets with something in it."""
    found = start = None
    for k, c, depth in _scan(text):
        if depth == 0 and c in OPENING:
            start = k
        elif depth == 0 and c in ")]}" and start is not None and k > start + 1:
            found = start, k
    return found


def _parts(body: str) -> Iterator[str]:
    """The parts of a text between its outermost commas."""
    start = 0
    for k, c, depth in _scan(body):
        if depth == 0 and c == ",":
            yield body[start:k].strip()
            start = k + 1
    if body[start:].strip():
        yield body[start:].strip()
