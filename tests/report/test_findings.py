"""What is found of a recording: the table of variables and the gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.explain.formatting import derivative_symbol, mixed_derivative_symbol
from tapemagic.report.context import Context
from tapemagic.report.derivatives import name_of_sum
from tapemagic.report.summary import summarise
from tapemagic.report.tabs.gradients.find_gradients import Derivative
from tapemagic.report.tabs.variables.find_variables import NamedValue
from tests.report.recordings import findings_of, product, record, regression, square


def test_the_square() -> None:
    """All that is found of the smallest example."""
    found = square()

    three, six, nine, one = map(summarise, (3.0, 6.0, 9.0, 1.0))
    three, six, nine, one = (replace(x, dtype="float64") for x in (three, six, nine, one))
    assert (
        NamedValue(0, "a", "watched", three, six),
        NamedValue(1, "y", "target", nine, one, 2),
    ) == found.variables
    assert (Derivative("y", "a", 1, (), "6.0", value=six),) == found.derivatives
    assert (("y",), 1, 1) == (found.targets, found.operations, found.order)


def test_roles_of_the_regression() -> None:
    """Variables, constants and the target are told apart."""
    found = regression()

    assert {"a": "variable", "b": "variable", "x": "constant", "t": "constant", "y": "target"} == {
        row.name: row.role for row in found.variables
    }
    assert [(2, 1), (1,)] == [entry.shape for entry in found.derivatives]


def test_orders() -> None:
    """Every order has a derivative for every source, None with a reason where it is constant."""
    found = product()

    assert [("dy/da", True), ("dy/db", True), ("d²y/da²", True), ("d²y/db²", False)] == [
        (entry.symbol, entry.text is not None) for entry in found.derivatives
    ]
    assert 3 == found.operations


@pytest.mark.parametrize(
    ("target", "source", "order", "expected"),
    [
        ("y", "x", 1, "dy/dx"),
        ("y", "x", 2, "d²y/dx²"),
        ("y", "x₁", 3, "d³y/dx₁³"),
        ("x * 2", "x", 1, "d(x * 2)/dx"),
        ("y", "layers[0]", 2, "d²y/d(layers[0])²"),
        ("dy", "x", 1, "d(dy)/dx"),
        ("dx", "x", 2, "d²(dx)/dx²"),
        ("y", "dx", 2, "d²y/d(dx)²"),
        ("data", "d", 1, "ddata/d(d)"),
    ],
)
def test_symbol(target: str, source: str, order: int, expected: str) -> None:
    """Derivatives are written as in a textbook."""
    assert expected == derivative_symbol(target, source, order)


def test_mixed_symbol() -> None:
    """So are those in two variables."""
    assert "d²y/dx dw" == mixed_derivative_symbol("y", "x", "w")
    assert "d²(x * 2)/dx d(w[0])" == mixed_derivative_symbol("x * 2", "x", "w[0]")
    assert "d²y/dx d(dw)" == mixed_derivative_symbol("y", "x", "dw")


@pytest.mark.parametrize(
    ("target", "source", "order", "expected"),
    [
        (1.0, 1.0, 3, ""), (1.0, [1.0], 3, ""), ([[1.0]], [1.0], 2, ""), (1.0, [1.0, 2.0], 1, ""),
        (1.0, [1.0, 2.0], 2, "dy/dx"), (1.0, [1.0, 2.0], 3, "d²y/dx²"), ([1.0, 2.0], 1.0, 1, "y"),
        ([1.0, 2.0], 1.0, 2, "y"), ([1.0, 2.0], [1.0, 2.0], 2, "dy/dx"),
    ],
)  # fmt: skip
def test_summed(target: Any, source: Any, order: int, expected: str) -> None:
    """A gradient is that of a sum if its target is an array: the first one's, or the derivative before."""
    assert expected == name_of_sum(("y", tm.constant(target)), ("x", tm.constant(source)), order)


def because(found: Any) -> str:
    """The only reason."""
    [reason] = [entry.reason for entry in found.derivatives if entry.reason]
    return str(reason)


