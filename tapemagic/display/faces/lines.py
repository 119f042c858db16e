"""The lines of a report: the source of the cell, with the values and gradients that each line made."""

from __future__ import annotations

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.findings import Findings
from tapemagic.analysis.report.lines import LineValue, SourceLine
from tapemagic.display.elements import aligned, element, plain
from tapemagic.display.styles import BAD, NAME, QUIET, RULE

TITLE = "Lines"
WIDEST = 48
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
        cells = [(_made(value), value.gradient) for value in line.values] or [("", "")]
        if line.values and len(source) > WIDEST:
            rows.append((str(line.number), source, "", ""))
            cells = [("", ""), *cells][1:]
            rows += [("", "", *map(printable, cell)) for cell in cells]
            continue
        rows.append((str(line.number), source, *map(printable, cells[0])))
        rows += [("", "", *map(printable, cell)) for cell in cells[1:]]
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
    heading = "".join(f"<th>{plain(words)}" for words in ("", "", "value", _heading(findings)))
    rows = [f'<tr style="text-align:left;{QUIET}">{heading}</tr>']
    for line, more in _with_gaps(findings.source_lines):
        if more:
            rows.append(f'<tr style="{QUIET}"><td><td>… {more:,} more lines</tr>')
        rows.append(_row(line))
    style = f"{NAME};border-collapse:collapse;font-size:12px;line-height:1.5;text-align:left"
    table = f'<table cellpadding="2" style="{style}">{"".join(rows)}</table>'
    return element("div", "overflow-x:auto", table)


def _row(line: SourceLine) -> str:
    source = plain(_source(line))
    if line.stopped:
        source = element("span", BAD, source)
    made = "<br>".join(
        plain(_made(value)) if value.is_finite else element("span", BAD, plain(_made(value)))
        for value in line.values
    )
    gradients = "<br>".join(
        "<b>None</b>" if value.gradient == "None" else plain(value.gradient)
        for value in line.values
    )
    wrap = ' style="white-space:pre-wrap"' if line.values else ""
    style = f"text-align:left;vertical-align:top;border-top:{RULE}"
    return f'<tr style="{style}"><td>{line.number}<td>{source}<td{wrap}>{made}<td{wrap}>{gradients}</tr>'


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
    last = f"{value.symbol} = {value.value}" if value.symbol else value.value
    if value.runs == 1:
        return last
    first = f"first {value.first}, " if value.first else ""
    return f"{value.symbol}: {value.runs:,} times; {first}last {value.value}"


def _with_gaps(lines: tuple[SourceLine, ...]) -> list[tuple[SourceLine, int]]:
    """The lines, each with the number of lines that are left out before it."""
    numbers = [0, *(line.number for line in lines)]
    return [(line, line.number - before - 1) for before, line in zip(numbers, lines, strict=False)]
