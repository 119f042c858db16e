"""Times the workloads in one process and prints ratios of medians: ``python -m benchmarks.run``."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import threads
from benchmarks.workloads import WORKLOADS

BOUNDS = {
    "two gradients of x1·x2·sin x1": (8.0, 4.0),
    "1,000 small operations": (3.4, 2.5),
    "third derivative of sin², 100 points": (None, 4.0),
    "linear regression step, 1,000 points": (2.8, 2.6),
    "MLP 784-128-10 step, batch 128": (1.4, 1.5),
    "sin(x)·exp(-x²), 10⁶ points": (1.15, None),
}
"""At most so many times the time of hand-written NumPy, at least so many times faster than PyTorch."""


def arrays(result: Any) -> list[np.ndarray]:
    """Gradients of any library as NumPy arrays."""
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in arrays(item)]
    detach = getattr(result, "detach", None)
    return [np.asarray(detach().numpy() if detach else result)]


def agree(runs: dict[str, Callable[[], Any]]) -> None:
    """Fail unless every library finds the same gradients."""
    expected = arrays(runs["numpy"]())
    for name, run in runs.items():
        for found, right in zip(arrays(run()), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-7, atol=1e-9, err_msg=name)


def medians(runs: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """The median time of each library in µs; they take turns of a tenth of a second."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            run()
            turn = time.perf_counter() + 0.1
            while time.perf_counter() < turn:
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) * 1e6 for name, taken in times.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="how long to time each workload"
    )
    parser.add_argument("--only", default="", help="a word of the workloads to time")
    threads.add_option(parser)
    options = parser.parse_args()
    threads.limit(options.threads)
    libraries = ("numpy", "tapemagic", "torch", "autograd", "mygrad")
    print(
        "| workload | "
        + " | ".join(libraries)
        + " | × NumPy | bound | × faster than PyTorch | bound |"
    )
    print("|---|" + "--:|" * (len(libraries) + 4))
    for name, prepare in WORKLOADS.items():
        if options.only not in name:
            continue
        runs = prepare()
        agree(runs)
        took = medians(runs, options.seconds)
        cells = [f"{took[library]:,.1f}" if library in took else "–" for library in libraries]
        most, least = BOUNDS[name]
        slower = took["tapemagic"] / took["numpy"]
        faster = took["torch"] / took["tapemagic"] if "torch" in took else float("nan")
        cells += [
            f"{slower:.2f}",
            f"≤ {most}" if most else "–",
            f"{faster:.2f}",
            f"≥ {least}" if least else "–",
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
