"""TapeReport: the bundle, the widget, and what happens when something fails."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from ipywidgets.widgets import widget

from tapemagic.drawing import graph_picture
from tapemagic.report import bundle as report
from tapemagic.report.bundle import TapeReport
from tapemagic.report.live.packing import unpacked
from tapemagic.report.tabs.gradients import show_gradients as gradients_face
from tapemagic.report.tabs.variables import show_variables as variables_face
from tests.report.recordings import product, record, square

VIEW = "application/vnd.jupyter.widget-view+json"


def test_the_bundle() -> None:
    """Text, static HTML and a view of the widget."""
    shown = TapeReport(square())

    bundle = shown._repr_mimebundle_()

    assert {"text/plain", "text/html", "text/latex", VIEW} == bundle.keys()
    assert repr(shown) == bundle["text/plain"]
    assert bundle["text/html"].startswith("<div style=")
    assert bundle["text/latex"].startswith("\\begingroup")
    assert shown._view.model_id == bundle[VIEW]["model_id"]
    assert 2 == bundle[VIEW]["version_major"]
    shown.close()


def content(shown: TapeReport) -> Any:
    """All that the widget of a report shows."""
    shown._repr_mimebundle_()
    found = unpacked(shown._view.content)
    shown.close()
    return found


def test_the_widget() -> None:
    """A headline over a tab for each face, of which the graph is open."""
    found = product()

    shows = content(TapeReport(found, "a value"))

    titles = [face["title"] for face in shows["faces"]]
    assert ["Variables", "Graph", "Gradients", "Paths", "Trace", "Lines", "Code"] == titles
    assert "Graph" == shows["first"]
    assert "%%tape: 3 operations," in shows["head"]
    assert "a value" in shows["head"]
    pages = {face["title"]: face["html"] for face in shows["faces"]}
    assert variables_face.html(found) == pages["Variables"]
    assert gradients_face.html(found) == pages["Gradients"]
    assert shows["view"]["svg"].startswith("<svg")
    assert 'data-r="0.0"' in shows["view"]["trace"]


def test_the_widget_of_nothing() -> None:
    """A tab without content says so."""
    found = record(lambda: (), max_nodes=60)

    shows = content(TapeReport(found))

    pages = [face["html"] for face in shows["faces"]]
    assert shows["view"] is None
    assert all(">Nothing was recorded:" in page for page in pages[:2])
    assert "There is nothing to differentiate." in pages[2]


def test_closing() -> None:
    """Closing a report leaves no live model; showing it again makes a new one, twice makes none."""
    before = len(widget._instances)
    shown = TapeReport(square())

    first = shown._repr_mimebundle_()[VIEW]
    count = len(widget._instances)
    again = shown._repr_mimebundle_()[VIEW]

    assert first == again
    assert count == len(widget._instances) > before
    shown.close()
    shown.close()
    assert before == len(widget._instances)
    assert first != shown._repr_mimebundle_()[VIEW]
    shown.close()
    assert before == len(widget._instances)


def test_attributes() -> None:
    """The graph, its DOT and the value are there for a program to use."""
    found = square()
    shown = TapeReport(found, "value")

    assert found.graph is shown.graph
    assert shown.dot.startswith("digraph tape {")
    assert "value" == shown.value
    assert "'value'" == repr(shown).rpartition("\n")[2]


def fail(*_args: Any, **_options: Any) -> Any:
    """Something that does not work."""
    raise RuntimeError("out of ink")


def test_a_failure_in_drawing_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails, the text is shown, with a warning."""
    monkeypatch.setattr(graph_picture, "draw", fail)

    with pytest.warns(
        UserWarning, match=r"could not be drawn in full: RuntimeError\('out of ink'\)"
    ):
        bundle = TapeReport(square())._repr_mimebundle_()

    assert {"text/plain"} == bundle.keys()
    assert "dy/da = 6.0" in bundle["text/plain"]


def test_a_failure_of_the_widget_keeps_the_html(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made before is shown."""
    monkeypatch.setattr(report, "content_of", fail)

    with pytest.warns(UserWarning, match="could not be drawn in full"):
        bundle = TapeReport(square())._repr_mimebundle_()

    assert {"text/plain", "text/html", "text/latex"} == bundle.keys()


def test_no_warning_when_all_is_well() -> None:
    """The error stream of a notebook is for errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = TapeReport(product())
        shown._repr_mimebundle_()
        shown.close()
