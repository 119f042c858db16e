"""The HTML elements and the aligned columns that several forms of a report share."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Sequence
from html import escape

from tapemagic.analysis.formatting import printable
from tapemagic.display.styles import QUIET, RULE

FONT = "font-size:13px;line-height:1.45"
ROW = f"border-bottom:{RULE}"
HEAD = f"font-weight:600;{QUIET}"
CLASS = "tapemagic"
SHEET = (
    f"<style>.{CLASS}.{CLASS}.{CLASS} :is(td,th){{text-align:left;vertical-align:top;padding:3px 12px 3px 0;white-space:inherit}}"
    "</style>"
)
"""The one rule for all cells, in place of a style on each. Where a viewer drops it, tables are as the viewer has them."""


def element(tag: str, style: str, content: str) -> str:
    """An HTML element with an inline style; the content is HTML."""
    return f'<{tag} style="{style}">{content}</{tag}>' if style else f"<{tag}>{content}</{tag}>"


def plain(words: str) -> str:
    """Text in one line as HTML."""
    return escape(printable(words))


def table(head: str, body: str, style: str = "") -> str:
    """A table of HTML; `head` holds the cells of its one row of headings, `body` holds rows."""
    rows = f"<thead>{element('tr', f'{ROW};{HEAD}', head)}</thead><tbody>{body}</tbody>"
    return f'<table cellpadding="4" style="border-collapse:collapse;{FONT}{style}">{rows}</table>'


def report(content: str) -> str:
    """HTML of a report with the rule for its cells."""
    return f'{SHEET}<div class="{CLASS}" style="{FONT}">{content}</div>'


def rows_of(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a line between its rows; the cells of `rows` are HTML."""
    lines = ("".join(f"<td>{cell}" for cell in cells) for cells in rows)
    body = "".join(element("tr", ROW, line) for line in lines)
    return table("".join(f"<th>{escape(words)}" for words in headings), body)


def listing(headings: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[int]) -> str:
    """A table with the columns of the numbers `left` aligned left, and all others aligned right; all cells are HTML.

    It has the padding and the lines of the page's own tables, so that a cell needs next to no style.
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        style = ' style="text-align:left"'
        parts = (f"<{tag}{style * (k in left)}>{cell}</{tag}>" for k, cell in enumerate(cells))
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line("td", cells) for cells in rows)
    content = f"<thead>{line('th', headings)}</thead><tbody>{body}</tbody>"
    return element("table", f"border-collapse:collapse;text-align:right;margin:0;{FONT}", content)


def image(svg: str, words: str, style: str) -> str:
    """An SVG as an image in a data URI, with a text for those who cannot see it."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{plain(words)}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def aligned(rows: Sequence[Sequence[str]], right: bool = False) -> list[str]:
    """The lines of a table of text, in columns aligned left; with `right`, all but the first aligned right."""
    first, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pad = str.rjust if right else str.ljust
    cells = ([name.ljust(first), *map(pad, entries, widths)] for name, *entries in rows)
    return ["  ".join(line).rstrip() for line in cells]
