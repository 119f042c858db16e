"""The HTML elements and the aligned columns that several forms of a report share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import chain, repeat
from urllib.parse import unquote

from tapemagic.drawing.styles import QUIET, RULE
from tapemagic.explain.formatting import printable, replace_bars

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
    """Wrap HTML in an element with an inline style."""
    opening = tag + attribute(style)
    return f"<{opening}>{content}</{tag}>"


def attribute(style: str) -> str:
    """Return the attribute for an inline style, quoted only if needed, or '' without a style."""
    # HTML allows attributes without quotation marks, which take two bytes each in the JSON of a notebook.
    quote = '"' * any(letter in style for letter in " \"'=`")
    return f" style={quote}{style}{quote}" if style else ""


def escape_text(words: str) -> str:
    """Escape text as one line of HTML, with one line over each name with a bar."""
    return replace_bars(printable(words), _overlined, escape)


def _overlined(name: str) -> str:
    # <u> marks text without a meaning of its own; a sanitizer that removes the style leaves a line under the name.
    return f"<u style=text-decoration:overline>{escape(name)}</u>"


def table(head: str, body: str, style: str = "") -> str:
    """Return an HTML table; `head` holds the cells of its one row of headings, `body` its rows."""
    rows = f"<thead>{element('tr', f'{ROW};{HEAD}', head)}</thead><tbody>{body}</tbody>"
    return f'<table cellpadding="4" style="border-collapse:collapse;{FONT}{style}">{rows}</table>'


def live(content: str) -> str:
    """Wrap the HTML of a report in a widget, where a style sheet sets its cells."""
    return f'{SHEET}<div class="{CLASS}" style="{FONT}">{content}</div>'


def rows_of(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with lines between rows; the cells are HTML."""
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
    """Return a table that looks like those of the page; all cells are HTML.

    The columns of `words`, by their places, are aligned left even where the page aligns cells right.
    A row that has only one cell, while there are more headings, goes over all columns.
    The `marks` are attributes of the rows, each with a space before it.
    """

    def line(tag: str, cells: Sequence[str], mark: str = "") -> str:
        if len(cells) == 1 < len(headings):
            return f"<tr{mark}><{tag} colspan={len(headings)}{LEFT}>{cells[0]}"
        row = (f"<{tag}{LEFT if k in words else ''}>{cell}" for k, cell in enumerate(cells))
        return f"<tr{mark}>{''.join(row)}"

    # HTML doesn't require the end tags of cells and rows, and notebooks store every byte.
    marked = zip(rows, chain(marks, repeat("")), strict=False)
    body = "".join(line("td", cells, mark) for cells, mark in marked)
    content = f"<thead>{line('th', headings)}</thead><tbody>{body}</tbody>"
    look = f"border-collapse:collapse;margin:0 0 6px;{style}"
    return element("table", look, content).replace("<table", "<table cellpadding=5", 1)


BESIDE = "beside"
"""The class of an image whose numbers are next to it; LaTeX omits it."""


def image(svg: str, words: str, style: str, kind: str = "") -> str:
    """Return an SVG as an image in a data URI, with an alternative text."""
    more = f" class={kind}" * bool(kind), attribute(style)
    return f'<img{more[0]} alt="{escape(printable(words))}"{more[1]} src="{URI}{uri_data(svg)}">'


URI = "data:image/svg+xml,"


def uri_data(svg: str) -> str:
    """Escape SVG as the data of a URI in an attribute.

    Only the signs that have a meaning in URIs and HTML are escaped, so this is a quarter shorter than base64.
    """
    data = svg.replace("%", "%25").replace("#", "%23").replace("'", "%27").replace('"', "'")
    return data.replace("&", "&amp;").replace("\n", " ")


def svg_of(source: str) -> str:
    """Return the SVG in the source of an image, or '' if that isn't such a URI."""
    is_svg = source.startswith(URI)
    return unquote(source.removeprefix(URI).replace("'", '"')) if is_svg else ""


def aligned(rows: Sequence[Sequence[str]], right: bool = False) -> list[str]:
    """Align the columns of a table of text left; with `right`, all but the first one right."""
    first, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pad = str.rjust if right else str.ljust
    cells = ([name.ljust(first), *map(pad, entries, widths)] for name, *entries in rows)
    return ["  ".join(line).rstrip() for line in cells]
