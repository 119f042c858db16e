"""A tape on two threads: a precise error where one would disturb the other, right numbers elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.recording import live
from tapemagic.errors import TapeStateError
from tests.conformance.programs import raised_by

both = pytest.mark.parametrize("persistent", [False, True])


def in_thread(work: Callable[[], Any]) -> Any:
    """What `work` returns, or raises, on a thread of its own."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 (handed over to the test's thread)
            results.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def recorded(persistent: bool = False) -> tuple[tm.GradientTape, tm.Variable, tm.Tensor]:
    """A tape that recorded y = x**3 at 2: the gradient is 12."""
    x = tm.Variable(2.0)
    with tm.GradientTape(persistent) as tape:
        y = x * x * x
    return tape, x, y


ELSEWHERE: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "entering": (lambda tape, _y, _x: tape.__enter__(), "entering it must wait"),
    "a gradient": (lambda tape, y, x: tape.gradient(y, x), "a gradient must wait"),
    "a Jacobian": (lambda tape, y, x: tape.jacobian(y, x), "a gradient must wait"),
    "watching": (lambda tape, _y, x: tape.watch(x), "watch() must wait"),
    "a pause": (lambda tape, _y, _x: tape.stop_recording().__enter__(), "stop_recording() must wait"),
    "a reset": (lambda tape, _y, _x: tape.reset(), "reset() must wait"),
}  # fmt: skip


@both
@pytest.mark.parametrize("case", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_another_thread_while_recording(case: Any, persistent: bool) -> None:
    """A tape that records one thread is not to be disturbed by another."""
    call, words = case
    x, stranger = tm.Variable(2.0), tm.constant(1.0)
    with tm.GradientTape(persistent) as tape:
        y = x * x
        error, others = in_thread(lambda: (raised_by(lambda: call(tape, y, stranger)), live()))
        here = live()
        z = y * x

    assert type(error) is TapeStateError
    assert "Tape is still recording on another thread: " + words in str(error)
    assert "until its 'with' block is left; to record here, create a GradientTape" in str(error)
    assert (others, here, live()) == ((), (tape,), ())
    assert float(tape.gradient(z, x)) == 12.0


@both
def test_another_thread_with_a_tape_of_its_own(persistent: bool) -> None:
    """The same where the other thread is recording something as well."""
    x = tm.Variable(2.0)

    def work() -> Any:
        with tm.GradientTape() as mine:
            z = x * x
            error = raised_by(lambda: outer.gradient(y, x))
        return error, float(mine.gradient(z, x))

    with tm.GradientTape(persistent) as outer:
        y = x * x * x
        error, gradient = in_thread(work)

    assert type(error) is TapeStateError
    assert gradient == 4.0
    assert float(outer.gradient(y, x)) == 12.0


@both
def test_another_thread_after_the_block(persistent: bool) -> None:
    """A closed tape gives gradients, and can be entered again, wherever it is."""
    tape, x, y = recorded(persistent)

    def again() -> Any:
        with tape:
            return x * x

    assert float(in_thread(lambda: tape.gradient(y, x))) == 12.0
    assert in_thread(lambda: tape.jacobian(y, x).shape if persistent else ()) == ()
    z = in_thread(again)
    assert float(tape.gradient(z, x)) == 4.0


def test_operations_of_another_thread() -> None:
    """They are constants for the tape, and the variables that they read are not watched."""
    x, v = tm.Variable(2.0), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = x * x
        z = in_thread(lambda: y * v)
        total = y + z

    assert tape.watched_variables() == (x,)
    assert len(tape.records) == 2
    assert float(tape.gradient(total, x)) == 4.0


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as Python lets them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@tm.custom_gradient
def cubed(x: Any) -> Any:
    """The third power, with a gradient of its own."""
    return x * x * x, lambda upstream: upstream * (3.0 * x * x)


@tm.recompute_grad
def waves(x: Any) -> Any:
    """A sine of sines, which is computed again."""
    return np.sin(np.sin(x))


@pytest.mark.usefixtures("hasty")
def test_one_persistent_tape_for_many_threads() -> None:
    """Threads that ask one tape at once get the numbers that one gets alone."""
    count = 4
    x, w = tm.Variable([0.5, -1.0, 2.0]), tm.Variable([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    with tm.GradientTape(persistent=True) as tape:
        h = cubed(x) + waves(x) * x[::-1]
        parts = np.split(np.sort(w @ h), 2)
        y = parts[0] * parts[1] + np.max(h)

    def ask() -> list[Any]:
        gradients = tape.gradient(y, [x, w, h])
        return [g.tolist() for g in [*gradients, tape.jacobian(h, x)]]

    expected = ask()
    barrier = Barrier(count)

    def work(_: int) -> bool:
        barrier.wait()
        return all(ask() == expected for _ in range(40))

    with ThreadPoolExecutor(count) as pool:
        assert list(pool.map(work, range(count))) == [True] * count


@pytest.mark.usefixtures("hasty")
def test_threads_that_fail() -> None:
    """What goes wrong on one thread does not reach the tape of another."""
    count = 4
    barrier = Barrier(count)

    def once(x: tm.Variable) -> Any:
        with tm.GradientTape() as tape:
            y = cubed(x)
            raised_by(lambda: tape.gradient(y, "x"))
            raised_by(lambda: np.add(x, None))
        return float(tape.gradient(y, x)), live()

    def work(k: int) -> bool:
        x = tm.Variable(float(k))
        barrier.wait()
        return all(once(x) == (3.0 * k**2, ()) for _ in range(50))

    with ThreadPoolExecutor(count) as pool:
        assert list(pool.map(work, range(count))) == [True] * count


def test_a_gradient_in_a_task() -> None:
    """A task of the block may ask for the gradient; the block is left as it should be."""

    async def main() -> Any:
        x = tm.Variable(2.0)

        async def ask() -> Any:
            return tape.gradient(y, x)

        with tm.GradientTape() as tape:
            y = x * x
            gradient = await asyncio.create_task(ask())
        return float(gradient), live()

    assert asyncio.run(main()) == (4.0, ())
