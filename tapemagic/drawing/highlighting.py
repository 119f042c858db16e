"""The colors of Python's syntax, as inline styles."""

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

COLORS: dict[Kind, tuple[str, str, str, str]] = {
    "keyword": ("#7e22ce", "#c084fc", "#a855d6", "keyword"),
    "number": ("#15803d", "#4ade80", "#218a48", "number"),
    "string": ("#b91c1c", "#f87171", "#d04a30", "string"),
    "function": ("#1d4ed8", "#60a5fa", "#2f7ad6", "def"),
}
"""The colors on a light page, on a dark one, and on either, where the contrast is above 4; and JupyterLab's name."""


def _styles(color: Callable[[str, str, str, str], str]) -> dict[Kind, str]:
    styles = {kind: f"color:{color(*colors)}" for kind, colors in COLORS.items()}
    styles["keyword"] += ";font-weight:600"
    return {**styles, "comment": QUIET}


STYLES = _styles(lambda _light, _dark, either, _name: either)
"""The styles of static HTML, which can't know whether its page is light or dark."""

LIVE_STYLES: dict[Theme, dict[Kind, str]] = {
    "auto": _styles(
        lambda light, dark, _either, name: (
            f"var(--jp-mirror-editor-{name}-color,light-dark({light},{dark}))"
        )
    ),
    "light": _styles(lambda light, *_: light),
    "dark": _styles(lambda _light, dark, *_: dark),
}
"""The styles of a live page: the colors of code in JupyterLab, or the colors of a theme."""


class Piece(NamedTuple):
    """A part of a line that has a color, from one column to another."""

    line: int
    start: int
    stop: int
    kind: Kind


def highlighted(text: str, styles: Mapping[Kind, str] = STYLES) -> list[str]:
    """Return the lines of a program as HTML, with a style for each kind of token."""
    lines = text.split("\n")
    html_lines = [""] * len(lines)
    ends = [0] * len(lines)
    for line, start, stop, kind in pieces(text):
        words = lines[line]
        colored = element("span", styles[kind], escape(words[start:stop]))
        html_lines[line] += escape(words[ends[line] : start]) + colored
        ends[line] = stop
    return [
        html + escape(line[end:]) for html, line, end in zip(html_lines, lines, ends, strict=True)
    ]


def pieces(text: str) -> Iterator[Piece]:
    """Yield the parts of a program that have a color, in order; nothing if it isn't valid Python.

    Examples
    --------
    >>> [(p.kind, p.start) for p in pieces("x = np.sin(2)  # a")]
    [('function', 7), ('number', 11), ('comment', 15)]
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    # A program may be a fragment, such as a cell with a magic.
    except (tokenize.TokenError, SyntaxError):
        return
    for k, (kind, words, (line, start), (end, stop), _) in enumerate(tokens):
        if token_kind := _kind(kind, words, tokens[k + 1 : k + 2]):
            lines = words.split("\n")
            starts, stops = [start, *[0] * (end - line)], [*map(len, lines[:-1]), stop]
            # A string may span lines: all but its first one start at column 0.
            stops[0] += start * (end > line)
            for n, (left, right) in enumerate(zip(starts, stops, strict=True), line - 1):
                yield Piece(n, left, right, token_kind)


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
