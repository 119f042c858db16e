"""The parts of a gradient that each line contributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.contributions import Contributions, contributions
from tapemagic.explain.snapshot import snapshot_of


def found(function: Callable[..., Any], *inputs: Any) -> tuple[Contributions, Any]:
    """The contributions to the derivative of a function by its first argument, and that derivative."""
    x, *others = map(tm.Variable, inputs)
    with tm.GradientTape(persistent=True) as tape:
        y = function(x, *others)
    return contributions(snapshot_of(tape), y, x), tape.gradient(y, x)


def powers(x: Any) -> Any:
    """x to the power of 100, by a loop."""
    y: Any = 1.0
    for _ in range(100):
        y = y * x
    return y


def geometric(x: Any) -> Any:
    """A loop whose last contributions are the largest."""
    y: Any = 1.0
    for _ in range(100):
        y = y * x + 1.0
    return np.sum(y)


LOOPS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "powers": (powers, (0.9,)),
    "negative": (powers, (-0.9,)),
    "float32": (geometric, (np.float32(0.7),)),
    "twice in one operation": (lambda x: powers(x * x), (1.01,)),
    "complex": (lambda z: np.abs(powers(z)), (0.9 + 0.1j,)),
    "several lines": (lambda x: powers(x) + geometric(x) - np.sin(x), (0.8,)),
    "several results": (lambda x: np.modf(x * 2.5)[0] * x + powers(x), (0.9,)),
    "assigned": (lambda x, w: w.assign(2.0) and powers(x) * w, (0.9, 1.0)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_they_add_up_to_the_gradient(name: str) -> None:
    """Whatever the signs, the type, and the number of lines."""
    function, inputs = LOOPS[name]
    parts, gradient = found(function, *inputs)

    assert parts.more == 0
    total = sum(line.total for line in parts.lines if line.total is not None)
    np.testing.assert_allclose(total, gradient.numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "x", "words"),
    [
        (powers, 0.9, "multiply, 100 times: 0.00295127; 2.95127e-05 each"),
        (geometric, 0.5, "multiply, 100 times: 4.0; 97 % of it from the last 5"),
        (geometric, -0.5, "multiply, 100 times: 0.444444; 97 % of the sum of the sizes from the last 5"),
        (powers, 0.0, "multiply, 100 times: 0.0; 0.0 each"),
        (lambda x: np.sum(x * powers(x)), [0.9, 1.0], "multiply, 101 times: norm 1.00000 each"),
    ],
)  # fmt: skip
def test_how_they_are_told(function: Callable[..., Any], x: Any, words: str) -> None:
    """Equal ones as one number; others by where the most of them comes from."""
    parts, _ = found(function, x)

    assert [str(line) for line in parts.lines] == [words]


def test_what_is_not_finite_has_no_share() -> None:
    """A sentence says how often."""
    with np.errstate(all="ignore"):
        parts, _ = found(powers, 1e10)

    [line] = parts.lines
    assert line.share is None
    assert line.words == "nan or infinite in 100 of them, the last of these time 100"


def test_shares_of_several_lines() -> None:
    """In percent of the gradient, or of the sum of all sizes where they have several signs."""
    parts, _ = found(lambda x: 3.0 * x + np.sin(x) * 0.0, 1.0)
    assert [(line.place, line.share) for line in parts.lines] == [("multiply", 1.0), ("sin", 0.0)]
    assert parts.signed

    parts, _ = found(lambda x: 3.0 * x - np.tan(x), 0.0)
    assert [(line.place, line.share) for line in parts.lines] == [("multiply", 0.75), ("tan", 0.25)]
    assert not parts.signed


def test_a_loop_that_the_source_enters_once() -> None:
    """There is one contribution; but the gradient may vanish on the way."""

    def shrink(x: Any) -> Any:
        for _ in range(50):
            x = 0.25 * (x + x)
        return x

    parts, gradient = found(shrink, 1.0)

    assert [str(line) for line in parts.lines] == [f"add: {float(gradient.numpy()):.6g}"]
    assert parts.development == (
        "in the backward pass through multiply, 50 times, the size of the gradient with respect to its result shrinks "
        "from 1.0 the last time to 1.77636e-15 the first time, by a factor of 0.5 each time on average"
    )
