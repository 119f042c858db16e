"""The memory of a process in a step on Dask arrays: bounded, and the same for few and for many chunks."""

from __future__ import annotations

import pytest

from benchmarks.dask_arrays import FEW, MANY, THREADS, in_process

pytestmark = pytest.mark.thorough

# Chunks of 10 MB, a quarter of the benchmark's: peaks counted in chunks are the same (3.8 to 5.2 for 41 MB, 3.0 to 4.2
# for 10 MB, measured on 2026-11-28), and take a quarter of the time.
ROWS = 5_000


@pytest.mark.parametrize(
    ("loss", "way", "times"),
    [
        ("linear regression", "tape", 1),
        ("linear regression", "partitions", 1),
        ("root of the mean", "tape", 2),
        ("batch normalization", "tape", 2),
    ],
)
def test_peak(loss: str, way: str, times: int) -> None:
    """At most four chunks a thread, and eight where data are read again; as much for 64 chunks as for 16."""
    few, many = in_process("peaks", loss, way, FEW, MANY, ROWS)
    assert max(few, many) <= times * THREADS * 4
    assert many <= 1.2 * few + 1  # a chunk for what happens to run side by side
