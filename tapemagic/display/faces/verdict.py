"""The verdict of a report: what was recorded and differentiated, and the results in sentences."""

from __future__ import annotations

from html import escape

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.findings import Findings
from tapemagic.display.elements import element
from tapemagic.display.styles import BAD, CODE, QUIET


def text(findings: Findings) -> str:
    """The headline, the note and the verdict as text."""
    lines = [headline(findings), findings.note]
    lines += [printable(statement.text) for statement in findings.verdict]
    return "\n\n".join(filter(None, lines))


def html(findings: Findings, value: str | None) -> str:
    """The headline, the cell's value, the note and the verdict as HTML."""
    parts = [element("div", QUIET, escape(headline(findings)))]
    if value is not None:
        parts.append(element("div", CODE, escape(value)))
    if findings.note:
        parts.append(f"<div>{element('span', BAD, escape(findings.note))}</div>")
    parts += [element("div", "", escape(statement.text)) for statement in findings.verdict]
    return "".join(parts)


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
