"""The lines in the widget, where the lines of a step light up."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from tapemagic.drawing.elements import element
from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs.lines.show_lines import STYLE, line_html, padded, rows_of


def html(screen: Screen, _static: Callable[[], str]) -> str | None:
    """The lines with an element around each line of the source and its values: line 3 has ``data-l="3"``."""
    rows = rows_of(screen.findings)
    pairs = zip(rows, padded(rows), strict=True)
    lines = []
    for number, group in groupby(pairs, lambda pair: pair[0].line):
        text = "\n".join(line_html(row, cells) for row, cells in group)
        lines.append(f'<span data-l="{number}">{text}</span>' if number else text)
    return element("pre", STYLE, "\n".join(lines)) if rows else None
