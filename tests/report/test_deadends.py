"""What a picture leaves out: what nobody asked for, and nobody uses."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.report.context import Context
from tests.report.recordings import findings_of, record


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


def test_what_goes_into_an_operation_of_many_inputs() -> None:
    """Where an input is not drawn, neither is what it was made of, unless something else needs that."""

    def wide(x: Any) -> Any:
        parts = [np.sin(x * i) for i in range(9)]
        return np.stack(parts) + np.cos(parts[6])

    names = drawn(wide, 1.0)

    assert names == ["multiply", "sin"] * 7 + ["stack", "cos", "add"]


def test_a_hidden_input_that_is_the_target() -> None:
    """What was asked for is always there."""

    def wide(x: Any) -> Any:
        parts = [x * i for i in range(9)]
        return np.stack(parts), parts[6]

    assert drawn(wide, 1.0) == ["multiply"] * 7 + ["stack"]


def test_what_a_library_looks_at() -> None:
    """Elements that are taken, and used for nothing, are not drawn; unless they have a name."""
    x = tm.constant([1.0, 2.0, 3.0])
    with Observer() as observer:
        observer.watch(x)
        y = x * x
        list(y[:, None][0])
        first = y[0]

    found = findings_of(observer, [("y", y)], [("x", x)], 1, Context([("first", first)]))

    assert [step.name for step in found.graph.steps] == ["multiply", "index"]
    assert ["first"] == [found.graph.values[i].name for i in found.graph.steps[1].outputs]


def test_a_result_that_only_a_library_looks_at() -> None:
    """It is the user's all the same."""

    def plotted(x: Any) -> Any:
        np.exp(x)[0]
        return x * x

    assert drawn(plotted, [1.0, 2.0]) == ["exp", "multiply"]


def test_how_many_are_drawn() -> None:
    """The operations of the cell are counted, and not those of its derivatives."""
    found = record(lambda x: (x[0], x * x)[1], [1.0, 2.0], order=2)

    assert (2, 1) == (found.operations, found.tabs["graph"].drawn_operations)
    assert len(found.graph.steps) > 2
