"""Differentiate the cases of the rule table in a process that has only imported tapemagic, in a random order.

Run it with ``python -m tests.rules.fresh SEED``. It prints a line for every case whose gradient was another one,
or failed, before the table was complete, and how many were compared in each process.
"""

# ruff: noqa: T201 (its output is read by test_fresh.py)

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import tapemagic
from tapemagic.engine import registry
from tests.rules import checks, harness

WORDS = sorted(path.stem.removeprefix("cases_") for path in Path(__file__).parent.glob("cases_*.py"))
EARLY = {"linalg", "special", "ufunc_methods"}
"""Where the cases themselves import rules that a user would not have yet."""

Named = list[tuple[str, harness.Case]]


def of_each_function(word: str) -> Named:
    """The first case of each function in a module of cases, loaded now."""
    first: dict[Any, tuple[str, harness.Case]] = {}
    for entry in import_module(f"tests.rules.cases_{word}").CASES:
        name = f"{word}-{harness.name_of(entry.function)}"
        first.setdefault(entry.function, (name, entry))
    return [*first.values()]


def answer(entry: harness.Case) -> list[Any] | str:
    """The gradients of a case as plain arrays, None where there is none; or the error."""
    try:
        with checks.silence():
            tape, tensors, result = checks.run(entry)
            results = result if isinstance(result, (tuple, list)) else [result]
            targets = [y for y in results if isinstance(y, tapemagic.Tensor)]
            return [g if g is None else g.numpy() for g in tape.gradient(targets, tensors)]
    except Exception as error:  # noqa: BLE001 (whatever it is, it is reported)
        return repr(error)


def same(one: list[Any] | str, other: list[Any] | str) -> bool:
    """Whether two answers are the same gradients."""
    if isinstance(one, str) or isinstance(other, str):
        return False
    return len(one) == len(other) and all(
        a is b or (a is not None and b is not None and np.array_equal(a, b, equal_nan=True))
        for a, b in zip(one, other, strict=True)
    )


def compare(cases: Named) -> None:
    """Ask each case, complete the table, ask again, and print what differs."""
    before = [answer(entry) for _, entry in cases]
    registry.complete()
    for (name, entry), found in zip(cases, before, strict=True):
        expected = answer(entry)
        if not same(found, expected):
            print(f"{name}: {found} before, {expected} with the whole table")
    print(f"{len(cases)} compared")


def in_a_copy(words: Iterable[str], shuffle: Callable[[Named], None]) -> None:
    """Do so with the cases of some modules in a copy of this process, which stays as it is."""
    sys.stdout.flush()
    if os.fork():
        os.wait()
        return
    cases = [named for word in words for named in of_each_function(word)]
    shuffle(cases)
    compare(cases)
    sys.stdout.flush()
    os._exit(0)


def main(seed: int) -> None:
    """Go through each module of cases by itself, and through all of them."""
    shuffle = random.Random(seed).shuffle  # noqa: S311 (nothing to keep secret)
    assert "tapemagic.engine.rules.statistics" not in sys.modules
    for word in WORDS:
        in_a_copy([word], shuffle)
    in_a_copy([word for word in WORDS if word not in EARLY], shuffle)


if __name__ == "__main__":
    main(int(sys.argv[1]))
