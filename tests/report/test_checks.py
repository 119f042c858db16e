"""Gradients are checked by finite differences of the recorded operations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine import registry
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.gradients.check_result import Check
from tests.report.recordings import record

RNG = np.random.default_rng(0)
AGREES = "matches finite differences"


def checked(function: Callable[..., Any], *inputs: Any) -> list[Check | None]:
    """The comparisons of the gradients of a function."""
    return [entry.check for entry in record(function, *inputs, check=True).derivatives]


def words(function: Callable[..., Any], *inputs: Any) -> str:
    """The only comparison in words."""
    [check] = checked(function, *inputs)
    assert check
    return check.text


@tm.custom_gradient
def doubled(x: Any) -> Any:
    """An exponential with a wrong gradient."""
    return np.exp(x), lambda g: g * 2.0


@tm.custom_gradient
def softplus(x: Any) -> Any:
    """A function with a right gradient of its own."""
    e = np.exp(x)
    return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))


@tm.custom_gradient
def hidden(x: Any) -> Any:
    """A function whose operations are not on the tape."""
    e = np.exp(x.numpy())
    return tm.constant(np.log(1 + e)), lambda g: g * (1 - 1 / (1 + e))


@tm.custom_gradient
def reversed_gradient(x: Any) -> Any:
    """The identity with a gradient of its own."""
    return x, lambda g: -g


@tm.custom_gradient
def softened(x: Any) -> Any:
    """A square with a wrong gradient, whose slope at a small x is small."""
    return x * x, lambda g: 3 * g * x


NUMBERS = itertools.count(1)
REGISTERED: dict[str, Any] = {}


@pytest.fixture(scope="module", autouse=True)
def _registered() -> Iterator[None]:
    """Functions of the user's own with rules, for this module."""
    REGISTERED["wrong"] = tm.register_vjp(
        lambda x: x**3, lambda g, _y, x: np.where(x > 1, 2.0, 3.0) * g * x**2
    )
    REGISTERED["unsteady"] = tm.register_vjp(lambda x: x * next(NUMBERS), lambda g, _y, _x: g)
    yield
    for function in REGISTERED.values():
        del registry.OPERATIONS[function]


def wrong(x: Any) -> Any:
    """A cube whose gradient is wrong from 1 on."""
    return REGISTERED["wrong"](x)


def unsteady(x: Any) -> Any:
    """A function that gives another result each time."""
    return REGISTERED["unsteady"](x)


