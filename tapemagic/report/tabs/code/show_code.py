"""The code of a report: its derivatives as a NumPy program, whose lines belong to the steps through the graph."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tapemagic.drawing.elements import element
from tapemagic.drawing.highlighting import highlighted
from tapemagic.drawing.styles import NAME, QUIET
from tapemagic.explain.formatting import printable
from tapemagic.report.findings import Findings

if TYPE_CHECKING:
    from tapemagic.report.tabs.code.find_code import Code

BLOCK = f"{NAME};font-size:12px;margin:0;overflow-x:auto"


def text(findings: Findings) -> str:
    """Return the program as text."""
    return "" if findings.code is None else program(findings.code) or findings.code.why


def html(findings: Findings) -> str:
    """Return the program as HTML, with syntax colors."""
    return "" if findings.code is None else page(findings.code)


def page(code: Code) -> str:
    """A program as HTML, in colours; without one, the reason."""
    if not code.lines:
        return element("div", QUIET, escape(printable(code.why)))
    return element("pre", BLOCK, "\n".join(highlighted(program(code))))


def program(code: Code) -> str:
    """The program as text."""
    return "\n".join(printable(line.text) for line in code.lines)
