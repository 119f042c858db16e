"""Times the workloads of two checkouts in turns and prints ratios: ``python -m benchmarks.turns ../other``.

With ``--first "import dask.array"`` and ``.`` as the other checkout, it is this one after an import and without it.

Each turn is a fresh process of this Python with one of the checkouts first on its path, and gives the fastest of many
runs; of all turns of a checkout the fastest counts, since what disturbs a machine only ever adds time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ONE = """
import sys, time
from benchmarks.workloads import WORKLOADS
run = WORKLOADS[sys.argv[1]]()["tapemagic"]
run()
best, end = float("inf"), time.perf_counter() + float(sys.argv[2])
while time.perf_counter() < end:
    start = time.perf_counter()
    run()
    best = min(best, time.perf_counter() - start)
print(best * 1e6)
"""
IMPORT = """
import time, numpy
start = time.perf_counter()
import tapemagic
print((time.perf_counter() - start) * 1e6)
"""


def turn(checkout: Path, code: str, *arguments: str) -> float:
    """The time in µs that a fresh process reports for a checkout."""
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def main() -> None:
    """Print the table."""
    from benchmarks.workloads import WORKLOADS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.7, help="how long a turn takes")
    parser.add_argument("--only", default="", help="a word of the workloads to time")
    parser.add_argument("--first", default="", help="what only this checkout's turns execute first")
    options = parser.parse_args()
    here, other = Path(__file__).parent.parent, options.other.resolve()
    print("| workload | here, µs | other, µs | here / other |\n|---|--:|--:|--:|")
    for name in [*WORKLOADS, "import tapemagic, beyond NumPy"]:
        if options.only not in name:
            continue
        code = ONE if name in WORKLOADS else IMPORT
        times = [
            (
                turn(here, f"{options.first}\n{code}", name, f"{options.seconds}"),
                turn(other, code, name, f"{options.seconds}"),
            )
            for _ in range(options.turns)
        ]
        ours, theirs = map(min, zip(*times, strict=True))
        print(f"| {name} | {ours:,.1f} | {theirs:,.1f} | {ours / theirs:.3f} |", flush=True)


if __name__ == "__main__":
    main()
