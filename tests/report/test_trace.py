"""The evaluation table as data: the textbook's numbers, sums that are shown adding up, and what is folded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.formatting import bars_as_text
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.trace.find_trace import TracePart, TraceRow
from tests.report.recordings import chain, record


def part(found: Findings, order: int = 0) -> TracePart:
    """A part of the evaluation table."""
    assert found.trace
    [only] = [part for part in found.trace.parts if part.order == order]
    return only


def rows(found: Findings, order: int = 0) -> tuple[TraceRow, ...]:
    """The rows of a part of the evaluation table."""
    return part(found, order).rows


def steps(found: Findings, order: int = 0) -> list[tuple[str, str, str, str | None, str]]:
    """The steps of the reverse sweep, as they are computed."""
    return [
        (bars_as_text(step.symbol), bars_as_text(step.formula), step.added, step.before, step.after)
        for row in reversed(rows(found, order))
        for step in row.reverse
    ]


def baydin() -> Findings:
    """The example of Baydin et al. 2018, tables 2 and 3."""
    return record(lambda a, b: np.log(a) + a * b - np.sin(b), 2.0, 5.0)


def test_the_textbook() -> None:
    """The forward and the reverse column of the paper, with x1 = a and x2 = b."""
    forward = [(row.symbol, row.formula, row.value) for row in rows(baydin())]

    assert [
        ("a", "", "2.0"),
        ("b", "", "5.0"),
        ("v1", "ln(a)", "0.693147"),
        ("v2", "a · b", "10.0"),
        ("v3", "v1 + v2", "10.6931"),
        ("v4", "sin(b)", "-0.958924"),
        ("y", "v3 - v4", "11.6521"),
    ] == forward
    assert [
        ("ȳ", "", "", None, "1.0"),
        ("v̄3", "ȳ", "1.0", None, "1.0"),
        ("v̄4", "-ȳ", "-1.0", None, "-1.0"),
        ("b̄", "v̄4 · cos(b)", "-0.283662", None, "-0.283662"),
        ("v̄1", "v̄3", "1.0", None, "1.0"),
        ("v̄2", "v̄3", "1.0", None, "1.0"),
        ("ā", "v̄2 · b", "5.0", None, "5.0"),
        ("b̄", "v̄2 · a", "2.0", "-0.283662", "1.71634"),
        ("ā", "v̄1 / a", "0.5", "5.0", "5.5"),
        ("b̄", "", "", None, "1.71634"),
        ("ā", "", "", None, "5.5"),
    ] == steps(baydin())


def test_latex() -> None:
    """Formulas stand there as LaTeX, too."""
    found = rows(baydin())

    assert r"v_{1} = \ln\left(a\right)" == found[2].latex
    assert r"\bar{a} = \bar{a} + \frac{\bar{v}_{1}}{a}" == found[2].reverse[0].latex


def test_a_value_that_is_used_twice_by_one_operation() -> None:
    """Each use has a line of its own."""
    assert [
        ("ȳ", "", "", None, "1.0"),
        ("ā", "ȳ · a", "3.0", None, "3.0"),
        ("ā", "ȳ · a", "3.0", "3.0", "6.0"),
        ("ā", "", "", None, "6.0"),
    ] == steps(record(lambda a: a * a, 3.0))


def test_a_target_that_is_used_on() -> None:
    """The adjoint of a target begins with its seed, to which the others are added."""
    found = record(lambda a: [b := a * 2.0, b * 3.0], 1.0)

    assert ("ȳ0", "ȳ1 · 3.0", "3.0", "1.0", "4.0") in [
        (symbol, formula, added, before, after)
        for symbol, formula, added, before, after in steps(found)
    ]
    assert "y0 + y1" == part(found).goal
    of_y0 = [(before, after) for symbol, _, _, before, after in steps(found) if symbol == "ȳ0"]
    assert of_y0 == [(None, "1.0"), ("1.0", "4.0")]


def test_operands_that_are_not_kept() -> None:
    """Of an operation without a derivative the tape keeps the tracked operand, and not where it stood."""
    found = record(lambda a: np.floor_divide(7.0, a) + a, 2.0)

    assert [row.numbers for row in rows(found)][1] == "floor_divide(… 2.0 …)"


def test_names_that_the_user_has_taken() -> None:
    """A value without a name is never called like one that has a name."""
    found = record(lambda a: np.sin(a) * 2.0 + 1.0, 1.0, v1=np.array([1.0]), v3=7.5)

    assert ["a", "v1", "v2", "y"] == [row.symbol for row in rows(found)]

    source = tm.Variable(1.0, name="v1")
    taken = record(lambda a: (a + 1.0) * 2.0, source)
    assert {"v1", "a", "y"} >= {row.symbol for row in rows(taken)}
    assert len({row.symbol for row in rows(taken)}) == len(rows(taken))


def test_the_numbers_are_those_of_the_tape() -> None:
    """What is added is what the rule gives, and the last sum is the gradient."""

    @tm.custom_gradient
    def strange(x: Any) -> Any:
        return np.sin(x), lambda g: g * 100.0

    found = record(lambda a: strange(a) + a, 2.0)
    [custom] = [step for step in steps(found) if "through" in step[1]]

    assert "100.0" == custom[2]
    assert "101.0" == custom[4]


def test_broadcasting_is_a_sum() -> None:
    """An input that was repeated gets the sum over its copies, and the formula says so."""
    matrix = np.arange(6.0).reshape(2, 3)
    found = record(lambda a, b: (matrix * a + b).sum(), np.array([1.0, 2.0, 3.0]), 4.0)
    formulas = {symbol: formula for symbol, formula, *_ in steps(found) if formula}

    assert "sum(v̄1 · [2×3 array], axis=0)" == formulas["ā"]
    assert "Σ v̄2" == formulas["b̄"]


def test_complex_numbers_have_no_formula() -> None:
    """The textbook's formulas are those of real numbers."""
    found = record(lambda a: np.real(a * np.conjugate(a)), 3.0 + 1.0j)

    assert all("through" in formula for _, formula, *_ in steps(found) if formula)
    assert ("ā", "", "", None, "6.0+2.0j") == steps(found)[-1]


