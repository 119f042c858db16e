"""Each check over the rule table has to be able to fail."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import Tensor
from tapemagic.engine.registry import COMPOSITES, OPERATIONS
from tapemagic.errors import NoDerivativeError
from tests.rules import checks, harness
from tests.rules.damage import damaged, scaled
from tests.rules.harness import case, normal, plain, positive, refused, special


def test_value_fails_on_another_value() -> None:
    """A call that gives something else on tensors is noticed."""
    checks.check_value(case(np.add, lambda x: x + 1.0, normal(3)))
    with pytest.raises(AssertionError):
        checks.check_value(case(np.add, lambda x: x + 1e-9 * isinstance(x, Tensor), normal(3)))


def test_value_fails_on_another_dtype_or_shape() -> None:
    """A call that gives another dtype or shape on tensors is noticed."""
    for other in (lambda x: x[None], lambda x: x.astype(complex)):
        call = lambda x, other=other: other(x) if isinstance(x, Tensor) else x  # noqa: E731
        with pytest.raises(AssertionError):
            checks.check_value(case(np.add, call, normal(3)))


def test_recorded_fails_on_another_function() -> None:
    """A case that never reaches its own entry is noticed, for rules and for composites."""
    checks.check_recorded(case(np.sin, np.sin, normal(3)))
    with pytest.raises(AssertionError):
        checks.check_recorded(case(np.sin, np.cos, normal(3)))
    with pytest.raises(AssertionError):
        checks.check_recorded(case(next(iter(COMPOSITES)), np.cos, normal(3)))


def test_derivatives_fail_on_a_wrong_rule() -> None:
    """A wrong rule is noticed."""
    checks.check_derivatives(case(np.sin, np.sin, normal(3)))
    with damaged(OPERATIONS[np.sin], 0, scaled), pytest.raises(AssertionError):
        checks.check_derivatives(case(np.sin, np.sin, normal(3)))


def only_nested(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Damage that shows only where another tape listens."""
    return lambda g, *rest: rule(g, *rest) * (1.001 if isinstance(g, Tensor) else 1.0)


def test_nested_fails_on_a_rule_that_knows_tensors() -> None:
    """A rule that gives another value to an outer tape is noticed."""
    checks.check_nested(case(np.sin, np.sin, normal(3)))
    with damaged(OPERATIONS[np.sin], 0, only_nested), pytest.raises(AssertionError):
        checks.check_nested(case(np.sin, np.sin, normal(3)))


def test_single_fails_on_another_dtype() -> None:
    """A call that widens single precision, on tensors only, is noticed."""
    call = lambda x: x * np.float64(1) if isinstance(x, Tensor) else x  # noqa: E731
    checks.check_single(case(np.add, lambda x: x + 1.0, normal(3)))
    with pytest.raises(AssertionError):
        checks.check_single(case(np.multiply, call, normal(3)))


def test_slim_fails_on_a_rule_that_reads_what_it_disclaims() -> None:
    """A rule that reads a parameter whose name starts with an underscore is noticed."""
    wrong = damaged(OPERATIONS[np.sin], 0, lambda _: lambda g, _y, _x: g * np.cos(_x))
    checks.check_slim(case(np.sin, np.sin, normal(3)))
    with wrong, pytest.raises(TypeError):
        checks.check_slim(case(np.sin, np.sin, normal(3)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda g, _y, x: np.swapaxes(np.swapaxes(g, 0, -1) * np.cos(x).T, 0, -1),
        lambda g, _y, x: g[0] * np.cos(x),
        lambda g, _y, x: np.sum(g) * np.cos(x),
    ],
    ids=["first axis", "one of them", "sum"],
)
def test_batch_fails_on_a_rule_that_counts_from_the_front(wrong: Any) -> None:
    """A rule that mistakes the axis of a batch for its own is noticed."""
    square = normal(checks.BATCH, checks.BATCH)
    checks.check_batch(case(np.sin, np.sin, square))
    with damaged(OPERATIONS[np.sin], 0, lambda _: wrong), pytest.raises(AssertionError):
        checks.check_batch(case(np.sin, np.sin, square))


