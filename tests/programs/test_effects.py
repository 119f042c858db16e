"""Effects beside computing, and what a call depends on beside its arguments: each is seen, and nothing else is."""

from __future__ import annotations

import random
import re
import uuid
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, Generator, RandomState, SeedSequence

import tapemagic as tm

SYSTEM = random.SystemRandom()
CHILDREN = np.random.default_rng(0)


def quietly(f: Any, calls: int = 4) -> Any:
    """A function under tm.function that was called several times, with warnings left out."""
    made = tm.function(f)
    with warnings.catch_warnings(action="ignore"):
        for k in range(calls):
            made(tm.constant([k + 1.0, 2.0]))
    return made


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
