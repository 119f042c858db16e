"""The set of live tapes belongs to a thread, and to an asyncio task."""

from __future__ import annotations

import asyncio
import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, Thread
from typing import Any
from weakref import ref

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.recording import live, open_blocks
from tapemagic.programs.tracing.trace import tracing


def in_thread(work: Any) -> Any:
    """What `work` returns, run on a thread of its own."""
    results = []
    thread = Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def test_other_threads_are_not_recorded() -> None:
    """An operation on another thread than the one that entered the tape is not recorded."""
    x, v = tm.constant(3.0), tm.Variable(2.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = in_thread(lambda: x * v)

    assert tape.records == ()
    assert tape.watched_variables() == ()
    assert tape.gradient(y, [x, v]) == [None, None]


def test_other_threads_see_no_tapes() -> None:
    """A new thread starts without tapes, and what it enters does not reach this one."""
    with tm.GradientTape() as tape:
        seen = in_thread(live)
        here = live()

    assert seen == ()
    assert here == (tape,)


def test_a_thread_that_leaves_a_tape_open() -> None:
    """A tape left open on a thread that ended is not live anywhere else."""
    in_thread(lambda: tm.GradientTape().__enter__())

    assert live() == ()


@pytest.mark.parametrize("first", [0, 1])
def test_blocks_of_threads_end_in_any_order(first: int) -> None:
    """Each block takes its own tape, or its trace, from the list of all, and no other's."""
    before = [*open_blocks]  # another test leaves a tape open
    tapes = [tm.GradientTape(), tm.GradientTape()]
    for tape in tapes:
        tape.__enter__()
    tapes[first].__exit__(None, None, None)
    assert [*before, ref(tapes[1 - first])] == open_blocks
    tapes[1 - first].__exit__(None, None, None)

    with tracing():
        other = tm.GradientTape()
        in_thread(other.__enter__)
    assert [*before, ref(other)] == open_blocks
    other.__exit__(None, None, None)
    assert before == open_blocks


def test_a_tape_left_open_on_a_thread_is_not_kept() -> None:
    """The list of all open blocks keeps no recording alive, and nothing of one that is freed."""
    gc.collect()
    before = [*open_blocks]
    left = in_thread(lambda: ref(tm.GradientTape().__enter__()))

    gc.collect()

    assert left() is None
    assert before == open_blocks


def test_gradient_on_another_thread() -> None:
    """A tape that was closed can be differentiated on any thread."""
    x = tm.constant(3.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x * x

    assert float(in_thread(lambda: tape.gradient(y, x))) == 6.0


def test_the_thread_that_enters_records() -> None:
    """A tape made here and entered on another thread records that thread."""
    x = tm.constant(3.0)
    tape = tm.GradientTape()

    def work() -> Any:
        with tape:
            tape.watch(x)
            return x * x

    y = in_thread(work)

    assert float(tape.gradient(y, x)) == 6.0


def test_a_task_that_outlives_the_block() -> None:
    """A task that was started in the block and runs on after it records nothing more."""

    async def main() -> tuple[tm.GradientTape, Any, Any]:
        x = tm.constant(3.0)
        gate = asyncio.Event()

        async def late() -> Any:
            await gate.wait()
            return x * x

        with tm.GradientTape() as tape:
            tape.watch(x)
            task = asyncio.create_task(late())
            await asyncio.sleep(0)
        gate.set()
        return tape, await task, x

    tape, y, x = asyncio.run(main())

    assert tape.gradient(y, x) is None


def test_many_threads_at_once() -> None:
    """Threads that record at the same time, on a shared source, do not disturb each other."""
    count, barrier = 4, Barrier(4)
    x, v = tm.constant(np.linspace(0.1, 1.0, 5)), tm.Variable(2.0)

    def work(power: int) -> list[Any]:
        barrier.wait()
        found = []
        for _ in range(50):
            with tm.GradientTape() as tape:
                tape.watch(x)
                y = v * x
                for _ in range(power):
                    y = y * x
            found.append(tape.gradient(y, [x, v]))
        return found

    with ThreadPoolExecutor(count) as pool:
        results = list(pool.map(work, range(count)))

    for power, found in enumerate(results):
        for gx, gv in found:
            np.testing.assert_allclose(gx, 2.0 * (power + 1) * x.numpy() ** power, rtol=1e-13)
            np.testing.assert_allclose(gv, np.sum(x.numpy() ** (power + 1)), rtol=1e-13)


def test_interleaved_tasks() -> None:
    """Tasks that take turns inside their blocks each record their own operations only."""

    async def work(x: tm.Tensor) -> tuple[int, float]:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            await asyncio.sleep(0)
            only_mine = live() == (tape,)
            z = y * x
            await asyncio.sleep(0)
        return only_mine, len(tape.records), float(tape.gradient(z, x))

    async def both() -> list[Any]:
        return await asyncio.gather(work(tm.constant(2.0)), work(tm.constant(3.0)))

    assert asyncio.run(both()) == [(True, 2, 12.0), (True, 2, 27.0)]


def test_awaited_functions_are_recorded() -> None:
    """What a block awaits is part of the block, directly or as a task."""

    async def square(x: tm.Tensor) -> tm.Tensor:
        await asyncio.sleep(0)
        return x * x

    async def work() -> list[Any]:
        x = tm.constant(3.0)
        with tm.GradientTape() as tape:
            tape.watch(x)
            a = await square(x)
            b, c = await asyncio.gather(square(a), square(x))
        return tape.gradient([a, b, c], x)

    assert float(asyncio.run(work())) == 6.0 + 4 * 27.0 + 6.0


def test_a_task_keeps_its_tapes_to_itself() -> None:
    """A tape entered in a task is not live in the one that started it."""

    async def child() -> None:
        tm.GradientTape().__enter__()

    async def parent() -> tuple[Any, ...]:
        await asyncio.create_task(child())
        return live()

    assert asyncio.run(parent()) == ()


def test_a_block_that_is_left_on_another_thread() -> None:
    """A generator that enters a tape here and fails on another thread leaves no tape behind here."""
    x, v = tm.constant(2.0), tm.Variable(3.0)
    before = len(open_blocks)

    def steps() -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            yield tape
            raise RuntimeError

    generator = steps()
    tape = next(generator)

    def fail() -> None:
        with suppress(RuntimeError):
            next(generator)

    in_thread(fail)
    y = x * v
    with tm.GradientTape() as other:
        other.watch(x)
        z = x * x

    assert live() == ()
    assert tape.watched_variables() == ()
    assert tape.records == ()
    assert tape.gradient(y, x) is None
    assert 4.0 == other.gradient(z, x)
    with tape:
        assert live() == (tape,)
        assert before + 1 == len(open_blocks)
    assert before == len(open_blocks)


def test_a_block_that_is_left_twice() -> None:
    """It counts as one among the open blocks, wherever it ended first."""
    before = len(open_blocks)
    tape = tm.GradientTape()
    with tape:
        in_thread(lambda: tape.__exit__(None, None, None))
        assert before == len(open_blocks)
    assert live() == ()
    assert before == len(open_blocks)


def test_a_block_that_ends_on_another_thread_is_forgotten() -> None:
    """A generator that leaves its tape's block on another thread leaves nothing live here once a tape is entered."""

    def steps() -> Any:
        with tm.GradientTape() as tape:
            yield tape

    generator = steps()
    next(generator)
    in_thread(lambda: list(generator))
    with tm.GradientTape() as other:
        assert live() == (other,)
    assert live() == ()


@pytest.mark.parametrize("shape", [(), (3,)])
def test_updates_by_programs_on_many_threads(shape: tuple[int, ...]) -> None:
    """A program reads Variables and assigns them, all at once: no update is lost, whatever form it has."""
    total, count, latest = tm.Variable(np.zeros(shape)), tm.Variable(0.0), tm.Variable(0.0)

    @tm.function
    def step(x: Any, counted: Any) -> Any:
        total.assign_add(x * np.ones(shape))
        counted.assign(counted + 1.0)
        latest.assign(x)
        return counted * 2.0

    calls, threads = 1500, 8
    one, start, results = tm.constant(1.0), Barrier(threads), []
    for _ in range(4):
        step(one, count)
    assert not step.why_eager
    total.assign(np.zeros(shape))
    count.assign(0.0)

    def work() -> None:
        start.wait()
        results.extend([float(step(one, count)) for _ in range(calls)])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)

    np.testing.assert_array_equal(total.numpy(), np.full(shape, calls * threads))
    assert float(count) == calls * threads
    # Each call saw a state of its own.
    assert sorted(results) == [2.0 * (k + 1) for k in range(calls * threads)]
