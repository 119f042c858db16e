"""Shows the trace as text and HTML: values from top to bottom, adjoints from bottom to top."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import combining

from tapemagic.drawing.elements import element, escape_text, listing
from tapemagic.drawing.styles import BAD, CODE, QUIET
from tapemagic.explain.formatting import bars_as_text, printable
from tapemagic.report.findings import Findings
from tapemagic.report.glossary import tooltip
from tapemagic.report.tabs.trace.find_trace import Trace, TracePart, TraceRow
from tapemagic.report.tabs.trace.sweep import AdjointStep

TITLE = "Trace"
TABLE = f"{CODE};font-size:12px"
INDENT = "  "
MAX_WIDTH = 60
"""The largest width of the first column of text; longer entries take an entire line."""


def text(findings: Findings) -> str:
    """Return the evaluation table as text."""
    if findings.trace is None:
        return ""
    return "\n\n".join("\n".join(_lines(part)) for part in findings.trace.parts)


def html(findings: Findings) -> str:
    """Return the evaluation table as HTML."""
    if findings.trace is None:
        return ""
    return _one_below_another(findings.trace, map(_table, findings.trace.parts))


def live_html(trace: Trace) -> str:
    """Return the evaluation table as HTML, with attributes that name its rows and adjoints for scripts.

    The row k of the part p has ``data-r="p.k"``, and its equation j, in the order of the sweep, ``data-a="p.k.j"``.
    """
    tables = (_table(part, str(number)) for number, part in enumerate(trace.parts))
    return _one_below_another(trace, tables)


def _one_below_another(trace: Trace, tables: Iterable[str]) -> str:
    """Join the tables of all parts; tables of derivatives are collapsed below their titles."""
    first, *rest = [*tables] or [""]
    parts = [first]
    for part, table in zip(trace.parts[1:], rest, strict=True):
        words = f"<summary>{escape_text(_title(part))}</summary>"
        parts.append(element("details", "margin-top:6px", words + table))
    return "".join(parts)


def headings(part: TracePart) -> tuple[str, str]:
    """Return the headings of the two columns."""
    backward = f"backward: gradients of {part.goal} (read up ↑)"
    return "forward: values (read down ↓)", backward if part.goal else ""


def forward(row: TraceRow) -> str:
    """Return a row as an equation, or the words of a heading."""
    if row.words:
        words = row.description if row.kind == "folded" else f"{row.words}:"
        return INDENT * len(row.path) + printable(words)
    return INDENT * len(row.path) + printable(row.equation)


def backward(step: AdjointStep) -> str:
    """Return a step of the reverse sweep as an equation."""
    return printable(step.equation)


def _title(part: TracePart) -> str:
    plural = "s" * (part.operations != 1)
    return f"{part.title}: {part.operations:,} operation{plural}"


def _lines(part: TracePart) -> list[str]:
    """Return the lines of one part of the table."""
    left, right = headings(part)
    pairs = [(left, right)]
    for row in part.rows:
        steps = [bars_as_text(backward(step)) for step in reversed(row.reverse)]
        pairs += list(
            zip([bars_as_text(forward(row)), *[""] * (len(steps) - 1)], steps or [""], strict=True)
        )
    width = max((w for a, b in pairs if b and (w := _width(a)) <= MAX_WIDTH), default=0)
    lines = [_title(part)] if part.title else []
    for a, b in pairs:
        room = width - _width(a)
        # One very long formula must not push the second column out of view.
        if b and room < 0:
            lines += [a, f"{' ' * width}  {b}"]
        else:
            lines.append(f"{a}{' ' * room}  {b}".rstrip())
    return lines


def _width(words: str) -> int:
    """Return the number of columns of text in a terminal."""
    # The bar of x̄ is a separate, combining character.
    return sum(not combining(char) for char in words)


def _table(part: TracePart, number: str = "") -> str:
    """Return one part of the table; with a number, rows and adjoints have names for scripts."""
    left, right = map(escape_text, headings(part))
    heads = [tooltip("forward pass", left), right and tooltip("backward pass", right)]
    names = [f"{number}.{k}" if number else "" for k in range(len(part.rows))]
    marks = [f' data-r="{name}"' for name in names if name]
    return listing(heads, map(_cells, part.rows, names), (0, 1), TABLE, marks)


def _cells(row: TraceRow, name: str) -> tuple[str, ...]:
    """Return the cells of a row as HTML; without steps of the reverse sweep, one cell spans both columns."""
    left = _marked(forward(row), row.is_finite)
    if row.words:
        left = element("span", QUIET, left)
    steps = [_marked(backward(step), step.is_finite) for step in row.reverse]
    if name:
        steps = [f'<span data-a="{name}.{k}">{step}</span>' for k, step in enumerate(steps)]
    # The second column is read upwards, so the last step of a row is on top.
    return (left, "<br>".join(reversed(steps))) if steps else (left,)


def _marked(words: str, is_finite: bool) -> str:
    """Return an equation as HTML, in red if its value is nan or infinite."""
    return escape_text(words) if is_finite else element("span", BAD, escape_text(words))
