"""Converts the HTML elements that reports use to LaTeX, with pictures drawn by PGF."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

from tapemagic.drawing.elements import BESIDE, svg_of
from tapemagic.drawing.pgf import pgf
from tapemagic.drawing.picture import UNIT, Picture, read
from tapemagic.drawing.tex import tex

COLOR = re.compile(r"(?:^|;)color:#([0-9a-fA-F]{6})")
GRAPH = "%graph\n"
"""A comment before pictures by Graphviz: nbval doesn't compare what follows it."""
CHARACTERS_PER_LINE = 92
"""The approximate number of letters in a line of a page."""
BLOCKS = {"div", "p", "ol", "ul", "li", "pre", "details", "summary"}
BOLD = {"b", "strong", "th", "summary"}
SPACES = re.compile(r"[ \t\n]+")


@dataclass
class Table:
    """The rows of a table while it is parsed: for each cell its LaTeX and its number of characters."""

    rows: list[list[tuple[str, int]]] = field(default_factory=list)
    heads: int = 0

    def latex(self, inner: bool) -> str:
        """Return the table as LaTeX: over several pages, or inside a cell of an outer table."""
        rows = [row for row in self.rows if row]
        if not rows:
            return ""
        count = max(map(len, rows))
        widest = [max((row[i][1] for row in rows if i < len(row)), default=1) for i in range(count)]
        columns = "l" * count
        if not inner and sum(widest) + 2 * count > CHARACTERS_PER_LINE:
            columns = "".join(f"p{{{share:.2f}\\linewidth}}" for share in shares(widest))
        lines = [" & ".join(cell for cell, _ in row) + "\\\\" for row in rows]
        if self.heads:
            lines[self.heads - 1] += "\\hline" + "\\endhead" * (not inner)
        body = "\n".join(lines)
        kind = "tabular" if inner else "longtable"
        place = "[t]" if inner else "[l]"
        return f"\\begin{{{kind}}}{place}{{@{{}}{columns}@{{}}}}\n{body}\n\\end{{{kind}}}"


def shares(widest: list[int]) -> list[float]:
    """Divide a line among columns: narrow columns get the width they need, wide ones share the rest."""
    count = len(widest)
    room = 1 - 0.03 * count
    # Measured in characters of an average width, so a column gets 5 % more than that.
    needs = [0.02 + 1.05 * width / CHARACTERS_PER_LINE for width in widest]
    fair, left, widths = room / count, room, dict[int, float]()
    for rank, i in enumerate(sorted(range(count), key=needs.__getitem__)):
        fair = left / (count - rank)
        widths[i] = min(needs[i], fair)
        left -= widths[i]
    return [widths[i] for i in range(count)]


class _Converter(HTMLParser):
    """Converts HTML to LaTeX."""

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
        """Convert a document."""
        self.feed(html)
        self.close()
        return "".join(self._parts[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open the LaTeX of an element."""
        attributes = {key: value or "" for key, value in attrs}
        if tag in {"td", "th", "tr"}:
            self._end_cell()
        if tag == "img":
            self._image(attributes)
        elif tag == "br":
            self._break()
        elif tag == "table":
            self._tables.append(Table())
        elif tag == "thead" and self._tables:
            self._tables[-1].heads = -1
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag not in {"tbody", "thead"}:
            self._open(tag, attributes)
        # The content of a style sheet is read like text, and thrown away at its end.
        if tag == "style":
            self._parts.append([])

    def _open(self, tag: str, attributes: Mapping[str, str]) -> None:
        style = attributes.get("style", "").replace(" ", "")
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
        if color := COLOR.search(style):
            begin += f"\\color[HTML]{{{color[1].upper()}}}"
        if begin:
            self._parts[-1].append("{" + begin)
        self._ends.append((tag, ("}" if begin else "") + "p" * is_literal))

    def handle_endtag(self, tag: str) -> None:
        """Close the LaTeX of an element."""
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
        """Close a cell without an end tag, which HTML allows."""
        if self._ends and (tag := self._ends[-1][0]) in {"td", "th"}:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        """Append the text of an element as LaTeX."""
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
        """End the current line, if it isn't empty."""
        parts, end = self._parts[-1], self._line_end()
        if parts and parts[-1] != end:
            parts.append(end)

    def _image(self, attributes: Mapping[str, str]) -> None:
        """Draw an SVG; of other images, append the alternative text. Images next to their numbers are omitted."""
        svg = svg_of(attributes.get("src", ""))
        if attributes.get("class") == BESIDE:
            return
        try:
            picture = self._pictures.get(svg) or read(svg)
        except ValueError:
            self._parts[-1].append(tex(attributes.get("alt", "")))
            return
        self._parts[-1].append(f"{GRAPH if svg in self._pictures else ''}{pgf(picture)}")
        # A character is about 5 points wide.
        self._lengths[-1] += picture.width // (5 * UNIT)


SHORT = "\\let\\B\\bfseries\\let\\T\\ttfamily"
"""The short names of fonts, which must be defined once, in a group."""


def converted(html: str, pictures: Mapping[str, Picture]) -> str:
    """Convert HTML to LaTeX.

    - `pictures`: The SVG of images that were read already.
    """
    return _Converter(pictures).result(html)
