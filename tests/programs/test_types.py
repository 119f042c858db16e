"""Functions that call ``type(x)`` of a value stay eager; ``type(self)`` is no obstacle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.programs.function import Function

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
    """The numbers are right, and the reason has its line."""
    traced = Function(f, warns=False)
    for k in range(4):
        x = make([k + 1.0, 2.0])
        assert np.array_equal(f(x), traced(x))
    assert traced.why_eager.startswith(
        "it uses type(x), which tells a traced array from others (line "
    )


def test_a_name_of_the_users_own_is_left_alone(monkeypatch: Any) -> None:
    """It is no built-in class."""
    monkeypatch.setitem(globals(), "type", lambda _: 5.0)
    traced = tm.function(FUNCTIONS[0])
    for _ in range(3):
        assert np.array_equal(3.0 * np.ones(2), traced(np.ones(2)))
    assert traced.why_eager == ""


class Named:
    """A class whose name decides."""

    def __call__(self, x: Any) -> Any:
        """Ask for the type of the object itself."""
        return x * len(type(self).__name__)


def test_the_type_of_self_is_known() -> None:
    """It is that of an object which is watched."""
    traced = tm.function(Named())
    for _ in range(3):
        assert np.array_equal(5.0 * np.ones(2), traced(np.ones(2)))
    assert traced.programs
