"""tape.source: the derivative of what a tape recorded, as a program that is run and compared with the tape."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import (
    ConsumedTapeError,
    NotATensorError,
    NotRecordingError,
    OptionError,
    SourceError,
)
from tapemagic.programs import rerun
from tapemagic.programs.tracing import trace


def function_in(source: str) -> Callable[..., Any]:
    """The function that a source defines."""
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102 -- it is what is tested
    made: Callable[..., Any] = next(x for name, x in namespace.items() if "_and_" in name)
    return made


def parameters(source: str) -> tuple[str, ...]:
    """The names of its parameters."""
    code = function_in(source).__code__
    return code.co_varnames[: code.co_argcount]


def test_a_source_runs_as_a_script() -> None:
    """Pasted into a script of its own, it computes what the tape does."""
    w, b = tm.Variable([0.5, -1.0, 2.0]), tm.Variable(0.25)
    data, labels = np.arange(12.0).reshape(4, 3), np.arange(4.0)
    with tm.GradientTape() as tape:
        error = data @ w + b - labels
        loss = np.mean(error**2)
    source = tape.source(loss, [w, b])
    call = "print([np.ravel(x).tolist() for x in loss_and_gradients(*arguments)])"
    given = "np.array([0.5, -1.0, 2.0]), np.float64(0.25), np.arange(12.0).reshape(4, 3), np.arange(4.0)"

    run = subprocess.run(
        [sys.executable, "-I", "-c", f"{source}\nimport numpy as np\narguments = {given}\n{call}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    wanted = [loss, *tape.gradient(loss, [w, b])]
    assert [np.ravel(x.numpy()).tolist() for x in wanted] == json.loads(run.stdout)
    assert ("w", "b", "data", "labels") == parameters(source)


def test_it_reads_like_the_derivative_by_hand() -> None:
    """The user's names, d_ for gradients, and nothing else."""
    x = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = np.sin(x) * x

    assert tape.source(y, x).splitlines()[-6:] == [
        "    u1 = np.sin(x)",
        "    y = u1 * x",
        "",
        "    d_x = u1 + x * np.cos(x)",
        "",
        "    return y, d_x",
    ]


def cube(x: Any) -> Any:
    """A function with derivatives of all orders."""
    return x**3 * np.exp(x)


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of the elements of a function's result."""
    return lambda x: np.sum(function(x))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_orders_are_those_of_nested_tapes(order: int) -> None:
    """On other data than was recorded, too."""
    x = tm.Variable([0.5, 1.0])
    with tm.GradientTape() as tape:
        y = cube(x)
    source = tape.source(y, x, order)
    other = np.array([-1.5, 0.25])

    found = function_in(source)(other)

    wanted, derivative = [cube(other)], cube
    for _ in range(order):
        derivative = tm.grad(total(derivative))
        wanted.append(derivative(tm.constant(other)).numpy())
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_the_tape_is_not_consumed_and_a_consumed_one_says_so() -> None:
    """The error is that of ``gradient``."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y = x * x
    assert tape.source(y, x) == tape.source(y, x)
    assert 4.0 == tape.gradient(y, x).numpy()

    with pytest.raises(ConsumedTapeError, match="only be used to compute one set"):
        tape.source(y, x)
    with pytest.raises(NotRecordingError, match="never entered"):
        tm.GradientTape().source(y, x)


@pytest.mark.parametrize("order", [0, 10, 1.0, True, "2", None])
def test_an_order_is_a_number_from_1_to_9(order: Any) -> None:
    """Anything else is refused with its value."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y = x * x
    with pytest.raises(OptionError, match="an integer from 1 to 9"):
        tape.source(y, x, order)
    with pytest.raises(NotATensorError):
        tape.source(y, 3.0)
    with pytest.raises(NotATensorError, match="None"):
        tape.source(None, x)


def test_sources_without_a_gradient() -> None:
    """The text returns None for them and says why. They stay parameters."""
    x, z = tm.Variable(2.0), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = x * x
    source = tape.source(y, {"x": x, "z": z})

    assert (4.0, 4.0, None) == function_in(source)(2.0, 3.0)
    assert "there is no gradient with respect to z" in source


def test_sources_without_a_name_take_none_of_the_users() -> None:
    """Such sources are called ``source``, unless the user has a value of that name."""
    x = tm.Variable(2.0)
    with tm.GradientTape(persistent=True) as tape:
        y = x * x
    text = tape.source(y, [tm.constant(1.0), x])

    assert ("source", "x") == parameters(text)
    assert "source, x : float64" not in text

    source = tm.Variable(3.0)
    with tape:
        z = y * source
    text = tape.source(z, tm.constant(1.0))
    assert ("unnamed_source", "x", "source") == parameters(text)
    assert "Compute z and its gradient with respect to a source without a name." in text
    assert "unnamed_source : float64, a source without a name" in text
    assert "None, as there is no gradient with respect to the source without a name" in text
    assert (12.0, None) == function_in(text)(7.0, 2.0, 3.0)


