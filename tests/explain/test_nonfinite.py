"""The first nan or inf in a recording: its operation, its line, and the values there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.explain.nonfinite import NonFinite, first_nonfinite, first_nonfinite_gradient
from tapemagic.explain.snapshot import snapshot_of
from tests.report.recordings import record


def recorded(
    function: Callable[..., Any], *inputs: Any
) -> tuple[NonFinite | None, NonFinite | None]:
    """The first value and the first gradient that are not finite; the first operation stands on line 1."""
    line = iter(range(1, 1000))
    observer = Observer(lambda: (next(line), 0, 0, 0))
    values = [tm.Variable(x) for x in inputs]
    with observer, np.errstate(all="ignore"):
        y = function(*values)
    snapshot = snapshot_of(observer)
    return first_nonfinite(snapshot), first_nonfinite_gradient(snapshot, y)


@pytest.mark.parametrize(
    ("function", "inputs", "operation", "cause", "operands", "result"),
    [
        (np.exp, [1000.0], "exp", "overflow", ("1000.0",), "inf"),
        (lambda x: x * 0.0 / (x * 0.0), [2.0], "divide", "0/0", ("0.0", "0.0"), "nan"),
        (lambda x: 1.0 / (x - 2.0), [2.0], "divide", "division by zero", ("1.0", "0.0"), "inf"),
        (np.log, [0.0], "log", "division by zero", ("0.0",), "-inf"),
        (lambda x: np.log(x - 1.0), [[3.0, 0.5]], "log", "outside the domain", ("-0.5",), "nan"),
        (lambda x: np.sqrt(-x), [4.0], "sqrt", "outside the domain", ("-4.0",), "nan"),
        (lambda x: x * x, [1e200], "multiply", "overflow", ("1e+200", "1e+200"), "inf"),
        (
            lambda x: np.sum(x * np.array([1.0, np.nan])),
            [[1.0, 2.0]],
            "multiply",
            "input",
            ("nan",),
            "nan",
        ),
        (
            lambda x: x @ x,
            [[1e200, 1.0]],
            "matmul",
            "overflow",
            ("[1e+200, 1.0]", "[1e+200, 1.0]"),
            "inf",
        ),
    ],
)
def test_values(
    function: Any, inputs: Any, operation: str, cause: str, operands: tuple[str, ...], result: str
) -> None:
    """Overflow, 0/0, poles, domains and bad data are told apart, with the operands at the element."""
    found, _ = recorded(function, *inputs)

    assert found is not None
    assert (found.way, found.operation, found.cause) == ("forward", operation, cause)
    assert (found.operands, found.result) == (operands, result)


def test_the_first_one_is_told() -> None:
    """Of a chain it is the first operation, with its line and the element."""
    found, _ = recorded(lambda x: np.sum(np.exp(x * 10.0) - np.exp(x * 10.0)), [1.0, 100.0])

    assert found is not None
    assert (found.operation, found.line, found.record, found.index) == ("exp", 2, 1, (1,))


@pytest.mark.parametrize(
    ("function", "inputs", "operation", "cause", "incoming", "result"),
    [
        (lambda x: np.log(x * 1e-320), [1.0], "log", "overflow", "1.0", "inf"),
        (
            lambda x: np.sum(x**0.5 * 3.0),
            [[4.0, 0.0]],
            "power",
            "infinite derivative",
            "3.0",
            "inf",
        ),
        (np.arcsin, [1.0], "arcsin", "infinite derivative", "1.0", "inf"),
    ],
)
def test_gradients(
    function: Any, inputs: Any, operation: str, cause: str, incoming: str, result: str
) -> None:
    """Where all values are finite and a gradient is not, its operation is told, and the gradient before it."""
    value, found = recorded(function, *inputs)

    assert value is None
    assert found is not None
    assert (found.way, found.operation, found.cause) == ("backward", operation, cause)
    assert (found.incoming, found.result) == (incoming, result)


def test_all_is_finite() -> None:
    """Nothing is told of a recording without nan and inf, of whole numbers, or of several results."""
    assert recorded(lambda x: np.sum(np.linalg.svd(x)[1] * 2.0), np.eye(2)) == (None, None)


def test_a_branch_that_is_not_chosen() -> None:
    """The classic nan of np.where: the branch that is not chosen has an infinite derivative."""
    value, found = recorded(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0) * x), [-1.0, 4.0])

    assert value is not None
    assert (value.operation, value.cause, value.operands) == (
        "sqrt",
        "outside the domain",
        ("-1.0",),
    )
    assert found is None or found.operation == "sqrt"


def test_a_released_tape() -> None:
    """Nothing can be told of a tape that has released its records."""
    x = tm.Variable(1000.0)
    with tm.GradientTape() as tape, np.errstate(over="ignore"):
        y = np.exp(x)
    tape.gradient(y, x)

    assert first_nonfinite(snapshot_of(tape)) is None
    assert first_nonfinite_gradient(snapshot_of(tape), y) is None


def test_a_second_derivative() -> None:
    """Where it is infinite and the first is not, the operation is told, too."""
    found = record(lambda a: (a - 2.0) ** 1.5, 2.0, order=2)

    [text] = [said.text for said in found.verdict if said.topic == "nonfinite"]
    assert text.startswith("d²y/da² is inf: the derivative of power")
    assert text.endswith(" is infinite at 0.0 and 0.5 (line 4).")
