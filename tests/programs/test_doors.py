"""Doors out of a trace: what can be done with an array, and not with what stands for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

LOG: list[Any] = []


def outcome(f: Callable[..., Any], *args: Any) -> str:
    """What comes of a call, or its error, and of its arguments."""
    with warnings.catch_warnings(action="ignore"):
        try:
            found = repr(f(*args))
        except Exception as error:  # noqa: BLE001 (any)
            found = repr(error)
    return f"{found} {args}"


def reshapes(x: Any) -> Any:
    """Change the shape of an array of its own."""
    y = x.copy()
    y.shape = (3, 1)
    return y


def reshapes_the_caller_s(x: Any) -> Any:
    """Change the shape of an argument."""
    x.shape = (3, 1)
    return x


def reinterprets(x: Any) -> Any:
    """Change the dtype."""
    y = x.copy()
    y.dtype = np.int64
    return y


def real(x: Any) -> Any:
    """Write into the real part."""
    y = x + 0j
    y.real = 2.0
    y.imag = x
    return y


def flat(x: Any) -> Any:
    """Write into all elements."""
    x.flat = 2.0
    return x


def strides(x: Any) -> Any:
    """Change the distances of elements in memory."""
    y = x.copy()
    y.strides = (0,)
    return y


def deletes(x: Any) -> Any:
    """Catch what an array raises."""
    try:
        del x[0]
    except ValueError:
        return x * 2
    return x


DOORS: list[Callable[[Any], Any]] = [
    reshapes,
    reshapes_the_caller_s,
    reinterprets,
    real,
    flat,
    strides,
    deletes,
    lambda x: np.asarray(memoryview(x)) * 2,
    lambda x: np.asarray(memoryview(x[0])) * 2,
    lambda x: np.frombuffer(x) * 2,
    lambda x: np.asarray(x * 1).flags.owndata * x,
    lambda x: np.asarray(x[0] * 1).flags.writeable * x,
    lambda x: np.from_dlpack(x) * 2,
    lambda x: np.ndarray.sum(x),  # noqa: PLW0108 (its line)
    lambda x: np.ndarray.sort(x),  # noqa: PLW0108 (its line)
    lambda x: np.ctypeslib.as_ctypes(x)[0] * 2,
    lambda x: len(x.__array_interface__) * x,
    lambda x: len(getattr(x, "__array_interface__")) * x,  # noqa: B009 (another way)
    lambda x: (x.__array_struct__ is None) * x,
    lambda x: x * len(bytes(x)),
    lambda x: x * len(bytearray(x)),
    lambda x: x.nothing_of_the_kind,
    lambda x: x.copy().resize((2,)),
    lambda x: x.__sizeof__() * x,
    lambda x: [0] * np.argmax(x),
    lambda x: np.argmax(x) * (1, 2),
    lambda x: "ab" * np.argmax(x),
]


@pytest.mark.parametrize("f", DOORS)
def test_a_traced_call_gives_what_the_eager_one_does(f: Any) -> None:
    """Its result, its error, and what it changes; and the function stays eager for a reason with a line."""
    traced = tm.function(f)
    for k in range(4):
        numbers = [3.0, 1.0 + k, 2.0]
        assert outcome(f, np.array(numbers)) == outcome(traced, np.array(numbers))
    assert not traced.programs
    raises = "nothing_of_the_kind" in f.__code__.co_names
    assert raises or "test_doors.py)" in traced.why_eager
    assert "Symbol" not in traced.why_eager


@pytest.mark.parametrize("f", [lambda x: x * [1, 2, 3], lambda x: [1, 2, 3] * x])
def test_a_list_of_numbers_is_an_operand(f: Any) -> None:
    """As of NumPy's arrays; there is a program for it."""
    traced = tm.function(f)
    for k in range(4):
        x = np.array([k, 1.0, 2.0])
        assert np.array_equal(f(x), traced(x))
    assert traced.why_eager == ""


def logged(x: Any) -> Any:
    """Change something before the door."""
    LOG.append(1)
    return np.frombuffer(x) * 2


def written(x: Any) -> Any:
    """Write into an argument before the door."""
    x[0] += 1
    return np.frombuffer(x) * 2


def extended(x: Any, parts: Any) -> Any:
    """Append to an argument before the door."""
    parts.append(2.0)
    return np.frombuffer(x) * 2


def replaced(x: Any, parts: Any) -> Any:
    """Change a number in an argument before the door."""
    parts[0] += 1.0
    return np.frombuffer(x) * 2


@pytest.mark.parametrize("f", [logged, written, extended, replaced])
def test_nothing_is_done_twice(f: Any) -> None:
    """Where something was changed before the error, the call raises it; later ones are eager."""
    LOG.clear()
    traced = tm.function(f)
    given: list[Any] = [np.ones(2), [1.0]][: f.__code__.co_argcount]
    with pytest.raises(TypeError, match="a bytes-like object") as info:
        traced(*given)
    assert "The next call runs eagerly" in info.value.__notes__[0]
    assert len(LOG) <= 1
    assert given[0][0] <= 2
    assert len(given[-1]) <= 2
    assert given[-1][0] <= 2

    x = np.ones(2)
    with pytest.warns(tm.errors.EagerWarning, match=r"np.frombuffer\(\)"):
        found = traced(x, *[[1.0]][: len(given) - 1])
    assert np.array_equal(found, 2 * x)
    assert "np.frombuffer()" in traced.why_eager or "x[i] = ..." in traced.why_eager


def checked(x: Any) -> Any:
    """Raise an error of its own."""
    LOG.append(x)
    if x.ndim > 0:
        raise ValueError("no number")
    return x


def test_errors_of_the_users_own_are_raised_once() -> None:
    """The function is not called again for them."""
    traced = tm.function(checked)
    LOG.clear()
    for k in range(3):
        with pytest.raises(ValueError, match="no number"):
            traced(np.ones(2))
        assert len(LOG) == k + 1
    LOG.clear()
