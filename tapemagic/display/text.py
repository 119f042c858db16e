"""Findings as plain text."""

from __future__ import annotations

from tapemagic.analysis.formatting import dimensions, printable
from tapemagic.analysis.report.derivatives import Derivative
from tapemagic.analysis.report.findings import Findings
from tapemagic.analysis.report.graph import Value
from tapemagic.display import matrices
from tapemagic.display.elements import aligned

HEADINGS = ("name", "role", "shape", "dtype", "value", "line")


def text(findings: Findings) -> str:
    """The whole report as text: the headline, the variables, the gradients, the full matrices."""
    parts = [headline(findings)]
    if findings.note:
        parts.append(findings.note)
    if findings.variables:
        parts.append("\n".join(aligned([HEADINGS, *map(row, findings.variables)])))
    if findings.derivatives:
        parts.append("\n".join(map(equation, findings.derivatives)))
    if findings.matrices:
        parts.append(matrices.text(findings.matrices))
    return "\n\n".join(parts)


def headline(findings: Findings) -> str:
    """One line on the number of recorded operations, watched variables, and the targets."""
    count = findings.operations
    watched = sum(value.role in ("watched", "variable") for value in findings.variables)
    recorded = f"{count:,} operation{'s' * (count != 1)} recorded"
    if findings.drawn != count:
        recorded += f", {findings.drawn:,} drawn"
    plural = "s" * (len(findings.targets) > 1)
    goal = f", target{plural} {', '.join(findings.targets)}" if findings.targets else ""
    return printable(f"%%tape: {recorded}, {watched} watched{goal}")


def row(value: Value) -> tuple[str, ...]:
    """A row of the table of variables."""
    line = "" if value.line is None else str(value.line)
    return (
        printable(value.name),
        value.role,
        dimensions(value.shape),
        value.dtype,
        value.text,
        line,
    )


def equation(derivative: Derivative) -> str:
    """A derivative as an equation, with the reason where it is None."""
    if derivative.text is None:
        return printable(f"{derivative.symbol} = None: {derivative.reason}")
    return printable(f"{derivative.symbol} = {derivative.text}{remark(derivative)}")


def remark(derivative: Derivative) -> str:
    """The note and the reason that follow the value of a derivative; empty if there are none."""
    note = f", {derivative.note}" if derivative.note else ""
    return f"{note}; {derivative.reason}" if derivative.reason else note