def assigned(w: Any) -> Any:
    """A variable that changes while it is read."""
    y = w * w
    for _ in range(3):
        w.assign_sub(0.1)
        y = y * w
    return y


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda a: a**2, [3.0]),
        (lambda a, b: a * b * np.sin(a), [2.0, 3.0]),
        (lambda a: np.mean(a @ a.T, axis=0, keepdims=True), [RNG.normal(size=(5, 6))]),
        (lambda a: a[1] * np.sum(a[[0, 0, 2]]), [RNG.normal(size=4)]),
        (lambda a: np.sum(a.astype("float32") ** 2), [RNG.normal(size=3)]),
        (lambda a: np.where(a > 0, a**2, -a), [1.0]),
        (lambda a: np.maximum(a, 0.0), [1e-3]),
        (lambda a: np.maximum(a, 0.0) ** 2, [0.0]),
        (lambda a: a * tm.stop_gradient(a), [3.0]),
        (lambda a: a * a.numpy(), [3.0]),
        (np.log, [1e-4]),
        (lambda a: np.abs(a) ** 2, [1 + 2j]),
        (lambda a: a**2, [1 + 2j]),
        (lambda a: (a * 2, a**3), [RNG.normal(size=3)]),
        (lambda a: np.sum(np.linalg.eigh(a @ a.T)[1] ** 3), [RNG.normal(size=(3, 3))]),
        (lambda a: a, [3.0]),
        (lambda a: softplus(a) * a, [1.0]),
        (assigned, [tm.Variable(2.0)]),
        (lambda a: np.sum(np.exp(a)), [np.array([0.5, 2.0, 9.0], np.float32)]),
        (lambda a: np.sum(np.exp(a)), [np.array([0.5, 2.0], np.float16)]),
    ],
)
def test_agrees(function: Callable[..., Any], inputs: list[Any]) -> None:
    """A right gradient agrees, whatever the precision, with what left the tape held fixed."""
    for check in checked(function, *inputs):
        assert check
        assert "agrees" == check.outcome, check.text


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (wrong, 2.0, "8.0 on the tape, 12.0000 by finite differences"),
        (lambda a: np.sum(wrong(a)), [0.5, 2.0, 1.0], "entry [1] is 8.0 on the tape, 12.0000 by finite differences"),
        (
            doubled,
            0.0,
            (
                "2.0 on the tape, 1.00000 by finite differences; "
                "doubled has a custom gradient, which may differ from the derivative"
            ),
        ),
        (
            reversed_gradient,
            3.0,
            (
                "-1.0 on the tape, 1.00000 by finite differences; "
                "reversed_gradient has a custom gradient, which may differ from the derivative"
            ),
        ),
        (
            softened,
            1e-5,
            (
                "3e-05 on the tape, 2e-05 by finite differences; "
                "softened has a custom gradient, which may differ from the derivative"
            ),
        ),
        (
            lambda a: np.maximum(a, 0.0),
            0.0,
            (
                "1.0 on the tape, 0.5 by finite differences; "
                "there is a kink: the slope is 0 on one side and 1 on the other"
            ),
        ),
    ],
)  # fmt: skip
def test_differs(function: Callable[..., Any], point: Any, expected: str) -> None:
    """A wrong gradient differs, with the entry, both numbers and a possible reason."""
    assert f"differs from finite differences: {expected}" == words(function, np.asarray(point))


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (hidden, 1.0, "hidden has a custom gradient, and its operations are not on the tape"),
        (tm.grad_pass_through(np.round), 1.3, "round has a custom gradient, and its operations have no derivative"),
        (np.sqrt, 0.0, "some numbers are nan or infinite"),
        (np.sum, np.zeros((0, 3)), "it has no entries"),
        (lambda a: np.linalg.svd(a)[1], np.eye(2), "the tape doesn't store all parameters of svd"),
    ],
)  # fmt: skip
def test_not_compared(function: Callable[..., Any], point: Any, expected: str) -> None:
    """What cannot be repeated says so."""
    with np.errstate(all="ignore"):
        assert f"not checked by finite differences: {expected}" == words(function, point)


def test_random_numbers_are_not_repeated() -> None:
    """An operation that gives something else the second time cannot be compared."""
    assert words(unsteady, 1.0).endswith(" returned a different result when it was repeated")


def test_many_entries() -> None:
    """Of many entries some are compared, among them the first and the last."""
    assert f"{AGREES} in 50 of 784 entries, chosen evenly (relative error < 1e-7)" == words(
        lambda a: np.sum(a**2), RNG.normal(size=784)
    )
    assert "among 50 of 784 entries, chosen evenly: entry [783] is" in words(
        lambda a: np.sum(wrong(a)), np.append(np.full(783, 0.5), 2.0)
    )


def test_none_is_not_compared() -> None:
    """There is nothing to compare."""
    first, second = checked(lambda a, _b: a * 2, 1.0, 2.0)

    assert first
    assert second is None


@tm.custom_gradient
def half_recorded(x: Any) -> Any:
    """A cube with the right first derivative, a part of which the second one misses."""
    v = x.numpy()
    return x**3, lambda g: g * 3 * v * x


@tm.custom_gradient
def not_recorded(x: Any) -> Any:
    """A cube with the right first derivative, and no second one."""
    v = x.numpy()
    return x**3, lambda g: g * 3 * v**2


@tm.custom_gradient
def steep_square(x: Any) -> Any:
    """A square with a wrong derivative."""
    return x**2, lambda g: g * 7.0 * x


