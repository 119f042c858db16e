"""The widget of a report: its content as front_end/src/content.ts states it, and its answers to questions."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tapemagic
from tapemagic.drawing import engines
from tapemagic.report.bundle import TapeReport
from tapemagic.report.live import answers as answers_module
from tapemagic.report.live import content as content_module
from tapemagic.report.live import widget as widget_module
from tapemagic.report.live.front_end import STATIC
from tapemagic.report.live.packing import packed, unpacked
from tapemagic.report.live.size_limit import fitted
from tapemagic.report.tabs.gradients import live_gradients as gradients_live
from tapemagic.report.tabs.graph import live_graph as graph_live
from tests.ipython.conftest import Run
from tests.ipython.live import asked, content, opening, shown

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("any_size")]

SOURCE = Path(tapemagic.__file__).parents[1] / "front_end/src/content.ts"
LOOP = "%%tape x\nz = x\nfor k in range(30):\n    z = np.sin(z * data) + 1.0\nloss = np.sum(z)"


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test begins with a number and an array."""
    run("x = 2.0\ndata = np.arange(3.0)")


def fields(name: str) -> set[str]:
    """The names of the fields of an interface in content.ts."""
    [body] = re.findall(
        rf"interface {name} {{(.*?)\n}}", SOURCE.read_text(encoding="utf-8"), re.DOTALL
    )
    return set(re.findall(r"^  (\w+)\??:", body, re.MULTILINE))


@pytest.mark.parametrize(
    "name", ["Content", "Face", "View", "Value", "Operation", "Frame", "Step", "Control", "Check", "QueryError"]
)  # fmt: skip
def test_python_and_typescript_state_the_same_fields(name: str) -> None:
    """Neither writes, nor reads, a field that the other does not know."""
    parts = (content_module, graph_live, gradients_live, answers_module)
    [module] = [part for part in parts if getattr(part, name, object).__module__ == part.__name__]

    assert fields(name) == vars(module)[name].__annotations__.keys()


def test_steps_keys_and_folds(run: Run) -> None:
    """A view has the steps both ways, keys of values and of what can be opened."""
    view = content(shown(run(LOOP)))["view"]

    ways = [step["reverse"] for step in view["steps"]]
    assert [False, True] == sorted(set(ways))
    assert ways == sorted(ways)
    assert all(value["key"] for value in view["values"])
    assert [""] != [frame["fold"] for frame in view["frames"] if frame["iteration"]]
    rows = {step["row"] for step in view["steps"]} - {""}
    assert all(f'data-r="{row}"' in view["trace"] for row in rows)
    assert 'data-n="n0"' in view["svg"]


def test_keys_are_the_same_in_all_layouts_and_runs(run: Run) -> None:
    """The same value has the same key wherever it is drawn, and each key has a value in full."""
    widget = shown(run(LOOP))
    first = content(widget)["view"]
    [fold] = {frame["fold"] for frame in first["frames"] if frame["iteration"]}
    views = [first, *(asked(widget, opening({fold: k})) for k in (0, 1, 7, 29))]
    known = [{value["key"]: value for value in view["values"]} for view in views]

    for view, one in zip(views, known, strict=True):
        assert "" not in one
        assert len(one) == len(view["values"])
        for key in one.keys() & known[0].keys():
            assert (one[key]["name"], one[key]["text"]) == (
                known[0][key]["name"],
                known[0][key]["text"],
            )
    assert "w0" in set.intersection(*map(set, known))
    assert "n:data" in known[2].keys() & known[3].keys()
    assert all(
        isinstance(asked(widget, f"value:{key}"), str) for key in set().union(*map(set, known))
    )
    again = content(shown(run(LOOP)))["view"]
    assert [value["key"] for value in first["values"]] == [
        value["key"] for value in again["values"]
    ]


def test_an_opened_iteration(run: Run) -> None:
    """Its number is in its frame, and the layout says what was opened."""
    widget = shown(run(LOOP))
    [fold] = {f["fold"] for f in content(widget)["view"]["frames"] if f["iteration"]}

    view = asked(widget, opening({fold: 7}))

    assert {fold: 7} == view["opened"]
    assert [7, 30] in [frame["iteration"] for frame in view["frames"]]
    assert view["svg"].startswith("<svg")
    assert view["steps"]


def test_a_value_in_full(run: Run) -> None:
    """Numbers with all digits, arrays in tables whose axes are named by their sizes."""
    widget = shown(run("%%tape x\nm = np.ones((3, 4)) * x / 3.0\nz = np.sum(m)"))
    keys = {value["name"]: value["key"] for value in content(widget)["view"]["values"]}

    number, matrix = (asked(widget, f"value:{keys[name]}") for name in "xm")

    assert ">2.0<" in number
    assert "Gradient of z with respect to it" in number
    assert "axis 0 (3) ↓, axis 1 (4) →" in matrix
    assert "0.6666666666666666" in matrix


