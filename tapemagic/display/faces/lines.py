"""The lines of a report: the source of the cell, with the values and gradients that each line made."""

from __future__ import annotations

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.findings import Findings
from tapemagic.analysis.report.lines import LineValue, SourceLine
from tapemagic.display.elements import aligned, element, plain, spaced
from tapemagic.display.styles import BAD, CODE, GROUND, QUIET

TITLE = "Lines"
TABLE = f"{CODE};border-collapse:collapse;font-size:12px;margin:0"
LINE = f"1px solid {GROUND}66"
WIDEST = 60
"""The width of the source in text; values of longer lines stand below them."""


def text(findings: Findings) -> str:
    """The lines as text; empty if none made a value."""
    if not any(line.values for line in findings.source_lines):
        return ""
    rows = [("", "", "value", _heading(findings))]
    for line, more in _with_gaps(findings.source_lines):
        if more:
            rows.append(("", f"… {more:,} more lines", "", ""))
        source = _source(line)
        cells = [(_made(value), printable(value.gradient)) for value in line.values] or [("", "")]
        if line.values and len(source) > WIDEST:
            cells.insert(0, ("", ""))
        rows.append((str(line.number), source, *cells[0]))
        rows += [("", "", *cell) for cell in cells[1:]]
    return _columns(rows)


def _columns(rows: list[tuple[str, str, str, str]]) -> str:
    """The rows in columns, of which the source is no wider than `WIDEST`."""
    wide = {k: row[1] for k, row in enumerate(rows) if len(row[1]) > WIDEST}
    short = [(row[0], "" if k in wide else row[1], *row[2:]) for k, row in enumerate(rows)]
    number = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{rows[k][0].ljust(number)}  {wide[k]}" if k in wide else line
        for k, line in enumerate(aligned(short))
    )


def html(findings: Findings) -> str:
    """The lines as HTML; empty if none made a value."""
    if not any(line.values for line in findings.source_lines):
        return ""
    heads = ("", "value", _heading(findings))
    rows = ["".join(f"<th>{plain(words)}</th>" for words in heads)]
    width = len(str(findings.source_lines[-1].number))
    for line, more in _with_gaps(findings.source_lines):
        if more:
            rows.append(f'<td colspan="3" style="{QUIET}">… {more:,} more lines</td>')
        rows += _cells(line, width)
    body = "".join(f'<tr style="border-top:{LINE}">{row}</tr>' for row in rows)
    return element("div", "overflow-x:auto", f'<table style="{TABLE}">{body}</table>')


def _cells(line: SourceLine, width: int) -> list[str]:
    """The cells of a row; of two rows, where the source is long."""
    source = spaced(_marked(_source(line), not line.stopped))
    number = element("span", QUIET, spaced(f"{line.number:>{width}}  "))
    alone = f'<td colspan="3">{number}{source}</td>'
    if not line.values:
        return [alone]
    made = "<br>".join(_marked(_made(value), value.is_finite) for value in line.values)
    gradients = "<br>".join(
        "<b>None</b>" if value.gradient == "None" else plain(value.gradient)
        for value in line.values
    )
    beside = f"<td>{made}</td><td>{gradients}</td>"
    if len(line.text) > WIDEST:
        return [alone, f"<td></td>{beside}"]
    return [f'<td style="white-space:pre">{number}{source}</td>{beside}']


def _marked(words: str, is_plain: bool) -> str:
    return plain(words) if is_plain else element("span", BAD, plain(words))


def _heading(findings: Findings) -> str:
    goal = ", ".join(findings.targets)
    if not goal:
        return ""
    many = len(findings.targets) > 1 or any(entry.summed for entry in findings.derivatives[:1])
    return printable(f"gradient of {'the sum of ' * many}{goal}")


def _source(line: SourceLine) -> str:
    return printable(line.text.expandtabs(4)) + "  ← stopped here" * line.stopped


def _made(value: LineValue) -> str:
    """The name of a value, the value, and how often the line ran."""
    if value.runs == 1:
        return printable(f"{value.symbol} = {value.value}")
    first = f"first {value.first}, " if value.first else ""
    return printable(f"{value.symbol}: {value.runs:,} times; {first}last {value.value}")


def _with_gaps(lines: tuple[SourceLine, ...]) -> list[tuple[SourceLine, int]]:
    """The lines, each with the number of lines that are left out before it."""
    numbers = [0, *(line.number for line in lines)]
    return [(line, line.number - before - 1) for before, line in zip(numbers, lines, strict=False)]
