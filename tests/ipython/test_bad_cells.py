"""Cells and objects that would break a report: a clear sentence each, and nothing is lost."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.drawing import graph_picture, svg
from tapemagic.ipython import magics
from tests.ipython.conftest import Run
from tests.ipython.test_watching import gradients

pytestmark = pytest.mark.thorough


@pytest.fixture(autouse=True)
def a(run: Run) -> None:
    """Every test here begins with a number and a Variable."""
    run("a, v = 3.0, tm.Variable(2.0, name='v')")


@pytest.mark.parametrize("last", ["del tape", "tape = 3"])
def test_a_tape_without_a_name(run: Run, last: str) -> None:
    """The report is whole, says that the name is gone, and the magics still ask the tape."""
    report = run(f"%%tape a\ny = a**2\n{last}")

    assert {"dy/da": "6.0"} == gradients(report)
    assert "tape is not the tape of this cell any more" in repr(report)
    assert 6.0 == float(run("%gradient y a"))
    assert "dy/da = 6.0" in repr(run("%why y a"))


def test_another_tape_of_that_name(run: Run) -> None:
    """A cell that makes tapes itself calls them as it likes."""
    source = "%%tape a\ny = a**2\nwith tm.GradientTape() as tape:\n    z = v**2\ndv = tape.gradient(z, v)"

    assert "any more" not in repr(run(source))


def test_a_tape_by_another_name(run: Run) -> None:
    """No word of it where the name stands for the tape."""
    assert "any more" not in repr(run("%%tape a -n t\ntape = 3\ny = a**2"))


def test_deleted_values(run: Run, variables: dict[str, Any]) -> None:
    """What the cell deleted is in its report, and nowhere else."""
    report = run("%%tape a\ny = a**2\ndel a, y")

    assert {"dy/da": "6.0"} == gradients(report)
    assert not {"a", "y"} & set(variables)


CLASSES = """
class Text(str):
    def __repr__(self): raise OSError('<b>')
class Array(np.ndarray):
    def __repr__(self): raise OSError('<b>')
class Writer:
    def __repr__(self):
        globals()['added'] = 1
        raise OSError('<b>')
    def __getattr__(self, name): raise RuntimeError(name)
    def __eq__(self, other): raise RuntimeError('==')
    __hash__ = None
class Params(dict):
    def items(self): raise RuntimeError('items')
"""


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Text('x')", "a Text, whose repr() raises OSError"),
        ("np.ones(3).view(Array)", "a Array, whose repr() raises OSError"),
        ("[Text('x')]", "a list, whose repr() raises OSError"),
        ("Writer()", ""),
        ("Params(v=v)", ""),
    ],
)
def test_objects_that_raise(run: Run, variables: dict[str, Any], value: str, shown: str) -> None:
    """Whatever the user's objects do, the report is made, without running their code more than needed."""
    run(CLASSES)

    report = run(f"%%tape a\ny = a**2\nr = {value}\nr")

    assert "dy/da" in gradients(report)
    assert shown in repr(report)
    assert "text/html" in report._repr_mimebundle_()
    assert "added" not in variables


def test_parameters_in_a_dict_of_one_s_own(run: Run) -> None:
    """A dict is searched for variables as Python stores it."""
    run(f"{CLASSES}\nparams = Params(w=tm.Variable(2.0))")

    assert "dy/d(params['w'])" in gradients(run("%%tape a\ny = a * params['w']"))


def test_values_that_change_meanwhile(run: Run, variables: dict[str, Any]) -> None:
    """A thread that assigns variables and makes names while reports are made disturbs none of them."""
    stop = threading.Event()
    held = variables["box"] = type("Box", (), {})()

    def change() -> None:
        k = 0
        while not stop.is_set():
            k += 1
            variables["v"].assign(float(k))
            variables[f"name{k % 500}"] = held.__dict__[f"part{k % 300}"] = float(k)
            if k % 7 == 0:
                variables.pop(f"name{(k + 250) % 500}", None)
                held.__dict__.pop(f"part{(k + 150) % 300}", None)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=change)
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        reports = [run("%%tape a\nbox\ny = a**2 * v") for _ in range(10)]
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)

    for report in reports:
        assert {"dy/da", "dy/dv"} == set(gradients(report))
        assert report.findings.failure is None