@tm.custom_gradient
def wrong_twice(x: Any) -> Any:
    """A cube with the right first derivative, whose own derivative is wrong."""
    return x**3, lambda g: g * 3 * steep_square(x)


@pytest.mark.parametrize(
    ("function", "point", "tape", "differences"),
    [
        (half_recorded, 2.0, "6.0", "12.0000"),
        (not_recorded, 2.0, "0.0", "12.0000"),
        (wrong_twice, 2.0, "42.0", "12.0000"),
        (lambda a: np.sum(wrong_twice(a) * a), [1.0, 2.0], "entry [1] is 108.0", "48.0000"),
    ],
)
def test_a_wrong_second_derivative(
    function: Callable[..., Any], point: Any, tape: str, differences: str
) -> None:
    """It differs although the first one agrees, also where it counts as zero."""
    found = record(function, np.asarray(point), order=2, check=True)
    first, second = (entry.check for entry in found.derivatives)

    assert first
    assert second
    assert "agrees" == first.outcome
    assert second.outcome == "differs"
    assert f"{tape} on the tape, {differences} by finite differences" in second.text


@pytest.mark.parametrize(
    ("function", "inputs", "order"),
    [
        (lambda a: np.sin(a) * a**3, [2.0], 4),
        (lambda a: 3 * a + 1, [2.0], 2),
        (lambda a, b: a**3 * np.exp(b) / (1 + a), [2.0, 0.3], 3),
        (lambda a: np.tanh(a @ a.T), [RNG.normal(size=(3, 4))], 3),
        (lambda a: np.sum(tm.softmax(a) ** 2 * a**4), [RNG.normal(size=5)], 3),
        (lambda a: softplus(softplus(a)), [0.5], 3),
        (lambda a: np.sum(np.exp(a)), [np.array([0.5, 2.0], np.float32)], 2),
        (lambda a: a**3, [1 + 2j], 2),
        (lambda a: np.sum(tm.relu(a) ** 2), [np.array([-1.0, 1e-6, 2.0])], 2),
        (assigned, [tm.Variable(2.0)], 3),
    ],
)
def test_higher_orders_agree(function: Callable[..., Any], inputs: list[Any], order: int) -> None:
    """A right derivative agrees with the differences of the one below it."""
    found = record(function, *inputs, order=order, check=True)

    checks = [entry.check for entry in found.derivatives if entry.value or entry.order == 2]
    assert len(checks) >= order * len(inputs) - (order > 2)
    assert {"agrees"} == {check.outcome for check in checks if check}, [
        c and c.text for c in checks
    ]


@pytest.mark.parametrize(
    ("function", "point"), [(lambda a: np.maximum(a, 0.0), 0.0), (np.abs, 0.0)]
)
def test_a_derivative_that_jumps(function: Callable[..., Any], point: float) -> None:
    """Where the first derivative jumps, there is no second one to compare with."""
    second = record(function, point, order=2, check=True).derivatives[1].check

    assert second
    assert "not checked" == second.outcome
    assert second.note.startswith("the derivative of order 1 jumps or bends sharply")


def test_full_matrices() -> None:
    """Every column of a Jacobian and of a Hessian is compared; a wrong entry is named."""
    right = record(
        lambda a, b: a**2 * b, [1.0, 2.0], 3.0, matrices=["jacobian", "hessian"], check=True
    )
    false = record(lambda a: half_recorded(a) * 2, [1.0, 2.0], matrices=["hessian"], check=True)

    assert len(right.matrices) == 3
    assert {"agrees"} == {matrix.check.outcome for matrix in right.matrices if matrix.check}
    [matrix] = false.matrices
    assert matrix.check
    assert "entry (a[1], a[1]) is 12.0 on the tape, 24.0000 by" in matrix.check.text


def test_blocks_of_a_hessian() -> None:
    """Those of large arrays are compared in some of their columns."""
    data = RNG.normal(size=(7, 60))
    found = record(
        lambda a, b: np.sum(np.tanh(data @ a) * b),
        RNG.normal(size=60),
        RNG.normal(size=7),
        matrices=["hessian"],
        check=True,
    )

    texts = [matrix.check.text for matrix in found.matrices if matrix.check]
    assert [
        f"{AGREES} in 50 of 60 columns, chosen evenly (relative error < 1e-7)",
        f"{AGREES} (relative error < 1e-7)",
        f"{AGREES} (relative error < 1e-7)",
    ] == texts


