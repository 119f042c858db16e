"""Show the line at which a cell stopped, the shapes of its operands below, and the explanation."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from html import escape
from itertools import starmap

from tapemagic.drawing.elements import element
from tapemagic.drawing.styles import BAD, NAME
from tapemagic.report.failure.find_failure import FailedLine, Failure, Mark
from tapemagic.report.findings import Findings

UNDERLINE = {False: "─", True: "^"}
"""The characters under operands. The second is for operands that don't fit."""

GAP = 1
"""Minimum number of columns between two labels."""

BAD_TEXT = "color:#dc2626;font-weight:600"
"""The style of operands that don't fit, readable on light and dark pages."""

UNTIL = "Recorded before the error:"


def text(findings: Findings) -> str:
    """Return the line, the marks and the sentence as text."""
    failure = findings.failure
    if failure is None:
        return ""
    shown = "\n".join("".join(part for part, _ in row).rstrip() for row in marked(failure))
    sentences = "\n".join(filter(None, (shown, failure.sentence)))
    return "\n\n".join(filter(None, (headline(failure), sentences, UNTIL)))


def html(findings: Findings) -> str:
    """Return the line, the marks and the sentence as HTML."""
    failure = findings.failure
    if failure is None:
        return ""
    parts = [element("span", BAD, escape(headline(failure)))]
    if failure.lines:
        shown = "\n".join("".join(starmap(_part, row)) for row in marked(failure))
        parts.append(element("div", f"{NAME};margin:6px 0;overflow-x:auto", shown))
    if failure.sentence:
        parts.append(element("div", "", escape(failure.sentence)))
    return "".join([*parts, element("div", "margin:6px 0", UNTIL)])


def _part(words: str, bad: bool) -> str:
    return element("span", BAD_TEXT, escape(words)) if bad else escape(words)


def headline(failure: Failure) -> str:
    """Return the sentence that the cell stopped, with the line and the error."""
    where = f" at line {failure.line}" if failure.line else ""
    what = f"{failure.error}: {failure.message}".rstrip(": ")
    return f"The cell stopped{where} with {what}"


def _head(failure: Failure, line: FailedLine) -> str:
    """Return the label of a line: "line 5:" or "line 12 of helpers.py, in f:"."""
    return f"line {line.number}{' ' * bool(failure.where)}{failure.where}:  "


Row = list[tuple[str, bool]]
"""Parts of a row of text, each with a flag for operands that don't fit."""


def marked(failure: Failure) -> list[Row]:
    """Return the lines of the program, each after its label, with marks and descriptions below."""
    return [row for line in failure.lines for row in _rows(line, _head(failure, line))]


def _rows(line: FailedLine, head: str) -> Iterator[Row]:
    """Yield a line of the program, a row of underlines, and rows of descriptions."""
    start = _width(head)
    places = [
        (start + _width(line.text[: mark.start]), _width(line.text[mark.start : mark.end]), mark)
        for mark in line.marks
    ]
    yield _program(line, head)
    if places:
        lines = [(column, UNDERLINE[mark.bad] * width, mark.bad) for column, width, mark in places]
        yield _row(lines)
    waiting = [_label(column, width, mark) for column, width, mark in places if mark.label]
    while waiting:  # one row of descriptions per iteration, since long ones would overlap
        placed, waiting = _fitting(waiting)
        yield _row(placed)


def _program(line: FailedLine, head: str) -> Row:
    """Split a line of the program into parts at its marks."""
    row, end = [(head, False)], 0
    for mark in line.marks:
        row += [(line.text[end : mark.start], False), (line.text[mark.start : mark.end], mark.bad)]
        end = mark.end
    return [*row, (line.text[end:], False)]


def _label(column: int, width: int, mark: Mark) -> tuple[int, str, bool]:
    """Place a description below the middle of its operand."""
    return max(0, column + (width - _width(mark.label) + 1) // 2), mark.label, mark.bad


def _fitting(
    labels: Sequence[tuple[int, str, bool]],
) -> tuple[list[tuple[int, str, bool]], list[tuple[int, str, bool]]]:
    """Split descriptions into those that fit into one row and the rest."""
    placed: list[tuple[int, str, bool]] = []
    rest: list[tuple[int, str, bool]] = []
    end = 0  # the column after the last description in the row
    for column, words, bad in labels:
        if placed and column < end + GAP:
            rest.append((column, words, bad))
        else:
            placed.append((column, words, bad))
            end = column + _width(words)
    return placed, rest


def _row(parts: Sequence[tuple[int, str, bool]]) -> Row:
    """Put words at their columns in a row."""
    row: Row = []
    end = 0
    for column, words, bad in parts:
        row += [(" " * (column - end), False), (words, bad)]
        end = column + _width(words)
    return row


def _width(text: str) -> int:
    """Count the columns of a monospaced font that text takes: 2 per wide character, 0 per combining mark."""
    # W and F are the wide and full-width characters of East Asian scripts.
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
