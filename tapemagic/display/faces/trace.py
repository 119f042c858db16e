"""The trace of a report: the values from top to bottom, and beside them the adjoints from bottom to top."""

from __future__ import annotations

from unicodedata import combining

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.findings import Findings
from tapemagic.analysis.report.trace import AdjointStep, TracePart, TraceRow
from tapemagic.display.elements import element, plain
from tapemagic.display.styles import BAD, NAME, QUIET, RULE, SMALL

TITLE = "Trace"
INDENT = "  "
WIDEST = 60
"""The width of the first column of text; longer entries stand on a line of their own."""


def text(findings: Findings) -> str:
    """The evaluation table as text; empty if there is nothing to show."""
    if findings.trace is None:
        return ""
    return "\n\n".join("\n".join(_lines(part)) for part in findings.trace.parts)


def html(findings: Findings) -> str:
    """The evaluation table as HTML; empty if there is nothing to show."""
    if findings.trace is None:
        return ""
    first, *others = findings.trace.parts
    parts = [_table(first)]
    for part in others:
        words = f"<summary>{plain(_title(part))}</summary>"
        parts.append(
            element("details", SMALL.replace(QUIET, "margin-top:6px"), words + _table(part))
        )
    return "".join(parts)


def headings(part: TracePart) -> tuple[str, str]:
    """The headings of the two columns."""
    if not part.goal:
        return "values ↓", ""
    return "values ↓", f"adjoints: the gradients of {part.goal} ↑"


def forward(row: TraceRow) -> str:
    """The value of a row as an equation; the words of a heading."""
    if row.words:
        words = row.words if row.kind == "folded" else f"{row.words}:"
        return INDENT * len(row.path) + printable(words)
    parts = filter(None, (row.symbol, row.formula, row.numbers, row.value))
    return INDENT * len(row.path) + printable(" = ".join(_without_repeats(parts)))


def _without_repeats(parts) -> list[str]:
    found: list[str] = []
    for part in parts:
        if not found or part != found[-1]:
            found.append(part)
    return found


def backward(step: AdjointStep) -> str:
    """A step of the reverse sweep as an equation."""
    formula, numbers = step.formula, step.numbers or step.added
    if step.before is not None:
        formula = f"{step.symbol} + {formula}" if formula else ""
        numbers = f"{step.before} + {numbers}" if step.before and numbers else ""
    parts = filter(None, (step.symbol, formula, numbers, step.after))
    return printable(" = ".join(_without_repeats(parts)))


def _title(part: TracePart) -> str:
    plural = "s" * (part.operations != 1)
    return f"{part.title}: {part.operations:,} operation{plural}"


def _lines(part: TracePart) -> list[str]:
    """The lines of one part of the table."""
    left, right = headings(part)
    pairs = [(left, right)]
    for row in part.rows:
        steps = [backward(step) for step in reversed(row.reverse)]
        pairs += list(zip([forward(row), *[""] * (len(steps) - 1)], steps or [""], strict=True))
    width = max((w for a, b in pairs if b and (w := _width(a)) <= WIDEST), default=0)
    lines = [_title(part)] if part.title else []
    for a, b in pairs:
        if b and _width(a) > width:
            lines.append(a)
            a = ""
        lines.append(f"{a}{' ' * (width - _width(a))}  {b}".rstrip())
    return lines


def _width(words: str) -> int:
    """The number of columns of a text."""
    return sum(not combining(char) for char in words)


def _table(part: TracePart) -> str:
    """One part of the table."""
    heads = "".join(f"<th>{plain(words)}</th>" for words in headings(part))
    body = "".join(map(_row, part.rows))
    style = f"{NAME}-wrap;border-collapse:collapse;font-size:12px;line-height:1.5;text-align:left"
    return (
        f'<table cellpadding="2" style="{style}">'
        f'<tr style="text-align:left;{QUIET}">{heads}</tr>{body}</table>'
    )


def _row(row: TraceRow) -> str:
    left = plain(forward(row))
    if not row.is_finite:
        left = element("span", BAD, left)
    right = "<br>".join(
        element("span", BAD, plain(backward(step))) if not step.is_finite else plain(backward(step))
        for step in reversed(row.reverse)
    )
    style = f"text-align:left;vertical-align:top;border-top:{RULE}"
    if row.words:
        style += f";{QUIET}"
    return f'<tr style="{style}"><td>{left}<td>{right}</tr>'
