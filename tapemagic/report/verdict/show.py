"""The verdict of a report: what was recorded and differentiated, and the results in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tapemagic.drawing.elements import element, plain
from tapemagic.drawing.styles import BAD, CODE, QUIET, WARN
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import printable
from tapemagic.report.findings import Findings
from tapemagic.report.verdict.statement import Statement, Topic

CHIPS: Mapping[Topic, tuple[str, str]] = {
    "nonfinite": (BAD, "nan or inf"),
    "warning": (WARN, "warning"),
    "left": (WARN, "not tracked"),
    "none": (WARN, "None"),
    "missing": (WARN, "incomplete"),
}
"""The words in front of statements on what is wrong, with their style."""

QUIETER: tuple[Topic, ...] = ("kink", "note")
"""The topics of statements that may be overlooked."""


def text(findings: Findings) -> str:
    """The headline and the verdict as text, a line for each sentence."""
    lines = [headline(findings), *(statement.text for statement in findings.verdict)]
    return "\n".join(map(printable, lines))


def html(findings: Findings, value: str | None) -> str:
    """The headline, the cell's value and the verdict as HTML."""
    parts = [element("div", QUIET, escape(headline(findings)))]
    if value is not None:
        parts.append(element("div", CODE, escape(value)))
    parts += [_line(statement, bool(findings.targets)) for statement in findings.verdict]
    return "".join(parts)


def _line(statement: Statement, has_result: bool) -> str:
    """A statement as HTML, with a coloured word in front if it is about what is wrong.

    Without a result, what may otherwise be overlooked is all that there is.
    """
    if statement.topic in CHIPS:
        style, word = CHIPS[statement.topic]
        return f"<div>{element('span', style, word)} {plain(statement.text)}</div>"
    if statement.topic in QUIETER and has_result:
        return element("div", QUIET, plain(statement.text))
    return f"<div>{plain(statement.text)}</div>"


def headline(findings: Findings) -> str:
    """One line on the number of recorded operations, watched variables, and the targets."""
    count = findings.operations
    watched = sum(value.role in ("watched", "variable") for value in findings.variables)
    recorded = f"{count:,} operation{'s' * (count != 1)}"
    variables = f"{watched} watched variable{'s' * (watched != 1)}"
    goal = f", differentiating {listed([*findings.targets])}" if findings.targets else ""
    return printable(f"%%tape: {recorded}, {variables}{goal}")
