"""The report as HTML that survives in an untrusted notebook."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.drawing.elements import svg_of, uri_data
from tapemagic.drawing.picture import UNIT, Picture
from tapemagic.drawing.svg import Drawing, fitted
from tapemagic.report import html
from tapemagic.report.bundle import TapeReport
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.graph import show_graph as graph
from tapemagic.report.verdict.statement import Statement
from tests.drawing.test_dot import NASTY
from tests.report.recordings import chain, product, record, regression, square, with_contents

TAGS = {
    *["div", "pre", "table", "thead", "tbody", "tr", "th", "td", "span", "img", "b", "u", "br"],
    *["code", "details", "summary"],
}
VOID = {"img", "br"}
CELLS = {"td", "th"}


class Reader(HTMLParser):
    """Reads HTML strictly: every tag is closed, in order, but for the rows and cells of a table."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Hear of a tag."""
        self.tags.append((tag, dict(attrs)))
        if tag in CELLS:
            self.end_cell()
        elif tag == "tr":
            self.end_row()
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Hear of its end."""
        if tag in {"thead", "tbody", "table"}:
            self.end_row()
        assert tag == self.open.pop()

    def end_row(self) -> None:
        """End the row before."""
        self.end_cell()
        if self.open[-1:] == ["tr"]:
            self.open.pop()

    def end_cell(self) -> None:
        """End the cell before."""
        if self.open[-1:] and self.open[-1] in CELLS:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        """Hear of text."""
        if self.open[-1:] != ["style"]:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all tags of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]


def page(found: Findings, value: str | None = None) -> Reader:
    """A report, read."""
    return Reader(html.page(found, TapeReport(found).drawing, value))


@pytest.mark.parametrize("found", [square(), product(), regression(), chain(100)])
def test_what_survives(found: Findings) -> None:
    """There are inline styles and data URIs, and nothing that a notebook strips or that comes from elsewhere."""
    read = page(found)

    assert TAGS >= {tag for tag, _ in read.tags}
    for _, attributes in read.tags:
        assert attributes.keys() <= {
            "style",
            "src",
            "alt",
            "class",
            "cellpadding",
            "colspan",
            "open",
            "title",
        }
        assert not re.search(r"url|expression|@import", attributes.get("style") or "")
    [image] = read.all("img")
    assert str(image["src"]).startswith("data:image/svg+xml,")


def test_the_picture() -> None:
    """The image is the drawing itself, with the operations in words for those who cannot see it."""
    [image] = page(square()).all("img")

    picture = svg_of(str(image["src"]))
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 -- we drew it
    assert "Graph of the recorded operations: y = power(a, 2). The target is y." == image["alt"]


def test_sections() -> None:
    """There is a section for each face, and the tables say what the text says."""
    read = page(square())

    assert re.search(
        r"Variables.*a.*watched.*3\.0.*6\.0.*Graph.*Gradients.*dy/da.*6\.0", read.text, re.DOTALL
    )


def test_captions() -> None:
    """The caption says of what the gradients are, and what is not drawn."""
    two = record(lambda a: (a * 2, a * 3), 1.0)

    stopped = record(lambda a: (np.exp(a), a * 2)[1], 2.0)

    assert "name, value, and gradient ∂y/∂box. Gradient" in page(square()).text
    assert "None: no gradient gets there." in page(stopped).text
    assert "name, value, and the gradient of y0 + y1." in page(two).text
    assert "in the frame of a derivative" in page(product()).text
    assert "Not drawn: 72 operations in the middle." in page(chain(100)).text


def test_reasons() -> None:
    """A None has its reason beside it."""
    assert "Noneit is zero, because y is linear in b near this point" in page(product()).text


def test_notes_and_values() -> None:
    """The cell's value, and what there is to say, stand on top."""
    said = (Statement("left", "It <left>."), *square().verdict)
    read = page(replace(square(), verdict=said), "'<i>value</i>'")

    assert re.search(
        r"differentiating y'<i>value</i>'not tracked It <left>\..*Variables", read.text, re.DOTALL
    )


def test_nothing_recorded() -> None:
    """Sections without content are left out."""
    graph = record(lambda a: a, 1.0).graph
    found = with_contents(
        square(), variables=(), derivatives=(), targets=(), graph=graph, verdict=()
    )

    assert not re.search("Variables|Graph|Gradients", page(found).text)


@pytest.mark.parametrize("name", NASTY)
def test_escaped(name: str) -> None:
    """Whatever a variable is called, it is text and nothing else."""
    found = record(lambda w: w * 2, tm.Variable(1.0), **{name: 2.0})
    found = with_contents(found, verdict=(Statement("note", name),), targets=(name,), derivatives=(
        replace(
            found.derivatives[0], target=name, source=name, text=None, value=None, reason=name
        ),
    ), variables=tuple(replace(row, name=name) for row in found.variables))  # fmt: skip
    plain = page(square())

    read = page(found, name)

    assert {tag for tag, _ in plain.tags} | {"b"} == {tag for tag, _ in read.tags}
    shown = "".join(char if char.isprintable() else " " for char in name)
    assert 5 <= read.text.count(shown)
    [image] = read.all("img")
    assert f"The target is {shown}." in str(image["alt"])
    assert image.keys() == {"alt", "style", "src"}


