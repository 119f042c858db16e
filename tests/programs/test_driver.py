"""Drivers of programs: they take arguments as the user's function does, and let go of everything that it lets go of."""

# The functions are those of users, as they come.
# ruff: noqa: ARG005, PLW0108

from __future__ import annotations

import gc
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.programs.driver_function import parameters
from tapemagic.programs.guards import Guards
from tapemagic.programs.signature import signature

one, two, three = (tm.constant(k) for k in (1.0, 2.0, 3.0))


def product(x: Any, y: Any) -> Any:
    """A product."""
    return x * y


def traced(f: Any, *args: Any) -> Any:
    """The function under tm.function, with a program for these arguments."""
    g = tm.function(f)
    g(*args)
    g(*args)
    assert 1 == len(g.programs), g.why_eager
    return g


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((one,), {}), ((one, two, three), {}), ((one,), {"z": two}), ((one, two), {"x": one}), ((), {"y": one})],
)  # fmt: skip
def test_wrong_arguments_raise_the_error_of_the_function(args: Any, kwargs: Any) -> None:
    """The message is the same with and without a program, and no other error stands behind it."""
    with pytest.raises(TypeError) as right:
        product(*args, **kwargs)
    for g in (tm.function(product), traced(product, one, two)):
        with pytest.raises(TypeError) as found:
            g(*args, **kwargs)
        assert str(right.value) == str(found.value)
        assert found.value.__context__ is None


def test_arguments_by_keyword_are_those_by_position() -> None:
    """A program that was traced with arguments by position takes them by keyword, in any order."""
    g = traced(product, one, two)
    assert 6.0 == float(g(y=two, x=three)) == float(g(three, y=two))
    assert 1 == len(g.programs)


def test_parameters_with_the_names_of_a_driver() -> None:
    """No name of a parameter gets in the way of what a driver calls its own values."""

    def f(function: Any, miss: Any, missed: Any, x0: Any, a0: Any, r0: Any, np: Any) -> Any:
        return function - miss * missed - x0 / a0 + r0 * np

    values = [tm.constant(float(k)) for k in range(3, 10)]
    g = traced(f, *values)
    assert float(f(*values)) == float(g(*values))
    assert float(f(*values)) == float(g(**dict(zip(f.__code__.co_varnames, values, strict=True))))
    assert float(f(*values[::-1])) == float(g(*values[::-1]))
    assert 1 == len(g.programs)


def test_structures_between_tensors() -> None:
    """Lists, tuples and dicts may stand among the arguments that are parameters."""

    def f(x: Any, pair: Any, weights: Any, y: Any) -> Any:
        return x * pair[0] + pair[1] * weights["b"] - y

    def arguments(k: float) -> Any:
        a, b, c, d, e = (tm.constant(k + j) for j in range(5))
        return a, (b, c), {"a": 1.5, "b": d}, e

    g = traced(f, *arguments(1.0))
    assert float(f(*arguments(5.0))) == float(g(*arguments(5.0)))
    with pytest.raises(IndexError):
        g(one, two, {"b": one}, two)


@pytest.mark.parametrize(
    ("f", "args", "names"),
    [
        (lambda x, y: x, (one, two), ("x", "y")),
        (lambda: 1, (), ()),
        (lambda x, k=2: x, (one,), None),
        (lambda x, *rest: x, (one,), None),
        (lambda **options: options, (), None),
        (lambda x, *, k: x, (one,), None),
        (lambda x, /: x, (one,), None),
        (np.sin, (one,), None),
    ],
)
def test_the_parameters_of_a_driver(f: Any, args: Any, names: Any) -> None:
    """Those of the function, if each takes one argument, and none may be left out."""
    assert names == parameters(f, signature(args, {}))


def test_defaults_and_parameters_for_any_number() -> None:
    """Where Python binds arguments in other ways, a program is given them all."""

    def f(x: Any, k: Any = 2.0, *rest: Any, last: Any = 1.0) -> Any:
        return x * k * last + sum(rest)

    g = tm.function(f)
    calls: Any = [((three,), {}), ((three, 4.0), {}), ((three, 4.0, one, two), {"last": 3.0})]
    for args, kwargs in calls * 3:
        assert float(f(*args, **kwargs)) == float(g(*args, **kwargs))
    assert 3 == len(g.programs)


