"""Losses nonlinear in a sum over all data: right to second order, and each chunk is read again instead of kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask.callbacks import Callback

import tapemagic as tm
from tests.lazy.lazy_cases import raising

ROWS, COLUMNS = 30, 6
RNG = np.random.default_rng(0)
W = RNG.normal(size=COLUMNS) * 0.3
M = RNG.normal(size=(COLUMNS, 4))
V = RNG.normal(size=4)

Params = list[Any]
pytestmark = pytest.mark.thorough

Loss = Callable[[Any, Any, Params], Any]


def linear(x: Any, y: Any, params: Params) -> Any:
    """The mean squared error."""
    w, m, v = params
    return np.mean((np.tanh(x @ m) @ v + x @ w - y) ** 2)


def root(x: Any, y: Any, params: Params) -> Any:
    """The root of the mean squared error."""
    return np.sqrt(linear(x, y, params))


def correlation(x: Any, y: Any, params: Params) -> Any:
    """The correlation of predictions with targets."""
    p = x @ params[0]
    a, b = p - np.mean(p), y - np.mean(y)
    return np.sum(a * b) / np.sqrt(np.sum(a**2) * np.sum(b**2))


def partition(x: Any, _y: Any, params: Params) -> Any:
    """The logarithm of a sum of exponentials."""
    return np.log(np.sum(np.exp(x @ params[0])))


def cosine(x: Any, y: Any, params: Params) -> Any:
    """The cosine of the angle between predictions and targets."""
    p = np.tanh(x @ params[0])
    return np.dot(p, y) / np.linalg.norm(p)


def normalized(h: Any) -> Any:
    """Columns of mean 0 and variance 1."""
    return (h - np.mean(h, axis=0)) / np.sqrt(np.var(h, axis=0) + 1e-3)


def batch_normalization(x: Any, y: Any, params: Params) -> Any:
    """The error behind one normalization over all data."""
    w, m, v = params
    return np.mean((np.tanh(normalized(x @ m)) @ v + x @ w - y) ** 2)


def twice_normalized(x: Any, y: Any, params: Params) -> Any:
    """The root of the error behind two normalizations, the second one's variance out of deviations."""
    w, m, v = params
    h = np.tanh(normalized(x @ m)) @ m[:4]
    d = h - np.mean(h, axis=0)
    z = d / np.sqrt(np.mean(d**2, axis=0) + 1e-3)
    return np.sqrt(np.mean((z @ v + x @ w - y) ** 2))


def length_of_gradient(x: Any, y: Any, params: Params) -> Any:
    """The squared length of a gradient."""
    w = params[0]
    with tm.GradientTape() as tape:
        tape.watch(w)
        loss = np.mean((np.tanh(x @ w) - y) ** 2)
    return np.sum(tape.gradient(loss, w) ** 2)


LOSSES = (linear, root, correlation, partition, cosine)
NORMALIZED = (batch_normalization, twice_normalized, length_of_gradient)
EACH = (*LOSSES, *NORMALIZED)


def step(loss: Loss, x: Any, y: Any, order: int = 1) -> list[Any]:
    """A loss and its gradients in the parameters; in the second order also those of a function of these."""
    params = [tm.Variable(value) for value in (W, M, V)]
    with tm.GradientTape() as outer:
        with tm.GradientTape() as tape:
            value = loss(x, y, params)
        gradients = tape.gradient(value, params)
        if order == 2:
            total = sum(np.sum(np.sin(g)) for g in gradients if g is not None)
    found = [value, *gradients]
    if order == 2:
        found += outer.gradient(total, params)
    return [one for one in found if one is not None]


def rows(block_info: Any = None) -> Any:
    """Deterministic numbers."""
    start, stop = block_info[None]["array-location"][0]
    return np.sin(np.arange(start, stop)[:, None] * (1.0 + np.arange(COLUMNS)) ** 1.5)


