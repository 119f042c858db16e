"""The time and memory of a report: ``python -m benchmarks.report [PART]``.

The parts are times, widget, moves, again, second, recurrence, million, and profile CELL OPERATIONS.

A report's time is the processor's, of this process and of Graphviz's, from the end of the cell until the bundle with
text, HTML, LaTeX and widget is there: the least of `RUNS` runs, since what disturbs a machine only ever adds to it.
"""

from __future__ import annotations

import cProfile
import gc
import pickle
import pstats
import resource
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tapemagic.report.bundle import TapeReport
from tapemagic.report.live.front_end import CODE
from tapemagic.report.tabs.graph import find_graph as graph
from tapemagic.report.tabs.trace.find_trace import Trace
from tapemagic.report.tabs.trace.steps import Steps, steps_of

RUNS = 15
BOUNDS = {10: 40, 100: 100, 1_000: 150, 10_000: 500}
"""The most milliseconds that the report of a cell of so many operations may take."""
STEPS = {10: 10, 1_000: 25, 10_000: 60}
"""The most milliseconds that the steps through the graph of a cell of so many operations may take."""
ADDED = 30
"""The most milliseconds that the widget may add to a report, the steps included."""
MOVE, PLOT, THREE = 80, 120, 150
"""The most milliseconds in the kernel for the move of a slider; with new curves; with those of three derivatives."""
MOVES = {
    "twenty operations": ("x --what-if x=-3:3", MOVE),
    "with --plot x": ("x c --plot x=-6:6 --what-if x=-3:3", MOVE),
    "with --plot c": ("x c --plot c=-6:6 --what-if x=-3:3", PLOT),
    "with --plot c -o 3": ("x c --plot c=-6:6 -o 3 --what-if x=-3:3", THREE),
}
"""The first lines of cells whose slider x is moved."""
RECURRENCE = {"its report": 0.6, "report.save": 2.0}
"""The most seconds for a recurrence of 10,000 iterations that are all differentiated."""
MEGABYTE = 1e6


def loop(operations: int) -> str:
    """A loop of four operations."""
    return f"y = x\nfor i in range({operations // 4}):\n    y = np.sin(y * 1.5 + x) - y\n"


def straight(operations: int) -> str:
    """As many lines, each with one operation."""
    kinds = ("y = y * 1.5", "z = y + x", "y = np.sin(z)", "y = y - z")
    return "y = x\n" + "".join(f"{kinds[i % 4]}\n" for i in range(operations))


def training(operations: int) -> str:
    """Steps of gradient descent, of fifteen operations each, those of the gradients included."""
    return (
        f"for step in range({max(1, round(operations / STEP))}):\n"
        "    with tm.GradientTape() as inner:\n"
        "        y = np.mean((A @ w + b - c) ** 2)\n"
        "    dw, db = inner.gradient(y, [w, b])\n"
        "    w.assign_sub(0.1 * dw)\n"
        "    b.assign_sub(0.1 * db)\n"
    )


def layers(operations: int) -> str:
    """Steps of training of a model of three layers, of twenty-eight operations each."""
    return (
        f"for step in range({max(1, round(operations / STEP_OF_LAYERS))}):\n"
        "    with tm.GradientTape() as inner:\n"
        "        y = error(c, model(A))\n"
        "    gradients = inner.gradient(y, model.trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
    )


STEP, STEP_OF_LAYERS = 15, 28
CELLS: dict[str, Callable[[int], str]] = {
    "loop": loop,
    "straight line": straight,
    "training": training,
    "layers": layers,
}
SETUP = """
import numpy as np, tapemagic as tm
from tapemagic import nn
A = np.random.default_rng(0).normal(size=(20, 3))
c = A @ np.array([1.0, -2.0, 0.5]) + 0.3
model = nn.Sequential([nn.Dense(8, activation="relu"), nn.Dense(8, activation="relu"), nn.Dense(1)])
error, optimizer = nn.losses.MeanSquaredError(), nn.optimizers.SGD(0.01)
"""


