"""The gradients of a report: values, or the reason for each None, and the full matrices."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.derivatives import Derivative
from tapemagic.analysis.report.findings import Findings
from tapemagic.analysis.report.own_gradients import OwnGradient
from tapemagic.display import matrices
from tapemagic.display.elements import element, plain, rows_of
from tapemagic.display.styles import NAME, QUIET

TITLE = "Gradients"
MOST_OWN = 30
"""The number of rows for gradients that the program took itself."""


def text(findings: Findings) -> str:
    """The gradients as equations, and the full matrices; empty if there are none."""
    parts = [
        "\n".join(map(equation, findings.derivatives)),
        own_text(findings.own_gradients),
        matrices.text(findings.matrices),
    ]
    return "\n\n".join(filter(None, parts))


def html(findings: Findings) -> str:
    """The table of gradients, with a reason for every None, and the full matrices; empty if there are none."""
    if not (findings.derivatives or findings.own_gradients):
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
    table = rows_of(("gradient", "order", "value"), rows) if rows else ""
    return table + own(findings.own_gradients) + matrices.html(findings.matrices)


def own_text(gradients: Sequence[OwnGradient]) -> str:
    """The gradients that the program took itself, as equations."""
    rest = len(gradients) - MOST_OWN
    more = [f"and {rest:,} more gradients of the cell"] if rest > 0 else []
    return "\n".join([*(printable(str(entry)) for entry in gradients[:MOST_OWN]), *more])


def own(gradients: Sequence[OwnGradient]) -> str:
    """The table of the gradients that the program took itself, with its tapes; empty if it took none."""
    if not gradients:
        return ""
    rows = []
    for entry in gradients[:MOST_OWN]:
        symbol = f"{entry.name} = {entry.symbol}" if entry.name else entry.symbol
        reason = element("div", QUIET, plain(entry.reason)) if entry.reason else ""
        origin = element("span", QUIET, plain(f", {entry.origin}"))
        value = "<b>None</b>" if entry.text is None else plain(entry.text)
        rows.append([element("span", NAME, plain(symbol)), value + origin + reason])
    rest = len(gradients) - MOST_OWN
    more = element("div", QUIET, f"and {rest:,} more") if rest > 0 else ""
    return rows_of(("in the cell", "value"), rows) + more


def equation(derivative: Derivative) -> str:
    """A derivative as an equation, with the reason where it is None."""
    if derivative.text is None:
        return printable(f"{derivative.symbol} = None: {derivative.reason}")
    return printable(f"{derivative.symbol} = {derivative.text}{remark(derivative)}")


def remark(derivative: Derivative) -> str:
    """The note and the reason that follow the value of a derivative; empty if there are none."""
    note = f", {derivative.note}" if derivative.note else ""
    return f"{note}; {derivative.reason}" if derivative.reason else note
