"""%%tape --check checks the gradients of a cell by finite differences."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.ipython.conftest import Run

AGREES = "matches finite differences (relative error < 1e-7)"


def test_a_regression(run: Run) -> None:
    """Every gradient agrees, and the cell has run once."""
    report = run(
        "%%tape w b --check\n"
        "runs = globals().get('runs', 0) + 1\n"
        "x = np.linspace(-1, 1, 6).reshape(3, 2)\n"
        "w, b = np.ones(2), 0.5\n"
        "np.mean((x @ w + b) ** 2)"
    )

    assert 2 == repr(report).count(AGREES)
    assert 1 == run("runs")


def test_without_the_option(run: Run) -> None:
    """Nothing is compared."""
    assert "finite differences" not in repr(run("%%tape x\nx = 2.0\ny = x**2"))


def test_a_variable_that_changes(run: Run) -> None:
    """What is compared is the recording, in which the variable had several values."""
    run("w = tm.Variable([1.0, 2.0])")

    report = run(
        "%%tape --check\nloss = 0.0\nfor _ in range(3):\n    loss = loss + np.sum(w**2)\n"
        "    w.assign_sub(0.1 * w.numpy())\nloss"
    )

    assert AGREES in repr(report)


@pytest.mark.filterwarnings("ignore")
def test_a_cell_that_fails(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """The recording until then is compared."""
    with pytest.raises(ValueError, match="stop"):
        run("%%tape x --check\nx = 2.0\ny = x**2\nraise ValueError('stop')")

    assert AGREES in capsys.readouterr().out


def test_no_option_of_an_expression(refused: Callable[[str], str]) -> None:
    """%tape says that it does not have it."""
    assert "--check" in refused("%tape --check 2 * 3")
