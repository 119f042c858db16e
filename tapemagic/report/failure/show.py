"""The line at which a cell stopped, with the shapes of its operands under it and what does not fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from html import escape
from itertools import starmap

from tapemagic.drawing.elements import element
from tapemagic.drawing.styles import BAD, NAME
from tapemagic.report.failure.find import FailedLine, Failure, Mark
from tapemagic.report.findings import Findings

UNDERLINE = {False: "─", True: "^"}
"""The characters under operands: those that do not fit have the second."""

GAP = 1
"""The least number of columns between two labels."""

BAD_TEXT = "color:#dc2626;font-weight:600"
"""The style of what does not fit, which is seen on a light and on a dark page."""

UNTIL = "Recorded before the error:"


def text(findings: Findings) -> str:
    """The line, the marks and the sentence as text."""
    failure = findings.failure
    if failure is None:
        return ""
    shown = "\n".join("".join(part for part, _ in row).rstrip() for row in marked(failure))
    sentences = "\n".join(filter(None, (shown, failure.sentence)))
    return "\n\n".join(filter(None, (headline(failure), sentences, UNTIL)))


def html(findings: Findings) -> str:
    """The line, the marks and the sentence as HTML."""
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
    """The sentence that the cell stopped, with the line and the error."""
    where = f" at line {failure.line}" if failure.line else ""
    what = f"{failure.error}: {failure.message}".rstrip(": ")
    return f"The cell stopped{where} with {what}"


def _head(failure: Failure, line: FailedLine) -> str:
    """The words in front of a line: "line 5:", "line 12 of helpers.py, in f:"."""
    return f"line {line.number}{' ' * bool(failure.where)}{failure.where}:  "


Row = list[tuple[str, bool]]
"""Parts of a row of text, each with whether it is about what does not fit."""


def marked(failure: Failure) -> list[Row]:
    """The lines of the program, each with its place in front, and with marks and labels below."""
    return [row for line in failure.lines for row in _rows(line, _head(failure, line))]


def _rows(line: FailedLine, head: str) -> Iterator[Row]:
    """A line of the program, a row of underlines, and rows of labels."""
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
    while waiting:
        placed, waiting = _fitting(waiting)
        yield _row(placed)


def _program(line: FailedLine, head: str) -> Row:
    """A line of the program, in parts."""
    row, end = [(head, False)], 0
    for mark in line.marks:
        row += [(line.text[end : mark.start], False), (line.text[mark.start : mark.end], mark.bad)]
        end = mark.end
    return [*row, (line.text[end:], False)]


def _label(column: int, width: int, mark: Mark) -> tuple[int, str, bool]:
    """A label and the column at which it begins: below the middle of its operand."""
    return max(0, column + (width - _width(mark.label) + 1) // 2), mark.label, mark.bad


def _fitting(
    labels: Sequence[tuple[int, str, bool]],
) -> tuple[list[tuple[int, str, bool]], list[tuple[int, str, bool]]]:
    """The labels that fit into one row beside each other, and the others."""
    placed: list[tuple[int, str, bool]] = []
    rest: list[tuple[int, str, bool]] = []
    end = 0
    for column, words, bad in labels:
        if placed and column < end + GAP:
            rest.append((column, words, bad))
        else:
            placed.append((column, words, bad))
            end = column + _width(words)
    return placed, rest


def _row(parts: Sequence[tuple[int, str, bool]]) -> Row:
    """Words at their columns."""
    row: Row = []
    end = 0
    for column, words, bad in parts:
        row += [(" " * (column - end), False), (words, bad)]
        end = column + _width(words)
    return row


def _width(text: str) -> int:
    """The columns that text takes: two for a wide character, none for a combining one."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
