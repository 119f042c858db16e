"""Effects beside computing, and what a call depends on beside its arguments: each is seen, and nothing else is."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import uuid
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, Generator, RandomState, SeedSequence

import tapemagic as tm
from tapemagic.errors import EagerWarning

SYSTEM = random.SystemRandom()
CHILDREN = np.random.default_rng(0)


def quietly(f: Any, calls: int = 4) -> Any:
    """A function under tm.function that was called several times, with warnings left out."""
    made = tm.function(f)
    with warnings.catch_warnings(action="ignore"):
        for k in range(calls):
            made(tm.constant([k + 1.0, 2.0]))
    return made


SCRIPT = """
import fractions
import tapemagic as tm

@tm.function
def parsed(x):
    if x > 0:  # a guard, whose line is read
        return x * float(fractions.Fraction(1, 2))
    return x

@tm.function
def outer(x):
    return parsed(x) + inner(x)

@tm.function
def inner(x):
    return float(x) + 1  # warns that it stays eager, and asks for its text

for f in (parsed, outer):
    for k in range(4):
        f(tm.constant(k + 1.0))
    print(f.__name__, len(f.programs), f.why_eager)
"""


def test_what_the_package_does_itself_is_no_effect(tmp_path: Any) -> None:
    """It reads the source, and is imported, while the first calls of a script are observed."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = subprocess.run(
        [sys.executable, "-W", "always", str(script)], capture_output=True, text=True, check=True
    )
    parsed, outer = found.stdout.splitlines()
    assert parsed.split() == ["parsed", "1"]
    assert outer.startswith("outer 0 float() takes a value out of the program")


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.default_rng().random(),
        lambda: np.random.default_rng(None).random(),
        lambda: np.random.default_rng(seed=None).random(),
        lambda: Generator(PCG64()).random(),
        lambda: np.random.Generator(np.random.MT19937(None)).random(),
        lambda: RandomState().rand(),
        lambda: RandomState(None).rand(),
        lambda: RandomState(seed=None).rand(),
        lambda: SeedSequence().generate_state(1)[0] % 97 / 97,
        lambda: random.Random().random(),  # noqa: S311
        lambda: random.Random(None).random(),  # noqa: S311
        lambda: random.SystemRandom().random(),
        lambda: SYSTEM.random(),  # noqa: PLW0108 (its line)
        lambda: CHILDREN.spawn(1)[0].random(),  # noqa: PLW0108 (a new one each time)
        lambda: uuid.uuid4().int % 97 / 97,
        lambda: uuid.uuid1().int % 97 / 97,
    ],
)
def test_a_generator_without_a_seed_draws_whatever_comes_of_it(draw: Callable[[], Any]) -> None:
    """Numbers that only decide a branch leave nothing in the program."""

    def f(x: Any) -> Any:
        if draw() < 2:
            return x
        return -x

    found = quietly(f)
    assert not found.programs
    assert re.match(
        "it draws random numbers|it reads .*, which draws|it reads uuid", found.why_eager
    )
    assert f"(line {draw.__code__.co_firstlineno} of test_effects.py)" in found.why_eager


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * (2.0 if np.datetime64("now") > np.datetime64("2000") else 3.0),
        lambda x: x * np.datetime64("now", "s").astype(int),
        lambda x: x * np.datetime64("today").astype(int),
        lambda x: x * np.array("now", "M8[s]").astype(int),
        lambda x: x * np.array(["today", "now"], dtype="datetime64[s]").astype(int),
    ],
)
def test_dates_of_now_read_the_clock(f: Any) -> None:
    """NumPy makes them of a text."""
    found = quietly(f)
    line = f.__code__.co_firstlineno
    assert not found.programs
    assert found.why_eager.startswith(f"it reads the clock (line {line} of test_effects.py): do")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * np.datetime64("2001-01-01").astype(int),
        lambda x: x * len("today"),
        lambda x: x * {"now": 2.0}["now"],
    ],
)
def test_other_dates_and_texts_are_constants(f: Any) -> None:
    """They are the same at each call."""
    found = quietly(f)
    assert found.why_eager == ""
    assert found.programs


@pytest.mark.parametrize(
    "f", [lambda x: x * threading.active_count(), lambda x: x * len(threading.enumerate())]
)
def test_the_number_of_threads_is_none_of_the_function_s(f: Any) -> None:
    """It is another one as soon as a thread is started."""
    found = quietly(f)
    assert found.why_eager.startswith("it reads threading, of the library threading")


class Screen:
    """What was printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, text: str) -> int:
        """Keep a text."""
        self.lines.append(text)
        return len(text)


def test_under_a_profile_function_of_python_s(monkeypatch: Any) -> None:
    """It is left as it is."""
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    f = tm.function(lambda x: (print("x"), x)[1])  # noqa: T201

    def profile(*_: Any) -> None:
        pass

    sys.setprofile(profile)
    try:
        with pytest.warns(EagerWarning, match="it prints"):
            _ = [f(tm.constant(1.0)) for _ in range(4)]
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert screen.lines.count("x") == 4
