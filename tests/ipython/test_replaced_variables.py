"""A cell that replaces a Variable with a tensor: names that tell both apart, and the line that did it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

Run = Callable[[str], Any]
DATA = "X, t = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])\n"
LOOP = """%%tape
for k in range(3):
    with tm.GradientTape() as g:
        loss = np.mean((w * X - t)**2)
    gradient = g.gradient(loss, w)
    w = w - 0.1*gradient
"""
REPLACED = "w isn't a Variable anymore: line 6 (w = w - 0.1*gradient) replaced it with a new tensor"
INSTEAD = "Write w.assign_sub(0.1 * gradient) instead."


def texts(report: Any) -> list[str]:
    """The sentences of a verdict."""
    return [statement.text for statement in report.findings.verdict]


@pytest.mark.parametrize("name", ["", ", name='x'", ", name='other'"])
def test_two_values_of_one_name(run: Run, name: str) -> None:
    """The Variable is x₁, and the tensor that replaced it is x, everywhere."""
    run(f"x = tm.Variable(5.0{name})")
    report = run("%%tape\ny = x**2\nx = x*3\nz = x**2")

    text = repr(report)
    assert "1 watched variable, differentiating z" in text
    assert "z = 225.0; dz/dx₁ = 90.0" in text
    rows = {row.name: row for row in report.findings.variables}
    assert {"x₁", "x", "y", "z"} == {*rows}
    assert (rows["x₁"].role, rows["x₁"].gradient.text) == ("variable", "90.0")
    assert (rows["x"].role, rows["x"].gradient.text) == ("computed", "30.0")
    assert "∂x/∂x₁ = 3.0" in text


def test_a_tensor_that_the_cell_watches(run: Run) -> None:
    """A watched tensor that is replaced is told apart, too."""
    run("x = tm.constant(5.0)")
    report = run("%%tape\ntape.watch(x)\ny = x**2\nx = x*3\nz = x**2")

    assert "z = 225.0; dz/dx₁ = 90.0" in texts(report)


def test_a_variable_that_was_not_used(run: Run) -> None:
    """A Variable of an earlier cell that the cell replaces unused isn't in the report."""
    run("x = tm.Variable(5.0)")
    report = run("%%tape\nx = tm.Variable(2.0)\nz = x**2")

    assert "z = 4.0; dz/dx = 4.0" in texts(report)
    assert [row.name for row in report.findings.variables] == ["x", "z"]


def test_a_name_that_the_notebook_gave_to_something_else(run: Run) -> None:
    """A Variable in a dict isn't confused with the notebook's x."""
    run("p = {'x': tm.Variable(2.0, name='x')}")
    report = run("%%tape\nx = p['x']*3\ny = p['x']**2*x")

    assert "y = 24.0; dy/d(p['x']) = 36.0" in texts(report)


def test_in_a_loop(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """On the cell's own tape in a loop: the error says why, and what to write; then the cell trains."""
    shell.run_cell(f"{DATA}w = tm.Variable(0.0)")
    shell.run_cell(LOOP)

    shown = capsys.readouterr().out
    assert f"gradient is None, because dloss/dw is None: {REPLACED}" in shown
    assert INSTEAD in shown
    assert "dloss₁/dw₁ = -18.6667" in shown
    shell.run_cell("w = tm.Variable(0.0)").raise_error()
    mended = LOOP.replace("w = w - 0.1*gradient", "w.assign_sub(0.1 * gradient)")
    report = shell.run_cell(mended).result
    assert not any("None" in text for text in texts(report))


@pytest.mark.parametrize(
    ("create", "w", "step", "instead"),
    [
        ("p = [tm.Variable(0.0)]", "p[0]", "p = [v - d for v, d in zip(p, gradient)]",
         "for v, d in zip(p, gradient): v.assign_sub(d)"),
        ("p = {'w': tm.Variable(0.0)}", "p['w']", "for key in p: p[key] = p[key] - gradient[key]",
         "p[key].assign_sub(gradient[key])"),
    ],
)  # fmt: skip
def test_structures(
    shell: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    create: str,
    w: str,
    step: str,
    instead: str,
) -> None:
    """Lists and dicts of Variables."""
    shell.run_cell(DATA + create)
    cell = LOOP.replace("w * X", f"{w} * X").replace("(loss, w)", "(loss, p)")
    shell.run_cell(cell.replace("w = w - 0.1*gradient", step))

    shown = capsys.readouterr().out
    assert f"is None, because dloss/d({w}) is None" in shown.replace("p[key]", "p['w']")
    assert "isn't a Variable anymore: line 6" in shown
    assert f"Write {instead} instead." in shown
    assert f"dloss₁/d({w}) = " in shown


def test_across_cells(run: Run) -> None:
    """A step in a plain cell between two recorded ones."""
    run(f"{DATA}w = tm.Variable(0.0)")
    run("%%tape\nloss = np.mean((w * X - t)**2)")
    run("w = w - 0.1*tape.gradient(loss, w)")
    report = run("%%tape\nloss = np.mean((w * X - t)**2)")
    explained = run("%why loss w")

    line = (
        "line 1 (w = w - 0.1*tape.gradient(loss, w)) of another cell replaced it with a new tensor"
    )
    assert f"nothing was watched: w isn't a Variable anymore, because {line}" in texts(report)[0]
    assert "Write w.assign_sub(0.1 * tape.gradient(loss, w)) instead" in texts(report)[0]
    assert explained.cause == "name reassigned"
    assert f"w isn't a Variable anymore: {line}" in explained.reason


def test_a_step_at_the_end_of_the_cell(run: Run) -> None:
    """The report of the cell that replaced the Variable says so."""
    run(f"{DATA}w = tm.Variable(0.0)")
    report = run(
        "%%tape\nloss = np.mean((w * X - t)**2)\ng = tape.gradient(loss, w)\nw = w - 0.1*g\nloss"
    )

    [note] = [text for text in texts(report) if "anymore" in text]
    assert note.startswith("w isn't a Variable anymore: line 4 (w = w - 0.1*g) replaced it")
    assert "write w.assign_sub(0.1 * g) instead." in note
    assert "loss = 18.6667; dloss/dw₁ = -18.6667" in texts(report)


def test_a_variable_that_is_made_anew(run: Run) -> None:
    """``x = Variable(x)`` in a loop isn't called a needless copy: what to write instead is a change of the Variable."""
    run("x = tm.Variable(3.0)")
    step = """%%tape
for _ in range(3):
    with tm.GradientTape() as tape:
        y = x**2
    g = tape.gradient(y, x)
"""
    faulty = repr(run(f"{step}    x = x - 0.1 * g\n    x = tm.Variable(x)\n"))
    run("x = tm.Variable(3.0)")
    mended = repr(run(f"{step}    x.assign_sub(0.1 * g)\n"))

    assert "Make x a Variable once, before, and change it by x.assign_sub(...)" in faulty
    assert "None" not in mended
    assert float(run("x")) == pytest.approx(3 * 0.8**3)