def data(chunks: int, read: Callable[..., Any] = rows, length: int = ROWS) -> tuple[Any, Any]:
    """X and y; the last chunk is shorter."""
    cut = ((length,) * (chunks - 1) + (length - 4,), (COLUMNS,))
    x = da.map_blocks(read, chunks=cut, dtype=float, meta=np.empty((0, 0)))
    return x, np.cos(da.arange(sum(cut[0]), chunks=(cut[0],)) * 1.0)


@pytest.mark.parametrize("columns", [COLUMNS, (2, 4)])
@pytest.mark.parametrize("loss", EACH)
def test_as_in_memory_to_second_order(loss: Loss, columns: Any) -> None:
    """Values, gradients and second derivatives are those of arrays in memory, and none is computed by itself."""
    x, y = data(6)
    with dask.config.set(scheduler=raising):
        found = step(loss, tm.constant(x.rechunk({1: columns})), tm.constant(y), 2)
    wanted = step(loss, tm.constant(x.compute()), tm.constant(y.compute()), 2)
    for a, b in zip(dask.compute(*found, scheduler="sync"), wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-8, atol=1e-10)


READINGS = {
    linear: 1,
    root: 2,
    correlation: 4,
    partition: 2,
    cosine: 3,
    batch_normalization: 3,
    length_of_gradient: 2,
}


@pytest.mark.parametrize("loss", READINGS)
def test_readings_of_each_chunk(loss: Loss) -> None:
    """Each chunk is read once, and once more for each sum over all data that has to be known before."""
    read: Counter[int] = Counter()

    def counted(block_info: Any = None) -> Any:
        read[block_info[None]["chunk-location"][0]] += 1
        return rows(block_info=block_info)

    x, y = data(10, counted)
    dask.compute(*step(loss, tm.constant(x), tm.constant(y)), scheduler="sync")
    assert read == dict.fromkeys(range(10), READINGS[loss])


def test_persisted_data_are_not_read_again() -> None:
    """Persisted chunks are referred to."""
    x, y = data(10)
    read = []
    x = x.map_blocks(lambda block: read.append(0) or block, meta=np.empty((0, 0))).persist(
        scheduler="sync"
    )
    dask.compute(*step(batch_normalization, tm.constant(x), tm.constant(y)), scheduler="sync")
    assert len(read) == 10


def test_few_chunks_are_kept() -> None:
    """Data of four chunks are read once: all of them may be kept."""
    read = []
    x, y = data(4)
    x = x.map_blocks(lambda block: read.append(0) or block, meta=np.empty((0, 0)))
    dask.compute(*step(root, tm.constant(x), tm.constant(y)), scheduler="sync")
    assert len(read) == 4


def test_random_data_are_the_same_at_each_reading() -> None:
    """Dask's random numbers, which are made anew, are the same ones."""
    x = tm.constant(da.random.default_rng(5).normal(size=(80, 3), chunks=(8, 3)))
    w = tm.Variable(np.ones(3))
    with tm.GradientTape() as tape:
        p = x @ w
        length = np.sqrt(np.sum(p**2))
        same = np.sum(p * p / length) / length
    one, gradient = dask.compute(same, tape.gradient(same, w), scheduler="sync")
    assert float(one) == pytest.approx(1)
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


class Kept(Callback):  # type: ignore[misc]
    """The most bytes that are kept between tasks, in chunks of the data; what repeats numbers counts once."""

    def __init__(self) -> None:
        super().__init__(posttask=self._look)
        self.most = 0.0

    def _look(self, _key: Any, _result: Any, _dsk: Any, state: Any, _worker: Any) -> None:
        found = state["cache"].values()
        parts = [x for y in found for x in (y if isinstance(y, (tuple, list)) else [y])]
        arrays = [x if x.base is None else x.base for x in parts if isinstance(x, np.ndarray)]
        kept = {id(x): x.nbytes for x in arrays if isinstance(x, np.ndarray)}
        self.most = max(self.most, sum(kept.values()) / (LONG * COLUMNS * 8))


