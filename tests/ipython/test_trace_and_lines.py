"""The trace and the lines of %%tape cells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.ipython import magics
from tapemagic.report.bundle import TapeReport
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.lines.find_lines import LineValue
from tests.ipython.conftest import Run


def line(found: Findings, number: int) -> Sequence[LineValue]:
    """The values that a line made."""
    return found.source_lines[number - 1].values


def headings(found: Findings) -> list[str]:
    """The headings of the trace, and what is folded."""
    assert found.trace
    return [row.words for row in found.trace.parts[0].rows if row.words]


LOOP = """%%tape x
x = 0.5
for k in range(100):
    x = np.sin(x) * 0.99
x"""


def test_a_loop_is_folded(run: Run) -> None:
    """There are the first and the last iteration, and how the value and its gradient develop between."""
    found = run(LOOP).findings

    first, middle, last = headings(found)
    assert "line 4, iteration 1 of 100" == first
    assert middle.startswith("… 98 more iterations: x between 0.08")
    assert "x̄ between 0.04" in middle
    assert "line 4, iteration 100 of 100" == last


def test_adjoints_of_shown_values_are_whole(run: Run) -> None:
    """A value that hidden iterations read has its gradient in their row."""
    found = run("%%tape x w\nx, w = 0.5, 0.9\nfor k in range(50):\n    x = x * w\nx").findings

    [folded] = [row for row in found.trace.parts[0].rows if row.kind == "folded"]
    assert ["x̄₂"] == [step.symbol for step in folded.reverse]
    [w] = [row for row in found.trace.parts[0].rows if row.symbol == "w"]
    assert found.derivatives[1].text == w.reverse[0].after


def test_a_call_has_a_heading(run: Run) -> None:
    """The operations of the user's own function stand under its name."""
    source = "%%tape a\ndef layer(x):\n    return np.tanh(x * 2.0)\na = 1.0\ny = layer(a) + 1.0"
    found = run(source).findings

    [heading] = headings(found)
    assert heading.startswith("layer(), line")
    depths = [len(row.path) for row in found.trace.parts[0].rows if row.kind == "operation"]
    assert [1, 1, 0] == depths


def test_values_stand_beside_their_lines(run: Run) -> None:
    """Each line has the names that it assigned, in their order, and the gradient of the target."""
    found = run("%%tape x\na, x = 3.0, 2.0\n\ny = a * x**2\nz = y + 1\ny").findings

    assert [("a", "3.0", ""), ("x", "2.0", "12.0")] == [
        (value.symbol, value.value, value.gradient) for value in line(found, 2)
    ]
    assert () == line(found, 3)
    assert "1.0" == line(found, 4)[0].gradient
    assert "None" == line(found, 5)[0].gradient


def test_lines_in_loops_and_functions(run: Run) -> None:
    """A line that ran several times has the first value and the last."""
    found = run(
        "%%tape x\ndef f(u):\n    return u * 2\nx = 1.0\nfor k in range(3):\n    x = f(x)\nx"
    ).findings

    [value] = line(found, 6)
    assert ("x", 3, "2.0", "8.0", "1.0") == (
        value.symbol,
        value.runs,
        value.first,
        value.value,
        value.gradient,
    )
    [inside] = line(found, 3)
    assert (3, "2.0", "8.0") == (inside.runs, inside.first, inside.value)


def test_a_line_that_failed(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of the error is marked; those before it have their values."""
    reports: list[TapeReport] = []
    monkeypatch.setattr(magics, "display", reports.append)

    shell.run_cell("%%tape x\nx = 2.0\ny = x * 3\nz = y + undefined_name\nw = 1.0")

    lines = reports.pop().findings.source_lines
    assert [False, False, False, True, False] == [each.stopped for each in lines]
    assert "6.0" == lines[2].values[0].value


def test_a_long_cell(run: Run) -> None:
    """Of a cell of many lines the first and the last are shown."""
    found = run("%%tape x\nx = 2.0\n" + "\n" * 200 + "y = x * 3").findings

    assert 120 == len(found.source_lines)
    assert 203 == found.source_lines[-1].number


def test_a_variable_that_changes(run: Run) -> None:
    """Its line has the value now and those that were read, and the sum of the gradients."""
    found = run(
        '%%tape\nw = tm.Variable(1.0, name="w")\na = w * 2\nw.assign(5.0)\nb = w * 3\na + b'
    ).findings

    [value] = line(found, 2)
    assert value.value.endswith("5.0 now")
    assert "5.0" == value.gradient


def test_no_target(run: Run) -> None:
    """Without a target there are values, and no gradients."""
    found = run("%%tape\nx = tm.constant(2.0)\ny = 3.0").findings

    assert () == found.targets
    assert ["2.0", "3.0"] == [line(found, k)[0].value for k in (2, 3)]
    assert "" == line(found, 2)[0].gradient


def test_constants_that_no_tape_tracks(run: Run) -> None:
    """They have no id that tells them apart, and stand beside their lines all the same."""
    found = run(
        "%%tape x\nx = 2.0\nb, c = tm.constant([1.5, 2.5]), tm.constant(3.0)\n"
        "with tm.GradientTape() as t:\n    t.watch(b)\n    y = np.sum(b * x * c + 0.5)\n"
        "for k in range(3):\n    a = tm.constant(7.0) if k % 2 == 0 else x * 1.0"
    ).findings

    assert [("b", "[1.5, 2.5]"), ("c", "3.0")] == [(v.symbol, v.value) for v in line(found, 3)]
    assert [("a", "7.0")] == [(v.symbol, v.value) for v in line(found, 8)]


def test_the_target_of_a_loop(run: Run) -> None:
    """What the head of a loop binds stands beside the head, and not a second time beside the first line under it."""
    found = run("%%tape x\nx, s = np.ones(3), 0.0\nfor v in x:\n    s = s + v**2").findings

    assert ["v"] == [each.symbol for each in line(found, 3)]
    assert ["s"] == [each.symbol for each in line(found, 4)]
