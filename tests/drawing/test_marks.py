"""Names in live pictures, by which the front end finds what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tapemagic.drawing import dot as dot_module
from tapemagic.drawing.dot import Places, dot, fields, orders_with_gradients, shortened
from tapemagic.drawing.engines import by_dot, by_pygraphviz
from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.picture import read
from tapemagic.drawing.svg import Drawing
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.graph.graph import Graph
from tests.drawing.test_dot import NASTY
from tests.report.recordings import chain, product, record, regression, square

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [*NASTY, "gradient 1.0", "gradient ", "a = 3.0", "x" * 500]


def groups(root: ET.Element, attribute: str) -> Iterator[tuple[str, ET.Element]]:
    """The groups with an attribute, and what it says."""
    return (
        (group.attrib[attribute], group)
        for group in root.iter(SVG + "g")
        if attribute in group.attrib
    )


def marked(group: ET.Element, mark: str, tag: str = "text") -> list[str]:
    """The text of the elements with a class in a group."""
    return [
        "".join(part.itertext()).replace("\u00a0", " ")
        for part in group.iter(SVG + tag)
        if part.get("class") == mark
    ]


def live(graph: Graph, drawer: Callable[[str], str]) -> ET.Element:
    """A graph as a live picture."""
    inserts = Inserts(graph)
    drawing = Drawing(read(drawer(dot(graph, (), inserts)), inserts.by_number))
    return ET.fromstring(str(drawing.live))  # noqa: S314 -- we drew it


def check(graph: Graph, drawer: Callable[[str], str]) -> None:
    """Whether every node, edge and frame has its name, and in every box the value and the gradient can be found."""
    root, places = live(graph, drawer), Places(graph)
    nodes = dict(groups(root, "data-n"))
    copies = {
        places.node(value, step, k) for step in graph.steps for k, value in enumerate(step.inputs)
    }
    values, steps = (
        {f"{kind}{x.index}" for x in part}
        for kind, part in (("n", graph.values), ("s", graph.steps))
    )
    assert values | steps | copies == set(nodes)

    shown = orders_with_gradients(graph)
    for value in graph.values:
        group = nodes[f"n{value.index}"]
        lines = fields(value, value.order in shown)
        has_gradient = value.order in shown and value.role != "constant"
        [text] = marked(group, "v")
        assert text.endswith(shortened(value.text))
        assert [lines[-1]] * has_gradient == marked(group, "g")
        assert len(lines) == len(list(group.iter(SVG + "text"))) - _in_insets(group)
    for name in nodes.keys() - values:
        assert [] == [*marked(nodes[name], "v"), *marked(nodes[name], "g")]

    edges = [name for name, _ in groups(root, "data-e")]
    wanted = [
        f"{places.node(value, step, k)} s{step.index}"
        for step in graph.steps
        for k, value in enumerate(step.inputs)
    ]
    wanted += [f"s{s.index} n{i}" for s in graph.steps for i in (*s.outputs, *s.assigned)]
    assert sorted(wanted) == sorted(edges)
    assert [str(k) for k in range(len(graph.frames))] == [
        name for name, _ in groups(root, "data-c")
    ]


def _in_insets(group: ET.Element) -> int:
    """The number of lines of text in small pictures."""
    return sum(
        1 for inset in group.iter(SVG + "g") if inset is not group for _ in inset.iter(SVG + "text")
    )


MATRIX = np.arange(400.0).reshape(20, 20) / 100
EXAMPLES = [
    square(),
    product(),
    regression(),
    chain(3),
    record(lambda a: np.sum(np.tanh(a @ a) * a), MATRIX),
    record(lambda a, b: a * b + a * 2.0 - a / (a + a), 1.5, 2.0),
    record(lambda a, b: a * (1 + 2j) + b, 2.0 + 1j, np.float32(np.nan)),
]


@pytest.mark.parametrize("drawer", [by_dot, by_pygraphviz])
@pytest.mark.parametrize("down", [True, False])
@pytest.mark.parametrize("found", EXAMPLES)
def test_names(
    monkeypatch: pytest.MonkeyPatch, drawer: Callable[[str], str], down: bool, found: Findings
) -> None:
    """Of all that is drawn, by either drawer and in either direction."""
    monkeypatch.setattr(dot_module, "grows_down", lambda _extents: down)

    check(found.graph, drawer)


@pytest.mark.thorough
@pytest.mark.parametrize("drawer", [by_dot, by_pygraphviz])
@pytest.mark.parametrize("name", NAMES)
def test_hostile_names(drawer: Callable[[str], str], name: str) -> None:
    """A name is not taken for a value, a gradient or the name of a node."""
    for found in (square(), product()):
        values = tuple(replace(value, name=name) for value in found.graph.values)
        graph = replace(found.graph, values=values)
        root = live(graph, drawer)

        shown = orders_with_gradients(graph)
        for key, group in groups(root, "data-n"):
            if key in {f"n{value.index}" for value in values}:
                value = values[int(key[1:])]
                has_gradient = value.order in shown and value.role != "constant"
                assert [True] == [text.endswith(value.text) for text in marked(group, "v")]
                assert [f"gradient {value.gradient}"] * has_gradient == marked(group, "g")


def test_small_pictures() -> None:
    """That of a value and that of its gradient can be told apart; an image without scripts has no classes."""
    graph = record(lambda a: np.sum(a * a), MATRIX).graph
    inserts = Inserts(graph)
    drawing = Drawing(read(by_dot(dot(graph, (), inserts)), inserts.by_number))
    root = ET.fromstring(str(drawing.live))  # noqa: S314 -- we drew it

    box = dict(groups(root, "data-n"))["n0"]

    assert [1, 1] == [len(marked(box, mark, "g")) for mark in "vg"]
    assert "class=" not in str(drawing.svg)


def test_size() -> None:
    """A live picture of ten operations is small: it is stored in notebooks."""
    for found, most in ((chain(10), 8_500), (product(), 12_500)):
        assert len(str(Drawing(read(by_dot(dot(found.graph)))).live)) < most
