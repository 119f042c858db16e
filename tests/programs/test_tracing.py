"""What is written down while a function is traced, and what leaves the trace."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.programs.program import Guard
from tapemagic.programs.tracing.trace import MAX_NODES, errstate_token
from tests.programs.interpreting import Once, plain, same_bits

X = np.array([1.0, -2.0, 3.0])
Y = np.array([-0.5, 4.0, 2.5])

# ruff: noqa: PLW0108 (the lambdas are the user's lines)

EXITS: dict[str, Callable[[Any], Any]] = {
    "float()": lambda x: float(x[0]),
    "int()": lambda x: int(x[0]),
    "complex()": lambda x: complex(x[0]),
    ".item()": lambda x: x[0].item(),
    ".tolist()": lambda x: x.tolist(),
    "np.asarray": lambda x: np.asarray(x),
    "repr()": lambda x: repr(x),
    "str()": lambda x: str(x),
    "format()": lambda x: f"{x[0]:.3f}",
    "pickle": lambda x: pickle.dumps(x),
    "hash()": lambda x: hash(x[0]),
    "x[i] = ...": lambda x: x.__setitem__(0, 5.0),
    "x[mask]": lambda x: x[x > 0],
    "x[a:b]": lambda x: x[: np.argmax(x)],
    "np.nonzero": lambda x: np.nonzero(x),
    "np.repeat with repeats= from numbers": lambda x: np.repeat(x, (x > 0).astype(int)),
    ".repeat() with a shape from numbers": lambda x: x.repeat((x > 0).astype(int)),
    "np.histogram": lambda x: np.histogram(x, bins="auto"),
    "np.copyto into an array": lambda x: np.copyto(x, 0.0),
    "np.add into an array": lambda x: np.add(x, 1.0, out=np.zeros(3)),
    "an operation in place on an array that has other names": lambda x: x.__iadd__(1.0),
    "warnings.catch_warnings()": lambda x: silently(lambda: x + 1),
}

IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "own array": lambda x: added(x * 2, 1.0),
    "another dtype": lambda x: added(x.astype(np.float32), np.full(3, 0.1)),
    "broadcast": lambda x: added(x[:, None] * np.ones((3, 2)), x[:, None]),
    "Fortran order": lambda x: np.sum(added(np.ones((2, 3)) * x, 1.0).T, axis=0),
    "with itself": lambda x: added_to_itself(x * 2),
    "clipped": lambda x: clipped(x * 2),
    "power": lambda x: (x * 2).__ipow__(2),
}

ALIASES: dict[str, Callable[[Any], Any]] = {
    "view": lambda x: view_kept(x * 2),
    "the whole through a view": lambda x: part_changed(x * 2),
    "real part": lambda x: real_changed(x * 1j),
    "broadcast plain array": lambda x: plain_changed(x),
    "axes permuted in memory": lambda x: sums_of_permuted(np.arange(3.0) * x),
}


def silently(call: Callable[[], Any]) -> Any:
    """The result of a call inside of catch_warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def added(y: Any, z: Any) -> Any:
    """Add in place."""
    y += z
    return y


def added_to_itself(y: Any) -> Any:
    """Double in place, under two names."""
    other = y
    y += y
    return y, other


def clipped(y: Any) -> Any:
    """Write into the array itself."""
    np.clip(y, 0, 3, out=y)
    return np.add(y, y, out=y)


def view_kept(y: Any) -> Any:
    """Change an array of which there is a view."""
    first = y[:2]
    y += 1.0
    return first, y


def part_changed(y: Any) -> Any:
    """Change a view of an array."""
    first = y[:2]
    first += 1.0
    return y


def real_changed(z: Any) -> Any:
    """Change the real part of an array."""
    real = z.real
    real += 1.0
    return z


def plain_changed(x: Any) -> Any:
    """Change a plain array that NumPy gives back."""
    zeros = np.zeros(3)
    _, whole = np.broadcast_arrays(x, zeros)
    here, _ = np.atleast_1d(zeros, x)
    here += x
    return zeros + x, whole * 1


def sums_of_permuted(x: Any) -> Any:
    """Change an array that is neither in C's nor in Fortran's order, as its sums show."""
    y = np.sin(
        np.transpose(np.reshape(np.outer(np.linspace(-3, 3, 1517 * 3), x), (37, 41, 9)), (1, 0, 2))
    )
    y += np.ones((41, 37, 9)) / 3
    return np.sum(y), np.sum(y, axis=(0, 1))


