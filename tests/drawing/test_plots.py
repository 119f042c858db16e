"""Line plots in SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import pytest

from tapemagic.drawing.inset_plots import figure, helps_log, plot
from tapemagic.report.tabs.training.series import series_of

HARD: dict[str, Sequence[float]] = {
    "one": [3.0],
    "equal": [2.0] * 30,
    "huge": [1e308, -1e308, 1e308],
    "apart": [5e-324, 1e308],
    "tiny": [5e-324, 1e-323],
    "near": [1e16, 1e16 + 2],
    "gaps": [math.nan, 1.0, math.inf, 2.0, 3.0, math.nan],
    "long": [math.sin(k / 7) * math.exp(k / 900) for k in range(5000)],
}


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("name", HARD)
def test_numbers_at_the_limits(name: str, log: bool) -> None:
    """Every plot is small XML without a nan."""
    series = [series_of(name, HARD[name])]
    for drawn in (f"<svg>{plot(series, 200, 100, log)}</svg>", figure(series, name, log=log)):
        ET.fromstring(drawn)  # noqa: S314 -- our own
        assert "nan" not in drawn
        assert "inf" not in drawn
        assert len(drawn) < 2000


def test_nothing_to_draw() -> None:
    """Without a finite number there is no plot."""
    for values in ([], [math.nan], [math.inf, math.nan]):
        assert plot([series_of("", values)], 50, 20) == ""
        assert figure([series_of("", values)], "loss") == ""


def test_gaps() -> None:
    """What is not finite interrupts a line; a number alone is a dash."""
    drawn = plot([series_of("", HARD["gaps"])], 50, 20)

    way = drawn.partition(' d="')[2]
    assert way.count("M") == 2
    assert way.count("m") == 1


def test_a_peak_survives() -> None:
    """However long the series and small the plot."""
    values = [0.0] * 10_000
    values[6543] = 1.0
    assert ",1.5L" in plot([series_of("", values)], 60, 20)


def test_several_lines() -> None:
    """Fewer points each, so that the plot stays small; colours differ."""
    series = [series_of(str(k), HARD["long"]) for k in range(4)]
    drawn = plot(series, 300, 200)

    assert len(drawn) < 3000
    assert len({part[:7] for part in drawn.split('stroke="')[1:]}) >= 4


def test_hostile_titles() -> None:
    """Titles are text in one line, and short."""
    drawn = figure([series_of("", [1.0, 2.0])], '<script>"\n\u202e]]>' + "x" * 10_000)

    ET.fromstring(drawn)  # noqa: S314 -- our own
    assert "<script" not in drawn
    assert "\u202e" not in drawn
    assert len(drawn) < 2000


def test_scales() -> None:
    """Logarithmic only for positive numbers that are far apart."""
    assert helps_log([series_of("", [1.0, 101.0])])
    for values in ([1.0, 99.0], [0.0, 1000.0], [-1.0, 1000.0], [math.nan]):
        assert not helps_log([series_of("", values)])
