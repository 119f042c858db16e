"""Drawing, and what happens where nothing can draw."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import tapemagic as tm
from tapemagic.drawing import engines, svg
from tapemagic.drawing.engines import by_dot, by_pygraphviz
from tapemagic.drawing.labels import box, field_height, fixed_label, inches
from tapemagic.drawing.picture import UNIT, Insert, Outline, Words, read
from tapemagic.drawing.svg import Drawing, draw, write
from tapemagic.report.bundle import TapeReport
from tapemagic.report.findings import Findings
from tests.report.recordings import chain, product, record, square

pytestmark = pytest.mark.thorough

SOURCE = 'digraph { a [label="{one | two}" shape=record tooltip="x & <y>"]; b [label=b]; a -> b }'
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def no_dot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without the ``dot`` program."""
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def no_pygraphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without pygraphviz."""
    monkeypatch.setitem(sys.modules, "pygraphviz", None)


def failing(error: BaseException) -> Callable[..., Any]:
    """A stand-in that raises."""

    def fail(*_args: Any, **_options: Any) -> Any:
        raise error

    return fail


def well_formed(drawing: Drawing) -> ET.Element:
    """The root of a drawing, which begins with it and ends with it."""
    for picture in (drawing.svg, drawing.live):
        assert picture is not None
        assert picture.startswith("<svg")
        assert picture.endswith("</svg>")
        assert "<!--" not in picture
    return ET.fromstring(str(drawing.live))  # noqa: S314 -- we drew it


@pytest.mark.usefixtures("no_pygraphviz")
def test_drawn_by_dot() -> None:
    """The ``dot`` program draws; of what it writes, links and titles are left out."""
    root = well_formed(draw(SOURCE))

    assert SVG + "svg" == root.tag
    assert ["one", "two", "b"] == [part.text for part in root.iter(SVG + "text")]
    assert not [*root.iter(SVG + "a"), *root.iter(SVG + "title")]


@pytest.mark.usefixtures("no_dot")
def test_drawn_by_pygraphviz() -> None:
    """Without ``dot`` the Graphviz inside pygraphviz draws the same."""
    pytest.importorskip("pygraphviz")

    root = well_formed(draw(SOURCE))

    assert ["one", "two", "b"] == [part.text for part in root.iter(SVG + "text")]


@pytest.mark.usefixtures("no_dot")
def test_pygraphviz_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    """What its libraries complain about does not reach the notebook."""
    pytest.importorskip("pygraphviz")

    draw('digraph { a [fontname="No such font at all"] }')

    assert ("", "") == tuple(capfd.readouterr())


def test_dot_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither does what the program warns of."""
    draw('digraph { a [shape="nothing such"] }')

    assert ("", "") == tuple(capfd.readouterr())


@pytest.mark.usefixtures("no_dot", "no_pygraphviz")
def test_nothing_draws() -> None:
    """Without either there is a reason, and what to install."""
    drawing = draw(SOURCE)

    assert drawing.svg is None
    assert (
        "no picture: there is no 'dot' program on the PATH; pygraphviz, which brings its own Graphviz, "
        "is not installed. To see it, install Graphviz (apt install graphviz, brew install graphviz, "
        "or conda install graphviz)" == drawing.reason
    )


@pytest.mark.usefixtures("no_pygraphviz")
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(138, "emscripten does not support processes"), "'dot' cannot be started here (emscripten"),
        (OSError("no processes"), "'dot' cannot be started here (no processes)"),
        (PermissionError(13, "Permission denied"), "'dot' cannot be started here (Permission denied)"),
            ],
)  # fmt: skip
def test_dot_cannot_start(monkeypatch: pytest.MonkeyPatch, error: Exception, words: str) -> None:
    """In a browser there are no processes; elsewhere a program may be broken."""
    monkeypatch.setattr(subprocess, "Popen", failing(error))

    assert words in draw(SOURCE).reason