class Notebook:
    """A shell with the extension, in which cells are run and their reports timed."""

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        self.shell: Any = InteractiveShell.instance(config=config)
        self.shell.run_cell("%load_ext tapemagic\n" + SETUP).raise_error()
        self.ended = 0.0
        self.begun = 0.0
        self.at_end: Callable[[], None] = lambda: None
        self.shell.user_ns.update(begun=self._begin, end_of_cell=self._end)

    def _begin(self) -> None:
        self.begun = cpu()

    def _end(self) -> None:
        self.ended = cpu()
        self.at_end()

    def fresh(self) -> None:
        """Set the values that the cells start from."""
        self.shell.run_cell(
            "x = 0.5\nw = tm.Variable(np.zeros(3), name='w')\nb = tm.Variable(0.0, name='b')"
        )

    def report(self, body: str) -> Any:
        """Run a cell under %%tape; its report, not yet shown."""
        self.fresh()
        watch = next((name for name in "xX" if body.startswith(f"y = {name}")), "")
        gc.collect()
        return self.shell.run_cell_magic("tape", watch, f"begun()\n{body}end_of_cell()\ny")

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


def widget(book: Notebook, runs: int = RUNS) -> None:
    """Print how long the steps take, and what a widget with them adds to a report."""
    for name, bounds, measure in (
        ("the steps", STEPS, steps),
        ("the widget adds", dict.fromkeys((10, 20, 100), ADDED), added),
    ):
        print(
            f"| {name}, ms | " + " | ".join(CELLS) + " | bound |\n|--:|" + "--:|" * (len(CELLS) + 1)
        )
        for operations, bound in bounds.items():
            found = [measure(book, cell(operations), runs) for cell in CELLS.values()]
            cells = [f"{one:.1f}" + " (!)" * (one > bound) for one in found]
            print(f"| {operations:,} | " + " | ".join(cells) + f" | {bound} |", flush=True)