@pytest.mark.parametrize("how", EXITS)
def test_exits_leave_the_trace(how: str) -> None:
    """An exit is named, with the line; the computation goes on with the true value."""
    expected = plain(EXITS[how](X.copy()))
    once = Once(EXITS[how], X.copy())

    assert once.reasons[0] == how
    assert once.trace.reasons[0][1].file == __file__  # type: ignore[union-attr]
    if isinstance(expected, np.ndarray):
        assert same_bits(expected, once.found[0])


@pytest.mark.parametrize("how", IN_PLACE)
def test_operations_in_place(how: str) -> None:
    """An array that nobody else reads becomes another value."""
    once = Once(IN_PLACE[how], X)

    assert once.reasons == []
    for data in (X, Y):
        expected = IN_PLACE[how](data)
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert all(map(same_bits, expected, once.run(data)))


@pytest.mark.parametrize("how", ALIASES)
def test_operations_in_place_on_shared_memory(how: str) -> None:
    """Where memory has other names, the trace is left, and the values are NumPy's."""
    expected = ALIASES[how](X.copy())
    expected = expected if isinstance(expected, tuple) else (expected,)
    once = Once(ALIASES[how], X.copy())

    assert once.reasons
    assert all(map(same_bits, expected, once.found))


@pytest.mark.parametrize(
    "change",
    [
        lambda y: added(y, np.ones((2, 3))),
        lambda y: added(y, np.ones(y.size + 1)),
        lambda y: added(y.astype(int), 0.5),
        lambda y: np.multiply(y, np.ones(y.size + 1), out=y),
    ],
)
def test_errors_in_place_are_numpys(change: Callable[[Any], Any]) -> None:
    """An operation in place that NumPy refuses raises its error."""
    with pytest.raises((ValueError, TypeError)) as plain_error:
        change(X * 2)
    with pytest.raises(plain_error.type) as error:
        Once(lambda x: change(x * 2), X)
    assert str(error.value) == str(plain_error.value)