def test_check(run: Run) -> None:
    """The tab of gradients with the results, and a sentence that sums them up."""
    widget = shown(run("%%tape x\nz = np.sin(x) * x"))

    answer = asked(widget, "check")

    assert answer["words"] == (
        "✓ The gradient matches finite differences. Nudging the inputs agrees: nothing is missing."
    )
    assert "matches finite differences (relative error" in answer["html"]


def test_check_finds_a_wrong_gradient(run: Run) -> None:
    """A function with a gradient of its own need not have the right one."""
    run("@tm.custom_gradient\ndef f(u):\n    return u * 2.0, lambda g: g * 3.0")
    widget = shown(run("%%tape x\nz = f(x)"))

    assert (
        "✗ The gradient differs from finite differences: f has a custom gradient, which may differ from the "
        "derivative."
    ) == asked(widget, "check")["words"]


def test_check_of_all_orders(run: Run) -> None:
    """The button compares the second order, the gradients of the cell and full matrices, too."""
    run(
        "@tm.custom_gradient\ndef f(u):\n    v = u.numpy()\n    return u**3, lambda g: g * 3 * u * v"
    )
    widget = shown(
        run(
            "%%tape x --hessian -o 2\nx = 2.0\nz = f(x)\n"
            "with tm.GradientTape() as tape:\n    tape.watch(x)\n    u = x**4\n"
            "du = tape.gradient(u, x)\nz = z + 0 * u"
        )
    )

    answer = asked(widget, "check")

    assert answer["words"] == (
        "✗ d²z/dx² differs from finite differences: f has a custom gradient, which may differ from the derivative; "
        "dz/dx and du match finite differences. Nudging the inputs agrees: nothing is missing in these."
    )
    assert 2 == answer["html"].count("6.0 on the tape, 12.0000 by finite differences")


def test_check_of_a_gradient_with_a_part_missing(run: Run) -> None:
    """What was recorded agrees, but the cell, run again with nudged inputs, does not."""
    widget = shown(run("%%tape x\nimport math\nz = x**2 + math.sin(float(x))"))

    answer = asked(widget, "check")

    assert "✗ The gradient lacks a part." == answer["words"]
    assert "Nudging x gives dz/dx = " in answer["html"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("nonsense", "There is no answer to 'nonsense'."),
        ("value:", "there is no value ''"),
        ("value:99.0", "there is no value '99.0'"),
        ("view:", "JSONDecodeError"),
        ("view:[]", "openings are a mapping"),
        ('view:{"a":1}', "'a' is not a key"),
        ('view:{"1":1.5}', "is an integer, not 1.5"),
        ('view:{"1":NaN}', "is an integer, not nan"),
        ('view:{"1":true}', "is an integer, not True"),
        (f'view:{{"1":{"9" * 5000}}}', "ValueError"),
        ("view:" + "[" * 15_000, "nested too deeply"),
        ("value:<script>alert(1)</script>\n\u202e", "there is no value '<script>"),
    ],
)
def test_questions_that_have_no_answer(run: Run, question: str, words: str) -> None:
    """They are answered in words."""
    widget = shown(run("%%tape x\nz = np.sin(x)"))

    assert words in asked(widget, question)["error"]


@pytest.mark.parametrize("number", [0, -5, 10**18])
def test_numbers_out_of_range(run: Run, number: int) -> None:
    """The nearest is opened."""
    widget = shown(run(LOOP))
    [fold] = {f["fold"] for f in content(widget)["view"]["frames"] if f["iteration"]}

    assert "error" not in asked(widget, opening({fold: number}))


