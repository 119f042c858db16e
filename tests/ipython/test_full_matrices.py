"""%%tape --jacobian and --hessian: the full matrices in the report."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tapemagic.report.tabs.gradients import show_gradients as gradients_face
from tests.ipython.conftest import Run
from tests.ipython.live import content, shown
from tests.ipython.test_watching import gradients


@pytest.fixture(autouse=True)
def variables_of_every_test(run: Run) -> None:
    """Every test here begins with two numbers, an array and a Variable."""
    run("x, z, a = 3.0, 5.0, np.array([1.0, 2.0, 3.0])")
    run("w = tm.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name='w')")


def cells(report: Any) -> dict[str, Any]:
    """The matrices of a report by their symbols."""
    return {matrix.symbol: matrix.cells for matrix in report.findings.matrices}


def test_jacobian(run: Run) -> None:
    """Every element of the target by every element of each source."""
    report = run("%%tape a --jacobian\ny = w @ a")

    assert ["Jacobian dy/da, 2×3", "Jacobian dy/dw, 2×2×3"] == re.findall(
        "Jacobian .*", repr(report)
    )
    assert (("1.0", "2.0", "3.0"), ("4.0", "5.0", "6.0")) == cells(report)["dy/da"]
    np.testing.assert_array_equal(
        np.array(cells(report)["dy/dw"], float), run("tape.jacobian(y, w).numpy().reshape(2, 6)")
    )


def test_hessian(run: Run) -> None:
    """The second derivatives in every two variables, in the words of the cell."""
    report = run("%%tape x z --hessian\ny = x**2 * z")

    assert {"d²y/d(x, z)²": (("10.0", "6.0"), ("6.0", "0.0"))} == cells(report)
    assert "y is linear in z around here; row x, column z: d²y/dx dz" in repr(report)


def test_both(run: Run) -> None:
    """They stand below the gradients, first the Jacobians, in text and HTML, in whatever order they were asked for."""
    report = run("%%tape x --hessian --jacobian\ny = x**2")

    words = "dy/dx = 6.0\n\nJacobian dy/dx = 6.0\nHessian d²y/dx² = 2.0"
    assert words == gradients_face.text(report.findings)
    assert f"\n\n{words}\n\n" in repr(report)
    html = gradients_face.html(report.findings)
    assert re.sub("<[^>]*>", "", html).endswith("Jacobian dy/dx = 6.0Hessian d²y/dx² = 2.0")
    assert html in report._repr_mimebundle_()["text/html"]


def test_in_the_widget(run: Run) -> None:
    """The tab of gradients has them, too."""
    report = run("%%tape a --jacobian --hessian\ny = a**2")

    faces = {face["title"]: face["html"] for face in content(shown(report))["faces"]}

    assert "<b>Jacobian</b>" in faces["Gradients"]
    assert "<b>Hessian</b>" in faces["Gradients"]


@pytest.mark.parametrize("line", ["-t u y", "--target u y"])
def test_several_targets(run: Run, line: str) -> None:
    """Each target has its own."""
    report = run(f"%%tape x --jacobian --hessian {line}\nu = x**2\ny = u * x")

    assert {
        "du/dx": (("6.0",),),
        "dy/dx": (("27.0",),),
        "d²u/dx²": (("2.0",),),
        "d²y/dx²": (("18.0",),),
    } == cells(report)


def test_it_does_not_depend_on_the_order(run: Run) -> None:
    """--hessian is one thing, -o another."""
    first = run("%%tape x z --hessian\ny = x**3 * z")
    third = run("%%tape x z --hessian -o 3\ny = x**3 * z")

    assert cells(first) == cells(third)
    assert ["dy/dx", "dy/dz"] == list(gradients(first))
    assert 6 == len(gradients(third))


def test_the_graph_is_that_of_the_cell(run: Run) -> None:
    """What the matrices take is not drawn."""
    plain = run("%%tape a\ny = np.sum(np.sin(a) * a)")
    full = run("%%tape a --jacobian --hessian\ny = np.sum(np.sin(a) * a)")

    assert plain.graph == full.graph
    assert "%%tape: 3 operations," in repr(full)


def test_the_tape_is_not_used_up(run: Run) -> None:
    """Nor does it hear of anything."""
    run("%%tape x --jacobian --hessian\ny = x**3")

    assert ["power"] == [record.operation.name for record in run("tape.records")]
    assert 27.0 == float(run("tape.gradient(y, x)"))
    assert 27.0 == float(run("%gradient y x"))


def test_an_outer_cell_hears_nothing(run: Run) -> None:
    """Neither does the tape of a cell that runs the cell."""
    inner = "get_ipython().run_cell_magic('tape', 'z{}', 'u = z**2')"
    plain = run(f"%%tape x z\n{inner.format('')}\ny = x**2 * u")
    full = run(f"%%tape x z\n{inner.format(' --jacobian --hessian')}\ny = x**2 * u")

    assert len(plain.graph.steps) == len(full.graph.steps)


def test_none(run: Run) -> None:
    """Where nothing is connected, the reason is that of the gradient."""
    report = run("%%tape x z --jacobian --hessian\ny = x**2")

    reason = "None: Nothing recorded on the tape leads from z to y; y depends on x."
    assert [f"dy/dz = {reason}", f"Jacobian dy/dz = {reason}", f"Hessian d²y/dz² = {reason}"] == [
        line for line in gradients_face.text(report.findings).splitlines() if "= None" in line
    ]


def test_nothing_to_differentiate(run: Run) -> None:
    """Without a target there are no matrices."""
    assert () == run("%%tape x --jacobian --hessian\ny = 1.0").findings.matrices


def test_too_large(run: Run) -> None:
    """What is refused in the report can be computed as the report says."""
    run("big = np.ones(1001)")
    report = run(
        "%%tape big -p --jacobian --hessian\ny = np.sum(big**3) * big\ng = tape.gradient(y, big)\ny"
    )

    first, second = report.findings.matrices
    assert "tape.jacobian computes it" in first.notes[-1]
    assert "of a gradient that was taken in the cell, with -p" in second.notes[-1]
    assert "dy/dbig = 1,001 elements, all 4004.0" in repr(report)
    assert (1001, 1001) == run("tape.jacobian(y, big)").shape
    assert (1001, 1001) == run("tape.jacobian(g, big)").shape


def test_a_cell_that_fails(run: Run, shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The matrices of what was recorded until then are shown."""
    capsys.readouterr()

    shell.run_cell("%%tape x --hessian\ny = x**2\n1 / 0")

    assert "Hessian d²y/dx² = 2.0" in capsys.readouterr().out
    assert 6.0 == float(run("tape.gradient(y, x)"))


def test_the_same_in_every_run(run: Run) -> None:
    """Course authors compare text and HTML to the letter."""
    cell = "%%tape a --jacobian --hessian\ny = np.tanh(w @ a) * np.sum(w)"

    first, second = (run(cell)._repr_mimebundle_() for _ in range(2))

    assert first["text/plain"] == second["text/plain"]
    assert first["text/html"] == second["text/html"]


def test_options_are_explained(shell: Any) -> None:
    """The help of the magic tells what they do."""
    explained = shell.find_cell_magic("tape").__doc__

    assert "--jacobian" in explained
    assert "--hessian" in explained
    assert "not part of this version" not in explained
