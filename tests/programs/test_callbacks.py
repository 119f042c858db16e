"""Functions of the user's that NumPy calls: what they do is not written down, so that the function stays eager."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

pytestmark = pytest.mark.filterwarnings("ignore::tapemagic.errors.EagerWarning")

weight = tm.Variable(1.0)
counts = np.ones(1)
calls = {"count": 0}


def reads(t: Any) -> Any:
    """Read a Variable that may have been assigned in the same call."""
    return t * weight.numpy()


def assigns(t: Any) -> Any:
    """Assign a Variable that is read later in the same call."""
    weight.assign_add(1.0)
    return t


def writes(t: Any) -> Any:
    """Change an array that is read before and after."""
    counts[0] += 1.0
    return t


def counted(t: Any) -> Any:
    """Do something else at each call."""
    calls["count"] += 1
    return t * calls["count"]


class Counted:
    """An object that can be called."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, t: Any) -> Any:
        """Count the calls."""
        self.count += 1
        return t * self.count


def with_pieces(g: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that gives `g` to NumPy, which calls it where a number is below 1 alone."""

    def f(x: Any) -> Any:
        before = counts * 2.0
        weight.assign_add(1.0)
        y = np.piecewise(x, [x < 1.0, x >= 1.0], [g, 0.0])
        return y * weight.numpy() + counts * 2.0 - before

    return f


SHIFTS = (5.0, 5.0, 5.0, 0.0, 0.0, 5.0, 0.0)
"""Whether the function is not called, as in both traces, or is."""


def outcomes(f: Callable[[Any], Any]) -> list[Any]:
    """The results of calls, from one state on."""
    weight.assign(1.0)
    counts[0] = 1.0
    calls["count"] = 0
    found = [f(np.arange(4.0) + shift + 0.5).tolist() for shift in SHIFTS]
    return [*found, weight.numpy(), counts[0], calls["count"]]


MAKERS: dict[str, Callable[[], Any]] = {
    "reads": lambda: reads,
    "assigns": lambda: assigns,
    "writes": lambda: writes,
    "counted": lambda: counted,
    "a lambda": lambda: lambda t: assigns(t),  # noqa: PLW0108
    "an object": Counted,
    "a method": lambda: Counted().__call__,
    "a partial function": lambda: functools.partial(counted),
}


@pytest.mark.parametrize("name", MAKERS)
def test_what_it_does_is_done_when_it_is_called(name: str) -> None:
    """Also if it was not called while the function was traced."""
    f = tm.function(with_pieces(MAKERS[name]()))
    assert outcomes(with_pieces(MAKERS[name]())) == outcomes(f)
    assert not f.programs
    assert "a function that NumPy calls cannot be part of a program (line" in f.why_eager


def test_functions_of_numpys_own() -> None:
    """They compute and no more, and are parts of programs."""
    total = functools.partial(np.sum, axis=0)

    @tm.function
    def f(x: Any) -> Any:
        return np.apply_along_axis(total, 0, x) + np.apply_along_axis(np.sum, 0, x)

    for k in range(3):
        x = np.arange(6.0).reshape(2, 3) + k
        assert np.array_equal(2.0 * x.sum(0), f(x))
    assert len(f.programs) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda g, x: [g(x), g(x)],
        lambda g, x: g(x).astype(float),
        lambda g, x: g(x[0]),
        lambda g, x: g(x, out=np.zeros(3, object)),
    ],
)
def test_ufuncs_of_python(use: Callable[[Any, Any], Any]) -> None:
    """What np.frompyfunc makes calls a function for each element."""

    def made() -> Any:
        one = Counted()
        g = np.frompyfunc(one, 1, 1)
        return lambda x: use(g, x)

    plain, f = made(), tm.function(made())
    for k in range(4):
        x = np.arange(3.0) + k
        assert str(plain(x)) == str(f(x))
    assert not f.programs
    assert "a function of np.frompyfunc cannot be part of a program (line" in f.why_eager
