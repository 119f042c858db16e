"""The variables of a report: a table with a row for every named value."""

from __future__ import annotations

from html import escape

from tapemagic.analysis.formatting import format_shape, printable
from tapemagic.analysis.report.findings import Findings
from tapemagic.analysis.report.graph import Value
from tapemagic.display.elements import aligned, element, rows_of
from tapemagic.display.styles import QUIET, TARGET, WATCHED

TITLE = "Variables"
HEADINGS = ("name", "role", "shape", "dtype", "value", "line")
ROLES = {
    "watched": WATCHED,
    "variable": WATCHED,
    "target": TARGET,
    "intermediate": "",
    "constant": QUIET,
}


def text(findings: Findings) -> str:
    """The table of variables as text; empty if there are none."""
    if not findings.variables:
        return ""
    return "\n".join(aligned([HEADINGS, *map(row, findings.variables)]))


def html(findings: Findings) -> str:
    """The table of variables as HTML; empty if there are none."""
    if not findings.variables:
        return ""
    rows = []
    for value in findings.variables:
        name, role, *rest = row(value)
        rows.append(
            [
                f"<code>{escape(name)}</code>",
                element("span", ROLES[value.role], escape(role)) if ROLES[value.role] else escape(role),
                *map(escape, rest),
            ]
        )
    return rows_of(HEADINGS, rows)


def row(value: Value) -> tuple[str, ...]:
    """A row of the table of variables."""
    line = "" if value.line is None else str(value.line)
    return (
        printable(value.name),
        value.role,
        format_shape(value.shape),
        value.dtype,
        value.text,
        line,
    )
