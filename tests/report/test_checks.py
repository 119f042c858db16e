"""Gradients are checked by finite differences of the recorded operations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine import registry
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


def test_only_the_first_order() -> None:
    """Higher orders are not compared."""
    found = record(lambda a: a**3, 2.0, order=2, check=True)

    assert [True, False] == [entry.check is not None for entry in found.derivatives]


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