def test_branches_are_guarded() -> None:
    """A truth value in a condition is a guard; the engine adds none."""

    def slope(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = tm.softmax(x) @ tm.relu(x) if x[0] > 0 else x @ x
        return tape.gradient(y, x)

    once = Once(slope, tm.constant(X))

    assert [entry.expected for entry in once.trace.body if isinstance(entry, Guard)] == [True]
    assert once.reasons == []


def test_functions_that_look_at_numbers_are_one_call() -> None:
    """Masks, sums at indices and long sums of rows are one node each."""

    def slope(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(tm.relu(x[[0, 0, 1]]) * 2) + np.sum(x[0]) * x[1, 1] + x[0, 1] ** 2
        return tape.gradient(y, x)

    x = np.linspace(-1, 1, 9000).reshape(3, 3000)
    once = Once(slope, tm.constant(x))
    names = [getattr(entry.function, "__name__", "") for entry in once.trace.body]

    assert {"where_mask", "scatter_add", "with_added"} <= set(names)
    assert not any(isinstance(entry, Guard) for entry in once.trace.body)
    assert same_bits(plain(slope(tm.constant(x[::-1].copy()))), once.run(x[::-1].copy())[0])


def test_traced_indices_are_read() -> None:
    """Indices that were computed select the elements of other numbers, and their gradients."""

    def slope(table: Any, x: Any) -> Any:
        k = np.argmax(x)
        with tm.GradientTape() as tape:
            tape.watch(table)
            y = table[k] * 3 + np.take(table, [0, 1]) @ x[:2] + table[np.argsort(x.numpy())] @ x
        return y, tape.gradient(y, table)

    once = Once(slope, tm.constant(X), tm.constant(Y))

    assert once.reasons == []
    for data in (Y, X):
        expected = map(plain, slope(tm.constant(X), tm.constant(data)))
        assert [x.tolist() for x in expected] == [x.tolist() for x in once.run(X, data)]


def test_python_numbers_stay_weak() -> None:
    """A count is a Python number in programs, too: it does not widen single precision."""

    def share(x: Any) -> Any:
        n = np.count_nonzero(x > 0)
        return x * n / (n + 1), n // 2, np.allclose(x, x)

    single = X.astype(np.float32)
    once = Once(share, single)

    assert once.reasons == []
    for data in (single, -single):
        assert [*map(type, once.run(data))] == [*map(type, share(data))]
        assert same_bits(share(data)[0], once.run(data)[0])


def test_power_of_scalars_is_pythons() -> None:
    """The operator on NumPy scalars is another algorithm than the ufunc."""

    def powers(x: Any) -> Any:
        return x**2.3, np.power(x, 2.3), np.float64(3) ** x, np.power(np.float64(3), x)

    once = Once(powers, np.float64(1.7))
    assert [*map(float, powers(np.float64(0.3)))] == [*map(float, once.run(np.float64(0.3)))]


def test_constants_are_what_they_were() -> None:
    """A plain array that is used, changed and used again is two constants, whatever its layout."""

    def run(x: Any) -> Any:
        part = np.arange(6.0)[::2]
        y = x + part
        y = y * part
        part[0] = 5.0
        return y - part

    assert same_bits(run(Y), Once(run, X).run(Y)[0])


def test_error_states_are_noted() -> None:
    """A call under np.errstate has it, where it is another one than at the start."""

    def logarithm(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            y = np.log(x)
        return y * 2

    states = [entry.errstate for entry in Once(logarithm, X + 2.0).trace.body]
    assert [state and state["divide"] for state in states] == ["ignore", None]


def test_handling_of_errors_is_one_object_until_it_changes() -> None:
    """Of blocks and of calls, also of those that change it back."""
    before, seen = errstate_token(), []
    with np.errstate(over="ignore"):
        seen.append(errstate_token())
        assert errstate_token() is seen[0]
        old = np.seterr(over="warn")
        seen.append(errstate_token())
        np.seterr(**old)
        seen.append(errstate_token())
    assert errstate_token() is before
    assert len({id(x) for x in (before, *seen)}) == 4


def test_error_states_that_are_set_and_set_back_are_noted() -> None:
    """A state that is equal to the first one again is none of its own."""

    def logarithm(x: Any) -> Any:
        old = np.seterr(divide="ignore")
        y = np.log(x)
        np.seterr(**old)
        return y * 2

    with np.errstate():
        states = [entry.errstate for entry in Once(logarithm, X + 2.0).trace.body]
    assert [state and state["divide"] for state in states] == ["ignore", None]


def test_variables_made_inside() -> None:
    """A Variable made and assigned inside holds computed values."""

    def run(x: Any) -> Any:
        v = tm.Variable(x * 2)
        v.assign_add(x)
        return v * 1.0

    once = Once(run, tm.constant(X))
    assert once.reasons == []
    assert same_bits(plain(run(tm.constant(Y))), once.run(Y)[0])


def test_symbols_that_outlive_the_trace_are_plain_values() -> None:
    """A leaked value computes as an array does, and writes nothing down."""
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        kept.append(x * 2)
        return x

    once = Once(keep, tm.constant(X))
    size = len(once.trace.body)
    y = kept[0]

    with tm.GradientTape() as tape:
        tape.watch(y)
        z = np.sum(np.sin(y) * y[[0, 0, 2]])
    expected = np.sum(np.sin(X * 2) * (X * 2)[[0, 0, 2]])
    assert float(z) == expected
    assert tape.gradient(z, y).shape == (3,)
    assert same_bits(np.asarray(copy.deepcopy(y)), X * 2)
    assert len(once.trace.body) == size


def test_another_thread_writes_nothing_down() -> None:
    """A value used on another thread is a plain one there."""
    found: list[Any] = []

    def run(x: Any) -> Any:
        thread = threading.Thread(target=lambda: found.append(np.sum(x * 2)))
        thread.start()
        thread.join()
        return x + 1

    assert len(Once(run, X).trace.body) == 1
    assert found == [np.sum(X * 2)]


def test_too_many_operations() -> None:
    """Above the cap the trace is left, and the value is right."""

    def run(x: Any) -> Any:
        for _ in range(MAX_NODES + 5):
            x = x + 1.0
        return x

    once = Once(run, np.float64(0))
    assert once.reasons == [f"more than {MAX_NODES:,} operations"]
    assert once.found == [MAX_NODES + 5]