@pytest.mark.parametrize(
    ("function", "inputs", "words"),
    [
        (lambda a, _b: a * 2, (1.0, 2.0), "Nothing recorded on the tape leads from b to y; y depends on a"),
        (lambda a, b, _c: a * b, (1.0, 2.0, 3.0), ("Nothing recorded on the tape leads from c to y; y depends on "
         "a and b")),
        (lambda _a: tm.constant(1.0), (1.0,), "y is a constant. It wasn't computed from a"),
        (lambda a: tm.constant(np.floor(a.numpy())), (1.5,), ("turned a into a plain array, so the tape lost "
         "track of it")),
        (lambda _a: tm.constant(2), (1.0,), "y holds integers (int64), which change in steps"),
        (lambda _a: tm.constant(True), (1.0,), "y holds booleans (bool)"),
        (lambda a: a * 1.5, (2,), "integers (int64), which have no derivative. Write a = 2.0"),
        (lambda a: a * 1.5, (False,), "Write a = 0.0"),
        (lambda a: a * 1.5, ([[1, 2]],), "Write a = np.array([[1.0, 2.0]])"),
        (lambda a: a * 1.5, (range(9),), "Write a = np.array(..., dtype=float)"),
    ],
)  # fmt: skip
def test_reasons(function: Any, inputs: tuple[Any, ...], words: str) -> None:
    """A gradient is never silently None."""
    assert words in because(record(function, *inputs))


def test_a_source_that_nobody_watched() -> None:
    """It says how to watch it."""
    x = tm.constant(1.0)
    with Observer() as observer:
        y = x * 2

    found = findings_of(observer, [("y", y)], [("x", x)])

    assert (
        "x isn't watched. Name it on the %%tape line, or call tape.watch(x) before you use it."
        == because(found)
    )


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a: 2 * a, "it is zero, because y is linear in a near this point"),
        (lambda a: np.maximum(a, 0.0), "it is zero, because y is linear in a near this point"),
    ],
)
def test_constant_derivatives(function: Any, words: str) -> None:
    """A derivative of a constant derivative says that it is zero."""
    assert words in because(record(function, 2.0, order=2))


def test_the_observer_is_not_consumed() -> None:
    """Findings can be made again, to a higher order, and are the same as if they were made at once."""
    x = tm.constant(2.0)
    with Observer() as observer:
        observer.watch(x)
        y = np.sin(x) * x

    first = findings_of(observer, [("y", y)], [("x", x)], 1)
    second = findings_of(observer, [("y", y)], [("x", x)], 3)

    assert first.derivatives == second.derivatives[:1]
    assert first.variables == second.variables
    assert 3 == len(second.derivatives)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (0, "5.0"),
        (1, "5.0 when used, 4.0 now"),
        (2, "5.0, 4.0 when used, 3.0 now"),
        (8, "5.0, 4.0, 3.0, …, -2.0 when used, -3.0 now"),
    ],
)
def test_the_row_of_a_variable_that_changed(steps: int, expected: str) -> None:
    """It tells what the variable is now, and what it was when it was read."""

    def compute(w: Any) -> Any:
        y = w * 2
        for _ in range(steps):
            y = w * 2
            w.assign_sub(1.0)
        return y

    assert expected == record(compute, tm.Variable(5.0)).variables[0].text


def test_the_row_of_a_variable_that_was_set_to_the_same() -> None:
    """It did not change."""
    assert "5.0" == record(lambda w: (w * 2, w.assign(5.0))[0], tm.Variable(5.0)).variables[0].text


def test_a_name_has_one_row() -> None:
    """The last value of a name counts, in the place of the first."""
    x = tm.constant(2.0)
    with Observer() as observer:
        observer.watch(x)
        y = x * 2

    context = Context([("k", 1.0), ("y", y), ("k", 2.0)], assigned={"k": 7})
    found = findings_of(observer, [("y", y)], [("x", x)], 1, context)

    assert [("x", "2.0"), ("k", "2.0"), ("y", "4.0")] == [
        (row.name, row.text) for row in found.variables
    ]
    assert [0, 1, 2] == [row.index for row in found.variables]
    assert [None, 7, None] == [row.line for row in found.variables]