def test_a_picture_that_graphviz_refuses(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason stands in place of the picture, and all else is there."""
    monkeypatch.setattr(
        graph_picture, "draw", lambda *_: svg.Drawing(None, "no picture: 'dot' failed <b>")
    )

    page = run("%%tape a\ny = a**2")._repr_mimebundle_()["text/html"]

    assert "no picture: &#x27;dot&#x27; failed &lt;b&gt;" in page
    assert "dy/da" in page
    assert "<img" not in page


def interrupt(*_args: Any, **_words: Any) -> None:
    """Stands for something during which Ctrl-C is pressed."""
    raise KeyboardInterrupt


def test_an_interrupted_report(
    shell: InteractiveShell, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the report is made leaves the variables, the tape and the notebook as the cell made them."""
    with monkeypatch.context() as patch:
        patch.setattr(magics, "analyze", interrupt)
        error = shell.run_cell("%%tape a\ny = a**2").error_in_exec

    assert type(error) is KeyboardInterrupt
    assert str(error).startswith("the report was interrupted; the cell has run, and its variables")
    assert 6.0 == float(run("%gradient y a"))
    assert 6.0 == float(run("tape.gradient(y, a)"))
    assert {"dz/da": "2.0"} == gradients(run("%%tape a\nz = 2 * a"))


def test_an_interrupted_drawing(
    shell: InteractiveShell, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same while the picture is drawn."""
    with monkeypatch.context() as patch:
        patch.setattr(graph_picture, "draw", interrupt)
        run("report = get_ipython().run_cell_magic('tape', 'a', 'y = a**2')")
        error = shell.run_cell("report").error_in_exec

    assert type(error) is KeyboardInterrupt
    assert str(error).startswith("the drawing of the report was interrupted; the cell has run")
    assert "<img" in run("report")._repr_mimebundle_()["text/html"]
    assert 6.0 == float(run("tape.gradient(y, a)"))


def test_an_interrupted_report_of_a_failure(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own error is raised all the same."""
    monkeypatch.setattr(magics, "analyze", interrupt)

    assert (
        type(shell.run_cell("%%tape a\ny = a / np.ones(2) @ np.ones(3)").error_in_exec)
        is ValueError
    )


def test_a_report_that_cannot_be_made(
    shell: InteractiveShell, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning says so, and what is there; the cell has run."""

    def broken(*_args: Any, **_words: Any) -> None:
        raise RuntimeError("no\nsuch thing")

    monkeypatch.setattr(magics, "analyze", broken)
    with pytest.warns(
        UserWarning, match=r"could not be made \(RuntimeError: no such thing\); the cell has run"
    ):
        assert run("%%tape a\ny = a**2") is None
    assert 6.0 == float(run("tape.gradient(y, a)"))
    with pytest.warns(UserWarning, match="could not be made"):
        assert type(shell.run_cell("%%tape a\n1 / 0").error_in_exec) is ZeroDivisionError


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("y = 2 * a\nraise KeyboardInterrupt", "KeyboardInterrupt"),
        ("y = 2 * a\nraise SystemExit(3)", "SystemExit"),
        ("y = 2 * a\neval('1 +')", "SyntaxError"),
        ("y = 2 * a\n%gradient y", "UsageError"),
        ("y = 2 * a\nget_ipython().run_cell_magic('tape', 'a -n t', '1 / 0')", "ZeroDivisionError"),
        ("y = 2 * a\nraise ExceptionGroup('several', [ValueError(), TypeError()])", "ExceptionGroup"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:To exit")
def test_whatever_stops_a_cell(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str, name: str
) -> None:
    """The partial report is shown with the line at which it stopped."""
    result = shell.run_cell(f"%%tape a\n{cell}")

    assert name == type(result.error_in_exec).__name__
    out = capsys.readouterr().out
    assert f"The cell stopped at line 3 with {name}" in out
    assert "dy/da = 2.0" in out