LONG = 600
"""The rows of a chunk beside which sums, and predictions of one number for each row, are small."""


def hidden(x: Any, params: Params) -> Any:
    """The values of a hidden layer."""
    return np.tanh(x @ params[1])


def twice(x: Any, _y: Any, params: Params) -> Any:
    """A mean over the data beside a product with another one."""
    p = x @ params[0]
    return np.mean(hidden(x, params) @ params[2]) + np.sum(p * np.mean(p))


def centred(x: Any, _y: Any, params: Params) -> Any:
    """The mean of values minus their mean."""
    h = hidden(x, params)
    return np.mean((h - np.mean(hidden(x, params), axis=0)) @ params[2])


def running(x: Any, _y: Any, params: Params) -> Any:
    """A function of running totals."""
    return np.mean(np.tanh(np.cumsum(hidden(x, params), axis=0)) @ params[2])


def deviation(x: Any, _y: Any, params: Params) -> Any:
    """Deviations, of which those with gaps go through the data twice."""
    h = hidden(x, params)
    return np.sum(np.nanstd(h, axis=0)) + np.sum(np.std(h, axis=0) * params[2])


def attention(x: Any, _y: Any, params: Params) -> Any:
    """Weights that add up to one along the cut axis."""
    h = hidden(x, params)
    return np.sum(tm.softmax(h, axis=0) * h) + tm.logsumexp(h @ params[2])


def integral(x: Any, _y: Any, params: Params) -> Any:
    """The square of an integral along the cut axis."""
    return np.sum(np.trapezoid(hidden(x, params) ** 2, axis=0) * params[2]) ** 2


MIXED = (twice, centred, running, deviation, attention, integral)


@pytest.mark.parametrize("loss", [*EACH, *MIXED])
def test_memory_does_not_grow_with_the_number_of_chunks(loss: Loss) -> None:
    """As many chunks are kept, of 32 or of 8, and the gradients are those of arrays in memory."""
    most = []
    for chunks in (8, 32):
        x, y = data(chunks, length=LONG)
        with dask.config.set(scheduler=raising):
            lazy = step(loss, tm.constant(x), tm.constant(y))
        with Kept() as kept:
            found = dask.compute(*lazy, scheduler="sync")
        most.append(kept.most)
    assert most[1] <= 1.5 * most[0] + 0.5
    assert most[1] < 8
    wanted = step(loss, tm.constant(x.compute()), tm.constant(y.compute()))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-8, atol=1e-10)


def test_what_is_computed_of_a_chunk_is_one_task() -> None:
    """However many operations there are: a task for each chunk, and those of the sums."""
    x, y = data(16)
    tasks = []
    for depth in (1, 8):
        w = tm.Variable(np.eye(COLUMNS))
        with tm.GradientTape() as tape:
            h = tm.constant(x)
            for _ in range(depth):
                h = np.tanh(h @ w)
            loss = np.mean((h[:, 0] - tm.constant(y)) ** 2)
        gradient = tape.gradient(loss, w)

        class Count(Callback):  # type: ignore[misc]
            def _start(self, dsk: Any) -> None:
                tasks.append(len(dsk))

        with Count():
            dask.compute(loss, gradient, scheduler="sync")
    assert tasks[1] <= tasks[0] + 8 * (16 + 4)


def test_tasks_of_one_name_are_the_same_in_every_graph() -> None:
    """A loss that is computed by itself, and then beside its gradients, may be on one cluster: names must not clash."""
    graphs = []

    class Look(Callback):  # type: ignore[misc]
        def _start(self, dsk: Any) -> None:
            graphs.append({key: task.dependencies for key, task in dsk.items()})

    x, y = data(12)
    found = step(batch_normalization, tm.constant(x), tm.constant(y))
    with Look():
        dask.compute(found[0], scheduler="sync")
        dask.compute(*found, scheduler="sync")
    few, many = graphs
    (asked,) = found[0].__dask_keys__()
    assert all(few[key] == many[key] for key in few.keys() & many.keys() - {asked})
