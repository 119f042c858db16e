"""The HTML elements and the aligned columns that several forms of a report share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import chain, repeat
from urllib.parse import unquote

from tapemagic.drawing.styles import QUIET, RULE
from tapemagic.explain.formatting import printable

SIZE = "font-size:13px"
FONT = f"{SIZE};line-height:1.45"
ROW = f"border-bottom:{RULE}"
HEAD = f"font-weight:600;{QUIET}"
LEFT = " style=text-align:left"
"""The attribute of cells with words: a notebook aligns cells right."""
CLASS = "tapemagic"
SHEET = (
    f"<style>.{CLASS}.{CLASS}.{CLASS} :is(td,th){{text-align:left;vertical-align:top;padding:2px 12px 2px 0;"
    "white-space:inherit;line-height:inherit}</style>"
)
"""The rule for the cells in a widget; elsewhere the notebook has a style for tables."""


def element(tag: str, style: str, content: str) -> str:
    """An HTML element with an inline style; the content is HTML."""
    opening = tag + attribute(style)
    return f"<{opening}>{content}</{tag}>"


def attribute(style: str) -> str:
    """The attribute for an inline style, with quotation marks only where they are needed; empty for no style."""
    quote = '"' * any(letter in style for letter in " \"'=`")
    return f" style={quote}{style}{quote}" if style else ""


def plain(words: str) -> str:
    """Text in one line as HTML."""
    return escape(printable(words))


def spaced(html: str) -> str:
    """HTML in which several spaces stay several, wherever it is shown."""
    return html.replace("  ", "\u00a0 ")


def table(head: str, body: str, style: str = "") -> str:
    """A table of HTML; `head` holds the cells of its one row of headings, `body` holds rows."""
    rows = f"<thead>{element('tr', f'{ROW};{HEAD}', head)}</thead><tbody>{body}</tbody>"
    return f'<table cellpadding="4" style="border-collapse:collapse;{FONT}{style}">{rows}</table>'


def live(content: str) -> str:
    """HTML of a report in a widget, with a rule for its cells, which have no style of their own there."""
    return f'{SHEET}<div class="{CLASS}" style="{FONT}">{content}</div>'


def rows_of(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a line between its rows; the cells of `rows` are HTML."""
    lines = ("".join(f"<td>{cell}" for cell in cells) for cells in rows)
    body = "".join(element("tr", ROW, line) for line in lines)
    return table("".join(f"<th>{escape(words)}" for words in headings), body)


def listing(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    words: Collection[int] = (0,),
    style: str = SIZE,
    marks: Iterable[str] = (),
) -> str:
    """A table with the padding and the lines of the page's own tables, or a padding if it has none; all cells are HTML.

    The columns of `words`, by their places, are aligned left even where the page aligns cells right.
    A row that has only one cell, while there are more headings, goes over all columns.
    The `marks` are attributes of the rows, each with a space before it.
    """

    def line(tag: str, cells: Sequence[str], mark: str = "") -> str:
        if len(cells) == 1 < len(headings):
            return f"<tr{mark}><{tag} colspan={len(headings)}{LEFT}>{cells[0]}"
        row = (f"<{tag}{LEFT if k in words else ''}>{cell}" for k, cell in enumerate(cells))
        return f"<tr{mark}>{''.join(row)}"

    marked = zip(rows, chain(marks, repeat("")), strict=False)
    body = "".join(line("td", cells, mark) for cells, mark in marked)
    content = f"<thead>{line('th', headings)}</thead><tbody>{body}</tbody>"
    look = f"border-collapse:collapse;margin:0 0 6px;{style}"
    return element("table", look, content).replace("<table", "<table cellpadding=5", 1)


BESIDE = "beside"
"""The class of an image beside which its numbers stand; on paper it is left out."""


def image(svg: str, words: str, style: str, kind: str = "") -> str:
    """An SVG as an image in a data URI, with a text for those who cannot see it."""
    more = f" class={kind}" * bool(kind), attribute(style)
    return f'<img{more[0]} alt="{plain(words)}"{more[1]} src="{URI}{uri_data(svg)}">'


URI = "data:image/svg+xml,"


def uri_data(svg: str) -> str:
    """SVG as the data of a URI in an attribute: a quarter shorter than in base64.

    Only the signs with a meaning in URIs and in HTML are written otherwise.
    """
    data = svg.replace("%", "%25").replace("#", "%23").replace("'", "%27").replace('"', "'")
    return data.replace("&", "&amp;").replace("\n", " ")


def svg_of(source: str) -> str:
    """The SVG in the source of an image; empty if that is no such URI."""
    is_svg = source.startswith(URI)
    return unquote(source.removeprefix(URI).replace("'", '"')) if is_svg else ""


def aligned(rows: Sequence[Sequence[str]], right: bool = False) -> list[str]:
    """The lines of a table of text, in columns aligned left; with `right`, all but the first aligned right."""
    first, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pad = str.rjust if right else str.ljust
    cells = ([name.ljust(first), *map(pad, entries, widths)] for name, *entries in rows)
    return ["  ".join(line).rstrip() for line in cells]