def test_an_intermediate_source() -> None:
    """A source that is a result is computed from the watched values."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        h = np.sin(x)
        y = h * h * x
    source = tape.source(y, h)

    assert ("x",) == parameters(source)
    _, slope = function_in(source)(0.5)
    assert 2 * np.sin(0.5) * 0.5 == slope


def test_several_targets_are_summed() -> None:
    """The gradient is that of the sum, and each value is returned."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y, z = x * x, 3 * x
    assert (4.0, 6.0, 7.0) == function_in(tape.source([y, z], [x]))(2.0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128"])
def test_dtypes(dtype: str) -> None:
    """Values and gradients are those of the tape to the bit."""
    x = tm.Variable(np.array([0.5, 1.5]).astype(dtype))
    with tm.GradientTape() as tape:
        y = np.sum(np.exp(x) * x)
    found = function_in(tape.source(y, x))(x.numpy())

    for a, b in zip(found, (y, tape.gradient(y, x)), strict=True):
        assert b.numpy().dtype == a.dtype
        assert b.numpy().tobytes() == a.tobytes()


def test_values_that_the_tape_did_not_keep() -> None:
    """Such values are computed again. An array that no rule reads is a parameter without a name."""
    size = 200_000
    x = tm.Variable(np.linspace(0, 1, size))
    with tm.GradientTape() as tape:
        y = np.sum(np.sin(x + np.arange(float(size))) * 2)
    source = tape.source(y, x)
    names = parameters(source)

    found = function_in(source)(x.numpy(), np.arange(float(size)))

    assert ("x", "array") == names
    assert "which had no name" in source
    np.testing.assert_allclose(found[0], y.numpy(), rtol=1e-9)
    np.testing.assert_array_equal(found[1], tape.gradient(y, x).numpy())


def test_a_variable_that_was_assigned() -> None:
    """Each value is a parameter, and the gradient is the sum for both."""
    v = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        p = v * 3.0
        v.assign(5.0)
        q = p * v
    source = tape.source(q, v)
    v.assign(100.0)

    assert "a later value of v" in source
    assert (30.0, 21.0) == function_in(source)(2.0, 5.0)
    assert 21.0 == tape.gradient(q, v).numpy()


def test_a_custom_gradient() -> None:
    """What its function computed with tensors is computed again, for other arguments, too."""

    @tm.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = np.exp(x)
        return np.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    x = tm.Variable([1.0, 2.0])
    with tm.GradientTape() as tape:
        y = np.sum(log1pexp(x))
    value, slope = function_in(tape.source(y, x))(np.array([-1.0, 0.5]))

    np.testing.assert_allclose(value, np.sum(np.log1p(np.exp([-1.0, 0.5]))))
    np.testing.assert_allclose(slope, 1 / (1 + np.exp([1.0, -0.5])))
    assert [1.0, 2.0] == x.numpy().tolist()


def test_a_custom_gradient_that_leaves_the_tape() -> None:
    """The array that it computed is a parameter, and a note mentions its other numbers."""

    @tm.custom_gradient
    def relu(x: Any) -> Any:
        mask = (x.numpy() > 0) * 1.0
        return x * mask, lambda upstream: upstream * mask

    x = tm.Variable([1.0, -2.0])
    with tm.GradientTape() as tape:
        y = np.sum(relu(x))
    source = tape.source(y, x)

    assert ("x", "mask") == parameters(source)
    assert "Values that the tape doesn't track (.numpy()) are constants here" in source.replace(
        "\n    ", " "
    )
    _, slope = function_in(source)(np.array([1.0, -2.0]), np.array([1.0, 0.0]))
    assert [1.0, 0.0] == slope.tolist()


def test_a_function_that_is_computed_again() -> None:
    """The result of recompute_grad is a parameter, because its operations aren't on the tape."""

    @tm.recompute_grad
    def block(x: Any) -> Any:
        return np.sin(np.sin(x))

    x = tm.Variable([0.5, 1.0])
    with tm.GradientTape() as tape:
        y = np.sum(block(x))
    source = tape.source(y, x)
    other = np.array([0.25, -1.0])

    _, slope = function_in(source)(other, np.sin(np.sin(other)))

    np.testing.assert_allclose(slope, np.cos(np.sin(other)) * np.cos(other))


def test_arguments_that_no_record_holds() -> None:
    """A result that would be another one is a parameter."""
    x = tm.Variable([1.0, 2.0, 4.0])
    with tm.GradientTape() as tape:
        y = 2 * np.convolve(x, [1.0, 2.0], mode="same")
    source = tape.source(y, x)

    assert ("x", "convolve") == parameters(source)
    assert "the result of convolve, some of whose arguments no tape keeps" in " ".join(
        source.split()
    )
    assert [2.0, 4.0] == function_in(source)(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0]))[
        0
    ].tolist()


