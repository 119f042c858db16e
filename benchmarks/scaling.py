"""What does not fit a table of ratios: cost per operation, memory, import: ``python -m benchmarks.scaling``."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import tapemagic as tm
from benchmarks import growth
from benchmarks.workloads import installed

MEGABYTE = 1e6


def chain(x: Any, operations: int) -> Any:
    """So many operations in a row: a tape forwards and back."""
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(operations // 4):
            y = np.sin(y * 1.5 + x) - y
    return tape.gradient(y, x)


def median(run: Callable[[], Any], times: int) -> float:
    """The median seconds of a run."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def per_operation() -> None:
    """Print the cost of an operation, there and back, in chains of growing length."""
    x = tm.constant(np.linspace(0.1, 0.9, 10))
    for operations in (1_000, 10_000, 100_000):
        seconds = median(lambda n=operations: chain(x, n), max(5, 200_000 // operations))
        print(
            f"{operations:>7,} operations: {seconds / operations * 1e6:.2f} µs each, there and back"
        )


def additions() -> None:
    """Print the peak memory of a thousand additions on a million numbers under a tape."""
    x = tm.constant(np.ones(10**6))
    tracemalloc.start()
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(1_000):
            y = y + 1.0
    _, peak = tracemalloc.get_traced_memory()
    tape.gradient(y, x)
    tracemalloc.stop()
    print(f"1,000 additions on 10⁶ numbers: at most {peak / x.nbytes:.1f} arrays at once")


CHAIN = """
import resource
import numpy as np
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
def chain(x, sin, relu):
    y = x
    for _ in range(250):
        y = relu(sin(y) * 1.001 + x)
    return y
if {library!r} == "torch":
    import torch
    x = torch.full((10**6,), 0.5, dtype=torch.float64, requires_grad=True)
    before = peak()
    chain(x, torch.sin, torch.relu).sum().backward()
else:
    import tapemagic as tm
    x = tm.constant(np.full(10**6, 0.5))
    before = peak()
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = chain(x, np.sin, tm.relu)
    tape.gradient(y, x)
print(peak() - before)
"""
"""A program that prints by how many GB its memory grew."""


def mixed_chain() -> None:
    """Print the peak memory of 1,000 operations on a million numbers, there and back, beside PyTorch's."""
    grew = {}
    for library in ("tapemagic", "torch"):
        if installed(library):
            command = [sys.executable, "-c", CHAIN.format(library=library)]
            grew[library] = float(subprocess.run(command, check=True, capture_output=True).stdout)
    found = ", ".join(f"{library} {amount:.2f} GB" for library, amount in grew.items())
    print(f"sin, multiply, add and relu, 250 times on 10⁶ numbers, there and back: {found}")


def checkpoints() -> None:
    """Print what recompute_grad saves and costs: 16 blocks of 64 operations on 100,000 numbers."""

    def block(x: Any) -> Any:
        for _ in range(32):
            x = np.sin(x) * 1.001
        return x

    def step(wrapped: Callable[[Any], Any]) -> int:
        if tracemalloc.is_tracing():
            tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(16):
                y = wrapped(y)
        tape.gradient(y, x)
        return tracemalloc.get_traced_memory()[1] - before

    x = tm.constant(np.full(100_000, 0.5))
    ways = {"kept": block, "recomputed": tm.recompute_grad(block)}
    seconds = {name: median(lambda way=way: step(way), 5) for name, way in ways.items()}
    tracemalloc.start()
    peaks = {name: step(way) / MEGABYTE for name, way in ways.items()}
    tracemalloc.stop()
    print(
        f"recompute_grad on 16 blocks of 64 operations on 10⁵ numbers: {peaks['recomputed']:.0f} MB instead of "
        f"{peaks['kept']:.0f} MB, in {seconds['recomputed'] / seconds['kept']:.2f} times the time"
    )


def release() -> None:
    """Print what a tape that is not persistent holds before and after its first gradient."""
    x = tm.constant(np.ones(10**6))
    tracemalloc.start()
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(np.exp(np.sin(np.cos(x))))
    before, _ = tracemalloc.get_traced_memory()
    g = tape.gradient(y, x)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(
        f"a tape of exp(sin(cos x)) on 10⁶ numbers holds {before / MEGABYTE:.1f} MB; after its gradient, "
        f"which takes {g.nbytes / MEGABYTE:.1f} MB, {(after - g.nbytes) / MEGABYTE:.1f} MB are left"
    )


def imports() -> None:
    """Print how much longer ``import tapemagic`` takes than ``import numpy``."""
    code = "import time; a = time.perf_counter(); import {}; print(time.perf_counter() - a)"

    def seconds(module: str) -> float:
        command = [sys.executable, "-c", code.format(module)]
        runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(15)]
        return statistics.median(float(run.stdout) for run in runs)

    numpy, both = seconds("numpy"), seconds("tapemagic")
    print(
        f"import numpy {numpy * 1e3:.0f} ms, import tapemagic {both * 1e3:.0f} ms: "
        f"{(both - numpy) * 1e3:.0f} ms more"
    )


def magic() -> None:
    """Print what %%tape, picture included, adds to a cell of ten operations."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext tapemagic\nimport numpy as np, tapemagic as tm\nx = 2.0")
    shell.user_ns["cell"] = body = "x = 2.0\n" + "\n".join(
        ["y = x * 1.0", *["y = np.sin(y) + x"] * 4, "y = y * x"]
    )

    def bare() -> None:
        shell.run_cell(body)

    def taped() -> None:
        shell.run_cell("report = get_ipython().run_cell_magic('tape', 'x', cell)")
        shell.user_ns["report"]._repr_mimebundle_()

    taped()
    plain, shown = median(bare, 20), median(taped, 20)
    print(
        f"%%tape adds {(shown - plain) * 1e3:.0f} ms to a cell of ten operations, picture included"
    )


def main() -> None:
    """Print everything."""
    per_operation()
    additions()
    mixed_chain()
    checkpoints()
    release()
    imports()
    magic()
    growth.main()


if __name__ == "__main__":
    main()
