"""Random programs under tm.function: traced, replayed on other data, and compared with runs without it."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

import tapemagic
from benchmarks.crosscheck import by_tapemagic
from benchmarks.crosscheck.answers import Arrays, plain, small
from benchmarks.crosscheck.comparison import TOLERANCE, error, rounding
from benchmarks.crosscheck.functions import NumpyLike
from benchmarks.crosscheck.programs import Library, Program, by_turns, by_value, execute
from tapemagic import GradientTape, constant
from tapemagic.engine.nest import leaves
from tapemagic.programs.function import function

LIBRARY = Library(NumpyLike(np, tapemagic), by_turns, by_value)
LIBRARY.functions["constant"] = tapemagic.constant  # type: ignore[index]
"""As NumPy, but for np.asarray, which takes numbers out of programs."""

FACTORS = (1.0, 1.0, 0.96875, 1.03125, 1.0)
"""By what the inputs are multiplied in one call after the other: the first two are traced."""

Outcome = Literal["equal", "rounded", "eager", "pending", "wrong"]


class Replayed(NamedTuple):
    """What came of a program under tm.function.

    Attributes
    ----------
    outcome : Outcome
        Replayed and equal to the bit, replayed and different by rounding, not replayed, or wrong.
    why : str
        The reason for running eagerly, or the difference.
    programs : int
        How many ways through the function were traced.
    """

    outcome: Outcome
    why: str
    programs: int


def derivatives(program: Program) -> Callable[..., Any]:
    """A function of a program's inputs: the outputs, their gradients, those of the gradients, and small Jacobians."""

    def run(*xs: Any) -> Any:
        sources = list(xs)
        with GradientTape() as outer:
            outer.watch(sources)
            with GradientTape(persistent=True) as inner:
                inner.watch(sources)
                ys = execute(program.block, LIBRARY, sources)
            gradients = inner.gradient(ys, sources, list(program.weights), "zero")
        second = outer.gradient(gradients, sources, list(program.directions), "zero")
        found = [ys, gradients, second]
        if small(program):
            found.append(inner.jacobian(ys[0], sources, "zero"))
        return found

    return run


def replayed(program: Program) -> Replayed:
    """Run a program five times under tm.function, on three sets of inputs, and compare each call."""
    run = derivatives(program)
    traced = function(run)
    outcome: Outcome = "equal"
    why = ""
    for call, factor in enumerate(FACTORS):
        xs = [point * factor for point in program.points]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = _arrays(run, xs)
            found = _arrays(traced, xs)
        if isinstance(expected, str) or isinstance(found, str):
            if expected != found:
                return Replayed("wrong", f"call {call + 1}: {expected!s:.150} / {found!s:.150}", 0)
            continue
        if not same_bits(expected, found):
            noise = error(expected, found)
            if not noise <= TOLERANCE + 100 * sensitivity(program):
                return Replayed("wrong", f"call {call + 1}: relative difference {noise:.2g}", 0)
            outcome, why = "rounded", f"{noise:.2g}"
    if traced.why_eager:
        return Replayed("eager", traced.why_eager, 0)
    if not traced.programs:
        return Replayed("pending", "", 0)
    return Replayed(outcome, why, len(traced.programs))


def sensitivity(program: Program) -> float:
    """How much the derivatives change when each operation is rounded differently."""
    found = by_tapemagic.tapemagic(program).found
    kinds = {"values", "gradients", "second", "jacobians"} & found.keys()
    return max(rounding(program, kind, found[kind]) for kind in kinds)


def _arrays(run: Callable[..., Any], points: Iterable[Any]) -> Arrays | str:
    """The results of a function as arrays; the text of the error that it raised."""
    try:
        return plain(leaves(run(*map(constant, points))))
    except Exception as problem:  # noqa: BLE001 (it is compared)
        return f"{type(problem).__name__}: {problem}"


def same_bits(a: Arrays, b: Arrays) -> bool:
    """Whether two lists of arrays are equal to the bit, but for the signs of NaN."""
    return len(a) == len(b) and all(
        x.dtype == y.dtype
        and x.shape == y.shape
        and np.array_equal(x, y, equal_nan=True)
        and np.array_equal(np.signbit(x.real)[x == x], np.signbit(y.real)[y == y])  # noqa: PLR0124
        for x, y in zip(a, b, strict=True)
    )


def compare_replays(programs: Iterable[Program]) -> int:
    """Run programs under tm.function, print what is remarkable and a line of totals; 1 if one was wrong, else 0."""
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for program in programs:
        found = replayed(program)
        outcomes[found.outcome] += 1
        if found.outcome == "wrong":
            print(f"seed {program.seed}: WRONG: {found.why}", flush=True)
        elif found.outcome == "eager":
            reasons[found.why.split(",")[0].split(" on line")[0][:80]] += 1
        if sum(outcomes.values()) % 100 == 0:
            print(f"  so far: {dict(outcomes)}", file=sys.stderr, flush=True)
    total = sum(outcomes.values())
    traced = outcomes["equal"] + outcomes["rounded"]
    for why, number in reasons.most_common():
        print(f"eager, {number} times: {why}")
    print(
        f"under tm.function: programs {total}, traced {traced} ({traced / max(total, 1):.0%}), of them equal to the "
        f"bit {outcomes['equal']}, eager {outcomes['eager'] + outcomes['pending']}, wrong {outcomes['wrong']}"
    )
    return 1 if outcomes["wrong"] else 0