def test_the_beginning_of_a_sum() -> None:
    """A record keeps the start of a sum (initial=)."""
    x = tm.Variable([1.0, 2.0])
    with tm.GradientTape() as tape:
        y = 2 * np.sum(x, initial=5.0) + np.max(x, initial=7.0)

    assert 23.0 == function_in(tape.source(y, x))(np.array([1.0, 2.0]))[0]


def test_hostile_names() -> None:
    """Names of functions and Variables cannot break out of the docstring."""

    def function(x: Any) -> Any:
        n = float(x)
        return x * 2, lambda upstream: upstream * n

    function.__name__ = '"""\nimport os\n"""\\'
    hostile = tm.custom_gradient(function)
    xs = [tm.Variable(2.0, name='np"""\n'), tm.Variable(2.0, name="lambda")]
    with tm.GradientTape() as tape:
        y = hostile(xs[0]) * xs[1] + float(xs[0])
    source = tape.source(y, xs)

    assert "\nimport os" not in source
    assert 10.0 == function_in(source)(2.0, 2.0)[0]


def test_empty_arrays_and_nan() -> None:
    """Empty arrays and nan have the gradients that the tape returns."""
    x, z = tm.Variable(np.zeros((0, 3))), tm.Variable(np.nan)
    with tm.GradientTape() as tape:
        y = np.sum(x) + z * z
    value, dx, dz = function_in(tape.source(y, [x, z]))(np.zeros((0, 3)), np.float64(np.nan))

    assert np.isnan(value)
    assert np.isnan(dz)
    assert (0, 3) == dx.shape


