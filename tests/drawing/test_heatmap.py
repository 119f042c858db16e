"""A heat-map is an SVG whose colours stand for numbers."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tapemagic.drawing.heatmap import MARKS, color, heatmap
from tapemagic.report.tabs.gradients.matrices import Matrix
from tests.drawing.pictures import cells_in
from tests.drawing.test_dot import NASTY

BLANK = "#ffffff"
SVG = "{http://www.w3.org/2000/svg}"


def drawn(
    cells: Any, rows: Any = ("y[0]", "…", "y[9]"), columns: Any = ("x[0]", "…", "x[9]")
) -> Any:
    """The picture of a matrix with these cells, read."""
    source = heatmap(Matrix("jacobian", "y", ("x",), (), rows, columns), cells)
    return ET.fromstring(source)  # noqa: S314 -- we drew it


def words(picture: Any) -> list[str]:
    """What stands in a picture."""
    return [text.text for text in picture.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (0.0, BLANK),
        (-0.0, BLANK),
        (0.01, BLANK),
        (1.0, "#b45309"),
        (-1.0, "#1d4ed8"),
        (7.0, "#b45309"),
        (math.inf, "#b45309"),
        (-math.inf, "#1d4ed8"),
        (0.5, "#d49d72"),
        (-0.5, "#7e9ae9"),
    ],
)
def test_colour(part: float, expected: str) -> None:
    """Orange above zero and blue below it, the stronger the larger."""
    assert expected == color(part)


@pytest.mark.parametrize("k", range(65))
def test_last_digits_do_not_count(k: int) -> None:
    """Numbers that differ by rounding have one color, also where a shade ends."""
    part = k / 64

    assert color(part) == color(part * (1 + 1e-12)) == color(part * (1 - 1e-12))


@pytest.mark.parametrize("shape", [(1, 1), (1, 64), (64, 2), (64, 64), (9, 13)])
def test_every_cell_has_its_colour(shape: tuple[int, int]) -> None:
    """The picture holds the colours of the cells."""
    table = np.random.default_rng(2).normal(size=shape).round()
    most = max(1.0, np.abs(table).max())

    source = ET.tostring(drawn(tuple(map(tuple, table.tolist())))).decode()

    assert cells_in(source) == [[color(x / most) for x in row] for row in table.tolist()]


def test_zeros() -> None:
    """A matrix of zeros is white, and its scale ends where it begins."""
    picture = drawn(((0.0, 0.0), (0.0, 0.0)))

    assert [[BLANK] * 2] * 2 == cells_in(ET.tostring(picture).decode())
    assert ["x[0]", "x[9]", "y[0]", "y[9]", "0.0"] == words(picture)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite(bad: float) -> None:
    """It has a pattern, and the other numbers keep their colours."""
    cells = cells_in(ET.tostring(drawn(((bad, 2.0),))).decode())

    assert [[*MARKS, "#b45309", "#b45309"], [*MARKS[::-1], "#b45309", "#b45309"]] == cells


@pytest.mark.parametrize(
    ("cells", "scale", "stops"),
    [
        (((-2.0, 1.0),), ["1.0", "-2.0"], [("0", 0.5), ("0.3333", 0.0), ("1", -1.0)]),
        (((3.0, 1.0),), ["3.0", "0.0"], [("0", 1.0), ("1", 0.0), ("1", 0.0)]),
        (((-3.0, -1.0),), ["0.0", "-3.0"], [("0", 0.0), ("0", 0.0), ("1", -1.0)]),
        (((math.nan, math.inf, 4.0),), ["4.0", "0.0"], [("0", 1.0), ("1", 0.0), ("1", 0.0)]),
        (((math.nan,),), ["0.0"], [("0", 0.0), ("0", 0.0), ("1", 0.0)]),
    ],
)
def test_the_scale(cells: Any, scale: list[str], stops: list[tuple[str, float]]) -> None:
    """It goes over all finite cells and zero, in the colours of the cells."""
    picture = drawn(cells)

    assert scale == words(picture)[4:]
    found = [(stop.get("offset"), stop.get("stop-color")) for stop in picture.iter(f"{SVG}stop")]
    assert [(place, color(part)) for place, part in stops] == found


def test_one_row() -> None:
    """The only row has one name."""
    assert ["x[0]", "x[9]", "y", "1.0", "0.0"] == words(drawn(((1.0,) * 10,), ("y",)))


@pytest.mark.parametrize("name", NASTY)
def test_names(name: str) -> None:
    """Whatever a variable is called, it is text, as long as there is room, and its end is shown."""
    picture = drawn(((1.0,),), (name,), ("x" * 50 + "[7]",))

    column, row, *_ = words(picture)
    assert "…" + "x" * 16 + "[7]" == column
    shown = "".join(char if char.isprintable() else " " for char in name)
    assert row in {shown, f"…{shown[-19:]}"}


@pytest.mark.parametrize("shape", [(1, 1), (1, 64), (64, 1), (64, 64), (3, 40)])
def test_nothing_sticks_out(shape: tuple[int, int]) -> None:
    """The picture is large enough for what is in it, and not too large for a page."""
    picture = drawn(tuple(map(tuple, np.ones(shape).tolist())))

    width, height = int(picture.get("width")), int(picture.get("height"))
    assert 100 < width < 560
    assert 40 < height < 400
    for box in picture.iter(f"{SVG}rect"):
        assert int(box.get("x")) + int(box.get("width")) <= width
        assert int(box.get("y")) + int(box.get("height")) <= height


def test_it_is_small() -> None:
    """The largest picture takes less than 10 kB."""
    noise = np.random.default_rng(3).normal(size=(64, 64)).tolist()

    source = heatmap(Matrix("jacobian", "y", ("x",), (), ("y",), ("x",)), tuple(map(tuple, noise)))

    assert 10_000 > len(source)