def test_what_the_target_does_not_depend_on() -> None:
    """It has no steps, and None as a watched value."""
    found = record(lambda a, b: [a * 2.0, np.floor(b)][0], 1.0, 2.5)

    assert "None" == rows(found)[1].reverse[0].after


def test_nan() -> None:
    """Rows that are not finite are marked, from the first one on."""
    with np.errstate(invalid="ignore"):
        found = record(lambda a: np.log(a) * 2.0, -1.0)

    assert [True, False, False] == [row.is_finite for row in rows(found)]


def test_a_derivative_has_a_part_of_its_own() -> None:
    """The operations of the first derivative stand below those of the cell."""
    found = record(lambda a: a**3, 2.0, order=2)

    assert found.trace
    assert [0, 1] == [part.order for part in found.trace.parts]
    assert "dy/da" == part(found, 1).goal
    assert "dy/da" == rows(found, 1)[-1].symbol
    assert ("bar(dy/da)", "", "", None, "1.0") == steps(found, 1)[0]


@pytest.mark.parametrize("length", [61, 1000])
def test_long_programs_are_folded(length: int) -> None:
    """Of many operations the first and the last are shown, and the number of the others."""
    found = rows(chain(length))

    assert len(found) <= 75
    assert length == sum(row.operations or row.kind == "operation" for row in found)
    assert "ā" == bars_as_text(found[0].reverse[0].symbol)


def test_large_arrays_are_summarised() -> None:
    """Of large arrays there is the formula and the whole adjoint."""
    found = record(lambda a: np.sum(a * 2.0 + a), np.ones(1000))

    assert "1,000 elements, all 3.0" == rows(found)[0].reverse[0].after
    added = {formula: value for _, formula, value, *_ in steps(found) if formula}
    assert {"ȳ": "", "v̄1 · 2.0": "", "v̄2": ""} == added
    [shared] = [step for step in steps(found) if step[1] == "v̄1 · 2.0"]
    assert "1,000 elements, all 3.0" == shared[4]


def test_nothing_recorded() -> None:
    """Without operations there is no table."""
    assert record(lambda a: a, 2.0).trace is None