def test_a_function_of_scipy() -> None:
    """The ufunc that its zeta calls has no name to import."""
    special = pytest.importorskip("scipy.special")
    x = tm.Variable([0.5, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        y = np.sum(special.psi(x))

    given = function_in(tape.source(y, x))(x.numpy())

    np.testing.assert_array_equal(given[1], tape.gradient(y, x).numpy())


def test_more_operations_than_a_program_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many operations raise an error, with or without those of the derivatives."""
    for module in (trace, rerun):
        monkeypatch.setattr(module, "MAX_NODES", 100)
    x = tm.Variable(1.0)
    with tm.GradientTape(persistent=True) as tape:
        y = x
        for _ in range(60):
            y = y * y
        z = y
        for _ in range(60):
            z = z * z

    for target in (y, z):
        with pytest.raises(SourceError, match="more than 20,000 operations"):
            tape.source(target, x)


def test_a_target_that_is_a_source() -> None:
    """The gradient of a target that is a source is 1, even if no tape watches it."""
    x, c = tm.Variable(2.0), tm.constant(4.0)
    with tm.GradientTape(persistent=True) as tape:
        y = x * c

    given = function_in(tape.source([y, c], [x, c]))(2.0, 4.0)

    assert [8.0, 4.0, *(g.numpy() for g in tape.gradient([y, c], [x, c]))] == list(given)


def test_copies_of_one_value_have_the_names_of_their_sources() -> None:
    """A gradient that is the target itself, and two that are the same constant."""
    v, w = tm.Variable([1.0, 2.0]), tm.Variable([3.0, 4.0])
    with tm.GradientTape(persistent=True) as tape:
        grown = np.exp(v) * 2
        total = np.sum(v + w)

    assert "d_v = np.copy(grown)\n    return grown, d_v" in tape.source(grown, v)
    text = tape.source(total, [v, w])
    assert "return total, d_v, d_w\n" in text
    assert "    d_w : array of shape (2,), float64, the gradient with respect to w" in text


def test_the_gradient_of_an_array_is_said_to_be_that_of_its_sum() -> None:
    """In the first sentence; that of a number is its gradient."""
    x = tm.Variable([1.0, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        squares = x**2
        total = np.sum(squares)

    assert '"""Compute squares and the gradient of its sum with respect to x.' in tape.source(
        squares, x
    )
    assert '"""Compute total and its gradient with respect to x.' in tape.source(total, x)
    sums = "Compute target and the derivatives of its sum with respect to x, up to order 2."
    assert sums in tape.source([squares, total], x, order=2)


@pytest.mark.parametrize("by_tape", [True, False])
def test_a_mask_has_its_name(by_tape: bool) -> None:
    """An array among the arguments of an operation is known by its numbers, as the tape keeps a copy."""
    x = tm.Variable([1.0, 2.0, 3.0])
    numbers = np.array([1.0, 2.0, 3.0])
    with tm.GradientTape() as tape:
        m = (x if by_tape else numbers) > 1.5
        y = np.sum(x[m] ** 2)
    text = tape.source(y, x)
    assert "m = np.array([False, True, True])" in text
    assert "u1 = x[m]" in text
    assert "constant =" not in text


def note_in(source: str) -> str:
    """Return the note of a docstring about values that the tape doesn't track."""
    words = " ".join(source.split())
    return words.partition("Values that the tape doesn't track")[2].partition(", with")[0]


@pytest.mark.parametrize("power", [1, 2])
def test_a_number_that_left_the_tape_beside_the_way(power: int) -> None:
    """A note names numbers that the target was computed with, not those that were only printed."""
    x = tm.Variable([2.3, 3.0])
    with tm.GradientTape(persistent=True) as tape:
        assert float(x[1]) == 3.0
        y = np.sum(np.sin(x) * 2)
        v = float(x[0]) ** power
        b = np.sum(x * v)
        assert float(b) != 0
        way = np.sum(x * int(x[0]) if x[0] > 1 else x)
    assert "(float()) are constants here" in note_in(tape.source(b, x))
    assert not note_in(tape.source(y, x))
    assert " (np.greater, int()) are constants here" == note_in(tape.source(way, x))


def test_a_mask_that_was_drawn() -> None:
    """A note mentions the mask, which isn't called ``eye`` although its numbers are those of one."""
    x = tm.Variable(np.array([[1.0, 2.0], [3.0, 4.0]]))
    draws = (np.random.default_rng(k) for k in range(100))
    seed = next(
        k for k, rng in enumerate(draws) if ((rng.random((2, 2)) >= 0.5) == np.eye(2)).all()
    )
    with tm.GradientTape(persistent=True) as tape:
        y = np.sum(tm.dropout(x, 0.5, np.random.default_rng(seed)) ** 2)
        order = np.array([2.0, -1.0])
        z = np.sum(np.where(order > -2.0, x, 0) * np.array([[1.0, 0.0], [0.0, 1.0]]))
    text = tape.source(y, x)
    assert "mask = np.eye(2, dtype=np.bool)" in text
    assert "The random mask of dropout is a constant here" in " ".join(text.split())
    assert "The mask" not in tape.source(z, x)
    assert "mask = np.ones(2, np.bool)\nconstant = np.eye(2)" in tape.source(z, x)


def test_constants_stay_visible() -> None:
    """A constant with a name is a parameter, what was computed from one is said to be a number, and so is no result."""
    w, x = tm.Variable(1.5), tm.constant(2.0)
    with tm.GradientTape(persistent=True) as tape:
        y = w * x
        z = w + w * np.sin(x)
    note = "Values computed from constants, which the tape doesn't watch, are numbers here."

    text = tape.source(y, w)
    assert ("w", "x") == parameters(text)
    assert (6.0, 4.0) == function_in(text)(1.5, 4.0)
    assert note not in " ".join(text.split())
    text = tape.source(z, w)
    assert note in " ".join(text.split())
    assert "    d_w = np.float64(1.0) + np.float64(0.9092974268256817)\n    return z, d_w" in text
    assert function_in(text)(np.float64(1.5)) == (z.numpy(), tape.gradient(z, w).numpy())


def test_an_array_without_a_name_that_a_short_call_makes_stands_in_the_program() -> None:
    """Pasted into a script, the program needs no array that nobody can name; other arrays are parameters."""
    x = tm.Variable(np.arange(9.0).reshape(3, 3))
    with tm.GradientTape(persistent=True) as tape:
        y = np.sum(np.linalg.inv(x.T @ x + np.eye(3)))
        z = np.sum(x.reshape(-1) * np.arange(9.0))
        u = np.sum(x * np.sqrt(np.arange(9.0)).reshape(3, 3))

    assert "constant = np.eye(3)" in tape.source(y, x)
    assert "= np.arange(9.0)" in tape.source(z, x)
    assert ("x",) == parameters(tape.source(y, x)) == parameters(tape.source(z, x))
    assert ("x", "array") == parameters(tape.source(u, x))
    found = function_in(tape.source(y, x))(x.numpy())
    assert found[0] == y.numpy()
    np.testing.assert_array_equal(found[1], tape.gradient(y, x).numpy())