def test_live() -> None:
    """In the widget the drawing is part of the page, with a text of its own, and names for scripts."""
    drawing = TapeReport(square()).drawing

    read = Reader(graph.html(square(), drawing, live=True))

    [frame] = [part for part in read.all("div") if part.get("role")]
    assert "img" == frame["role"]
    assert str(frame["aria-label"]).startswith("Graph of the recorded operations: y = power(a, 2)")
    assert [] == read.all("img")
    [element] = read.all("svg")
    assert "max-width:100%" in str(element["style"])
    assert "var(--jp-ui-font-color2,#6b7280)" in str(read.tags)
    assert ["n0", "s0", "n1", "n2"] == [
        str(part["data-n"]) for part in read.all("g") if "data-n" in part
    ]


def test_no_drawing() -> None:
    """Without a picture the reason and the operations are told."""
    read = Reader(graph.html(product(), Drawing(None, "no <picture>"), live=False))

    assert "no <picture>" in read.text
    assert 10 == len(read.all("li"))
    assert "dy/dy" in read.text


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (record(lambda a: np.sin(a) * a, 2.0), "number on the arrow × gradient of the box it leads to)."),
        (record(lambda a: [b := a * 2.0, b * a], 2.0), "The target itself starts with gradient 1."),
        (record(lambda a: a**3, 2.0, order=2), "Arrows into the frame of a derivative don&#x27;t count,"),
        (chain(60, max_nodes=20), "Folded boxes and hidden arrows contribute too."),
        (record(lambda a: np.imag(a * (1 + 2j)) * a, 2.0), "An arrow without a number adds what"),
    ],
)  # fmt: skip
def test_the_chain_rule_in_the_caption(found: Findings, words: str) -> None:
    """The sum of products is claimed only together with all that adds to it."""
    caption = graph.caption(found)
    assert "Gradient of a number = sum over the arrows that leave its box of" in caption
    assert words in caption


def test_the_caption_of_a_variable_that_changed() -> None:
    """It says what its boxes are, and what their gradients have to do with that of the variable."""

    def compute(v: Any) -> Any:
        first = v * 2
        v.assign(5.0)
        return first + v * 3

    words = page(record(compute, tm.Variable(1.0))).text

    assert "a changed during the run: a₁ and a₂ are the values of a in order" in words
    assert "and its gradient is the sum of theirs." in words


def test_the_caption_of_an_array() -> None:
    """The gradient of an array is that of its sum, and the caption and the table say so."""
    words = page(record(lambda a: a * a, [1.0, 2.0])).text

    assert "name, value, and the gradient of the sum of y." in words
    assert "[2.0, 4.0]the gradient of the sum of y" in words


def test_without_a_target() -> None:
    """Nothing is said of gradients where there are none."""
    found = record(lambda a: (np.sin(a), ())[1], 1.0)

    assert "Each box: name, value." in page(found).text
    assert "None:" not in page(found).text
    assert "gradient" not in TapeReport(found).dot


@pytest.mark.parametrize("live", [False, True])
def test_a_large_picture_is_shown_whole(live: bool) -> None:
    """It is made smaller, down to a limit, and then scrolled."""
    small, tall, wide = (svg(*size) for size in [(300, 300), (300, 900), (1500, 300)])
    wide = replace(wide, is_wide=True)

    assert ('width="400" height="400"', "max-width:100%") == shown(small, live)
    assert ('width="300" height="900"', "max-width:100%") == shown(tall, live)
    assert ('width="1500" height="300"', "max-width:none") == shown(wide, live)
    assert ("min-width:900px" in fitted(svg(900, 300), live)[1]) == live


def svg(width: int, height: int) -> Drawing:
    """A picture of a size."""
    return Drawing(Picture(UNIT * width, UNIT * height, ()))


def shown(drawing: Drawing, live: bool) -> tuple[str, str]:
    """How the element begins, and its style."""
    sized, style = fitted(drawing, live)
    return sized.partition(" viewBox")[0].removeprefix(
        '<svg xmlns="http://www.w3.org/2000/svg" '
    ), style.partition(";")[0]


def test_no_picture_has_no_size() -> None:
    """Where nothing was drawn there is nothing to scale."""
    assert ("", "") == fitted(Drawing(None, "a reason"))


def test_any_svg_survives_in_a_uri() -> None:
    """With every sign that means something to HTML, to XML or to URIs."""
    svg = '<svg a="#1"><text>% %41 &amp; &lt; &#x27; \' &quot; + é 変 ?#</text></svg>'

    [image] = Reader(f'<img src="data:image/svg+xml,{uri_data(svg)}">').all("img")

    assert svg == svg_of(str(image["src"]))
    assert "" == svg_of("https://somewhere.org/picture.svg")
