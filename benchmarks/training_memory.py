"""Memory and time of training loops under %%tape: ``python -m benchmarks.training_memory``.

Peaks are those of a fresh process for each row, against the same cell with plain tapes. Times are ratios of processor
time, report included, in turns in one process. With ``--kernel``, a real kernel that may use 1 GB trains five epochs of
469 steps.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import subprocess
import sys
import time
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SETUP = """
import numpy as np
import tapemagic as tm
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(2048, 784)), rng.integers(0, 10, 2048)
W1 = tm.Variable(rng.normal(size=(784, 64)) * 0.05, name="W1")
b1 = tm.Variable(np.zeros(64), name="b1")
W2 = tm.Variable(rng.normal(size=(64, 10)) * 0.1, name="W2")
b2 = tm.Variable(np.zeros(10), name="b2")
w, b = tm.Variable(3.0, name="w"), tm.Variable(0.0, name="b")
losses = []
"""
NETWORK = """
for k in range({steps}):
    i = k * 128 % 2048
    xb, yb = X[i:i+128], Y[i:i+128]
    with tm.GradientTape() as t:
        h = np.tanh(xb @ W1 + b1)
        z = h @ W2 + b2
        m = z - np.max(z, axis=1, keepdims=True)
        loss = np.mean(np.log(np.sum(np.exp(m), axis=1)) - m[np.arange(128), yb])
    for v, d in zip([W1, b1, W2, b2], t.gradient(loss, [W1, b1, W2, b2])):
        v.assign_sub(0.1 * d)
"""
SCALAR = """
for k in range({steps}):
    with tm.GradientTape() as t:
        y = w * 2.0 + b
        loss = (y - 1.0) ** 2
    dw, db = t.gradient(loss, [w, b])
    w.assign_sub(0.01 * dw)
    b.assign_sub(0.01 * db)
"""
CELLS = {
    "network": NETWORK,
    "network, losses.append(loss)": NETWORK + "    losses.append(loss)\n",
    "scalar": SCALAR,
}
MAX_ADDED, MAX_AGAIN = 100, 1.1
"""The most megabytes that %%tape adds to the network, and the most times the first peak that a second run takes."""

MAX_RATIO = {"network": 2.0, "scalar": 4.0}
"""The most times the time of the same cell with plain tapes."""

LIMIT = """
import resource
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, -1))
"""


def shell() -> InteractiveShell:
    """A shell with the magics and the variables."""
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell.instance(config=config)
    made.run_cell(f"%load_ext tapemagic\n{SETUP}").raise_error()
    # What the first report imports isn't the memory of a loop.
    made.run_cell("%%tape\nw * 2.0;").raise_error()
    return made


def run(ran_in: InteractiveShell, cell: str) -> float:
    """Run a cell; return the processor time in seconds."""
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        ran_in.run_cell(cell).raise_error()
    return time.process_time() - start


def peak() -> float:
    """The peak of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peaks_here(cell: str, times: int) -> None:
    """Print the peak after each run of a cell in this process."""
    used = shell()
    for _ in range(times):
        run(used, cell)
        print(peak())


def peaks(cell: str, times: int = 1) -> list[float]:
    """The peaks of a fresh process after each run of a cell."""
    code = f"from benchmarks.training_memory import peaks_here\npeaks_here({cell!r}, {times})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return list(map(float, done.stdout.split()))


def show_peaks(name: str, steps: int) -> None:
    """Print the row of a cell in the table of peaks."""
    cell = CELLS[name].format(steps=steps)
    (plain,), (first, second) = peaks(cell), peaks(f"%%tape{cell}", 2)
    missed = " (!)" * (name == "network" and first - plain > MAX_ADDED)
    again = second / first
    print(
        f"| {name} | {steps:,} | {plain:.0f} | {first:.0f} | {first - plain:.0f}{missed} | "
        f"{again:.2f}{' (!)' * (again > MAX_AGAIN)} |",
        flush=True,
    )


def show_times(name: str, steps: int, turns: int) -> None:
    """Print the row of a cell in the table of times."""
    used, cell = shell(), CELLS[name].format(steps=steps)
    taken = [(run(used, cell), run(used, f"%%tape{cell}")) for _ in range(turns)]
    plain, taped = map(min, zip(*taken, strict=True))
    missed = " (!)" * (taped / plain > MAX_RATIO[name])
    print(
        f"| {name} | {steps:,} | {plain:.2f} | {taped:.2f} | {taped / plain:.1f}{missed} |",
        flush=True,
    )


def in_kernel(name: str) -> None:
    """Train in a kernel that may use 1 GB, and print how it ended."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    said: list[Any] = []
    try:
        for source in (
            f"%load_ext tapemagic\n{SETUP}{LIMIT}",
            f"%%tape{CELLS[name].format(steps=5 * 469)}",
        ):
            said.clear()
            reply = client.execute_interactive(source, output_hook=said.append, timeout=1800)
        shown = [x for x in said if x["msg_type"] in {"display_data", "execute_result"}]
        text = shown[-1]["content"]["data"]["text/plain"].splitlines() if shown else ["no report"]
        print(f"{name}: {reply['content']['status']}; {text[0]}")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="also 20,000 and 100,000 steps")
    parser.add_argument("--kernel", action="store_true", help="only the kernel of 1 GB")
    options = parser.parse_args()
    if options.kernel:
        for name in ("network", "network, losses.append(loss)"):
            in_kernel(name)
        return
    print(
        "| loop | steps | plain tapes, MB | %%tape, MB | added | second run |\n|---|--:|--:|--:|--:|--:|"
    )
    rows = [
        ("network", 200),
        ("network", 1_000),
        ("network, losses.append(loss)", 200),
        ("scalar", 3_000),
    ]
    for name, steps in [*rows, *[("network", 20_000), ("scalar", 100_000)] * options.long]:
        show_peaks(name, steps)
    print("\n| loop | steps | plain tapes, s | %%tape, s | ratio |\n|---|--:|--:|--:|--:|")
    for name, steps in [("network", 200), ("scalar", 3_000), *[("scalar", 30_000)] * options.long]:
        show_times(name, steps, 3)


if __name__ == "__main__":
    main()
