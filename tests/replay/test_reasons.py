"""Reasons for which functions stay eager: each names what the user wrote, its line, and what to write instead."""

from __future__ import annotations

import locale
import math
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from io import StringIO
from itertools import count
from math import exp as e_to
from typing import Any

import numpy as np
import pytest
from IPython.display import display

import tapemagic as tm
from tapemagic import tf

RANDOM = np.random.default_rng(0)
NUMBERS = count(1)
STREAM = StringIO("")
ODD = np.array([1.0, None])
HISTORY: list[Any] = []


class Noise:
    """An object with a generator."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, x: Any) -> Any:
        """Noise in place of numbers."""
        return x * self.rng.normal()


class Pair:
    """An object that no program makes."""


def filled(x: Any) -> Any:
    """An array into which tensors are written."""
    out = np.zeros(2)
    out[:] = x
    return out


def of_parts(x: Any) -> Any:
    """An array of a list with a name."""
    parts = [x[0], x[1]]
    return np.array(parts)


def remembers(x: Any) -> Any:
    """A function that changes a global list."""
    HISTORY.append(1)
    return x


def pair(x: Any) -> Any:
    """A result of a class of its own, and no other line after it."""
    made = Pair()
    made.x = x  # type: ignore[attr-defined]
    return made


def catches(x: Any) -> Any:
    """A function that goes on after an error."""
    try:
        return x @ np.ones(3)
    except ValueError:
        return x


def displays(x: Any) -> Any:
    """A function that shows something in a notebook."""
    display(x.shape)  # type: ignore[no-untyped-call]
    return x


def opens(x: Any) -> Any:
    """A function that reads a file."""
    with open(__file__, encoding="utf-8"):  # noqa: PTH123
        return x


CASES: list[tuple[Callable[[Any], Any], int, str, str]] = [
    (filled, 3, "x[i] = ...", "np.stack"),
    (of_parts, 3, "np.array() of a list", "np.stack"),
    (lambda x: np.array([x[0], x[1]]), 0, "np.array() of a list", "np.stack"),
    (lambda x: np.arange(x[0]), 0, "np.arange() gives a shape", "before the call"),
    (lambda x: np.vectorize(lambda a: a * 2)(x + 0), 0, "np.vectorize()", "np.where"),
    (lambda x: math.sin(x[0]), 0, "math.sin()", "such as np.sin(x)"),
    (lambda x: e_to(x[0]), 0, "e_to()", "such as np.sin(x)"),
    (lambda x: float(x[0]), 0, "float()", "compute with the tensor itself"),
    (lambda x: np.asarray(x) * 2, 0, "np.asarray", "call NumPy's functions"),
    (lambda x: np.where(x > 1)[0], 0, "np.where", "np.where(mask, x, 0)"),
    (lambda x: np.unique(x + 0), 0, "np.unique", "before the call"),
    (lambda x: (print(end=""), x)[1], 0, "it prints", "print it after the call"),  # noqa: T201
    (lambda x: (sys.stdout.write(""), x)[1], 0, "it prints", "print it after the call"),
    (lambda x: (sys.stderr.write(""), x)[1], 0, "it prints", "print it after the call"),
    (lambda x: (tf.print(end=""), x)[1], 0, "it prints", "print it after the call"),
    (displays, 2, "it shows something", "show it after the call"),
    (lambda x: x * time.time(), 0, "it reads the clock", "as an argument"),
    (lambda x: (os.environ.get("HOME"), x)[1], 0, "it uses os.environ", "as an argument"),
    (lambda x: (locale.localeconv(), x)[1], 0, "it calls locale.localeconv()", "the call"),
    (opens, 2, "it opens a file", "the call"),
    (remembers, 2, "it changes HISTORY", "after the call"),
    (pair, 4, "a result of type Pair", "return tensors"),
    (catches, 3, "a ValueError that the function catches", "ask with if"),
    (lambda x: eval("x") + x, 0, "it uses eval()", "write the names themselves"),  # noqa: S307
    (lambda x: (id(x), x)[1], 0, "it uses id()", "as an argument"),
    (lambda x: x * RANDOM.normal(), 0, "it draws random numbers from RANDOM", "as an argument"),
    (lambda x: x * np.random.rand(), 0, "it draws random numbers from np.random", "as an argument"),  # noqa: NPY002
    (lambda x: x * random.random(), 0, "random numbers from the module random", "as an argument"),  # noqa: S311
    (lambda x: x * next(NUMBERS), 0, "it reads NUMBERS, a count", "a list of it"),
    (lambda x: (STREAM.read(), x)[1], 0, "it reads STREAM, a file", "read it before the call"),
    (lambda x: x * ODD[0], 0, "it reads ODD, an array of objects", "hold numbers in it"),
    (Noise().__call__, 2, "it draws random numbers from self.rng", "as an argument"),
]


@pytest.mark.parametrize(("f", "lines", "what", "instead"), CASES)
def test_a_reason_names_what_was_written_its_line_and_what_to_write_instead(
    f: Any, lines: int, what: str, instead: str
) -> None:
    """In this order; the line is that of the function's code, and never the caller's."""
    traced = tm.function(f)

    with warnings.catch_warnings(action="ignore"):
        for k in range(4):
            traced(tm.constant([k + 1.0, 2.0]))

    said, _, advice = traced.why_eager.partition(": ")
    line = f.__code__.co_firstlineno + lines
    assert said.startswith(what) or what in said
    assert said.endswith(f"(line {line} of test_reasons.py)")
    assert instead in advice


class Lines:
    """A stream in the place of the screen's, as notebooks have one."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, text: str) -> int:
        """Keep a line."""
        self.lines.append(text)
        return len(text)


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_what_is_written_to_the_screen_is_written_at_each_call(name: str, monkeypatch: Any) -> None:
    """Also where the stream is an object of Python's, whose writing calls nothing that is built in."""

    def f(x: Any) -> Any:
        tf.print("x", output_stream=getattr(sys, name))
        return x * 2

    screen = Lines()
    monkeypatch.setattr(sys, name, screen)
    traced = tm.function(f)
    with warnings.catch_warnings(action="ignore"):
        for _ in range(5):
            traced(tm.constant(1.0))

    assert ["x\n"] * 5 == screen.lines
    assert traced.why_eager.startswith("it prints")


def test_a_line_that_is_not_known_is_not_named() -> None:
    """Which of several returns it was is not known after the call."""

    def one_of(parts: Any) -> Any:
        if len(parts) > 5:
            return {1}
        return {2}

    traced = tm.function(one_of)
    with warnings.catch_warnings(action="ignore"):
        for _ in range(4):
            traced([tm.constant(1.0)])
    assert "cannot" in traced.why_eager
    assert "line" not in traced.why_eager
