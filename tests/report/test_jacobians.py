"""The full matrices of a recording: what is in them, and what is said where there is nothing."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine import registry
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tensor import dispatch
from tapemagic.explain.formatting import format_number
from tapemagic.explain.snapshot import Named
from tapemagic.report.tabs.gradients import jacobians
from tapemagic.report.tabs.gradients.matrices import Matrix
from tests.report.recordings import findings_of, record

W = np.arange(6.0).reshape(2, 3) / 9
X = np.array([1.0, 2.0, 3.0])
B = np.array([0.5, -0.5])


def jacobian(function: Any, *inputs: Any) -> list[Matrix]:
    """The Jacobians of ``y = function(a, b, ...)``."""
    return list(record(function, *inputs, matrices=("jacobian",)).matrices)


def hessian(function: Any, *inputs: Any) -> list[Matrix]:
    """The Hessian, or its blocks."""
    return list(record(function, *inputs, matrices=("hessian",)).matrices)


def written(table: Any) -> tuple[tuple[str, ...], ...]:
    """Entries as they are shown."""
    return tuple(tuple(map(format_number, row)) for row in np.atleast_2d(table))


def network(w: Any, x: Any, b: Any) -> Any:
    """A number that depends on a matrix and two vectors of different lengths, none of them linearly."""
    return np.sum(np.tanh(w @ x + b) ** 2)


def test_nothing_unless_it_is_asked_for() -> None:
    """The report has gradients alone."""
    assert () == record(lambda a: a * a, 3.0).matrices


def test_a_jacobian() -> None:
    """A row for each element of the target, a column for each of the source."""
    [matrix] = jacobian(lambda a: np.cumsum(a * a), X)

    assert (
        Matrix(
            "jacobian",
            "y",
            ("a",),
            (3, 3),
            ("y[0]", "y[1]", "y[2]"),
            ("a[0]", "a[1]", "a[2]"),
            (("2.0", "0.0", "0.0"), ("2.0", "4.0", "0.0"), ("2.0", "4.0", "6.0")),
        )
        == matrix
    )


@pytest.mark.parametrize(
    ("function", "inputs", "shape", "rows", "columns", "cells"),
    [
        (lambda a: a**2, (3.0,), (), ("y",), ("a",), (("6.0",),)),
        (np.sum, (X,), (3,), ("y",), ("a[0]", "a[1]", "a[2]"), (("1.0",) * 3,)),
        (lambda a: a * X, (2.0,), (3,), ("y[0]", "y[1]", "y[2]"), ("a",), (("1.0",), ("2.0",), ("3.0",))),
        (lambda a: a[:1].T, (W,), (3, 1, 2, 3), ("y[0,0]", "y[1,0]", "y[2,0]"),
         ("a[0,0]", "a[0,1]", "a[0,2]", "a[1,0]", "a[1,1]", "a[1,2]"), written(np.eye(3, 6))),
        (lambda a: a, (2.0,), (), ("y",), ("a",), (("1.0",),)),
    ],
)  # fmt: skip
def test_shapes(
    function: Any,
    inputs: tuple[Any, ...],
    shape: tuple[int, ...],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    cells: tuple[tuple[str, ...], ...],
) -> None:
    """Whatever the shapes, a matrix has one row for each element of the target."""
    [matrix] = jacobian(function, *inputs)

    assert (shape, rows, columns, cells) == (
        matrix.shape,
        matrix.rows,
        matrix.columns,
        matrix.cells,
    )


def test_every_target_and_source() -> None:
    """There is a Jacobian for each pair."""
    found = jacobian(lambda a, b: (a * b, a + b), 2.0, 3.0)

    assert [("dy0/da", "3.0"), ("dy0/db", "2.0"), ("dy1/da", "1.0"), ("dy1/db", "1.0")] == [
        (matrix.symbol, matrix.cells[0][0]) for matrix in found
    ]


def test_none_has_the_reason_of_the_gradient() -> None:
    """Where nothing is connected, both say why."""
    found = record(lambda a, _b: a * 2, 1.0, X, matrices=("jacobian", "hessian"))

    reason = "Nothing recorded on the tape leads from b to y; y depends on a."
    assert reason == found.derivatives[1].reason
    assert [None, reason, None, reason] == [matrix.reason for matrix in found.matrices]
    assert ["dy/da", "dy/db", "d²y/da²", "d²y/db²"] == [m.symbol for m in found.matrices]
    assert [(), (3,), (1, 1), (3, 3)] == [m.shape for m in found.matrices]


@pytest.mark.parametrize(
    ("function", "value"), [(lambda a: a * 1.5, 2), (lambda _a: tm.constant(2), 1.5)]
)
def test_whole_numbers(function: Any, value: float) -> None:
    """They have no derivatives of either kind."""
    for matrix in (*jacobian(function, value), *hessian(function, value)):
        assert () == matrix.cells
        assert matrix.reason


def test_hessian_of_numbers() -> None:
    """Few variables share one matrix, which says where each derivative stands."""
    [matrix] = hessian(lambda a, b: a * b * np.sin(a), 2.0, 3.0)

    assert ("a", "b") == matrix.rows == matrix.columns
    mixed = 2 * np.cos(2) + np.sin(2)
    second = 3 * (2 * np.cos(2) - 2 * np.sin(2))
    assert written([[second, mixed], [mixed, 0.0]]) == matrix.cells
    assert "d²y/d(a, b)²" == matrix.symbol
    assert ("y is linear in b around here", "row a, column b: d²y/da db") == matrix.notes


def test_hessian_of_one_array() -> None:
    """It is the matrix of the textbook."""
    [matrix] = hessian(lambda a: a[0] ** 2 * a[1] * a[2], X)

    assert written([[12, 6, 4], [6, 0, 1], [4, 1, 0]] * np.ones(1)) == matrix.cells
    assert (3, 3) == matrix.shape
    assert () == matrix.notes


def test_numbers_and_arrays_together() -> None:
    """The elements of all sources follow each other."""
    [matrix] = hessian(lambda a, b: a**2 * np.sum(b**2), 2.0, B)

    assert ("a", "b[0]", "b[1]") == matrix.rows
    assert written([[1, 4, -4], [4, 8, 0], [-4, 0, 8]] * np.ones(1)) == matrix.cells
    assert ("row a, column b[0]: d²y/da d(b[0])",) == matrix.notes


def test_blocks() -> None:
    """More elements have a block for every two variables, each as it is in the whole Hessian."""
    found = hessian(network, W, X, B)

    blocks = tm.hessian(network, argnums=(0, 1, 2))(W, X, B)
    sizes = (6, 3, 2)
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert [written(blocks[i][j].reshape(sizes[i], sizes[j])) for i, j in pairs] == [
        matrix.cells for matrix in found
    ]
    assert ["d²y/da²", "d²y/da db", "d²y/da dc", "d²y/db²", "d²y/db dc", "d²y/dc²"] == [
        matrix.symbol for matrix in found
    ]
    assert [(2, 3, 2, 3), (2, 3, 3), (2, 3, 2), (3, 3), (3, 2), (2, 2)] == [m.shape for m in found]
    assert ("d²y/dc da is its transpose",) == found[2].notes
    assert ("b[0]", "b[1]", "b[2]") == found[4].rows
    assert ("c[0]", "c[1]") == found[4].columns


def test_the_shorter_side_is_enough() -> None:
    """A block is swept from the side that has fewer elements, whichever comes first."""
    long = np.linspace(0.0, 1.0, 2000)

    first, mixed, last = hessian(lambda a, b: np.sum(np.sin(a * b)) * b, long, 0.5)

    assert "4,000,000 entries" in first.notes[0]
    assert ((2000,), ()) == (mixed.shape, last.shape)
    slope = 2 * 0.5 * np.cos(0.5) - 0.25 * np.sin(0.5)
    assert format_number(slope) == mixed.cells[-1][0]
    assert 1 == len(last.cells)


def test_many_variables_share_one_matrix() -> None:
    """Where the blocks would be too many, the matrix is whole, and has a picture."""
    [whole] = hessian(lambda a, b, c, d, e: a * b * c * d * e, *np.arange(1.0, 6.0))
    [larger] = hessian(lambda *xs: np.sum(np.concatenate(xs) ** 3), *np.ones((5, 2)))

    assert (
        written(120 / np.outer(np.arange(1, 6), np.arange(1, 6)) * (1 - np.eye(5))) == whole.cells
    )
    assert "y is linear in a and in b and in c and in d and in e around here" == whole.notes[0]
    assert (10, 10) == larger.shape
    assert larger.heat
    assert larger.heat.cells == tuple(tuple(row) for row in (6 * np.eye(10)).tolist())


@pytest.mark.parametrize("function", [lambda a: 3 * a + 1, lambda a: np.maximum(a, 0.0)])
def test_linear(function: Any) -> None:
    """A function with a constant derivative has a Hessian of zeros, and it is said why."""
    [matrix] = hessian(function, 2.0)

    assert (("0.0",),) == matrix.cells
    assert ("y is linear in a around here",) == matrix.notes


def test_linear_blocks() -> None:
    """So has a block of more elements; one off the diagonal says what does not depend on what."""
    long = np.ones(9)

    first, mixed, last = hessian(lambda a, b: np.sum(a * X[0]) + np.sum(b**2), long, long)

    assert {"0.0", "…"} == {entry for row in (*first.cells, *mixed.cells) for entry in row}
    assert ("y is linear in a around here",) == first.notes
    assert ("dy/da does not depend on b around here", "d²y/db da is its transpose") == mixed.notes
    assert "2.0" == last.cells[0][0]


def test_an_array_counts_as_its_sum() -> None:
    """As for gradients, and it is said: once, if there are several blocks."""
    [matrix] = hessian(lambda a: a**3, X)
    blocks = hessian(lambda a, b: np.tanh(a @ b), W, X)

    assert written(np.diag([6.0, 12.0, 18.0])) == matrix.cells
    assert ("of the sum of the 3 elements of y",) == matrix.notes
    assert [True, False, False] == ["of the sum of the 2 elements of y" in m.notes for m in blocks]


def test_hessians_of_several_targets() -> None:
    """Each has its own."""
    found = hessian(lambda a, b: (a * b, a**2), 2.0, 3.0)

    assert ["d²y0/d(a, b)²", "d²y1/da²", "d²y1/db²"] == [matrix.symbol for matrix in found]
    assert (("0.0", "1.0"), ("1.0", "0.0")) == found[0].cells
    assert (("2.0",),) == found[1].cells
    assert "Nothing recorded on the tape leads from b to y1" in str(found[2].reason)


def test_a_target_that_is_a_source() -> None:
    """Its Hessian is zero."""
    assert (("0.0", "0.0"),) * 2 == hessian(lambda a: a, B)[0].cells


def test_complex_numbers() -> None:
    """A Jacobian is that of the tape; a Hessian would not be one matrix, and says so."""
    [matrix] = jacobian(lambda a: a * a, np.array([1 + 2j, 3j]))
    [second] = hessian(lambda a: a * a, 1 + 2j)

    assert (("2.0-4.0j", "0.0+0.0j"), ("0.0+0.0j", "0.0-6.0j")) == matrix.cells
    assert "a holds complex numbers, whose second derivatives are not one matrix" in str(
        second.reason
    )


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    """They have matrices without cells."""
    for matrix in (
        *jacobian(lambda a: a * 2, np.ones(shape)),
        *hessian(lambda a, b: np.sum(a**2) * b, np.ones(shape), 2.0)[:1],
    ):
        assert matrix.reason is None
        assert not matrix.notes or "linear" in matrix.notes[0]


def test_too_many_entries() -> None:
    """A matrix that is too large is refused at once, the gradient is not, and it is said what to call."""
    long = np.ones(30_000)

    began = time.perf_counter()
    found = record(lambda a: a**2, long, matrices=("jacobian", "hessian"))

    assert time.perf_counter() - began < 5
    assert "30,000 elements, all 2.0" == found.derivatives[0].text
    first, second = found.matrices
    assert (
        "not computed, since it has 900,000,000 entries, and a report takes on 1,000,000; "
        "tape.jacobian computes it"
    ) == first.notes[0]
    assert "of the sum of the 30,000 elements of y" == second.notes[0]
    assert "of a gradient that was taken in the cell, with -p" in second.notes[1]
    assert ((), (), None) == (first.cells, second.cells, first.reason)


def test_the_largest() -> None:
    """A million entries are not too many."""
    [matrix] = jacobian(lambda a: a**2, np.ones(1000))

    assert "0.0 to 2.0" == matrix.extent


def test_too_much_work() -> None:
    """A thin matrix may need sweeps over large values: it is refused, too."""
    long = np.linspace(0.0, 1.0, 30_000)

    began = time.perf_counter()
    [matrix] = jacobian(lambda a: np.sin(a * long), 2.0)
    [second] = hessian(lambda a: np.sin(a * long), 2.0)

    assert time.perf_counter() - began < 5
    assert "its sweep would pass 1,800,000,000 numbers" in matrix.notes[0]
    assert format_number(-np.sum(long**2 * np.sin(2.0 * long))) == second.cells[0][0]


def test_only_what_leads_to_the_target_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else was recorded does not count."""
    monkeypatch.setattr(jacobians, "MAX_WORK", 20)

    def compute(a: Any) -> Any:
        np.sin(a * np.ones(1000))
        return a * 2

    assert (("2.0",),) == jacobian(compute, 3.0)[0].cells


