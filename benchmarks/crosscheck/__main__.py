"""Compares random programs in tapemagic, JAX and PyTorch: ``python -m benchmarks.crosscheck``."""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import operator
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

import tapemagic
from benchmarks.crosscheck.actions import ACTIONS
from benchmarks.crosscheck.by_function import compare_replays
from benchmarks.crosscheck.by_jax import jax_backend
from benchmarks.crosscheck.by_torch import torch_backend
from benchmarks.crosscheck.comparison import Backend, Verdict, compare
from benchmarks.crosscheck.generator import draw
from benchmarks.crosscheck.poisoned import compare_poisoned
from benchmarks.crosscheck.programs import Program, count, names, text
from benchmarks.crosscheck.shrinking import shrink
from tapemagic.engine.registry import complete, is_known

MAKERS = {"jax": jax_backend, "torch": torch_backend}


def supported(name: str) -> bool:
    """Whether tapemagic's table has an operation."""
    if name.startswith("nn."):
        return hasattr(tapemagic, name.removeprefix("nn."))
    if not name[0].isalpha():
        return True
    try:
        return is_known(operator.attrgetter(name)(np))
    except AttributeError:
        return False


class Totals:
    """What all programs together gave."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.operations: Counter[str] = Counter()
        self.worst, self.where = 0.0, 0

    def add(self, program: Program, verdict: Verdict) -> None:
        """Count a program."""
        self.operations.update(names(program.block))
        self.counts.update(
            {
                "programs": 1,
                "complex": any(np.iscomplexobj(x) for x in program.points),
                "operations": count(program.block),
                "comparisons": verdict.comparisons,
                "failures": bool(verdict.failures),
                "others disagree": bool(verdict.quarrels),
                "rounding": bool(verdict.sensitive),
                "not run elsewhere": len(verdict.missing),
                "warnings": bool(verdict.warned),
            }
        )
        if verdict.worst > self.worst:
            self.worst, self.where = verdict.worst, program.seed

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {number:,}" for name, number in self.counts.items())
        kinds = len(self.operations)
        return f"{parts}, kinds of operations {kinds}, worst relative error {self.worst:.1e} (seed {self.where})"


def report(program: Program, verdict: Verdict, others: dict[str, Backend], thorough: bool) -> None:
    """Print what is remarkable about a program; a failure with its smallest part that fails."""
    for label, lines in (
        ("FAILURE", verdict.failures),
        ("others disagree", verdict.quarrels),
        ("rounding", verdict.sensitive),
        ("warning", verdict.warned),
        ("not run", [f"by {name}: {why}" for name, why in verdict.missing.items()]),
    ):
        for line in lines:
            print(f"seed {program.seed}: {label}: {line[:300]}", flush=True)
    if verdict.failures or (thorough and verdict.quarrels):
        small = smallest(program, verdict, others)
        print(
            f"  the smallest part that shows it (python -m benchmarks.crosscheck --only {program.seed}):"
        )
        print("\n".join(f"    {line}" for line in text(small).splitlines()))
        again = compare(small, others)
        print(
            *(f"    # {line}" for line in (*again.failures, *again.quarrels)), sep="\n", flush=True
        )


def smallest(program: Program, verdict: Verdict, others: dict[str, Backend]) -> Program:
    """The program shrunk, by PyTorch alone if that shows the failure, since it is the quickest."""

    def kinds(found: Verdict) -> set[str]:
        notes = found.failures or found.quarrels
        return {note.partition(":")[0].partition(",")[0] for note in notes}

    wanted = kinds(verdict)
    alone = {name: run for name, run in others.items() if name == "torch"}
    quick = bool(verdict.failures) and bool(kinds(compare(program, alone)) & wanted)
    used = alone if quick else others
    return shrink(program, lambda candidate: bool(kinds(compare(candidate, used)) & wanted))


def seeds(options: argparse.Namespace) -> Iterator[int]:
    """The seeds of the programs to compare."""
    if options.only is not None:
        yield options.only
        return
    end = time.monotonic() + options.seconds if options.seconds else float("inf")
    numbers = itertools.count(options.seed)
    limit = options.programs if options.programs or options.seconds else 200
    for seed in itertools.islice(numbers, limit):
        if time.monotonic() > end:
            return
        yield seed


def main() -> int:
    """Compare, print what differs and a line of totals; 1 if something failed, else 0."""
    parser = argparse.ArgumentParser(prog="benchmarks.crosscheck", description=__doc__)
    parser.add_argument("--programs", type=int, help="how many programs (200, if no time is given)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument(
        "--only", type=int, metavar="SEED", help="compare one program, and print it"
    )
    parser.add_argument("--against", nargs="+", choices=MAKERS, default=list(MAKERS), help="whom")
    parser.add_argument("--thorough", action="store_true", help="shrink where others disagree, too")
    parser.add_argument(
        "--function", action="store_true", help="compare tm.function with the tape instead"
    )
    parser.add_argument(
        "--poisoned",
        action="store_true",
        help="compare programs that leave elements with infinite slopes out with programs without these",
    )
    options = parser.parse_args()
    complete()
    if options.poisoned:
        return compare_poisoned(draw(seed, supported) for seed in seeds(options))
    if options.function:
        return compare_replays(draw(seed, supported) for seed in seeds(options))
    others = {name: MAKERS[name]() for name in options.against if importlib.util.find_spec(name)}
    missing = sorted({name for one in ACTIONS for name in one.needs if not supported(name)})
    print(
        f"compared with: {', '.join(others) or 'nothing'}; left out: {', '.join(missing) or 'nothing'}"
    )
    totals = Totals()
    for seed in seeds(options):
        program = draw(seed, supported)
        if options.only is not None:
            print(text(program))
        verdict = compare(program, others)
        totals.add(program, verdict)
        report(program, verdict, others, options.thorough)
        if totals.counts["programs"] % 100 == 0:
            print(f"  so far: {totals}", file=sys.stderr, flush=True)
    print(totals)
    return 1 if totals.counts["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
