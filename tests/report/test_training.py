"""The loss and the gradients over the steps of a training loop, as data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape.gradient_steps import size_of
from tapemagic.engine.tape.observer import Observer
from tapemagic.report.tabs.training.find_training import Training
from tapemagic.report.tabs.training.training_flags import gradient_flags, loss_flags, weak_gradients
from tests.report.recordings import findings_of


def trained(
    loss_of: Callable[..., Any],
    *starts: Any,
    steps: int = 20,
    rate: float = 0.1,
    order: int = 1,
    assigned: int = 9,
) -> Training | None:
    """What is found of a loop that improves Variables a, b, ... by the gradients of a loss."""
    variables = [
        tm.Variable(x, name=name) for name, x in zip("abcdefghijklmno", starts, strict=False)
    ]
    observer = Observer()
    with observer, np.errstate(all="ignore"):
        for _ in range(steps):
            with tm.GradientTape() as tape:
                loss = loss_of(*variables)
            gradients = tape.gradient(loss, variables)
            for x, g in list(zip(variables, gradients, strict=True))[:assigned]:
                if g is not None:
                    x.assign_sub(rate * g)
    sources = [(x.name, x) for x in variables]
    return findings_of(observer, [("loss", loss)], sources, order).training


def known(training: Training | None) -> Training:
    """One that is not None."""
    assert training is not None
    return training


@pytest.mark.parametrize("order", [1, 2])
def test_a_parabola(order: int) -> None:
    """All numbers are those of the program, whatever the report differentiates itself."""
    training = known(trained(lambda a: (a - 3.0) ** 2, 1.0, steps=5, order=order))

    values = [3.0 - 2.0 * 0.8**k for k in range(5)]
    assert training.steps == 5
    np.testing.assert_allclose(training.loss.values, [(a - 3.0) ** 2 for a in values])
    np.testing.assert_allclose(training.gradients[0].values, [2 * (3.0 - a) for a in values])
    assert training.headings == ("step", "loss", "|dloss/da|", "a")
    assert training.rows[0] == ("1", "4.0", "4.0", "1.0")
    assert len(training.rows) == 5
    assert training.flags == ()


def test_a_long_loop_is_thinned() -> None:
    """At most a hundred points, of which the first and the last are the ends; eight rows."""
    training = known(trained(lambda a: a * a, 1.0, steps=500, rate=1e-3))

    assert training.loss.count == 500
    assert len(training.loss.values) <= 100
    assert (training.loss.steps[0], training.loss.steps[-1]) == (1, 500)
    assert [row[0] for row in training.rows] == [
        "1",
        "72",
        "144",
        "215",
        "286",
        "357",
        "429",
        "500",
    ]


def test_no_loop_and_no_change() -> None:
    """A single step is no training, and neither is a loop that assigns nothing."""
    assert trained(lambda a: a * a, 1.0, steps=1) is None
    assert trained(lambda a: a * a, 1.0, assigned=0) is None


def test_variables_that_do_not_learn() -> None:
    """One without a gradient, one whose gradient is zero, one that is not assigned."""
    training = known(
        trained(lambda a, _, c, d: a * a + c * 0.0 + d, 1.0, 1.0, 1.0, 1.0, assigned=3)
    )

    assert set(training.flags) == {
        "dloss/db is None at every step",
        "dloss/dc is exactly 0.0 at every step",
        "d has the same value at every step: it is not trained, or its assignment is missing",
    }
    none = training.headings.index("|dloss/db|")
    assert {row[none] for row in training.rows} == {"None"}


def test_a_gradient_that_is_always_zero() -> None:
    """Training that changes nothing is training all the same."""
    training = known(trained(tm.sigmoid, 1000.0))
    assert training.flags == ("dloss/da is exactly 0.0 at every step",)


def test_steps_that_are_too_small() -> None:
    """A Variable that is assigned the value that it had is said to be assigned."""
    training = known(trained(lambda a, b: a * 1e-30 + b, 1.0, 1.0))
    assert (
        "a has the same value at every step: its assignments are too small to change it, or stand outside of the loop"
        in training.flags
    )


def test_a_step_that_is_too_large() -> None:
    """The loss grows, and the gradient explodes."""
    training = known(trained(lambda a: a * a, 1.0, rate=1.5))

    assert training.flags[0].startswith("loss has been growing since step 1, from 1.0 to ")
    assert training.flags[1].startswith("dloss/da explodes: its size grows from 2.0 at step 1 to ")


@pytest.mark.parametrize("layout", ["examples first", "units first"])
def test_dead_units(layout: str) -> None:
    """Counted along the axis of the units, whichever that is."""
    x = np.ones((32, 3))
    bias = np.where(np.arange(8) < 5, -50.0, 1.0)
    if layout == "examples first":
        loss = lambda a, b: np.mean(np.maximum(x @ a + b, 0.0) ** 2)  # noqa: E731
        training = trained(loss, np.ones((3, 8)) / 8, bias)
    else:
        loss = lambda a, b: np.mean(np.maximum(a @ x.T + b, 0.0) ** 2)  # noqa: E731
        training = trained(loss, np.ones((8, 3)) / 8, bias[:, None])

    [flag] = known(training).flags
    often = "each of the 20 times that it ran: nothing passes back through them"
    assert flag == f"dead relu: 5 of 8 units gave 0 for all 32 examples {often}"


def test_units_that_rest_for_a_few_examples() -> None:
    """A unit that gives 0 for the examples of one step is not dead."""
    batches = iter([[[1.0, -1.0]], [[-1.0, 1.0]]] * 10)

    def loss(a: Any) -> Any:
        return np.sum(tm.relu(np.array(next(batches)) @ a))

    assert known(trained(loss, np.eye(2), rate=1e-3)).flags == ()


def test_a_vector_that_may_be_of_examples_has_no_units() -> None:
    """Negative inputs of some examples make no unit dead."""
    x = np.linspace(-1.0, 1.0, 10)
    assert known(trained(lambda a: np.sum(np.maximum(a * x, 0.0)), 1.0, rate=1e-3)).flags == ()


def test_many_variables() -> None:
    """Those with the largest gradients are shown, in the order of the program."""
    starts = [float(k) for k in range(15)]
    training = known(trained(lambda *xs: sum(x * x for x in xs), *starts, assigned=15))

    assert len(training.gradients) == 12
    assert training.more == 3
    assert training.gradients[0].name == "|dloss/d(d)|"


def test_complex_and_summed() -> None:
    """The name of the number says what was done to it."""
    training = known(trained(lambda a: a * a, np.array([1j, 2.0]), steps=3))

    assert training.headings == ("step", "|sum of loss|", "|dloss/da|", "|a|")
    assert training.loss.values[0] == 3.0


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([3.0, 2.0, 1.0, 1.01, 1.02, 1.03], ""),
        ([3.0, 1.0, 2.0, 1.0, 2.0], ""),
        ([4.2, 1.0, 0.03, 0.032, 0.036, 0.04], ""),
        (
            [1.0, 2.0, 3.0, 4.0],
            "loss has been growing since step 1, from 1.0 to 4.0: right if you maximize it; otherwise",
        ),
        ([-3.0, -1.0, -2.0, -2.5], "loss is larger at the last step (-2.5) than at the first (-3.0)"),
        ([3.0, 1.0, 2.0, 3.0, 4.0], "loss has been growing since step 2, from 1.0 to 4.0"),
        ([3.0, math.nan, 1.0], "loss is nan at step 2"),
        ([3.0, math.inf, math.nan], "loss is inf at step 2, and nan or infinite at all later steps"),
        ([math.nan, 1.0, math.nan, 2.0], "loss is nan at step 1, and nan or infinite at 1 later step"),
    ],
)  # fmt: skip
def test_losses(losses: list[float], words: str) -> None:
    """Noise and small rises are not told."""
    [flag] = [*loss_flags("loss", losses)] or [""]
    assert flag.startswith(words)
    assert bool(flag) == bool(words)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([1.0, 0.1, 1e-5], None),
        ([1.0, 1e-7, 1e-5], None),
        ([1.0, 0.1, 1e-7], "g vanishes: its size falls from 1.0 at step 1 to 1e-07 at step 3"),
        ([0.0, 0.1, 101.0], "g explodes: its size grows from 0.1 at step 2 to 101.0 at step 3"),
        ([1.0, math.nan, 1.0], "g holds nan or inf at step 2"),
        ([None, 1.0, None], "g is None at 2 of 3 steps, first at step 1"),
    ],
)
def test_gradients(sizes: list[float | None], words: str | None) -> None:
    """By the ratios to the first that is not zero."""
    flags = [*gradient_flags("g", dict(enumerate(sizes)))]

    assert len(flags) == (words is not None)
    assert all(flag.startswith(words or "") for flag in flags)


def test_weak_gradients() -> None:
    """A gradient that is far below the largest at every step."""
    sizes: dict[str, dict[int, float | None]] = {
        "p": {0: 1.0, 1: 2.0},
        "q": {0: 1e-8, 1: 1e-7},
        "r": {0: 1e-8, 1: 1.0},
    }

    [flag] = weak_gradients(sizes)
    assert flag.startswith("q is less than a millionth of the largest gradient at every step")


@pytest.mark.parametrize(
    "values",
    [[3.0, 4.0], [3e300, -4e300], [3e-300, 4e-300], [0.0], [], [math.nan, 1.0], [math.inf, 1.0], [3 + 4j, 0]],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_size_of_an_array(values: list[Any], dtype: Any) -> None:
    """As exact as the numbers, however large or small."""
    array = np.array(values)
    with np.errstate(all="ignore"):
        array = array if array.dtype.kind == "c" else array.astype(dtype)
        expected = math.hypot(*map(abs, array.tolist()))

    np.testing.assert_allclose(size_of(array), expected)
