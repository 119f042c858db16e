"""TapeReport: the bundle, the widget, and what happens when something fails."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from ipywidgets.widgets import widget

from tapemagic.drawing import graph_picture
from tapemagic.report import bundle as report
from tapemagic.report.bundle import TapeReport
from tapemagic.report.details import Details
from tapemagic.report.findings import Findings
from tapemagic.report.live import notebook_data
from tapemagic.report.live.packing import unpacked
from tapemagic.report.live.widget import FrontEnd
from tapemagic.report.tabs.gradients import show_gradients as gradients_face
from tapemagic.report.tabs.variables import show_variables as variables_face
from tests.report.details import details_of
from tests.report.recordings import product, record, square

VIEW = "application/vnd.jupyter.widget-view+json"
DATA = "application/vnd.tapemagic.report+json"


def test_the_bundle() -> None:
    """Text, static HTML, a view of the widget, and last, what the extension of JupyterLab draws."""
    shown = TapeReport(square())

    bundle = shown._repr_mimebundle_()

    assert ["text/plain", "text/html", "text/latex", VIEW, DATA] == [*bundle]
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


def test_data_for_the_extension() -> None:
    """They are what the widget shows, and the values in full: the same for the same recording."""
    first, second = (
        TapeReport(found, details=details) for found, details in (examined(), examined())
    )

    data, again = first._repr_mimebundle_()[DATA], second._repr_mimebundle_()[DATA]

    assert data == again
    assert 1 == data["version"]
    assert first._view.content == data["content"]
    keys = [value["key"] for value in unpacked(data["content"])["view"]["values"]]
    answers = unpacked(data["answers"])
    assert {f"value:{key}" for key in keys if key} == answers.keys()
    assert all(first._answers.answer(question) == answer for question, answer in answers.items())
    first.close()
    assert {} == unpacked(first._repr_mimebundle_()[DATA]["answers"])
    for shown in (first, second):
        shown.close()


def examined() -> tuple[Findings, Details]:
    """A recording with its details."""
    return details_of(lambda a, b: np.sin(a * b) + a, np.array([1.0, 2.0]), 3.0)


def test_data_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large arrays take another sweep, so they are left out; and what has no room, the largest first."""
    large = details_of(lambda a, b: np.sum(a * b), np.ones((50, 50)), 3.0)
    shown = TapeReport(large[0], details=large[1])
    names = {v["key"]: v["name"] for v in shown.content()["view"]["values"]}
    kept = unpacked(shown._repr_mimebundle_()[DATA]["answers"])
    assert {"b", "y"} == {names[question.partition(":")[2]] for question in kept}
    shown.close()

    findings, details = examined()
    shown = TapeReport(findings, details=details)
    every = unpacked(shown._repr_mimebundle_()[DATA]["answers"])
    monkeypatch.setattr(notebook_data, "ANSWERS", 600)
    some = shown._repr_mimebundle_()[DATA]
    assert 0 < len(unpacked(some["answers"])) < len(every)
    assert len(some["answers"]) <= 600
    monkeypatch.setattr(notebook_data, "CONTENT", 1500)
    fewer = shown._repr_mimebundle_()[DATA]
    assert len(fewer["content"]) <= 1500
    assert "omitted" in str(unpacked(fewer["content"]))
    shown.close()


@pytest.mark.parametrize("word", ["0", "false", " Off ", "no"])
def test_without_widgets(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """No widget is made, and nothing else is missing."""
    whole = TapeReport(square())
    expected = whole._repr_mimebundle_()
    whole.close()
    before = len(widget._instances)
    monkeypatch.setenv("TAPEMAGIC_WIDGETS", word)

    bundle = TapeReport(square())._repr_mimebundle_()

    del expected[VIEW]
    assert expected == bundle
    assert before == len(widget._instances)


def test_the_front_end_is_stored_once() -> None:
    """A notebook with the state of many widgets holds it in one model, which is made again if it was closed."""
    reports = [TapeReport(square()) for _ in range(20)]
    for shown in reports:
        shown._repr_mimebundle_()

    models = {shown._view.front_end for shown in reports}
    states = [json.dumps(shown._view.get_state()) for shown in reports]
    [shared] = models
    assert max(map(len, states)) < 10_000 < len(shared.code) < 20_000
    assert f"IPY_MODEL_{shared.model_id}" in states[0]
    for shown in reports:
        shown.close()
    shared.close()
    later = TapeReport(square())
    later._repr_mimebundle_()
    assert later._view.front_end.comm is not None
    later.close()


def test_closing() -> None:
    """Closing a report leaves no live model; showing it again makes a new one, twice makes none."""
    FrontEnd.shared()  # it stays
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
