"""Tasks of one chunk as one task: the same numbers, under names that no other task has."""

from __future__ import annotations

from operator import add
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask.local import get_sync
from dask.task_spec import Task, TaskRef

import tapemagic as tm
from tapemagic.lazy.task_fusion import fuse_tasks

ROWS, COLUMNS = 24, 3
PARTS = np.random.default_rng(0).normal(size=(2, ROWS // 2, COLUMNS))


def two_sums(x: Any) -> Any:
    """A loss of several sums, and its gradient."""
    w = tm.Variable([0.5, -1.0, 2.0])
    with tm.GradientTape() as tape:
        z = x @ w
        loss = np.sum(np.tanh(z)) + np.sum(z**2) * np.mean(np.exp(z)) + np.sqrt(np.sum(np.cos(x)))
    return loss, tape.gradient(loss, w)


def pieces() -> list[da.Array]:
    """Two arrays, each in several chunks."""
    return [da.from_array(part, chunks=(2, COLUMNS)) for part in PARTS]


@pytest.mark.parametrize("keep", [list, lambda xs: dask.persist(*xs, scheduler="sync")])
def test_arrays_of_several_sources_are_joined(keep: Any) -> None:
    """Each of two arrays has a bundle for its first chunk, and these are not the same one."""
    found = dask.compute(*two_sums(tm.constant(da.concatenate(keep(pieces())))), scheduler="sync")
    for one, expected in zip(found, two_sums(tm.constant(np.concatenate(PARTS))), strict=True):
        np.testing.assert_allclose(one, expected)


CHUNKS = range(6)


def total(*values: float) -> float:
    """The sum of numbers."""
    return sum(values)


def sums_of_parts(wanted: list[int]) -> dict[Any, Any]:
    """The graph of a sum over all parts of chunks, and of those over some parts, of which each chunk has three."""
    graph: dict[Any, Any] = {}
    for k in CHUNKS:
        graph["x", k] = Task(("x", k), float, k)
        for part in range(3):
            graph["part", k, part] = Task(("part", k, part), add, TaskRef(("x", k)), 10 * part)
        parts = [TaskRef(("part", k, part)) for part in range(3)]
        graph["share", k] = Task(("share", k), total, *parts)
    graph["all"] = Task("all", total, *[TaskRef(("share", k)) for k in CHUNKS])
    for part in wanted:
        of_part = [TaskRef(("part", k, part)) for k in CHUNKS]
        graph[f"sum-{part}"] = Task(f"sum-{part}", total, *of_part)
    return graph


def test_tasks_of_one_name_give_the_same_in_all_graphs() -> None:
    """A cluster takes tasks of one name for the same one."""
    found: dict[Any, Any] = {}
    for wanted in ([0, 1], [1, 2], [0, 2], [0, 1, 2]):
        outputs = ["all", *(f"sum-{part}" for part in wanted)]
        graph = fuse_tasks(sums_of_parts(wanted), outputs)
        for key, value in zip(graph, get_sync(graph, list(graph)), strict=True):
            assert found.setdefault(key, value) == value, key
    assert [found[f"sum-{part}"] for part in range(3)] == [15.0, 75.0, 135.0]


def test_what_nothing_uses_is_left_out() -> None:
    """Dask leaves tasks in a graph that it no longer needs."""
    graph = sums_of_parts([])
    for k in CHUNKS:
        graph["idle", k] = Task(("idle", k), abs, k)
        graph["also idle", k] = Task(("also idle", k), abs, TaskRef(("idle", k)))
    made = fuse_tasks(graph, ["all"])
    assert get_sync(made, "all") == 225.0
    assert len(made) == len(CHUNKS) + 1
