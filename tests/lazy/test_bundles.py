"""Tasks of one chunk as one task: the same numbers, under names that no other task has."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tapemagic as tm

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


def graph_of(*collections: Any) -> dict[Any, Any]:
    """The tasks that a scheduler is given."""
    return dict(dask.optimize(*collections)[0].__dask_graph__())


@pytest.mark.parametrize("keep", [list, lambda xs: dask.persist(*xs, scheduler="sync")])
def test_arrays_of_several_sources_are_joined(keep: Any) -> None:
    found = dask.compute(*two_sums(tm.constant(da.concatenate(keep(pieces())))), scheduler="sync")
    for one, expected in zip(found, two_sums(tm.constant(np.concatenate(PARTS))), strict=True):
        np.testing.assert_allclose(one, expected)
