"""Times programs of `tapemagic.function` in one process: ``python -m benchmarks.programs --seconds 5 --only Hessian``.

Each workload runs as hand-written NumPy, on the tape, as a program, in PyTorch, and compiled by jax.jit and
torch.compile where these are installed. The libraries take turns, and the best time of each counts, since what disturbs
a machine only adds time. Before anything is timed, all libraries have to find the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import tapemagic as tm
from benchmarks import program_workloads as workloads
from benchmarks import threads
from benchmarks.program_workloads import JAX, TORCH, Runs
from benchmarks.run import arrays
from tapemagic.programs.code_names import names_in
from tapemagic.programs.function import function
from tapemagic.programs.text import statements
from tapemagic.programs.text.naming import identifier


class Row(NamedTuple):
    """A workload, and what it is to reach.

    Attributes
    ----------
    prepare : callable
    most : float or None
        The bound of the time of the program, in times of hand-written NumPy.
    least : float or None
        How many times faster than PyTorch's eager mode it is to be.
    """

    prepare: Callable[[], Runs]
    most: float | None
    least: float | None


ROWS = {
    "two gradients of x1·x2·sin x1": Row(workloads.two_gradients, 1.5, 30),
    "1,000 small operations": Row(workloads.small_operations, 1.05, 4.5),
    "third derivative of sin², 100 points": Row(workloads.third_derivative, 2.6, 40),
    "linear regression step with update": Row(workloads.regression, 0.75, 8),
    "MLP step with update": Row(workloads.mlp, 1.2, 1.3),
    "Hessian of Rosenbrock, 50": Row(partial(workloads.hessian_of_rosenbrock, 50), 2, 15),
    "Hessian of Rosenbrock, 500": Row(partial(workloads.hessian_of_rosenbrock, 500), 2, 4),
    "x·exp(-x²), 10⁶ points": Row(partial(workloads.large, "bell"), 0.55, 1),
    "a rational function, 10⁶ points": Row(partial(workloads.large, "rational"), 0.55, 1),
    "sin(x)·exp(-x²), 10⁶ points": Row(partial(workloads.large, "wave"), 0.95, None),
}
LIBRARIES = ("numpy", "tape", "program", "torch", "torch.compile", "jax.jit")
TURN = 0.03
KEPT = (
    names_in.cache_clear,
    statements._by_code.clear,
    statements._parsed.cache_clear,
    identifier.cache_clear,
)
"""These forget what is known of functions, with which the same one is traced again in less time than a user's first."""


def agree(runs: Runs) -> None:
    """Fail unless every library finds the same in the first three calls."""
    for _ in range(3):
        found = {name: arrays(run()) for name, run in runs.items()}
        for name, results in found.items():
            for result, right in zip(results, found["numpy"], strict=True):
                precision = 1e-3 if right.dtype == np.float32 else 1e-7
                np.testing.assert_allclose(result, right, precision, precision, err_msg=name)


