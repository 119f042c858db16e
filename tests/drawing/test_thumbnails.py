"""Small pictures of arrays are small in bytes, too, and say what they show."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tapemagic.drawing.heatmap import MARKS
from tapemagic.drawing.pixels import png
from tapemagic.drawing.thumbnails import picture, thumbnail, words
from tapemagic.report.summary import summarise
from tests.drawing.pictures import cells_in, read_png

BLANK = "#ffffff"
RNG = np.random.default_rng(1)
HOLES = RNG.normal(size=(64, 128))
HOLES[::7, ::3] = np.nan
HOLES[5, 5] = np.inf
IMAGE = RNG.random((64, 64, 3))


def cells_of(value: Any) -> list[list[str]]:
    """The colours of the cells in the picture of an array."""
    return cells_in(thumbnail(summarise(value), 60, 60))


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (24, 24)])
@pytest.mark.parametrize("colours", [2, 5000])
def test_png(shape: tuple[int, int], colours: int) -> None:
    """A picture holds its colours, few or many."""
    table = [[f"#{x:06x}" for x in row] for row in RNG.integers(0, colours, shape).tolist()]

    assert table == read_png(png(table))


def test_a_matrix() -> None:
    """Blue below zero, white at zero, orange above it, each as strong as it is large."""
    cells = cells_of(np.array([[-2.0, 0.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0, -1.0]]))

    assert [
        ["#1d4ed8", BLANK, BLANK, BLANK, "#b45309"],
        ["#d49d72", BLANK, BLANK, BLANK, "#7e9ae9"],
    ] == cells


def test_what_is_not_finite_has_a_pattern() -> None:
    """A cell with a nan or an infinity has a pattern, which no number has, and leaves the others alone."""
    array = np.zeros((5, 5))
    array[1, 2], array[4, 4] = np.nan, -np.inf

    cells = cells_of(array)

    marked = {
        (i // 2, j // 2) for i, row in enumerate(cells) for j, c in enumerate(row) if c in MARKS
    }
    assert {(1, 2), (4, 4)} == marked
    assert [MARKS[1], MARKS[0]] == cells[3][4:6]


@pytest.mark.parametrize(
    ("value", "most"),
    [
        (RNG.normal(size=(784, 128)), 1200),
        (RNG.normal(size=10**6), 1200),
        (np.full((9, 9), np.nan), 1200),
        (np.where(RNG.random(10**4) < 0.5, np.nan, RNG.normal(size=10**4)), 1200),
        (HOLES, 3000),
        (IMAGE, 3000),
        (RNG.normal(size=(64, 64, 3)), 1200),
        (RNG.normal(size=(9, 9)) * 1e300, 1200),
    ],
)
def test_size(value: Any, most: int) -> None:
    """A picture is an SVG element of few bytes, the same each time."""
    found = thumbnail(summarise(value), 60, 60)

    ET.fromstring(f"<svg>{found}</svg>")  # noqa: S314 -- we drew it
    assert len(found) <= most
    assert found == thumbnail(summarise(value), 60, 60)
    assert not re.search(r"nan|inf\b|e\+", re.sub(r'"data:[^"]*"', "", found))


@pytest.mark.parametrize(
    "value", [3.0, np.eye(4), np.zeros((0, 9)), np.array(["a"] * 9), np.ma.masked_all((9, 9))]
)
def test_no_picture(value: Any) -> None:
    """What is written out, empty, or not made of numbers has none."""
    assert "" == picture(summarise(value)) == thumbnail(summarise(value), 60, 60)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.arange(9.0), "vector of 9 numbers, 0.0 to 8.0, mean 4.0"),
        (np.full((5, 6), np.nan), "5×6 matrix, all nan"),
        (np.zeros((8, 8, 3)), "8×8×3 image, all 0.0"),
        (np.zeros((32, 8, 5, 5)), "32×8×5×5 array, all 0.0, the picture shows [0, 0] of 32×8"),
    ],
)  # fmt: skip
def test_words(value: Any, expected: str) -> None:
    """The alternative text has the shape, the range and the mean."""
    assert expected == words(summarise(value))
    assert f'alt="{expected}"' in picture(summarise(value))


def test_zero_line() -> None:
    """A curve shows zero unless it is far away; a constant shows how it lies to zero."""
    assert "stroke-width" in thumbnail(summarise(np.arange(9.0)), 60, 20)
    assert "stroke-width" in thumbnail(summarise(np.full(9, 5.0)), 60, 20)
    assert "stroke-width" not in thumbnail(summarise(1000 + np.arange(9.0)), 60, 20)
