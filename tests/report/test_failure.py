"""The line at which a cell stopped, as text and HTML."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tapemagic.report.bundle import TapeReport
from tapemagic.report.failure import show_failure as face
from tapemagic.report.failure.find_failure import FailedLine, Failure, Mark
from tapemagic.report.text import text
from tests.report.recordings import square

LINE = FailedLine(
    5, "y = A @ x + b", (Mark(4, 5, "2×2", True), Mark(8, 9, "3", True), Mark(12, 13, "2"))
)
MISFIT = Failure(
    5, "ValueError", "", "", (LINE,), "A is 2×2, x is 3: the inner sizes 2 and 3 differ."
)


def shown(failure: Failure) -> str:
    """The face as text."""
    return face.text(replace(square(), failure=failure))


def test_text() -> None:
    """Marks stand under the operands, labels in the middle below them."""
    assert shown(MISFIT) == (
        "The cell stopped at line 5 with ValueError\n\n"
        "line 5:  y = A @ x + b\n"
        "             ^   ^   ─\n"
        "            2×2  3   2\n"
        "A is 2×2, x is 3: the inner sizes 2 and 3 differ.\n\n"
        "Recorded before the error:"
    )


def test_wide_characters_and_labels_side_by_side() -> None:
    """Columns are those of the screen, and a label that does not fit goes one row down."""
    line = FailedLine(2, "'日本', a, b", (Mark(6, 7, "100×200"), Mark(9, 10, "3")))

    assert [
        "line 2 in f:  '日本', a, b",
        "                      ─  ─",
        "                   100×200",
        "                         3",
    ] == shown(Failure(7, "E", "", "in f", (line,))).split("\n")[2:6]


@pytest.mark.parametrize("part", ["message", "where", "sentence"])
def test_hostile_words(part: str) -> None:
    """Everything from the user's program is text in HTML."""
    hostile: Any = {part: "<script>alert(1)</script>]]>\"'"}
    line = FailedLine(2, "<img src=x> + '&amp;'", (Mark(0, 11, "<b>", True),))
    page = face.html(replace(square(), failure=Failure(2, "E", lines=(line,), **hostile)))

    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "&amp;amp;" in page


def test_place_in_the_report() -> None:
    """It comes first in text, HTML and widget, and there is nothing of it where no cell failed."""
    findings = replace(square(), failure=MISFIT)
    bundle = TapeReport(findings)._repr_mimebundle_()

    assert text(findings).startswith("The cell stopped at line 5")
    assert bundle["text/html"].index("The cell stopped") < bundle["text/html"].index("%%tape:")
    assert "stopped" not in text(square())
    assert "stopped" not in TapeReport(square())._repr_mimebundle_()["text/html"]
    assert len(face.html(findings)) < 1200
