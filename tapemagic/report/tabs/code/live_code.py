"""The program in the widget, where the lines of a step light up, and the kernel writes it when the tab is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tapemagic.drawing.elements import element
from tapemagic.drawing.highlighting import LIVE_STYLES, highlighted
from tapemagic.drawing.report_style import Theme
from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs.code.show_code import BLOCK, page, program

if TYPE_CHECKING:
    from tapemagic.report.tabs.code.find_code import Code, CodeLine


def html(screen: Screen, _static: Callable[[], str]) -> str | None:
    """Return the program; '' if the kernel writes it later, None if there is nothing to differentiate."""
    findings = screen.findings
    if findings.code:
        return live_html(findings.code, screen.theme)
    # A program of derivatives that are all None would be empty.
    is_askable = screen.has_view and any(entry.value for entry in findings.derivatives)
    return "" if is_askable else None


def live_html(code: Code, theme: Theme = "auto") -> str:
    """A program with an element around each line: one that belongs to the steps 3 and 12 has ``data-k="3 12"``."""
    if not code.lines:
        return page(code)
    rows = highlighted(program(code), LIVE_STYLES[theme])
    lines = [_line(line, row) for line, row in zip(code.lines, rows, strict=True)]
    return element("pre", BLOCK, "\n".join(lines))


def _line(line: CodeLine, row: str) -> str:
    if not line.steps:
        return row
    return f'<span data-k="{" ".join(map(str, line.steps))}">{row}</span>'
