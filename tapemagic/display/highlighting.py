"""The colours of Python's syntax, as inline styles."""

from __future__ import annotations

import io
import keyword
import token
import tokenize
from collections.abc import Iterator, Mapping
from html import escape
from typing import Literal, NamedTuple

from tapemagic.display.elements import element
from tapemagic.display.styles import QUIET

Kind = Literal["comment", "keyword", "number", "string", "function"]

STYLES: dict[Kind, str] = {
    "comment": QUIET,
    "keyword": "color:#a24fd0;font-weight:600",
    "number": "color:#1f8545",
    "string": "color:#c9462c",
    "function": "color:#2a76d2",
}
"""Colours that are legible on white and on black, with a contrast of 4 and more on both."""

LIVE_STYLES: dict[Kind, str] = {
    "comment": QUIET,
    "keyword": "color:var(--jp-mirror-editor-keyword-color,#a24fd0);font-weight:600",
    "number": "color:var(--jp-mirror-editor-number-color,#1f8545)",
    "string": "color:var(--jp-mirror-editor-string-color,#c9462c)",
    "function": "color:var(--jp-mirror-editor-def-color,#2a76d2)",
}
"""The colours that the notebook's theme has for code, in a live page."""


class Piece(NamedTuple):
    """A part of a line that has a colour, from one column to another."""

    line: int
    start: int
    stop: int
    kind: Kind


def highlighted(text: str, styles: Mapping[Kind, str] = STYLES) -> list[str]:
    """The lines of a program as HTML, with a style for each kind of its parts."""
    lines = text.split("\n")
    made = [""] * len(lines)
    ends = [0] * len(lines)
    for line, start, stop, kind in pieces(text):
        words = lines[line]
        coloured = element("span", styles[kind], escape(words[start:stop]))
        made[line] += escape(words[ends[line] : start]) + coloured
        ends[line] = stop
    return [html + escape(line[end:]) for html, line, end in zip(made, lines, ends, strict=True)]


def pieces(text: str) -> Iterator[Piece]:
    """The parts of a program that have a colour, in their order; as far as it is Python.

    Examples
    --------
    >>> [(p.kind, p.start) for p in pieces("x = np.sin(2)  # a")]
    [('function', 7), ('number', 11), ('comment', 15)]
    """
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for k, (kind, words, (line, start), (end, stop), _) in enumerate(found):
        if named := _kind(kind, words, found[k + 1 : k + 2]):
            lines = words.split("\n")
            starts, stops = [start, *[0] * (end - line)], [*map(len, lines[:-1]), stop]
            stops[0] += start * (end > line)
            for n, (left, right) in enumerate(zip(starts, stops, strict=True), line - 1):
                yield Piece(n, left, right, named)


def _kind(kind: int, words: str, following: list[tokenize.TokenInfo]) -> Kind | None:
    if kind == tokenize.COMMENT:
        return "comment"
    if kind == token.NUMBER:
        return "number"
    if kind == token.STRING:
        return "string"
    if kind == token.NAME and keyword.iskeyword(words):
        return "keyword"
    is_called = bool(following) and following[0].string == "("
    return "function" if kind == token.NAME and is_called else None