@pytest.mark.usefixtures("no_dot")
def test_pygraphviz_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel that does not load is one that is not there."""
    original = builtins.__import__

    def broken(name: str, *rest: Any) -> Any:
        if name == "pygraphviz":
            raise ImportError("libcgraph.so: cannot open shared object file")
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", broken)

    assert draw(SOURCE).svg is None


def test_corrupted_dot(capfd: pytest.CaptureFixture[str]) -> None:
    """A source that is no DOT gives a reason from each, and nothing on the error stream."""
    drawing = draw("digraph { a [label=")

    assert drawing.svg is None
    assert "'dot' failed" in drawing.reason
    assert "pygraphviz" in drawing.reason
    assert ("", "") == tuple(capfd.readouterr())


def test_an_answer_that_is_no_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next drawer is asked."""
    monkeypatch.setitem(svg.DRAWERS, "dot", lambda _source: "no plugin for svg")
    pytest.importorskip("pygraphviz")

    assert well_formed(draw(SOURCE)) is not None


@pytest.mark.usefixtures("no_dot", "no_pygraphviz")
def test_the_report_tells_the_operations_in_text() -> None:
    """A report without a picture has the reason and the operations in its place."""
    bundle = TapeReport(square())._repr_mimebundle_()

    assert "there is no &#x27;dot&#x27; program on the PATH" in bundle["text/html"]
    assert "<li>y = power(a, 2)</li>" in bundle["text/html"]
    assert "<img" not in bundle["text/html"]
    assert "dy/da = 6.0" in bundle["text/plain"]


def program(folder: Path, script: str) -> None:
    """A program that is called dot."""
    path = folder / "dot"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="writes a shell script")
@pytest.mark.usefixtures("no_pygraphviz")
def test_dot_that_takes_too_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is stopped, and the report has the operations as equations."""
    program(tmp_path, f"echo $$ > {tmp_path}/pid\n/bin/sleep 60 & wait")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(engines, "TIMEOUT_SECONDS", 0.3)

    start = time.monotonic()
    bundle = TapeReport(square())._repr_mimebundle_()

    assert time.monotonic() - start < 5
    assert "no picture: Graphviz was stopped after 0.3 seconds." in bundle["text/html"]
    assert "<li>y = power(a, 2)</li>" in bundle["text/html"]
    assert "Graphviz was stopped" in bundle["text/latex"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.skipif(os.name != "posix", reason="writes a shell script")
def test_an_interrupt_leaves_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a running one nor a dead one that waits to be asked for its status."""
    program(
        tmp_path, f"echo $$ > {tmp_path}/pid\n/bin/sleep 0.3\n/bin/kill -INT $PPID\n/bin/sleep 60"
    )
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(KeyboardInterrupt):
        draw(SOURCE)

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.usefixtures("no_dot")
def test_a_graph_too_large_for_what_cannot_be_stopped() -> None:
    """Only the program draws it."""
    pytest.importorskip("pygraphviz")

    drawing = draw(f"digraph {{ {'a -> b;' * 20_000} }}")

    assert drawing.picture is None
    assert "too large for pygraphviz, which cannot be interrupted" in drawing.reason


@pytest.mark.parametrize("drawer", [by_dot, by_pygraphviz])
def test_small(drawer: Callable[[str], str]) -> None:
    """A picture of ten operations takes less than six thousand characters, a quarter of what Graphviz writes."""
    source = TapeReport(chain(10)).dot

    document = drawer(source)

    assert len(write(read(document))) < min(6_000, len(document) / 2.5)


def texts(document: str) -> Counter[str]:
    """The lines of text in an SVG document, whichever spaces they have."""
    root = ET.fromstring(document[document.index("<svg") :])  # noqa: S314 -- we drew it
    lines = ("".join(part.itertext()) for part in root.iter(SVG + "text"))
    return Counter(line.replace("\u00a0", " ").strip() for line in lines)