def only_batched(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Damage that shows only where several cotangents come at once."""
    return lambda g, y, *rest, **params: rule(g, y, *rest, **params) * (1 + (g.ndim > y.ndim) / 1e3)


def test_jacobian_fails_on_other_rows() -> None:
    """A rule that gives something else for a batch of cotangents is noticed."""
    running = case(np.cumsum, np.cumsum, normal(3))
    checks.check_jacobian(running)
    with damaged(OPERATIONS[np.cumsum], 0, only_batched), pytest.raises(AssertionError):
        checks.check_jacobian(running)


def test_jacobian_fails_on_what_is_not_elementwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation that is wrongly said to keep diagonals is noticed."""
    monkeypatch.setattr(OPERATIONS[np.cumsum], "pointwise", True)
    with pytest.raises(AssertionError):
        checks.check_jacobian(case(np.cumsum, np.cumsum, normal(3)))


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ((2.0, 2.0), (0.5, 0.5)),
        ((2.0, 2.0), (1.0, None)),
        ((np.array([1.0, 3.0]), 2.0), (np.array([0.0, 1.0 + 1e-9]), 1.0)),
    ],
    ids=["value", "None", "nearly"],
)
def test_special_fails_on_another_gradient(inputs: Any, expected: Any) -> None:
    """A gradient that is not the written one is noticed."""
    checks.check_special(special(np.maximum, None, (2.0, 2.0), (1.0, 0.0)))
    with pytest.raises(AssertionError):
        checks.check_special(special(np.maximum, None, inputs, expected))


def test_special_fails_on_an_unannounced_warning() -> None:
    """A warning has to be announced, and an announced one has to come."""
    pole = (np.array([0.0, 1.0]),)
    checks.check_special(special(np.log, None, pole, (np.array([np.inf, 1.0]),), warns=True))
    with pytest.raises(AssertionError, match="divide by zero"):
        checks.check_special(special(np.log, None, pole, (np.array([np.inf, 1.0]),)))
    with pytest.raises(AssertionError):
        checks.check_special(special(np.log, None, (2.0,), (0.5,), warns=True))


def test_plain_fails_on_a_derivative() -> None:
    """A function that stays on the tape is not plain."""
    checks.check_plain(plain(np.floor, None, normal(3)))
    with pytest.raises(AssertionError):
        checks.check_plain(plain(np.sin, None, normal(3)))


def test_plain_fails_on_another_value() -> None:
    """Another value, or another dtype, than NumPy's is noticed."""
    for call in (lambda x: np.floor(x) + isinstance(x, Tensor), lambda x: np.floor(x) > 0):
        wrong = lambda x, call=call: call(x) if isinstance(x, Tensor) else np.floor(x)  # noqa: E731
        with pytest.raises(AssertionError):
            checks.check_plain(plain(np.floor, wrong, positive(3)))


def test_refused_fails_where_nothing_is_raised() -> None:
    """A call that gives an answer was not refused."""
    with pytest.raises(pytest.fail.Exception):
        checks.check_refused(refused(np.sin, None, (1.0,), NoDerivativeError, "rule"))


def test_broken_module_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of cases that cannot be imported leaves its error, and the others alone."""
    found = importlib.import_module

    def broken(name: str) -> Any:
        if name.endswith("elementwise"):
            raise SyntaxError(name)
        return found(name)

    monkeypatch.setattr(importlib, "import_module", broken)
    modules = harness.load()

    assert isinstance(modules["elementwise"], SyntaxError)
    assert modules["products"].CASES
    assert not any(name.startswith("elementwise-") for name in harness.collect("CASES"))


def test_makers() -> None:
    """Numbers are the same each time, of NumPy's types, and in their range."""
    assert type(normal()) is np.float64
    assert normal(2, 3).shape == (2, 3)
    assert np.array_equal(normal(3), normal(3))
    assert not np.array_equal(normal(3), normal(3, seed=1))
    assert np.all((positive(100) > 0.5) & (positive(100) < 2.0))
