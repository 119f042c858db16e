"""The picture of a plot: its SVG, its marks, and the faces that show it."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tapemagic.drawing.curves import MAX_TARGETS, CurvePicture, curve_picture
from tapemagic.drawing.elements import BESIDE, image, svg_of
from tapemagic.drawing.html_to_latex import converted
from tapemagic.report.tabs.plot.plot import Curve, Plot

pytestmark = pytest.mark.thorough

XS = tuple(float(x) for x in np.linspace(-2, 2, 193))
HOSTILE = "a['$x_1$</svg><script>']"


def plot_of(*curves: Curve, name: str = "x", at: float = 1.0, coarse: bool = False) -> Plot:
    """A plot over the range from -2 to 2."""
    return Plot(name, -2.0, 2.0, XS, tuple(range(0, 193, 24)), curves, at, (), coarse)


def curve(
    values: list[float],
    order: int = 0,
    here: float = math.nan,
    breaks: frozenset[int] = frozenset(),
    target: str = "y",
) -> Curve:
    """A curve of y."""
    return Curve(target, order, f"d{order}{target}", tuple(values), breaks, here)


def square() -> Plot:
    """The square of x with its first two derivatives."""
    ys = ([x * x for x in XS], [2 * x for x in XS], [2.0 for _ in XS])
    return plot_of(*(curve(y, k, 2.0 if k else 1.0) for k, y in enumerate(ys)))


def picture_of(plot: Plot) -> CurvePicture:
    """The picture of a plot that has one."""
    picture = curve_picture(plot)
    assert picture is not None
    ET.fromstring(picture.svg())  # noqa: S314 -- our own
    return picture


def test_size() -> None:
    """A plot is small, also with ten curves that zigzag."""
    zigzag = plot_of(*(curve([math.sin(9.0 * k * x + k) for x in XS], k) for k in range(10)))

    assert len(picture_of(square()).svg()) < 12_000
    assert len(picture_of(zigzag).svg()) < 40_000
    assert len(picture_of(plot_of(*zigzag.curves[:4])).svg()) < 25_000


def test_marks_and_tangent() -> None:
    """Marks lie on the curves, and the tangent has the slope of the derivative in the scales of the picture."""
    picture = picture_of(square())

    first, second, third = picture.marks
    assert first.x == second.x == third.x
    assert second.y == third.y < first.y
    assert first.tangent is not None
    x1, y1, x2, y2 = first.tangent
    per_unit = first.y - second.y
    assert math.isclose((y1 - y2) / (x2 - x1), 2 * per_unit / ((620 - 12 - 62) / 4), rel_tol=0.02)
    assert second.tangent is third.tangent is None
    assert picture.svg().count("<circle") == 3 == picture.layer.count("<circle")
    assert "<circle" not in picture.svg(marked=False)


def test_a_curve_that_was_drawn_is_not_drawn_again() -> None:
    """Another ordinary run has the same picture with other marks."""
    one, other = square(), square()
    moved = Plot(**{**other.__dict__, "at": -1.0})

    assert picture_of(one).content is picture_of(moved).content
    assert picture_of(one).marks != picture_of(moved).marks


@pytest.mark.parametrize(
    "values",
    [
        [0.0] * 193,
        [1e-300 * x for x in XS],
        [1e149 * x for x in XS],
        [1e9 + x for x in XS],
        [math.nan] * 192 + [1.0],
        [math.nan if k % 2 else 1.0 for k in range(193)],
    ],
)
def test_unusual_values(values: list[float]) -> None:
    """Constant, tiny and huge values, and single ones, have a picture with finite numbers."""
    svg = picture_of(plot_of(curve(values))).svg()

    assert "nan" not in svg.lower().replace("dominant", "")
    assert "inf" not in svg


def test_poles_are_cut_off() -> None:
    """Values close to a gap do not determine the scale; all others do."""
    pole = [1 / x if abs(x) > 1e-12 else math.nan for x in XS[:-1]] + [0.5]
    pole[95], pole[97] = -1e9, 1e9

    assert ("The picture of y is cut off: it shows values from -6.6 to 6.6.",) == picture_of(
        plot_of(curve(pole))
    ).notes
    assert () == picture_of(plot_of(curve([math.exp(9 * x) for x in XS]))).notes


def test_curves_are_not_connected_over_gaps_and_jumps() -> None:
    """A curve has a piece on each side."""
    step = [float(x > 0) for x in XS]
    at = step.index(1.0) - 1

    def pieces(*shown: Curve) -> int:
        found = re.findall(
            r'<path d="([^"]*)"[^>]*stroke="#3b82f6"', picture_of(plot_of(*shown)).content
        )
        return max(path.count("M") for path in found)

    assert 1 == pieces(curve(step))
    assert 2 == pieces(curve(step, breaks=frozenset({at})))
    assert 2 == pieces(curve([math.nan if k == 50 else 1.0 for k in range(193)]))


def test_hostile_names() -> None:
    """Names are text, also in a data URI and on paper."""
    hostile = plot_of(
        Curve(HOSTILE, 0, HOSTILE, tuple(x for x in XS), frozenset(), 1.0), name="_ф\u202e"
    )

    picture = picture_of(hostile)
    html = image(picture.svg(), "words", "", BESIDE)
    assert "<script" not in picture.svg()
    assert "<script" not in html
    ET.fromstring(svg_of(re.findall('src="([^"]*)"', html)[0].replace("&amp;", "&")))  # noqa: S314
    assert "" == converted(html, {}).strip()


def test_many_targets() -> None:
    """Each target has axes of its own, up to a number, and the others are named."""
    picture = picture_of(plot_of(*(curve([*XS], 0, 1.0, target=f"y{k}") for k in range(6))))

    assert MAX_TARGETS == len(picture.marks)
    assert ("Not drawn, for lack of room: y4, y5.",) == picture.notes


def test_the_number_of_points_of_a_slow_cell() -> None:
    """It stands in the picture, which nbval does not compare: it depends on the machine."""
    assert "193 points" in picture_of(plot_of(curve([*XS]), coarse=True)).content
    assert "points" not in picture_of(plot_of(curve([*XS]))).content


def test_nothing() -> None:
    """Without a curve there is no picture."""
    assert curve_picture(plot_of(curve([math.nan] * 193))) is None
    assert curve_picture(plot_of()) is None
