"""Floating-point warnings of programs in blocks: as many as without blocks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.programs.function import function


def messages(f: Any, *args: Any) -> list[str]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(*args)
    return [str(each.message) for each in found]


@function
def roots(x: Any) -> Any:
    """Something that fails for some numbers."""
    return np.sqrt(np.log(x - 1.0) / x) + x


@pytest.fixture(autouse=True)
def traced() -> None:
    """Calls that make the program."""
    for _ in range(3):
        roots(tm.constant(np.full(150_000, 3.0)))
    assert "for start in range" in roots.source(as_run=True)


def test_each_call_warns_once_as_without_blocks() -> None:
    """A line in a loop over blocks warns once, as on whole arrays."""
    x = tm.constant(np.linspace(-1.0, 1.0, 150_000))
    assert sorted(messages(roots, x)) == sorted(messages(roots.python_function, x))


def test_an_error_stops_the_loop() -> None:
    """Where warnings are errors, or np.errstate raises, the first one ends the call."""
    with pytest.raises(RuntimeWarning, match="invalid value encountered in log"):
        roots(tm.constant(np.full(150_000, -3.0)))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value"):
        roots(tm.constant(np.full(150_000, -3.0)))


def test_the_users_ways_stay() -> None:
    """What is ignored, or given to a function, is so in a program."""
    x = tm.constant(np.full(150_000, 1.0))
    with np.errstate(all="ignore"):
        assert messages(roots, x) == []
    told: list[str] = []
    with np.errstate(all="call", call=lambda kind, _: told.append(kind)):
        assert messages(roots, x) == []
    assert "divide by zero" in told