def test_an_error_of_the_function_after_that_of_its_program() -> None:
    """It is the function's own, as without a program: no error of the program stands behind it."""
    g = traced(lambda x: np.linalg.inv(x), tm.constant(np.eye(2)))
    with pytest.raises(np.linalg.LinAlgError) as found:
        g(tm.constant(np.zeros((2, 2))))
    assert found.value.__context__ is None


@pytest.mark.usefixtures("no_collector")
def test_a_function_is_freed_with_its_programs() -> None:
    """A function refers to its driver, and the driver does not refer to it."""
    g = traced(lambda x: x * x, two)
    freed = weakref.ref(g)
    del g
    assert freed() is None


@pytest.mark.usefixtures("no_collector")
def test_a_program_raises_without_leaving_a_cycle() -> None:
    """What a call was given is freed after the program raised an error."""
    g = traced(lambda x: np.linalg.inv(x), tm.constant(np.eye(2)))
    singular = tm.constant(np.zeros((2, 2)))
    freed = weakref.ref(singular)
    with pytest.raises(np.linalg.LinAlgError):
        g(singular)
    g(tm.constant(np.eye(2)))
    del singular
    assert freed() is None


def test_the_collector_is_on_after_a_program_is_made() -> None:
    """It rests while a program is compiled, and no longer."""
    traced(product, one, two)
    assert gc.isenabled()


def test_checks_of_what_a_function_closes_over_leave_a_loop() -> None:
    """All of them end in the same way, which drivers rely on."""
    weight = tm.Variable(2.0)
    guards = Guards(lambda x: x * weight * np.pi)
    checks = [line for line in guards.lines if line.startswith("if ")]
    assert checks
    assert all(line.endswith(": break") for line in checks)


def test_values_with_the_names_of_a_driver() -> None:
    """A driver holds the lines of its program: none of their names is one of its own."""

    def f(q_x0: Any, y: Any) -> Any:
        q_miss = np_sin = np.sin(q_x0)
        q_stale, q_new = q_miss + y, np.sin(y)
        return [q_stale * np_sin, q_new / q_miss, np.sin(q_new)]

    g = traced(f, one, two)
    assert [x.numpy() for x in f(two, three)] == [x.numpy() for x in g(two, three)]
    assert "q_miss = np.sin(q_x0)" in g.source()
    assert 1 == len(g.programs)
    with pytest.raises(TypeError, match="q_x0"):
        g(y=one)


def test_a_number_that_several_functions_take() -> None:
    """It is a float of Python's once for all of them, also where its name serves again, in a loop, or as a result."""

    def f(x: Any, n: int) -> Any:
        total = x * 0.0
        for _ in range(n):
            x = np.exp(-x) + np.sin(x) * np.cos(x)
            y = np.tanh(x) + np.sqrt(np.abs(x))
            total = total + y
        with np.errstate(divide="ignore"):
            last = np.log(total - total) + np.arctan(total)
        return np.maximum(last, np.float64(-1.0)), x, np.sin(x) * np.cosh(x)

    def slopes(x: Any, n: int) -> Any:
        with tm.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tm.GradientTape() as inner:
                inner.watch(x)
                y = f(x, n)[2]
            slope = inner.gradient(y, x)
        return y, slope, outer.gradient(slope, x)

    for k, g in ((f, tm.function(f)), (slopes, tm.function(slopes))):
        for value in (0.5, -0.0, 1.5, np.nan, np.inf, 1e308):
            with np.errstate(all="ignore"):
                right, found = k(tm.constant(value), 3), g(tm.constant(value), 3)
            for a, b in zip(right, found, strict=True):
                assert np.isnan(a) == np.isnan(b)
                assert np.isnan(a) or a.numpy().tobytes() == b.numpy().tobytes()
                assert type(a.numpy()) is type(b.numpy())
        assert len(g.programs) == 1


def test_an_error_of_a_result_that_is_made_outside_of_the_program() -> None:
    """It is the user's own, and the function is not called once more."""

    class Pair(NamedTuple):
        a: Any
        b: Any

    made = []
    make = Pair.__new__

    def at_most_two(cls: Any, a: Any, b: Any) -> Any:
        made.append(a)
        if len(made) > 2:
            raise LookupError("there are two")
        return make(cls, a, b)

    g = tm.function(lambda x: Pair(x * 2.0, x * 3.0))
    g(one)
    g(one)
    assert 1 == len(g.programs)
    Pair.__new__ = at_most_two  # type: ignore[assignment]
    g(one)
    g(one)
    made[:] = [one, one]

    with pytest.raises(LookupError, match="there are two"):
        g(one)
    assert 3 == len(made)
