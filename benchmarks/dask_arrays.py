"""Gradients of more data than fit into memory, against Dask by hand: ``python -m benchmarks.dask_arrays``.

Peaks of memory are those of fresh processes. Processor's time is measured in turns, in one process for each loss,
since a ratio survives a busy machine: the least of all turns counts. Dask's scheduler runs two threads, or a cluster of
two processes with a thread each, of which all processes count, the scheduler's too.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded: Dask's threads are enough

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import numpy as np

from benchmarks.dask_workloads import CHUNK, ROWS, WORKLOADS, data, ways

THREADS = 2
FEW, MANY = 16, 64
SCHEDULER = {"scheduler": "threads", "num_workers": THREADS}


def status(key: str) -> float:
    """A line of the kernel's account of this process, in bytes: VmHWM is the peak of its memory, VmRSS that now."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (found,) = [line for line in lines if line.startswith(key + ":")]
    return int(found.split()[1]) * 1024


def step(name: str, way: str, chunks: int, rows: int = ROWS) -> list[Any]:
    """Loss and gradients, computed by the current scheduler."""
    return list(map(np.asarray, dask.compute(*ways(name)[way](*data(chunks, rows)))))


def peaks(name: str, way: str, few: int, many: int, rows: int = ROWS) -> list[float]:
    """By how many chunks the memory of this process grows in steps on few and on many of them, after one on very few.

    What the few take at most, the many take, too, as the peak is that of the process.
    """
    with dask.config.set(SCHEDULER):
        step(name, way, THREADS, rows)
        before = status("VmRSS")
        found = []
        for chunks in (few, many):
            step(name, way, chunks, rows)
            found.append((status("VmHWM") - before) / (CHUNK * rows / ROWS))
        return found


def tasks(found: Any) -> int:
    """The number of tasks after Dask's optimizations, of all together."""
    from dask.base import collections_to_expr  # not in the lowest version of Dask

    return len(collections_to_expr(list(found)).optimize().__dask_graph__())


def building(name: str, way: str, chunks: int) -> float:
    """The least processor's time in which a graph is built, in seconds."""
    x, y = data(chunks)
    taken = []
    for _ in range(7):
        start = time.process_time()
        ways(name)[way](x, y)
        taken.append(time.process_time() - start)
    return min(taken)


def turns(
    name: str, chunks: int, times: int, used: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """The least processor's time of a step in seconds, for each way; they have to find the same gradients."""
    names = list(ways(name))
    wanted, *others = [step(name, way, 4) for way in names]
    for found in others:
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
    taken: dict[str, list[float]] = {way: [] for way in names}
    for _ in range(times):
        for way in names:
            start = used()
            step(name, way, chunks)
            taken[way].append(used() - start)
    return {way: min(seconds) for way, seconds in taken.items()}


def on_threads(name: str, chunks: int, times: int) -> dict[str, float]:
    """The turns of a loss by Dask's threads."""
    with dask.config.set(SCHEDULER):
        return turns(name, chunks, times)


def on_cluster(name: str, chunks: int, times: int) -> dict[str, float]:
    """The turns of a loss by a cluster on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=THREADS, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):

        def used() -> float:
            return time.process_time() + sum(client.run(time.process_time).values())

        return turns(name, chunks, times, used)


MEASURES = {"peaks": peaks, "threads": on_threads, "cluster": on_cluster, "building": building}


def in_process(measure: str, *args: Any) -> Any:
    """A measurement in a fresh process."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.dask_arrays",
        "--measure",
        json.dumps([measure, *args]),
    ]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_memory() -> None:
    """Print the peaks of memory."""
    print(
        f"| peak beyond the base, in chunks of {CHUNK / 1e6:.0f} MB | {FEW} chunks | {MANY} chunks | bound |"
    )
    print("|---|--:|--:|--:|")
    for name, workload in WORKLOADS.items():
        bound = THREADS * 4 * min(workload.readings, 2)
        for way in ways(name):
            few, many = in_process("peaks", name, way, FEW, MANY)
            print(f"| {name}, {way} | {few:.1f} | {many:.1f} | {bound} |", flush=True)


def print_time(times: int) -> None:
    """Print the processor's time, the number of tasks and the time in which the graph is built."""
    print(
        f"\n| {FEW} chunks | CPU s by hand | tape | × by hand | × linear | partitions | × by hand | tasks by hand | "
        f"tape | × by hand | graph of {MANY} chunks, ms |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    linear = None
    for name, workload in WORKLOADS.items():
        cpu = in_process("threads", name, FEW, times)
        hand, tape = cpu["by hand"], cpu["tape"]
        linear = linear or tape
        parts = cpu.get("partitions")
        count, mine = (tasks(way(*data(FEW))) for way in (workload.by_hand, workload.on_tape))
        built = in_process("building", name, "tape", MANY)
        b = f"{parts:.2f} | {parts / hand:.2f}" if parts else "– | –"
        print(
            f"| {name} | {hand:.2f} | {tape:.2f} | {tape / hand:.2f} | {tape / linear:.2f} | {b} | {count} | {mine} | "
            f"{mine / count:.2f} | {built * 1e3:.0f} |",
            flush=True,
        )


def print_cluster(times: int) -> None:
    """Print the processor's time on a cluster of two processes."""
    print(
        f"\n| a cluster, {FEW} chunks | CPU s by hand | tape | × by hand | partitions | × by hand |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    for name, workload in WORKLOADS.items():
        if workload.readings == 1:
            hand, *others = in_process("cluster", name, FEW, times).values()
            cells = " | ".join(f"{one:.2f} | {one / hand:.2f}" for one in others)
            print(f"| {name} | {hand:.2f} | {cells} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=7, help="turns of each way (%(default)s)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure, *args = json.loads(options.measure)
        print(json.dumps(MEASURES[measure](*args)))
        return
    print_memory()
    print_time(options.turns)
    print_cluster(options.turns)


if __name__ == "__main__":
    main()
