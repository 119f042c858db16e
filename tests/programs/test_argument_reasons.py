"""Reasons about arguments: which one it is, on which line, and what to give instead."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn

x = tm.constant([1.0, 2.0])
FILE = "of test_argument_reasons.py"


@dataclass
class Line:
    """A record that a function makes anew for each call."""

    slope: Any
    start: Any


def why_eager(f: Any, *args: Any, calls: int = 3, **options: Any) -> str:
    """Why a function stays eager for arguments that are made anew for each call."""
    made = tm.function(f, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(calls):
            made(*(each() if callable(each) else each for each in args))
    return made.why_eager


def appends(x: Any, out: Any) -> Any:
    """Changes a list."""
    out.append(x * 2)
    return x


def enters(x: Any, *, cache: Any) -> Any:
    """Changes a dict."""
    cache["x"] = x * 2
    return x


def remembers(x: Any, seen: Any = []) -> Any:  # noqa: B006
    """Changes its default."""
    seen.append(1)
    return x


@pytest.mark.parametrize("keep", [False, True])
def test_a_new_object_at_each_call_is_said_to_be_one(keep: bool) -> None:
    """Whether the earlier ones still exist or not, it is not the class that changes."""
    kept: list[Any] = []

    def made() -> Line:
        line = Line(tm.constant(2.0), tm.constant(1.0))
        kept.extend([line] * keep)
        return line

    why = why_eager(lambda line: line.slope * x + line.start, made, calls=12, max_programs=3)
    assert "its argument of the class Line is a different object at each call" in why
    assert "pass the same object, or its arrays and numbers" in why
    assert "Line, which it reads" not in why


def test_weights_that_are_drawn_at_each_call_are_named_with_the_line() -> None:
    """They are drawn once by a layer that is made before."""

    def step(x: Any) -> Any:
        y = nn.Dense(2)(x[None])
        return np.sum(y)

    line = step.__code__.co_firstlineno + 1
    why = why_eager(step, x)
    assert f"(line {line} {FILE})" in why
    assert "it draws initial weights" in why


@pytest.mark.parametrize("given", [list, lambda: [x]])
def test_a_list_that_is_changed_is_named_with_the_line(given: Any) -> None:
    """Whether there was something in it or not."""
    why = why_eager(appends, x, given)
    place = f"(line {appends.__code__.co_firstlineno + 2} {FILE}): return a new one"
    assert all(place in line for line in why.splitlines())
    assert "it changes its argument out" in why or "a change of its list argument out" in why


def test_a_dict_that_is_changed_is_named_with_the_line() -> None:
    """By its keyword."""
    why = why_eager(lambda x, cache: enters(x, cache=cache), x, dict)
    assert "it changes its argument cache" in why

    made = tm.function(enters)
    with pytest.warns(tm.errors.EagerWarning, match="cache"):
        made(x, cache={})
    line = enters.__code__.co_firstlineno + 2
    assert f"it changes its argument cache (line {line} {FILE})" in made.why_eager


def test_a_default_that_is_changed_is_named_by_its_parameter() -> None:
    """The line is that which reads it first."""
    why = why_eager(remembers, x, calls=6)
    line = remembers.__code__.co_firstlineno + 2
    assert why.startswith(f"it changes the default of seen (line {line} {FILE})")