def best(runs: Runs, seconds: float) -> dict[str, float]:
    """The best time of each library in µs."""
    least = dict.fromkeys(runs, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            least[name] = min(least[name], turn(run))
    return {name: taken * 1e6 for name, taken in least.items()}


def turn(run: Callable[[], Any]) -> float:
    """The best of a few means, over so many calls that the clock does not count."""
    begin = getattr(run, "begin", None)
    call = run.run if begin else run  # type: ignore[attr-defined]
    if begin:
        begin()
    start = time.perf_counter()
    call()
    calls = 1 + int(1e-4 / (time.perf_counter() - start))
    taken, end = float("inf"), time.perf_counter() + TURN
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        taken = min(taken, (time.perf_counter() - start) / calls)
    if begin:
        run.end()  # type: ignore[attr-defined]
    return taken


def compiling(prepare: Callable[[], Runs], rounds: int = 10, seconds: float = 0.5) -> float:
    """The time of the first two calls, in which a program is traced and compiled, in µs: the best of some rounds.

    So many rounds at least; more as long as the time is not over, as short ones need more to be free of disturbances.
    Each begins without what is kept of the function's code and source, and of names: when a user's function
    is traced, nothing of it is known yet.
    """
    taken, k, end = float("inf"), 0, time.perf_counter() + seconds
    while k < rounds or time.perf_counter() < end:
        k += 1
        for forget in KEPT:
            forget()
        run = prepare()["program"]
        start = time.perf_counter()
        run()
        run()
        taken = min(taken, time.perf_counter() - start)
    return taken * 1e6


def ratio(a: float | None, b: float | None, bound: float | None, sign: str) -> str:
    """The quotient of two times, with its bound, in bold where that is missed."""
    if not a or not b:
        return "–"
    found = a / b
    text = f"{found:.2f}" if found < 10 else f"{found:.0f}"
    if bound is None:
        return text
    kept = found <= bound if sign == "≤" else found >= bound
    return f"{text} ({sign} {bound})" if kept else f"**{text}** ({sign} {bound})"


def table(only: str, skip: list[str], seconds: float) -> None:
    """Print how long each library takes."""
    heads = [f"{name}, µs" for name in LIBRARIES]
    heads += ["× NumPy", "× faster than the tape", "× faster than PyTorch", "trace, in tape calls"]
    print("| workload | " + " | ".join(heads) + " |")
    print("|---|" + "--:|" * len(heads))
    for name, row in ROWS.items():
        if only not in name:
            continue
        runs = {key: run for key, run in row.prepare().items() if key not in skip}
        agree(runs)
        took = best(runs, seconds)
        if "torch.func" in took:
            took["torch"] = min(took["torch"], took.pop("torch.func"))
        cells = [f"{took[key]:,.1f}" if key in took else "–" for key in LIBRARIES]
        ours = took["program"]
        cells += [
            ratio(ours, took.get("numpy"), row.most, "≤"),
            ratio(took.get("tape"), ours, None, ""),
            ratio(took.get("torch"), ours, row.least, "≥"),
            ratio(compiling(_ours_alone(row.prepare)), took.get("tape"), 60, "≤"),
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _ours_alone(prepare: Callable[[], Runs]) -> Callable[[], Runs]:
    """The workload without other libraries, which take seconds to prepare."""

    def alone() -> Runs:
        before = workloads.TORCH, workloads.JAX
        workloads.TORCH = workloads.JAX = False
        try:
            return prepare()
        finally:
            workloads.TORCH, workloads.JAX = before

    return alone


def guard_miss(seconds: float) -> None:
    """Print what a call costs that takes another way than the first program, next to one on the tape."""

    def f(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(np.sin(x) * np.exp(-x * x))
            y = 2.0 * y if y > 0 else 3.0 * y
        return tape.gradient(y, x)

    several, one = function(f), function(f, max_programs=1)
    up, down = (tm.constant(sign * np.linspace(0.0, 1.0, 100)) for sign in (1, -1))
    for _ in range(3):
        several(up), one(up)
    for _ in range(3):
        several(down), one(down)
    runs: Runs = {
        "the tape": lambda: f(down),
        "first program": lambda: several(up),
        "second program, after a miss": lambda: several(down),
        "miss without another program": lambda: one(down),
    }
    took = best(runs, seconds)
    print("\n| a function with a branch | µs | × the tape |\n|---|--:|--:|")
    for name, taken in took.items():
        print(f"| {name} | {taken:.1f} | {taken / took['the tape']:.2f} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to time each workload")
    parser.add_argument("--only", default="", help="a word of the workloads to time")
    parser.add_argument("--skip", default="", help="libraries to leave out, with commas")
    threads.add_option(parser)
    options = parser.parse_args()
    threads.limit(options.threads)
    missing = [name for name, there in (("PyTorch", TORCH), ("JAX", JAX)) if not there]
    if missing:
        print(f"Without {' and '.join(missing)}, not installed here.\n")
    table(options.only, options.skip.split(","), options.seconds)
    if options.only in "guard miss":
        guard_miss(options.seconds)


if __name__ == "__main__":
    main()
