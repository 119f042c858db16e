"""Rules, functions and blocks that fail, by exceptions, Ctrl-C or wrong answers: the tape is as it was, and goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.recording import live
from tapemagic.errors import CustomGradientError
from tests.conformance.programs import raised_by

both = pytest.mark.parametrize("persistent", [False, True])


class Flaky:
    """A function with a gradient of its own, whose rule goes wrong as long as it is told to."""

    def __init__(self, fail: Callable[[Any], Any]) -> None:
        self.fail: Callable[[Any], Any] | None = fail

    def __call__(self, x: Any) -> Any:
        """x**2."""

        def grad(upstream: Any) -> Any:
            return upstream * 2.0 * x if self.fail is None else self.fail(upstream)

        return tm.custom_gradient(lambda x: (x * x, grad))(x)


def raising(error: BaseException) -> Callable[[Any], Any]:
    """A rule that raises."""

    def rule(_upstream: Any) -> Any:
        raise error

    return rule


FAILURES: dict[str, tuple[Callable[[Any], Any], type[BaseException], str]] = {
    "an exception": (raising(ZeroDivisionError("by zero")), ZeroDivisionError, "by zero"),
    "Ctrl-C": (raising(KeyboardInterrupt()), KeyboardInterrupt, ""),
    "an exit": (raising(SystemExit(1)), SystemExit, "1"),
    "too many": (lambda g: (g, g), CustomGradientError, "expected to return 1 gradients, but re"),
    "too few": (lambda _: [], CustomGradientError, "returned 0 instead"),
    "another shape": (lambda _: np.ones(2), CustomGradientError, "a gradient of shape (2,) for"),
    "text": (lambda _: "text", CustomGradientError, "returned 'text' of type str as the gradient"),
    "a TypeError of its own": (lambda g: g + None, TypeError, "unsupported operand type(s) for +"),
}


def ask(tape: tm.GradientTape, method: str, y: Any, x: Any) -> BaseException:
    """What a question raises, Ctrl-C included."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 (the caller looks at it)
        getattr(tape, method)(y, x)
    return caught.value


every_failure = pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())


@every_failure
@both
@pytest.mark.parametrize("method", ["gradient", "jacobian"])
def test_a_rule_that_fails(failure: Any, persistent: bool, method: str) -> None:
    """A gradient that failed has not been given: once the rule is mended, the same tape gives it."""
    fail, expected, words = failure
    flaky, x = Flaky(fail), tm.Variable(2.0)
    with tm.GradientTape(persistent) as tape:
        y = flaky(x * x) * x
    records = len(tape.records)

    errors = [ask(tape, method, y, x) for _ in range(2)]

    assert [type(error) for error in errors] == [expected] * 2
    assert all(words in str(error) for error in errors)
    assert (len(tape.records), live()) == (records, ())
    flaky.fail = None
    assert float(getattr(tape, method)(y, x)) == 80.0


@every_failure
@both
def test_a_rule_that_fails_inside_the_block(failure: Any, persistent: bool) -> None:
    """The tape goes on recording as if it had not been asked."""
    fail, expected, _ = failure
    flaky, x = Flaky(fail), tm.Variable(2.0)
    with tm.GradientTape(persistent) as tape:
        y = flaky(x * x) * x
        error = ask(tape, "gradient", y, x)
        here = live()
        z = 3.0 * y

    assert type(error) is expected
    assert (here, live()) == ((tape,), ())
    flaky.fail = None
    assert float(tape.gradient(z, x)) == 240.0


@every_failure
@pytest.mark.parametrize("method", ["gradient", "jacobian"])
def test_a_rule_that_fails_under_another_tape(failure: Any, method: str) -> None:
    """An outer tape survives the failure of an inner one, and so do second derivatives."""
    fail, expected, _ = failure
    flaky, x = Flaky(fail), tm.Variable(2.0)
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            y = flaky(x * x) * x
        error = ask(inner, method, y, x)
        here = live()
        flaky.fail = None
        first = getattr(inner, method)(y, x)

    assert type(error) is expected
    assert (here, live()) == ((outer,), ())
    assert float(first) == 80.0
    assert float(outer.gradient(first, x)) == 160.0


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), GeneratorExit()])
@both
def test_an_exception_in_the_block(error: BaseException, persistent: bool) -> None:
    """What was recorded before it can be differentiated after it."""
    x, tape, computed = tm.Variable(2.0), tm.GradientTape(persistent), []

    def block() -> None:
        with tape:
            computed.append(x * x * x)
            raise error

    with pytest.raises(type(error)):
        block()
    assert live() == ()
    assert float(tape.gradient(computed, x)) == 12.0


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_an_exception_in_a_pause(error: BaseException) -> None:
    """The tape records again."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y = x * x
        with pytest.raises(type(error)), tape.stop_recording():
            raise error
        here = live()
        z = y * x

    assert here == (tape,)
    assert float(tape.gradient(z, x)) == 12.0


def _fails(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("by zero")


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "custom_gradient": tm.custom_gradient(_fails),
    "recompute_grad": tm.recompute_grad(_fails),
    "grad_pass_through": tm.grad_pass_through(_fails),
    "grad": tm.grad(_fails),
    "value_and_grad": tm.value_and_grad(_fails),
    "jacobian": tm.jacobian(_fails),
    "hessian": tm.hessian(_fails),
    "hvp": lambda x: tm.hvp(_fails)(x, x),
    "vjp": lambda x: tm.vjp(_fails, x),
    "jvp": lambda x: tm.jvp(_fails, (x,), (x,)),
    "make_vjp": tm.make_vjp(_fails),
    "gradients_function": tm.gradients_function(_fails),
    "implicit_grad": tm.implicit_grad(_fails),
    "check_gradients": lambda x: tm.check_gradients(_fails, x.numpy()),
}


@both
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_function_that_raises(function: Callable[[Any], Any], persistent: bool) -> None:
    """The exception of a user's function comes through as it is, and the tapes around it go on."""
    x = tm.Variable(2.0)
    with tm.GradientTape(persistent) as tape:
        y = x * x
        error = raised_by(lambda: function(x))
        here = live()
        z = y * x

    assert type(error) is ZeroDivisionError
    assert str(error) == "by zero"
    assert (here, live()) == ((tape,), ())
    assert float(tape.gradient(z, x)) == 12.0


def test_recomputation_that_fails() -> None:
    """Where the second computation fails, variables have their values again, and the tape its records."""
    calls: list[Any] = []
    x, v = tm.Variable(2.0), tm.Variable(3.0)

    @tm.recompute_grad
    def block(x: Any) -> Any:
        calls.append(x)
        if len(calls) == 2:
            raise ZeroDivisionError("by zero")
        return x * x * v

    with tm.GradientTape() as tape:
        y = block(x)
    v.assign(5.0)
    error = raised_by(lambda: tape.gradient(y, [x, v]))

    assert type(error) is ZeroDivisionError
    assert float(v) == 5.0
    assert [float(g) for g in tape.gradient(y, [x, v])] == [12.0, 4.0]
    assert live() == ()
