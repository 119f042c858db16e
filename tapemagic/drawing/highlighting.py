"""The colours of Python's syntax, as inline styles."""

from __future__ import annotations

import io
import keyword
import token
import tokenize
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Literal, NamedTuple

from tapemagic.drawing.elements import element
from tapemagic.drawing.report_style import Theme
from tapemagic.drawing.styles import QUIET

Kind = Literal["comment", "keyword", "number", "string", "function"]

COLOURS: dict[Kind, tuple[str, str, str, str]] = {
    "keyword": ("#7e22ce", "#c084fc", "#a855d6", "keyword"),
    "number": ("#15803d", "#4ade80", "#218a48", "number"),
    "string": ("#b91c1c", "#f87171", "#d04a30", "string"),
    "function": ("#1d4ed8", "#60a5fa", "#2f7ad6", "def"),
}
"""The colours on a light page, on a dark one, and on either, where the contrast is above 4; and JupyterLab's name."""


def _styles(colour: Callable[[str, str, str, str], str]) -> dict[Kind, str]:
    found = {kind: f"color:{colour(*colours)}" for kind, colours in COLOURS.items()}
    found["keyword"] += ";font-weight:600"
    return {**found, "comment": QUIET}


STYLES = _styles(lambda _light, _dark, either, _name: either)
"""The styles of static HTML, which cannot tell on what page it will stand."""

LIVE_STYLES: dict[Theme, dict[Kind, str]] = {
    "auto": _styles(
        lambda light, dark, _either, name: (
            f"var(--jp-mirror-editor-{name}-color,light-dark({light},{dark}))"
        )
    ),
    "light": _styles(lambda light, *_: light),
    "dark": _styles(lambda _light, dark, *_: dark),
}
"""The styles of a live page: those of JupyterLab for code, or else those of its theme."""


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
