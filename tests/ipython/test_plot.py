"""--plot: the target and its derivatives over a range of one variable."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.ipython import plotting
from tapemagic.report.tabs.plot import show_plot as face
from tapemagic.report.tabs.plot.plot import Curve, Plot
from tests.ipython.conftest import Run

pytestmark = pytest.mark.thorough

Plotted = Callable[[str], Plot]
Refused = Callable[[str], str]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine computes as many points as an idle one."""
    monkeypatch.setattr(plotting, "SECONDS", 60.0)
    monkeypatch.setattr(plotting, "REDRAW_SECONDS", 60.0)


@pytest.fixture
def plotted(run: Run) -> Plotted:
    """Runs a cell; the plot in its report."""

    def plotted(source: str) -> Plot:
        plot: Plot = run(source).findings.plot
        return plot

    return plotted


def assert_close(curve: Curve, plot: Plot, expected: Callable[[Any], Any]) -> None:
    """A curve has the values of a formula."""
    xs = np.array(plot.points)
    np.testing.assert_allclose(curve.values, expected(xs) + 0 * xs, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(curve.here, expected(np.float64(plot.at)), rtol=1e-9, atol=1e-9)


def test_derivatives_of_a_square_of_a_sine(plotted: Plotted) -> None:
    """The curves of the fourth order agree with their formulas."""
    plot = plotted("%%tape --plot x=-6.5:6.5 -o 3\nx = 1.0\ny = np.sin(x)**2")

    assert ["y", "dy/dx", "d²y/dx²", "d³y/dx³"] == [curve.symbol for curve in plot.curves]
    assert 193 == len(plot.points)
    formulas = (
        lambda x: np.sin(x) ** 2,
        lambda x: np.sin(2 * x),
        lambda x: 2 * np.cos(2 * x),
        lambda x: -4 * np.sin(2 * x),
    )
    for curve, formula in zip(plot.curves, formulas, strict=True):
        assert_close(curve, plot, formula)
    assert () == plot.notes


def test_a_polynomial(plotted: Plotted) -> None:
    """A cube has four curves that are not zero, and a constant one that is."""
    plot = plotted("%%tape --plot x=-6:6 -o 4\nx = 1.0\ny = x**3")

    formulas = (lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x, lambda _: 6.0, lambda _: 0.0)
    for curve, formula in zip(plot.curves, formulas, strict=True):
        assert_close(curve, plot, formula)


def test_no_derivative(plotted: Plotted) -> None:
    """A derivative that the tape does not give is no curve, and a sentence says so."""
    plot = plotted("%%tape --plot x=-6:6 -o 3\nx = 1.0\ny = x * x")

    assert ["y", "dy/dx", "d²y/dx²"] == [curve.symbol for curve in plot.drawn]
    assert ("d³y/dx³ is None at every point.",) == plot.notes


@pytest.mark.parametrize(
    ("body", "value", "derivative"),
    [
        ("y = abs(x)", np.abs, np.sign),
        ("y = tm.relu(x)", lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
        (
            "y = np.where(x > 0.5, x**2, 1 - x)",
            lambda x: np.where(x > 0.5, x**2, 1 - x),
            lambda x: np.where(x > 0.5, 2 * x, -1),
        ),
        (
            "y = x\nfor _ in range(3):\n    y = y * x if x > 0 else -2 * y",
            lambda x: np.where(x > 0, x**4, -8 * x),
            lambda x: np.where(x > 0, 4 * x**3, -8),
        ),
    ],
)
def test_branches(plotted: Plotted, body: str, value: Any, derivative: Any) -> None:
    """Each point is a run of the cell, with the branches of that run; derivatives jump where branches change."""
    plot = plotted(f"%%tape --plot x=-2:2\nx = 1.0\n{body}")

    assert_close(plot.curves[0], plot, value)
    assert_close(plot.curves[1], plot, derivative)
    assert plot.curves[1].breaks


def test_a_branch_without_the_variable(plotted: Plotted) -> None:
    """A constant of a branch is drawn, and the gradient that there is not is a gap."""
    plot = plotted("%%tape --plot x=-2:2\nx = 1.0\nif x > 0:\n    y = x**2\nelse:\n    y = 1.0")

    assert_close(plot.curves[0], plot, lambda x: np.where(x > 0, x**2, 1.0))
    slope = np.array(plot.curves[1].values)
    xs = np.array(plot.points)
    assert np.isnan(slope[xs <= 0]).all()
    np.testing.assert_allclose(slope[xs > 0], 2 * xs[xs > 0])
    assert ("dy/dx is None for x ≤ 0.0.",) == plot.notes


def test_an_error_at_some_points(plotted: Plotted, variables: dict[str, Any]) -> None:
    """Points at which the cell raises an error are a gap, and the notebook is that of the ordinary run."""
    plot = plotted("%%tape --plot x=-2:2\nx = 1.0\nif x < 0:\n    raise ValueError\ny = np.sqrt(x)")

    assert (
        "The cell raises ValueError for x < 0.0.",
        "dy/dx is infinite at x = 0.0.",
    ) == plot.notes
    assert 1.0 == variables["x"] == variables["y"]


def test_side_effects(
    run: Run, variables: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is left of the runs for the points: no output, no change of a list, a Variable, an array or a seed."""
    run("log = []\nw = tm.Variable(2.0)\na = np.zeros(2)\nnp.random.seed(3)")
    capsys.readouterr()
    run(
        "%%tape x --plot x=-1:1\nx = 0.5\nprint('run', float(x))\nlog.append(float(x))\na[0] += 1\n"
        "noise = np.random.rand()\ny = w * x + noise\nw.assign_add(1.0)\n"
        "if x < 0:\n    left = 1"
    )

    assert "run 0.5" in capsys.readouterr().out.splitlines()[0]
    assert [0.5] == variables["log"]
    assert [1.0, 0.0] == variables["a"].tolist()
    assert 3.0 == float(variables["w"])
    expected = np.random.RandomState(3)
    assert expected.rand() == variables["noise"]
    assert expected.rand() == np.random.rand()  # noqa: NPY002 -- the global one is tested
    assert "left" not in variables


def test_every_point_starts_as_the_ordinary_run(plotted: Plotted, run: Run) -> None:
    """A Variable that the cell changes has the same value at the start of every run."""
    run("w = tm.Variable(2.0)\nlog = []")

    plot = plotted(
        "%%tape --plot x=-1:1\nx = 0.5\nw.assign_add(1.0)\nlog.append(1.0)\ny = w * x * len(log)"
    )

    assert_close(plot.curves[0], plot, lambda x: 3 * x)
    assert_close(plot.curves[1], plot, lambda x: 3.0 + 0 * x)


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("x = 0.5", "Tensor"),
        ("x = np.float64(0.5)", "Tensor"),
        ("x = np.array([0.5])", "Tensor"),
        ("x = tm.constant(0.5)", "Tensor"),
        ("x = tm.Variable(0.5)", "Variable"),
    ],
)
def test_kinds_of_values(
    plotted: Plotted, run: Run, variables: dict[str, Any], before: str, kind: str
) -> None:
    """The variable may be any single number, of the notebook or of the cell; it is watched automatically."""
    run(before)
    held = plotted("%%tape --plot x=-1:1\ny = np.sum(x**2)")
    own = plotted(f"%%tape --plot x=-1:1\n{before}\ny = np.sum(x**2)")

    for plot in (held, own):
        assert 0.5 == plot.at
        assert_close(plot.curves[0], plot, np.square)
        assert_close(plot.curves[1], plot, lambda x: 2 * x)
    assert kind == type(variables["x"]).__name__
    assert 0.5 == float(np.sum(variables["x"]))


def test_float32(plotted: Plotted) -> None:
    """A float32 stays one at every point."""
    plot = plotted("%%tape --plot x=-1:1\nx = np.float32(0.5)\ny = x * x")

    assert all(np.float32(y) == y for y in plot.curves[0].values)


def test_a_name_that_is_read_and_assigned(plotted: Plotted, run: Run) -> None:
    """The number takes the place of the value with which the cell begins, not of one that it computes."""
    run("x = 0.5")

    plot = plotted("%%tape --plot x=-1:1\nx = x * 3\ny = x**2")

    assert_close(plot.curves[0], plot, lambda x: 9 * x**2)


def test_several_targets_and_sums(plotted: Plotted) -> None:
    """Each target has its curves; of an array those of its sum."""
    plot = plotted("%%tape --plot x=-1:1 -t y z\nx = 0.5\ny = x * np.arange(4.0)\nz = np.exp(x)")

    assert ["y", "dy/dx", "z", "dz/dx"] == [curve.symbol for curve in plot.curves]
    for curve, formula in zip(
        plot.curves, (lambda x: 6 * x, lambda _: 6.0, np.exp, np.exp), strict=True
    ):
        assert_close(curve, plot, formula)
    assert ("y is an array: its curves are those of the sum of y.",) == plot.notes


def test_an_expression_as_the_target(plotted: Plotted) -> None:
    """The expression at the end of the cell is the target of every run."""
    plot = plotted(
        "%%tape --plot x=-1:1\nx = 0.5\nif x > 0:\n    k = 2.0\nelse:\n    k = 3.0\nk * x"
    )

    assert_close(plot.curves[0], plot, lambda x: np.where(x > 0, 2 * x, 3 * x))
    assert ["k * x", "d(k * x)/dx"] == [curve.symbol for curve in plot.curves]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("x = 1\ny = 2.0 * x", "x = 1 is an integer, and only real numbers have derivatives: write x = 1.0"),
        ("x = np.zeros(3)\ny = np.sum(x)", "x is an array of shape 3, and a plot needs one number"),
        ("if False:\n    x = 1.0\nz = tm.Variable(1.0)\ny = z * z", "the line that assigns x did not run"),
        ("x = 1.0 + 1j\ny = x * x", "x is of dtype complex128"),
        ("x = 1.0\nprint(3)", "there is nothing to differentiate"),
    ],
)  # fmt: skip
def test_nothing_to_plot(run: Run, cell: str, words: str) -> None:
    """A value of the cell that cannot be plotted over is told in the place of the plot."""
    report = run(f"%%tape --plot x=-1:1\n{cell}")

    [note] = report.findings.plot.notes
    assert note.startswith(f"Not drawn: {words}")
    assert words in repr(report)
    assert "Not drawn" in report._repr_mimebundle_()["text/html"]
    report.close()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "'x' isn't a name with a range: write it without spaces, as in x=-6:6"),
        ("x=1", "isn't a name with a range"),
        ("x=1:2:3", "isn't a name with a range"),
        ("3=1:2", "isn't a name with a range"),
        ("x=a:b", "'x=a:b' has no two numbers for a range: write x=-6:6"),
        ("x=:2", "has no two numbers for a range"),
        ("x=6:-6", "the range in 'x=6:-6' is reversed: write x=-6:6"),
        ("x=1:1", "is too narrow"),
        ("x=0:inf", "has no end: write two finite numbers"),
        ("x=nan:1", "has no end"),
        ("x=-1e200:1e200", "has no end"),
        ("nowhere=0:1", "there is no variable 'nowhere' in the notebook"),
        ("n=0:1", "n = 3 is an integer, and only real numbers have derivatives: write n = 3.0"),
        ("v=0:1", "v is an array of shape 2, and a plot needs one number"),
        ("text=0:1", "text"),
        ("k=0:1", "the loop assigns k in every iteration"),
    ],
)
def test_refused(run: Run, refused: Refused, value: str, words: str) -> None:
    """A plot that cannot be is refused in one line, before the cell runs."""
    run("x, n, v, text = 1.0, 3, np.zeros(2), 'x'")

    line = refused(f"%%tape --plot {value}\nfor k in [1.0, 2.0]:\n    y = x * k")

    assert line.startswith("%%tape")
    assert words in line


def test_without_matplotlib(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves need no other library."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    picture = run("%%tape --plot x=0:1\nx = 0.5\ny = x * x").curves

    assert "<path" in picture.svg()


def test_matplotlib_stays_as_it_was(run: Run) -> None:
    """Neither the settings nor the figures of matplotlib change, whatever the settings are."""
    with mpl.rc_context({"font.size": 30.0, "axes.facecolor": "red", "text.usetex": True}):
        before = dict(mpl.rcParams)
        pyplot = sys.modules.get("matplotlib.pyplot")
        figures = pyplot.get_fignums() if pyplot else []

        picture = run("%%tape --plot x=-1:1.5\nx = 0.5\ny = x * x").curves

        assert before == dict(mpl.rcParams)
        assert figures == (pyplot.get_fignums() if pyplot else [])
    assert "red" not in picture.svg()
    assert picture.svg() == run("%%tape --plot x=-1:1.5\nx = 0.5\ny = x * x").curves.svg()


def test_figures_of_the_cell(run: Run, variables: dict[str, Any]) -> None:
    """A figure that the cell draws holds the lines of the ordinary run alone, and stays the current one."""
    run(
        "import matplotlib; matplotlib.use('agg')\nimport matplotlib.pyplot as plt; plt.close('all')"
    )
    run("%%tape --plot x=-1:1\nx = 0.5\nplt.plot([0, float(x)])\ny = x * x")

    pyplot = variables["plt"]
    assert [1] == pyplot.get_fignums()
    assert 1 == len(pyplot.gca().lines)
    pyplot.close("all")


def test_text(run: Run) -> None:
    """As text the plot is a table of nine points."""
    report = run("%%tape --plot x=-2:2 -o 2\nx = 1.0\ny = x**2")

    shown = face.text(report.findings).splitlines()
    assert "y, dy/dx and d²y/dx² over x from -2.0 to 2.0" == shown[0]
    assert ["x", "y", "dy/dx", "d²y/dx²"] == shown[1].split()
    assert ["-2.0", "4.0", "-4.0", "2.0"] == shown[2].split()
    assert 11 == len(shown)
    assert "\n".join(shown) in repr(report)


def test_a_cell_that_fails_has_no_plot(shell: InteractiveShell) -> None:
    """The error is shown, with the report until then."""
    result = shell.run_cell("%%tape --plot x=0:1\nx = 0.5\ny = x * x\nraise KeyError(1)")

    assert isinstance(result.error_in_exec, KeyError)


def test_an_exit_at_some_points(plotted: Plotted, variables: dict[str, Any]) -> None:
    """An exit is a gap as an error is."""
    plot = plotted("%%tape --plot x=0:2\nx = 1.5\nif x < 1:\n    raise SystemExit\ny = x * x")

    assert ("The cell raises SystemExit for x < 1.0.",) == plot.notes
    assert 1.5 == variables["x"]


def test_an_interrupt(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """An interrupt ends the plot, and the notebook is as after the ordinary run."""
    result = shell.run_cell(
        "%%tape --plot x=0:2\nx = 1.5\nif x < 1:\n    raise KeyboardInterrupt\ny = x * x"
    )

    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert 1.5 == shell.user_ns["x"]
    assert 2.25 == shell.user_ns["y"]
    capsys.readouterr()


def test_a_gradient_that_lacks_a_part(run: Run) -> None:
    """A curve that is not the slope of the target is told."""
    report = run("%%tape --plot x=-1:1\nx = 0.5\ny = x * float(x)")

    words = "dy/dx is what the tape gives, which is not the slope of the curve: float() on line 3"
    assert words in face.text(report.findings)


def test_outside(plotted: Plotted) -> None:
    """A value outside of the range is told, and not marked."""
    plot = plotted("%%tape --plot x=0:1\nx = 5.0\ny = x * x")

    assert "The cell's own x = 5.0 is outside of this range." == plot.outside
    assert math.isclose(25.0, plot.curves[0].here)


def test_with_sliders(run: Run) -> None:
    """A slider of the plotted variable moves the mark alone; another one moves the curves."""
    report = run("%%tape --plot x=-3:3 --what-if x=-3:3 a\nx = 1.0\na = 2.0\ny = np.sin(a * x)")
    report._repr_mimebundle_()
    curves, picture = report.findings.plot.curves, report.curves

    report._view.hear({"what_if": {"x": 2.0}})

    plot = report.findings.plot
    assert 2.0 == plot.at
    assert [curve.values for curve in curves] == [curve.values for curve in plot.curves]
    assert picture.content == report.curves.content
    assert picture.marks != report.curves.marks
    np.testing.assert_allclose([c.here for c in plot.curves], [np.sin(4.0), 2 * np.cos(4.0)])

    report._view.hear({"what_if": {"x": 2.0, "a": 0.5}})

    plot = report.findings.plot
    assert_close(plot.curves[0], plot, lambda x: np.sin(0.5 * x))
    assert_close(plot.curves[1], plot, lambda x: 0.5 * np.cos(0.5 * x))
    report.close()


def test_a_threshold_under_a_slider(run: Run) -> None:
    """Curves that differ only between the points of the table are computed anew."""
    report = run("%%tape --plot x=0:8 --what-if a=0:8\nx = 1.0\na = 2.2\ny = x * (x > a)")
    report._repr_mimebundle_()

    report._view.hear({"what_if": {"a": 2.8}})

    plot = report.findings.plot
    assert_close(plot.curves[0], plot, lambda x: x * (x > 2.8))
    report.close()
