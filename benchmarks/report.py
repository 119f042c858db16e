"""The time and memory of a report: ``python -m benchmarks.report [times|profile|recording|memory|million]``.

A report's time is the processor's, of this process and of Graphviz's, from the end of the cell until the bundle with
text, HTML, LaTeX and widget is there: the least of `RUNS` runs, since what disturbs a machine only ever adds to it.
"""

from __future__ import annotations

import cProfile
import gc
import pstats
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

RUNS = 15
BOUNDS = {10: 40, 100: 100, 1_000: 150, 10_000: 500}
"""The most milliseconds that the report of a cell of so many operations may take."""
MEGABYTE = 1e6


def loop(operations: int) -> str:
    """A loop of four operations."""
    return f"y = x\nfor i in range({operations // 4}):\n    y = np.sin(y * 1.5 + x) - y\n"


def straight(operations: int) -> str:
    """As many lines, each with one operation."""
    kinds = ("y = y * 1.5", "z = y + x", "y = np.sin(z)", "y = y - z")
    return "y = x\n" + "".join(f"{kinds[i % 4]}\n" for i in range(operations))


def training(operations: int) -> str:
    """Steps of gradient descent, of some thirty operations each, those of the gradients included."""
    return (
        f"for step in range({max(1, round(operations / STEP))}):\n"
        "    with tm.GradientTape() as inner:\n"
        "        y = np.mean((A @ w + b - c) ** 2)\n"
        "    dw, db = inner.gradient(y, [w, b])\n"
        "    w.assign_sub(0.1 * dw)\n"
        "    b.assign_sub(0.1 * db)\n"
    )


STEP = 20
CELLS: dict[str, Callable[[int], str]] = {
    "loop": loop,
    "straight line": straight,
    "training": training,
}
SETUP = """
import numpy as np, tapemagic as tm
A = np.random.default_rng(0).normal(size=(20, 3))
c = A @ np.array([1.0, -2.0, 0.5]) + 0.3
"""


class Notebook:
    """A shell with the extension, in which cells are run and their reports timed."""

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        self.shell = InteractiveShell.instance(config=config)
        self.shell.run_cell("%load_ext tapemagic\n" + SETUP).raise_error()
        self.ended = 0.0
        self.at_end: Callable[[], None] = lambda: None
        self.shell.user_ns["end_of_cell"] = self._end

    def _end(self) -> None:
        self.at_end()
        self.ended = cpu()

    def fresh(self) -> None:
        """Set the values that the cells start from."""
        self.shell.run_cell(
            "x = 0.5\nw = tm.Variable(np.zeros(3), name='w')\nb = tm.Variable(0.0, name='b')"
        )

    def report(self, body: str) -> Any:
        """Run a cell under %%tape; its report, not yet shown."""
        self.fresh()
        watch = "x" if "x" in body.split("\n", 1)[0] else ""
        gc.collect()
        return self.shell.run_cell_magic("tape", watch, f"{body}end_of_cell()\ny")

    def milliseconds(self, body: str) -> tuple[float, Any]:
        """The processor's time from the end of a cell until its bundle is there, and its report."""
        report = self.report(body)
        bundle = report._repr_mimebundle_()
        taken = (cpu() - self.ended) * 1e3
        assert "text/latex" in bundle, "a part of the report failed"
        report.close()
        return taken, report


def cpu() -> float:
    """The processor's time in seconds, of this process and those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def times(book: Notebook, runs: int = RUNS) -> None:
    """Print how long reports take."""
    print(
        "| operations, ms | " + " | ".join(CELLS) + " | bound |\n|--:|" + "--:|" * (len(CELLS) + 1)
    )
    for operations, bound in BOUNDS.items():
        found = []
        for cell in CELLS.values():
            body = cell(operations)
            least = min(book.milliseconds(body)[0] for _ in range(runs))
            found.append(f"{least:.0f}" + " (!)" * (least > bound))
        print(f"| {operations:,} | " + " | ".join(found) + f" | {bound} |", flush=True)


def profile(book: Notebook, kind: str, operations: str, order: str = "tottime") -> None:
    """Print where the time of a report goes."""
    body = CELLS[kind](int(operations))
    taken, report = book.milliseconds(body)
    print(f"{taken:.1f} ms, {report.findings.operations} operations")
    profiler = cProfile.Profile()
    book.at_end = profiler.enable
    report = book.report(body)
    report._repr_mimebundle_()
    profiler.disable()
    pstats.Stats(profiler).sort_stats(order).print_stats(45)


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["times"]
    globals()[what](Notebook(), *rest)
