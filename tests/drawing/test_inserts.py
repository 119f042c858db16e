"""Small pictures in the boxes of a graph."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tapemagic.drawing.dot import dot
from tapemagic.drawing.inserts import ARRAY, CAPTION_SIZE, GAP, MAX_PICTURED, PLOT, Inserts
from tapemagic.drawing.labels import text_width
from tapemagic.drawing.svg import draw
from tapemagic.report.summary import summarise
from tapemagic.report.tabs.graph.boxes import LoopVariable
from tapemagic.report.tabs.graph.graph import Graph, Step, Value
from tapemagic.report.tabs.training.series import series_of
from tests.drawing.test_dot import NASTY

GROWING = series_of("", [1.0, 2.0, 4.0])
FALLING = series_of("", [9.0, 0.5])


def value(index: int, name: str, *arrays: Any) -> Value:
    """A value with the pictures of an array, and of its gradient."""
    summary, gradient = (*map(summarise, arrays), None, None)[:2]
    text = "" if summary is None else summary.text
    return Value(
        index, name, "watched", (), "", text, "", summary=summary, gradient_summary=gradient
    )


def loop(*carried: LoopVariable) -> Graph:
    """A graph of a loop."""
    box = Step(0, "line 2, 3 times", (0,), (1,), elided=3, kind="loop", carried=carried)
    return Graph((value(0, "x"), value(1, "y")), (box,))


def fragment(graph: Graph) -> ET.Element:
    """The only picture of a graph."""
    [insert] = Inserts(graph).by_number.values()
    return ET.fromstring(f"<svg>{insert.fragment}</svg>")  # noqa: S314 -- our own


def words(graph: Graph) -> list[str]:
    """The captions in the only picture of a graph."""
    return [str(text.text) for text in fragment(graph).iter("text")]


def test_a_plot() -> None:
    """A carried number has its name, and its first and last number."""
    graph = loop(LoopVariable("y", GROWING))

    assert ["y: 1.0 … 4.0"] == words(graph)
    [insert] = Inserts(graph).by_number.values()
    assert PLOT[0] == insert.width


def test_a_plot_of_gradients() -> None:
    """It stands beside that of the values."""
    graph = loop(LoopVariable("y", GROWING, FALLING))

    assert ["y: 1.0 … 4.0", "gradient: 9.0 … 0.5"] == words(graph)
    [insert] = Inserts(graph).by_number.values()
    # Both columns are as wide as the longer caption.
    column = (insert.width - GAP) / 2
    assert max(PLOT[0], text_width("gradient: 9.0 … 0.5", CAPTION_SIZE)) == pytest.approx(column)
    left, right = (float(text.attrib["x"]) for text in fragment(graph).iter("text"))
    assert (left, right) == pytest.approx((column / 2, column * 1.5 + GAP), abs=0.01)


@pytest.mark.parametrize(
    ("carried", "expected"),
    [
        (LoopVariable("w", GROWING, is_norm=True), ["norm of w: 1.0 … 4.0"]),
        (
            LoopVariable("", GROWING, FALLING, is_norm=True),
            ["norm of a value: 1.0 … 4.0", "norm of gradient: 9.0 … 0.5"],
        ),
        (LoopVariable("", GROWING), ["1.0 … 4.0"]),
        (LoopVariable("y", series_of("", [np.nan, 1.0, np.inf])), ["y: nan … inf"]),
        (LoopVariable("a" * 17, GROWING), [f"{'a' * 15}…: 1.0 … 4.0"]),
    ],
)
def test_captions(carried: LoopVariable, expected: list[str]) -> None:
    """Norms are called norms, what has no name has none, and a long name is cut."""
    assert expected == words(loop(carried))


def test_rows_do_not_overlap() -> None:
    """Several carried values have a row each, within the height of the picture."""
    graph = loop(*(LoopVariable(name, GROWING) for name in "abc"))

    [insert] = Inserts(graph).by_number.values()
    rows = [float(text.attrib["y"]) for text in fragment(graph).iter("text")]
    assert all(below - above >= PLOT[1] + 8 for above, below in pairwise(rows))
    assert rows[-1] + PLOT[1] < insert.height


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names(name: str) -> None:
    """They are text."""
    [caption] = words(loop(LoopVariable(name, GROWING)))

    assert caption.endswith(": 1.0 … 4.0")
    assert caption.isprintable()


def test_arrays() -> None:
    """An array has a picture, with its gradient's beside it if that is one, too."""
    array = np.linspace(-1.0, 1.0, 100)

    inserts = Inserts(Graph((value(0, "x", array), value(1, "y", array, -array)), ()))

    assert [ARRAY[0], 2 * ARRAY[0] + GAP] == [x.width for x in inserts.by_number.values()]
    assert [1, 2] == [x.fragment.count("<g transform") for x in inserts.by_number.values()]


def test_not_all_arrays() -> None:
    """There is a limit; values with a name come first."""
    array = np.linspace(-1.0, 1.0, 100)
    made = (value(k, "" if k < 16 else f"x{k}", array) for k in range(20))
    values = tuple(replace(x, role="computed") for x in made)

    inserts = Inserts(Graph(values, ()))

    shown = [k for k in range(20) if inserts.of_value(values[k])]
    assert [0, 1, *range(16, 20)] == shown
    assert len(shown) == len(inserts.by_number) == MAX_PICTURED


def test_what_has_no_picture() -> None:
    """Numbers and operations have none."""
    graph = Graph((value(0, "x"),), (Step(0, "sin", (0,), ()),))
    inserts = Inserts(graph)

    assert (None, None, {}) == (
        inserts.of_value(graph.values[0]),
        inserts.of_step(graph.steps[0]),
        inserts.by_number,
    )


def test_in_the_picture() -> None:
    """Each stands in its box, and leaves no mark in the text."""
    graph = loop(LoopVariable("y", GROWING, FALLING))
    array = value(0, "x", np.linspace(-1.0, 1.0, 100))
    graph = replace(graph, values=(array, graph.values[1]))
    inserts = Inserts(graph)

    drawing = draw(dot(graph, (), inserts), inserts.by_number)

    assert drawing.picture
    assert {0, 1} == {
        number
        for number, insert in inserts.by_number.items()
        if any(inset.insert is insert for inset in drawing.picture.insets)
    }
    assert not re.search("[\ue000-\uf8ff]|MMM", str(drawing.svg))
