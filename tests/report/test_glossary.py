"""The tooltips of reports say what docs/glossary.md says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tapemagic.report.bundle import TapeReport
from tapemagic.report.function_code import FunctionCode
from tapemagic.report.glossary import MEANINGS, explained, tooltip
from tapemagic.report.html import page
from tests.report.recordings import square

ROWS = dict(
    re.findall(
        r"^\| \*\*(.+?)\*\* \| (.+) \|$",
        (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


@pytest.mark.parametrize("term", MEANINGS)
def test_a_meaning_begins_a_row_of_the_glossary(term: str) -> None:
    """Of which it is a part up to a full stop, a colon, a comma or the end."""
    row = ROWS[term].replace("`", "").replace("*", "")

    assert row.startswith(MEANINGS[term])
    assert re.match(r"$|[.,:]", row.removeprefix(MEANINGS[term]))


def test_a_term_is_explained_once() -> None:
    """With its ending; words that merely contain it are left alone, and so are tooltips."""
    html = explained("unwatched, watched target, targets", "watched", "target")

    assert (
        html == f"unwatched, {tooltip('watched', 'watched')} {tooltip('target', 'target')}, targets"
    )
    assert ">local derivatives</span>" in explained("local derivatives", "local derivative")


def test_tooltips_of_a_report() -> None:
    """Each role has one where it first occurs."""
    report = page(square(), TapeReport(square()).drawing, None)

    for term in ("watched", "target", "gradient", "forward pass", "backward pass"):
        assert f'title="{MEANINGS[term]}"' in report.replace("&#x27;", "'")


def test_tooltips_of_a_function() -> None:
    """They are in the sentence on calls without a program, whatever the function is called."""
    html = FunctionCode("a<b", "", "a <reason>")._html()

    assert "a&lt;b <span" in html
    assert html.endswith("</span>: a &lt;reason&gt;</div></div>")
    assert FunctionCode("f", "x = 1\n", "")._html().count("<span title") == 0
