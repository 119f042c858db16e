"""Drawing, and what happens where nothing can draw."""

from __future__ import annotations

import builtins
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tapemagic.display import svg
from tapemagic.display.report import TapeReport
from tapemagic.display.svg import Drawing, draw
from tests.analysis.recordings import square

SOURCE = 'digraph { a [label="{one | two}" shape=record tooltip="x & <y>"]; a -> b }'
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
    assert drawing.svg is not None
    assert drawing.svg.startswith("<svg")
    assert drawing.svg.endswith("</svg>")
    assert "<!--" not in drawing.svg
    return ET.fromstring(drawing.svg)  # noqa: S314 -- we drew it


@pytest.mark.usefixtures("no_pygraphviz")
def test_drawn_by_dot() -> None:
    """The ``dot`` program draws, and tooltips become titles."""
    root = well_formed(draw(SOURCE))

    assert SVG + "svg" == root.tag
    assert ["x & <y>"] == [title.text for title in root.iter(SVG + "title")]
    assert not list(root.iter(SVG + "a"))


@pytest.mark.usefixtures("no_dot")
def test_drawn_by_pygraphviz() -> None:
    """Without ``dot`` the Graphviz inside pygraphviz draws the same."""
    pytest.importorskip("pygraphviz")

    root = well_formed(draw(SOURCE))

    assert ["x & <y>"] == [title.text for title in root.iter(SVG + "title")]
    assert "one" in {part.text for part in root.iter(SVG + "text")}


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
        (subprocess.CalledProcessError(1, "dot"), "'dot' failed (Command 'dot' returned non-zero exit status 1.)"),
    ],
)  # fmt: skip
def test_dot_cannot_start(monkeypatch: pytest.MonkeyPatch, error: Exception, words: str) -> None:
    """In a browser there are no processes; elsewhere a program may be broken."""
    monkeypatch.setattr(subprocess, "run", failing(error))
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
    monkeypatch.setattr(svg, "_by_dot", lambda _source: "no plugin for svg")

    assert well_formed(draw(SOURCE)) is not None


@pytest.mark.usefixtures("no_dot", "no_pygraphviz")
def test_the_report_tells_the_operations_in_text() -> None:
    """A report without a picture has the reason and the operations in its place."""
    bundle = TapeReport(square())._repr_mimebundle_()

    assert "there is no &#x27;dot&#x27; program on the PATH" in bundle["text/html"]
    assert "<li>y = power(a, 2)</li>" in bundle["text/html"]
    assert "<img" not in bundle["text/html"]
    assert "dy/da = 6.0" in bundle["text/plain"]
