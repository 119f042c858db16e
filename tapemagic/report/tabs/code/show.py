"""The code of a report: its derivatives as a NumPy program, whose lines belong to the steps through the graph."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tapemagic.drawing.elements import element
from tapemagic.drawing.highlighting import LIVE_STYLES, highlighted
from tapemagic.drawing.report_style import Theme
from tapemagic.drawing.styles import NAME, QUIET
from tapemagic.explain.formatting import printable
from tapemagic.report.findings import Findings

if TYPE_CHECKING:
    from tapemagic.report.tabs.code.find import Code, CodeLine

TITLE = "Code"
BLOCK = f"{NAME};font-size:12px;margin:0;overflow-x:auto"


def text(findings: Findings) -> str:
    """The program as text; empty if it was not asked for."""
    return "" if findings.code is None else _lines(findings.code) or findings.code.why


def html(findings: Findings) -> str:
    """The program as HTML, in colours; empty if it was not asked for."""
    return "" if findings.code is None else page(findings.code)


def page(code: Code) -> str:
    """A program as HTML, in colours; without one, the reason."""
    if not code.lines:
        return element("div", QUIET, escape(printable(code.why)))
    return element("pre", BLOCK, "\n".join(highlighted(_lines(code))))


def live_html(code: Code, theme: Theme = "auto") -> str:
    """The same for the front end, with an element around each line.

    A line that belongs to the steps 3 and 12 has ``data-k="3 12"``.
    """
    if not code.lines:
        return page(code)
    rows = highlighted(_lines(code), LIVE_STYLES[theme])
    lines = [_line(line, row) for line, row in zip(code.lines, rows, strict=True)]
    return element("pre", BLOCK, "\n".join(lines))


def _lines(code: Code) -> str:
    return "\n".join(printable(line.text) for line in code.lines)


def _line(line: CodeLine, row: str) -> str:
    if not line.steps:
        return row
    return f'<span data-k="{" ".join(map(str, line.steps))}">{row}</span>'