def failing() -> Any:
    """An operation whose rule does not work."""

    def rule(_g: Any, _y: Any, _x: Any) -> Any:
        raise np.linalg.LinAlgError("Singular matrix")

    operation = registry.Operation(lambda x: x + 0.0)
    operation.rules = (rule,)
    return lambda x: dispatch.apply(operation, (x,), {})


def test_a_rule_that_fails() -> None:
    """It is the reason for a None, of the gradient and of the matrices."""
    found = record(failing(), 2.0, matrices=("jacobian", "hessian"))

    reason = "computing it failed with LinAlgError: Singular matrix"
    assert [reason] * 2 == [matrix.reason for matrix in found.matrices]


def test_a_rule_that_fails_for_matrices_alone() -> None:
    """What fails with an extra axis, or in the second order, is told of, and the gradient is there."""

    def rule(g: Any, _y: Any, x: Any) -> Any:
        if isinstance(g, tm.Tensor) or np.ndim(g) > np.ndim(x):
            raise ValueError("one at a time")
        return g * 2

    operation = registry.Operation(lambda x: np.cumsum(x) * 2)
    operation.rules = (rule,)

    found = record(
        lambda a: dispatch.apply(operation, (a,), {}), X, matrices=("jacobian", "hessian")
    )

    assert "[2.0, 2.0, 2.0]" == found.derivatives[0].text
    reason = "computing it failed with ValueError: one at a time"
    assert [reason] * 2 == [matrix.reason for matrix in found.matrices]
    assert "d²y/da²" == found.matrices[1].symbol


