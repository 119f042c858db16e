"""The gradients of a report: values, or the reason for each None, and the full matrices."""

from __future__ import annotations

from html import escape

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.derivatives import Derivative
from tapemagic.analysis.report.findings import Findings
from tapemagic.display import matrices
from tapemagic.display.elements import element, plain, rows_of
from tapemagic.display.styles import NAME, QUIET

TITLE = "Gradients"


def text(findings: Findings) -> str:
    """The gradients as equations, and the full matrices; empty if there are none."""
    parts = ["\n".join(map(equation, findings.derivatives)), matrices.text(findings.matrices)]
    return "\n\n".join(filter(None, parts))


def html(findings: Findings) -> str:
    """The table of gradients, with a reason for every None, and the full matrices; empty if there are none."""
    if not findings.derivatives:
        return ""
    rows = []
    for entry in findings.derivatives:
        if entry.text is None:
            result = f"<b>None</b> {element('span', QUIET, escape(entry.reason or ''))}"
        else:
            result = escape(entry.text)
            if words := remark(entry):
                result += element("span", QUIET, plain(words))
        rows.append([element("span", NAME, plain(entry.symbol)), str(entry.order), result])
    return rows_of(("gradient", "order", "value"), rows) + matrices.html(findings.matrices)


def equation(derivative: Derivative) -> str:
    """A derivative as an equation, with the reason where it is None."""
    if derivative.text is None:
        return printable(f"{derivative.symbol} = None: {derivative.reason}")
    return printable(f"{derivative.symbol} = {derivative.text}{remark(derivative)}")


def remark(derivative: Derivative) -> str:
    """The note and the reason that follow the value of a derivative; empty if there are none."""
    note = f", {derivative.note}" if derivative.note else ""
    return f"{note}; {derivative.reason}" if derivative.reason else note
