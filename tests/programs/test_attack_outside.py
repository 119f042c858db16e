"""What lies outside of a function under tm.function: errors it catches, settings, files, memory, identities."""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

table = {"scale": 2.0}
here = tm.constant([1.0, 2.0])
held = np.ones(2)
number = tm.Variable(1.0)


def scaled(x: Any, given: Any) -> Any:
    """A function for a partial one."""
    return x * given["scale"]


def quiet(f: Callable[..., Any], *args: Any) -> Any:
    """The result of a call whose warnings do not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*args)


def test_the_arguments_of_a_partial_function(monkeypatch: Any) -> None:
    """They are watched."""
    f = tm.function(functools.partial(scaled, given=table))
    for _ in range(3):
        assert 4.0 == f(tm.constant(2.0))
    monkeypatch.setitem(table, "scale", 3.0)
    for _ in range(3):
        assert 6.0 == f(tm.constant(2.0))
    assert f.programs


def observed(folder: Any) -> dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]]:
    """Functions of the world outside, and its changes."""
    path = str(folder / "numbers.npy")
    np.save(path, np.ones(2))
    return {
        "os.environ": (lambda x: x * float(os.environ["TEST_SCALE"]), lambda: os.environ.update(TEST_SCALE="3")),
        "files": (lambda x: x * np.load(path), lambda: np.save(path, np.zeros(2))),
        "folders": (
            lambda x: x * len(list(folder.iterdir())),
            lambda: np.save(str(folder / "another.npy"), here.numpy()),
        ),
        "interpreter": (
            lambda x: x * sys.getrecursionlimit(),
            lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1),
        ),
        "settings": (lambda x: x * float(np.geterr()["under"] == "raise"), lambda: np.seterr(under="raise")),
    }  # fmt: skip


@pytest.mark.parametrize("k", range(5))
def test_the_world_outside(k: int, tmp_path: Any, monkeypatch: Any) -> None:
    """Its changes are seen, or the function stays eager."""
    monkeypatch.setenv("TEST_SCALE", "2")
    limit, state = sys.getrecursionlimit(), np.geterr()
    f, change = list(observed(tmp_path).values())[k]
    g = tm.function(f)
    try:
        for _ in range(3):
            assert np.array_equal(f(here), quiet(g, here))
        change()
        for _ in range(3):
            assert np.array_equal(f(here), quiet(g, here))
    finally:
        sys.setrecursionlimit(limit)
        np.seterr(**state)


def warned(x: Any) -> Any:
    """Warns the user."""
    warnings.warn("large", UserWarning, stacklevel=2)
    return x * 2


def test_a_warning_of_the_users_own() -> None:
    """It is given at each call."""
    g = tm.function(warned)
    for _ in range(4):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            g(here)
        assert [1] == [1 for each in found if each.category is UserWarning]


def test_another_thread() -> None:
    """A function that asks for its thread gets the right one."""
    f = tm.function(lambda x: x * (threading.current_thread() is threading.main_thread()))
    found: list[Any] = []
    for _ in range(3):
        quiet(f, here)
    other = threading.Thread(target=lambda: found.append(quiet(f, here)))
    other.start()
    other.join()

    assert not np.any(found[0].numpy())


@pytest.mark.parametrize(
    "f",
    [
        lambda x, _: x * (2.0 if x.flags.writeable else 3.0),
        lambda x, _: x * x.strides[0],
        lambda x, _: x * (2.0 if x.base is None else 3.0),
        lambda x, y: x * (2.0 if np.shares_memory(x, y) else 3.0),
        lambda x, y: x * (2.0 if x is y else 3.0),
        lambda x, _: x * (2.0 if x is held else 3.0),
        lambda x, _: x * (2.0 if id(x) == id(held) else 3.0),
        lambda x, y: x * float(held[0]) * (2.0 if y is held else 3.0),
    ],
)
def test_memory_and_identity_of_arrays(f: Any) -> None:
    """They are no part of a signature, and make no difference."""
    g = tm.function(f)
    a, b, c = np.ones(2), np.ones(8)[::4], np.ones(2)
    c.flags.writeable = False
    for x, y in [
        (a, c),
        (a, c),
        (a, c),
        (b, c),
        (c, a),
        (a, a),
        (held, held),
        (c, held),
        (held, a),
    ]:
        for _ in range(2):
            assert np.array_equal(f(x, y), quiet(g, x, y))


def test_a_variable_that_is_another_one() -> None:
    """An argument is compared with what the function closes over."""
    g = tm.function(lambda v: v * (2.0 if v is number else 3.0))
    other = tm.Variable(1.0)
    for _ in range(2):
        for v in (other, other, other, number, number, number):
            assert (2.0 if v is number else 3.0) == g(v)
    assert 2 == len(g.programs)


class Pair:
    """An object with results."""

    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)
        self.first = parts[0]


def test_results_in_objects_and_lists() -> None:
    """No symbol is left in them, and what is one object stays one."""
    x, n = tm.constant(2.0), np.ones(2)
    f = tm.function(lambda x, n: Pair(n * 2, x * 3, x, lambda: n))
    for _ in range(3):
        found = quiet(f, x, n)
        assert type(found.first) is np.ndarray
        assert type(found.parts[1]._value) is np.float64
        assert found.parts[2] is x
        assert found.parts[3]() is n

    def twice(x: Any) -> Any:
        y = [x * 2]
        return y, y, y[0], {"y": y[0]}

    g = tm.function(twice)
    for _ in range(4):
        a, b, c, d = quiet(g, x)
        assert a is b
        assert a[0] is c
        assert c is d["y"]


def test_a_tape_that_is_returned() -> None:
    """It knows the caller's tensor."""

    def squared(x: Any) -> Any:
        with tm.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        return tape, y

    f = tm.function(squared)
    for k in range(4):
        x = tm.constant(float(k))
        tape, y = quiet(f, x)
        assert 2.0 * k == tape.gradient(y, x)
