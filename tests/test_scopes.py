"""The scopes of layers: frames on the stack, which only a report looks for."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.recording import silence
from tapemagic.engine.scopes import Scope, call_in_scope, call_named, is_observed, scope_called
from tapemagic.engine.tape.observer import Observer


def test_scopes_are_of_use_to_an_observer_alone() -> None:
    """Not to a tape, and not while nothing is recorded."""
    assert not is_observed()
    with tm.GradientTape():
        assert not is_observed()
    with Observer() as observer, tm.GradientTape():
        assert is_observed()
        with silence():
            assert not is_observed()
        with observer.stop_recording():
            assert not is_observed()
        assert is_observed()
    assert not is_observed()


def test_not_of_use_in_a_reverse_sweep() -> None:
    """What a rule computes is a part of the derivative, a layer that it calls again, too."""
    seen = []

    @tm.custom_gradient
    def same(x: Any) -> Any:
        def gradient(g: Any) -> Any:
            seen.append(is_observed())
            return g

        return x * 1.0, gradient

    v = tm.Variable(2.0)
    with Observer(), tm.GradientTape() as tape:
        y = same(v)
        tape.gradient(y, v)
        seen.append(is_observed())

    assert [False, True] == seen


def test_what_is_known_of_a_call() -> None:
    """Shapes in the order of the structure, and values of constants as they were; of variables none."""
    array, tensor, v = np.ones((2, 3)), tm.constant([1.0]), tm.Variable(np.ones((3, 1)))
    scope = Scope("outer/inner", "Inner")

    result = call_in_scope(
        scope,
        lambda inputs, factor, training: {"a": inputs["x"] @ inputs["v"] * factor[0], "b": training},
        ({"x": array, "v": v}, [tensor]),
        {"training": True},
        lambda: 7,
    )  # fmt: skip
    array[:] = 0.0

    assert (2, 1) == result["a"].shape
    assert ("outer/inner", "Inner", 7) == (scope.name, scope.kind, scope.parameters)
    assert ((3, 1), (2, 3), (1,)) == scope.inputs
    assert ((2, 1),) == scope.outputs
    kept = [value for _, value in scope.arguments]
    assert kept[0] is None
    assert np.all(kept[1] == 1.0)
    assert [1.0] == kept[2].tolist()


def test_a_call_that_raises() -> None:
    """It has no result, and the scope has ended."""
    scope = Scope("a", "A")

    with pytest.raises(ZeroDivisionError):
        call_in_scope(scope, lambda _: 1 / 0, (np.ones(2),), {}, lambda: 1)

    assert (((2,),), (), None) == (scope.inputs, scope.outputs, scope.parameters)


def test_arguments_of_any_kind() -> None:
    """None, text and structures without end are no arrays, and change nothing."""
    endless: list[Any] = []
    endless.append(endless)
    scope = Scope("a", "A")

    assert 3 == call_in_scope(scope, lambda *_, **__: 3, (None, "text", endless), {"k": object()})
    assert ((), ()) == (scope.inputs, scope.outputs)


def test_the_frame_of_a_call() -> None:
    """The scope is that of the function called, and of none that this one calls."""
    scope, found = Scope("a", "A"), []

    def inner() -> None:
        found.append(scope_called(sys._getframe()))

    def call() -> None:
        found.append(scope_called(sys._getframe()))
        inner()

    call_in_scope(scope, call, (), {})
    call()

    assert [scope, None, None, None] == found


def test_functions_whose_loops_are_seen() -> None:
    """They are called in a scope without a class, if a report is to come, and as they are otherwise."""
    found = []

    def search(n: int, step: int) -> int:
        scope = scope_called(sys._getframe())
        found.append(scope and (scope.name, scope.kind, scope.inputs))
        return n + step

    assert 5 == call_named("search", search, 3, 2)
    with Observer():
        assert 5 == call_named("search", search, 3, 2)

    assert [None, ("search", "", ())] == found