def test_values_that_the_tape_did_not_keep() -> None:
    """Labels that no derivative reads only add to a result, so they need not be known."""
    inputs, labels = RNG.normal(size=(300, 3)), RNG.normal(size=300)

    for check in checked(lambda a: np.mean((inputs @ a - labels) ** 2), np.ones(3)):
        assert check
        assert "agrees" == check.outcome, check.text
    said = words(lambda a: np.sum(wrong(np.concatenate([a, labels + 1]) - 0.5)), np.full(3, 2.0))
    assert said.startswith("differs")


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda a: (a - 1) ** 2, 1.0),
        (lambda a: a**2 - 2 * a + 1, 1.0),
        (lambda a: 3 * a**4, 0.0),
        (lambda a: a**3, 0.0),
        (np.cos, np.pi),
        (lambda a: (1 - a[0]) ** 2 + 100 * (a[1] - a[0] ** 2) ** 2, [1.0, 1.0]),
        (lambda a: np.mean((np.array([[0.1, 0.7], [3.0, 4.0]]) @ a - [0.17, 1.7]) ** 2), [0.3, 0.2]),
        (lambda a: np.sum((a - np.float32(0.1)) ** 2 + (a**2 - np.float32(0.01)) ** 2), np.float32([0.1])),
    ],
)  # fmt: skip
def test_at_a_minimum(function: Any, x: Any) -> None:
    """Finite differences of a slope of 0 are rounding: no difference, and no jump."""
    for order in (1, 2, 3):
        checks = [entry.check for entry in record(function, x, order=order, check=True).derivatives]
        assert {"agrees"} == {check.outcome for check in checks if check}


def test_a_wrong_slope_at_a_minimum() -> None:
    """It differs, however flat the function is there."""

    @tm.custom_gradient
    def square(a: Any) -> Any:
        return (a - 1) ** 2, lambda g: g * (2 * (a - 1) + 1e-6)

    assert words(square, 1.0).startswith("differs")


def test_the_verdict_says_what_was_compared() -> None:
    """It names what differs, and what was not compared."""
    agrees = record(lambda a: a**3, 2.0, order=2, check=True)
    differs = record(half_recorded, 2.0, order=2, check=True)
    partly = record(lambda a: a * np.sign(a) + 2 * a, 0.0, order=2, check=True)

    def last(found: Findings) -> str:
        return next(said.text for said in found.verdict if "finite differences" in said.text)

    assert last(agrees) == "Both derivatives match finite differences."
    assert last(differs).startswith("d²y/da² differs from finite differences: half_recorded has")
    assert last(differs).endswith("; dy/da matches finite differences.")
    assert "differs" == differs.verdict[0].topic
    assert last(partly).startswith("dy/da matches finite differences; d²y/da² was not checked: ")


def test_nothing_changes() -> None:
    """Neither the recording nor its values: all else that is found is the same."""
    point = RNG.normal(size=(4, 5))

    plain = record(lambda a: np.sum(np.tanh(a) * a), point)
    found = record(lambda a: np.sum(np.tanh(a) * a), point, check=True)

    assert plain.graph == found.graph
    assert plain.variables == found.variables


def test_a_gradient_that_rounding_hides() -> None:
    """It neither agrees nor differs."""
    assert (
        "not checked by finite differences: it is lost in the rounding error of the target"
        in words(lambda a: 1e-12 * np.sin(a) + 1e6, 2.0)
    )


def test_a_small_part_of_a_large_target() -> None:
    """Its gradient is compared with itself, not with the target."""
    said = words(lambda a: 1e-3 * doubled(a) + 1e3, 0.0)
    assert said.startswith("differs from finite differences: 0.002 on the tape, 0.00")
