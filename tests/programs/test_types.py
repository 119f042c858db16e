"""Types of values in functions that are traced: ``type(x)`` gives that of the array, from the first call on."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

SIZES = {np.ndarray: 2.0, np.float64: 3.0, tm.Tensor: 4.0}


def helper(x: Any) -> Any:
    """Another function that asks."""
    return x * 2 if type(x) is np.ndarray else x


class Layer:
    """A class with a name in its results."""

    def __call__(self, x: Any) -> Any:
        """Ask for the type of itself, and of an argument."""
        return x * len(type(self).__name__) * len(type(x).__name__)


layer = Layer()


def many(x: Any) -> Any:
    """Other uses of the built-in class."""
    made: Any = type("Made", (), {"k": 2.0})
    good = [isinstance(made, type), not isinstance(x, type), issubclass(type(made), type)]
    return x * made.k * (1.0 if all(good) and type(made) is type(int) else 3.0)


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: x * (2.0 if type(x) is np.ndarray else 3.0),
    lambda x: x * (2.0 if type(x) == np.ndarray else 3.0),  # noqa: E721
    lambda x: x * (2.0 if type(np.sum(x)) is np.float64 else 3.0),
    lambda x: x * (2.0 if type(x[0]) in (np.float64, float) else 3.0),
    lambda x: x * len(type(x).__name__),
    lambda x: x * SIZES[type(x)],
    lambda x: x * sum(2.0 for part in x if type(part) is np.float64),
    helper,
    lambda x: helper(x) + 1,
    layer,
    many,
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("make", [np.array, tm.constant])
def test_the_type_of_a_value_is_that_of_the_array(f: Any, make: Any) -> None:
    """There is a program, and no global name is left behind."""
    traced = tm.function(f)
    for k in range(4):
        x = make([k + 1.0, 2.0])
        assert np.array_equal(f(x), traced(x))
    assert traced.why_eager == ""
    assert traced.programs
    assert "type" not in globals()


def test_an_error_leaves_no_name_behind() -> None:
    """The name is taken away whatever happens."""

    def raises(x: Any) -> Any:
        raise KeyError(type(x).__name__)

    for _ in range(2):
        with pytest.raises(KeyError, match="ndarray"):
            tm.function(raises)(np.ones(2))
    assert "type" not in globals()


def test_a_name_of_the_users_own_is_left_alone(monkeypatch: Any) -> None:
    """It is no built-in class."""
    monkeypatch.setitem(globals(), "type", lambda _: 5.0)
    traced = tm.function(FUNCTIONS[0])
    for _ in range(3):
        assert np.array_equal(3.0 * np.ones(2), traced(np.ones(2)))
    assert traced.why_eager == ""


def test_another_thread_meanwhile() -> None:
    """It is answered as ever."""
    found: list[Any] = []

    def asks() -> None:
        found.append(helper(np.ones(2)))

    def waits(x: Any) -> Any:
        other = threading.Thread(target=asks)
        other.start()
        other.join()
        return helper(x)

    with warnings.catch_warnings(action="ignore"):
        tm.function(waits)(np.ones(2))
    assert np.array_equal(found[0], 2 * np.ones(2))
