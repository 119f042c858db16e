"""The lines of a report: the source of the cell, with the values and gradients that each line made."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from tapemagic.drawing.elements import element
from tapemagic.drawing.styles import BAD, NAME
from tapemagic.explain.formatting import printable
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.lines.find_lines import LineValue, SourceLine

STYLE = f"{NAME};font-size:12px;margin:0;overflow-x:auto"
BOLD = "font-weight:600"
MAX_WIDTH = 60
"""The width of the source in text; the values of a longer line are shown below it."""


class Row(NamedTuple):
    """The cells of a row as text, in which the value, or the source where the cell stopped, may be marked as bad."""

    number: str = ""
    source: str = ""
    value: str = ""
    gradient: str = ""
    stopped: bool = False
    bad: bool = False
    line: int = 0
    """The number of the line, or 0 for headings."""

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The cells from left to right."""
        return self.number, self.source, self.value, self.gradient


def text(findings: Findings) -> str:
    """The lines as text, or '' if none made a value."""
    rows = rows_of(findings)
    return "\n".join("".join(cells).rstrip() for cells in padded(rows))


def html(findings: Findings) -> str:
    """The lines as HTML, in columns of text, or '' if none made a value."""
    rows = rows_of(findings)
    lines = map(line_html, rows, padded(rows))
    return element("pre", STYLE, "\n".join(lines)) if rows else ""


def rows_of(findings: Findings) -> list[Row]:
    """Return the headings and the lines, or no rows if no line made a value."""
    if not any(line.values for line in findings.source_lines):
        return []
    rows = [Row(value="value", gradient=_heading(findings))]
    for line, more in _with_gaps(findings.source_lines):
        if more:
            rows.append(Row(source=f"… {more:,} more lines"))
        source = _source(line)
        values = [
            (_value_text(value), printable(value.gradient), not value.is_finite)
            for value in line.values
        ]
        if not values or len(source) > MAX_WIDTH:
            values.insert(0, ("", "", False))
        value, gradient, bad = values[0]
        rows.append(Row(str(line.number), source, value, gradient, line.stopped, bad, line.number))
        rows += [
            Row("", "", value, gradient, False, bad, line.number)
            for value, gradient, bad in values[1:]
        ]
    return rows


def padded(rows: list[Row]) -> list[tuple[str, ...]]:
    """The cells with the spaces between them; a source wider than `MAX_WIDTH` has its own line."""
    if not rows:
        return []
    # One very long line must not push the values of all lines out of view.
    short = [row.cells for row in rows if len(row.source) <= MAX_WIDTH]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)]
    widths[0] = max(len(row.number) for row in rows)
    return [
        tuple(f"{cell:{width}}  " for cell, width in zip(row.cells, widths, strict=True))
        for row in rows
    ]


def line_html(row: Row, padded: tuple[str, ...]) -> str:
    """A row as HTML, without the spaces at its end."""
    left = len("".join(padded).rstrip())
    styles = ("", BAD * row.stopped, BAD * row.bad, BOLD * (row.gradient == "None"))
    parts = []
    for cell, space, style in zip(row.cells, padded, styles, strict=True):
        marked = element("span", style, escape(cell)) if style and cell else escape(cell)
        parts.append(marked + space[len(cell) : max(left, len(cell))])
        left -= len(space)
    return "".join(parts)


def _heading(findings: Findings) -> str:
    return printable(f"gradient of {findings.goal}") if findings.targets else ""


def _source(line: SourceLine) -> str:
    return printable(line.text.expandtabs(4)) + "  ← stopped here" * line.stopped


def _value_text(value: LineValue) -> str:
    """The name of a value, the value, and how often the line ran."""
    if value.runs == 1:
        return printable(f"{value.symbol} = {value.value}")
    first = f"first {value.first}, " if value.first else ""
    return printable(f"{value.symbol}: {value.runs:,} times; {first}last {value.value}")


def _with_gaps(lines: tuple[SourceLine, ...]) -> list[tuple[SourceLine, int]]:
    """Return the lines, each with the number of lines omitted before."""
    numbers = [0, *(line.number for line in lines)]
    return [(line, line.number - before - 1) for before, line in zip(numbers, lines, strict=False)]
