"""SEMANTICS section 14: memory; the garbage collector is off, so no cycle would be freed."""

from __future__ import annotations

import tracemalloc
import weakref

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape import base_tape as memory
from tests.conformance.programs import raised_by

LARGE = 100_000

pytestmark = pytest.mark.usefixtures("no_collector")


def large(value: float = 1.0) -> tm.Tensor:
    """A tensor of 800 kB."""
    return tm.constant(np.full(LARGE, value))


def array_of(tensor: tm.Tensor) -> weakref.ref[np.ndarray]:
    """A weak reference to the array inside a tensor."""
    return weakref.ref(tensor._value)


@pytest.mark.parametrize("persistent", [False, True])
def test_first_gradient(persistent: bool) -> None:
    """Non-persistent: intermediates freed by the first gradient. Persistent: with the tape."""
    x = large()
    with tm.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = np.exp(x)
        z = np.sum(y * y)
    saved = array_of(y)
    del y
    before = saved() is not None
    tape.gradient(z, x)
    after = saved() is not None
    del tape, z

    assert [before, after, saved() is not None] == [True, persistent, False]


def test_consumed_tape_holds_nothing() -> None:
    """Non-persistent: after the gradient the tape has no records, and does not hold its sources."""
    x = large()
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(np.sin(x) * x)
    tape.gradient(y, x)
    source = array_of(x)
    del x, y

    assert tape.records == ()
    assert source() is None


def test_gradient_inside_frees_too() -> None:
    """Non-persistent: a gradient in the tape's own block frees as well."""
    x = large()
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.exp(x)
        saved = array_of(y)
        tape.gradient(y, x)
        del y

        assert saved() is None


def test_reset_frees() -> None:
    """reset lets go of everything that was recorded."""
    x = large()
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = np.exp(x)
        saved = array_of(y)
        del y
        tape.reset()

        assert saved() is None


def test_unwatched_operations() -> None:
    """Unwatched ops are never retained."""
    x, c = large(), large()
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.exp(c) * c
        saved = array_of(y)
        with tape.stop_recording():
            z = np.exp(x)
        stopped = array_of(z)
        del y, z

        assert tape.records == ()
        assert [saved(), stopped()] == [None, None]


def test_whole_numbers_are_not_retained() -> None:
    """Unwatched ops are never retained: nor are results that have no derivative."""
    x = large()
    with tm.GradientTape() as tape:
        tape.watch(x)
        ranks, masks, steps = np.argsort(x), x > 0.5, np.floor(x)

        held = [value for record in tape.records for value in (*record.values, record.output)]
        assert not any(isinstance(value, np.ndarray) for value in held)
    assert ranks.shape == masks.shape == steps.shape


def test_sums_hold_no_arrays() -> None:
    """A long chain of additions holds no arrays: their rules read no values."""
    x = large()
    tracemalloc.start()
    try:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(100):
                y = y + x - 1.0
        held, peak = tracemalloc.get_traced_memory()
        g = tape.gradient(y, x)
    finally:
        tracemalloc.stop()

    assert len(tape.records) == 0
    assert held < 2 * x.nbytes
    assert peak < 4 * x.nbytes
    assert g.numpy().tolist() == [101.0] * LARGE