@pytest.mark.parametrize("drawer", [by_dot, by_pygraphviz])
@pytest.mark.parametrize("found", [product(), chain(3)])
def test_no_text_is_lost(drawer: Callable[[str], str], found: Findings) -> None:
    """The small picture and the live one have all text of the large one."""
    document = drawer(TapeReport(found).dot)

    drawing = Drawing(read(document))

    assert texts(document) == texts(str(drawing.svg)) == texts(str(drawing.live))


@pytest.mark.parametrize("drawer", [by_dot, by_pygraphviz])
@pytest.mark.parametrize(("width", "height"), [(40, 12), (96, 40), (200, 90)])
def test_an_insert(drawer: Callable[[str], str], width: float, height: float) -> None:
    """It takes the place of its marker, in the middle of the room that the marker makes, and no mark stays."""
    insert = Insert(7, '<rect width="5" height="5"/>', width, height)
    unknown = replace(insert, number=8)
    wide, tall = box(width, field_height(1) + field_height(0, height))
    size = f"fixedsize=true width={inches(wide)} height={inches(tall)}"
    source = (
        f'digraph {{ node [fontname="Helvetica,Arial" fontsize=10 shape=record];'
        f' a [label="{{name | {insert.marker}}}" {size}]; b [label="{unknown.marker}"]; a -> b }}'
    )

    picture = read(drawer(source), {7: insert})

    assert ["name"] == [words.text for lines in picture.words.values() for words in lines]
    [inset] = picture.insets
    outline = next(item for item in picture.items if inset in item.parts).parts[0]
    assert isinstance(outline, Outline)
    xs = [x for _, points in outline.steps for x in points[::2]]
    ys = [y for _, points in outline.steps for y in points[1::2]]
    wide, tall = (UNIT * length * inset.scale for length in (width, height))
    assert abs(inset.x + wide / 2 - (min(xs) + max(xs)) / 2) < 2 * UNIT
    assert min(xs) <= inset.x < inset.x + wide <= max(xs) + UNIT
    assert min(ys) < inset.y < inset.y + tall < max(ys) + UNIT
    assert inset.scale > 0.8


@pytest.mark.parametrize("drawer", [by_dot, by_pygraphviz])
def test_edges_end_at_the_title_of_a_frame(drawer: Callable[[str], str]) -> None:
    """They go on behind it, and end where they ended."""
    title = fixed_label("line 4: iteration 8 of 8", 11)
    source = f"digraph {{ a -> c; b -> c; b -> d; subgraph cluster_0 {{ label={title}; c -> d }} }}"

    picture = read(drawer(source))
    whole = read(drawer(source.replace("cluster_0", "nothing")))

    [words] = [
        part
        for item in picture.items
        for part in item.parts
        if isinstance(part, Words) and ":" in part.text
    ]
    edges = [part for item in picture.items if item.kind == "edge" for part in item.parts]
    assert all(isinstance(part, Outline) for part in edges)
    starts = Counter(sum(kind == "M" for kind, _ in part.steps) for part in edges)  # type: ignore[union-attr]
    assert starts[2]
    assert len(edges) == sum(len(item.parts) for item in whole.items if item.kind == "edge")
    points = [
        (x, y)
        for part in edges
        for _, at in part.steps
        for x, y in zip(at[::2], at[1::2], strict=True)
    ]  # type: ignore[union-attr]
    middle = words.y - 4 * UNIT
    assert not [
        (x, y) for x, y in points if abs(x - words.x) < 50 * UNIT and abs(y - middle) < 5 * UNIT
    ]


def test_words_that_look_like_a_marker() -> None:
    """A name cannot begin with the character of a marker: it is taken out as one that cannot be printed."""
    name = chr(0xE000) + "MMM"

    found = record(lambda w: w * 2, tm.Variable(1.0, name=name))
    source = TapeReport(found).dot

    assert chr(0xE000) not in source
