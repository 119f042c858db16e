"""Jacobians and Hessians as text and static HTML: small matrices as tables, large ones as heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby, repeat

from tapemagic.drawing.elements import FONT, aligned, element, escape_text, image, table
from tapemagic.drawing.heatmap import heatmap
from tapemagic.drawing.styles import GROUND, NAME, QUIET, SMALL
from tapemagic.explain.formatting import format_shape, printable
from tapemagic.report.tabs.gradients.matrices import HeatMap, Matrix

BLOCK = "display:inline-block;vertical-align:top;margin:14px 40px 0 0;max-width:100%;overflow:auto"
LABEL = f"padding:2px 10px 2px 0;text-align:left;font-weight:400;{QUIET};{NAME}"
TOP = f"padding:2px 10px;text-align:right;font-weight:400;{QUIET};{NAME}"
ENTRY = "padding:2px 10px;text-align:right;font-variant-numeric:tabular-nums"
EDGE = f"1px solid {GROUND}"


def text(matrices: Sequence[Matrix]) -> str:
    """Return the matrices as text, with empty lines around each that has several lines."""
    # Matrices of one line need no empty lines between them.
    blocks = map(_lines, matrices)
    groups = groupby(blocks, lambda block: "\n" in block)
    return "\n\n".join(("\n\n" if long else "\n").join(group) for long, group in groups)


def _lines(matrix: Matrix) -> str:
    """Return a matrix as text: a heading, aligned columns, and notes."""
    heading = f"{_kind(matrix)} {matrix.symbol}"
    if matrix.reason is not None:
        return printable(f"{heading} = None: {matrix.reason}")
    if not matrix.cells:
        return printable(f"{heading}, {_size(matrix)}: {_notes(matrix)}")
    if _is_number(matrix):
        lines = [f"{heading} = {matrix.cells[0][0]}"]
    else:
        lines = [f"{heading}, {_size(matrix)}", *_columns(matrix)]
    return "\n".join(map(printable, filter(None, [*lines, _notes(matrix)])))


def html(matrices: Sequence[Matrix]) -> str:
    """Return the matrices as HTML, with one line for each target."""
    groups = groupby(matrices, lambda matrix: (matrix.kind, matrix.target))
    lines = ["".join(map(_block, group)) for _, group in groups]
    return "".join(element("div", FONT, line) for line in lines)


def _block(matrix: Matrix) -> str:
    """Return a matrix as HTML: a heading, a table or heat map, and notes."""
    symbol = _cell("span", NAME, matrix.symbol)
    heading, size, notes = f"<b>{_kind(matrix)}</b> {symbol}", _size(matrix), _notes(matrix)
    if matrix.reason is not None:
        parts = [f"{heading} = <b>None</b> {_quiet(matrix.reason)}"]
    elif not matrix.cells:
        parts = [f"{heading}, {_quiet(f'{size}: {notes}')}"]
    elif _is_number(matrix):
        parts = [f"{heading} = {escape(matrix.cells[0][0])}", _caption(notes)]
    elif matrix.heat is None:
        parts = [f"{heading}, {_quiet(size)}", _table(matrix), _caption(notes)]
    else:
        legend = "; ".join(filter(None, [notes, _legend(matrix.heat)]))
        parts = [f"{heading}, {_quiet(size)}", _picture(matrix, matrix.heat), _caption(legend)]
    return element("div", BLOCK, "".join(parts))


def _kind(matrix: Matrix) -> str:
    return matrix.kind.capitalize()


def _size(matrix: Matrix) -> str:
    """Return the shape of a matrix, and the range of its entries if some aren't shown."""
    return ", ".join(filter(None, [format_shape(matrix.shape), matrix.extent]))


def _notes(matrix: Matrix) -> str:
    notes = [*matrix.notes, *([matrix.check.text] if matrix.check else [])]
    return "; ".join(notes) or ("" if matrix.cells else "empty")


def _is_number(matrix: Matrix) -> bool:
    return len(matrix.rows) == len(matrix.columns) == 1


def _columns(matrix: Matrix) -> list[str]:
    """Return the lines of a matrix in aligned columns, with the names of its rows and columns."""
    rows = [("", *matrix.columns)]
    rows += [(name, *entries) for name, entries in zip(matrix.rows, matrix.cells, strict=True)]
    return aligned(rows, right=True)


def _table(matrix: Matrix) -> str:
    """Return an HTML table of the entries, between two vertical lines."""
    last = len(matrix.columns) - 1
    styles = [
        ENTRY + f";border-left:{EDGE}" * (j == 0) + f";border-right:{EDGE}" * (j == last)
        for j in range(last + 1)
    ]
    head = "".join(_cell("th", TOP, name) for name in ("", *matrix.columns))
    rows = [
        _cell("th", LABEL, name) + "".join(map(_cell, repeat("td"), styles, entries))
        for name, entries in zip(matrix.rows, matrix.cells, strict=True)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return table(head, body, ";margin:4px 0")


def _cell(tag: str, style: str, words: str) -> str:
    return element(tag, style, escape_text(words))


def _picture(matrix: Matrix, heat: HeatMap) -> str:
    """Return the heat map as an image with an alternative text."""
    words = f"Heat-map of the {_kind(matrix)} {matrix.symbol}: {_size(matrix)}"
    return image(heatmap(matrix, heat.cells), words, "display:block;max-width:none;margin:4px 0")


def _legend(heat: HeatMap) -> str:
    """Explain the cells of a heat map."""
    rows, columns = heat.block
    what = ["absolute values"] if heat.absolute else []
    if (rows, columns) != (1, 1):
        what.append(f"each cell is the mean of {rows}×{columns} entries")
    what.append("blue: negative, white: zero, orange: positive")
    if not all(math.isfinite(x) for row in heat.cells for x in row):
        what[-1] += ", checkered: nan or inf"
    return "; ".join(what)


def _caption(words: str) -> str:
    return _cell("div", f"{SMALL};max-width:420px", words) if words else ""


def _quiet(words: str) -> str:
    return _cell("span", QUIET, words)