def steps(book: Notebook, body: str, runs: int) -> float:
    """The least time of the steps through the graph of a cell."""
    taken = []

    def timed(*arguments: Any) -> Any:
        start = cpu()
        found = steps_of(*arguments)
        taken.append((cpu() - start) * 1e3)
        return found

    with patch.object(graph, "steps_of", timed):
        for _ in range(max(3, runs // 3)):
            book.report(body)
    return min(taken)


def added(book: Notebook, body: str, runs: int) -> float:
    """The least time of a report with its widget, less the least time of one without widget and steps."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(runs):
        taken[True].append(book.milliseconds(body)[0])
        with (
            patch.object(graph, "steps_of", lambda *_: Steps(Trace(()), ())),
            patch.object(TapeReport, "_widget", lambda *_: {}),
        ):
            taken[False].append(book.milliseconds(body)[0])
    return min(taken[True]) - min(taken[False])


def moves(book: Notebook, runs: int = RUNS) -> None:
    """Print how long the kernel and Graphviz take for the move of a slider."""
    body = "y = x\n" + straight(20).replace("1.5", "c") + "y"
    print("| a move in the kernel, ms | least | median | bound |\n|---|--:|--:|--:|")
    for name, (line, bound) in MOVES.items():
        book.shell.run_cell("x = 0.5; c = 1.5")
        report = book.shell.run_cell_magic("tape", line, body)
        report._repr_mimebundle_()
        taken = []
        for k in range(runs):
            gc.collect()
            start = cpu()
            report._view.hear({"what_if": {"x": -2 + 0.2 * k}})
            taken.append((cpu() - start) * 1e3)
        report.close()
        mark = " (!)" * (min(taken) > bound)
        middle = statistics.median(taken)
        print(f"| {name} | {min(taken):.0f}{mark} | {middle:.0f} | {bound} |", flush=True)


def again(book: Notebook, runs: int = 50) -> None:
    """Print the memory that shown reports of ten operations keep: of one, and of one that was run again many times."""
    body = loop(10)
    for _ in range(3):
        report = book.report(body)
        report._repr_mimebundle_()
    tracemalloc.start()
    for count in (1, runs):
        for _ in range(count):
            report.close()
            report = book.report(body)
            report._repr_mimebundle_()
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] / 1e3
        print(f"a report of ten operations, run {count} times: {kept:.0f} kB")
    tracemalloc.stop()
    print(
        f"its content: {len(report._view.content) / 1e3:.1f} kB; the front end of all: {len(CODE) / 1e3:.1f} kB"
    )


def second(book: Notebook, runs: int = RUNS) -> None:
    """Print what recording costs on a cell that takes a second of NumPy, and the memory of its report."""
    body = "y = X\nfor i in range(20):\n    y = np.tanh(y @ M) + np.sin(y) * X\n"
    book.shell.run_cell("X = np.random.default_rng(0).normal(size=(1000, 1000)); M = X / 1000")
    took: dict[str, list[float]] = {"plain": [], "taped": []}
    for _ in range(runs):
        for kind, times in took.items():
            book.shell.run_cell(
                f"begun()\n{body}end_of_cell()"
            ) if kind == "plain" else book.report(body)
            times.append(book.ended - book.begun)
    plain, taped = (min(times) for times in took.values())
    print(f"a cell of {plain:.2f} s of NumPy: recording costs {(taped / plain - 1) * 100:+.1f} %")
    report = memory(book, body)
    print(f"its findings, pickled: {len(pickle.dumps(report.findings)) / MEGABYTE:.2f} MB")


def memory(book: Notebook, body: str) -> Any:
    """Print the memory of a report beyond the recording: at its peak, and what is left with it; return the report."""
    start = [0]

    def at_end() -> None:
        gc.collect()
        tracemalloc.reset_peak()
        start[0] = tracemalloc.get_traced_memory()[0]

    book.at_end = at_end
    tracemalloc.start()
    report = book.report(body)
    report._repr_mimebundle_()
    peak = tracemalloc.get_traced_memory()[1] - start[0]
    gc.collect()
    left = tracemalloc.get_traced_memory()[0] - start[0]
    tracemalloc.stop()
    book.at_end = lambda: None
    print(
        f"its report, beyond the recording: at most {peak / MEGABYTE:.1f} MB, then {left / MEGABYTE:.1f} MB"
    )
    return report


def recurrence(book: Notebook, runs: int = 3) -> None:
    """Print how long the report of a long loop takes, all of it differentiated, and to save it as a page."""
    body = "y = 0.0\nfor i in range(10_000):\n    y = 0.999 * y + 0.001 * w\n"
    taken: dict[str, list[float]] = {name: [] for name in RECURRENCE}
    plain: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            book.shell.run_cell("w = 0.7")
            start = cpu()
            book.shell.run_cell(body + "y")
            plain.append(cpu() - start)
            gc.collect()
            report = book.shell.run_cell_magic("tape", "w", f"begun()\n{body}end_of_cell()\ny")
            report._repr_mimebundle_()
            taken["its report"].append(cpu() - book.ended)
            start = cpu()
            size = report.save(f"{folder}/page.html").stat().st_size
            taken["report.save"].append(cpu() - start)
            report.close()
    print("| a recurrence of 10,000 iterations, s | least | bound |\n|---|--:|--:|")
    print(f"| the loop without a tape | {min(plain):.3f} | |")
    for name, bound in RECURRENCE.items():
        mark = " (!)" * (min(taken[name]) > bound)
        print(f"| {name} | {min(taken[name]):.2f}{mark} | {bound} |")
    print(f"its page: {size:,} bytes")


def million(book: Notebook) -> None:
    """Print the time and memory of the reports of 100,000 and of a million operations in a loop."""
    for operations in (100_000, 1_000_000):
        taken, report = book.milliseconds(loop(operations))
        print(
            f"{report.findings.operations:,} operations: {taken / 1e3:.2f} s, peak of the process "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB",
            flush=True,
        )


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


def main(what: str = "all", *rest: str) -> None:
    """Print one measurement, or all but the profile and the long one."""
    book = Notebook()
    parts: dict[str, Callable[[Notebook], None]] = {
        "times": times,
        "widget": widget,
        "moves": moves,
        "again": again,
        "second": second,
        "recurrence": recurrence,
    }
    chosen = {**parts, "million": million, "profile": profile}
    if what == "all":
        for part in parts.values():
            part(book)
    else:
        chosen[what](book, *rest)  # type: ignore[operator]


if __name__ == "__main__":
    main(*sys.argv[1:])