def test_only_what_rules_read() -> None:
    """A record keeps what its rules read: a product its factors, exp its result, a sum neither."""
    x, c = large(), large(2.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        total = x + c
        product = total * c
        power = np.exp(product)
        result = np.sum(power)
    kept = [array_of(value) for value in (total, product, power)]
    del total, product, power

    assert [array() is not None for array in kept] == [False, False, True]
    assert float(result) == pytest.approx(LARGE * np.exp(6.0))


def test_constants_are_shared() -> None:
    """A constant tensor that a record reads is not copied: it cannot change."""
    x, c = large(), large(2.0)
    tracemalloc.start()
    try:
        with tm.GradientTape() as tape:
            tape.watch(x)
            results = [np.sum(x * c) for _ in range(10)]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(results) == 10
    assert held < x.nbytes


def test_dead_results() -> None:
    """While recording, an op whose outputs all died is dropped, with all that only it held."""
    x = large()
    with tm.GradientTape() as tape:
        tape.watch(x)
        alive = np.sum(np.sin(x))
        dead = np.exp(np.cos(x) * x)
        saved = array_of(dead)
        del dead
        names = [record.operation.name for record in tape.records]
        tape._drop_dead()
        left = [record.operation.name for record in tape.records]

    assert names == ["sin", "sum", "cos", "multiply", "exp"]
    assert left == ["sin", "sum"]
    assert saved() is None
    assert np.array_equal(tape.gradient(alive, x), np.cos(x.numpy()))


def test_dead_results_of_several_outputs() -> None:
    """An op of several outputs is dropped when all of them died, and kept while one lives."""
    x = large()
    with tm.GradientTape() as tape:
        tape.watch(x)
        first, second = np.split(x * 2.0, 2)
        del second
        tape._drop_dead()
        kept = len(tape.records)
        del first
        tape._drop_dead()

        assert kept > 0
        assert tape.records == ()


def test_dead_small_results_are_dropped_in_time() -> None:
    """Dropping happens by itself: a loop that throws its results away stays small."""
    x = tm.constant(1.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        longest = 0
        for _ in range(30_000):
            x * 2.0 + 1.0
            longest = max(longest, len(tape._records))

    assert longest < 15_000
    assert float(tape.gradient(y, x)) == 2.0


def test_dead_large_results_are_dropped_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropping happens by itself: large arrays count by their weight."""
    monkeypatch.setattr(memory, "PRUNE_AFTER_BYTES", 10 * 8 * LARGE)
    x = large(0.5)
    tracemalloc.start()
    try:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(np.exp(x))
            for _ in range(100):
                np.sum(np.exp(x))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 25 * x.nbytes
    assert np.array_equal(tape.gradient(y, x), np.exp(x.numpy()))


def test_dropping_under_two_tapes() -> None:
    """What one tape drops, another that still needs it keeps."""
    x = large()
    with tm.GradientTape() as outer:
        outer.watch(x)
        with tm.GradientTape() as inner:
            inner.watch(x)
            y = np.sum(x * x * x)
            inner._drop_dead()
            outer._drop_dead()
        g = inner.gradient(y, x)
        outer._drop_dead()

    assert np.array_equal(g, np.full(LARGE, 3.0))
    assert np.array_equal(outer.gradient(g, x), np.full(LARGE, 6.0))


def test_no_cycles() -> None:
    """Memory falls when the name falls: tapes, tensors and variables are in no reference cycle."""

    def work() -> list[weakref.ref[object]]:
        v, x = tm.Variable(np.ones(LARGE)), large()
        with tm.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tm.GradientTape() as inner:
                y = np.sum(np.exp(v * x))
            g = inner.gradient(y, v)
            with outer.stop_recording():
                z = np.sum(g * g)
            h = outer.gradient(y, [v, x])
            v.assign_add(h[0])
        outer.gradient(g, x)
        return [weakref.ref(thing) for thing in (v, x, outer, inner, y, g, z, *h)]

    assert [thing() for thing in work()] == [None] * 9


def test_no_cycles_after_errors() -> None:
    """Memory falls when the name falls: also after an exception in the block."""

    def work() -> list[weakref.ref[object]]:
        x = large()
        tape = tm.GradientTape()
        try:
            with tape:
                tape.watch(x)
                y = np.exp(x)
                raise KeyError
        except KeyError:
            pass
        raised_by(lambda: tape.gradient(y, None))
        return [weakref.ref(thing) for thing in (x, tape, y)]

    assert [thing() for thing in work()] == [None] * 3


def test_gradients_do_not_hold_the_tape() -> None:
    """A gradient that outlives its tape holds no record of it."""
    x = large()
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = np.exp(x)
    saved, forgotten = array_of(y), weakref.ref(tape)
    g = tape.gradient(np.sum(y), x), tape.gradient(y, x)
    del tape, y

    assert g[0] is None
    assert [saved(), forgotten()] == [None, None]


def test_nested_gradients_copy_no_constants() -> None:
    """A constant that an inner gradient reads stands on the outer tape as it is."""
    x, w = large(3.0), large(2.0)
    with tm.GradientTape() as outer:
        outer.watch(x)
        with tm.GradientTape() as inner:
            inner.watch(x)
            y = np.sum(np.sin(x * w))
        inner.gradient(y, x)

    arrays = [value for record in outer.records for value in record.values if np.shape(value)]
    equal = [value for value in arrays if np.all(value == 2.0)]
    assert len(equal) > 1
    assert all(value is w._value for value in equal)
