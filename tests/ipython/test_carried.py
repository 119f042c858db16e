"""Values that a loop carries, as series over its iterations."""

from __future__ import annotations

import numpy as np
import pytest

from tapemagic.report.tabs.graph.boxes import LoopVariable
from tests.ipython.conftest import Run

LOOP = "y = x\nfor i in range(10):\n    "


def carried(run: Run, x: str, source: str) -> tuple[LoopVariable, ...]:
    """The series of the only loop that is folded."""
    run(f"x = {x}")
    [box] = [step for step in run(f"%%tape x -t y\n{source}").graph.steps if step.kind == "loop"]
    return box.carried


def test_a_number(run: Run) -> None:
    """A number in each iteration that is folded, and the gradient with respect to it."""
    [y] = carried(run, "8.0", f"{LOOP}y = y * 0.5")

    assert "y" == y.name
    assert not y.is_norm
    assert tuple(8 * 0.5**k for k in range(1, 10)) == y.values.values
    assert y.gradients
    assert tuple(0.5 ** (10 - k) for k in range(1, 10)) == y.gradients.values


def test_negative_numbers_keep_their_sign(run: Run) -> None:
    """What is plotted of a number is the number, not its size."""
    [y] = carried(run, "1.0", f"{LOOP}y = y * -1.0")

    assert (-1.0, 1.0) * 4 + (-1.0,) == y.values.values


@pytest.mark.parametrize("count", [1, 500])
@pytest.mark.parametrize("size", [1.0, 1e-200, 1e200])
def test_arrays(run: Run, count: int, size: float) -> None:
    """Arrays have norms, however large or small their entries; and so have gradients that are kept as summaries."""
    scale = np.sqrt(count)

    [y] = carried(run, f"np.tile([3.0, 4.0], ({count}, 1)) * {size}", f"{LOOP}y = y * 1.0")

    assert y.is_norm
    assert (5 * size * scale,) * 9 == pytest.approx(y.values.values)
    assert y.gradients
    assert (np.sqrt(2) * scale,) * 9 == pytest.approx(y.gradients.values)


def test_variables_come_first(run: Run) -> None:
    """Of a variable there is the value that each iteration read."""
    run("w = tm.Variable(4.0)")
    source = (
        "for i in range(10):\n"
        "    with tm.GradientTape() as t:\n"
        "        y = w * w\n"
        "    w.assign_sub(0.25 * t.gradient(y, w))"
    )

    series = carried(run, "1.0", source)

    assert ["w", "y"] == [x.name for x in series[:2]]
    assert tuple(4 * 0.5**k for k in range(9)) == series[0].values.values
    assert tuple(16 * 0.25**k for k in range(9)) == series[1].values.values


def test_iterations_that_differ(run: Run) -> None:
    """Where an iteration has other operations than the last one, the name of a result tells which is the same."""
    named = f"{LOOP}y = y * 0.5\n    if i % 2:\n        y = y + 1.0"
    unnamed = "a = [x]\nfor i in range(10):\n    a[0] = a[0] * 0.5\n    if i % 2:\n        a[0] = a[0] + 1.0\ny = a[0]"

    [y] = carried(run, "1.0", named)

    assert (0.5, 1.25, 0.625, 1.3125) == y.values.values[:4]
    assert y.gradients
    assert tuple(0.5**k for k in range(9, -1, -1)) == y.gradients.values
    assert () == carried(run, "1.0", unnamed)


def test_at_most_three(run: Run) -> None:
    """The target comes first, then what has a name."""
    source = (
        "a = b = c = d = y = x\nfor i in range(10):\n"
        "    a = a * 1.5\n    b = b * 1.5\n    c = c * 1.5\n    d = d * 1.5\n    y = y + a + b + c + d"
    )

    series = carried(run, "1.0", source)

    assert ["y", "a", "b"] == [x.name for x in series]


def test_a_target_is_among_the_three(run: Run) -> None:
    """However many variables a loop changes, the loss is told."""
    run("a, b, c = (tm.Variable(1.0, name=name) for name in 'abc')")
    changes = "; ".join(f"{name}.assign_sub(0.1)" for name in "abc")
    report = run(f"%%tape\nfor k in range(5):\n    loss = a * b * c\n    {changes}")
    [box] = [step for step in report.graph.steps if step.kind == "loop"]

    assert ["a", "b", "loss"] == [one.name for one in box.carried]


def test_without_a_gradient(run: Run) -> None:
    """A value on which the target does not depend has no gradients."""
    source = f"z = x\n{LOOP}z = z * 0.5\n    y = y * 2.0\nw = z"

    y, z = carried(run, "1.0", source)

    assert ("y", "z") == (y.name, z.name)
    assert None is z.gradients


@pytest.mark.filterwarnings("ignore")
def test_nan(run: Run) -> None:
    """A value that is no number is none in its series."""
    [y] = carried(run, "2.0", f"{LOOP}y = np.log(y)")

    assert np.isnan(y.values.values).any()
    assert np.log(2.0) == y.values.values[0]
