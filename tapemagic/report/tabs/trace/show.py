"""The trace of a report: the values from top to bottom, and beside them the adjoints from bottom to top."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import combining

from tapemagic.drawing.elements import element, listing, plain
from tapemagic.drawing.styles import BAD, CODE, QUIET
from tapemagic.explain.formatting import printable
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.trace.find import Trace, TracePart, TraceRow
from tapemagic.report.tabs.trace.sweep import AdjointStep

TITLE = "Trace"
TABLE = f"{CODE};font-size:12px"
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
    return _one_below_another(findings.trace, map(_table, findings.trace.parts))


def live_html(trace: Trace) -> str:
    """The evaluation table as HTML in which a front end finds rows by `data-r`, and equations of the reverse sweep.

    The row k of the part p has ``data-r="p.k"``, and its equation j, in the order of the sweep, ``data-a="p.k.j"``.
    """
    tables = (_table(part, str(number)) for number, part in enumerate(trace.parts))
    return _one_below_another(trace, tables)


def _one_below_another(trace: Trace, tables: Iterable[str]) -> str:
    """The tables of all parts; those of derivatives below their titles, closed until they are opened."""
    first, *others = [*tables] or [""]
    parts = [first]
    for part, table in zip(trace.parts[1:], others, strict=True):
        words = f"<summary>{plain(_title(part))}</summary>"
        parts.append(element("details", "margin-top:6px", words + table))
    return "".join(parts)


def headings(part: TracePart) -> tuple[str, str]:
    """The headings of the two columns."""
    adjoints = f"adjoints, from the last line up ↑: gradients of {part.goal}"
    return "values, from the first line down ↓", adjoints if part.goal else ""


def forward(row: TraceRow) -> str:
    """The value of a row as an equation; the words of a heading."""
    if row.words:
        words = row.told if row.kind == "folded" else f"{row.words}:"
        return INDENT * len(row.path) + printable(words)
    return INDENT * len(row.path) + printable(row.equation)


def backward(step: AdjointStep) -> str:
    """A step of the reverse sweep as an equation."""
    return printable(step.equation)


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
        room = width - _width(a)
        if b and room < 0:
            lines += [a, f"{' ' * width}  {b}"]
        else:
            lines.append(f"{a}{' ' * room}  {b}".rstrip())
    return lines


def _width(words: str) -> int:
    """The number of columns of a text."""
    return sum(not combining(char) for char in words)


def _table(part: TracePart, number: str = "") -> str:
    """One part of the table, whose rows and equations can be found if it has a number."""
    heads = [plain(words) for words in headings(part)]
    names = [f"{number}.{k}" if number else "" for k in range(len(part.rows))]
    marks = [f' data-r="{name}"' for name in names if name]
    return listing(heads, map(_cells, part.rows, names), (0, 1), TABLE, marks)


def _cells(row: TraceRow, name: str) -> tuple[str, ...]:
    """A row as HTML; one without steps of the reverse sweep goes over both columns."""
    left = _marked(forward(row), row.is_finite)
    if row.words:
        left = element("span", QUIET, left)
    steps = [_marked(backward(step), step.is_finite) for step in row.reverse]
    if name:
        steps = [f'<span data-a="{name}.{k}">{step}</span>' for k, step in enumerate(steps)]
    return (left, "<br>".join(reversed(steps))) if steps else (left,)


def _marked(words: str, is_finite: bool) -> str:
    """An equation as HTML; one whose value is nan or infinite is marked."""
    return plain(words) if is_finite else element("span", BAD, plain(words))
