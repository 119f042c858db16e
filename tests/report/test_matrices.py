"""A matrix as data: names for rows and columns, what is written out of it, and its colours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tapemagic.report.tabs.gradients.matrices import GAP, Matrix, MatrixAxis, with_entries

BLANK = Matrix("jacobian", "y", ("x",))


def filled(table: Any) -> Matrix:
    """A matrix of y by x with these entries."""
    table = np.array(table)
    rows, columns = table.shape
    return with_entries(
        BLANK, table, MatrixAxis((("y", (rows,)),)), MatrixAxis((("x", (columns,)),))
    )


@pytest.mark.parametrize(
    ("shape", "position", "expected"),
    [((), 0, "x"), ((3,), 2, "x[2]"), ((2, 3), 4, "x[1,1]"), ((2, 1, 2), 3, "x[1,0,1]")],
)
def test_names_of_elements(shape: tuple[int, ...], position: int, expected: str) -> None:
    """An element is called as one would write it."""
    assert expected == MatrixAxis((("x", shape),)).label(position)


def test_a_side_of_several() -> None:
    """The elements of one array follow those of another; an expression stands in brackets."""
    side = MatrixAxis((("a", ()), ("w", (0,)), ("b * 2", (2,))))

    assert ("a, w, b * 2", 3) == (side.name, side.size)
    assert ["a", "(b * 2)[0]", "(b * 2)[1]"] == [side.label(i) for i in range(side.size)]
    with pytest.raises(IndexError):
        side.label(3)


@pytest.mark.parametrize(
    ("kind", "sources", "expected"),
    [
        ("jacobian", ("x",), "dy/dx"),
        ("hessian", ("x", "x"), "d²y/dx²"),
        ("hessian", ("x", "w"), "d²y/dx dw"),
        ("hessian", ("x, w", "x, w"), "d²y/d(x, w)²"),
    ],
)
def test_symbol(kind: Any, sources: tuple[str, ...], expected: str) -> None:
    """A matrix is written as the derivative that it is."""
    assert expected == Matrix(kind, "y", sources).symbol


def test_a_small_one() -> None:
    """Eight rows and columns are written out, to six digits, and need no picture."""
    matrix = filled(np.arange(64.0).reshape(8, 8) / 3)

    assert tuple(f"y[{i}]" for i in range(8)) == matrix.rows
    assert tuple(f"x[{i}]" for i in range(8)) == matrix.columns
    assert "0.333333" == matrix.cells[0][1]
    assert ("", None) == (matrix.extent, matrix.heat)


def test_a_large_one() -> None:
    """Of more, the first and the last are written out, and all are in the picture."""
    matrix = filled(np.arange(27.0).reshape(3, 9))

    assert ("y[0]", "y[1]", "y[2]") == matrix.rows
    assert ("x[0]", "x[1]", "x[2]", "x[3]", GAP, "x[6]", "x[7]", "x[8]") == matrix.columns
    assert ("9.0", "10.0", "11.0", "12.0", GAP, "15.0", "16.0", "17.0") == matrix.cells[1]
    assert "0.0 to 26.0" == matrix.extent
    assert matrix.heat
    assert (1, 1) == matrix.heat.block
    np.testing.assert_array_equal(matrix.heat.cells, np.arange(27.0).reshape(3, 9))


def test_a_gap_in_both_directions() -> None:
    """A row that is left out is a row of gaps."""
    matrix = filled(np.eye(12))

    assert 8 == len(matrix.rows) == len(matrix.columns)
    assert GAP == matrix.rows[4]
    assert (GAP,) * 8 == matrix.cells[4]
    assert "1.0" == matrix.cells[7][7]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (0, 20), (20, 0)])
def test_an_empty_one(shape: tuple[int, int]) -> None:
    """There are no cells, and no picture."""
    matrix = filled(np.zeros(shape))

    assert ((), None) == (matrix.cells, matrix.heat)


@pytest.mark.parametrize(
    ("shape", "block", "cells"),
    [
        ((64, 64), (1, 1), (64, 64)),
        ((65, 9), (2, 1), (33, 9)),
        ((1, 1000), (1, 16), (1, 63)),
        ((128, 129), (2, 3), (64, 43)),
    ],
)
def test_means(shape: tuple[int, int], block: tuple[int, int], cells: tuple[int, int]) -> None:
    """At most 64 cells either way, each the mean of its block, also of a smaller one at the end."""
    table = np.random.default_rng(1).normal(size=shape)
    rows, columns = block
    expected = [
        [table[i : i + rows, j : j + columns].mean() for j in range(0, shape[1], columns)]
        for i in range(0, shape[0], rows)
    ]

    heat = filled(table).heat

    assert heat
    assert block == heat.block
    assert cells == np.shape(heat.cells)
    np.testing.assert_allclose(heat.cells, expected, rtol=1e-5)
    assert all(x == float(f"{x:.6g}") for row in heat.cells for x in row)


def test_complex_entries() -> None:
    """They are written out whole, and have the colour of their absolute values."""
    matrix = filled(np.full((1, 9), 3 - 4j))

    assert "3.0-4.0j" == matrix.cells[0][0]
    assert matrix.heat
    assert matrix.heat.absolute
    assert ((5.0,) * 9,) == matrix.heat.cells


def test_infinite_and_missing_entries() -> None:
    """They stay what they are, without a warning."""
    table = np.ones((100, 1))
    table[0], table[2], table[4:6, 0] = np.inf, np.nan, (np.inf, -np.inf)

    heat = filled(table).heat

    assert heat
    first, second, third, *_ = (row[0] for row in heat.cells)
    assert math.isinf(first)
    assert math.isnan(second)
    assert math.isnan(third)
