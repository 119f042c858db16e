"""Show the verdict of a report as text and HTML: the headline and the sentences."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tapemagic.drawing.elements import element, escape_text
from tapemagic.drawing.styles import BAD, CODE, QUIET, WARN
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import printable
from tapemagic.report.findings import Findings
from tapemagic.report.glossary import MEANINGS, explained, tooltip
from tapemagic.report.verdict.statement import Statement, Topic

CHIPS: Mapping[Topic, tuple[str, str]] = {
    "nonfinite": (BAD, "nan or inf"),
    "differs": (BAD, "differs"),
    "warning": (WARN, "warning"),
    "left": (WARN, "not tracked"),
    "none": (WARN, "None"),
    "missing": (WARN, "incomplete"),
}
"""The words before statements on problems, with their styles."""

QUIETER: tuple[Topic, ...] = ("kink", "path", "note")
"""The topics of unimportant statements."""


def text(findings: Findings) -> str:
    """Return the headline and the verdict as text, one line per sentence."""
    lines = [headline(findings), *(statement.text for statement in findings.verdict)]
    return "\n".join(map(printable, lines))


def html(findings: Findings, value: str | None) -> str:
    """Return the headline, the cell's value and the verdict as HTML."""
    parts = [element("div", QUIET, explained(escape(headline(findings)), "watched"))]
    if value is not None:
        parts.append(element("div", CODE, escape(value)))
    parts += [_line(statement, bool(findings.targets)) for statement in findings.verdict]
    return "".join(parts)


def _line(statement: Statement, has_result: bool) -> str:
    """Return a statement as HTML, after a colored word if it is about a problem."""
    # Without a result, the unimportant statements are the only ones, so they aren't dimmed.
    if statement.topic in CHIPS:
        style, word = CHIPS[statement.topic]
        chip = element("span", style, word)
        chip = tooltip(word, chip) if word in MEANINGS else chip
        return f"<div>{chip} {escape_text(statement.text)}</div>"
    if statement.topic in QUIETER and has_result:
        return element("div", QUIET, escape_text(statement.text))
    return f"<div>{escape_text(statement.text)}</div>"


def headline(findings: Findings) -> str:
    """Return the line on the recorded operations, the watched variables and the targets."""
    count = findings.operations + findings.omitted
    # Variables are watched automatically, other values by their name on the %%tape line.
    watched = sum(value.role in ("watched", "variable") for value in findings.variables)
    recorded = f"{count:,} operation{'s' * (count != 1)}"
    variables = f"{watched} watched variable{'s' * (watched != 1)}"
    goal = f", differentiating {listed([*findings.targets])}" if findings.targets else ""
    return printable(f"{findings.maker}: {recorded}, {variables}{goal}")
