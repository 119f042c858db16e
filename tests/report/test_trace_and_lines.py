"""The trace and the lines as text and HTML."""

from __future__ import annotations

import re
import unicodedata
from textwrap import dedent

import numpy as np

from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs.lines import live_lines
from tapemagic.report.tabs.lines import show_lines as lines
from tapemagic.report.tabs.lines.find_lines import LineValue, SourceLine
from tapemagic.report.tabs.trace import show_trace as trace
from tapemagic.report.tabs.trace.find_trace import Trace
from tests.report.recordings import record, square, with_contents
from tests.report.test_html import Reader
from tests.report.test_trace import baydin


def test_the_table() -> None:
    """The textbook's table."""
    expected = """\
        forward: values (read down ↓)                 backward: gradients of y (read up ↑)
        a = 2.0                                       ā = 5.5
        b = 5.0                                       b̄ = 1.71634
        v1 = ln(a) = ln(2.0) = 0.693147               ā = ā + v̄1 / a = 5.0 + 1.0 / 2.0 = 5.5
        v2 = a · b = 2.0 · 5.0 = 10.0                 b̄ = b̄ + v̄2 · a = -0.283662 + 1.0 · 2.0 = 1.71634
                                                      ā = v̄2 · b = 1.0 · 5.0 = 5.0
        v3 = v1 + v2 = 0.693147 + 10.0 = 10.6931      v̄2 = v̄3 = 1.0
                                                      v̄1 = v̄3 = 1.0
        v4 = sin(b) = sin(5.0) = -0.958924            b̄ = v̄4 · cos(b) = -1.0 · cos(5.0) = -0.283662
        y = v3 - v4 = 10.6931 - (-0.958924) ≈ 11.6521  v̄4 = -ȳ = -1.0
                                                      v̄3 = ȳ = 1.0
                                                      ȳ = 1.0"""
    shown = "\n".join(" ".join(row.split()) for row in trace.text(baydin()).splitlines())

    assert "\n".join(" ".join(row.split()) for row in dedent(expected).splitlines()) == shown
    first, second, *_ = trace.text(baydin()).splitlines()[1:]
    assert first.index("ā") == second.index("b̄")


def test_html_says_the_same() -> None:
    """Every equation of the text is in the HTML, too."""
    page = trace.html(baydin())
    read = Reader(page)

    for row in trace.text(baydin()).splitlines():
        for equation in row.split("  "):
            # The page draws a line over the name, which isn't text.
            without = unicodedata.normalize("NFD", equation.strip()).replace("\u0304", "")
            assert without in read.text
    assert len(page) < 5000


def test_what_is_not_finite_is_marked() -> None:
    """A nan is seen in both columns."""
    with np.errstate(invalid="ignore"):
        found = record(np.log, -1.0)

    assert 1 == trace.html(found).count("#fee2e2")
    assert "nan" in trace.text(found)


def test_hostile_names_and_lines() -> None:
    """Names and lines are text, whatever they hold, and a name cannot break a line."""
    bad = "<script>alert('1')</script>\n\u202e" + "x" * 10_000
    found = record(lambda a, **_: a * 2.0 + np.ones(3), 1.0, **{bad: np.ones(3)})  # type: ignore[arg-type]
    line = SourceLine(1, bad, (LineValue(bad[:90], (), bad[:90], bad[:90]),))
    found = found.with_tab("lines", (line,))

    for page in (trace.html(found), lines.html(found)):
        assert "<script" not in page
        assert "\u202e" not in page
    assert len(trace.text(found).splitlines()) < 12
    assert 3 == len(lines.text(found).splitlines())


def test_lines() -> None:
    """Values and gradients stand beside the source; those of a long line below it."""
    found = with_contents(
        square(),
        source_lines=(
            SourceLine(1, "%%tape x"),
            SourceLine(2, "x = 3.0", (LineValue("x", (), "3.0", "6.0"),)),
            SourceLine(9, "y = " + "x + " * 20, (LineValue("y", (), "9.0", "1.0", 4, "2.0"),)),
            SourceLine(10, "z", (), True),
        ),
    )
    expected = f"""\
                     value                               gradient of y
        1   %%tape x
        2   x = 3.0  x = 3.0                             6.0
            … 6 more lines
        9   y = {"x + " * 20}
                     y: 4 times; first 2.0, last 9.0     1.0
        10  z  ← stopped here"""
    shown = [" ".join(row.split()) for row in lines.text(found).splitlines()]

    assert [" ".join(row.split()) for row in dedent(expected).splitlines()] == shown
    assert "first 2.0, last 9.0" in Reader(lines.html(found)).text


def test_lines_without_values() -> None:
    """A cell that made nothing shows no lines."""
    found = with_contents(square(), source_lines=(SourceLine(1, "pass"),))

    assert "" == lines.text(found) == lines.html(found)


def test_rows_and_equations_can_be_found() -> None:
    """The live table is the other one, with attributes that name its rows and its equations."""
    found = record(lambda a: a * a, 3.0, order=2)
    assert found.trace
    page = trace.live_html(found.trace)

    marks = r' data-r="[^"]*"|<span data-a="[^"]*">(.*?)</span>'
    assert trace.html(found) == re.sub(marks, r"\1", page)
    assert ["0.0", "0.1"] == re.findall(r'<tr data-r="(0[^"]*)"', page)
    assert '<span data-a="0.1.0"><u style=text-decoration:overline>y</u> = 1.0</span>' in page
    assert page.index('data-a="0.1.2"') < page.index('data-a="0.1.0"')
    assert '<tr data-r="1.0">' in page


def test_lines_can_be_found() -> None:
    """The live lines are the others, each in an element of its own with its values."""
    found = record(np.log, 3.0)
    lined = with_contents(
        found,
        source_lines=(
            SourceLine(1, "%%tape"),
            SourceLine(5, "<b>", (LineValue("u", (), "1.0"), LineValue("v", (), "2.0"))),
        ),
    )
    page = live_lines.html(Screen(lined), str)

    assert lines.html(lined) == re.sub(r'<span data-l="\d+">|</span>', "", page)
    [line] = re.findall(r'<span data-l="5">(.*?)</span>', page, re.DOTALL)
    assert line.split() == ["5", "&lt;b&gt;", "u", "=", "1.0", "v", "=", "2.0"]
    assert "more lines" not in "".join(re.findall(r"<span data-l.*?</span>", page, re.DOTALL))


def test_no_trace() -> None:
    """A trace without parts is no table."""
    assert "" == trace.live_html(Trace(()))
