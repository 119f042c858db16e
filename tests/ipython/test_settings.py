"""``%config TapeMagics``."""

from __future__ import annotations

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.drawing import engines
from tapemagic.ipython.magics import TapeMagics
from tapemagic.report.live.packing import unpacked
from tests.ipython.conftest import Run

VIEW = "application/vnd.jupyter.widget-view+json"
CELL = "%%tape x\ny = np.sin(x)"


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test begins with a number."""
    run("x = 1.0")


def settings(shell: InteractiveShell) -> TapeMagics:
    """The settings of a shell."""
    [found] = [part for part in shell.configurables if isinstance(part, TapeMagics)]
    return found


def test_digits(run: Run) -> None:
    """They hold for reports made from then on; one that was made before does not change."""
    before = run(CELL)
    text = repr(before)

    run("%config TapeMagics.digits = 12")
    after = run(CELL)
    run("%config TapeMagics.digits = 3")

    assert "dy/dx = 0.540302\n" in text
    assert text == repr(before)
    assert "dy/dx = 0.540302305868\n" in repr(after)
    assert "0.841470984808" in after.dot
    assert "dy/dx = 0.54\n" in repr(run("%tape np.sin(x)")).replace("np.sin(x)", "y").replace(
        "(y)", "y"
    )


def test_nodes(run: Run) -> None:
    """The graph has room for this many nodes."""
    cell = "%%tape x\n" + "\n".join(f"y{i} = np.sin(x) + {i}.0" for i in range(40))

    run("%config TapeMagics.max_nodes = 20")
    small = run(cell).graph
    run("%config TapeMagics.max_nodes = 40")

    assert small.nodes <= 20 < run(cell).graph.nodes <= 40


def test_first_tab(run: Run) -> None:
    """It is open at first; where there is no such tab, the graph is."""

    def opened() -> str:
        report = run(CELL)
        report._repr_mimebundle_()
        first = unpacked(report._view.content)["first"]
        report.close()
        return str(first)

    assert "Graph" == opened()
    run("%config TapeMagics.first_tab = 'gradients'")
    assert "Gradients" == opened()
    run("%config TapeMagics.first_tab = 'Training'")
    assert "Graph" == opened()


def test_widgets(run: Run) -> None:
    """Without them, a notebook has the static report and what JupyterLab draws."""
    run("%config TapeMagics.widgets = False")
    report = run(CELL)

    assert VIEW not in report._repr_mimebundle_()
    run("%config TapeMagics.widgets = True")
    assert VIEW in run(CELL)._repr_mimebundle_()


def test_theme(run: Run) -> None:
    """A theme brings a page of its own, and tables take its colours, not those of the front end."""
    auto = run(CELL)._repr_mimebundle_()["text/html"]
    run("%config TapeMagics.theme = 'dark'")
    report = run(CELL)
    dark = report._repr_mimebundle_()["text/html"]

    assert "background-color:#111111" not in auto
    assert dark.startswith('<div style="background-color:#111111;color:#e5e7eb')
    for tag, style in (
        ("table", "color:inherit"),
        ("tr", "background:none"),
        ("td", "color:inherit"),
    ):
        found = re.findall(f"<{tag}(?: [^>]*)?>", dark)
        assert found
        assert all(f'style="{style}' in x for x in found)
    assert "#7f7f7f" not in report.drawing.svg
    assert "#7f7f7f" not in report.drawing.live


def test_engine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One engine alone, or none; what is missing is said."""
    run("%config TapeMagics.engine = 'none'")
    report = run(CELL)
    assert "no picture, because TapeMagics.engine is 'none'" == report.drawing.reason
    assert "y = sin(x)" in report._repr_mimebundle_()["text/html"]

    monkeypatch.setenv("PATH", "")
    run("%config TapeMagics.engine = 'dot'")
    assert 'or write %config TapeMagics.engine = "auto"' in run(CELL).drawing.reason

    monkeypatch.setattr(engines, "by_dot", None)
    pytest.importorskip("pygraphviz")
    run("%config TapeMagics.engine = 'pygraphviz'")
    assert run(CELL).drawing.picture is not None


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("digits = 0", "digits must be an integer from 1 to 17, not 0"),
        ("digits = True", "digits must be an integer from 1 to 17, not True"),
        ("digits = 6.0", "digits must be an integer from 1 to 17, not 6.0"),
        ("max_nodes = 3", "max_nodes must be an integer from 20 to 2000, not 3"),
        ("theme = 'drak'", "theme is 'auto', 'light' or 'dark', not 'drak'"),
        ("engine = None", "engine is 'auto', 'dot', 'pygraphviz' or 'none', not None"),
        ("first_tab = 'x'", "first_tab is 'Variables', 'Graph', 'Gradients', 'Paths', 'Plot', "),
    ],
)
def test_invalid(
    run: Run, shell: InteractiveShell, caplog: pytest.LogCaptureFixture, setting: str, words: str
) -> None:
    """It is refused in a sentence, the old value stays, and other settings can be made."""
    name = setting.partition(" ")[0]
    before = getattr(settings(shell), name)

    run(f"%config TapeMagics.{setting}")

    assert words in caplog.text
    assert before == getattr(settings(shell), name)
    run("%config TapeMagics.digits = 4")
    assert 4 == settings(shell).digits


def test_listed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """``%config TapeMagics`` explains every setting."""
    run("%config TapeMagics")

    shown = capsys.readouterr().out
    for name in ("digits", "engine", "first_tab", "max_nodes", "theme"):
        assert f"TapeMagics.{name}=<" in shown


def test_reload(run: Run, shell: InteractiveShell) -> None:
    """Settings outlive a reload, and what was refused does not stop it."""
    run("%config TapeMagics.digits = 4\n%config TapeMagics.theme = 'drak'")

    run("%reload_ext tapemagic")

    assert (4, "auto") == (settings(shell).digits, settings(shell).theme)
