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
from dataclasses import dataclass
from io import StringIO
from itertools import count
from math import exp as e_to
from typing import Any

import numpy as np
import pytest
from IPython.display import display
from numpy.lib.stride_tricks import as_strided

import tapemagic as tm
from tapemagic import tf

RANDOM = np.random.default_rng(0)
NUMBERS = count(1)
STREAM = StringIO("")
ODD = np.array([1.0, None])
HISTORY: list[Any] = []
TABLE = [1.0, 2.0, 3.0]
TAPE = tm.GradientTape(persistent=True)


class Noise:
    """An object with a generator."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, x: Any) -> Any:
        """Noise in place of numbers."""
        return x * self.rng.normal()


class Pair:
    """An object that no program makes."""


@dataclass
class Setting:
    """An object of which Python writes the method that shows it."""

    rate: Any = 0.5


SETTING = Setting()


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


def looks(x: Any) -> Any:
    """A function that looks for an element that is not there."""
    try:
        return x[5]
    except IndexError:
        return x[0]


def displays(x: Any) -> Any:
    """A function that shows something in a notebook."""
    display(x.shape)  # type: ignore[no-untyped-call]
    return x


def opens(x: Any) -> Any:
    """A function that reads a file."""
    with open(__file__, encoding="utf-8"):  # noqa: PTH123
        return x


def sets(x: Any) -> Any:
    """A function that remembers its last argument."""
    sets.last = x  # type: ignore[attr-defined]
    return x


def under_a_global_tape(x: Any) -> Any:
    """A gradient by a tape that is there before the call."""
    with TAPE:
        TAPE.watch(x)
        y = x * x
    return TAPE.gradient(y, x)


CASES: list[tuple[Callable[[Any], Any], int, str, str]] = [
    (filled, 3, "x[i] = ...", "np.stack"),
    (of_parts, 3, "np.array() of a list", "np.stack"),
    (lambda x: np.array([x[0], x[1]]), 0, "np.array() of a list", "np.stack"),
    (lambda x: np.arange(x[0]), 0, "np.arange() has a shape", "before the call"),
    (lambda x: np.vectorize(lambda a: a * 2)(x + 0), 0, "np.vectorize()", "np.where"),
    (lambda x: math.sin(x[0]), 0, "math.sin()", "such as np.sin(x)"),
    (lambda x: e_to(x[0]), 0, "e_to()", "such as np.sin(x)"),
    (lambda x: float(x[0]), 0, "float()", "compute with the tensor itself"),
    (lambda x: np.asarray(x) * 2, 0, "np.asarray", "call NumPy's functions"),
    (lambda x: np.where(x > 1)[0], 0, "np.where", "np.where(mask, x, 0)"),
    (lambda x: np.unique(x + 0), 0, "np.unique", "before the call"),
    (lambda x: (print(end=""), x)[1], 0, "it prints", "print it after the call"),  # noqa: T201
    (lambda x: (sys.stdout.write(""), x)[1], 0, "it reads sys, of the library", "before the call"),
    (lambda x: (sys.stderr.write(""), x)[1], 0, "it reads sys, of the library", "before the call"),
    (displays, 2, "it reads display, of the library IPython", "before the call"),
    (lambda x: x * time.time(), 0, "it reads time, of the library time", "as an argument"),
    (lambda x: (os.environ.get("HOME"), x)[1], 0, "it reads os, of the library os", "as an argument"),
    (lambda x: (locale.localeconv(), x)[1], 0, "it reads locale, of the library locale", "the call"),
    (opens, 2, "it uses open(), which opens a file", "the call"),
    (remembers, 2, "it changes HISTORY", "after the call"),
    (pair, 4, "a result of type Pair", "return tensors"),
    (catches, 4, "it catches errors", "with if"),
    (looks, 4, "it catches errors", "with if"),
    (lambda x: eval("x") + x, 0, "it uses eval()", "write the names themselves"),  # noqa: S307
    (lambda x: (id(x), x)[1], 0, "it uses id()", "as an argument"),
    (lambda x: x * RANDOM.normal(), 0, "it reads RANDOM, a Generator, which draws", "as an argument"),
    (lambda x: x * np.random.rand(), 0, "it draws random numbers", "as an argument"),  # noqa: NPY002
    (
        lambda x: x * random.random(),  # noqa: S311
        0,
        "it reads random, which draws random numbers",
        "as an argument",
    ),
    (lambda x: x * next(NUMBERS), 0, "it reads NUMBERS, a count", "a list of it"),
    (
        lambda x: (STREAM.read(), x)[1],
        0,
        "it reads STREAM, a StringIO",
        "read the file before the call",
    ),
    (lambda x: x * ODD[0], 0, "it reads ODD, an array of objects", "use a dtype of numbers"),
    (lambda x: (f"{x[0]:.2f}", x)[1], 0, "format()", "print it after the call"),
    (lambda x: ("{:.2f}".format(x[0]), x)[1], 0, "format()", "print it after the call"),  # noqa: UP032
    (lambda x: ("%.2f" % x[0], x)[1], 0, "format()", "print it after the call"),  # noqa: UP031
    (lambda x: (f"{x}", x)[1], 0, "format()", "print it after the call"),
    (lambda x: (str(x), x)[1], 0, "str()", "print it after the call"),
    (lambda x: (repr(x), x)[1], 0, "repr()", "print it after the call"),
    (lambda x: (str(Setting(x)), x)[1], 0, "str()", "print it after the call"),
    (lambda x: x * TABLE[np.argmax(x)], 0, "TABLE[np.argmax(x)]", "write tm.constant(TABLE)["),
    (lambda x: np.eye(2)[np.argsort(x)], 0, "an array at places", "tm.constant(np.eye(2))["),
    (lambda x: [x, x * 2][np.argmax(x)], 0, "a list at a place", "write np.stack([x, x * 2])["),
    (lambda x: np.arange(np.sum(x)), 0, "np.arange() has a shape", "before the call"),
    (lambda x: np.zeros(np.argmax(x) + 1), 0, "np.zeros() has a shape", "before the call"),
    (lambda x: next(iter(np.nditer(x))), 0, "np.nditer()", "np.where"),
    (lambda x: as_strided(x, (1,)), 0, "as_strided()", "sliding_window_view"),
    (sets, 2, "it changes sets.last", "after the call"),
    (under_a_global_tape, 2, "it reads TAPE, a GradientTape", "make the tape inside"),
    (lambda x: RANDOM.shuffle(x.numpy()), 0, "it reads RANDOM, a Generator, which draws", "as an argument"),
    (Noise().__call__, 2, "it reads self.rng, a Generator, which draws", "as an argument"),
]  # fmt: skip


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


ADVICE: list[Callable[[Any], Any]] = [
    lambda x: x * tm.constant(TABLE)[np.argmax(x)],
    lambda x: tm.constant(np.eye(2))[np.argsort(x)],
    lambda x: np.stack([x, x * 2])[np.argmax(x)],
]


@pytest.mark.parametrize("f", ADVICE)
def test_what_to_write_instead_of_an_index_is_a_program(f: Any) -> None:
    """What the reasons say for lists and arrays at places that are computed."""
    traced = tm.function(f)
    for k in range(4):
        x = tm.constant([k + 1.0, 2.0])
        assert np.array_equal(traced(x), f(x))
    assert len(traced.programs) == 1, traced.why_eager


class Holder:
    """An object that is given."""

    last: Any = None


def holds(holder: Any, x: Any) -> Any:
    """Change an argument."""
    holder.last = x
    return x


def test_an_object_that_is_given_is_named_by_its_parameter() -> None:
    """The user wrote no name of its class."""
    traced, holder = tm.function(holds), Holder()
    with warnings.catch_warnings(action="ignore"):
        for _ in range(5):
            traced(holder, tm.constant(1.0))
    line = holds.__code__.co_firstlineno + 2
    assert traced.why_eager.startswith(f"it changes holder.last (line {line} of test_reasons.py)")


def fills(x: Any) -> Any:
    """Write into an array."""
    x.fill(2.0)
    return x


def reshapes(x: Any) -> Any:
    """Change a shape."""
    y = x.copy()
    y.shape = (2, 1)
    return y


@pytest.mark.parametrize(
    ("f", "what", "instead"),
    [
        (lambda x: x.sort(), ".sort() writes into an array", "np.sort(x)"),
        (fills, ".fill() writes into an array", "np.full_like"),
        (lambda x: x.put([0], 2.0), ".put() writes into an array", "np.where"),
        (lambda x: x * x.flags.writeable, ".flags reads an array's memory", "as an argument"),
        (lambda x: x * len([*x.flat]), ".flat takes a value out", "x.ravel()"),
        (lambda x: x * (hash(x[0]) > 0), "hash() takes a value out", "after the call"),
        (reshapes, "x.shape = ... writes into an array", "x.reshape(shape)"),
        (lambda x: np.ndarray.sum(x), "np.ndarray.sum()", "write np.sum(x)"),  # noqa: PLW0108
        (lambda x: np.frombuffer(x), "np.frombuffer()", "before the call"),  # noqa: PLW0108
    ],
)
def test_reasons_about_arrays(f: Any, what: str, instead: str) -> None:
    """Whatever can be done with an array and not with a tensor has an advice of its own."""
    traced = tm.function(f)
    with warnings.catch_warnings(action="ignore"):
        for k in range(4):
            traced(np.array([k + 1.0, 2.0]))
    assert traced.why_eager.startswith(what)
    assert instead in traced.why_eager.partition(": ")[2]


def shuffled(x: Any) -> Any:
    """Shuffle rows in place."""
    np.random.default_rng(0).shuffle(x)
    return x


def test_shuffling_is_done_as_ever_and_warns_of_nothing() -> None:
    """NumPy would shuffle what stands for an array as it does a list, with a warning, and rows wrongly."""
    traced = tm.function(shuffled)
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", tm.errors.EagerWarning)
        for _ in range(3):
            rows = np.arange(12.0).reshape(4, 3)
            assert np.array_equal(shuffled(rows.copy()), traced(rows.copy()))
    assert traced.why_eager.startswith("it draws random numbers")


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
        if name == "stderr":
            tf.print("x")
        else:
            print("x")  # noqa: T201
        return x * 2

    screen = Lines()
    monkeypatch.setattr(sys, name, screen)
    traced = tm.function(f)
    with warnings.catch_warnings(action="ignore"):
        for _ in range(5):
            traced(tm.constant(1.0))

    assert "x\n" * 5 == "".join(screen.lines)
    # tf.print is a call of the program.
    assert traced.why_eager.startswith("it prints" if name == "stdout" else "")
    assert len(traced.programs) == (name == "stderr")


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
