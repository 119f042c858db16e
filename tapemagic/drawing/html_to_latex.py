"""HTML, of the elements that a report is made of, as LaTeX with the pictures drawn by pgf."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

from tapemagic.drawing.elements import BESIDE, svg_of
from tapemagic.drawing.pgf import pgf
from tapemagic.drawing.picture import UNIT, Picture, read
from tapemagic.drawing.tex import tex

COLOUR = re.compile(r"(?:^|;)color:#([0-9a-fA-F]{6})")
GRAPH = "%graph\n"
"""The comment in front of pictures that Graphviz draws, for the plug-in of nbval."""
LINE = 92
"""The approximate number of letters in a line of a page."""
BLOCKS = {"div", "p", "ol", "ul", "li", "pre", "details", "summary"}
BOLD = {"b", "strong", "th", "summary"}
SPACES = re.compile(r"[ \t\n]+")


@dataclass
class Table:
    """The rows of a table while it is read: for each cell its LaTeX and the number of its letters."""

    rows: list[list[tuple[str, int]]] = field(default_factory=list)
    heads: int = 0

    def latex(self, inner: bool) -> str:
        """The table as LaTeX: over several pages, or inside the cell of another one."""
        rows = [row for row in self.rows if row]
        if not rows:
            return ""
        count = max(map(len, rows))
        widest = [max((row[i][1] for row in rows if i < len(row)), default=1) for i in range(count)]
        columns = "l" * count
        if not inner and sum(widest) + 2 * count > LINE:
            columns = "".join(f"p{{{share:.2f}\\linewidth}}" for share in shares(widest))
        lines = [" & ".join(cell for cell, _ in row) + "\\\\" for row in rows]
        if self.heads:
            lines[self.heads - 1] += "\\hline" + "\\endhead" * (not inner)
        body = "\n".join(lines)
        kind = "tabular" if inner else "longtable"
        place = "[t]" if inner else "[l]"
        return f"\\begin{{{kind}}}{place}{{@{{}}{columns}@{{}}}}\n{body}\n\\end{{{kind}}}"


def shares(widest: list[int]) -> list[float]:
    """The shares of a line for columns: the narrow ones have what they need, and the others divide the rest."""
    count = len(widest)
    room = 1 - 0.03 * count
    needs = [0.02 + 1.05 * width / LINE for width in widest]
    fair, left, given = room / count, room, dict[int, float]()
    for rank, i in enumerate(sorted(range(count), key=needs.__getitem__)):
        fair = left / (count - rank)
        given[i] = min(needs[i], fair)
        left -= given[i]
    return [given[i] for i in range(count)]


class _Converter(HTMLParser):
    """Writes HTML as LaTeX."""

    def __init__(self, pictures: Mapping[str, Picture]) -> None:
        super().__init__()
        self._pictures = pictures
        self._parts: list[list[str]] = [[]]
        self._lengths: list[int] = [0]
        self._tables: list[Table] = []
        self._ends: list[tuple[str, str]] = []
        self._numbers: list[int] = []
        self._is_literal = 0

    def result(self, html: str) -> str:
        """The LaTeX of some HTML."""
        self.feed(html)
        self.close()
        return "".join(self._parts[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        given = {key: value or "" for key, value in attrs}
        if tag in {"td", "th", "tr"}:
            self._end_cell()
        if tag == "img":
            self._image(given)
        elif tag == "br":
            self._break()
        elif tag == "table":
            self._tables.append(Table())
        elif tag == "thead" and self._tables:
            self._tables[-1].heads = -1
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag not in {"tbody", "thead"}:
            self._open(tag, given)
        if tag == "style":
            self._parts.append([])

    def _open(self, tag: str, given: Mapping[str, str]) -> None:
        style = given.get("style", "").replace(" ", "")
        if tag in {"td", "th"}:
            self._parts.append([])
            self._lengths.append(0)
        elif tag in BLOCKS:
            self._break()
        if tag in {"ol", "ul"}:
            self._numbers.append(0)
        elif tag == "li" and self._numbers:
            self._numbers[-1] += 1
            self._parts[-1].append(f"{self._numbers[-1]}.~")
        is_literal = "white-space:pre" in style or tag == "pre"
        self._is_literal += is_literal
        begin = ""
        if is_literal or tag == "code" or "monospace" in style:
            begin += "\\T "
        if tag in BOLD or "font-weight:600" in style or "font-weight:bold" in style:
            begin += "\\B "
        if colour := COLOUR.search(style):
            begin += f"\\color[HTML]{{{colour[1].upper()}}}"
        if begin:
            self._parts[-1].append("{" + begin)
        self._ends.append((tag, ("}" if begin else "") + "p" * is_literal))

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if tag in {"tr", "thead", "table"}:
            self._end_cell()
        if tag == "thead" and self._tables:
            self._tables[-1].heads = len(self._tables[-1].rows)
        elif tag == "table" and self._tables:
            table = self._tables.pop()
            self._parts[-1].append(table.latex(bool(self._tables)))
            self._lengths[-1] += 20
            self._break()
        elif self._ends and self._ends[-1][0] == tag:
            name, end = self._ends.pop()
            if name == "style":
                self._parts.pop()
            self._is_literal -= end.endswith("p")
            self._parts[-1].append(end.removesuffix("p"))
            if name in {"td", "th"} and self._tables:
                cell = "".join(self._parts.pop()).removesuffix("\\newline ")
                self._tables[-1].rows[-1].append((cell, self._lengths.pop()))
            elif name in {"ol", "ul"}:
                self._numbers.pop()
            if name in BLOCKS:
                self._break()

    def _end_cell(self) -> None:
        """End a cell of which HTML leaves out the end."""
        if self._ends and (tag := self._ends[-1][0]) in {"td", "th"}:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        """Write text."""
        if self._is_literal:
            lines = [tex(line).replace(" ", "~") for line in data.split("\n")]
            text = self._line_end().join(lines)
        else:
            text = " ".join(map(tex, SPACES.split(data)))
        self._parts[-1].append(text)
        self._lengths[-1] += len(data)

    def _line_end(self) -> str:
        return "\\newline " if self._tables else "\\par\n"

    def _break(self) -> None:
        """End a line, if one has begun."""
        parts, end = self._parts[-1], self._line_end()
        if parts and parts[-1] != end:
            parts.append(end)

    def _image(self, given: Mapping[str, str]) -> None:
        """Draw a picture, but none beside which its numbers stand; write the words for one that is no SVG."""
        svg = svg_of(given.get("src", ""))
        if given.get("class") == BESIDE:
            return
        try:
            picture = self._pictures.get(svg) or read(svg)
        except ValueError:
            self._parts[-1].append(tex(given.get("alt", "")))
            return
        self._parts[-1].append(f"{GRAPH if svg in self._pictures else ''}{pgf(picture)}")
        self._lengths[-1] += picture.width // (5 * UNIT)


SHORT = "\\let\\B\\bfseries\\let\\T\\ttfamily"
"""The short names of fonts, to be defined once, in a group."""


def converted(html: str, pictures: Mapping[str, Picture]) -> str:
    """Write HTML as LaTeX.

    Parameters
    ----------
    html : str
    pictures : mapping of str to Picture
        The SVG of images that were read already.

    Returns
    -------
    str
    """
    return _Converter(pictures).result(html)