@pytest.mark.parametrize(
    "message",
    [
        None, 3, "ask", [], {}, {"ask": None}, {"ask": ["value:0.0"]}, {"ask": "x" * 1_000_000},
        {"ask": "value:\ud800"}, {"what_if": {"x": 1}},
    ],
)  # fmt: skip
def test_messages_of_another_form(
    run: Run, message: Any, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """They are ignored, and nothing is said."""
    widget = shown(run("%%tape x\nz = np.sin(x)"))
    capsys.readouterr()

    widget._handle_custom_msg(message, [])

    assert {} == widget.answers
    assert ("", "") == capsys.readouterr()
    assert [] == caplog.records


def test_an_error_while_answering(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the answer, in plain words."""
    widget = shown(run("%%tape x\nz = np.sin(x)"))
    for error in (RuntimeError("out of ink"), KeyboardInterrupt()):

        def fail(*_args: Any, error: BaseException = error) -> Any:
            raise error

        monkeypatch.setattr(answers_module, "view_of", fail)
        question = opening({"0": 1 + isinstance(error, KeyboardInterrupt)})
        words = asked(widget, question)["error"]
        assert words in (
            "This cannot be answered (RuntimeError): out of ink",
            "The answer was interrupted.",
        )


def test_old_answers_are_dropped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook has room for so many."""
    monkeypatch.setattr(widget_module, "ROOM", 20_000)
    widget = shown(run(LOOP))
    [fold] = {f["fold"] for f in content(widget)["view"]["frames"] if f["iteration"]}

    for number in range(1, 20):
        asked(widget, opening({fold: number}))
        assert len(json.dumps(widget.answers)) < 20_500

    assert opening({fold: 19}) in widget.answers
    assert opening({fold: 1}) not in widget.answers
    assert 1 < len(widget.answers) < 19
    monkeypatch.setattr(widget_module, "ROOM", 1_000)
    other = shown(run(LOOP))
    assert {"error": widget_module.TOO_LARGE} == asked(other, opening({fold: 3}))


def test_renewing(run: Run) -> None:
    """Another run of the cell has the next number, and no answers, in one update."""
    first, second = run("%%tape x\nz = np.sin(x)"), run("%%tape x\nz = np.cos(x)")
    widget, other = shown(first), shown(second)
    asked(widget, "value:w0")
    sent: list[Any] = []
    widget.comm.send = lambda data, *_args, **_more: sent.append(data)

    widget.renew(content(other), second._answers)

    assert (1, {}) == (content(widget)["number"], widget.answers)
    [update] = [data["state"] for data in sent if data["method"] == "update"]
    assert {"content", "answers"} == update.keys()
    assert "-0.909297" in asked(widget, "view:{}")["trace"]


SLIDING = "%%tape x --what-if x\nx = 0.5\ny = x\nfor k in range(9):\n    y = np.sin(y)\ny"


@pytest.fixture
def drawn_by_the_page(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], str]:
    """A kernel without Graphviz, and the Graphviz of the page, which draws what the last message asks for."""
    path = os.environ["PATH"]
    monkeypatch.setattr(engines, "_layouts", {})
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    monkeypatch.setenv("PATH", "")

    def draw(message: Any) -> str:
        with monkeypatch.context() as machine:
            machine.setenv("PATH", path)
            return engines.by_dot(message["draw"])

    return draw


def test_the_page_draws(run: Run, drawn_by_the_page: Callable[[Any], str]) -> None:
    """What a kernel without Graphviz shows, opens or runs again comes with the picture that the page has drawn."""
    report = run(SLIDING)
    widget = shown(report)
    said: list[Any] = []
    widget.send = said.append
    hear = partial(widget._handle_custom_msg, buffers=[])
    assert content(widget)["view"]["undrawn"]
    assert "no picture" in content(widget)["view"]["caption"]

    hear({"draws": True})
    hear({"drawn": said[-1]["draw"], "svg": drawn_by_the_page(said[-1])})
    view = content(widget)["view"]
    assert 'data-n="n0"' in view["svg"]
    assert "no picture" not in view["caption"]
    assert "undrawn" not in view
    assert report.drawing.svg is not None

    question = opening({view["operations"][0]["fold"]: 3})
    hear({"ask": question})
    assert question not in widget.answers  # until it is drawn
    hear({"drawn": said[-1]["draw"], "svg": drawn_by_the_page(said[-1])})
    assert 'data-c="0"' in unpacked(widget.answers[question])["svg"]

    hear({"what_if": {"x": [0.25]}, "number": 1, "ask": question})
    assert 0 == content(widget)["number"]
    for message in said[-2:]:
        assert 0 == content(widget)["number"]
        hear({"drawn": message["draw"], "svg": drawn_by_the_page(message)})
    assert 1 == content(widget)["number"]
    assert "0.25" in content(widget)["view"]["svg"]
    assert 'data-c="0"' in unpacked(widget.answers[question])["svg"]

    again = run(SLIDING)
    assert "no picture" not in again._repr_html_()  # in static HTML of a second run, too


@pytest.mark.parametrize("svg", ["", "<svg", "no picture"])
@pytest.mark.usefixtures("drawn_by_the_page")
def test_the_page_cannot_draw(run: Run, svg: str) -> None:
    """The equations stay, and an opened part has equations as well."""
    widget = shown(run(SLIDING))
    said: list[Any] = []
    widget.send = said.append
    hear = partial(widget._handle_custom_msg, buffers=[])

    hear({"draws": True})
    hear({"drawn": said[-1]["draw"], "svg": svg})

    assert "no picture" in content(widget)["view"]["caption"]
    question = opening({content(widget)["view"]["operations"][0]["fold"]: 3})
    hear({"ask": question})
    hear({"drawn": said[-1]["draw"], "svg": svg})
    assert "no picture" in unpacked(widget.answers[question])["caption"]


def test_graphviz_is_sent_to_the_page_that_asks() -> None:
    """The front end of all reports has it, with its licence beside it."""
    shared = widget_module.FrontEnd.shared()
    said: list[Any] = []
    shared.send = lambda message, buffers: said.append((message, buffers))

    shared._handle_custom_msg({"graphviz": True}, [])

    [(_, [code])] = said
    assert b"as Graphviz" in code[-200:]
    assert b"https://" not in code  # nothing comes from the network
    assert "Eclipse Public License" in (STATIC / "graphviz-licence.txt").read_text(encoding="utf-8")
    del shared.send


def test_what_if_messages_are_passed_on(run: Run) -> None:
    """They go to who made the widget."""
    report = run("%%tape x\nz = np.sin(x)")
    heard: list[Any] = []
    widget = widget_module.ReportWidget(report.content(), report._answers, heard.append)

    widget._handle_custom_msg({"what_if": {"x": 1.0}, "number": 1}, [])

    assert [{"what_if": {"x": 1.0}, "number": 1}] == heard
    widget.close()


def test_a_slider_leaves_folds_open(run: Run) -> None:
    """The layout that a reader opened is sent for the new run, in the same update."""
    report = run("%%tape x --what-if x\nx = 0.5\ny = x\nfor k in range(9):\n    y = np.sin(y)")
    widget = shown(report)
    sent: list[Any] = []
    widget.comm.send = lambda data, *_args, **_more: sent.append(data)

    widget.hear({"what_if": {"x": [1.0]}, "number": 1, "ask": 'view:{"0":3}'})

    [update] = [data["state"] for data in sent if data["method"] == "update"]
    view = unpacked(update["answers"]['view:{"0":3}'])
    assert [(3, 9)] == [tuple(frame["iteration"]) for frame in view["frames"] if frame["iteration"]]
    assert {"0": 3} == view["opened"]
    assert "1.0" == view["values"][0]["text"]


def test_a_closed_widget_answers_nothing(run: Run) -> None:
    """Its cell has run again."""
    report = run("%%tape x\nz = np.sin(x)")
    widget = shown(report)

    report.close()
    widget.hear({"ask": "value:w0"})

    assert {} == widget.answers
    assert "so its recording is gone" in asked(shown(report), "value:w0")["error"]


HOSTILE = """<img src=x onerror="alert(1)"></script><!--]]>'&\u202e\n"""


def test_hostile_names(run: Run) -> None:
    """Text is text, and HTML holds no element that a name made."""
    run(f"w = tm.Variable([1.0, 2.0], name={HOSTILE * 20!r})")

    widget = shown(run(f"%%tape\ny = np.sum(w * {HOSTILE!r}.count('x'))"))

    shows = content(widget)
    view = shows["view"]
    pages = [shows["head"], view["svg"], view["caption"], view["trace"]]
    pages += [face["html"] for face in shows["faces"]]
    pages += [asked(widget, f"value:{value['key']}") for value in view["values"]]
    pages.append(asked(widget, "check")["html"])
    assert not [
        page for page in pages if "<img src=x" in page or "<script" in page or "</script" in page
    ]
    assert not [value for value in view["values"] if "\n" in value["name"] + value["formula"]]


def test_content_that_is_too_large(run: Run) -> None:
    """The least important parts are left out, and a sentence stands in the place of each."""
    shows = content(shown(run(LOOP)))
    whole = len(packed(shows))

    rooms = [whole, whole - 1, whole // 2, 1500, 500]
    smaller = [fitted(shows, room) for room in rooms]

    assert shows == smaller[0][0]
    assert all(len(text) <= room for (_, text), room in zip(smaller[:-1], rooms, strict=False))
    sizes = [len(text) for _, text in smaller]
    assert sizes == sorted(sizes, reverse=True)
    least = unpacked(smaller[-1][1])
    assert least["view"] is None
    assert all(
        "omitted, because" in face["html"] for face in least["faces"] if face["title"] == "Graph"
    )
    assert shows["head"] == least["head"]


def test_a_report_is_shown_outside_notebooks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a page in the browser; where there is none, a warning has the file."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda uri: not opened.append(uri))
    report: TapeReport = run("%%tape x\nz = np.sin(x)")

    path = report.show()

    assert path is not None
    assert [path.as_uri()] == opened
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    monkeypatch.setattr("webbrowser.open", lambda _uri: False)
    with pytest.warns(UserWarning, match="no browser here: open .*report.html"):
        report.show()
