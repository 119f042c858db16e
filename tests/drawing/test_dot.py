"""The graph as DOT, compared with what it shall be; and that nothing in a name can break it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.drawing import dot as dot_module
from tapemagic.drawing.dot import (
    MAX_LABELLED,
    MAX_READERS,
    Places,
    dot,
    edge_labels,
    estimate,
    operation_label,
    shortened,
    value_label,
)
from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.svg import draw
from tapemagic.engine.tape.observer import Observer
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.graph.graph import Graph, GraphFrame, Step, Value
from tests.report import recordings
from tests.report.recordings import chain, findings_of, product, record, regression, square

STORED = Path(__file__).parent / "stored"
SVG = "{http://www.w3.org/2000/svg}"
NASTY = [
    '<b>"x|y{}\\', "back\\nslash\\", "{a|b}|<port> c", "&lt;&amp;&", "<TABLE></TABLE>", "%d \\N \\G $x",
    "tab\tnew\nline\x00\x1b", "' onload='alert(1)", "</script></svg>", "é×−₁ 変数", " ",
]  # fmt: skip


def source(found: Findings) -> str:
    """The DOT of what was found."""
    return dot(found.graph, found.lines)


@pytest.mark.parametrize("example", ["square", "product", "regression"])
def test_stored(example: str) -> None:
    """The examples are drawn as they were when somebody last looked at them."""
    found = getattr(recordings, example)()

    assert (STORED / f"{example}.dot").read_text(encoding="utf-8") == source(found)


def test_the_same_in_every_run() -> None:
    """Nodes are named by their place on the tape, and by nothing of this run."""
    assert source(product()) == source(product())
    assert not re.search(r"0x|\d{7}", source(product()))


def test_clusters() -> None:
    """There is a frame for each order of differentiation, and none if there is one alone."""
    assert 2 == source(product()).count("subgraph cluster_")
    assert "subgraph" not in source(square())


def test_direction() -> None:
    """A picture grows to the right if it fits on a page, else downwards."""
    assert "rankdir=LR" in source(square())
    assert "rankdir=TB" in source(regression())
    assert "rankdir=TB" in source(product())


@pytest.mark.parametrize("found", [square(), regression(), chain(3), chain(12)])
def test_width(monkeypatch: pytest.MonkeyPatch, found: Findings) -> None:
    """The width of a picture that would grow to the right is foreseen well enough."""
    monkeypatch.setattr(dot_module, "grows_down", lambda _extents: False)

    picture = draw(source(found)).live

    points = float(re.findall(r'width="(\d+)pt"', str(picture))[0])
    width, _ = estimate(found.graph, Inserts(found.graph)).across
    assert points == pytest.approx(width, rel=0.1)


def test_a_long_value_is_cut() -> None:
    """A box does not grow without end."""
    assert "a" * 48 == shortened("a" * 48)
    assert "a" * 47 + "…" == shortened("a" * 49)


def test_the_gap() -> None:
    """The gap in a long graph says how many operations it stands for."""
    assert re.search(r'label="\d+ more operations".*peripheries=2', source(chain(100)))


def test_hidden_inputs() -> None:
    """An operation says how many of its inputs are not drawn."""
    found = recordings.record(lambda a: np.stack([a * i for i in range(1000)]), 2.0)

    assert "stack\\n… 99" in operation_label(found.graph.steps[-1])


@pytest.mark.parametrize("name", NASTY)
def test_escaped(name: str) -> None:
    """The picture shows any name as it is in its box."""
    # A list holds the Variable, so that its own name is its only one.
    weight = tm.Variable(3.0, name=name)
    x = tm.constant(2.0)
    with Observer() as observer:
        observer.watch(x)
        y = x * weight
    found = findings_of(observer, [("y", y)], [("x", x), (name, weight)])

    picture = draw(source(found)).live

    assert picture is not None
    root = ET.fromstring(picture)  # noqa: S314 -- we drew it
    shown = "".join(char if char.isprintable() else " " for char in name)
    texts = [" ".join((part.text or "").split()) for part in root.iter(SVG + "text")]
    assert " ".join(f"{shown} (variable)".split()) in texts
    assert {"svg", "g", "polygon", "path", "polyline", "text", "ellipse"} >= {
        part.tag.removeprefix(SVG) for part in root.iter()
    }


def test_records_lie_across_the_direction() -> None:
    """The fields of a box are below one another, whichever way the picture grows."""
    value = square().graph.values[0]

    assert "a (watched) | 3.0 | gradient 6.0" == value_label(value, down=False, gradient=True)
    assert "{a (watched) | 3.0 | gradient 6.0}" == value_label(value, down=True, gradient=True)


def test_tooltips_quote_the_cell() -> None:
    """What the mouse shows has the line of the cell, and what it says."""
    assert 'tooltip="power; line 2: line 2; ∂/∂a = 6.0"' in source(square())
    assert "multiply; line 4: line 4; ∂/∂v1 = 0.909297; ∂/∂v2 = 6.0" in source(product())
    assert 'tooltip="line 2: line 2"' in source(square())


def value(index: int, role: str = "watched") -> Value:
    """A value called after its role."""
    return Value(index, role[0], role, (), "float64", "1.0", "2.0")  # type: ignore[arg-type]


def readers(count: int, frames: tuple[int | None, ...] = (None,), kind: str = "call") -> Graph:
    """A graph in which so many operations read one value, in frames by turns; 1 is inside of 0, and 2 stands alone."""
    steps = [
        Step(k, "sin", (0,), (k + 1,), frame=frames[k % len(frames)], slopes=((0, "1.0"),))
        for k in range(count)
    ]
    made = (value(k + 1, "computed") for k in range(count))
    outer = GraphFrame("outer", kind)  # type: ignore[arg-type]
    within = (outer, GraphFrame("inner", "call", 0), GraphFrame("other", "call"))
    return Graph(
        (value(0, "constant"), *made),
        tuple(steps),
        within if any(x is not None for x in frames) else (),
    )


def test_a_value_that_many_operations_read() -> None:
    """It is repeated beside all of them but the first, rather than joined to them by as many lines."""
    few, many = dot(readers(MAX_READERS)), dot(readers(MAX_READERS + 1))

    assert ["n0 -> s0", "n0 -> s1", "n0 -> s2"] == re.findall(r"n0\S* -> s\d", few)
    assert ["n0 -> s0", "n0_1_0 -> s1", "n0_2_0 -> s2", "n0_3_0 -> s3"] == re.findall(
        r"n0\S* -> s\d", many
    )
    assert ["n0_1_0", "n0_2_0", "n0_3_0"] == re.findall(r"(\S+) \[label=c .*constant c again", many)
    assert "again" not in few


def test_a_result_is_not_repeated() -> None:
    """However many operations read it: where it was made is what matters."""
    first = Step(0, "sin", (0,), (1,))
    others = (Step(k, "cos", (1,), (k + 1,)) for k in range(1, 9))
    graph = Graph(tuple(map(value, range(10))), (first, *others))

    assert "again" not in dot(graph)


def test_one_operation_that_reads_a_value_twice() -> None:
    """Each of its copies has a name of its own."""
    graph = readers(MAX_READERS)
    last = Step(MAX_READERS, "multiply", (0, 0), ())

    source = dot(Graph(graph.values, (*graph.steps, last)))

    assert ["n0_3_0", "n0_3_1"] == re.findall(r"(n0\S+) -> s3", source)


@pytest.mark.parametrize(
    ("frames", "expected"), [((0,), 0), ((1,), 1), ((0, 1), 0), ((1, 2), None), ((0, None), None)]
)
def test_the_frame_of_what_is_read(frames: tuple[int | None, ...], expected: int | None) -> None:
    """It is the innermost around all operations that read it; a result is where it was made."""
    place = Places(readers(2, frames))

    assert [expected, frames[0], frames[-1]] == place.frame


def test_the_frame_of_what_the_computation_reads() -> None:
    """What its derivative reads again stays in the frame of the computation."""
    place = Places(readers(2, (1, 2), "computation"))

    assert 0 == place.frame[0]


@pytest.mark.parametrize(
    ("slope", "formula", "expected"),
    [
        ("6.0", "2 · a", "2 · a = 6.0"),
        ("6.0", "", "6.0"),
        ("", "2 · a", "2 · a"),
        ("3.0", "3.0", "3.0"),
        ("6.0", "a very long formula · a", "6.0"),
        ("", "a formula that is too long · a", None),
    ],
)
def test_edge_labels(slope: str, formula: str, expected: str | None) -> None:
    """Formula and number, where both are short; otherwise what there is room for."""
    step = Step(
        0,
        "power",
        (0, 1),
        (2,),
        slopes=((0, slope),) if slope else (),
        formulas=((0, formula),) if formula else (),
    )

    assert ({} if expected is None else {0: expected}) == edge_labels(step)


def test_room_for_edge_labels() -> None:
    """Local derivatives stand beside the edges of a small picture, those of each input beside its own."""
    small = dot(record(lambda a, b: a * b + a, 2.0, 3.0).graph)

    assert {("n0", "b = 3.0"), ("n1", "a = 2.0")} == set(
        re.findall(r"(n\d) -> s0 \[label=<.*?>([^<>]+)</td>", small)
    )
    assert ">1.0</td>" in dot(readers(MAX_LABELLED))
    assert ">1.0</td>" not in dot(readers(MAX_LABELLED + 1))


@pytest.mark.filterwarnings("ignore")
def test_the_first_value_that_is_not_finite_is_red() -> None:
    """And no other."""
    found = record(lambda a: np.log(a) * 2.0 + a, -1.0)

    [red] = [line for line in source(found).splitlines() if "#fee2e2" in line]
    assert red.strip().startswith("n1 [label=")
    assert "nan" in red
    assert "#fee2e2" not in source(square())
