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


def test_nested_tapes(run: Run) -> None:
    """The derivatives that the cell took itself are compared, up to the order that it took."""
    report = run(
        "%%tape --check\nx, w = tm.Variable(2.0), tm.Variable(3.0)\n"
        "with tm.GradientTape(persistent=True) as outer:\n    with tm.GradientTape() as inner:\n"
        "        y = x**3 * w**2\n    dy = inner.gradient(y, x)\n"
        "d2y = outer.gradient(dy, x)\nmixed = outer.gradient(dy, w)"
    )

    for line in ("dy = dy/dx = 108.0", "d2y = d²y/dx² = 108.0", "mixed = d²y/dx dw = 72.0"):
        [found] = [said for said in repr(report).split("\n") if said.startswith(f"{line}, taken")]
        assert found.endswith(AGREES)


def test_nested_tapes_with_a_wrong_gradient(run: Run) -> None:
    """The second derivative differs from that of the function, though the first one is right."""
    run(
        "@tm.custom_gradient\ndef f(u):\n    v = u.numpy()\n    return u**3, lambda g: g * 3 * v * u"
    )
    report = run(
        "%%tape --check\nx = tm.Variable(2.0)\n"
        "with tm.GradientTape() as outer:\n    with tm.GradientTape() as inner:\n"
        "        y = f(x)\n    dy = inner.gradient(y, x)\nd2y = outer.gradient(dy, x)"
    )

    words = repr(report)
    assert "\nd2y differs from finite differences: f has" in words
    assert "; dy/dx and dy match finite differences. Nudging the inputs agrees: " in words
    assert "d²y/dx² = 6.0, taken by outer (line 7); differs from finite differences: 6.0" in words


def test_the_last_step_of_a_training(run: Run) -> None:
    """The gradient that a loop took last is compared, with the Variable as it was then."""
    run("w = tm.Variable([1.0, 2.0])")
    report = run(
        "%%tape --check\nfor _ in range(20):\n    with tm.GradientTape() as tape:\n"
        "        loss = np.sum((w * 3 - 1) ** 2)\n    g = tape.gradient(loss, w)\n"
        "    w.assign_sub(0.01 * g)"
    )

    [line] = [said for said in repr(report).split("\n") if said.startswith("g = dloss/dw")]
    assert line.endswith(AGREES)


def test_gradients_that_cannot_be_compared(run: Run) -> None:
    """Weights are not known, and a tape that began later took another derivative."""
    report = run(
        "%%tape x --check\nx = np.array([1.0, 2.0])\ny = x * x\n"
        "with tm.GradientTape(persistent=True) as tape:\n    tape.watch(x)\n    z = y * x\n"
        "g = tape.gradient(z, x)\nJ = tape.jacobian(z, x)\n"
        "h = tape.gradient(z, x, output_gradients=np.array([1.0, 2.0]))"
    )

    words = repr(report)
    assert "dz/dx matches finite differences; g, J and h were not checked." in words
    assert 2 == words.count("the tape that took it recorded other operations than the cell")
    assert "the weights (output_gradients) that it was taken with are not known" in words


def test_jacobians_of_the_cell(run: Run) -> None:
    """Those of a tape, also of a batch, are compared in every column."""
    report = run(
        "%%tape x --check\nx = np.arange(6.0).reshape(3, 2)\n"
        "with tm.GradientTape(persistent=True) as tape:\n    tape.watch(x)\n"
        "    z = np.stack([x[:, 0] * x[:, 1], np.sin(x[:, 0])], axis=1)\n"
        "J = tape.jacobian(z, x)\nB = tape.batch_jacobian(z, x)"
    )

    assert 3 == repr(report).count(AGREES)


@pytest.mark.filterwarnings("ignore")
def test_a_cell_that_fails(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """The recording until then is compared."""
    with pytest.raises(ValueError, match="stop"):
        run("%%tape x --check\nx = 2.0\ny = x**2\nraise ValueError('stop')")

    assert AGREES in capsys.readouterr().out


def test_no_option_of_an_expression(refused: Callable[[str], str]) -> None:
    """%tape says that it does not have it."""
    assert "--check" in refused("%tape --check 2 * 3")
