"""The variables of a report: a table with a row for every named value, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence

from tapemagic.drawing import values
from tapemagic.drawing.elements import element, escape_text, listing
from tapemagic.drawing.styles import QUIET, SMALL, TARGET, WATCHED
from tapemagic.drawing.thumbnails import legend
from tapemagic.explain.formatting import clipped, format_shape, printable
from tapemagic.report.findings import Findings
from tapemagic.report.glossary import explained, tooltip
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.variables.find_variables import NamedValue, not_finite

ROLES = {
    "watched": WATCHED,
    "variable": WATCHED,
    "target": TARGET,
    "computed": "",
    "constant": QUIET,
}
MAX_ROWS = 60
MAX_PICTURED = 12
"""The number of rows that have pictures."""
MAX_GOAL_LENGTH = 51


def text(findings: Findings) -> str:
    """Return the table of variables as text."""
    if not findings.variables:
        return ""
    rows = shown(findings.variables)
    lines = [headings(findings), *(_cells(row) for row in rows)]
    return "\n".join([*values.columns(_without_gradients(lines, findings)), *_more(findings)])


def html(findings: Findings) -> str:
    """Return the table of variables as HTML."""
    if not findings.variables:
        return ""
    rows = shown(findings.variables)
    values_bad, gradients_bad = not_finite(rows)
    # Only the first row of each role has the tooltip: notebooks store every byte.
    first_of_role = {row.role: k for k, row in reversed(list(enumerate(rows)))}
    lines = [
        _html_cells(
            row,
            k < MAX_PICTURED,
            row.index in values_bad,
            row.index in gradients_bad,
            first_of_role[row.role] == k,
        )
        for k, row in enumerate(rows)
    ]
    head, *body = _without_gradients(
        [tuple(explained(escape_text(x), "gradient") for x in headings(findings)), *lines], findings
    )
    notes = _more(findings)
    notes += legend(x for row in rows[:MAX_PICTURED] for x in (row.value, row.gradient))
    return listing(head, body) + "".join(element("div", SMALL, escape_text(note)) for note in notes)


def headings(findings: Findings) -> tuple[str, ...]:
    """The headings of the table, with the target of the gradients."""
    of = printable(f"gradient of {clipped(findings.goal, MAX_GOAL_LENGTH)}")
    return ("name", "role", "shape", "dtype", "value", of, "line")


def shown(rows: Sequence[NamedValue]) -> list[NamedValue]:
    """The rows that are shown: of many, watched values and targets first, in the order of the program."""
    rank = ("watched", "variable", "target", "computed", "constant")
    # sorted() is stable: within a role, the first rows of the program stay.
    chosen = sorted(rows, key=lambda row: rank.index(row.role))[:MAX_ROWS]
    return sorted(chosen, key=lambda row: row.index)


def _more(findings: Findings) -> list[str]:
    """A line on the rows that are not shown."""
    rest = len(findings.variables) - MAX_ROWS
    return [f"and {rest:,} more"] if rest > 0 else []


def _without_gradients(rows: list[tuple[str, ...]], findings: Findings) -> list[tuple[str, ...]]:
    """The table without the column of gradients, if there is no target."""
    return rows if findings.targets else [row[:5] + row[6:] for row in rows]


def _cells(row: NamedValue) -> tuple[str, ...]:
    """A row of the table as text."""
    value = values.text(row.value)
    return (
        *_first(row),
        f"{row.reads} when used, {value} now" if row.reads else value,
        ""
        if not row.has_gradient
        else "None"
        if row.gradient is None
        else values.text(row.gradient),
        _line(row),
    )


def _html_cells(
    row: NamedValue, pictured: bool, bad_value: bool, bad_gradient: bool, has_tooltip: bool
) -> tuple[str, ...]:
    """A row of the table as HTML."""
    name, role, shape, dtype = map(escape_text, _first(row))
    role = element("span", ROLES[row.role], role) if ROLES[row.role] else role
    if has_tooltip:
        role = tooltip("Variable" if row.role == "variable" else row.role, role)
    before, after = (escape_text(f"{row.reads} when used, "), " now") if row.reads else ("", "")
    return (
        f"<code>{name}</code>",
        role,
        shape,
        dtype,
        before + values.html(row.value, pictured, bad_value) + after,
        _html_gradient(row.gradient, pictured, bad_gradient) if row.has_gradient else "",
        _line(row),
    )


def _html_gradient(gradient: Summary | None, pictured: bool, bad: bool) -> str:
    return "None" if gradient is None else values.html(gradient, pictured, bad)


def _first(row: NamedValue) -> tuple[str, ...]:
    return printable(row.name), row.role, format_shape(row.shape), row.dtype


def _line(row: NamedValue) -> str:
    return "" if row.line is None else str(row.line)
