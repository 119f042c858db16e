"""What a picture leaves out: what nobody asked for, and nobody uses."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tests.analysis.recordings import record


def drawn(function: Any, *inputs: Any, **options: Any) -> list[str]:
    """The names of the operations in the picture."""
    return [step.name for step in record(function, *inputs, **options).graph.steps]


@tm.custom_gradient
def log1pexp(x: Any) -> Any:
    """The logarithm of 1 + exp(x), with a stable gradient."""
    e = np.exp(x)
    return np.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))


@tm.custom_gradient
def twice(x: Any) -> Any:
    """One function with a gradient of its own inside another."""
    return 2 * log1pexp(x), lambda upstream: 2 * upstream


def test_inside_a_custom_gradient() -> None:
    """Of a function with a gradient of its own nothing is seen but the call."""
    assert drawn(lambda x: np.sin(log1pexp(np.cos(x))), 1.0) == ["cos", "log1pexp", "sin"]


def test_one_inside_another() -> None:
    """The inner call is on the way, too."""
    assert drawn(lambda x: np.sin(twice(np.cos(x))), 1.0) == ["cos", "twice", "sin"]


def test_what_its_gradient_uses() -> None:
    """The exponential that the gradient reads is drawn with the second derivative, and nothing else from inside."""
    names = drawn(log1pexp, 1.0, order=2)

    assert names[:2] == ["exp", "log1pexp"]
    assert "log" not in names


def test_reading_by_assigning() -> None:
    """`assign` returns the new value, which leads nowhere unless it is used."""
    v = tm.Variable(2.0)

    def unused(v: Any) -> Any:
        y = v * v
        v.assign_add(1.0)
        return y

    def used(v: Any) -> Any:
        return v.assign_add(1.0) * v

    assert drawn(unused, v) == ["multiply"]
    assert drawn(used, v) == ["read", "multiply"]


def test_a_call_that_leads_nowhere() -> None:
    """What the user computed is drawn, used or not."""

    def two(x: Any) -> Any:
        np.sin(x)
        log1pexp(x)
        return x * x

    assert drawn(two, 1.0) == ["sin", "log1pexp", "multiply"]


def test_a_value_that_leaves_the_function() -> None:
    """What its result is also made of elsewhere stays."""
    kept: list[Any] = []

    @tm.custom_gradient
    def keeping(x: Any) -> Any:
        kept.append(np.exp(x))
        return np.log(kept[0]), lambda upstream: upstream

    assert drawn(lambda x: keeping(x) * kept[0], 1.0) == ["exp", "keeping", "multiply"]