def recording() -> tuple[Observer, list[Named], list[Named]]:
    """An observer that has heard a small computation, its target and its sources."""
    x, b = tm.constant(X), tm.Variable(2.0)
    with Observer() as observer:
        observer.watch(x)
        y = np.sum(np.sin(x) * b**2)
    return observer, [("y", y)], [("x", x), ("b", b)]


def test_nothing_is_recorded() -> None:
    """The observer knows no more than before, and the graph is the same as without matrices."""
    observer, targets, sources = recording()
    count, events = len(observer._records), list(observer._events)

    plain = findings_of(observer, targets, sources)
    full = findings_of(observer, targets, sources, matrices=("jacobian", "hessian"))

    assert plain.graph == full.graph
    assert plain.variables == full.variables
    assert plain.derivatives == full.derivatives
    assert (count, events) == (len(observer._records), observer._events)
    assert {0} == {step.order for step in full.graph.steps}


def test_nobody_else_hears_of_it() -> None:
    """A tape that records around it all hears nothing of the matrices."""
    observer, targets, sources = recording()
    with tm.GradientTape() as outer:
        outer.watch([x for _, x in sources])
        findings_of(observer, targets, sources)
        count = len(outer.records)
        findings_of(observer, targets, sources, matrices=("hessian", "jacobian"))

    assert 2 * count == len(outer.records)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_order_makes_no_difference(order: int) -> None:
    """The matrices are the same, however many orders of gradients are asked for."""
    observer, targets, sources = recording()

    found = findings_of(observer, targets, sources, order, matrices=("jacobian", "hessian"))

    assert [(1, 3), (1, 1), (4, 4)] == [(len(m.rows), len(m.columns)) for m in found.matrices]
    sine = np.sin(X)
    block = np.diag([*(-4 * sine), 2 * np.sum(sine)])
    block[:3, 3] = block[3, :3] = 4 * np.cos(X)
    assert written(block) == found.matrices[2].cells
    assert order * 2 == len(found.derivatives)
