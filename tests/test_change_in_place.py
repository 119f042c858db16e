"""Variables whose arrays are written into: only where nothing else reads them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tensor.variable import Variable, change_in_place, writable_array


def double(variable: Variable) -> Any:
    """Double a variable in place; the array that was written into."""
    found = []

    def change(array: Any) -> None:
        array *= 2
        found.append(array)

    change_in_place(variable, change)
    return found[0]


def test_a_variable_alone_keeps_its_array() -> None:
    """Nothing is copied, however often it was read and computed with before."""
    v = tm.Variable([1.0, 2.0])
    np.sum(v * v)
    with tm.GradientTape() as tape:
        loss = np.sum(v * v)
    tape.gradient(loss, v)
    first = id(double(v))

    assert id(double(v)) == first
    np.testing.assert_array_equal(v, [4.0, 8.0])


READERS: dict[str, Callable[[Variable], Any]] = {
    "a tensor of it": lambda v: v.read_value(),
    "a row": lambda v: v[0],
    "the transpose": lambda v: v.T,
    "a reshaped tensor": lambda v: np.reshape(v, -1),
    "a view without a copy": lambda v: np.asarray(v, copy=False),
    "an array": np.asarray,
    "numpy()": lambda v: v.numpy(),
    "dlpack": lambda v: np.from_dlpack(v) if hasattr(v, "__dlpack__") else v.numpy(),
    "an iterator": list,
    "the real part": np.real,
    "a thousand reads": lambda v: [v.read_value() for _ in range(1000)],
}


@pytest.mark.parametrize("reader", READERS)
def test_what_was_read_before_stays(reader: str) -> None:
    """Values, views and arrays made of the variable do not see the change."""
    v = tm.Variable([[1.0, 2.0], [3.0, 4.0]])
    read = READERS[reader](v)
    before = [np.array(x) for x in read] if isinstance(read, list) else np.array(read)
    double(v)

    np.testing.assert_array_equal(read, before)
    np.testing.assert_array_equal(v, [[2.0, 4.0], [6.0, 8.0]])


def test_saved_values_on_tapes_stay() -> None:
    """A persistent tape that recorded before the change differentiates at the old value, one after it at the new."""
    v = tm.Variable([1.0, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        first = np.sum(v * v)
        double(v)
        second = np.sum(v * v)

    np.testing.assert_array_equal(tape.gradient(first, v), [2.0, 4.0])
    np.testing.assert_array_equal(tape.gradient(second, v), [4.0, 8.0])


@pytest.mark.parametrize("value", [3.0, np.float32(3), np.float64(3)])
def test_a_number_stays_a_number(value: Any) -> None:
    """A variable without axes keeps its dtype, and the numbers that were read of it."""
    v = tm.Variable(value)
    before = v.read_value()
    double(v)

    assert (float(before), float(v), v.shape) == (3.0, 6.0, ())
    assert v.dtype == before.dtype
    assert repr(v + 1) == repr(tm.constant(7.0, v.dtype))


def test_a_given_array_is_not_written_into() -> None:
    """The array that the variable was made of, or assigned, is the user's."""
    given = np.ones(3)
    v = tm.Variable(given)
    double(v)
    v.assign(given)
    double(v)
    w = tm.Variable(v)
    double(w)

    assert given.tolist() == [1.0, 1.0, 1.0]
    assert v.numpy().tolist() == [2.0, 2.0, 2.0]


def test_a_read_only_array_is_copied() -> None:
    """Such as one that was given as a buffer of another owner."""
    v = tm.Variable([1.0, 2.0])
    writable_array(v).flags.writeable = False
    double(v)

    np.testing.assert_array_equal(v, [2.0, 4.0])


def test_an_error_on_the_way_leaves_a_readable_variable() -> None:
    """The variable may have a part of the change, and goes on."""
    v = tm.Variable([1.0, 2.0])

    def fail(array: Any) -> None:
        array[0] = 7.0
        raise KeyError

    with pytest.raises(KeyError):
        change_in_place(v, fail)
    double(v)
    assert v.numpy()[1] == 4.0


def test_another_thread_that_holds_the_value() -> None:
    """A tensor that another thread reads is not written into."""
    v, seen, ready, go = tm.Variable(np.ones(1000)), [], threading.Event(), threading.Event()

    def read() -> None:
        value = v.read_value()
        ready.set()
        go.wait()
        seen.append(value.numpy())

    thread = threading.Thread(target=read)
    thread.start()
    ready.wait()
    double(v)
    go.set()
    thread.join()
    assert np.all(seen[0] == 1)
